"""What one run, and one visitor, may take of a Space that strangers share. At home: anything."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.lab.training.data import Corpus, examples
from explorer.lab.training.folder import RunFolder
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.runtime.limits import (
    SPACE_BATCH,
    SPACE_NUMBERS,
    SPACE_PAIRS,
    SPACE_RUNS,
    SPACE_RUNS_OF_ONE,
    SPACE_SECONDS,
    SPACE_SEEN,
)
from explorer.runtime.problem import Problem
from explorer.runtime.visitors import is_hosted, visitor


def most_seconds() -> float:
    return SPACE_SECONDS if is_hosted() else math.inf


def why_not(plan: TrainingPlan, corpus: Corpus) -> Problem | None:
    """Why a run is too large for a Space; None if it is not, or this is none."""
    if not is_hosted():
        return None
    pairs, count = len(corpus.train) + len(corpus.held_out), examples(plan, corpus.train)
    steps, numbers = plan.steps_for(count), plan.vocabulary * plan.dimension
    if pairs > SPACE_PAIRS:
        return Problem("training_shared_pairs", count=pairs, most=SPACE_PAIRS)
    if plan.batch_size > SPACE_BATCH:
        return Problem("training_shared_batch", batch=plan.batch_size, most=SPACE_BATCH)
    if steps * plan.batch_size > SPACE_SEEN:
        return Problem(
            "training_shared_length",
            steps=steps,
            batch=plan.batch_size,
            count=steps * plan.batch_size,
            most=SPACE_SEEN,
            fits=max(SPACE_SEEN // plan.batch_size, 1),
        )
    if plan.encoder == SCRATCH and numbers > SPACE_NUMBERS:
        return Problem(
            "training_shared_encoder", about="encoder", count=numbers, most=SPACE_NUMBERS
        )
    return None


def why_not_measured(pairs: int, models: int) -> Problem | None:
    """Why so many models cannot be asked about so many pairs on a Space; None elsewhere."""
    if not is_hosted() or pairs * models <= SPACE_SEEN:
        return None
    fits = SPACE_SEEN // models
    read = pairs * models
    return Problem(
        "unseen_shared", count=pairs, models=models, all=read, most=SPACE_SEEN, fits=fits
    )


def room(runs: Sequence[RunFolder]) -> int | None:
    """How many more runs this visitor of a Space may queue; None elsewhere, where all fit."""
    if not is_hosted():
        return None
    owners = _owners(runs)
    own = SPACE_RUNS_OF_ONE - owners.count(visitor())
    return max(min(own, SPACE_RUNS - len(owners)), 0)


def _owners(runs: Sequence[RunFolder]) -> list[str]:
    """Whose the runs are that train or wait."""
    return [run.owner for run in runs if run.is_live()]


def check_queue(runs: Sequence[RunFolder], more: int) -> None:
    """Raise Problem if so many `more` runs of this visitor would crowd the others out."""
    if not is_hosted():
        return
    owners = _owners(runs)
    if owners.count(visitor()) + more > SPACE_RUNS_OF_ONE:
        raise Problem("training_shared_own", count=owners.count(visitor()), most=SPACE_RUNS_OF_ONE)
    if len(owners) + more > SPACE_RUNS:
        raise Problem("training_shared_queue", count=len(owners), most=SPACE_RUNS)
