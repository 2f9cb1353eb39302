"""Status of a run, from its folder."""

import dataclasses
import functools
import shutil
import time
from dataclasses import dataclass

from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_file_reader import InvalidEntry, read_as
from lossprism.explorer.lab.training.run_folder import MIN_FREE_BYTES, RunFolder
from lossprism.explorer.lab.training.run_json_types import (
    Loading,
    RecordedPlan,
    RunState,
    StepRecord,
)
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.problem import Problem

# The data of a plan on a hosted page, without the machine's own paths.
NO_PLACES = {"file": "", "held_out_file": ""}


@dataclass(frozen=True)
class Progress:
    """The last recorded step, the seconds of training so far, and the seconds of a step, None
    before the second one."""

    step: int
    seconds: float
    pace: float | None

    def seconds_left(self, steps: int | None, pace: float | None) -> float | None:
        """Return the seconds until so many steps are done, at this pace; None where one of them is
        not known."""
        return None if steps is None or pace is None else max(steps - self.step, 0) * pace


def progress(run: RunFolder) -> Progress:
    """Return the progress of a run. Its pace includes evaluations: it is the mean since the first
    step, for an evaluation would dominate the last few."""
    first = run.first_step()
    steps = [record for record in run.tail() if isinstance(record, StepRecord)]
    last = steps[-1] if steps else first
    if first is None or last is None:
        return Progress(0, 0.0, None)
    between = last.step - first.step
    pace = (last.seconds - first.seconds) / between if between > 0 else None
    return Progress(last.step, last.seconds, pace)


def loading(state: RunState) -> Loading:
    """Return the part that is being loaded, and the seconds of loading so far."""
    seconds = 0.0 if state.began is None else max(time.time() - state.began, 0.0)
    if state.part != "teacher":
        return Loading(part=state.part, seconds=seconds)
    # Scoring by a teacher has its progress.
    return Loading(part=state.part, seconds=seconds, done=state.done, total=state.total)


def recorded_plan(run: RunFolder, stored: dict) -> RecordedPlan:
    """Return the stored plan of a run, without the pairs, which are in its folder: status is polled
    often. A hosted page also hides the places of its files. Raises Problem where it is damaged."""
    usual, data = _usual_plan(), stored.get("data", {})
    try:
        data = {**usual["data"], **read_as(dict[str, object], data)}
        plan = read_as(RecordedPlan, {**usual, **stored, "data": data})
    except InvalidEntry:
        raise run.damaged("config.json") from None
    if deployment_policy().reads_local_paths:
        return plan
    return dataclasses.replace(plan, data=dataclasses.replace(plan.data, **NO_PLACES))


@functools.cache
def _usual_plan() -> dict:
    """Return the defaults for entries of a plan that its file leaves out."""
    return plain(TrainingPlan().to_json())


def died(run: RunFolder, standing: str) -> Problem | None:
    if standing != "interrupted":
        return None
    free = shutil.disk_usage(run.path).free
    if free < MIN_FREE_BYTES:
        return Problem("training_disk_full", folder=run.path, free=free // 2**20)
    return Problem("training_interrupted")
