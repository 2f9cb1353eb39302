"""A table of scalars: exports of wandb, trackio and TensorBoard, or whatever has steps and values.

wide   a column of steps, and one for each curve; without such a column rows are steps
long   a column of steps, one of names, one of values
runs   a row for each run with its last values, which is no log: it is refused
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from explorer.lab.doctor.logs.log import ROWS, TRAINED, Log, curves_of, is_loss
from explorer.runtime.problem import Problem
from explorer.sources.cells import is_blank, is_score, read_score
from explorer.sources.delimited import to_nobody
from explorer.sources.grids import Grid, read_grid
from explorer.sources.json_rows import filled

STEPS = ("step", "global_step", "_step", "train/global_step", "iteration", "iter", "steps", "batch")
NAMES = ("tag", "metric", "name", "metric_name", "key", "variable", "series")
VALUES = ("value", "metric_value", "scalar", "val")
RUNS = ("run", "run_name", "run name", "experiment")
# Of these wandb's table of runs has some three, whichever columns are shown.
OF_RUNS, SHOWN = {"name", "state", "created", "runtime"}, 3
OF_RUN = " - "  # between a run and its curve, as wandb writes it
# What is no curve: clocks, and wandb's ends of a smoothed one.
APART = re.compile(
    r"^(wall[_ ]time|_?timestamp|_runtime|relative time.*|epoch|.*/epoch|.*__(min|max)|"
    r".*[_ /]step)$",
    re.I,
)


def read(name: str, content: bytes, step: str = "") -> Log:
    """The curves of a table, over the column of steps that is chosen (`ROWS` counts the rows), or
    else the first that goes by such a name; of losses without one, the rows are counted.

    Raises Problem where no column has steps or none has values, naming the columns; and for a
    table of runs.
    """
    grid = _grid(name, content)
    heads = {head.strip().lower(): place for place, head in enumerate(grid.columns)}
    columns = ", ".join(grid.columns)[:400]
    if _is_of_runs(heads):
        raise Problem("run_table_of_runs", name=name)
    value = next((heads[one] for one in VALUES if one in heads), None)
    choices = _steps_in(grid, heads)
    named_so = [one for one in choices if one.strip().lower() in STEPS]
    own = {} if step or named_so else _own_steps(grid)
    losses = [one for one in grid.columns if is_loss(one)] or (len(grid.columns) == 1)
    if not step and not named_so and not own and not losses:
        raise Problem("run_no_steps", name=name, columns=columns, known=", ".join(STEPS))
    if step not in ("", ROWS, *choices):
        raise Problem("run_step_unknown", name=name, step=step[:60], known=", ".join(choices))
    read_by = step or (named_so[0] if named_so else "" if own else ROWS)
    at = grid.columns.index(read_by) if read_by in choices else None
    counted = read_by == ROWS
    named = next((heads[one] for one in NAMES if one in heads), None)
    if at is not None and named is not None and value is not None:
        run = next((heads[one] for one in RUNS if one in heads), None)
        points = _long(grid, at, named, value, run)
    elif at is not None and value is not None:  # TensorBoard's export of one curve
        points = _wide(grid, {value: (PurePath(name).stem, at)})
    elif counted and len(grid.columns) == 1:
        points = _wide(grid, {0: (TRAINED[0], None)}, counted)
    else:
        curves = {
            place: (head.strip(), own.get(_run_in(head), at))
            for place, head in enumerate(grid.columns)
            if place != at
            and head.strip().lower() not in STEPS
            and not _is_apart(head.strip(), place)
            and _is_numeric(grid, place)
        }
        points = _wide(grid, curves, counted)
    found = curves_of(points)
    if not found:
        raise Problem("run_no_values", name=name, columns=columns)
    return Log("scalars", found, steps=() if own else (*choices, ROWS), step=read_by)


def _grid(name: str, content: bytes) -> Grid:
    """The table by the names in its first row; numbers one below the other have none."""
    grid = read_grid(content, name, True)
    alone = len(grid.columns) == 1 and _reads(grid.columns[0])
    return read_grid(content, name, False) if alone else grid


def _steps_in(grid: Grid, heads: Mapping[str, int]) -> tuple[str, ...]:
    """The columns that steps may stand in: those of such names, then numbers that only rise."""
    named = [grid.columns[heads[one]] for one in STEPS if one in heads]
    rising = (head for place, head in enumerate(grid.columns) if _rises(grid, place))
    return tuple(dict.fromkeys((*named, *rising)))


def _rises(grid: Grid, place: int) -> bool:
    """Whether every cell is a number above that before it; read no further than the first that is
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


def _own_steps(grid: Grid) -> dict[str, int]:
    """The columns of each run's own steps, by the run: in an export of wandb over another axis,
    "bold-sun-1 - _step" beside "bold-sun-1 - train/loss"."""
    found: dict[str, int] = {}
    for wanted in STEPS:
        for place, head in enumerate(grid.columns):
            run = _run_in(head)
            if run and head.strip().lower() == f"{run.lower()}{OF_RUN}{wanted}":
                found.setdefault(run, place)
    return found


def _run_in(head: str) -> str:
    """The run that a column is of, "" where none is named."""
    return head.strip().rpartition(OF_RUN)[0]


def _is_apart(head: str, place: int) -> bool:
    """Also a column without a name, called by its number: the rows as pandas counts them."""
    return head == str(place + 1) or bool(APART.match(head))


def is_scalars(name: str, content: bytes) -> bool:
    """Whether a table has steps and numbers beside them, and no two columns of text; or numbers
    alone, of which `read` counts the rows, or says that steps are missing."""
    try:
        grid = read_grid(content, name, True)
    except Problem:
        return False
    heads = [head.strip().lower() for head in grid.columns]
    if len(heads) == 1 and (is_loss(heads[0]) or _reads(grid.columns[0])):
        return _is_numeric(grid, 0)
    if _is_of_runs(heads):  # `read` says what it is
        return True
    if grid.header and len(heads) > 1 and all(_is_numeric(grid, at) for at in range(len(heads))):
        return True
    texts = sum(grid.is_text(place) for place in range(len(heads)))
    if set(heads) & {*NAMES} and set(heads) & {*VALUES}:
        return bool(set(heads) & {*STEPS})
    steps = set(heads) & {*STEPS} or _own_steps(grid) or any(map(is_loss, heads))
    return bool(steps) and texts < 2


def _is_numeric(grid: Grid, place: int) -> bool:
    cells = grid.column(place)
    return bool(cells) and sum(map(_reads, cells)) >= 0.8 * len(cells)


def _reads(cell: object) -> bool:
    return is_score(cell) or str(cell).strip().lower() in ("nan", "inf", "-inf", "infinity")


def _rows(grid: Grid) -> Iterator[tuple[int, dict[int, object]]]:
    for row, cells in grid.records(to_nobody):
        if isinstance(cells, Problem):
            raise Problem("run_row", row=row, reason=str(cells))
        yield row, dict(filled(cells))


def _wide(
    grid: Grid, curves: dict[int, tuple[str, int | None]], counted: bool = False
) -> Iterator[tuple[str, object, object]]:
    """Of each column that is a curve its name, and which column has its steps; `counted`: where
    none has, the number of the row is the step."""
    for row, cells in _rows(grid):
        for place, (name, step) in curves.items():
            at = cells.get(step) if step is not None else row if counted else None
            value = cells.get(place)
            if not is_blank(at) and not is_blank(value):
                yield name, at, value


def _long(
    grid: Grid, step: int, named: int, value: int, run: int | None
) -> Iterator[tuple[str, object, object]]:
    several = run is not None and len({str(one) for one in grid.column(run)}) > 1
    for row, cells in _rows(grid):
        if step not in cells or value not in cells:
            continue
        if named not in cells:
            raise Problem("run_row", row=row, reason=grid.columns[named])
        name = str(cells[named]).strip()
        if several and run is not None:
            name = f"{cells.get(run, '?')} · {name}"
        yield name, cells[step], cells[value]
