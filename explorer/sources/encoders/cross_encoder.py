"""A folder that holds a cross-encoder: a score for each pair of sentences, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lossprism.explorer.locale import word
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.encoder_output_cache import Compute, cached_rows
from lossprism.explorer.sources.encoders.safe_model_loading import ModelFolder, letters_read

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

CROSS_ENCODER = word("model.cross", "cross-encoder")


class PairScorer(ModelFolder):
    """A folder that sentence-transformers loads as a `CrossEncoder`."""

    scores_pairs = True

    def score(
        self, first: Sequence[str], second: Sequence[str], device: str | None = None
    ) -> np.ndarray:
        """Return the scores, float32 (N,), with the activation that the model was saved with (often
        a sigmoid). Raises Problem where the model gives a pair more than one score."""

        def load() -> Compute:
            model = self.model(device)
            letters = letters_read(model.max_length)

            def compute(batch: list[tuple[str, str]]) -> np.ndarray:
                texts = [(first[:letters], second[:letters]) for first, second in batch]
                return self._one_each(model.predict(texts, show_progress_bar=False), len(batch))

            return compute

        rows = cached_rows(self, list(zip(first, second, strict=True)), load, "scoring")
        return np.array(rows, dtype=np.float32).reshape(len(rows))

    def _one_each(self, predicted: object, count: int) -> np.ndarray:
        scores = np.asarray(predicted, dtype=np.float32)
        if scores.ndim > 1 and scores.shape[1] > 1:
            values = {"encoder": self.name, "count": scores.shape[1]}
            raise Problem("cross_many_outputs", about="encoder", **values)
        return scores.reshape(count, 1)

    def model(self, device: str | None) -> CrossEncoder:
        """Return the model in memory."""
        from sentence_transformers import CrossEncoder

        return self.loaded(CrossEncoder, CROSS_ENCODER, device)


def is_cross_encoder(path: Path) -> bool:
    """Return whether the model in a folder was saved as one that scores two sentences together."""
    marked = _json_file(path / "config_sentence_transformers.json").get("model_type")
    if marked is not None:
        return marked == "CrossEncoder"
    architectures = _json_file(path / "config.json").get("architectures") or [""]
    has_modules = (path / "modules.json").exists()
    return str(architectures[0]).endswith("ForSequenceClassification") and not has_modules


def _json_file(path: Path) -> dict:
    try:
        value = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
