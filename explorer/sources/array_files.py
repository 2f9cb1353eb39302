"""Files of named arrays, .npy, .npz and .safetensors, as a table: a row of each array is a cell.

Nothing is unpickled, and nothing is unpacked that the file does not say the size of.
"""

import io
import itertools
import math
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

import numpy as np

from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.column_names import CLASS_NAMES, plain_name
from lossprism.explorer.sources.column_roles import may_name_class
from lossprism.explorer.sources.rows_of_arrow_record_batches import check_bytes, check_counts

NUMPY, SAFETENSORS = "NumPy", "safetensors"
MAX_ARRAYS = 64
EMBEDDING = "_embedding"  # what a matrix is called beside its texts
Columns = dict[str, np.ndarray]
Records = Callable[[Callable[[int, int], object]], Iterator[tuple[int, tuple[object, ...]]]]


def unpacked_bytes(data: bytes) -> int:
    """Return what the arrays of a file take, by its own account; of a damaged one its length."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError):
        return len(data)


def array_records(data: bytes, name: str, kind: str) -> tuple[tuple[str, ...], Records, bool]:
    """Return the columns of a file of arrays, what goes through its rows, and whether some of the
    texts are made names.

    A matrix [N, D] is a column of vectors, called as its texts with EMBEDDING; [N, k, D] is k of
    them; an array [N] of words or numbers is a column of these. Single numbers are left out. A
    matrix without an array of words has made names in their place. One matrix alone makes pairs by
    its classes: each row with the next one of its class.

    Raises Problem for a damaged file, pickled objects, arrays of other shapes or lengths, and one
    matrix without classes.
    """
    check_bytes(name, unpacked_bytes(data))
    try:
        arrays = _safetensors(data) if kind == SAFETENSORS else _numpy(data, name)
    except Problem:
        raise
    except _damage() as damage:
        raise Problem("file_broken", name=name, kind=kind) from damage
    columns_in_file = _columns(arrays, name)
    columns = _named(columns_in_file, name)
    made, had = (
        sum(one.dtype.kind == "U" for one in part.values()) for part in (columns, columns_in_file)
    )
    check_counts(name, len(columns), len(next(iter(columns.values()))))

    def records(report: Callable[[int, int], object]) -> Iterator[tuple[int, tuple[object, ...]]]:
        values = [one if one.ndim == 2 else one.tolist() for one in columns.values()]
        count = len(values[0])
        for row, cells in enumerate(zip(*values, strict=True), start=1):
            if row % 1024 == 1:
                report(row - 1, count)
            yield row, cells

    return tuple(columns), records, made > had


# ---- Reading -------------------------------------------------------------------------------------


def _damage() -> tuple[type[Exception], ...]:
    from safetensors import SafetensorError

    return (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, TypeError),
        *(RuntimeError, NotImplementedError, OverflowError, SyntaxError, SafetensorError),
    )


def _numpy(data: bytes, name: str) -> Columns:
    if data.startswith(b"\x93NUMPY"):
        return {PurePath(name).stem: _array(data, name)}
    columns: Columns = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [one for one in archive.infolist() if one.filename.endswith(".npy")]
        if not entries or len(entries) > MAX_ARRAYS:
            raise Problem("arrays_count", name=name, count=len(entries), most=MAX_ARRAYS)
        for entry in entries:
            columns[entry.filename.removesuffix(".npy")] = _array(archive.read(entry), name)
    return columns


def _array(data: bytes, name: str) -> np.ndarray:
    """Return the array of a .npy. The header has to say as much as there is: a larger one would be
    allocated before it is read."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    reader = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, by_columns, dtype = reader[version](file)
    if dtype.hasobject:
        raise Problem("arrays_pickled", name=name)
    count, rest = math.prod(shape), memoryview(data)[file.tell() :]
    if count * dtype.itemsize != len(rest):
        raise ValueError("the header names another size")
    flat = np.frombuffer(rest, dtype=dtype, count=count)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _safetensors(data: bytes) -> Columns:
    """Return the tensors, and the lists of words that the header has beside them."""
    import torch
    from safetensors.torch import load

    length = int.from_bytes(data[:8], "little")
    tensors = load(data)
    header = read_json(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {
        name: (one.float() if one.dtype == torch.bfloat16 else one).numpy()
        for name, one in ((name, tensors[name]) for name in header)  # in the order of the file
    }
    words = {name: _words(text) for name, text in metadata.items()}
    return arrays | {name: one for name, one in words.items() if one is not None}


def _words(text: str) -> np.ndarray | None:
    """Return the words of a list written as JSON; None for any other text."""
    try:
        listed = read_json(text)
    except ValueError:
        return None
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        return None
    return np.array(listed, dtype=np.str_)


# ---- Columns -------------------------------------------------------------------------------------


def _columns(arrays: Mapping[str, np.ndarray], name: str) -> Columns:
    """Return the columns of the arrays, all of one length; single numbers, such as a logit scale,
    are none."""
    columns: Columns = {}
    rows = next((len(one) for one in arrays.values() if one.ndim > 1), 0)
    for called, array in arrays.items():
        if array.ndim == 0 or (array.shape == (1,) and rows != 1):
            continue
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        plain = array.dtype.kind in "fiub"
        if (array.ndim == 1 and (plain or array.dtype.kind == "U")) or (array.ndim == 2 and plain):
            columns[called] = array
        elif array.ndim == 3 and plain:
            columns |= {f"{called}{at + 1}": array[:, at] for at in range(array.shape[1])}
        else:
            shape = " × ".join(map(str, array.shape))
            raise Problem(
                "arrays_shape", name=name, array=called, shape=f"[{shape}]", kind=array.dtype.name
            )
    if not any(one.ndim == 2 for one in columns.values()):
        raise Problem("arrays_none", name=name)
    lengths = {called: len(one) for called, one in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{called}: {length}" for called, length in lengths.items())
        raise Problem("arrays_lengths", name=name, lengths=counts)
    check_bytes(name, sum(4 * one.size for one in columns.values()))
    return columns


def _named(columns: Columns, name: str) -> Columns:
    """Return the columns with a column of texts for each matrix."""
    matrices = [called for called, one in columns.items() if one.ndim == 2]
    classes = _class_column(columns)
    if len(matrices) == 1:
        if classes is None:
            raise Problem("arrays_alone", name=name, array=matrices[0])
        return _pairs_of_classes(columns[matrices[0]], columns[classes], matrices[0])
    widths = {called: columns[called].shape[1] for called in matrices}
    if len(set(widths.values())) > 1:
        listed = ", ".join(f"{called}: {width}" for called, width in widths.items())
        raise Problem("arrays_widths", name=name, widths=listed)
    texts = [c for c, one in columns.items() if one.dtype.kind == "U" and c != classes]
    named: Columns = {}
    for called, text in _texts_of(matrices, texts).items():
        base = text or _base(called)
        matrix = columns[called]
        named[base] = columns[text] if text else _numbers(base, len(matrix))
        named[base] = _distinct(named[base], matrix)
        named[base + EMBEDDING] = matrix
    others = {c: one for c, one in columns.items() if c not in (*matrices, *texts)}
    return {**named, **{c: one for c, one in others.items() if c not in named}}


def _base(called: str) -> str:
    """Return the name of a matrix without what says that it is one: "image" of "image_embeds"."""
    for ending in ("_embeddings", "_embedding", "_embeds", "_embed", "_vectors", "_vector", "_emb"):
        if called.endswith(ending) and called != ending:
            return called.removesuffix(ending)
    return called


def _texts_of(matrices: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """Return the array of words of each matrix, "" for none: by its name, or where as many are left
    as matrices in their order, or for one of paths and ids the first matrix, of sentences the
    last."""
    found = dict.fromkeys(matrices, "")
    free = list(texts)
    for called in matrices:
        same = [one for one in free if plain_name(_base(called)) in plain_name(one)]
        if same:
            found[called] = same[0]
            free.remove(same[0])
    left = [called for called in matrices if not found[called]]
    if len(left) == len(free):
        found |= dict(zip(left, free, strict=True))
    elif len(free) == 1 and left:
        found[left[-1]] = free[0]
    return found


def _numbers(base: str, count: int) -> np.ndarray:
    return np.array([f"{base} {row}" for row in range(1, count + 1)], dtype=np.str_)


def _distinct(words: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the words, numbered where one stands beside several vectors: a text has one vector."""
    seen: dict[str, bytes] = {}
    distinct = []
    for row, (word, vector) in enumerate(zip(words.tolist(), matrix, strict=True), start=1):
        text = " ".join(word.split()) or f"({row})"
        if seen.setdefault(text, vector.tobytes()) != vector.tobytes():
            text = f"{text} · {row}"
        distinct.append(text)
    return np.array(distinct, dtype=np.str_)


def _class_column(columns: Columns) -> str | None:
    """Return the array that names the class of each row."""
    flat = [called for called, one in columns.items() if one.ndim == 1]
    return next((one for one in flat if _may_name_class(one)), None)


def _may_name_class(called: str) -> bool:
    plain = plain_name(called)
    singular = (plain.removesuffix("s"), plain.removesuffix("es"))
    return may_name_class(called) or not {*singular}.isdisjoint(CLASS_NAMES)


def _pairs_of_classes(matrix: np.ndarray, classes: np.ndarray, called: str) -> Columns:
    """Return the pairs of each row with the next one of its class."""
    members: dict[object, list[int]] = {}
    for row, one in enumerate(classes.tolist()):
        members.setdefault(one, []).append(row)
    pairs = [pair for rows in members.values() for pair in itertools.pairwise(rows)]
    pairs.sort()
    if not pairs:
        raise Problem("arrays_no_pairs", array=called)
    first, second = (list(side) for side in zip(*pairs, strict=True))
    base = _base(called)
    names = np.array([f"{base} {row + 1} ({one})" for row, one in enumerate(classes.tolist())])
    return {
        f"{base}1": names[first],
        f"{base}2": names[second],
        f"{base}1{EMBEDDING}": matrix[first],
        f"{base}2{EMBEDDING}": matrix[second],
    }
