"""Scores of the held-out pairs of a run that has ended, before and after."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lossprism.explorer.lab.training.metric_uncertainty import FIGURES, LEADING, RETRIEVAL, Measured
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.runtime.problem import Problem


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Held-out pairs, their labels [n], and the scores [n] of the model "before" and "after"; where
    all are positives, the `places` [n] of their keys too."""

    pairs: tuple[tuple[str, str], ...]
    labels: np.ndarray
    scores: dict[str, np.ndarray]
    places: dict[str, np.ndarray] = field(default_factory=dict)
    _found: dict[tuple[str, str], Measured | None] = field(default_factory=dict)

    def figure(self, name: str, when: str) -> Measured | None:
        """Return a figure of `ALL_FIGURES` "before" or "after"; None without a value."""
        key = (name, when)
        if key not in self._found:
            self._found[key] = self._measured(name, when)
        return self._found[key]

    def _measured(self, name: str, when: str) -> Measured | None:
        if name in FIGURES:
            return FIGURES[name](self.scores[when].astype(np.float64), self.labels)
        return RETRIEVAL[name](self.places[when]) if when in self.places else None

    @property
    def leading(self) -> str:
        """Name of the figure that judges the model: one of `metric_uncertainty.LEADING`."""
        ranked, correlated = LEADING
        return correlated if self.places else ranked

    def on_the_same_pairs(self, other: HeldOutScores) -> bool:
        return self.pairs == other.pairs and np.array_equal(self.labels, other.labels)


def has_ended(run: RunFolder) -> bool:
    return _after(run).exists()


def measured(run: RunFolder, when: str) -> dict[str, np.ndarray]:
    """Read the measurements on the held-out pairs "before" or "after".

    Their scores [n], the distinct sentences [S], for a bi-encoder the vectors [S, D], and for
    positives the places [n] of the keys. Raises Problem where the run has not ended.
    """
    if not has_ended(run):
        raise Problem("training_not_finished", name=run.name)
    return run.read_arrays(f"{when}.npz")


def outcome(run: RunFolder) -> HeldOutScores:
    """Read the scores of a run. Raises Problem where it has not ended."""
    if not has_ended(run):
        raise Problem("training_not_finished", name=run.name)
    return _read(run.path, measured_at(run))


def measured_at(run: RunFolder) -> int:
    """Time at which a run that has ended was measured, in nanoseconds: one that went on has
    another."""
    return _after(run).stat().st_mtime_ns


def _after(run: RunFolder) -> Path:
    return run.path / "after.npz"


@functools.lru_cache(maxsize=64)
def _read(path: Path, _written: int) -> HeldOutScores:
    run = RunFolder(path)
    sides = {when: measured(run, when) for when in ("before", "after")}
    scores = {when: side["scores"] for when, side in sides.items()}
    places = {when: side["places"] for when, side in sides.items() if "places" in side}
    rows = run.read_pairs("held_out.jsonl")
    pairs = tuple((first, second) for first, second, _ in rows)
    labels = np.array([label for *_, label in rows], dtype=np.float64)
    return HeldOutScores(pairs, labels, scores, places)
