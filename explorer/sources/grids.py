"""The bytes of a file as named columns and records, whatever kind of table the file is."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from explorer.runtime.limits import UNPACKED_BYTES
from explorer.runtime.problem import Problem
from explorer.sources.cells import is_blank, is_score, shortened
from explorer.sources.columns import listed
from explorer.sources.delimited import (
    SAMPLE,
    Record,
    Tell,
    delimited,
    distinct,
    lines_of,
    to_nobody,
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
    ".txt": "text",
    "": "text",
}
# More different words than these are no grades.
MOST_GRADES = 5
_SIGNATURES = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "Excel",
    b"\x1f\x8b": "gzip",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
}


@dataclass(frozen=True)
class Grid:
    """`records` holds (row, cells or the Problem that made the row unreadable).

    Rows are counted as the user sees them: 1 is the first row below the header. Empty rows are
    left out but counted, so that the numbers agree with an editor's.
    """

    columns: tuple[str, ...]
    records: list[Record]
    header: bool
    encoding: str

    def column(self, position: int) -> Iterator[object]:
        """The cells of one column, as far as the rows are readable, at most a sample."""
        cells = (cells for _, cells in self.records[:SAMPLE] if not isinstance(cells, Problem))
        return (row[position] for row in cells if not is_blank(row[position]))

    def is_score(self, position: int) -> bool:
        """Whether nearly every cell of the column reads as a score."""
        cells = [is_score(cell) for cell in self.column(position)]
        return bool(cells) and sum(cells) >= 0.8 * len(cells)

    def is_text(self, position: int) -> bool:
        """Whether the column holds text that is no score."""
        cells = [isinstance(cell, str) and not is_score(cell) for cell in self.column(position)]
        return bool(cells) and sum(cells) >= 0.5 * len(cells)

    def may_be_score(self, position: int) -> bool:
        """Whether somebody may have written scores there: anything but text, or a few words that
        come again and again."""
        cells = [str(cell) for cell in self.column(position)]
        kinds = len(set(cells))
        graded = 2 <= kinds <= MOST_GRADES and len(cells) >= 4 * kinds
        return bool(cells) and (graded or not self.is_text(position))

    def is_blank(self, position: int) -> bool:
        """Whether no readable row has anything in the column."""
        rows = (cells for _, cells in self.records if not isinstance(cells, Problem))
        return all(is_blank(row[position]) for row in rows)


def read_grid(data: bytes, name: str, header: bool | None, tell: Tell = to_nobody) -> Grid:
    """The table that the file holds. `header` None means: find out.

    `tell` hears how much of the text is parsed, and of how much, and may raise to stop.

    Raises Problem if the file is empty, is not what its name says, is no table of a known kind,
    or has a header and nothing below it.
    """
    kind = _kind(data, name)
    if kind == "Parquet":
        return _with_rows(_parquet(data, name))
    text, encoding = _decode(data, name)
    if not text.strip():
        raise Problem("file_empty", name=name)
    looks_like_json = _is_json(text)
    if kind in ("CSV", "TSV") and looks_like_json:
        raise Problem("file_not_its_name", name=name, expected=kind, found="JSON")
    if kind == "JSON" and not looks_like_json:
        raise Problem("file_not_json", name=name)
    if looks_like_json:
        return _with_rows(_json(text, name, encoding, tell))
    columns, records, header = delimited(text, kind, header, tell)
    return _with_rows(Grid(columns, records, header, encoding))


def _with_rows(grid: Grid) -> Grid:
    if not grid.records:
        raise Problem("file_only_header", columns=listed(grid.columns))
    return grid


# Kind and encoding


def _kind(data: bytes, name: str) -> str:
    extension = PurePath(name).suffix.lower()
    expected = KINDS.get(extension)
    if not data.strip():
        raise Problem("file_empty", name=name)
    found = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
    if found == "zip" and extension in (".xlsx", ".xlsm", ".ods"):
        found = "Excel"
    if found == "Excel":
        raise Problem("file_is_spreadsheet", name=name)
    if found == "Parquet" and expected in ("Parquet", "text", None):
        return "Parquet"
    if found is not None:
        raise Problem("file_not_its_name", name=name, expected=expected or "text", found=found)
    if expected == "Parquet":
        raise Problem("file_not_parquet", name=name)
    return expected or "text"


def _decode(data: bytes, name: str) -> tuple[str, str]:
    """The text and the encoding it was read in: UTF-8, UTF-16 (by its mark), GB18030 or
    Windows-1252, the last two only where the bytes look like it."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _decode_as(data, "utf-16", name), "UTF-16"
    if b"\0" in data:
        raise Problem("file_binary", name=name)
    try:
        # Half characters pass, and cost their rows instead of the whole file.
        return data.decode("utf-8-sig", "surrogatepass"), "UTF-8"
    except UnicodeDecodeError as error:
        _refuse_damaged_utf8(data, error.start, name)
    # In Chinese text the high bytes come in twos; in Western text they stand alone.
    runs = [len(run) % 2 == 0 for run in re.findall(rb"[\x80-\xff]+", data)]
    if sum(runs) > len(runs) / 2:
        return _decode_as(data, "gb18030", name), "GB18030"
    return _decode_as(data, "cp1252", name), "Windows-1252"


def _decode_as(data: bytes, encoding: str, name: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeError:
        raise Problem("file_encoding", name=name) from None
    if re.search(r"[\x00-\x08\x0e-\x1b\x7f]", text):
        raise Problem("file_binary", name=name)
    return text


def _refuse_damaged_utf8(data: bytes, start: int, name: str) -> None:
    """A file that is UTF-8 but for a few bytes is damaged, not written in another encoding."""
    lenient = data.decode("utf-8", errors="replace")
    damaged = lenient.count("\ufffd")
    foreign = sum(1 for character in lenient if character > "\x7f")
    if foreign > 10 * damaged:
        line = data.count(b"\n", 0, start) + 1
        raise Problem("file_damaged_utf8", name=name, line=line)


# Parquet and JSON


def _parquet(data: bytes, name: str) -> Grid:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > UNPACKED_BYTES:
            raise Problem("file_too_large", name=name, most=UNPACKED_BYTES // 2**20)
        table = file.read()
        columns = [column.to_pylist() for column in table.columns]
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, Problem):
            raise
        raise Problem("file_broken", name=name, kind="Parquet") from None
    records = list(enumerate(zip(*columns, strict=True), start=1))
    full: list[Record] = [(row, cells) for row, cells in records if not all(map(is_blank, cells))]
    return Grid(distinct(table.column_names), full, header=True, encoding="Parquet")


def _is_json(text: str) -> bool:
    """A JSON object on the first line, or an array that holds one."""
    start = text.lstrip()[:4096]
    return re.match(r'\{\s*("|\})|\[\s*[\{\]]', start) is not None


def _json(text: str, name: str, encoding: str, tell: Tell) -> Grid:
    if text.lstrip().startswith("["):
        values = _json_array(text, name)
        entries = [(row, _checked_object(value)) for row, value in enumerate(values, start=1)]
    else:
        lines = enumerate(lines_of(text, tell), start=1)
        entries = [(row, _json_line(line)) for row, line in lines if line.strip()]
    names: dict[str, None] = {}
    for _, entry in entries:
        if isinstance(entry, dict):
            names |= dict.fromkeys(entry)
    if not names:
        raise Problem("file_not_json", name=name)
    records = [(row, _cells_of(entry, tuple(names))) for row, entry in entries]
    return Grid(tuple(names), records, header=True, encoding=encoding)


def _json_array(text: str, name: str) -> list[object]:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Problem("file_broken", name=name, kind="JSON") from None


def _json_line(line: str) -> dict[str, object] | Problem:
    try:
        return _checked_object(json.loads(line))
    except (ValueError, RecursionError):
        return Problem("row_not_json", text=shortened(line.strip()))


def _checked_object(value: object) -> dict[str, object] | Problem:
    return value if isinstance(value, dict) else Problem("row_not_object", text=shortened(value))


def _cells_of(
    entry: dict[str, object] | Problem, names: Sequence[str]
) -> Sequence[object] | Problem:
    return entry if isinstance(entry, Problem) else [entry.get(name) for name in names]
