"""Reader of tables of scalars: exports of wandb, trackio and TensorBoard, or steps and values.

wide   a column of steps and one for each curve; without a column of steps, rows are counted
long   a column of steps, one of names, one of values
runs   a row for each run with its last values: no log, so it is refused
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from lossprism.explorer.lab.doctor.logs.log import (
    EPOCH_NAME,
    PASTED,
    PIPED,
    ROW_NUMBERS,
    RUN_SEPARATOR,
    STEP_NAMES,
    TRAINING_LOSS_NAMES,
    Log,
    curves_of,
    is_loss,
    last_epoch,
    number_in,
)
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number
from lossprism.explorer.sources.cells import (
    NOTHING,
    Cells,
    decimal_mark,
    is_blank,
    is_score,
    read_score,
)
from lossprism.explorer.sources.column_roles import name_reranking, names_ids
from lossprism.explorer.sources.delimited import SAMPLE, ReportProgress, no_progress
from lossprism.explorer.sources.json_rows import Object, object_records, written
from lossprism.explorer.sources.table_column_kinds import Grid
from lossprism.explorer.sources.table_file_reader import read_grid
from lossprism.explorer.sources.table_in_pasted_text import are_steps

NAME_COLUMNS = (
    *("tag", "metric", "name", "metric_name", "metricname", "metric.name"),
    *("key", "variable", "series"),
)
VALUE_COLUMNS = ("value", "metric_value", "metricvalue", "scalar", "val")
RUN_COLUMNS = ("run", "run_name", "run name", "experiment", "run_id", "run.name", "run.hash")
# Names of the first columns of a table without a header, of a file of MLflow's `mlruns`, and of the
# arrays that TensorBoard downloads.
HEADLESS_COLUMNS = ("step", "loss")
HEADLESS_COLUMNS_OF_MLFLOW = ("timestamp", "loss", "step")
HEADLESS_COLUMNS_OF_TENSORBOARD = ("wall time", "step", "value")
# Columns of objects whose entries are curves by their full names.
CONTAINER_COLUMNS = ("metrics", "logs", "log", "scalars", "values", "data")
TAG_MARK = "-tag-"  # before the curve's name in the name of a file that TensorBoard exports
# wandb's table of runs has at least three of these columns.
RUN_TABLE_COLUMNS, MIN_RUN_TABLE_COLUMNS = {"name", "state", "created", "runtime"}, 3
_REPEATED = re.compile(r" \(\d+\)$")  # suffix of a second column of the same name
_STEP_OF_TOTAL = re.compile(r"(\d+)/\d+")
MIN_UNIX_TIME = 1e9
MAX_ROW_KINDS = 100  # different sets of curves with a number in one row
# Name and column of steps of a curve, by its column; and (name, step, value) before they are read.
Curves = dict[int, tuple[str, int | None]]
Points = Iterator[tuple[str, object, object]]
# Clocks, trackio's row numbers, and wandb's bounds of a smoothed curve.
NOT_A_CURVE = re.compile(
    r"^(id|wall[_ ]time|_?timestamp|_runtime|relative time.*|epoch|.*/epoch|.*__(min|max)|"
    r"(?!.*loss).*[_ /]step)$",
    re.I,
)


def read(name: str, grid: Grid, step: str = "") -> Log:
    """Read the curves of a table from `grid_of`.

    `step` names the column of steps; `ROW_NUMBERS` counts the rows. By default it is the first
    column with a name of `STEP_NAMES`; in a table of losses without one, rows are counted. Raises
    Problem without steps, values or rows, naming the columns, and for a table of runs.
    """
    columns = ", ".join(grid.columns)[:400]
    if not _has_rows(grid):
        raise Problem("run_only_header", name=name, columns=columns)
    column_at = {head.strip().lower(): place for place, head in enumerate(grid.columns)}
    if _is_table_of_runs(column_at):
        raise Problem("run_table_of_runs", name=name)
    choices = _steps_in(grid, column_at)
    step_columns = [one for one in choices if one.strip().lower() in STEP_NAMES]
    steps_by_run = {} if step else _step_columns_by_run(grid, step_columns)
    losses = [one for one in grid.columns if is_loss(one)] or (len(grid.columns) == 1)
    if not step and not step_columns and not steps_by_run and not losses:
        raise Problem("run_no_steps", name=name, columns=columns, known=", ".join(STEP_NAMES))
    if step not in ("", ROW_NUMBERS, *choices):
        raise Problem("run_step_unknown", name=name, step=step[:60], known=", ".join(choices))
    step_column = step or ("" if steps_by_run else step_columns[0] if step_columns else ROW_NUMBERS)
    step_at = grid.columns.index(step_column) if step_column in choices else None
    counts_rows = step_column == ROW_NUMBERS
    name_at, value_at, run_at = (
        next((column_at[one] for one in names if one in column_at), None)
        for names in (NAME_COLUMNS, VALUE_COLUMNS, RUN_COLUMNS)
    )
    rows = _Rows(grid, run_at)
    curve_columns: Curves = {}
    if step_at is not None and name_at is not None and value_at is not None:
        points = _long_points(rows, step_at, name_at, value_at)
    elif step_at is not None and value_at is not None:  # TensorBoard's export of one curve
        tag = PurePath(name).stem.rpartition(TAG_MARK)[2]
        curve_name = TRAINING_LOSS_NAMES[0] if name in (PASTED, PIPED) else tag
        points = _wide_points(rows, {value_at: (curve_name, step_at)})
    elif counts_rows and len(grid.columns) == 1:
        points = _wide_points(rows, {0: (TRAINING_LOSS_NAMES[0], None)}, counts_rows)
    else:
        curve_columns = {
            place: (head.strip(), steps_by_run.get(_run_of(head), step_at))
            for place, head in enumerate(grid.columns)
            if place != step_at
            and head.strip().lower() not in STEP_NAMES
            and not _is_not_a_curve(head.strip(), place)
            and _is_numeric(grid, place)
        }
        points = _wide_points(rows, curve_columns, counts_rows)
    curves = curves_of(points)
    if not curves:
        raise Problem("run_no_values", name=name, columns=columns)
    is_wide = curve_columns and not rows.has_runs
    blank = tuple(_steps_without_values(rows, step_at)) if is_wide else ()
    return Log(
        "scalars",
        curves,
        steps=() if steps_by_run else (*choices, ROW_NUMBERS),
        step=step_column,
        blank=blank,
        epochs=_epochs(grid, rows),
        left_columns=tuple(_unread_columns(grid, curve_columns)),
        left_lines=grid.left_lines,
    )


def _epochs(grid: Grid, rows: _Rows) -> float | None:
    """Return the last epoch of a table of one run; None without a column of epochs."""
    places = [place for place, head in enumerate(grid.columns) if EPOCH_NAME.search(head.strip())]
    if not places or rows.has_runs:
        return None
    return last_epoch(rows.number(cells.get(places[0])) for _, cells in rows)


def _unread_columns(grid: Grid, curves: Curves) -> Iterator[str]:
    """Yield the columns of a wide table other than curves, steps, clocks and names of runs."""
    for place, head in enumerate(grid.columns if curves else ()):
        known = place in curves or head.strip().lower() in (*STEP_NAMES, *RUN_COLUMNS)
        if not known and not _is_not_a_curve(head.strip(), place) and not _is_rising(grid, place):
            yield head


def grid_of(name: str, content: bytes) -> Grid:
    """Parse the table with the names in its first row. If that row has numbers, the first column is
    read as steps and the next as the loss where that is possible.

    Raises Problem for an empty file."""
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise Problem("run_empty", name=name)
    if rows := _tensorboard_rows(content):
        lines = "\n".join(",".join(map(repr, row)) for row in rows).encode()
        grid = read_grid(lines, PASTED, False)
        return replace(grid, columns=HEADLESS_COLUMNS_OF_TENSORBOARD)
    grid = _with_flat_columns(read_grid(content, name, True, rows=False), name)
    if grid.header and not all(_is_number(_REPEATED.sub("", head)) for head in grid.columns):
        return grid
    grid = read_grid(content, name, False)
    if grid.header:  # a kind of file whose columns always have names
        return grid
    rows = [[str(cell) for _, cell in written(cells)] for cells in _first_rows(grid)]
    if not are_steps(rows):
        return grid
    names = HEADLESS_COLUMNS_OF_MLFLOW if _begin_with_time(rows) else HEADLESS_COLUMNS
    return replace(grid, columns=(*names, *grid.columns[len(names) :]))


def _tensorboard_rows(content: bytes) -> list[list[float]]:
    """Return the rows of a curve as TensorBoard downloads it as JSON, [[time, step, value], …];
    empty for anything else."""
    if not content[:100].lstrip().startswith(b"[["):
        return []
    try:
        rows = read_json(content)
    except ValueError:
        return []
    are_points = all(
        isinstance(row, list) and len(row) == 3 and all(map(is_number, row)) for row in rows
    )
    return rows if are_points and min(row[0] for row in rows) >= MIN_UNIX_TIME else []


def _begin_with_time(rows: Sequence[Sequence[str]]) -> bool:
    """True for rows of a Unix time, a value and a step."""
    return all(len(row) == 3 and len(row[0]) >= 10 and row[2].isdecimal() for row in rows)


def _with_flat_columns(grid: Grid, name: str) -> Grid:
    """Give each entry of an object its own column: {"train": {"loss": 2.1}} has the column
    train/loss."""
    cells = (cell for place in range(len(grid.columns)) for cell in grid.column(place))
    if not any(isinstance(cell, dict) for cell in cells):
        return grid

    def entries(report: ReportProgress) -> Iterator[tuple[int, Object | Problem]]:
        for row, cells in grid.records(report):
            yield row, cells if isinstance(cells, Problem) else _flattened(grid.columns, cells)

    columns, records = object_records(entries, name, no_progress)
    return replace(grid, columns=columns, records=records)


def _flattened(columns: Sequence[str], cells: Cells) -> Object:
    flat: Object = {}
    for place, cell in written(cells):
        name = columns[place]
        prefix = "" if name.lower() in CONTAINER_COLUMNS else f"{name}/"
        entries = cell if isinstance(cell, dict) else {}
        flat |= {prefix + key: value for key, value in entries.items()} or {name: cell}
    return flat


def _has_rows(grid: Grid) -> bool:
    return next(grid.records(no_progress), None) is not None


def _steps_in(grid: Grid, column_at: Mapping[str, int]) -> tuple[str, ...]:
    """Return the columns that may be steps: those named like steps, then numbers that only rise."""
    named = [grid.columns[column_at[one]] for one in STEP_NAMES if one in column_at]
    rising = (head for place, head in enumerate(grid.columns) if _is_rising(grid, place))
    return tuple(dict.fromkeys((*named, *rising)))


def _is_rising(grid: Grid, place: int) -> bool:
    """True if every cell is a number above the one before; stops at the first that is not."""
    cells = grid.column(place)
    if is_loss(grid.columns[place]) or len(cells) <= 2:
        return False
    try:
        values = (read_score(cell, "") for cell in cells)
        return all(one < other for one, other in itertools.pairwise(values))
    except Problem:
        return False


def _is_table_of_runs(heads: Iterable[str]) -> bool:
    return len(RUN_TABLE_COLUMNS & {*heads}) >= MIN_RUN_TABLE_COLUMNS


def _step_columns_by_run(grid: Grid, shared: Sequence[str] = ()) -> dict[str, int]:
    """Return each run's own column of steps, as in an export of wandb over another axis:
    "bold-sun-1 - _step" beside "bold-sun-1 - train/loss". A shared column of steps takes precedence
    over own ones that come later in `STEP_NAMES`."""
    columns: dict[str, int] = {}
    ranks = [STEP_NAMES.index(one.strip().lower()) for one in shared]
    for step_name in STEP_NAMES[: min(ranks, default=None)]:
        for place, head in enumerate(grid.columns):
            run = _run_of(head)
            if run and head.strip().lower() == f"{run.lower()}{RUN_SEPARATOR}{step_name}":
                columns.setdefault(run, place)
    return columns


def _run_of(head: str) -> str:
    """Return the run that a column names; "" for none."""
    return head.strip().rpartition(RUN_SEPARATOR)[0]


def _is_not_a_curve(head: str, place: int) -> bool:
    """True for a clock or row number; also for a column named by its own number, which is the index
    that pandas writes."""
    return head == str(place + 1) or bool(NOT_A_CURVE.match(head))


def grid_if_scalars(name: str, content: bytes) -> Grid | None:
    """Return the table if it has scalars; else None.

    Scalars are numbers beside steps, with at most one column of text; numbers alone; or a header
    that names losses and has no rows yet.
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
    if _is_table_of_runs(heads):  # `read` raises the problem
        return True
    if sum(map(names_ids, heads)) > 1 or name_reranking(heads):  # judgements or scores of a search
        return False
    if grid.header and len(heads) > 1 and all(_is_numeric(grid, at) for at in range(len(heads))):
        return True
    beside = [
        at for at, head in enumerate(heads) if head in RUN_COLUMNS or _is_not_a_curve(head, at)
    ]
    others = set(range(len(heads))) - set(beside)
    texts = sum(grid.is_text(place, or_reference=True) for place in others)
    if set(heads) & {*NAME_COLUMNS} and set(heads) & {*VALUE_COLUMNS}:
        return bool(set(heads) & {*STEP_NAMES})
    steps = set(heads) & {*STEP_NAMES} or _step_columns_by_run(grid) or any(map(is_loss, heads))
    return bool(steps) and texts < 2


def _is_numeric(grid: Grid, place: int) -> bool:
    cells = [cell for cell in grid.column(place) if not _is_empty(cell)]
    if not cells:  # NaN of JSON is no cell
        return any(_is_nan(dict(written(cells)).get(place)) for cells in _first_rows(grid))
    return sum(map(_is_number, cells)) >= 0.8 * len(cells)


def _first_rows(grid: Grid) -> Iterator[Cells]:
    """Return the first rows without those that cannot be read."""
    rows = (cells for _, cells in itertools.islice(grid.records(no_progress), SAMPLE))
    return (cells for cells in rows if not isinstance(cells, Problem))


def _is_number(cell: object) -> bool:
    return is_score(cell) or str(cell).strip().lower() in ("nan", "inf", "-inf", "infinity")


def _is_empty(cell: object) -> bool:
    """True for an empty cell; NaN is a value."""
    if not isinstance(cell, str):
        return cell is None
    # Most cells are numbers, which their first character shows.
    return not cell[:1].isdecimal() and cell.strip().lower() in NOTHING


class _Rows:
    """Rows of a table, which can be iterated repeatedly; `run` is the column with the run's name.
    `without_values` has the rows in which `_wide_points` found no value."""

    def __init__(self, grid: Grid, run: int | None) -> None:
        self.grid, self.run = grid, run
        self.without_values: list[Mapping[int, object]] = []
        cells = (cell for place in range(len(grid.columns)) for cell in grid.column(place))
        self.has_decimal_commas = any(decimal_mark(cell) == "," for cell in cells)
        self.has_runs = run is not None and len({str(cells.get(run)) for _, cells in self}) > 1

    def __iter__(self) -> Iterator[tuple[int, dict[int, object]]]:
        for row, cells in self.grid.records(no_progress):
            if isinstance(cells, Problem):
                raise Problem("run_row", row=row, reason=str(cells))
            yield row, {at: cell for at, cell in written(cells) if not _is_empty(cell)}

    def number(self, cell: object) -> object:
        """Normalise a cell before its number is read; ms-swift writes step 5 as "5/120"."""
        if not isinstance(cell, str):
            return cell
        if "/" in cell and (step_of_total := _STEP_OF_TOTAL.fullmatch(cell.strip())):
            return step_of_total[1]
        return cell.replace(",", ".") if self.has_decimal_commas else cell

    def named(self, name: str, cells: Mapping[int, object]) -> str:
        if not self.has_runs or self.run is None:
            return name
        return f"{cells.get(self.run, '?')} · {name}"


def _wide_points(rows: _Rows, curves: Curves, counts_rows: bool = False) -> Points:
    """Yield the points of each curve's column; with `counts_rows` the step is the number of the row
    where there is no column of steps."""
    exclusive = _exclusive_curves(rows, curves)
    for row, cells in rows:
        if curves.keys().isdisjoint(cells):
            rows.without_values.append(cells)
        logged = {one for one in curves if exclusive and _is_finite_number(cells.get(one))}
        for place, (name, step_at) in curves.items():
            step = cells.get(step_at) if step_at is not None else row if counts_rows else None
            value = cells.get(place)
            if step is None or value is None:
                continue
            if _is_nan(value) and exclusive.get(place, set()) & logged:
                continue  # another curve was logged in this row
            yield rows.named(name, cells), rows.number(step), rows.number(value)


def _exclusive_curves(rows: _Rows, curves: Curves) -> dict[int, set[int]]:
    """Return for each curve those that never have a number in the same row: they are logged at
    other steps, with "NaN" in between. Empty where hardly a "NaN" is written."""
    first = [cells for _, cells in itertools.islice(rows, SAMPLE)]
    with_nan = (any(_is_nan(cells.get(place)) for cells in first) for place in curves)
    if sum(with_nan) < 2:
        return {}
    kinds: set[frozenset[int]] = set()
    for _, cells in rows:
        kinds.add(frozenset(place for place in curves if _is_finite_number(cells.get(place))))
        if len(kinds) > MAX_ROW_KINDS:
            return {}
    together = {place: set().union(*(kind for kind in kinds if place in kind)) for place in curves}
    return {place: {*curves} - together[place] for place in curves if together[place]}


def _is_nan(cell: object) -> bool:
    return isinstance(cell, str | float) and str(cell).strip().lower() == "nan"


def _is_finite_number(cell: object) -> bool:
    return not is_blank(cell) and is_score(cell)


def _steps_without_values(rows: _Rows, step: int | None) -> Iterator[float]:
    """Yield the steps at which no curve has a value."""
    for cells in rows.without_values:
        at = None if step is None else number_in(rows.number(cells.get(step)))
        if at is not None and math.isfinite(at):
            yield at


def _long_points(rows: _Rows, step: int, named: int, value: int) -> Points:
    for row, cells in rows:
        if step not in cells or value not in cells:
            continue
        if named not in cells:
            raise Problem("run_row", row=row, reason=rows.grid.columns[named])
        name = str(cells[named]).strip()
        yield rows.named(name, cells), rows.number(cells[step]), rows.number(cells[value])
