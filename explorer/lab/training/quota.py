"""Limits of one run, and of one visitor, on a hosted page; a local app has none."""

import math
from pathlib import Path

from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.lab.training.trainer_rows import examples, pairs_in
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.runtime.resource_checks import check_disk, check_memory


def time_limit() -> float:
    return budget("training_seconds")


def refusal(plan: TrainingPlan, corpus: Corpus) -> Problem | None:
    """Return the reason why a run is too large for a hosted page; None if it is not, or this is
    none."""
    if not deployment_policy().has_budgets:
        return None
    pairs, count = len(corpus.train) + len(corpus.held_out), examples(plan, corpus.material)
    each, widest = pairs_in(plan, corpus.material)
    steps, numbers = plan.steps_for(count), plan.vocabulary * plan.dimension
    if pairs > (limit := budget("training_pairs")):
        return Problem("training_shared_pairs", count=pairs, most=limit)
    largest = plan.batch_size * widest
    if largest > (limit := budget("training_batch")):
        return Problem("training_shared_batch", batch=largest, most=limit)
    batch = math.ceil(plan.batch_size * each)
    seen = steps * batch
    if seen > (limit := budget("training_seen")):
        values = {"steps": steps, "batch": batch, "count": seen, "most": limit}
        fits = max(int(limit // batch), 1)
        return Problem("training_shared_length", **values, fits=fits)
    if plan.encoder == SCRATCH and numbers > (limit := budget("training_numbers")):
        return Problem("training_shared_encoder", about="encoder", count=numbers, most=limit)
    return None


def measurement_refusal(pairs: int, models: int) -> Problem | None:
    """Return the reason why so many models cannot score so many pairs on a hosted page; None
    elsewhere."""
    read, limit = pairs * models, budget("training_seen")
    if read <= limit:
        return None
    values = {"count": pairs, "models": models, "all": read, "most": limit}
    return Problem("unseen_shared", **values, fits=int(limit // models))


def remaining_runs(root: Path) -> int | None:
    """Number of further runs that this visitor of a hosted page may queue in `root`; None
    elsewhere, where all fit."""
    if not deployment_policy().has_budgets:
        return None
    own, every = _under_way(root)
    return max(int(min(budget("runs_of_one") - own, budget("runs") - every)), 0)


def check_queue(root: Path, more: int) -> None:
    """Raise Problem if so many `more` runs of this visitor in `root` would crowd the others out, or
    exceed the machine's memory or disk."""
    if not deployment_policy().has_budgets:
        return
    own, every = _under_way(root)
    if own + more > (limit := budget("runs_of_one")):
        raise logged(Problem("training_shared_own", count=own, most=limit))
    if every + more > (limit := budget("runs")):
        raise logged(Problem("training_shared_queue", count=every, most=limit))
    check_memory()
    check_disk(root)


def _under_way(root: Path) -> tuple[int, int]:
    """Number of runs that train or wait: the visitor's, and all."""
    owners = [run.owner for run in all_runs(root) if run.is_live()]
    return owners.count(visitor()), len(owners)
