"""Scores and vectors of a plan's teacher for the pairs of a run, computed once, before the first
step.

The scores are stored with the pairs and the vectors of their sentences in a separate file, so that
a resumed run learns the same. A run with the same pairs and teacher copies them.
"""

import math
import shutil
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from lossprism.explorer.core.models_of_scenario import about_model
from lossprism.explorer.lab.training import quota
from lossprism.explorer.lab.training.data import Pair, material_of
from lossprism.explorer.lab.training.held_out_metrics import live_sample
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder, all_runs
from lossprism.explorer.lab.training.trainer_rows import Material
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.cache_folder import digest
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.saved_arrays import load_array, save_array
from lossprism.explorer.sources.encoders import Encoder, locate
from lossprism.explorer.sources.encoders.safe_model_loading import forget
from lossprism.explorer.sources.pairs import distinct

# Names the teacher of the scores beside the pairs, and its seconds.
TEACHER_FILE = "teacher.json"
# A row for each sentence of these pairs, in order of appearance.
VECTORS_FILE = "teacher_vectors.npy"
# Pairs that a trial has the teacher score, to estimate the time for all of them.
TRIAL_PAIRS = 64
REPORT_SECONDS = 0.5


def teach(run: RunFolder, plan: TrainingPlan, device: str, trial: bool = False) -> None:
    """Write into a run's folder the teacher's scores or vectors of the pairs that are learnt from,
    and of those of its probe batch; nothing for a plan without a teacher, or if they are there.

    Raises:
        Problem: about the teacher, where it cannot be used, or a hosted page has no more time.
        jobs.Cancelled: where the run is stopped meanwhile.
    """
    if not plan.asks_teacher or (run.path / TEACHER_FILE).exists():
        return
    run.set_stage("loading", part="teacher", done=0, total=0)
    pairs = _pairs_needed(run, plan)
    with about_model("teacher"):
        teacher = locate(plan.teacher_model)
    kinds = sorted(plan.spec.needs & {"teacher", "teacher_vectors"})
    key = digest([teacher.identity, *kinds, *(text for pair in pairs for text in pair[:2])])
    if "teacher_vectors" in kinds:
        _must_fit(plan, teacher, device)
    if not _copied(run, key):
        began = time.monotonic()
        count = min(len(pairs), TRIAL_PAIRS) if trial else len(pairs)
        try:
            if "teacher_vectors" in kinds:
                _keep_vectors(run, teacher, pairs, count, device)
            if "teacher" in kinds:
                _keep_scores(run, teacher, pairs, count, device)
        finally:
            forget()  # the training has the memory to itself
        took = {"seconds": time.monotonic() - began, "pairs": count, "of": len(pairs)}
        run.write(TEACHER_FILE, {"key": key, "scores": teacher.scores_pairs, **took})


def _pairs_needed(run: RunFolder, plan: TrainingPlan) -> list[Pair]:
    """Return the pairs for the teacher: those of the lists, or, where its vectors are learnt, all;
    and those of the probe batch."""
    train, held_out = run.read_pairs("train.jsonl"), run.read_pairs("held_out.jsonl")
    material = material_of(run)
    places_needed = sorted({place for places in material.lists for place in places})
    if plan.learns_vectors:
        places_needed = range(len(train))
    chosen, probe = live_sample(held_out, "lists" in plan.spec.needs)
    return list(dict.fromkeys((*(train[place] for place in places_needed), *chosen[:probe])))


def _sentences(pairs: Sequence[Pair]) -> tuple[str, ...]:
    return distinct([a for a, _, _ in pairs], [b for _, b, _ in pairs])


def vectors_of(
    run: RunFolder, plan: TrainingPlan
) -> Callable[[Sequence[str]], torch.Tensor] | None:
    """Return a function that looks up the teacher's vectors [N, D] of sentences, for a loss that
    learns them; None for another loss.

    Raises:
        Problem: where the file of them is damaged.
    """
    if not plan.learns_vectors:
        return None
    vectors = load_array(run.path / VECTORS_FILE)
    sentences = _sentences(_pairs_needed(run, plan))
    if vectors is None or len(vectors) != len(sentences):
        raise Problem("training_damaged", name=run.name, file=VECTORS_FILE)
    place, rows = {text: row for row, text in enumerate(sentences)}, torch.from_numpy(vectors)
    return lambda texts: rows[[place[text] for text in texts]]


def teacher_scores_pairs(run: RunFolder, plan: TrainingPlan) -> bool:
    """True if the teacher of a plan is a cross-encoder: as the run found it, or as it is."""
    if (run.path / TEACHER_FILE).exists():
        return run.read(TEACHER_FILE)["scores"]
    return locate(plan.teacher_model).scores_pairs


def taught_pairs(plan: TrainingPlan, material: Material) -> int:
    """Approximate number of pairs that the teacher of a plan scores before the training."""
    if not plan.asks_teacher:
        return 0
    return len(material.pairs) if plan.learns_vectors else sum(map(len, material.lists))


def seconds_left_out(run: RunFolder) -> float:
    """Seconds that the teacher of a run takes for all pairs beyond those of a trial."""
    if not (run.path / TEACHER_FILE).exists():
        return 0.0
    record = run.read(TEACHER_FILE)
    return record["seconds"] * (record["of"] / max(record["pairs"], 1) - 1)


def _copied(run: RunFolder, key: str) -> bool:
    """Copy the teacher's answers from another run that has them; False if none has."""
    for other in all_runs(run.path.parent):
        try:
            if (
                not (other.path / TEACHER_FILE).exists()
                or other.read(TEACHER_FILE).get("key") != key
            ):
                continue
            both = [other.read_scored(name) for name in ("train.jsonl", "held_out.jsonl")]
            mine = [run.read_pairs(name) for name in ("train.jsonl", "held_out.jsonl")]
            if [pairs for pairs, _ in both] != mine:
                continue
            for name, (pairs, scores) in zip(("train.jsonl", "held_out.jsonl"), both, strict=True):
                run.write_pairs(name, pairs, scores)
            if (other.path / VECTORS_FILE).exists():
                shutil.copyfile(other.path / VECTORS_FILE, run.path / VECTORS_FILE)
            run.write(TEACHER_FILE, other.read(TEACHER_FILE))
        except (FileNotFoundError, Problem):  # it was deleted while we looked, or is damaged
            continue
        return True
    return False


def _keep_scores(
    run: RunFolder, teacher: Encoder, pairs_needed: Sequence[Pair], count: int, device: str
) -> None:
    """Write the teacher's score beside each of the first `count` pairs, and 0 beside the others."""
    first, second = [a for a, _, _ in pairs_needed[:count]], [b for _, b, _ in pairs_needed[:count]]
    found = _teacher_answer(run, teacher, lambda: teacher.pair_scores(first, second, device))
    scores = found.astype(float).tolist() + [0.0] * (len(pairs_needed) - count)
    by_pair = {pair[:2]: score for pair, score in zip(pairs_needed, scores, strict=True)}
    for name in ("train.jsonl", "held_out.jsonl"):
        pairs = run.read_pairs(name)
        run.write_pairs(name, pairs, [by_pair.get(pair[:2], math.nan) for pair in pairs])


def _keep_vectors(
    run: RunFolder, teacher: Encoder, pairs: Sequence[Pair], count: int, device: str
) -> None:
    """Write the teacher's vectors of the sentences of the first `count` pairs, 0 for the others."""
    sentences = _sentences(pairs[:count])
    found = _teacher_answer(run, teacher, lambda: teacher.encode(sentences, device))
    vectors = np.zeros((len(_sentences(pairs)), found.shape[1]), dtype=np.float32)
    vectors[: len(found)] = found
    save_array(run.path / VECTORS_FILE, vectors)


def _must_fit(plan: TrainingPlan, teacher: Encoder, device: str) -> None:
    """Raise Problem where the teacher's vectors and those of the trained model differ in
    dimension."""
    with about_model("teacher"):
        taught = teacher.encode([], device).shape[1]
    width = plan.dimension
    if plan.encoder != SCRATCH:
        width = locate(plan.encoder).encode([], device).shape[1]
    if taught != width:
        raise Problem("teacher_width", about="teacher", teacher=taught, width=width)


def _teacher_answer(run: RunFolder, teacher: Encoder, ask: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the teacher's answer, with its progress reported on the way."""
    began, limit = time.monotonic(), quota.time_limit()
    reported = -math.inf

    def hear(what: str, done: int, total: int) -> None:
        nonlocal reported
        if run.command() == "stop":
            raise jobs.Cancelled
        if time.monotonic() - began > limit:
            minutes = display_number(limit / 60)
            raise Problem("training_teacher_time", about="teacher", minutes=minutes)
        if what in ("encoding", "scoring") and time.monotonic() - reported > REPORT_SECONDS:
            run.set_stage("loading", part="teacher", done=done, total=total)
            reported = time.monotonic()

    with about_model("teacher"), jobs.reports_to(hear):
        answer = ask()
    if not np.isfinite(answer).all():
        raise Problem("training_teacher_numbers", about="teacher", teacher=teacher.name)
    return answer
