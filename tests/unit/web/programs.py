"""What the tests of the endpoints send, and what they hold an answer against."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

REQUEST = SimpleNamespace(headers={})  # with which Gradio calls an endpoint
FIRST = ["A man eats pasta.", "A girl plays the violin.", "Two dogs run.", "It rains in Rome."]
SECOND = ["Someone has a meal.", "A child makes music.", "A cat sleeps.", "The stock market fell."]
LABELS = [1.0, 0.8, 0.2, 0.0]
PAIRS = {"loss": "cosent", "sentences1": FIRST, "sentences2": SECOND, "scores": LABELS}
# S0's batch, and what S0 prints of it.
S0_SCORES, S0_LABELS = [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]


KEYS = {
    "loss",
    "scores",
    "labels",
    "label_range",
    "threshold",
    "positive_pairs",
    "score_gradient",
    "projected_gradient",
    "ordered_pairs",
    "violated_pairs",
    "active_terms",
    "effective_terms",
    "spearman",
    "gradient_norm",
    "collapse_value",
    "floor",
    "floor_is_bound",
    "heaviest_terms",
    "reading",
    "device",
    "milliseconds",
}
S0_LOSS = 7.919774e-06


def same_as_explored(answer, found):
    """Every number of the answer is the one that explore() found."""
    assert set(answer) - {"steps"} == KEYS
    weights = found.weights
    assert answer["loss"] == found.loss
    assert answer["scores"] == found.batch.scores.tolist()
    assert answer["labels"] == found.batch.labels.tolist()
    assert answer["label_range"] == list(found.batch.label_range)
    assert answer["threshold"] == found.batch.threshold
    assert answer["positive_pairs"] == int(found.batch.positive.sum())
    by_score = found.score_gradient
    assert (answer["score_gradient"] is None) == (by_score is None)
    if by_score is not None:
        listed = [float(value) for value in answer["score_gradient"]]
        assert listed == pytest.approx(by_score.tolist(), nan_ok=True)
    projected = found.pair_gradient.tolist() if found.is_projected else None
    assert answer["projected_gradient"] == projected
    assert answer["ordered_pairs"] == found.order.ordered
    assert answer["violated_pairs"] == found.order.violated
    assert answer["spearman"] == found.order.spearman
    assert answer["active_terms"] == weights.active
    assert answer["effective_terms"] == weights.effective
    assert answer["gradient_norm"] == found.gradient_norm
    assert answer["collapse_value"] == found.collapse
    assert answer["floor"] == found.floor
    assert answer["floor_is_bound"] == found.floor_is_bound
    terms = [(term["value"], term["weight"]) for term in answer["heaviest_terms"]]
    assert terms == [(term.value, term.share) for term in found.heaviest]
    assert answer["device"] == found.device
    assert answer["milliseconds"] > 0
