"""Comparison of two runs by the known values of both."""

from __future__ import annotations

import math

from lossprism.explorer.lab.doctor.finding import NOTE, WARNING, Fault
from lossprism.explorer.lab.doctor.known_loss_and_batch import COUNTS
from lossprism.explorer.lab.doctor.logs.below_minimum import BELOW, NEAR
from lossprism.explorer.lab.doctor.logs.findings import DONE, MIN_STANDARD_ERRORS, ExaminedRun
from lossprism.explorer.lab.doctor.logs.log import ROWS
from lossprism.explorer.lab.doctor.logs.run_reference_values import Marks, single_loss_if_known
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, FLOOR
from lossprism.explorer.runtime.number_format import display_number, percent

# From so many times as many rows, epochs or steps on, two runs are not compared.
MAX_TIMES = 2.0


def compare_runs(one: ExaminedRun, other: ExaminedRun) -> tuple[Fault, ...]:
    """Return the findings about the values of two runs beside each other, or the reason not to
    compare them."""
    first, second = (single_loss_if_known(run.known) for run in (one, other))
    if first is None or second is None:
        return (Fault("untold", NOTE, {}, room="run"),)
    if broke := [run for run in (one, other) if run.level is None]:
        return tuple(fault for fault in broke[0].faults if fault.name == "not_finite")
    values: dict[str, int | float | str] = {
        "one": display_number(one.level, 4),
        "other": display_number(other.level, 4),
    }
    if first.name != second.name or first.spec.definition is not second.spec.definition:
        return (Fault("other_loss", WARNING, values, room="run"),)
    ends = dict(second.parameters)
    moved = [name for name, value in first.parameters if ends[name] != value]
    batches_differ = _batches_differ(one, other)
    beyond = [fault for run in (one, other) for fault in run.faults if fault.name in BELOW]
    if beyond and (moved or batches_differ):
        return (beyond[-1],)  # how far it went to ends that are not its own means nothing
    if moved:
        names = ", ".join(moved)
        return (_of_ways("other_scale", {**values, "names": names}, one, other),)
    if batches_differ is None:
        return (Fault("untold_batch", NOTE, values, room="run"),)
    if batches_differ:
        return (_of_ways("other_batch", values, one, other),)
    if other_training := _trainings_differ(one, other, values):
        return (other_training,)
    return (Fault("comparable", NOTE, values, room="run"),)


def _trainings_differ(one: ExaminedRun, other: ExaminedRun, levels: dict) -> Fault | None:
    """Find that one run had far more rows, or went over them far more often, than the other."""
    amounts = [_amounts_of(run) for run in (one, other)]
    if not any(_far_apart(*both) for both in zip(*amounts, strict=True)):
        return None
    values = {
        f"{which}_{name}": "–" if amount is None else display_number(amount, 3)
        for which, found in zip(("one", "other"), amounts, strict=True)
        for name, amount in zip(("rows", "epochs", "steps"), found, strict=True)
    }
    return Fault("other_training", WARNING, {**levels, **values}, room="run")


def _amounts_of(run: ExaminedRun) -> tuple[float | None, float | None, float | None]:
    """The rows of a run, its epochs and its steps; None for what is not known."""
    epochs, batch = run.log.epochs or None, run.known.batch
    # A table whose rows were counted has no steps.
    steps = None if run.log.step == ROWS else float(run.log.curve(run.curve).steps[-1])
    rows = steps * batch / epochs if steps and batch and epochs else None
    return rows, epochs, steps


def _far_apart(one: float | None, other: float | None) -> bool:
    """True if one of two amounts is MAX_TIMES the other, or more."""
    if not one or not other:
        return False
    return max(one, other) >= MAX_TIMES * min(one, other)


def _of_ways(name: str, values: dict, one: ExaminedRun, other: ExaminedRun) -> Fault:
    """Return the finding with each run's share of the way between its own ends, where these are
    known."""
    ways = {"one_share": _share(one), "other_share": _share(other)}
    if None in ways.values():
        return Fault(name, WARNING, values, room="run")
    values = {**values, **{each: percent(share or 0.0) for each, share in ways.items()}}
    return Fault(name, WARNING, values, room="run", more="ways")


def _batches_differ(one: ExaminedRun, other: ExaminedRun) -> bool | None:
    """True if the ends of one loss differ in both runs, for their batches are of other sizes or
    kinds; None where that is not known."""
    ends_differ = [_ends_differ(one.marks, other.marks, kind) for kind in (COLLAPSE, FLOOR)]
    if True in ends_differ:
        return True
    counts = [[getattr(run.known, name) for name in COUNTS] for run in (one, other)]
    if ends_differ[0] is False:  # another batch would have the same value at collapse
        return False
    pairs_known = [(a, b) for a, b in zip(*counts, strict=True) if a is not None and b is not None]
    if any(a != b for a, b in pairs_known):
        return True
    return False if one.known.batch is not None and other.known.batch is not None else None


def _ends_differ(one: Marks, other: Marks, kind: str) -> bool | None:
    """True if the reference values of two runs differ by more than those of their batches scatter;
    None where one is not known."""
    found = [(getattr(marks, kind), marks.errors.get(kind)) for marks in (one, other)]
    (a, error), (b, other_error) = found
    if a is None or b is None:
        return None
    if error is None and other_error is None:  # both by their counts
        return not math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    off = MIN_STANDARD_ERRORS * math.hypot(error or 0.0, other_error or 0.0)
    return abs(a - b) > off + NEAR * max(abs(a), abs(b), 1e-3)


def _share(run: ExaminedRun) -> float | None:
    """Share of the way from collapse to minimum."""
    collapse, floor = run.marks.collapse, run.marks.floor
    if collapse is None or floor is None or run.level is None or floor >= collapse:
        return None
    share = (collapse - run.level) / (collapse - floor)
    near = 1 - DONE  # noise carries a run that sits at an end that far beyond it
    return min(max(share, 0.0), 1.0) if -near <= share <= 1 + near else share
