"""What is striking about an exploration, in sentences: the most telling first."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from explorer.core import collapse
from explorer.core.batch import Batch, has_words
from explorer.core.explore import Exploration
from explorer.locale import title_word, word
from explorer.runtime.numbers import display_number, whole_percent
from explorer.sources.encoders import EMBEDDED
from losses.geometry import cosine_matrix

# The annotated derivation that circulates with S1 advises to keep the gradient norm within this
# band (eq. 45), and to choose λ = α/σ (eq. 50).
GRADIENT_BAND = (0.1, 10.0)
ALPHA = (10.0, 30.0)
# Similarities that all lie this close together have collapsed.
COLLAPSED = 0.02
FEW = 3


Value = str | int | dict[str, str]


@dataclass(frozen=True)
class Remark:
    """A sentence of the catalogues under ``remark.`` with its values."""

    key: str
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Statistics:
    """Correlation of similarity and label, and how far high and low labels' scores differ."""

    pearson: float | None
    pearson_p: float | None
    ks: float | None
    ks_p: float | None
    high: int
    low: int


def remarks(e: Exploration, most: int = 3) -> list[Remark]:
    """At most `most` remarks. None is made where nothing is remarkable."""
    found = [
        *_on_faults(e),
        *_on_language(e),
        *_on_labels(e),
        *_on_collapse(e),
        *_on_suspects(e),
        *_on_order(e),
        *_on_terms(e),
        *_on_gradient(e),
    ]
    return found[:most]


def speaks_another_language(e: Exploration) -> bool:
    """Whether the embedded encoder, which was trained on English, met text that is not."""
    data = e.scenario.data
    ours = data.encoder == EMBEDDED and not data.cross_encoder and has_words(data)
    return ours and _mostly_foreign(e.batch)


@functools.lru_cache(maxsize=16)
def _mostly_foreign(batch: Batch) -> bool:
    """Whether most letters are neither Latin nor accented Latin."""
    letters = [letter for text in batch.pairs.sentences for letter in text if letter.isalpha()]
    foreign = sum(letter >= "\u0370" and not "\u1e00" <= letter < "\u1f00" for letter in letters)
    return 2 * foreign > len(letters)


def _on_faults(e: Exploration) -> list[Remark]:
    """A loss that is no number, or that moves nothing."""
    said: dict[str, Value] = {"name": title_word(e.spec), "loss": display_number(e.loss)}
    if not math.isfinite(e.loss):
        steps = [step for step in e.trace.steps if step.value.is_floating_point()]
        # −∞ marks what is absent.
        broken = (s.name for s in steps if bool((s.value.isnan() | s.value.isposinf()).any()))
        return [Remark("not_finite", {**said, "step": next(broken, steps[-1].name)})]
    return [] if e.is_felt else [Remark("no_gradient", said)]


def _on_language(e: Exploration) -> list[Remark]:
    return [Remark("language")] if speaks_another_language(e) else []


def _on_labels(e: Exploration) -> list[Remark]:
    if len(e.batch) < 2:
        return [] if e.places else [Remark("one_pair")]
    if e.places or e.order.ordered:
        return []
    return [Remark("labels_equal" if e.gradient_norm == 0 else "labels_equal_felt")]


def _on_collapse(e: Exploration) -> list[Remark]:
    spread = _spread(e)
    if len(e.batch) > 1 and spread <= COLLAPSED:
        at_it = e.collapse is not None and math.isclose(e.loss, e.collapse, rel_tol=0.05)
        return [Remark("collapsed" if at_it else "alike", {"spread": short(spread)})]
    if e.collapse is None or not collapse.is_above(e.loss, e.collapse):
        return []
    return [_above_collapse(e, e.collapse)]


def _above_collapse(e: Exploration, level: float) -> Remark:
    """It is true of this loss with these parameters, and another scale may take it back."""
    said: dict[str, Value] = {"name": title_word(e.spec), "loss": short(e.loss)}
    said["collapse"] = short(level)
    edge = collapse.edge(e)
    if edge is None:
        return Remark("above_collapse", said)
    one = edge.parameter
    said["parameter"] = word(f"parameter.{one.name}", one.name)
    said["value"] = short(float(e.parameters[one.name]))  # pyright: ignore[reportArgumentType]
    if edge.value is None:
        ends = {"low": short(one.minimum), "high": short(one.maximum)}
        return Remark("above_collapse_all_over", {**said, **ends})
    # Rounded to where it has ceased: what is said must hold at the very number that is said.
    step = 10 ** (math.floor(math.log10(edge.value)) - 2)
    away = math.floor if edge.side == "below" else math.ceil
    ceased = short(away(edge.value / step) * step)
    return Remark(f"above_collapse_not_{edge.side}", {**said, "edge": ceased})


def _spread(e: Exploration) -> float:
    """How far the similarities that the loss compares lie apart: those of the pairs, or, for a
    loss that looks for the right one among many, those of all sentences with one another."""
    spread = float(e.batch.scores.max() - e.batch.scores.min())
    vectors = e.batch.vectors
    if e.places is None or spread > COLLAPSED or vectors is None or len(vectors) < 2:
        return spread
    every = cosine_matrix(vectors, vectors)
    others = every[~torch.eye(len(every), dtype=torch.bool, device=every.device)]
    return float(others.max() - others.min())


def _on_suspects(e: Exploration) -> list[Remark]:
    """Where label and encoder disagree on more pairs than noise would explain."""
    if speaks_another_language(e):  # the similarities are no witnesses
        return []
    total = float(e.pair_gradient.abs().sum())
    usual = e.disagreement
    if usual is None or len(e.suspects) <= usual.high or not total > 0:
        return []
    share = float(e.pair_gradient[[s.pair for s in e.suspects]].abs().sum()) / total
    values: dict[str, Value] = {"count": len(e.suspects), "share": whole_percent(share)}
    return [Remark("suspects", {**values, "low": usual.low, "high": usual.high})]


def _on_order(e: Exploration) -> list[Remark]:
    if e.places:
        every = 1 < e.places.anchors == e.places.first
        return [Remark(f"all_{e.places.kind}", {"count": e.places.anchors})] if every else []
    if e.order.ordered and e.order.violated == 0:
        return [Remark("in_order", {"count": e.order.ordered})]
    return []


def _on_terms(e: Exploration) -> list[Remark]:
    """The active terms, as the strip counts them, where a handful does it all."""
    w = e.weights
    if w is None or w.terms < 10 * FEW or not 0 < w.active <= FEW:
        return []
    values = {"count": w.active, "terms": w.terms, "share": whole_percent(w.carried)}
    return [Remark("few_terms", values)]


def _on_gradient(e: Exploration) -> list[Remark]:
    low, high = GRADIENT_BAND
    if not band_applies(e) or e.gradient_norm == 0 or low <= e.gradient_norm <= high:
        return []
    key = "gradient_large" if e.gradient_norm > high else "gradient_small"
    return [Remark(key, {"norm": short(e.gradient_norm)})]


def band_applies(e: Exploration) -> bool:
    """Whether GRADIENT_BAND speaks of this gradient: it is said of √Σ‖∂L/∂u‖² over the sentence
    vectors, for a loss with CoSENT's λ, and of no other norm or parameter."""
    scaled = any(parameter.role == "scale" for parameter in e.spec.parameters)
    return scaled and e.gradient_of == "vectors"


def suggested_scale(batch: Batch) -> tuple[float, float] | None:
    """λ = α/σ_s for α from 10 to 30 (S1 eq. 50); None where all scores are equal."""
    spread = float(batch.scores.std(correction=0))
    if not spread > 0 or not math.isfinite(spread):
        return None
    return ALPHA[0] / spread, ALPHA[1] / spread


def statistics(batch: Batch) -> Statistics:
    """Pearson's correlation, and the two-sample Kolmogorov–Smirnov test of the positives'
    scores against the others'. None where there is nothing to compare."""
    from scipy import stats  # on demand: it takes its time to load

    scores, labels = batch.scores.cpu().numpy(), batch.labels.cpu().numpy()
    positive = batch.positive.cpu().numpy()
    high, low = scores[positive], scores[~positive]
    pearson: tuple[float | None, float | None] = (None, None)
    ks: tuple[float | None, float | None] = (None, None)
    if len(scores) > 1 and scores.min() < scores.max() and labels.min() < labels.max():
        correlation, chance = stats.pearsonr(scores, labels)
        pearson = float(correlation), float(chance)
    if len(high) and len(low):
        distance, chance = stats.ks_2samp(high, low)
        ks = float(distance), float(chance)
    return Statistics(*pearson, *ks, high=len(high), low=len(low))


def short(value: float) -> str:
    return display_number(value, 3)
