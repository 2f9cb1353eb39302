"""Writer of a cleaned dataset, and of the rows left out with the reason.

Rows keep the form in which they were read: pairs with labels, triplets with their columns, lists as
lists, so that sentence-transformers trains on the cleaned file as on the original.
"""

import csv
import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lossprism.explorer.lab.doctor.dataset_reader import Read
from lossprism.explorer.lab.doctor.pair_table_profile import Cleaned, Profile
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.lab.large.large_pair_table_reader import FilePairs
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.sources.column_roles import CLASS_ROLES, PAIR_ROLES, TEACHER, is_name
from lossprism.explorer.sources.pairs_from_tables import TYPED_COLUMNS

ROWS_BETWEEN_REPORTS = 2**14
JSON_LINES_EXTENSIONS, DELIMITERS = (
    (".jsonl", ".json", ".ndjson"),
    {".csv": ",", ".tsv": "\t", ".txt": "\t"},
)
ReportRows = Callable[[int, int], None]
# A text, a number, or a list of either; "" for an empty cell.
Cell = str | float | list[str] | list[float]


def cleaned_extension(read: Read | ClassTable) -> str:
    """Return the extension of cleaned files: JSON lines if there are lists, since not every reader
    recognises lists in a table."""
    return JSON_LINES_EXTENSIONS[0] if _list_roles(read) else ".tsv"


def write_kept(
    read: Read | ClassTable,
    path: Path,
    report: ReportRows = lambda done, total: None,
    *,
    by_threshold: bool = False,
) -> Path:
    """Write the rows that stay, with labels and teacher's scores, classes in their most frequent
    spelling; return the path.

    JSON lines by the extension, or by default if there are lists; else a table with lists as JSON
    in a cell. `by_threshold` says which labels conflict, as in `Profile.label_conflicts`.
    """
    kept = (_cleaned(read, by_threshold).kept - 1).tolist()
    if isinstance(read, ClassTable):
        read = dataclasses.replace(read, of=read.one_spelling)
    lines = (_cells(read, group) for group in _groups(read, kept))
    _write(path, read, _header(read), lines, len(kept), report)
    return path


def write_left_out(
    read: Read | ClassTable,
    path: Path,
    report: ReportRows = lambda done, total: None,
    *,
    by_threshold: bool = False,
) -> Path:
    """Write the rows left out, each with its number and the name of the fault; return the path."""
    left = _cleaned(read, by_threshold).left_out
    reasons = {one - 1: reason for one, reason in left}
    lines = (
        [float(read.row(group[0] + 1)), reason, *_cells(read, group)]
        for row in _groups(read, reasons)
        for reason, group in _by_reason(row, reasons)
    )
    _write(path, read, ["row", "because", *_header(read)], lines, len(left), report)
    return path


def left_out_path(path: Path, read: Read | ClassTable) -> Path:
    """Return the path of the file of left-out rows, beside that of the cleaned ones."""
    return path.with_suffix(f".left-out{path.suffix or cleaned_extension(read)}")


def _by_reason(row: Iterable[int], reasons: dict[int, str]) -> Iterator[tuple[str, list[int]]]:
    places: dict[str, list[int]] = {}
    for place in row:
        places.setdefault(reasons[place], []).append(place)
    yield from places.items()


def _cleaned(read: Read | ClassTable, by_threshold: bool) -> Cleaned:
    if isinstance(read, ClassTable):
        return read.cleaned
    return read.profile.cleaned(by_threshold)


def _groups(read: Read | ClassTable, places: Iterable[int]) -> Iterator[list[int]]:
    """Yield the places of pairs in order, those of one row together."""
    if isinstance(read, ClassTable) or read.profile.rows is None:
        yield from ([place] for place in places)
        return
    row_of = read.profile.row_of
    yield from (list(group) for _, group in itertools.groupby(places, lambda at: row_of[at]))


def _list_roles(read: Read | ClassTable) -> frozenset[str]:
    """Return the roles whose cells are lists."""
    return frozenset() if isinstance(read, ClassTable) or read.file is None else read.file.listed


def _header(read: Read | ClassTable) -> list[str]:
    if isinstance(read, ClassTable):
        return list(CLASS_ROLES)
    profile, file = read.profile, read.file
    if file is not None and profile.of_triplets:
        taught = file.taught if profile.has_teacher else ()
        return [*profile.text_columns, *(_name_or(name, TEACHER) for name in taught)]
    named = dict(zip(PAIR_ROLES, TYPED_COLUMNS, strict=True)) | {TEACHER: TEACHER}
    if file is not None and "second" in file.listed:
        named |= {role: name for role, name in file.chosen.items() if is_name(name)}
    labels = [named["score"]] if profile.labelled else []
    taught = [named[TEACHER]] if profile.has_teacher else []
    return [named["first"], named["second"], *labels, *taught]


def _name_or(name: str, other: str) -> str:
    return name if is_name(name) else other


def _cells(read: Read | ClassTable, row: Sequence[int]) -> list[Cell]:
    """Return the cells of a row, with only these of its pairs."""
    if isinstance(read, ClassTable):
        (place,) = row
        return [read.texts[place], read.names[int(read.of[place])]]
    profile, file = read.profile, read.file
    if file is not None and profile.of_triplets:
        return _triplet_cells(profile, file, row)
    columns = profile.columns
    cells: list[list] = [[columns.second[at] for at in row]]
    if profile.labelled:
        cells.append([float(profile.labels[at]) for at in row])
    if columns.teacher is not None:
        cells.append([_score_cell(columns.teacher[at]) for at in row])
    in_lists = "second" in _list_roles(read)
    return [columns.first[row[0]], *(cell if in_lists else cell[0] for cell in cells)]


def _triplet_cells(profile: Profile, file: FilePairs, row: Sequence[int]) -> list[Cell]:
    positive = profile.positive
    sides = [[file.second[at] for at in row if positive[at] == side] for side in (True, False)]
    cells: list[Cell] = [file.first[row[0]]]
    for role, texts, count in zip(
        ("positive", "negative"), sides, (len(file.positives), len(file.negatives)), strict=True
    ):
        cells += _over_columns(texts, count, role in file.listed)
    if file.teacher is not None:
        scores = [_score_cell(file.teacher[at]) for at in row]
        if file.margins and positive[row[0]] and scores[0] == 0:
            scores = [-one if isinstance(one, float) else one for one in scores[1:]]
        scores = scores if any(isinstance(one, float) for one in scores) else []
        cells += _over_columns(scores, len(file.taught), TEACHER in file.listed)
    return cells


def _over_columns(entries: list, columns: int, listed: bool) -> list[Cell]:
    """Spread the entries over the columns: one in each, or as a list in the first."""
    if listed:
        return [entries, *([""] * (columns - 1))]
    return [*entries, *([""] * (columns - len(entries)))]


def _score_cell(score: float) -> float | str:
    return "" if math.isnan(score) else float(score)


def _write(
    path: Path,
    read: Read | ClassTable,
    heads: list[str],
    lines: Iterable[list[Cell]],
    total: int,
    report: ReportRows,
) -> None:
    suffix = path.suffix.lower()
    as_lines = suffix in JSON_LINES_EXTENSIONS or (
        suffix not in DELIMITERS and bool(_list_roles(read))
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=DELIMITERS.get(suffix, "\t"), lineterminator="\n")
        if not as_lines:
            table.writerow(heads)
        for number, line in enumerate(lines):
            if number % ROWS_BETWEEN_REPORTS == 0:
                report(number, total)
            if as_lines:
                record = dict(zip(heads, map(_json_cell, line), strict=True))
                file.write(f"{json.dumps(record, ensure_ascii=False)}\n")
            else:
                table.writerow(map(_table_cell, line))


def _json_cell(cell: Cell) -> object:
    """Return a whole number as int and an empty cell as None."""
    if isinstance(cell, list):
        return [_json_cell(one) for one in cell]
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return None if cell == "" else cell


def _table_cell(cell: Cell) -> str:
    """Return a cell of a table: text on one line, a list as JSON."""
    if isinstance(cell, list):
        return json.dumps(_json_cell(cell), ensure_ascii=False)
    return " ".join(cell.split()) if isinstance(cell, str) else typed(cell)
