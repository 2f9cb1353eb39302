"""Status of a run, from its folder."""

from __future__ import annotations

import shutil
import time

from explorer.lab.training.run_folder import (
    LEAST_FREE,
    RunFolder,
)
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.problem import Problem
from explorer.runtime.response_types import Json

# The data of a plan on a hosted page, without the machine's own paths.
NO_PLACES = {"file": "", "held_out_file": ""}


def progress(run: RunFolder) -> tuple[dict, float | None]:
    """Return the last recorded step and the seconds of a step, evaluations included: the mean since
    the first, for an evaluation would dominate the last few."""
    first = run.first("step")
    steps = [record for record in run.tail() if record["kind"] == "step"]
    last = steps[-1] if steps else first
    if first is None or last is None:
        return {"step": 0, "seconds": 0.0}, None
    steps_between, seconds = last["step"] - first["step"], last.get("seconds", 0.0)
    pace = (seconds - first.get("seconds", 0.0)) / steps_between if steps_between > 0 else None
    return {"step": last["step"], "seconds": seconds}, pace


def loading(state: dict) -> Json:
    """Return the part that is being loaded, and the seconds of loading so far."""
    seconds = max(time.time() - state.get("began", time.time()), 0.0)
    found = {"part": state.get("part", "libraries"), "seconds": seconds}
    # Scoring by a teacher has its progress.
    counts = {name: state.get(name, 0) for name in ("done", "total")}
    return {**found, **counts} if found["part"] == "teacher" else found


def without_rows(data: dict) -> dict:
    """Leave out the pairs, which are in the run's folder: status is polled often. A hosted page
    also hides the places of its files."""
    kept = {name: value for name, value in data.items() if name not in ("rows", "teacher")}
    return kept if deployment_policy().reads_places else {**kept, **NO_PLACES}


def problem_of(state: dict) -> dict | None:
    """Return the run's problem, in full: earlier versions wrote less of a problem."""
    problem = state.get("problem")
    return Problem.from_json(problem).to_json() if problem else None


def died(run: RunFolder, standing: str) -> dict | None:
    if standing != "interrupted":
        return None
    free = shutil.disk_usage(run.path).free
    if free < LEAST_FREE:
        return Problem("training_disk_full", folder=run.path, free=free // 2**20).to_json()
    return Problem("training_interrupted").to_json()
