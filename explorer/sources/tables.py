"""Pairs from a typed table or a file: CSV, TSV, JSON lines, a JSON array, or Parquet.

Scores are taken as they stand; nothing is rescaled. A row that cannot be used is never fatal and
never dropped in silence: it is listed with its number and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.runtime import jobs
from explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, MIB
from explorer.runtime.problem import Problem
from explorer.sources.cells import is_blank, read_score, read_sentence
from explorer.sources.columns import TRIPLET_ROLES, choose_columns
from explorer.sources.grids import Grid, Record, read_grid
from explorer.sources.pairs import Pairs

STEP = 8192  # rows between two moments at which the reading may be cancelled
TYPED_COLUMNS = ("sentence1", "sentence2", "score")

Pair = tuple[str, str, float]


@dataclass(frozen=True)
class SkippedRow:
    """A row that could not be used. `row` counts as the user sees it: 1 is the first data row."""

    row: int
    problem: Problem


@dataclass(frozen=True)
class Table:
    """What was read, and what the user has to be told about it.

    `chosen` maps each role to the name of its column: first, second, score; or anchor, positive,
    negative, whose rows give two pairs each, (anchor, positive, 1) and (anchor, negative, 0).
    `total` counts the rows that are not empty, `limited` says that there were more pairs than
    asked for, `encoding` how the bytes were read ("UTF-8", "UTF-16", "GB18030", "Windows-1252",
    "Parquet", or "" for a typed table).
    """

    pairs: Pairs
    skipped: tuple[SkippedRow, ...]
    columns: tuple[str, ...]
    chosen: dict[str, str]
    header: bool
    total: int
    limited: bool
    encoding: str = ""


def from_rows(rows: Iterable[Sequence[object]]) -> Table:
    """The typed table: rows of sentence 1, sentence 2, score, the score as text or number.

    Empty rows are ignored; rows beyond EXPLORED_PAIRS are left out, and `limited` says so.
    """
    records: list[Record] = []
    for row, cells in enumerate(rows, start=1):
        if not all(map(is_blank, cells)):
            padded = [*cells, None, None, None]
            records.append((row, padded[: len(TYPED_COLUMNS)]))
    grid = Grid(TYPED_COLUMNS, records, header=True, encoding="")
    return _table(grid, {"first": 0, "second": 1, "score": 2}, EXPLORED_PAIRS, None)


def read_file(
    path: str | Path,
    name: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    most: int = EXPLORED_PAIRS,
    seed: int | None = None,
) -> Table:
    """The pairs of a file of at most 64 MB.

    `name` is what the user calls the file (an upload's path is not that); its extension and the
    contents decide the kind together. `columns` maps roles (first, second, score; or anchor,
    positive, negative) to names of columns, or to their numbers counted from 1; roles left out
    are recognised. `header` says whether the first row of a CSV or TSV names the columns; None
    finds out. Of more than `most` pairs the first ones are taken, or, with a `seed`, a random
    sample of the rows in the order of the file.

    Raises Problem if there is no table to be read; single bad rows are in `Table.skipped`.
    """
    path = Path(path)
    name = name or path.name
    try:
        too_large = path.stat().st_size > FILE_BYTES
        data = b"" if too_large else path.read_bytes()
    except OSError:
        raise Problem("file_unreadable", name=name) from None
    if too_large:
        raise Problem("file_too_large", name=name, most=FILE_BYTES // MIB)
    return read_table(data, name, columns=columns, header=header, most=most, seed=seed)


def read_table(
    data: bytes,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    most: int = EXPLORED_PAIRS,
    seed: int | None = None,
) -> Table:
    """The same for the bytes of a file."""
    if len(data) > FILE_BYTES:
        raise Problem("file_too_large", name=name, most=FILE_BYTES // MIB)
    grid = read_grid(data, name, header)
    chosen = choose_columns(grid.columns, columns, grid.is_score, grid.is_text)
    return _table(grid, chosen, most, seed)


def _table(grid: Grid, chosen: Mapping[str, int], most: int, seed: int | None) -> Table:
    is_triplet = set(chosen) == set(TRIPLET_ROLES)
    usable: list[tuple[Pair, ...]] = []
    skipped: list[SkippedRow] = []
    for place, (row, cells) in enumerate(grid.records):
        if place % STEP == 0:
            jobs.step("reading", place, len(grid.records))
        try:
            if isinstance(cells, Problem):
                raise cells
            read = _triplet if is_triplet else _pair
            usable.append(read(cells, chosen, grid.columns))
        except Problem as problem:
            # The traceback would keep every row read so far alive.
            skipped.append(SkippedRow(row, problem.with_traceback(None)))
    fitting = most // 2 if is_triplet else most
    kept = _sample(usable, fitting, seed)
    return Table(
        pairs=_pairs([pair for pairs in kept for pair in pairs]),
        skipped=tuple(skipped),
        columns=grid.columns,
        chosen={role: grid.columns[position] for role, position in chosen.items()},
        header=grid.header,
        total=len(grid.records),
        limited=len(kept) < len(usable),
        encoding=grid.encoding,
    )


def _pair(
    cells: Sequence[object], chosen: Mapping[str, int], names: Sequence[str]
) -> tuple[Pair, ...]:
    first = read_sentence(cells[chosen["first"]], names[chosen["first"]])
    second = read_sentence(cells[chosen["second"]], names[chosen["second"]])
    return ((first, second, read_score(cells[chosen["score"]], names[chosen["score"]])),)


def _triplet(
    cells: Sequence[object], chosen: Mapping[str, int], names: Sequence[str]
) -> tuple[Pair, ...]:
    anchor, positive, negative = (
        read_sentence(cells[chosen[role]], names[chosen[role]]) for role in TRIPLET_ROLES
    )
    return ((anchor, positive, 1.0), (anchor, negative, 0.0))


def _sample(rows: list, most: int, seed: int | None) -> list:
    """The first rows, or those that a frozen random stream picks, in their order."""
    if seed is None or len(rows) <= most:
        return rows[:most]
    picked = np.random.RandomState(seed % 2**32).permutation(len(rows))[:most]
    return [rows[index] for index in sorted(picked)]


def _pairs(pairs: Sequence[Pair]) -> Pairs:
    return Pairs(
        first=tuple(first for first, _, _ in pairs),
        second=tuple(second for _, second, _ in pairs),
        labels=tuple(label for _, _, label in pairs),
    )
