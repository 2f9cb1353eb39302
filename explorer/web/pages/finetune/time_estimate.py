"""Time that a training would take: two trial steps of its plan, here."""

import dataclasses
import hashlib
import json
import threading
from dataclasses import dataclass, fields

from lossprism.explorer.lab.training import cosent_experiment_plans
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import default_runs as runs
from lossprism.explorer.lab.training.run_control import estimate
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import PACES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.web.pages.finetune.request_plan import read_plan


@dataclass(frozen=True)
class Pace(Sparse):
    """Seconds, measured here; nothing of it while a run trains."""

    seconds_to_load: float = 0.0
    seconds_per_step: float = 0.0
    seconds_per_evaluation: float = 0.0


# Two trial steps are the same for all who ask, so the times of the last ones are kept; one trial
# at a time, and none beside a run.
_trial = threading.Lock()
_paces: Cache[Pace] = Cache(PACES)
PACE_FIELDS = tuple(one.name for one in fields(Pace))


def estimate_pace(request: dict) -> Pace:
    """{plan, repetition?} → seconds to load, and for each step and evaluation, of the plan or of
    one run of the source's experiment on its data, here; {} while a run trains."""
    plan = read_plan(request.get("plan"))
    if request.get("repetition"):
        plan = cosent_experiment_plans.experiment(plan)[0]
    key = pace_key(plan)
    if known := _paces.get(key):
        return known
    if runs().busy() or not _trial.acquire(blocking=False):
        return Pace()
    try:
        pace = estimate(plan, runs().device, is_needed=_no_run_trains)
        if pace is None:
            return Pace()
        return _paces.put(key, Pace(**{name: pace[name] for name in PACE_FIELDS}))
    finally:
        _trial.release()


def _no_run_trains() -> bool:
    jobs.step("trial")  # ends here once the page no longer waits
    return not runs().busy()


def pace_key(plan: TrainingPlan) -> str:
    """Digest of a plan without the settings that make no step slower: numbers of steps, and mere
    numbers."""
    usual = TrainingPlan()
    same = {name: getattr(usual, name) for name in NOT_SLOWER}
    choices = tuple((n, v) for n, v in plan.parameters if isinstance(v, bool | str | tuple))
    slow = dataclasses.replace(plan, **same, parameters=choices)
    return hashlib.sha256(json.dumps(slow.to_json()).encode()).hexdigest()


NOT_SLOWER = (
    *("steps", "epochs", "evaluations", "seed", "threshold", "label_range"),
    *("learning_rate", "schedule", "warmup", "weight_decay", "clipping"),
)
