"""The bytes of a file as named columns and records, whatever kind of table the file is."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath

from explorer.problem import Problem
from explorer.sources.cells import is_blank, is_score, shortened
from explorer.sources.columns import listed, recognised

LARGEST_UNPACKED = 512 * 2**20
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
_SIGNATURES = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "Excel",
    b"\x1f\x8b": "gzip",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
}
_SAMPLE = 200
# Rows between two moments at which the parsing says how far it is.
_STEP = 2**13

Record = tuple[int, Sequence[object] | Problem]
Tell = Callable[[int, int], None]


def _to_nobody(done: int, total: int) -> None:
    pass


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
        cells = (cells for _, cells in self.records[:_SAMPLE] if not isinstance(cells, Problem))
        return (row[position] for row in cells if not is_blank(row[position]))

    def is_score(self, position: int) -> bool:
        """Whether nearly every cell of the column reads as a score."""
        cells = [is_score(cell) for cell in self.column(position)]
        return bool(cells) and sum(cells) >= 0.8 * len(cells)

    def is_text(self, position: int) -> bool:
        """Whether the column holds text that is no score."""
        cells = [isinstance(cell, str) and not is_score(cell) for cell in self.column(position)]
        return bool(cells) and sum(cells) >= 0.5 * len(cells)


def read_grid(data: bytes, name: str, header: bool | None, tell: Tell = _to_nobody) -> Grid:
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
    return _with_rows(_delimited(text, kind, header, encoding, tell))


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
        if sum(group.total_byte_size for group in groups) > LARGEST_UNPACKED:
            raise Problem("file_too_large", name=name, most=LARGEST_UNPACKED // 2**20)
        table = file.read()
        columns = [column.to_pylist() for column in table.columns]
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, Problem):
            raise
        raise Problem("file_broken", name=name, kind="Parquet") from None
    records = list(enumerate(zip(*columns, strict=True), start=1))
    full = [(row, cells) for row, cells in records if not all(map(is_blank, cells))]
    return Grid(_distinct(table.column_names), full, header=True, encoding="Parquet")


def _is_json(text: str) -> bool:
    """A JSON object on the first line, or an array that holds one."""
    start = text.lstrip()[:4096]
    return re.match(r'\{\s*("|\})|\[\s*[\{\]]', start) is not None


def _json(text: str, name: str, encoding: str, tell: Tell) -> Grid:
    if text.lstrip().startswith("["):
        values = _json_array(text, name)
        entries = [(row, _checked_object(value)) for row, value in enumerate(values, start=1)]
    else:
        lines = enumerate(_lines(text, tell), start=1)
        entries = [(row, _json_line(line)) for row, line in lines if line.strip()]
    names: dict[str, None] = {}
    for _, entry in entries:
        if isinstance(entry, dict):
            names |= dict.fromkeys(entry)
    if not names:
        raise Problem("file_not_json", name=name)
    records = [(row, _cells_of(entry, tuple(names))) for row, entry in entries]
    return Grid(tuple(names), records, header=True, encoding=encoding)


def _lines(text: str, tell: Tell) -> Iterator[str]:
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if place % _STEP == 0:
            tell(place, len(lines))
        yield line


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


# CSV and TSV


def _delimited(text: str, kind: str, header: bool | None, encoding: str, tell: Tell) -> Grid:
    # Not splitlines: it also cuts at characters that may stand inside a sentence.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    delimiter = "\t" if kind == "TSV" else _delimiter(text)
    if '"' not in text or (delimiter == "\t" and not _properly_quoted(text)):
        split = [line.split(delimiter) for line in _lines(text, tell)]
    else:
        split = list(_quoted_records(text, delimiter, tell))
    records = [(row, cells) for row, cells in enumerate(split) if _has_content(cells)]
    first_row, first = records[0]
    if header is None:
        header = _is_header(first, [cells for _, cells in records[1:]])
    width = len(first) if header else _usual_width(cells for _, cells in records)
    columns = _distinct(first) if header else tuple(str(i + 1) for i in range(width))
    below = records[1:] if header else records
    offset = first_row if header else -1
    rows = [(row - offset, _fitted(cells, width)) for row, cells in below]
    return Grid(columns, rows, header, encoding)


def _has_content(cells: Sequence[str] | Problem) -> bool:
    return isinstance(cells, Problem) or any(cell.strip() for cell in cells)


def _quoted_records(
    text: str, delimiter: str, tell: Tell = _to_nobody
) -> Iterator[list[str] | Problem]:
    """The records of quoted text (RFC 4180), forgiving a mark that is part of a sentence.

    A cell is quoted only if its closing mark ends the cell; otherwise its marks are its own. So
    a mark that never closes costs its row at most, not the rest of the file.
    """
    width = None
    position = count = 0
    while position < len(text):
        if count % _STEP == 0:
            tell(position, len(text))
        count += 1
        cells, end = _record(text, position, delimiter)
        if width is None and _has_content(cells):
            width = len(cells)
        if text.find("\n", position, end - 1) >= 0 and len(cells) != width:
            # Too much was taken for one quoted cell: read the first line by itself.
            end = text.index("\n", position) + 1
            cells, _ = _record(text[position : end - 1], 0, delimiter)
        unclosed = len(cells) != width and any(cell.startswith('"') for cell in cells)
        yield (
            Problem("row_unclosed_quote", text=shortened(text[position : end - 1]))
            if unclosed
            else cells
        )
        position = end


def _record(text: str, position: int, delimiter: str) -> tuple[list[str], int]:
    """The cells of the record that begins at `position`, and where the next one begins."""
    quoted, bare = _cell_patterns(delimiter)
    cells = []
    while True:
        if found := quoted.match(text, position):
            cells.append(found[1].replace('""', '"'))
        else:
            found = bare.match(text, position)
            cells.append(found[0])
        position = found.end() + 1
        if text[found.end() : position] != delimiter:
            return cells, position


@cache
def _cell_patterns(delimiter: str) -> tuple[re.Pattern, re.Pattern]:
    """A quoted and a bare cell. Possessive repeats (++, *+) keep hostile input linear."""
    quoted = re.compile(rf'"((?:[^"]++|"")*+)"(?={delimiter}|\n|\Z)')
    return quoted, re.compile(rf"[^{delimiter}\n]*+")


def _properly_quoted(text: str) -> bool:
    """Whether the quotation marks of a tab-separated file are quoting, and not part of sentences.

    A program that quotes doubles the marks inside. So the file is quoted if every cell with a
    mark is well-formed and the quoting was needed (a mark, tab or line break inside), or if
    every cell that is not a number is quoted.
    """
    rows = [line.split("\t") for line in text.split("\n") if line.strip()]
    marked = [cell for row in rows for cell in row if '"' in cell]
    if not marked:
        return False
    if len({len(row) for row in rows}) > 1:
        return _consistent(list(_quoted_records(text, "\t")))
    if not all(re.fullmatch(r'"(?:[^"]|"")*"', cell) for cell in marked):
        return False
    if all('""' in cell[1:-1] for cell in marked):
        return True
    return all('"' in cell or is_score(cell) for row in rows for cell in row if cell.strip())


def _consistent(records: Sequence[list[str] | Problem]) -> bool:
    """Whether all non-empty records are readable and equally wide."""
    full = [cells for cells in records if _has_content(cells)]
    return not any(isinstance(c, Problem) for c in full) and len({len(c) for c in full}) == 1


def _delimiter(text: str) -> str:
    """The separator under which the first rows look most like a table."""
    beginning = "\n".join(text.split("\n", _SAMPLE)[:_SAMPLE])

    def evidence(delimiter: str) -> tuple[float, ...]:
        records = [c for c in _quoted_records(beginning, delimiter) if _has_content(c)]
        rows = [cells for cells in records if not isinstance(cells, Problem)]
        if not rows:
            return (0.0,)
        width = _usual_width(rows)
        fitting = [cells for cells in rows if len(cells) == width]
        scores = max(sum(map(is_score, column)) for column in zip(*fitting, strict=True))
        share = len(fitting) / len(records)
        return (recognised(rows[0]), width >= 2, width >= 3, share * scores, share)

    # On a tie the semicolon wins: sentences contain commas far more often.
    return max("\t;,", key=evidence)


def _usual_width(records: Iterable[list[str] | Problem]) -> int:
    widths = Counter(len(cells) for cells in records if not isinstance(cells, Problem))
    return widths.most_common(1)[0][0] if widths else 0


def _is_header(first: Sequence[str] | Problem, below: Sequence[Sequence[str] | Problem]) -> bool:
    """Names that a header would hold, or words above a column of scores."""
    if isinstance(first, Problem):
        return False
    if recognised(first) >= 2 and not any(map(is_score, first)):
        return True
    fitting = [c for c in below[:_SAMPLE] if not isinstance(c, Problem) and len(c) == len(first)]
    if not fitting:
        return not any(map(is_score, first))
    for position, name in enumerate(first):
        scores = sum(is_score(cells[position]) for cells in fitting)
        if name.strip() and not is_score(name) and scores >= 0.8 * len(fitting):
            return True
    return False


def _fitted(cells: list[str] | Problem, width: int) -> list[str] | Problem:
    """The cells, without empty ones beyond the width (spreadsheets append those)."""
    if isinstance(cells, Problem):
        return cells
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != width:
        return Problem("row_fields", found=len(cells), expected=width)
    return cells


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Column names, none empty and none twice: an empty one is called by its number."""
    distinct: list[str] = []
    for position, name in enumerate(names, start=1):
        plain = name.strip() or str(position)
        count = 2
        unique = plain
        while unique in distinct:
            unique, count = f"{plain} ({count})", count + 1
        distinct.append(unique)
    return tuple(distinct)
