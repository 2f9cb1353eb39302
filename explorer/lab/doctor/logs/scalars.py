"""A table of scalars: exports of wandb, trackio and TensorBoard, or whatever has steps and values.

wide   a column of steps, and one for each curve
long   a column of steps, one of names, one of values
runs   a row for each run with its last values, which is no log: it is refused
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from explorer.lab.doctor.logs.log import Log, curves_of
from explorer.runtime.problem import Problem
from explorer.sources.cells import is_blank, is_score
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


def read(name: str, content: bytes) -> Log:
    """Raises Problem where no column has steps or none has values, naming the columns; and for a
    table of runs."""
    grid = read_grid(content, name, True)
    heads = {head.strip().lower(): place for place, head in enumerate(grid.columns)}
    step = next((heads[one] for one in STEPS if one in heads), None)
    columns = ", ".join(grid.columns)[:400]
    if _is_of_runs(heads):
        raise Problem("run_table_of_runs", name=name)
    own = _own_steps(grid) if step is None else {}
    if not grid.header or (step is None and not own):
        raise Problem("run_no_steps", name=name, columns=columns, known=", ".join(STEPS))
    named = next((heads[one] for one in NAMES if one in heads), None)
    value = next((heads[one] for one in VALUES if one in heads), None)
    if step is not None and named is not None and value is not None:
        run = next((heads[one] for one in RUNS if one in heads), None)
        points = _long(grid, step, named, value, run)
    elif step is not None and value is not None:  # TensorBoard's export of one curve
        points = _wide(grid, {value: (PurePath(name).stem, step)})
    else:
        curves = {
            place: (head.strip(), own.get(_run_in(head), step))
            for place, head in enumerate(grid.columns)
            if place != step and not _is_apart(head.strip(), place) and _is_numeric(grid, place)
        }
        points = _wide(grid, curves)
    found = curves_of(points)
    if not found:
        raise Problem("run_no_values", name=name, columns=columns)
    return Log("scalars", found)


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
    """Whether a table has steps and numbers beside them, and no two columns of text; or columns of
    numbers alone, of which `read` says that steps are missing."""
    try:
        grid = read_grid(content, name, True)
    except Problem:
        return False
    heads = [head.strip().lower() for head in grid.columns]
    if _is_of_runs(heads):  # `read` says what it is
        return True
    if grid.header and len(heads) > 1 and all(_is_numeric(grid, at) for at in range(len(heads))):
        return True
    texts = sum(grid.is_text(place) for place in range(len(heads)))
    if set(heads) & {*NAMES} and set(heads) & {*VALUES}:
        return bool(set(heads) & {*STEPS})
    return bool(set(heads) & {*STEPS} or _own_steps(grid)) and texts < 2


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
    grid: Grid, curves: dict[int, tuple[str, int | None]]
) -> Iterator[tuple[str, object, object]]:
    """Of each column that is a curve its name, and which column has its steps."""
    for _, cells in _rows(grid):
        for place, (name, step) in curves.items():
            at, value = None if step is None else cells.get(step), cells.get(place)
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
