"""How a run stands, as its folder says."""

from __future__ import annotations

import shutil
import time

from explorer.lab.training.folder import (
    LEAST_FREE,
    RunFolder,
)
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.problem import Problem
from explorer.runtime.wire import Json

# What a plan says of its data on a hosted page, in place of the machine's own paths.
NO_PLACES = {"file": "", "held_out_file": ""}


def progress(run: RunFolder) -> tuple[dict, float | None]:
    """The last recorded step and the seconds that a step takes, evaluations included: the mean
    since the first, for of the last few an evaluation among them would be most."""
    first = run.first("step")
    steps = [record for record in run.tail() if record["kind"] == "step"]
    last = steps[-1] if steps else first
    if first is None or last is None:
        return {"step": 0, "seconds": 0.0}, None
    apart, seconds = last["step"] - first["step"], last.get("seconds", 0.0)
    pace = (seconds - first.get("seconds", 0.0)) / apart if apart > 0 else None
    return {"step": last["step"], "seconds": seconds}, pace


def loading(state: dict) -> Json:
    """What is being made ready, and for how long all of it has taken so far."""
    seconds = max(time.time() - state.get("began", time.time()), 0.0)
    found = {"part": state.get("part", "libraries"), "seconds": seconds}
    # Who asks a teacher says how far it is.
    asked = {name: state.get(name, 0) for name in ("done", "total")}
    return {**found, **asked} if found["part"] == "teacher" else found


def without_rows(data: dict) -> dict:
    """Whoever follows a run asks often; its pairs are in its folder. On a hosted page nobody is
    told where its files are."""
    kept = {name: value for name, value in data.items() if name not in ("rows", "teacher")}
    return kept if deployment_policy().reads_places else {**kept, **NO_PLACES}


def told(state: dict) -> dict | None:
    """What the run says went wrong, in full: earlier versions wrote less of a problem."""
    problem = state.get("problem")
    return Problem.from_json(problem).to_json() if problem else None


def died(run: RunFolder, standing: str) -> dict | None:
    if standing != "interrupted":
        return None
    free = shutil.disk_usage(run.path).free
    if free < LEAST_FREE:
        return Problem("training_disk_full", folder=run.path, free=free // 2**20).to_json()
    return Problem("training_interrupted").to_json()
