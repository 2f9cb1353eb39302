"""A table of scalars: exports of wandb, trackio and TensorBoard, or whatever has steps and values.

wide   a column of steps, and one for each curve; without such a column rows are steps
long   a column of steps, one of names, one of values
runs   a row for each run with its last values, which is no log: it is refused
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from lossprism.explorer.lab.doctor.logs.log import (
    EPOCH,
    OF_RUN,
    PASTED,
    PIPED,
    ROWS,
    STEP_NAMES,
    TRAINED,
    Log,
    curves_of,
    is_loss,
    last_epoch,
    number_in,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import (
    NOTHING,
    Cells,
    decimal_mark,
    is_blank,
    is_score,
    read_score,
)
from lossprism.explorer.sources.delimited import SAMPLE, Tell, to_nobody
from lossprism.explorer.sources.json_rows import Object, object_records, written
from lossprism.explorer.sources.table_in_pasted_text import are_steps
from lossprism.explorer.sources.table_parser import Grid, read_grid

NAMES = ("tag", "metric", "name", "metric_name", "metricname", "key", "variable", "series")
VALUES = ("value", "metric_value", "scalar", "val")
RUNS = ("run", "run_name", "run name", "experiment", "run_id")
POINT = ("step", "loss")  # names of the first columns of a table without names
# Objects of a row that hold its curves by their full names.
HOLDERS = ("metrics", "logs", "log", "scalars", "values", "data")
TAGGED = "-tag-"  # before the curve's name, in the name of a file that TensorBoard gives
# Of these wandb's table of runs has some three, whichever columns are shown.
OF_RUNS, SHOWN = {"name", "state", "created", "runtime"}, 3
_REPEATED = re.compile(r" \(\d+\)$")  # after a name that another column has
_SHARE = re.compile(r"(\d+)/\d+")
MAX_KINDS = 100  # of rows, by which curves have a number in them
# What is no curve: clocks, trackio's number of a row, and wandb's ends of a smoothed one.
NO_CURVE = re.compile(
    r"^(id|wall[_ ]time|_?timestamp|_runtime|relative time.*|epoch|.*/epoch|.*__(min|max)|"
    r"(?!.*loss).*[_ /]step)$",
    re.I,
)


def read(name: str, grid: Grid, step: str = "") -> Log:
    """The curves of a table as `grid_of` gives it, over the column of steps that is chosen (`ROWS`
    counts the rows), or else the first that goes by such a name; of losses without one, the rows
    are counted.

    Raises Problem where no column has steps or none has values, naming the columns; for a table of
    runs, and for one without a row.
    """
    if not _has_rows(grid):
        raise Problem("run_only_header", name=name, columns=", ".join(grid.columns)[:400])
    heads = {head.strip().lower(): place for place, head in enumerate(grid.columns)}
    columns = ", ".join(grid.columns)[:400]
    if _is_of_runs(heads):
        raise Problem("run_table_of_runs", name=name)
    value = next((heads[one] for one in VALUES if one in heads), None)
    choices = _steps_in(grid, heads)
    named_so = [one for one in choices if one.strip().lower() in STEP_NAMES]
    own = {} if step else _own_steps(grid, named_so)
    losses = [one for one in grid.columns if is_loss(one)] or (len(grid.columns) == 1)
    if not step and not named_so and not own and not losses:
        raise Problem("run_no_steps", name=name, columns=columns, known=", ".join(STEP_NAMES))
    if step not in ("", ROWS, *choices):
        raise Problem("run_step_unknown", name=name, step=step[:60], known=", ".join(choices))
    read_by = step or ("" if own else named_so[0] if named_so else ROWS)
    at = grid.columns.index(read_by) if read_by in choices else None
    counted = read_by == ROWS
    named = next((heads[one] for one in NAMES if one in heads), None)
    rows = _Rows(grid, next((heads[one] for one in RUNS if one in heads), None))
    curves: dict[int, tuple[str, int | None]] = {}
    if at is not None and named is not None and value is not None:
        points = _long(rows, at, named, value)
    elif at is not None and value is not None:  # TensorBoard's export of one curve
        of_file = PurePath(name).stem.rpartition(TAGGED)[2]
        own_name = TRAINED[0] if name in (PASTED, PIPED) else of_file
        points = _wide(rows, {value: (own_name, at)})
    elif counted and len(grid.columns) == 1:
        points = _wide(rows, {0: (TRAINED[0], None)}, counted)
    else:
        curves = {
            place: (head.strip(), own.get(_run_in(head), at))
            for place, head in enumerate(grid.columns)
            if place != at
            and head.strip().lower() not in STEP_NAMES
            and not _is_no_curve(head.strip(), place)
            and _is_numeric(grid, place)
        }
        points = _wide(rows, curves, counted)
    found = curves_of(points)
    if not found:
        raise Problem("run_no_values", name=name, columns=columns)
    blank = () if rows.several or not curves else tuple(_steps_without_values(rows, at))
    return Log(
        "scalars",
        found,
        steps=() if own else (*choices, ROWS),
        step=read_by,
        blank=blank,
        epochs=_epochs(grid, rows),
        left_columns=tuple(_left_columns(grid, curves)),
        left_lines=grid.left_lines,
    )


def _epochs(grid: Grid, rows: _Rows) -> float | None:
    """The last epoch of a table of one run with a column of them."""
    places = [place for place, head in enumerate(grid.columns) if EPOCH.search(head.strip())]
    if not places or rows.several:
        return None
    return last_epoch(rows.number(cells.get(places[0])) for _, cells in rows)


def _left_columns(grid: Grid, curves: Mapping[int, tuple[str, int | None]]) -> Iterator[str]:
    """Yield the columns of a wide table that are neither a curve nor steps, clocks or names of
    runs."""
    for place, head in enumerate(grid.columns if curves else ()):
        plain = head.strip().lower()
        known = (
            place in curves or plain in (*STEP_NAMES, *RUNS) or _is_no_curve(head.strip(), place)
        )
        if not known and not _rises(grid, place):
            yield head


def grid_of(name: str, content: bytes) -> Grid:
    """The table by the names in its first row; where that has numbers, their first column is taken
    for steps and the next for the loss if they can be.

    Raises Problem for one without anything."""
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise Problem("run_empty", name=name)
    grid = _with_columns_of_entries(read_grid(content, name, True, rows=False), name)
    if grid.header and not all(_reads(_REPEATED.sub("", head)) for head in grid.columns):
        return grid
    grid = read_grid(content, name, False)
    if grid.header:  # a kind of file whose columns always have names
        return grid
    rows = [[str(cell) for _, cell in written(cells)] for cells in _first(grid)]
    return replace(grid, columns=(*POINT, *grid.columns[2:])) if are_steps(rows) else grid


def _with_columns_of_entries(grid: Grid, name: str) -> Grid:
    """The table with a column for each entry of its objects: {"train": {"loss": 2.1}} has the
    column train/loss."""
    cells = (cell for place in range(len(grid.columns)) for cell in grid.column(place))
    if not any(isinstance(cell, dict) for cell in cells):
        return grid

    def entries(tell: Tell) -> Iterator[tuple[int, Object | Problem]]:
        for row, cells in grid.records(tell):
            yield row, cells if isinstance(cells, Problem) else _flat(grid.columns, cells)

    columns, records = object_records(entries, name, to_nobody)
    return replace(grid, columns=columns, records=records)


def _flat(columns: Sequence[str], cells: Cells) -> Object:
    found: Object = {}
    for place, cell in written(cells):
        name = columns[place]
        before = "" if name.lower() in HOLDERS else f"{name}/"
        inner = cell if isinstance(cell, dict) else {}
        found |= {before + key: value for key, value in inner.items()} or {name: cell}
    return found


def _has_rows(grid: Grid) -> bool:
    return next(grid.records(to_nobody), None) is not None


def _steps_in(grid: Grid, heads: Mapping[str, int]) -> tuple[str, ...]:
    """The columns that steps may stand in: those of such names, then numbers that only rise."""
    named = [grid.columns[heads[one]] for one in STEP_NAMES if one in heads]
    rising = (head for place, head in enumerate(grid.columns) if _rises(grid, place))
    return tuple(dict.fromkeys((*named, *rising)))


def _rises(grid: Grid, place: int) -> bool:
    """True if every cell is a number above that before it; reads no further than the first that is
    not."""
    cells = grid.column(place)
    if is_loss(grid.columns[place]) or len(cells) <= 2:
        return False
    try:
        values = (read_score(cell, "") for cell in cells)
        return all(one < other for one, other in itertools.pairwise(values))
    except Problem:
        return False


def _is_of_runs(heads: Iterable[str]) -> bool:
    return len(OF_RUNS & {*heads}) >= SHOWN


def _own_steps(grid: Grid, shared: Sequence[str] = ()) -> dict[str, int]:
    """Columns of each run's own steps, by the run: in an export of wandb over another axis,
    "bold-sun-1 - _step" beside "bold-sun-1 - train/loss". Beside a column of steps that all runs
    share only those of a better name count."""
    found: dict[str, int] = {}
    ranks = [STEP_NAMES.index(one.strip().lower()) for one in shared]
    for step_name in STEP_NAMES[: min(ranks, default=None)]:
        for place, head in enumerate(grid.columns):
            run = _run_in(head)
            if run and head.strip().lower() == f"{run.lower()}{OF_RUN}{step_name}":
                found.setdefault(run, place)
    return found


def _run_in(head: str) -> str:
    """The run that a column is of, "" where none is named."""
    return head.strip().rpartition(OF_RUN)[0]


def _is_no_curve(head: str, place: int) -> bool:
    """True for a column that is no curve; also one without a name, called by its number: the rows
    as pandas counts them."""
    return head == str(place + 1) or bool(NO_CURVE.match(head))


def grid_if_scalars(name: str, content: bytes) -> Grid | None:
    """Return the table, if it has scalars; else None.

    It has steps and numbers beside them, and no two columns of text; or numbers alone, of which
    `read` counts the rows, or says that steps are missing; or names of losses, of which it has no
    row yet.
    """
    try:
        grid = grid_of(name, content)
    except Problem:
        return None
    return grid if _has_scalars(grid) else None


def _has_scalars(grid: Grid) -> bool:
    heads = [head.strip().lower() for head in grid.columns]
    if not _has_rows(grid):
        return any(map(is_loss, heads))
    if len(heads) == 1 and (is_loss(heads[0]) or not grid.header):
        return _is_numeric(grid, 0)
    if _is_of_runs(heads):  # `read` raises the problem
        return True
    if grid.header and len(heads) > 1 and all(_is_numeric(grid, at) for at in range(len(heads))):
        return True
    beside = [at for at, head in enumerate(heads) if head in RUNS or _is_no_curve(head, at)]
    others = set(range(len(heads))) - set(beside)
    texts = sum(grid.is_text(place, or_reference=True) for place in others)
    if set(heads) & {*NAMES} and set(heads) & {*VALUES}:
        return bool(set(heads) & {*STEP_NAMES})
    steps = set(heads) & {*STEP_NAMES} or _own_steps(grid) or any(map(is_loss, heads))
    return bool(steps) and texts < 2


def _is_numeric(grid: Grid, place: int) -> bool:
    cells = [cell for cell in grid.column(place) if not _is_nothing(cell)]
    if not cells:  # of a column of the JSON's own NaN there is no cell
        return any(_is_nan(dict(written(cells)).get(place)) for cells in _first(grid))
    return sum(map(_reads, cells)) >= 0.8 * len(cells)


def _first(grid: Grid) -> Iterator[Cells]:
    """The first rows, those that cannot be read aside."""
    rows = (cells for _, cells in itertools.islice(grid.records(to_nobody), SAMPLE))
    return (cells for cells in rows if not isinstance(cells, Problem))


def _reads(cell: object) -> bool:
    return is_score(cell) or str(cell).strip().lower() in ("nan", "inf", "-inf", "infinity")


def _is_nothing(cell: object) -> bool:
    """True if nothing was written; NaN is the value of a loss."""
    if not isinstance(cell, str):
        return cell is None
    # Most cells are numbers: the first letter shows it.
    return not cell[:1].isdecimal() and cell.strip().lower() in NOTHING


class _Rows:
    """The rows of a table, iterable any number of times; each of the run named in this column,
    where it names several. `without_values` are those in which `_wide` found none."""

    def __init__(self, grid: Grid, run: int | None) -> None:
        self.grid, self.run = grid, run
        self.without_values: list[Mapping[int, object]] = []
        # Text with a comma before a fraction, where a cell can be read in no other way.
        cells = (cell for place in range(len(grid.columns)) for cell in grid.column(place))
        self.by_comma = any(decimal_mark(cell) == "," for cell in cells)
        self.several = run is not None and len({str(cells.get(run)) for _, cells in self}) > 1

    def __iter__(self) -> Iterator[tuple[int, dict[int, object]]]:
        for row, cells in self.grid.records(to_nobody):
            if isinstance(cells, Problem):
                raise Problem("run_row", row=row, reason=str(cells))
            yield row, {at: cell for at, cell in written(cells) if not _is_nothing(cell)}

    def number(self, cell: object) -> object:
        """A cell whose number is still to be read; "5/120" is 5, as ms-swift writes its steps."""
        if not isinstance(cell, str):
            return cell
        if "/" in cell and (shared := _SHARE.fullmatch(cell.strip())):
            return shared[1]
        return cell.replace(",", ".") if self.by_comma else cell

    def called(self, name: str, cells: Mapping[int, object]) -> str:
        if not self.several or self.run is None:
            return name
        return f"{cells.get(self.run, '?')} · {name}"


def _wide(
    rows: _Rows, curves: dict[int, tuple[str, int | None]], counted: bool = False
) -> Iterator[tuple[str, object, object]]:
    """Yield name, step and value of each curve's column; `counted`: without a column of steps, the
    number of the row is the step."""
    exclusive = _never_together(rows, curves)
    for row, cells in rows:
        if curves.keys().isdisjoint(cells):
            rows.without_values.append(cells)
        there = {place for place in curves if _is_finite(cells.get(place))} if exclusive else set()
        for place, (name, step) in curves.items():
            at = cells.get(step) if step is not None else row if counted else None
            value = cells.get(place)
            if at is None or value is None:
                continue
            if there and _is_nan(value) and exclusive.get(place, set()) & there:
                continue  # it was not logged in this row: another curve was
            yield rows.called(name, cells), rows.number(at), rows.number(value)


def _never_together(
    rows: _Rows, curves: Mapping[int, tuple[str, int | None]]
) -> dict[int, set[int]]:
    """Curves that have no number in any row in which each curve has one: they are logged at other
    times, with "NaN" in between. None where hardly a "NaN" is written."""
    first = [cells for _, cells in itertools.islice(rows, SAMPLE)]
    with_nan = (any(_is_nan(cells.get(place)) for cells in first) for place in curves)
    if sum(with_nan) < 2:
        return {}
    kinds: set[frozenset[int]] = set()
    for _, cells in rows:
        kinds.add(frozenset(place for place in curves if _is_finite(cells.get(place))))
        if len(kinds) > MAX_KINDS:
            return {}
    with_it = {place: set().union(*(kind for kind in kinds if place in kind)) for place in curves}
    return {place: {*curves} - with_it[place] for place in curves if with_it[place]}


def _is_nan(cell: object) -> bool:
    return isinstance(cell, str | float) and str(cell).strip().lower() == "nan"


def _is_finite(cell: object) -> bool:
    return not is_blank(cell) and is_score(cell)


def _steps_without_values(rows: _Rows, step: int | None) -> Iterator[float]:
    """The steps of the rows in which none of the curves has a value."""
    for cells in rows.without_values:
        at = None if step is None else number_in(rows.number(cells.get(step)))
        if at is not None and math.isfinite(at):
            yield at


def _long(rows: _Rows, step: int, named: int, value: int) -> Iterator[tuple[str, object, object]]:
    for row, cells in rows:
        if step not in cells or value not in cells:
            continue
        if named not in cells:
            raise Problem("run_row", row=row, reason=rows.grid.columns[named])
        name = str(cells[named]).strip()
        yield rows.called(name, cells), rows.number(cells[step]), rows.number(cells[value])
