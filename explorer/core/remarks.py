"""Remarks on what is striking about an exploration, most important first."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from lossprism.explorer.core import collapse_crossing
from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.collapse_crossing import Crossing
from lossprism.explorer.core.cosine_error_of_approximate_encoders import CosineError, error_of
from lossprism.explorer.core.duplicate_negatives import SameText
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.label_disagreement import STRONG_RATE, Disagreement, disagrees
from lossprism.explorer.core.modality_gap import modality_gap
from lossprism.explorer.core.models_of_scenario import encoder_of, has_words
from lossprism.explorer.locale import Word, parameter_word, title_word, titles_in, word
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.runtime.number_format import display_number, whole_percent
from lossprism.explorer.sources.encoders.bundled_encoder import has_embedded_weights
from lossprism.explorer.sources.encoders.uploaded_vectors import is_own
from lossprism.losses import LossSpec
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.loss_term_structures import Largest

# The annotated derivation that circulates with S1 advises to keep the gradient norm within this
# band (eq. 45), and to choose λ = α/σ (eq. 50).
GRADIENT_BAND = (0.1, 10.0)
SUGGESTED_ALPHAS = (10.0, 30.0)
# Similarities that all lie this close together have collapsed.
MAX_COLLAPSED_SPREAD = 0.02
MAX_ACTIVE_TERMS = 3
COSINES_APART = 2  # the largest difference of two cosines
# Texts whose letters are counted together.
CHUNK_TEXTS = 2**14


Value = str | int | Word


@dataclass(frozen=True)
class Remark:
    """A sentence of the catalogues under ``remark.`` with its values."""

    key: str
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Statistics:
    """Correlation of similarity and label, and the difference between scores of high and low
    labels."""

    pearson: float | None
    pearson_p: float | None
    ks: float | None
    ks_p: float | None
    high: int
    low: int


@dataclass(frozen=True)
class RemarkFacts:
    """The few values that remarks depend on: of a loss on a batch, however it was computed.

    `looks_for` is the loss's target ("key", "class", "prototype"; "" if it ranks pairs), which
    `found` of `anchors` have nearest; `alone` sentences have no other of their class. `violated` of
    the `ordered` comparisons of pairs are out of order. All similarities that the loss compares lie
    within `spread`, and so do those of all sentences if `together`. `doubtful`: they come from an
    encoder that does not know the language. The `strong` suspects have the share `felt` of the
    gradient.

    The heaviest `active` of `terms` carry the share `carried`; None if unknown. `crossing` finds
    the scale at which the loss stops being above its value at collapse. `is_felt`: some gradient is
    not 0; `banded`: GRADIENT_BAND applies. `broken` names the first step that is not finite.
    `beside`: the loss has other terms. `same_text` are negatives of the same text, by the name of
    the loss or of each part. `floor` is the minimum, `raised_by_duplicates` if duplicates raise it.
    `margins` is a teacher's largest margin, `labels` the least and the largest label, `gap` the
    distance of the two sides' centres, where their vectors came with the data and it is certain,
    `encoder_error` that of an encoder that rounds another.
    """

    spec: LossSpec
    parameters: Mapping[str, object]
    loss: float
    collapse: float | None
    pairs: int
    ordered: int
    violated: int
    spread: float
    together: bool
    gradient_norm: float
    crossing: Callable[[], Crossing | None]
    looks_for: str = ""
    anchors: int = 0
    found: int = 0
    alone: int = 0
    doubtful: bool = False
    strong: int = 0
    felt: float | None = None
    usual: Disagreement | None = None
    terms: int = 0
    active: int | None = None
    carried: float = 0.0
    is_felt: bool = True
    beside: bool = False
    banded: bool = False
    broken: str = ""
    same_text: Mapping[str, SameText] = field(default_factory=dict)
    floor: float | None = None
    raised_by_duplicates: bool = False
    margins: float = 0.0
    labels: tuple[float, float] | None = None
    gap: float | None = None
    encoder_error: CosineError | None = None


def remarks(e: Exploration, most: int = 3) -> list[Remark]:
    """Return at most `most` remarks on an exploration, none if nothing is remarkable."""
    return remarks_on(_facts_of(e), most)


def remarks_on(seen: RemarkFacts, most: int = 3) -> list[Remark]:
    """Return at most `most` remarks, most important first."""
    remarks = [
        *_on_faults(seen),
        *([Remark("language")] if seen.doubtful else []),
        *_on_encoder(seen),
        *_on_labels(seen),
        *_on_collapse(seen),
        *_on_same_text(seen),
        *_on_reach(seen),
        *_on_classes(seen),
        *([Remark("modality_gap", {"gap": short(seen.gap)})] if seen.gap is not None else []),
        *_on_suspects(seen),
        *_on_order(seen),
        *_on_terms(seen),
        *_on_gradient(seen),
    ]
    return remarks[:most]


def _facts_of(e: Exploration) -> RemarkFacts:
    felt = e.pair_gradient.abs()
    total = float(felt.sum())
    strong = [s.pair for s in e.suspects if s.rate >= STRONG_RATE]
    return RemarkFacts(
        spec=e.spec,
        parameters=e.parameters,
        loss=e.loss,
        collapse=e.collapse,
        pairs=len(e.batch),
        ordered=e.order.ordered,
        violated=e.order.violated,
        spread=_spread(e, among_all=e.places is not None),
        together=_spread(e, among_all=True) <= MAX_COLLAPSED_SPREAD and e.batch.vectors is not None,
        gradient_norm=e.gradient_norm,
        crossing=lambda: collapse_crossing.crossing(e),
        looks_for=e.places.kind if e.places else "",
        anchors=e.places.anchors if e.places else 0,
        found=e.places.first if e.places else 0,
        alone=_alone(e),
        doubtful=speaks_another_language(e),
        strong=len(strong),
        felt=float(felt[strong].sum()) / total if total > 0 else None,
        usual=e.disagreement,
        terms=e.weights.terms if e.weights else 0,
        active=e.weights.active if e.weights else None,
        carried=e.weights.carried if e.weights else 0.0,
        is_felt=e.is_felt,
        beside=e.trace.beside,
        banded=band_applies(e),
        broken=_broken_step(e),
        same_text=e.same_text,
        floor=e.floor,
        raised_by_duplicates=e.raised_by_duplicates,
        margins=_largest_margin(e),
        labels=(float(e.batch.labels.min()), float(e.batch.labels.max())),
        gap=modality_gap(e.batch) if is_own(encoder_of(e.scenario.data)) else None,
        encoder_error=error_of(e),
    )


def _broken_step(e: Exploration) -> str:
    """Return the first step that is not finite; −∞ only marks absent entries."""
    if math.isfinite(e.loss):
        return ""
    steps = [step for step in e.trace.steps if step.value.is_floating_point()]
    broken = (s.name for s in steps if bool((s.value.isnan() | s.value.isposinf()).any()))
    return next(broken, steps[-1].name)


def speaks_another_language(e: Exploration) -> bool:
    """Return whether the bundled encoder, trained on English, met text in another script."""
    data = e.scenario.data
    ours = has_embedded_weights(encoder_of(data)) and not data.cross_encoder and has_words(data)
    return ours and _mostly_foreign(e.batch)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _mostly_foreign(batch: Batch) -> bool:
    return mostly_foreign(batch.pairs.sentences)


def mostly_foreign(*sides: Sequence[str]) -> bool:
    """Return whether most letters of all these texts are neither Latin nor accented Latin."""
    letters = foreign = 0
    for texts in sides:
        for start in range(0, len(texts), CHUNK_TEXTS):
            some = "".join(texts[start : start + CHUNK_TEXTS]).encode("utf-32-le", "surrogatepass")
            counts = np.bincount(np.frombuffer(some, dtype="<u4"))
            for code in np.flatnonzero(counts).tolist():
                if chr(code).isalpha():
                    letters += int(counts[code])
                    is_latin = code < 0x370 or 0x1E00 <= code < 0x1F00
                    foreign += 0 if is_latin else int(counts[code])
    return 2 * foreign > letters


def _on_faults(seen: RemarkFacts) -> list[Remark]:
    """Remark on a loss that is no number, or has no gradient."""
    values: dict[str, Value] = {"name": title_word(seen.spec), "loss": display_number(seen.loss)}
    if seen.broken:
        return [Remark("not_finite", {**values, "step": seen.broken})]
    return [] if seen.is_felt else [Remark("no_gradient", values)]


def _on_encoder(seen: RemarkFacts) -> list[Remark]:
    if seen.encoder_error is None:
        return []
    error, count = seen.encoder_error.largest, seen.encoder_error.sentences
    return [Remark("encoder_error", {"error": short(error), "count": count})]


def _on_labels(seen: RemarkFacts) -> list[Remark]:
    if outside := _labels_outside(seen):
        return [outside]
    if seen.pairs < 2:
        return [] if seen.looks_for else [Remark("one_pair")]
    if seen.looks_for or seen.ordered or not seen.spec.reads_labels:
        return []
    is_still = seen.spec.compares_pairs and seen.gradient_norm == 0
    return [Remark("labels_equal" if is_still else "labels_equal_felt")]


def _labels_outside(seen: RemarkFacts) -> Remark | None:
    """Remark on labels outside the range of a loss that does not convert them."""
    spec, labels = seen.spec, seen.labels
    if spec.label_ends is None or labels is None or "labels" not in spec.reads.values():
        return None
    (low, high), (least, largest) = labels, spec.label_ends
    if least <= low and high <= largest:
        return None
    ends = {"low": low, "high": high, "least": least, "most": largest}
    values: dict[str, Value] = {name: short(end) for name, end in ends.items()}
    return Remark("labels_outside", {**values, "other": _converting(spec)})


def _converting(spec: LossSpec) -> Value:
    """Return the name of the loss's convention that converts labels to 0…1 or to 1 and 0."""
    converting = (one.name for one in spec.conventions if "unit_labels" in one.reads.values())
    return next(converting, word("ui.own_convention", "As defined here"))


def _alone(e: Exploration) -> int:
    """Count the sentences with no other of their class, for a loss on classes; 0 if some of the
    batch stand in a queue and are no anchors."""
    if e.places is None or e.places.kind != "class":
        return 0
    alone = int((torch.bincount(e.batch.classes) == 1).sum())
    return alone if alone + e.places.anchors == len(e.batch.classes) else 0


def _on_classes(seen: RemarkFacts) -> list[Remark]:
    if not seen.alone:
        return []
    if not seen.anchors:
        return [Remark("all_alone")]
    return [Remark("alone", {"count": seen.alone, "total": seen.alone + seen.anchors})]


def _on_collapse(seen: RemarkFacts) -> list[Remark]:
    level = seen.collapse
    if seen.pairs > 1 and seen.spread <= MAX_COLLAPSED_SPREAD:
        at_it = level is not None and math.isclose(seen.loss, level, rel_tol=0.05)
        key = "collapsed" if at_it and seen.together else "alike"
        return [Remark(key, {"spread": short(seen.spread)})]
    if level is None or not collapse_crossing.is_above(seen.loss, level):
        return []
    return [_above_collapse(seen, level)]


def _above_collapse(seen: RemarkFacts, level: float) -> Remark:
    """Remark on the loss with these parameters; another scale may change the result."""
    values: dict[str, Value] = {"name": title_word(seen.spec), "loss": short(seen.loss)}
    values["collapse"] = short(level)
    one = collapse_crossing.scale_of(seen.spec)
    if one is None:
        return Remark("above_collapse", values)
    values["parameter"] = parameter_word(one.name)
    values["value"] = short(float(seen.parameters[one.name]))  # pyright: ignore[reportArgumentType]
    crossing = seen.crossing()
    if crossing is None:
        return Remark("above_collapse_at", values)
    if crossing.value is None:
        ends = {"low": short(one.minimum), "high": short(one.maximum)}
        return Remark("above_collapse_all_over", {**values, **ends})
    # Rounded to where it has ceased: the sentence must hold at the very number that it states.
    step = 10 ** (math.floor(math.log10(crossing.value)) - 2)
    away = math.floor if crossing.side == "below" else math.ceil
    ceased = short(away(crossing.value / step) * step)
    return Remark(f"above_collapse_not_{crossing.side}", {**values, "edge": ceased})


def _spread(e: Exploration, among_all: bool) -> float:
    """Return the range of the similarities that the loss compares: those of the pairs, or, for a
    loss that ranks many candidates, those `among_all` sentences."""
    spread = float(e.batch.scores.max() - e.batch.scores.min())
    vectors = e.batch.vectors
    if not among_all or spread > MAX_COLLAPSED_SPREAD or vectors is None or len(vectors) < 2:
        return spread
    every = cosine_matrix(vectors, vectors)
    others = every[~torch.eye(len(every), dtype=torch.bool, device=every.device)]
    return float(others.max() - others.min())


def _on_same_text(seen: RemarkFacts) -> list[Remark]:
    """Remark on negatives with the text of their query or of its own key, and their weight: for
    each part of a sum, and on the minimum that they cause together."""
    called = titles_in(seen.spec)
    found_remarks = [
        _same_text_of(called[name], same_text)
        for name, same_text in seen.same_text.items()
        if same_text.rows_with
    ]
    if found_remarks and seen.raised_by_duplicates and seen.floor is not None:
        found_remarks.append(Remark("same_text_floor", {"floor": short(seen.floor)}))
    return found_remarks


def _same_text_of(name: Word, same_text: SameText) -> Remark:
    values: dict[str, Value] = {
        "name": name,
        "count": same_text.of_anchor,
        "part": same_text.of_positive,
        "all": same_text.negatives,
        "used": same_text.rows_with,
        "total": same_text.rows,
        "axis": word(f"axis.{same_text.axis}", same_text.axis),
    }
    if same_text.left_out:
        return Remark("same_text_left_out", values)
    values["query_share"] = whole_percent(same_text.share_of_anchor)
    values["key_share"] = whole_percent(same_text.share_of_positive)
    return Remark("same_text", values)


def _largest_margin(e: Exploration) -> float:
    """Return the largest margin of a teacher; 0 without one."""
    margins = [e.given[name] for name, what in e.spec.reads.items() if what == "teacher_margins"]
    return max((float(one.abs().max()) for one in margins if one.numel()), default=0.0)


def _on_reach(seen: RemarkFacts) -> list[Remark]:
    """Remark on a margin beyond the range of unit vectors, or of cosines for a teacher's."""
    if not seen.floor or seen.floor < 0:
        return []
    values: dict[str, Value] = {"floor": short(seen.floor)}
    if seen.margins > COSINES_APART:
        return [Remark("teacher_beyond", {**values, "margin": short(seen.margins)})]
    beyond = seen.spec.beyond_reach(seen.parameters)
    if beyond is None:
        return []
    margin, reach = map(short, beyond)
    return [Remark("margin_beyond", {**values, "margin": margin, "reach": reach})]


def _on_suspects(seen: RemarkFacts) -> list[Remark]:
    """Remark on more pairs that strongly contradict their labels than noise would explain."""
    usual = seen.usual
    # Where the encoder does not know the language, similarities are no witnesses.
    if seen.doubtful or seen.felt is None or usual is None or not disagrees(seen.strong, usual):
        return []
    values: dict[str, Value] = {"count": seen.strong, "most": usual.most_strong}
    share = {"rate": whole_percent(STRONG_RATE), "share": whole_percent(seen.felt)}
    return [Remark("suspects", values | share)]


def _on_order(seen: RemarkFacts) -> list[Remark]:
    if seen.looks_for:
        every = 1 < seen.anchors == seen.found
        return [Remark(f"all_{seen.looks_for}", {"count": seen.anchors})] if every else []
    # Equal similarities violate nothing, and are in no order either.
    if seen.ordered and seen.violated == 0 and seen.spread > 0:
        return [Remark("in_order", {"count": seen.ordered})]
    return []


def _on_terms(seen: RemarkFacts) -> list[Remark]:
    """Remark on a handful of terms with nearly all the weight, except for losses with other terms,
    or where this holds for every batch."""
    if isinstance(seen.spec.form, Largest) or seen.beside:
        return []
    if (
        seen.active is None
        or seen.terms < 10 * MAX_ACTIVE_TERMS
        or not 0 < seen.active <= MAX_ACTIVE_TERMS
    ):
        return []
    values = {"count": seen.active, "terms": seen.terms, "share": whole_percent(seen.carried)}
    return [Remark("few_terms", values)]


def _on_gradient(seen: RemarkFacts) -> list[Remark]:
    low, high = GRADIENT_BAND
    norm = seen.gradient_norm
    if not seen.banded or norm == 0 or low <= norm <= high:
        return []
    return [Remark("gradient_large" if norm > high else "gradient_small", {"norm": short(norm)})]


def band_applies(e: Exploration) -> bool:
    """Return whether GRADIENT_BAND applies: to √Σ‖∂L/∂u‖² over sentence vectors, for a loss with
    CoSENT's λ, and to no other norm, parameter, or sum."""
    scaled = any(parameter.role == "scale" for parameter in e.spec.parameters)
    return scaled and e.gradient_of == "vectors" and not e.spec.parts


def suggested_scale(batch: Batch) -> tuple[float, float] | None:
    """Return λ = α/σ_s for α from 10 to 30 (S1 eq. 50); None if all scores are equal."""
    spread = float(batch.scores.std(correction=0))
    if not spread > 0 or not math.isfinite(spread):
        return None
    return SUGGESTED_ALPHAS[0] / spread, SUGGESTED_ALPHAS[1] / spread


def statistics(batch: Batch) -> Statistics:
    """Compute Pearson's correlation, and the two-sample Kolmogorov–Smirnov test of the positives'
    scores against the others'. None if there is nothing to compare."""
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
