"""What one run, and one visitor, may take of a Space that strangers share. At home: anything."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections.abc import Sequence

from explorer.lab.training.data import Corpus, examples
from explorer.lab.training.folder import RunFolder
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.problem import Problem
from explorer.sources.model_folders import is_hosted

MOST_PAIRS = 10_000
MOST_BATCH = 128
# Pairs that go through the model in the whole run: steps × batch.
MOST_SEEN = 50_000
# Numbers in the table of an encoder from scratch: four times as many bytes, and twice that again
# for the optimiser.
MOST_NUMBERS = 5_000_000
# From the first step on, pauses included.
MOST_SECONDS = 600.0
# Runs that train or wait.
MOST_OF_ONE, MOST_OF_ALL = 6, 24


def most_seconds() -> float:
    return MOST_SECONDS if is_hosted() else math.inf


def why_not(plan: TrainingPlan, corpus: Corpus) -> Problem | None:
    """Why a run is too large for a Space; None if it is not, or this is none."""
    if not is_hosted():
        return None
    pairs, count = len(corpus.train) + len(corpus.held_out), examples(plan, corpus.train)
    steps, numbers = plan.steps_for(count), plan.vocabulary * plan.dimension
    if pairs > MOST_PAIRS:
        return Problem("training_shared_pairs", count=pairs, most=MOST_PAIRS)
    if plan.batch_size > MOST_BATCH:
        return Problem("training_shared_batch", batch=plan.batch_size, most=MOST_BATCH)
    if steps * plan.batch_size > MOST_SEEN:
        said = {"steps": steps, "batch": plan.batch_size, "count": steps * plan.batch_size}
        fits = max(MOST_SEEN // plan.batch_size, 1)
        return Problem("training_shared_length", **said, most=MOST_SEEN, fits=fits)
    if plan.encoder == SCRATCH and numbers > MOST_NUMBERS:
        return Problem("training_shared_encoder", count=numbers, most=MOST_NUMBERS)
    return None


def check_queue(runs: Sequence[RunFolder], more: int) -> None:
    """Raise Problem if so many `more` runs of this visitor would crowd the others out."""
    if not is_hosted():
        return
    owners = []
    for run in runs:
        if run.is_live():
            with contextlib.suppress(FileNotFoundError):  # it was deleted while we looked
                owners.append(run.read("config.json").get("visitor"))
    if owners.count(visitor()) + more > MOST_OF_ONE:
        raise Problem("training_shared_own", count=owners.count(visitor()), most=MOST_OF_ONE)
    if len(owners) + more > MOST_OF_ALL:
        raise Problem("training_shared_queue", count=len(owners), most=MOST_OF_ALL)


def visitor() -> str:
    """Who asks, on a Space: a digest of their address. Elsewhere nobody is told from another."""
    if not is_hosted():
        return ""
    from gradio.context import LocalContext

    request = LocalContext.request.get(None)
    address = ""
    if request is not None:  # behind the Space's own server, which adds the address it was asked by
        peer = request.client.host if request.client else ""
        address = request.headers.get("x-forwarded-for", peer)
    key = os.environ["SPACE_ID"].encode()[:64]
    return hashlib.blake2b(address.encode(), key=key, digest_size=12).hexdigest()
