"""Comparison of two runs: whether their losses mean the same, and how far each has come."""

import math

from lossprism.explorer.lab.doctor.finding import NOTE, WARNING, Fault
from lossprism.explorer.lab.doctor.logs.below_minimum import AT_LEVEL_SHARE, BELOW_MINIMUM_FINDINGS
from lossprism.explorer.lab.doctor.logs.findings import (
    AT_MINIMUM_SHARE,
    MIN_STANDARD_ERRORS,
    ExaminedRun,
)
from lossprism.explorer.lab.doctor.logs.log import ROW_NUMBERS
from lossprism.explorer.lab.doctor.logs.run_reference_values import (
    RunReferenceValues,
    single_loss_if_known,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import COUNTS
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, FLOOR
from lossprism.explorer.runtime.number_format import display_number, percent

# Runs are not compared where one has this many times the rows, epochs or steps of the other.
MAX_AMOUNT_RATIO = 2.0


def compare_runs(one: ExaminedRun, other: ExaminedRun) -> tuple[Fault, ...]:
    """Return the findings about the values of two runs beside each other, or the reason not to
    compare them."""
    first, second = (single_loss_if_known(run.known) for run in (one, other))
    if first is None or second is None:
        return (Fault("untold", NOTE, {}, subject="run"),)
    if broken := [run for run in (one, other) if run.level is None]:
        return tuple(fault for fault in broken[0].faults if fault.name == "not_finite")
    values: dict[str, int | float | str] = {
        "one": display_number(one.level, 4),
        "other": display_number(other.level, 4),
    }
    if first.name != second.name or first.spec.definition is not second.spec.definition:
        return (Fault("other_loss", WARNING, values, subject="run"),)
    ends = dict(second.parameters)
    changed = [name for name, value in first.parameters if ends[name] != value]
    batches_differ = _batches_differ(one, other)
    beyond = [
        fault
        for run in (one, other)
        for fault in run.faults
        if fault.name in BELOW_MINIMUM_FINDINGS
    ]
    if beyond and (changed or batches_differ):
        return (beyond[-1],)  # these are not its ends: its share of the way means nothing
    if changed:
        names = ", ".join(changed)
        return (_with_shares("other_scale", {**values, "names": names}, one, other),)
    if batches_differ is None:
        return (Fault("untold_batch", NOTE, values, subject="run"),)
    if batches_differ:
        return (_with_shares("other_batch", values, one, other),)
    if other_training := _trainings_differ(one, other, values):
        return (other_training,)
    return (Fault("comparable", NOTE, values, subject="run"),)


def _trainings_differ(one: ExaminedRun, other: ExaminedRun, levels: dict) -> Fault | None:
    """Find a run with far more rows, epochs or steps than the other."""
    amounts = [_amounts_of(run) for run in (one, other)]
    if not any(_differ_much(*both) for both in zip(*amounts, strict=True)):
        return None
    values = {
        f"{which}_{name}": "–" if amount is None else display_number(amount, 3)
        for which, found in zip(("one", "other"), amounts, strict=True)
        for name, amount in zip(("rows", "epochs", "steps"), found, strict=True)
    }
    return Fault("other_training", WARNING, {**levels, **values}, subject="run")


def _amounts_of(run: ExaminedRun) -> tuple[float | None, float | None, float | None]:
    """Return the rows, epochs and steps of a run; None for an unknown one."""
    epochs, batch = run.log.epochs or None, run.known.batch
    # In a table without a column of steps, rows were counted instead.
    steps = None if run.log.step == ROW_NUMBERS else float(run.log.curve(run.curve).steps[-1])
    rows = steps * batch / epochs if steps and batch and epochs else None
    return rows, epochs, steps


def _differ_much(one: float | None, other: float | None) -> bool:
    """True if one of two amounts is MAX_AMOUNT_RATIO times the other, or more."""
    if not one or not other:
        return False
    return max(one, other) >= MAX_AMOUNT_RATIO * min(one, other)


def _with_shares(name: str, values: dict, one: ExaminedRun, other: ExaminedRun) -> Fault:
    """Return the finding with each run's share of the way between its own ends, if known."""
    ways = {"one_share": _share(one), "other_share": _share(other)}
    if None in ways.values():
        return Fault(name, WARNING, values, subject="run")
    values = {**values, **{each: percent(share or 0.0) for each, share in ways.items()}}
    return Fault(name, WARNING, values, subject="run", more="ways")


def _batches_differ(one: ExaminedRun, other: ExaminedRun) -> bool | None:
    """True if the batches of two runs differ, by their ends or counts; None if unknown."""
    ends_differ = [_ends_differ(one.marks, other.marks, kind) for kind in (COLLAPSE, FLOOR)]
    if True in ends_differ:
        return True
    counts = [[getattr(run.known, name) for name in COUNTS] for run in (one, other)]
    if ends_differ[0] is False:  # batches with the same value at collapse compare equally
        return False
    pairs_known = [(a, b) for a, b in zip(*counts, strict=True) if a is not None and b is not None]
    if any(a != b for a, b in pairs_known):
        return True
    return False if one.known.batch is not None and other.known.batch is not None else None


def _ends_differ(one: RunReferenceValues, other: RunReferenceValues, kind: str) -> bool | None:
    """True if a reference value of two runs differs by more than its errors; None if unknown."""
    ends = [(getattr(marks, kind), marks.errors.get(kind)) for marks in (one, other)]
    (a, error), (b, other_error) = ends
    if a is None or b is None:
        return None
    if error is None and other_error is None:  # computed from counts
        return not math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    error_of_difference = MIN_STANDARD_ERRORS * math.hypot(error or 0.0, other_error or 0.0)
    return abs(a - b) > error_of_difference + AT_LEVEL_SHARE * max(abs(a), abs(b), 1e-3)


def _share(run: ExaminedRun) -> float | None:
    """Return the share of the way from collapse to the minimum; None for unknown ends."""
    collapse, floor = run.marks.collapse, run.marks.floor
    if collapse is None or floor is None or run.level is None or floor >= collapse:
        return None
    share = (collapse - run.level) / (collapse - floor)
    near = 1 - AT_MINIMUM_SHARE  # noise may carry a run at an end this far beyond it
    return min(max(share, 0.0), 1.0) if -near <= share <= 1 + near else share
