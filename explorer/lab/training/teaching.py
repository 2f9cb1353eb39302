"""What the teacher of a plan gives the pairs of a run: asked once, before the first step.

The scores are kept beside the pairs, where a teacher's column would have put them, so that a run
that is resumed learns the same. A run on the same pairs under the same teacher copies them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from explorer.core.batch import asked_for
from explorer.lab.training import quota
from explorer.lab.training.data import Pair, material_of
from explorer.lab.training.folder import RunFolder, all_runs
from explorer.lab.training.measure import live_sample
from explorer.lab.training.plan import TrainingPlan
from explorer.runtime import jobs
from explorer.runtime.cache import digest
from explorer.runtime.numbers import display_number
from explorer.runtime.problem import Problem
from explorer.sources import encoders
from explorer.sources.model_folders import locate

# Says that the pairs beside it have what a teacher gave them, which one, and how long it took.
TAUGHT = "teacher.json"
# A trial asks about so many pairs, to know how long all of them would take.
TRIAL_PAIRS = 64
TOLD_SECONDS = 0.5


def teach(run: RunFolder, plan: TrainingPlan, device: str, trial: bool = False) -> None:
    """Write into a run's folder what the teacher of its plan gives the pairs that are learnt from,
    and those of its probe batch; nothing where the plan asks no teacher, or it was asked before.

    Raises:
        Problem: about the teacher, where it cannot be used, or a hosted page has no more time.
        jobs.Cancelled: where the run is told to stop meanwhile.
    """
    if not plan.asks_teacher or (run.path / TAUGHT).exists():
        return
    run.say("loading", part="teacher", done=0, total=0)
    train, held_out = run.read_pairs("train.jsonl"), run.read_pairs("held_out.jsonl")
    asked = sorted({place for places in material_of(run).lists for place in places})
    chosen, probe = live_sample(held_out, in_lists=True)
    wanted = list(dict.fromkeys((*(train[place] for place in asked), *chosen[:probe])))
    with asked_for("teacher"):
        identity = locate(plan.teacher_model).identity
    parts = (text for first, second, _ in wanted for text in (first, second))
    key = digest([identity, *parts])
    if not _copied(run, key):
        began = time.monotonic()
        some = wanted[:TRIAL_PAIRS] if trial else wanted
        found = _scores(run, plan, some, device)
        found += [0.0] * (len(wanted) - len(some))
        given = {pair[:2]: score for pair, score in zip(wanted, found, strict=True)}
        for name, pairs in (("train.jsonl", train), ("held_out.jsonl", held_out)):
            run.write_pairs(name, pairs, [given.get(pair[:2], math.nan) for pair in pairs])
        took = {"seconds": time.monotonic() - began, "pairs": len(some), "of": len(wanted)}
        scores = encoders.gives_scores(plan.teacher_model)
        run.write(TAUGHT, {"key": key, "scores": scores, **took})


def gives_scores(run: RunFolder, plan: TrainingPlan) -> bool:
    """Whether the teacher of a plan is a cross-encoder: as the run found it, or as it is."""
    if (run.path / TAUGHT).exists():
        return run.read(TAUGHT)["scores"]
    return encoders.gives_scores(plan.teacher_model)


def pairs_asked(plan: TrainingPlan, lists: Sequence[Sequence[int]]) -> int:
    """About how many pairs of these lists the teacher of a plan is asked before it trains."""
    return sum(map(len, lists)) if plan.asks_teacher else 0


def seconds_left_out(run: RunFolder) -> float:
    """How much longer than in a trial the teacher of a run takes for all pairs."""
    if not (run.path / TAUGHT).exists():
        return 0.0
    told = run.read(TAUGHT)
    return told["seconds"] * (told["of"] / max(told["pairs"], 1) - 1)


def _copied(run: RunFolder, key: str) -> bool:
    """Whether another run has the scores already, which this one then has too."""
    for other in all_runs(run.path.parent):
        try:
            if not (other.path / TAUGHT).exists() or other.read(TAUGHT).get("key") != key:
                continue
            both = [other.read_taught(name) for name in ("train.jsonl", "held_out.jsonl")]
            mine = [run.read_pairs(name) for name in ("train.jsonl", "held_out.jsonl")]
            if [pairs for pairs, _ in both] != mine:
                continue
            for name, (pairs, given) in zip(("train.jsonl", "held_out.jsonl"), both, strict=True):
                run.write_pairs(name, pairs, given)
            run.write(TAUGHT, other.read(TAUGHT))
        except (FileNotFoundError, Problem):  # it was deleted while we looked, or is damaged
            continue
        return True
    return False


def _scores(run: RunFolder, plan: TrainingPlan, pairs: Sequence[Pair], device: str) -> list[float]:
    """What the teacher gives each pair, told as it goes."""
    began, most = time.monotonic(), quota.most_seconds()
    told = -math.inf

    def hear(what: str, done: int, total: int) -> None:
        nonlocal told
        if run.told() == "stop":
            raise jobs.Cancelled
        if time.monotonic() - began > most:
            minutes = display_number(most / 60)
            raise Problem("training_teacher_time", about="teacher", minutes=minutes)
        if what in ("encoding", "scoring") and time.monotonic() - told > TOLD_SECONDS:
            run.say("loading", part="teacher", done=done, total=total)
            told = time.monotonic()

    first, second = [a for a, _, _ in pairs], [b for _, b, _ in pairs]
    try:
        with asked_for("teacher"), jobs.heard_by(hear):
            asked = encoders.pair_scores(first, second, plan.teacher_model, device=device)
    finally:
        encoders.forget()  # the training has the memory to itself
    found = asked.astype(float).tolist()
    if not all(map(math.isfinite, found)):
        raise Problem("training_teacher_numbers", about="teacher", teacher=plan.teacher_model)
    return found
