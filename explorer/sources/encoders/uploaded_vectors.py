"""The vectors that a table has of its own texts, as an encoder of these texts, with the pictures of
those that have one.

They are stored by their content as an upload is: a page names them in place of a model, a link is
short and opens only where they are, and on a hosted page every visitor has only their own.
"""

import contextlib
import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.owner_consent import picture_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.bundled_encoder import is_embedded
from lossprism.explorer.sources.encoders.encoder_interface import Backend, Encoder
from lossprism.explorer.sources.pictures_in_table_cells import Source, content_of, thumbnails

# The name of a file, and the digest of its vectors: no name of a model or a folder has this form.
_NAME = re.compile(r"(.+)#([0-9a-f]{32})")
TEXTS, VECTORS = "texts", "vectors"
# The bytes of all pictures in a row, where that of each text ends, and the files of others.
PICTURES, ENDS, FILES = "pictures", "ends", "files"
CACHED_FILES = 4
CACHED_THUMBNAIL_BATCHES = 16  # of thumbnails


@dataclass(frozen=True)
class TableVectors(Encoder):
    """Vectors of texts by these texts, stored at `path`."""

    path: Path = field(compare=False)

    def encode(self, sentences: Sequence[str], device: str | None = None) -> np.ndarray:
        """Return the vectors of these texts, float32 (S, D). Raises Problem for any other text."""
        stored = _read(self.path, self.name)
        places = [stored.rows.get(sentence, -1) for sentence in sentences]
        if -1 in places:
            sentence = shortened(sentences[places.index(-1)])
            name = file_of(self.name)
            raise Problem("vectors_sentence", about="encoder", sentence=sentence, name=name)
        return stored.vectors[places]

    def pictures(self, sentences: Sequence[str]) -> Mapping[str, str]:
        """Return the thumbnails of those of these texts that have a picture, as data URLs; none
        once the file was pruned, which a batch that is shown outlives."""
        if not self.path.is_file():
            return {}
        files = _read(self.path, self.name).files
        paths = tuple((text, picture_path(text)) for text in sentences if text in files)
        return _thumbnails(self.path, self.name, tuple(sentences), paths)


def store(
    file: str,
    texts: Sequence[str],
    vectors: np.ndarray,
    pictures: Mapping[str, Source] | None = None,
) -> str:
    """Store the vectors [S, D] of these texts, with the pictures of some, and return the name of
    their encoder.

    Raises Problem where they are more than may be uploaded.
    """
    from safetensors.numpy import save

    tensors: dict[str, np.ndarray] = {VECTORS: np.ascontiguousarray(vectors, dtype=np.float32)}
    metadata: dict[str, object] = {TEXTS: list(texts)}
    if pictures:
        contents = {text: one for text, one in pictures.items() if isinstance(one, bytes)}
        ends = itertools.accumulate(map(len, contents.values()))
        tensors[PICTURES] = np.frombuffer(b"".join(contents.values()), dtype=np.uint8)
        metadata[ENDS] = dict(zip(contents, ends, strict=True))
        metadata[FILES] = [text for text in pictures if text not in contents]
    words = {name: json.dumps(one, ensure_ascii=False) for name, one in metadata.items()}
    content = save(tensors, metadata=words)
    return f"{file}#{uploads.put(content, file)}"


def is_own(name: str) -> bool:
    """True if a name is that of a table's own vectors."""
    return _NAME.fullmatch(name.strip()) is not None


def file_of(name: str) -> str:
    """Return the name of the file that the vectors came with."""
    match = _NAME.fullmatch(name.strip())
    return match[1] if match else name


def in_place_of(encoder: str, own: str) -> str:
    """Return a table's own vectors, "" for none, unless an encoder was chosen for its texts."""
    return own if own and (is_embedded(encoder) or not encoder) else encoder


def pictures_of(encoder: str, sentences: Sequence[str]) -> Mapping[str, str]:
    """Return the thumbnails that an encoder of this name has of these texts, as data URLs by the
    texts."""
    match = _NAME.fullmatch(encoder)
    path = uploads.find(match[2]) if match else None
    return {} if path is None else TableVectors(encoder, path.name, path).pictures(sentences)


def find_vectors(name: str) -> TableVectors:
    """Return the vectors of this name. Raises Problem where they are gone."""
    match = _NAME.fullmatch(name)
    path = uploads.find(match[2]) if match else None
    if match is None or path is None:
        raise Problem("vectors_gone", about="encoder", name=shortened(file_of(name)))
    return TableVectors(name, match[2], path)


@dataclass(frozen=True)
class _Stored:
    """Contents of a file of `store`: the row of each text in `vectors`, the part of the bytes that
    is the picture of a text, and the texts that are paths of pictures."""

    rows: Mapping[str, int]
    vectors: np.ndarray
    parts: Mapping[str, slice]
    files: frozenset[str]


@functools.lru_cache(maxsize=CACHED_FILES)
def _read(path: Path, name: str) -> _Stored:
    with _open_stored(path, name) as file:
        metadata = {key: read_json(text) for key, text in (file.metadata() or {}).items()}
        rows = {text: row for row, text in enumerate(metadata[TEXTS])}
        ends: dict[str, int] = metadata.get(ENDS, {})
        parts = map(slice, (0, *ends.values()), ends.values())
        by_text = dict(zip(ends, parts, strict=True))
        return _Stored(rows, file.get_tensor(VECTORS), by_text, frozenset(metadata.get(FILES, ())))


@functools.lru_cache(maxsize=CACHED_THUMBNAIL_BATCHES)
def _thumbnails(
    path: Path, name: str, sentences: tuple[str, ...], paths: tuple[tuple[str, Path | None], ...]
) -> Mapping[str, str]:
    """Return thumbnails by their texts; `paths` are those that the owner of the machine allows."""
    parts, files = _read(path, name).parts, dict(paths)

    def contents() -> Iterator[tuple[str, bytes]]:
        for text in sentences:
            if text in parts:
                yield text, file.get_slice(PICTURES)[parts[text]].tobytes()
            elif (path := files.get(text)) is not None:
                yield text, content_of(path)

    with _open_stored(path, name) as file:
        return thumbnails(contents())


@contextlib.contextmanager
def _open_stored(path: Path, name: str) -> Iterator[Any]:
    """Open a file of `store`. Raises Problem where it is another upload, or pruned meanwhile."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (OSError, SafetensorError, LookupError, ValueError, TypeError, AttributeError):
        raise Problem("vectors_gone", about="encoder", name=shortened(file_of(name))) from None


BACKEND = Backend(takes=is_own, find=find_vectors)
