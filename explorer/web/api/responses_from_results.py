"""Answers for programs, from what was computed."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.ranks_and_term_weights import Term, order_of
from lossprism.explorer.core.trace import Step
from lossprism.explorer.export.drawing_data_of_exploration import sent_parameters
from lossprism.explorer.export.rows_and_columns_of_step_matrix import Layout
from lossprism.explorer.lab.compare.comparison_results import (
    Between,
    DisputedPair,
    Outcome,
    Sentence,
)
from lossprism.explorer.lab.compare.loss_comparison import Comparison
from lossprism.explorer.runtime.number_format import json_number, json_numbers
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.web.api.response_schemas import (
    Answer,
    ComparedLoss,
    ComparedLosses,
    ComparedTwo,
    EnteredLoss,
    HeavyTerm,
    KeyedSentence,
    PairOfDisagreement,
    Traced,
    TracedStep,
)


def answer_of(exploration: Exploration, reading: Sequence[str] = ()) -> Answer:
    """Return the exploration as an answer, with sentences on the columns of its table."""
    return Answer(**_fields(exploration, reading))


def traced_of(exploration: Exploration, reading: Sequence[str] = ()) -> Traced:
    """Return the answer with every step of the computation."""
    layout = Layout(exploration)
    steps = [_step(exploration, layout, one) for one in exploration.trace.tensors]
    return Traced(**_fields(exploration, reading), steps=steps)


def _fields(exploration: Exploration, reading: Sequence[str]) -> dict[str, Any]:
    layout = Layout(exploration)
    weights, by_scores = exploration.weights, exploration.score_gradient
    return {
        "loss": json_number(exploration.loss),
        "scores": _plain(exploration.batch.scores),
        "labels": list(exploration.batch.pairs.labels),
        "label_range": list(exploration.batch.label_range),
        "threshold": exploration.batch.threshold,
        "positive_pairs": len(exploration.batch.positives),
        "score_gradient": None if by_scores is None else _plain(by_scores),
        "projected_gradient": _plain(exploration.pair_gradient)
        if exploration.is_projected
        else None,
        "ordered_pairs": exploration.order.ordered,
        "violated_pairs": exploration.order.violated,
        "active_terms": weights and weights.active,
        "effective_terms": weights and json_number(weights.effective),
        "spearman": json_number(exploration.order.spearman),
        "gradient_norm": json_number(exploration.gradient_norm),
        "collapse_value": json_number(exploration.collapse),
        "floor": json_number(exploration.floor),
        "floor_is_bound": exploration.floor_is_bound,
        "heaviest_terms": [_term(exploration, layout, term) for term in exploration.heaviest],
        "reading": list(reading),
        "device": exploration.device,
        "milliseconds": exploration.milliseconds,
    }


def _term(exploration: Exploration, layout: Layout, term: Term) -> HeavyTerm:
    """Return a term with the pairs behind its last two indices, called i and j as in its
    symbol."""
    step = exploration.trace.named(exploration.spec.terms)
    behind = []
    for dimension in range(step.value.ndim)[-2:]:  # a level in front of them is no pair
        pair, _ = layout.behind(step, term.cell, dimension)
        behind.append(pair if pair >= 0 else None)
    i, j = (*behind, None, None)[:2]
    symbol = exploration.spec.symbols.get(step.name)
    if symbol and symbol.indices == ("j", "i"):
        i, j = j, i
    return HeavyTerm(i, j, json_number(term.value), term.share)


def _step(exploration: Exploration, layout: Layout, step: Step) -> TracedStep:
    symbol = exploration.spec.symbols.get(step.name)
    return as_answer(
        TracedStep,
        step,
        latex=symbol.written if symbol else "",
        axes=list(layout.axes(step)),
        shape=list(step.value.shape),
        value=_plain(step.value),
        gradient=None if step.gradient is None else _plain(step.gradient),
    )


def comparison_of(comparison: Comparison, reading: Sequence[str]) -> ComparedLosses:
    batch = comparison.batch
    order, _ = order_of(batch)
    return ComparedLosses(
        losses=[_compared(one) for one in comparison.sides],
        two=[_two(one) for one in comparison.between],
        scores=_plain(batch.scores),
        labels=list(batch.pairs.labels),
        label_range=list(batch.label_range),
        threshold=batch.threshold,
        positive_pairs=len(batch.positives),
        ordered_pairs=order.ordered,
        violated_pairs=order.violated,
        reading=list(reading),
    )


def _compared(one: Outcome) -> ComparedLoss:
    figures, projected = one.figures, one.pair_gradient if one.is_projected else None
    places = figures and figures.places
    return ComparedLoss(
        of=EnteredLoss(*one.entered, sent_parameters(one.parameters)),
        name=one.named(),
        problem=one.problem and str(one.problem),
        loss=figures and json_number(figures.loss),
        floor=figures and json_number(figures.floor),
        floor_is_bound=bool(figures and figures.floor_is_bound),
        collapse_value=figures and json_number(figures.collapse),
        gradient_norm=figures and json_number(figures.gradient_norm),
        terms=figures and figures.terms,
        active_terms=figures and figures.active,
        moving_terms=figures and figures.moving,
        effective_terms=figures and json_number(figures.effective),
        looks_for=places and places.kind,
        found=places and places.first,
        anchors=places and places.anchors,
        score_gradient=None if one.score_gradient is None else _plain(one.score_gradient),
        projected_gradient=None if projected is None else _plain(projected),
    )


def _two(one: Between) -> ComparedTwo:
    return ComparedTwo(
        first=one.first,
        second=one.second,
        comparable=not one.reasons,
        reasons=[_sentence_of(reason) for reason in one.reasons],
        gradient=one.gradient,
        tau=one.tau,
        cosine=one.cosine,
        factor=one.factor,
        disagreement=one.apart and _disagreement(one.apart),
    )


def _disagreement(apart: DisputedPair) -> PairOfDisagreement:
    sentences = [_sentence_of(sentence) for sentence in apart.sentences]
    return PairOfDisagreement(
        apart.pair, list(apart.shares), list(apart.ranks), sentences, told=sentences
    )


def _sentence_of(sentence: Sentence) -> KeyedSentence:
    return KeyedSentence(sentence.key, sentence.written())


def _plain(tensor: Tensor) -> Any:
    """Return a tensor as nested lists; infinities and NaN as words."""
    listed = tensor.tolist()
    return listed if bool(tensor.isfinite().all()) else json_numbers(listed)
