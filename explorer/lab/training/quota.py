"""What one run, and one visitor, may take of a hosted page. At home: anything."""

from __future__ import annotations

import math
from pathlib import Path

from explorer.lab.training.data import Corpus
from explorer.lab.training.folder import all_runs
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.lab.training.rows import examples, pairs_in
from explorer.runtime.budgets import budget
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.problem import Problem, logged
from explorer.runtime.resource_checks import check_disk, check_memory
from explorer.runtime.visitors import visitor


def most_seconds() -> float:
    return budget("training_seconds")


def why_not(plan: TrainingPlan, corpus: Corpus) -> Problem | None:
    """Why a run is too large for a hosted page; None if it is not, or this is none."""
    if not deployment_policy().bounded:
        return None
    pairs, count = len(corpus.train) + len(corpus.held_out), examples(plan, corpus.material)
    each, widest = pairs_in(plan, corpus.material)
    steps, numbers = plan.steps_for(count), plan.vocabulary * plan.dimension
    if pairs > (most := budget("training_pairs")):
        return Problem("training_shared_pairs", count=pairs, most=most)
    largest = plan.batch_size * widest
    if largest > (most := budget("training_batch")):
        return Problem("training_shared_batch", batch=largest, most=most)
    batch = math.ceil(plan.batch_size * each)
    seen = steps * batch
    if seen > (most := budget("training_seen")):
        told = {"steps": steps, "batch": batch, "count": seen, "most": most}
        fits = max(int(most // batch), 1)
        return Problem("training_shared_length", **told, fits=fits)
    if plan.encoder == SCRATCH and numbers > (most := budget("training_numbers")):
        return Problem("training_shared_encoder", about="encoder", count=numbers, most=most)
    return None


def why_not_measured(pairs: int, models: int) -> Problem | None:
    """Why so many models cannot be asked about so many pairs on a hosted page; None elsewhere."""
    read, most = pairs * models, budget("training_seen")
    if read <= most:
        return None
    told = {"count": pairs, "models": models, "all": read, "most": most}
    return Problem("unseen_shared", **told, fits=int(most // models))


def room(root: Path) -> int | None:
    """How many more runs this visitor of a hosted page may queue in `root`; None elsewhere, where
    all fit."""
    if not deployment_policy().bounded:
        return None
    own, every = _under_way(root)
    return max(int(min(budget("runs_of_one") - own, budget("runs") - every)), 0)


def check_queue(root: Path, more: int) -> None:
    """Raise Problem if so many `more` runs of this visitor in `root` would crowd the others out,
    or the machine has no room for them."""
    if not deployment_policy().bounded:
        return
    own, every = _under_way(root)
    if own + more > (most := budget("runs_of_one")):
        raise logged(Problem("training_shared_own", count=own, most=most))
    if every + more > (most := budget("runs")):
        raise logged(Problem("training_shared_queue", count=every, most=most))
    check_memory()
    check_disk(root)


def _under_way(root: Path) -> tuple[int, int]:
    """How many runs train or wait: of whoever asks, and of all."""
    owners = [run.owner for run in all_runs(root) if run.is_live()]
    return owners.count(visitor()), len(owners)
