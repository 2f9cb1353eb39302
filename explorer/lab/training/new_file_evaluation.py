"""Measurement of ended runs on the pairs of a new file."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from lossprism.explorer.lab.training import quota
from lossprism.explorer.lab.training.data import MIN_HELD_OUT_PAIRS
from lossprism.explorer.lab.training.ended_run_scores import HeldOutScores, measured_at
from lossprism.explorer.lab.training.held_out_metrics import HeldOut, keeps_random_state
from lossprism.explorer.lab.training.pair_sources import DRAW_SEED
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.trainer_rows import Pair, sentences_of
from lossprism.explorer.runtime import device, jobs
from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.cache_folder import digest
from lossprism.explorer.runtime.limits import TRAINED_PAIRS
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import pairs_from_tables
from lossprism.explorer.sources.reading_notes import ReadingNote, reading_notes

if TYPE_CHECKING:
    from lossprism.explorer.lab.training.starting_model import Encoder

# Sentences, or pairs, per call of a model; between calls the work can be cancelled.
TEXTS_AT_ONCE = 256
WAIT_SECONDS = 0.2
WHEN = ("before", "after")
# One measurement at a time uses the whole machine.
_measuring = threading.Lock()


@dataclass(frozen=True)
class Unseen:
    """The pairs of a file, with its `name` for the user. Of `total` rows `skipped` are unusable; of
    more pairs than `TRAINED_PAIRS` these are a random sample (`sampled`). `notes` report the roles
    of columns."""

    name: str
    pairs: tuple[Pair, ...]
    total: int
    skipped: int = 0
    sampled: bool = False
    notes: tuple[ReadingNote, ...] = ()

    @functools.cached_property
    def digest(self) -> str:
        """Digest of these pairs with their labels."""
        return digest(str(part) for pair in self.pairs for part in pair)

    def shared(self, runs: Sequence[RunFolder]) -> int:
        """Return the number of pairs with a sentence that one of the runs was trained on."""
        known = set().union(*(sentences_of(run.read_pairs("train.jsonl")) for run in runs))
        return sum(first in known or second in known for first, second, _ in self.pairs)


def read(
    file: str | Path, name: str, columns: Mapping[str, str] | None = None, encoding: str = ""
) -> Unseen:
    """Read the pairs of a file; `columns` by role and `encoding` as in `read_file`.

    Pairs without labels are positives, on which retrieval is measured. Raises Problem for missing
    columns, too few pairs, or a single label.
    """
    table = pairs_from_tables.read_file(
        file, name, columns=columns or None, most=TRAINED_PAIRS, seed=DRAW_SEED, encoding=encoding
    )
    pairs = table.pairs
    if len(pairs) < MIN_HELD_OUT_PAIRS:
        raise Problem("unseen_few", name=name, count=len(pairs), least=MIN_HELD_OUT_PAIRS)
    if pairs.labelled and len(set(pairs.labels)) < 2:
        raise Problem("unseen_one_label", name=name, label=display_number(pairs.labels[0]))
    rows = tuple(zip(pairs.first, pairs.second, pairs.labels, strict=True))
    return Unseen(name, rows, table.total, table.left_out, table.limited, reading_notes(table))


def outcomes(
    runs: Mapping[str, RunFolder], unseen: Unseen, report: Callable[..., None] = jobs.step
) -> dict[str, HeldOutScores]:
    """Score the pairs by the models of each run before and after its training.

    Scores are cached in the folder of the run. `report(what, done, total, **values)` receives the
    progress and may raise to stop; finished scores stay cached.

    Raises:
        Problem: if a run has no model, or the work exceeds the limits of a shared Space.
    """
    scores = {name: _cached(run, unseen) for name, run in runs.items()}
    missing = {name: run for name, run in runs.items() if scores[name] is None}
    if missing:
        work = _Scoring(missing, unseen, report)
        if work.held_out.is_positive and any(p.kind == "cross" for p in work.plans.values()):
            raise Problem("unseen_cross", name=unseen.name)
        if reason := quota.measurement_refusal(len(unseen.pairs), len(work.models)):
            raise reason
        with _exclusive(report):
            for name in missing:
                scores[name] = work.scores(name)
    pairs = tuple((first, second) for first, second, _ in unseen.pairs)
    labels = np.array([label for *_, label in unseen.pairs], dtype=np.float64)
    return {name: _outcome(pairs, labels, kept) for name, kept in scores.items() if kept}


def _outcome(
    pairs: tuple[tuple[str, str], ...], labels: np.ndarray, kept: dict[str, np.ndarray]
) -> HeldOutScores:
    places = {when: kept[_places(when)] for when in WHEN if _places(when) in kept}
    return HeldOutScores(pairs, labels, {when: kept[when] for when in WHEN}, places)


def _places(when: str) -> str:
    """Return the name under which the places of the keys are stored."""
    return f"{when}_places"


@contextlib.contextmanager
def _exclusive(report: Callable[..., None]) -> Iterator[None]:
    """Wait for the lock of measurements; `report` may raise to cancel the wait."""
    while not _measuring.acquire(timeout=WAIT_SECONDS):
        report("unseen_waits")
    try:
        yield
    finally:
        _measuring.release()


class _Scoring:
    """The models that are still to score the pairs: those of every run `after`, and each that
    several runs began with once."""

    def __init__(
        self, runs: Mapping[str, RunFolder], unseen: Unseen, report: Callable[..., None]
    ) -> None:
        self.runs, self.unseen, self.report = runs, unseen, report
        self.plans = {name: TrainingPlan.from_run(run.config.plan) for name, run in runs.items()}
        self.held_out = HeldOut.of(unseen.pairs, (), 0.0)  # where both sides are encoded alike
        self.by_side = HeldOut.of(unseen.pairs, (), 0.0, sides_alike=False)
        self.models = {self.key(name, when) for name in runs for when in WHEN}
        self.known: dict[tuple, tuple[np.ndarray, np.ndarray | None]] = {}

    def key(self, name: str, when: str) -> tuple:
        """Return the identity of a model, equal for runs that start from the same one."""
        plan = self.plans[name]
        if when == "after" or plan.encoder == SCRATCH:
            return (when, name)
        # The seed initialises the head of a cross-encoder.
        seed = plan.seed if plan.kind == "cross" else 0
        return (when, plan.kind, plan.encoder, plan.query_prompt, plan.document_prompt, seed)

    def scores(self, name: str) -> dict[str, np.ndarray]:
        """Return the scores [N] "before" and "after", and for positives the ranks [N] of the keys;
        cache them in the folder of the run."""
        arrays = {}
        for when in WHEN:
            scores, places = self._scored(name, when)
            arrays[when] = scores
            if places is not None:
                arrays[_places(when)] = places
        run, path = self.runs[name], _cache_path(self.runs[name], self.unseen)
        if not run.is_mine:
            return arrays  # another visitor's run is read only
        path.parent.mkdir(exist_ok=True)
        with atomic_write(path) as file:
            np.savez(file, allow_pickle=False, measured=measured_at(run), **arrays)
        return arrays

    def _scored(self, name: str, when: str) -> tuple[np.ndarray, np.ndarray | None]:
        key = self.key(name, when)
        if key not in self.known:
            values = {"model": len(self.known) + 1, "models": len(self.models)}
            self.report("unseen", **values)
            model = self._model(name, when)
            alike = self.plans[name].encodes_sides_alike
            held_out = self.held_out if alike else self.by_side
            total = len(held_out.items(model))
            scores, vectors = held_out.scored(
                model, TEXTS_AT_ONCE, lambda done: self.report("unseen", done, total, **values)
            )
            self.known[key] = scores, held_out.places(vectors)
        return self.known[key]

    @keeps_random_state()
    def _model(self, name: str, when: str) -> Encoder:
        # Imported late: opening the page should not wait for the trainers.
        from lossprism.explorer.lab.training import starting_model

        run, plan, chosen = self.runs[name], self.plans[name], str(device.device())
        if when == "after":
            if not run.model.is_dir():
                raise Problem("training_no_model", name=name)
            return starting_model.trained(plan, run.model, chosen)
        if plan.encoder == SCRATCH and not run.start.is_dir():
            raise Problem("training_no_start", name=name)
        torch.manual_seed(plan.seed)  # as the run did
        return starting_model.untrained(plan, run.start, chosen)


def _cache_path(run: RunFolder, unseen: Unseen) -> Path:
    return run.path / "unseen" / f"{unseen.digest}.npz"


def _cached(run: RunFolder, unseen: Unseen) -> dict[str, np.ndarray] | None:
    """Read the cached scores; None if there are none, they are damaged, or the run went on."""
    try:
        arrays = run.read_arrays(str(_cache_path(run, unseen).relative_to(run.path)))
    except (FileNotFoundError, Problem):
        return None
    return arrays if int(arrays.pop("measured")) == measured_at(run) else None
