"""Waiting time of a queued run, estimated from the runs before it."""

from __future__ import annotations

from lossprism.explorer.lab.training.run_folder import RunFolder, all_runs
from lossprism.explorer.lab.training.run_records import RecordedPlan
from lossprism.explorer.lab.training.run_status import progress, recorded_plan
from lossprism.explorer.runtime.problem import Problem

# A step of two runs that are alike in these takes about as long.
ALIKE = ("encoder", "kind", "batch_size", "loss")


def seconds_before(run: RunFolder) -> float | None:
    """The seconds of training that the runs with an earlier ticket have before them; loading and
    saving are not among them.

    A run goes on at its own pace; one without steps yet at that of the last run that was alike.
    None where that is not known of one of them, or one is paused.
    """
    known = sorted(all_runs(run.path.parent), key=lambda one: one.ticket, reverse=True)
    mine, total = run.ticket, 0.0
    for one in known:
        if one.is_live(before=mine):
            if (left := _seconds_left(one, known)) is None:
                return None
            total += left
    return total


def _seconds_left(run: RunFolder, known: list[RunFolder]) -> float | None:
    try:
        plan, state = recorded_plan(run, run.config.plan), run.state
        steps = state.steps or plan.steps
        if not steps or state.state == "paused":
            return None
        now = progress(run)
        pace = now.pace or _pace_of(plan, known)
    except (FileNotFoundError, Problem):  # it was deleted while we looked, or is damaged
        return 0.0
    return now.seconds_left(steps, pace)


def _pace_of(plan: RecordedPlan, known: list[RunFolder]) -> float | None:
    """The seconds that a step of the last run took that was alike."""
    for one in known:
        try:
            other = recorded_plan(one, one.config.plan)
            alike = all(getattr(other, name) == getattr(plan, name) for name in ALIKE)
            pace = progress(one).pace if alike else None
        except (FileNotFoundError, Problem):
            continue
        if pace is not None:
            return pace
    return None
