"""Measurements of a loss on one batch, as figures for a logger and as a file for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from lossprism.losses.sentence_transformers.trainer_batch import Examples

if TYPE_CHECKING:
    from lossprism.losses.sentence_transformers.saved_batch import SavedBatch

FIGURES = ("collapse", "floor", "effective_terms", "gradient_norm")
# Rows that make more pairs are not saved: no page shows a matrix of more.
MAX_SAVED_PAIRS = 512

Texts = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Measured:
    """Measurements of a batch; None for those unknown for this loss.

    `value` is the loss, `collapse` the loss if all vectors were equal, `floor` the least that any
    vectors reach, `effective_terms` the exponential of the entropy of the terms' weights,
    `gradient_norm` √Σ‖∂L/∂u‖² over the vectors (over the scores, where the loss reads `scored`
    pairs), `positives` and `negatives` the mean similarity of positive and of negative pairs.
    `called` is the name of the loss in the training; `loss`, `convention` and `parameters` name the
    loss of ours with the same value, "" if there is none. `examples` is the batch as it was read,
    without gradients; None if the loss made its own pairs of it. It has `rows` rows (pairs, where
    its lists differ in length); `duplicates` is the rule for duplicate texts.
    """

    value: float
    examples: Examples | None
    loss: str = ""
    convention: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    collapse: float | None = None
    floor: float | None = None
    effective_terms: float | None = None
    gradient_norm: float | None = None
    positives: float | None = None
    negatives: float | None = None
    called: str = ""
    rows: int = 0
    scored: bool = False
    duplicates: str = "keep"

    @property
    def figures(self) -> dict[str, float]:
        """The finite measurements by name, for any logger: "loss", "collapse", "floor",
        "effective_terms", "gradient_norm", "positive_cosine" and "negative_cosine" ("…_score")."""
        kind = "score" if self.scored else "cosine"
        figures = {
            "loss": self.value,
            **{name: getattr(self, name) for name in FIGURES},
            f"positive_{kind}": self.positives,
            f"negative_{kind}": self.negatives,
        }
        return {n: one for n, one in figures.items() if one is not None and math.isfinite(one)}

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={value:.4g}" for name, value in self.figures.items())
        return f"<{self.called}: {figures}>"

    def save(self, folder: str | Path, step: int, texts: Texts | None = None) -> Path:
        """Write the batch, as of this step, into a folder that ``lossprism --open`` opens.

        `texts` are those of its columns. Raises ValueError if its pairs are unknown, OSError if the
        file cannot be written.
        """
        from lossprism.losses.sentence_transformers import saved_batch  # which needs safetensors

        return saved_batch.write(Path(folder), self.saved(step, texts))

    def saved(self, step: int, texts: Texts | None = None) -> SavedBatch:
        """Return the batch as it is saved, of the rows that make at most MAX_SAVED_PAIRS pairs."""
        from lossprism.losses.sentence_transformers.saved_batch import SavedBatch

        examples = self.examples
        if examples is None:
            raise ValueError(f"the pairs of a batch of {self.called} are unknown, so none is saved")
        scores, labels = examples.pair_scores, examples.labels
        rows = min(self.rows, MAX_SAVED_PAIRS * self.rows // len(labels))
        rules = {
            "threshold": examples.bound,
            "label_range": list(examples.label_range),
            "extra_negatives": examples.extra_negatives,
            "twins": self.duplicates,
        }
        return SavedBatch(
            step=step,
            columns=tuple(column[:rows] for column in examples.columns),
            scores=None if scores is None else _first_rows(scores, self.rows, rows),
            labels=_first_rows(labels, self.rows, rows),
            texts=None if texts is None else tuple(tuple(column[:rows]) for column in texts),
            called=self.called,
            value=self.value,
            rows=self.rows,
            loss=self.loss,
            convention=self.convention,
            parameters=self.parameters,
            rules=rules,
            found={f"prism_{name}": value for name, value in self.figures.items()},
        )


def _first_rows(of_pairs: Tensor, whole: int, rows: int) -> Tensor:
    """Return the pairs of the first rows, from pairs in column order."""
    return of_pairs.view(-1, whole)[:, :rows].flatten()
