"""The rows that stay of a dataset, and those that do not with why, as files to take away.

Rows come out in the form in which they came in: pairs with their labels, triplets with their
columns, lists as lists. sentence-transformers trains on what stays as on what was read.
"""

import csv
import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lossprism.explorer.lab.doctor.class_dataset_checks import ClassTable
from lossprism.explorer.lab.doctor.dataset_reader import Read
from lossprism.explorer.lab.doctor.pair_table_profile import Cleaned, Profile
from lossprism.explorer.lab.large.files import FilePairs
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.sources.column_roles import CLASS_ROLES, PAIR_ROLES, TEACHER, is_name
from lossprism.explorer.sources.tables import TYPED_COLUMNS

ROWS_A_REPORT = 2**14
LINES, TABLES = (".jsonl", ".json", ".ndjson"), {".csv": ",", ".tsv": "\t", ".txt": "\t"}
Tell = Callable[[int, int], None]
# A text, a number, or a list of either; "" for nothing.
Cell = str | float | list[str] | list[float]


def ending(read: Read | ClassTable) -> str:
    """Extension of such files: not every reader would recognise a table's lists."""
    return LINES[0] if _listed(read) else ".tsv"


def write_kept(
    read: Read | ClassTable,
    path: Path,
    tell: Tell = lambda done, total: None,
    *,
    by_threshold: bool = False,
) -> Path:
    """The rows that stay: pairs with the labels and the teacher's scores that they have, triplets,
    lists, or texts with their classes, each in its most frequent spelling. JSON lines where the
    name says so, or where it says nothing and there are lists; else a table, with lists as JSON in
    a cell. `by_threshold`: which labels conflict, as `Profile.label_conflicts`."""
    kept = (_cleaned(read, by_threshold).kept - 1).tolist()
    if isinstance(read, ClassTable):
        read = dataclasses.replace(read, of=read.one_spelling)
    lines = (_cells(read, group) for group in _groups(read, kept))
    _write(path, read, _heads(read), lines, len(kept), tell)
    return path


def write_left_out(
    read: Read | ClassTable,
    path: Path,
    tell: Tell = lambda done, total: None,
    *,
    by_threshold: bool = False,
) -> Path:
    """The others, each with its row and the name of the fault."""
    left = _cleaned(read, by_threshold).left_out
    why = {one - 1: because for one, because in left}
    lines = (
        [float(read.row(group[0] + 1)), because, *_cells(read, group)]
        for row in _groups(read, why)
        for because, group in _by_reason(row, why)
    )
    _write(path, read, ["row", "because", *_heads(read)], lines, len(left), tell)
    return path


def beside(path: Path, read: Read | ClassTable) -> Path:
    """Path of the file of left-out rows, beside that of the kept ones."""
    return path.with_suffix(f".left-out{path.suffix or ending(read)}")


def _by_reason(row: Iterable[int], why: dict[int, str]) -> Iterator[tuple[str, list[int]]]:
    found: dict[str, list[int]] = {}
    for place in row:
        found.setdefault(why[place], []).append(place)
    yield from found.items()


def _cleaned(read: Read | ClassTable, by_threshold: bool) -> Cleaned:
    if isinstance(read, ClassTable):
        return read.cleaned
    return read.profile.cleaned(by_threshold)


def _groups(read: Read | ClassTable, places: Iterable[int]) -> Iterator[list[int]]:
    """The places of pairs, in their order, those of one row together."""
    if isinstance(read, ClassTable) or read.profile.rows is None:
        yield from ([place] for place in places)
        return
    row_of = read.profile.row_of
    yield from (list(group) for _, group in itertools.groupby(places, lambda at: row_of[at]))


def _listed(read: Read | ClassTable) -> frozenset[str]:
    """The roles that have lists."""
    return frozenset() if isinstance(read, ClassTable) or read.file is None else read.file.listed


def _heads(read: Read | ClassTable) -> list[str]:
    if isinstance(read, ClassTable):
        return list(CLASS_ROLES)
    profile, file = read.profile, read.file
    if file is not None and profile.of_triplets:
        taught = file.taught if profile.has_teacher else ()
        return [*profile.text_columns, *(_name(name, TEACHER) for name in taught)]
    named = dict(zip(PAIR_ROLES, TYPED_COLUMNS, strict=True)) | {TEACHER: TEACHER}
    if file is not None and "second" in file.listed:
        named |= {role: name for role, name in file.chosen.items() if is_name(name)}
    labels = [named["score"]] if profile.labelled else []
    taught = [named[TEACHER]] if profile.has_teacher else []
    return [named["first"], named["second"], *labels, *taught]


def _name(name: str, other: str) -> str:
    return name if is_name(name) else other


def _cells(read: Read | ClassTable, row: Sequence[int]) -> list[Cell]:
    """Return the cells of a row with only these of its pairs."""
    if isinstance(read, ClassTable):
        (place,) = row
        return [read.texts[place], read.names[int(read.of[place])]]
    profile, file = read.profile, read.file
    if file is not None and profile.of_triplets:
        return _triplet(profile, file, row)
    columns = profile.columns
    cells: list[list] = [[columns.second[at] for at in row]]
    if profile.labelled:
        cells.append([float(profile.labels[at]) for at in row])
    if columns.teacher is not None:
        cells.append([_score_cell(columns.teacher[at]) for at in row])
    in_lists = "second" in _listed(read)
    return [columns.first[row[0]], *(cell if in_lists else cell[0] for cell in cells)]


def _triplet(profile: Profile, file: FilePairs, row: Sequence[int]) -> list[Cell]:
    positive = profile.positive
    sides = [[file.second[at] for at in row if positive[at] == side] for side in (True, False)]
    cells: list[Cell] = [file.first[row[0]]]
    for role, texts, count in zip(
        ("positive", "negative"), sides, (len(file.positives), len(file.negatives)), strict=True
    ):
        cells += _over(texts, count, role in file.listed)
    if file.teacher is not None:
        scores = [_score_cell(file.teacher[at]) for at in row]
        if file.margins and positive[row[0]] and scores[0] == 0:
            scores = [-one if isinstance(one, float) else one for one in scores[1:]]
        scores = scores if any(isinstance(one, float) for one in scores) else []
        cells += _over(scores, len(file.taught), TEACHER in file.listed)
    return cells


def _over(entries: list, columns: int, listed: bool) -> list[Cell]:
    """Spread these over the columns: one in each, or, where they come as lists, all in the
    first."""
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
    tell: Tell,
) -> None:
    suffix = path.suffix.lower()
    as_lines = suffix in LINES or (suffix not in TABLES and bool(_listed(read)))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=TABLES.get(suffix, "\t"), lineterminator="\n")
        if not as_lines:
            table.writerow(heads)
        for number, line in enumerate(lines):
            if number % ROWS_A_REPORT == 0:
                tell(number, total)
            if as_lines:
                record = dict(zip(heads, map(_whole, line), strict=True))
                file.write(f"{json.dumps(record, ensure_ascii=False)}\n")
            else:
                table.writerow(map(_written, line))


def _whole(cell: Cell) -> object:
    """A number without digits after the point as a whole one, and nothing as null."""
    if isinstance(cell, list):
        return [_whole(one) for one in cell]
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return None if cell == "" else cell


def _written(cell: Cell) -> str:
    """A cell of a table: on one line, a list as JSON."""
    if isinstance(cell, list):
        return json.dumps(_whole(cell), ensure_ascii=False)
    return " ".join(cell.split()) if isinstance(cell, str) else typed(cell)
