"""The bytes of a file as named columns and records, whatever kind of table the file is."""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePath

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import BYTE_SECONDS, HEAVY_FILE_BYTES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import array_files, arrow, gzip_files, parquet
from lossprism.explorer.sources.cells import Cells
from lossprism.explorer.sources.character_encodings import decode
from lossprism.explorer.sources.column_roles import is_name, listed
from lossprism.explorer.sources.delimited import Record, ReportProgress, delimited, no_progress
from lossprism.explorer.sources.json_rows import Object, is_json, json_records, object_records
from lossprism.explorer.sources.lists_and_objects_written_as_text import read_written
from lossprism.explorer.sources.nested_rows import flattened
from lossprism.explorer.sources.pictures_in_table_cells import Picture, is_data_url
from lossprism.explorer.sources.rows_of_arrow_record_batches import batch_records
from lossprism.explorer.sources.table_column_kinds import Grid, step
from lossprism.explorer.sources.table_in_pasted_text import PastedTable, table_in
from lossprism.explorer.sources.vector_column_of_each_text_column import (
    names_own_vectors,
    text_names,
)

KINDS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".json": "JSON",
    ".jsonl": "JSON",
    ".ndjson": "JSON",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".arrows": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".npy": array_files.NUMPY,
    ".npz": array_files.NUMPY,
    ".safetensors": array_files.SAFETENSORS,
    ".txt": "text",
    "": "text",
}
_SIGNATURES = {
    parquet.SIGNATURE: "Parquet",
    arrow.FILE: "Arrow",
    arrow.STREAM: "Arrow",
    b"FEA1": "Feather 1",
    b"\x93NUMPY": array_files.NUMPY,
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "Excel",
    gzip_files.SIGNATURE: "gzip",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
}

# The modules of kinds that are no text.
PACKED = {"Parquet": parquet, "Arrow": arrow}
ARRAYS = (array_files.NUMPY, array_files.SAFETENSORS)
PICKLED = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle")


def in_turn_to_read(data: bytes | Path) -> AbstractContextManager[None]:
    """Reading what unpacks to much is heavy work; anything else is read after what others ask."""
    if isinstance(data, Path):
        return jobs.heavy_work_turn()
    size, kind = len(data), _signed(data)
    if kind == "gzip":  # whatever size it says that it has
        return jobs.heavy_work_turn()
    if size <= HEAVY_FILE_BYTES and kind in PACKED:
        size = PACKED[kind].unpacked_bytes(data)
    elif kind == "zip":
        size = array_files.unpacked_bytes(data)
    return (
        jobs.heavy_work_turn()
        if size > HEAVY_FILE_BYTES
        else jobs.light_work_turn(BYTE_SECONDS * size)
    )


def read_grid(
    data: bytes | Path,
    name: str,
    header: bool | None,
    report: ReportProgress = step,
    encoding: str = "",
    chosen: Iterable[str] = (),
    rows: bool = True,
) -> Grid:
    """Read the table of a file: its bytes, or a Parquet file on the disk. `header` None finds out
    whether there is one: a first row with one of the names of `chosen` columns is one; `encoding`
    as `decode` takes it.

    `report` hears the progress of the parsing, and may raise to stop.

    Raises Problem if the file is empty, is not what its name says, is no table of a known kind, is
    in an unclear encoding, or has a header and nothing below it, unless `rows` is False. On a
    hosted page a large file is read when it is the visitor's turn.
    """
    with in_turn_to_read(data):
        data, name = gzip_files.unpacked(data, name)
        known = frozenset(filter(is_name, chosen))
        grid = _unfolded(_grid_of(data, name, header, report, encoding, known), name, report)
        grid = _with_named_pictures(_with_texts(grid))
        if rows and next(grid.records(no_progress), None) is None:
            raise Problem("file_only_header", columns=listed(grid.columns))
        return grid


def _grid_of(
    data: bytes | Path,
    name: str,
    header: bool | None,
    report: ReportProgress,
    encoding: str,
    chosen: frozenset[str],
) -> Grid:
    if isinstance(data, Path):
        columns, records = batch_records(parquet.batches(data, name), name, "Parquet", report)
        return Grid(columns, records, header=True, encoding="Parquet")
    kind = _kind(data, name)
    if kind in PACKED:
        columns, records = batch_records(PACKED[kind].batches(data, name), name, kind, report)
        return Grid(columns, records, header=True, encoding=kind)
    if kind in ARRAYS:
        columns, records, is_made = array_files.array_records(data, name, kind)
        return Grid(columns, records, header=True, encoding=kind, has_made_texts=is_made)
    text, encoding = decode(data, name, encoding)
    if not text or text.isspace():  # `strip` would copy it
        raise Problem("file_empty", name=name)
    pasted = table_in(text) if kind == "text" and not is_json(text) else PastedTable(text)
    text = pasted.text
    looks_like_json = is_json(text, of_ids=kind == "JSON")
    if kind in ("CSV", "TSV") and looks_like_json:
        raise Problem("file_not_its_name", name=name, expected=kind, found="JSON")
    if kind == "JSON" and not looks_like_json:
        raise Problem("file_not_json", name=name)
    if looks_like_json:
        columns, records, named = json_records(text, name, report)
        return Grid(columns, records, named, encoding, pasted.left_lines)
    if pasted.is_drawn:
        kind, header = "TSV", pasted.has_header and header is not False
    columns, records, header = delimited(text, kind, header, report, chosen)
    if not columns:
        raise Problem("file_empty", name=name)
    return Grid(columns, records, header, encoding, pasted.left_lines)


def _unfolded(grid: Grid, name: str, report: ReportProgress) -> Grid:
    """The grid with the lists and objects that are written as text in its cells read as those of
    JSON."""
    written = {place for place in range(len(grid.columns)) if grid.is_written(place)}
    if not written:
        return grid

    def entries(report: ReportProgress) -> Iterator[tuple[int, Object | Problem]]:
        for row, cells in grid.records(report):
            yield row, cells if isinstance(cells, Problem) else entry(cells)

    def entry(cells: Cells) -> Object | Problem:
        try:
            return flattened(
                {
                    column: read_written(cells[place], column) if place in written else cells[place]
                    for place, column in enumerate(grid.columns)
                }
            )
        except Problem as problem:
            return problem

    return Grid(*object_records(entries, name, report), grid.header, grid.encoding, grid.left_lines)


def _with_texts(grid: Grid) -> Grid:
    """The grid with a column of made texts for each column of vectors, where it has those of pairs
    and no texts: "image 1", "text 1"."""
    names, places = grid.columns, range(len(grid.columns))
    vectors = [at for at in places if names_own_vectors(names[at]) and grid.is_vectors(at)]
    if len(vectors) < 2 or any(grid.is_text(at, or_reference=True) for at in places):
        return grid
    texts = text_names(names, vectors)

    def records(report: ReportProgress) -> Iterator[Record]:
        for row, cells in grid.records(report):
            row_texts = tuple(f"{text} {row}" for text in texts)
            yield row, cells if isinstance(cells, Problem) else (*row_texts, *cells)

    whole = (*texts, *names)
    return dataclasses.replace(grid, columns=whole, records=records, has_made_texts=True)


def _with_named_pictures(grid: Grid) -> Grid:
    """The grid with a name in place of each picture in a column of data URLs: "image 3" where it
    first comes in row 3."""
    names = {
        place: f"picture {name}" if name.isdigit() else name
        for place, name in enumerate(grid.columns)
        if grid.is_pictures(place)
    }
    if not names:
        return grid

    def records(report: ReportProgress) -> Iterator[Record]:
        known: dict[bytes, str] = {}
        for row, cells in grid.records(report):
            if isinstance(cells, Problem):
                yield row, cells
                continue
            found = list(cells)
            for place, name in names.items():
                if is_data_url(url := found[place]):
                    key = hashlib.blake2b(str(url).encode(), digest_size=16).digest()
                    found[place] = Picture.of(str(url), known.setdefault(key, f"{name} {row}"))
            yield row, tuple(found)

    return dataclasses.replace(grid, records=records)


def _kind(data: bytes, name: str) -> str:
    extension = PurePath(name).suffix.lower()
    expected = KINDS.get(extension)
    if not data.strip():
        raise Problem("file_empty", name=name)
    kind = _signed(data)
    if kind == "zip" and extension in (".xlsx", ".xlsm", ".ods"):
        kind = "Excel"
    if kind == "zip" and extension == ".npz":
        kind = array_files.NUMPY
    if extension in PICKLED and (kind == "zip" or data[:1] == b"\x80"):
        raise Problem("arrays_pickled", name=name)
    if not kind and expected == array_files.SAFETENSORS and data[8:9] == b"{":
        kind = array_files.SAFETENSORS
    if kind == "Excel":
        raise Problem("file_is_spreadsheet", name=name)
    if kind in (*PACKED, *ARRAYS) and expected in (kind, "text", None):
        return kind
    if kind:
        raise Problem("file_not_its_name", name=name, expected=expected or "text", found=kind)
    if expected in (*PACKED, *ARRAYS):
        raise Problem("file_not_packed", name=name, kind=expected)
    return expected or "text"


def _signed(data: bytes) -> str:
    """The kind of file that the first bytes say; "" for none."""
    return next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), "")
