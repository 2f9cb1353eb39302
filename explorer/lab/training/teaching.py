"""What the teacher of a plan gives the pairs of a run: asked once, before the first step.

The scores are kept beside the pairs, where a teacher's column would have put them, and the vectors
of their sentences in a file of their own, so that a run that is resumed learns the same. A run on
the same pairs under the same teacher copies them.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from explorer.core.models import about_model
from explorer.lab.training import quota
from explorer.lab.training.data import Pair, material_of
from explorer.lab.training.folder import RunFolder, all_runs
from explorer.lab.training.measure import live_sample
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.lab.training.rows import Material
from explorer.runtime import jobs
from explorer.runtime.arrays import load_array, save_array
from explorer.runtime.cache import digest
from explorer.runtime.numbers import display_number
from explorer.runtime.problem import Problem
from explorer.sources.encoders import Encoder, locate
from explorer.sources.encoders.model_folder import forget
from explorer.sources.pairs import distinct

# Says that the pairs beside it have what a teacher gave them, which one, and how long it took.
TAUGHT = "teacher.json"
# A row for each sentence of these pairs, in order of appearance.
VECTORS = "teacher_vectors.npy"
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
    wanted = _wanted(run, plan)
    with about_model("teacher"):
        teacher = locate(plan.teacher_model)
    kinds = sorted(plan.spec.needs & {"teacher", "teacher_vectors"})
    key = digest([teacher.identity, *kinds, *(text for pair in wanted for text in pair[:2])])
    if "teacher_vectors" in kinds:
        _must_fit(plan, teacher, device)
    if not _copied(run, key):
        began = time.monotonic()
        count = min(len(wanted), TRIAL_PAIRS) if trial else len(wanted)
        try:
            if "teacher_vectors" in kinds:
                _keep_vectors(run, teacher, wanted, count, device)
            if "teacher" in kinds:
                _keep_scores(run, teacher, wanted, count, device)
        finally:
            forget()  # the training has the memory to itself
        took = {"seconds": time.monotonic() - began, "pairs": count, "of": len(wanted)}
        run.write(TAUGHT, {"key": key, "scores": teacher.scores_pairs, **took})


def _wanted(run: RunFolder, plan: TrainingPlan) -> list[Pair]:
    """The pairs about which the teacher is asked: those of the lists, or, where its vectors are
    learnt, all; and those of the probe batch."""
    train, held_out = run.read_pairs("train.jsonl"), run.read_pairs("held_out.jsonl")
    material = material_of(run)
    asked = sorted({place for places in material.lists for place in places})
    if plan.learns_vectors:
        asked = range(len(train))
    chosen, probe = live_sample(held_out, "lists" in plan.spec.needs)
    return list(dict.fromkeys((*(train[place] for place in asked), *chosen[:probe])))


def _sentences(pairs: Sequence[Pair]) -> tuple[str, ...]:
    return distinct([a for a, _, _ in pairs], [b for _, b, _ in pairs])


def vectors_of(
    run: RunFolder, plan: TrainingPlan
) -> Callable[[Sequence[str]], torch.Tensor] | None:
    """What gives the teacher's vectors [N, D] of any sentences that it was asked about, for a loss
    that learns them; None for another loss.

    Raises:
        Problem: where the file of them is damaged.
    """
    if not plan.learns_vectors:
        return None
    found = load_array(run.path / VECTORS)
    sentences = _sentences(_wanted(run, plan))
    if found is None or len(found) != len(sentences):
        raise Problem("training_damaged", name=run.name, file=VECTORS)
    place, rows = {text: row for row, text in enumerate(sentences)}, torch.from_numpy(found)
    return lambda texts: rows[[place[text] for text in texts]]


def gives_scores(run: RunFolder, plan: TrainingPlan) -> bool:
    """Whether the teacher of a plan is a cross-encoder: as the run found it, or as it is."""
    if (run.path / TAUGHT).exists():
        return run.read(TAUGHT)["scores"]
    return locate(plan.teacher_model).scores_pairs


def pairs_asked(plan: TrainingPlan, material: Material) -> int:
    """About how many of these pairs the teacher of a plan is asked before it trains."""
    if not plan.asks_teacher:
        return 0
    return len(material.pairs) if plan.learns_vectors else sum(map(len, material.lists))


def seconds_left_out(run: RunFolder) -> float:
    """How much longer than in a trial the teacher of a run takes for all pairs."""
    if not (run.path / TAUGHT).exists():
        return 0.0
    told = run.read(TAUGHT)
    return told["seconds"] * (told["of"] / max(told["pairs"], 1) - 1)


def _copied(run: RunFolder, key: str) -> bool:
    """Whether another run has the answers already, which this one then has too."""
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
            if (other.path / VECTORS).exists():
                shutil.copyfile(other.path / VECTORS, run.path / VECTORS)
            run.write(TAUGHT, other.read(TAUGHT))
        except (FileNotFoundError, Problem):  # it was deleted while we looked, or is damaged
            continue
        return True
    return False


def _keep_scores(
    run: RunFolder, teacher: Encoder, wanted: Sequence[Pair], count: int, device: str
) -> None:
    """Write the teacher's score beside each of the first `count` pairs, and 0 beside the others."""
    first, second = [a for a, _, _ in wanted[:count]], [b for _, b, _ in wanted[:count]]
    found = _teacher_answer(run, teacher, lambda: teacher.pair_scores(first, second, device))
    scores = found.astype(float).tolist() + [0.0] * (len(wanted) - count)
    given = {pair[:2]: score for pair, score in zip(wanted, scores, strict=True)}
    for name in ("train.jsonl", "held_out.jsonl"):
        pairs = run.read_pairs(name)
        run.write_pairs(name, pairs, [given.get(pair[:2], math.nan) for pair in pairs])


def _keep_vectors(
    run: RunFolder, teacher: Encoder, wanted: Sequence[Pair], count: int, device: str
) -> None:
    """Write the teacher's vectors of the sentences of the first `count` pairs, 0 for the others."""
    sentences = _sentences(wanted[:count])
    found = _teacher_answer(run, teacher, lambda: teacher.encode(sentences, device))
    held = np.zeros((len(_sentences(wanted)), found.shape[1]), dtype=np.float32)
    held[: len(found)] = found
    save_array(run.path / VECTORS, held)


def _must_fit(plan: TrainingPlan, teacher: Encoder, device: str) -> None:
    """Raise Problem where the teacher's vectors and those of the model that is trained are not of
    one dimension."""
    with about_model("teacher"):
        taught = teacher.encode([], device).shape[1]
    width = plan.dimension
    if plan.encoder != SCRATCH:
        width = locate(plan.encoder).encode([], device).shape[1]
    if taught != width:
        raise Problem("teacher_width", about="teacher", teacher=taught, width=width)


def _teacher_answer(run: RunFolder, teacher: Encoder, ask: Callable[[], np.ndarray]) -> np.ndarray:
    """Return what the teacher answers, with its progress reported on the way."""
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

    with about_model("teacher"), jobs.heard_by(hear):
        found = ask()
    if not np.isfinite(found).all():
        raise Problem("training_teacher_numbers", about="teacher", teacher=teacher.name)
    return found
