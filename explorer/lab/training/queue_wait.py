"""Waiting time of a queued run, estimated from the runs before it."""

from lossprism.explorer.lab.training.run_folder import RunFolder, all_runs
from lossprism.explorer.lab.training.run_json_types import RecordedPlan
from lossprism.explorer.lab.training.run_progress_and_plan_reader import progress, recorded_plan
from lossprism.explorer.runtime.problem import Problem

# Runs that agree in these take about as long for a step.
PACE_FIELDS = ("encoder", "kind", "batch_size", "loss")


def seconds_before(run: RunFolder) -> float | None:
    """Return the seconds of training that runs with an earlier ticket still need, without loading
    and saving.

    A run goes on at its pace so far; without steps yet, at that of the last similar run. None if a
    pace is unknown, or a run is paused.
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
    except (FileNotFoundError, Problem):  # deleted meanwhile, or damaged
        return 0.0
    return now.seconds_left(steps, pace)


def _pace_of(plan: RecordedPlan, known: list[RunFolder]) -> float | None:
    """Return the seconds a step of the last similar run; None without one."""
    for one in known:
        try:
            other = recorded_plan(one, one.config.plan)
            is_similar = all(getattr(other, name) == getattr(plan, name) for name in PACE_FIELDS)
            pace = progress(one).pace if is_similar else None
        except (FileNotFoundError, Problem):
            continue
        if pace is not None:
            return pace
    return None
