"""What was found, as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from explorer.core.diagnostics import Term, order_of
from explorer.core.explore import Exploration
from explorer.core.related_classes import classes_related_to
from explorer.core.trace import Step
from explorer.export.layout import Layout
from explorer.lab.compare.outcome import Apart, Between, Outcome, Sentence
from explorer.lab.compare.sides import Comparison
from explorer.runtime.numbers import json_number, json_numbers
from explorer.web.wire.program import (
    Answer,
    ComparedLoss,
    ComparedLosses,
    ComparedTwo,
    Disagreement,
    HeavyTerm,
    ListedConvention,
    ListedLoss,
    ListedParameter,
    Told,
    TracedStep,
)
from losses import LossSpec, Parameter


def answer_of(found: Exploration, reading: Sequence[str] = ()) -> Answer:
    """What was found, with the sentences on the columns of the table that it was found in."""
    layout = Layout(found)
    weights, by_scores = found.weights, found.score_gradient
    return {
        "loss": json_number(found.loss),
        "scores": _plain(found.batch.scores),
        "labels": list(found.batch.pairs.labels),
        "label_range": list(found.batch.label_range),
        "threshold": found.batch.threshold,
        "positive_pairs": len(found.batch.positives),
        "score_gradient": None if by_scores is None else _plain(by_scores),
        "projected_gradient": _plain(found.pair_gradient) if found.is_projected else None,
        "ordered_pairs": found.order.ordered,
        "violated_pairs": found.order.violated,
        "active_terms": weights and weights.active,
        "effective_terms": weights and json_number(weights.effective),
        "spearman": json_number(found.order.spearman),
        "gradient_norm": json_number(found.gradient_norm),
        "collapse_value": json_number(found.collapse),
        "floor": json_number(found.floor),
        "floor_is_bound": found.floor_is_bound,
        "heaviest_terms": [_term(found, layout, term) for term in found.heaviest],
        "reading": list(reading),
        "device": found.device,
        "milliseconds": found.milliseconds,
    }


def _term(found: Exploration, layout: Layout, term: Term) -> HeavyTerm:
    """A term with the pairs behind its last two indices, called i and j as its symbol does."""
    step = found.trace.named(found.spec.terms)
    behind = []
    for dimension in range(step.value.ndim)[-2:]:  # a level in front of them is no pair
        pair, _ = layout.behind(step, term.cell, dimension)
        behind.append(pair if pair >= 0 else None)
    i, j = (*behind, None, None)[:2]
    symbol = found.spec.symbols.get(step.name)
    if symbol and symbol.indices == ("j", "i"):
        i, j = j, i
    return {"i": i, "j": j, "value": json_number(term.value), "weight": term.share}


def steps_of(found: Exploration) -> list[TracedStep]:
    layout = Layout(found)
    return [_step(found, layout, s) for s in found.trace.tensors]


def _step(found: Exploration, layout: Layout, step: Step) -> TracedStep:
    symbol = found.spec.symbols.get(step.name)
    return {
        "name": step.name,
        "line": step.line,
        "source": step.source,
        "latex": symbol.written if symbol else "",
        "axes": list(layout.axes(step)),
        "shape": list(step.value.shape),
        "value": _plain(step.value),
        "gradient": None if step.gradient is None else _plain(step.gradient),
    }


def comparison_of(found: Comparison, reading: Sequence[str]) -> ComparedLosses:
    batch = found.batch
    order, _ = order_of(batch)
    return {
        "losses": [_compared(one) for one in found.sides],
        "two": [_two(one) for one in found.between],
        "scores": _plain(batch.scores),
        "labels": list(batch.pairs.labels),
        "label_range": list(batch.label_range),
        "threshold": batch.threshold,
        "positive_pairs": len(batch.positives),
        "ordered_pairs": order.ordered,
        "violated_pairs": order.violated,
        "reading": list(reading),
    }


def _compared(one: Outcome) -> ComparedLoss:
    figures, projected = one.figures, one.pair_gradient if one.is_projected else None
    places, (loss, convention) = figures and figures.places, one.entered
    return {
        "of": {
            "loss": loss,
            "convention": convention,
            "parameters": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in one.parameters.items()
            },
        },
        "name": one.named(),
        "problem": one.problem and str(one.problem),
        "loss": figures and json_number(figures.loss),
        "floor": figures and json_number(figures.floor),
        "floor_is_bound": bool(figures and figures.floor_is_bound),
        "collapse_value": figures and json_number(figures.collapse),
        "gradient_norm": figures and json_number(figures.gradient_norm),
        "terms": figures and figures.terms,
        "active_terms": figures and figures.active,
        "moving_terms": figures and figures.moving,
        "effective_terms": figures and json_number(figures.effective),
        "looks_for": places and places.kind,
        "found": places and places.first,
        "anchors": places and places.anchors,
        "score_gradient": None if one.score_gradient is None else _plain(one.score_gradient),
        "projected_gradient": None if projected is None else _plain(projected),
    }


def _two(one: Between) -> ComparedTwo:
    return {
        "first": one.first,
        "second": one.second,
        "comparable": not one.reasons,
        "reasons": [_told(reason) for reason in one.reasons],
        "gradient": one.gradient,
        "tau": one.tau,
        "cosine": one.cosine,
        "factor": one.factor,
        "disagreement": one.apart and _disagreement(one.apart),
    }


def _disagreement(apart: Apart) -> Disagreement:
    return {
        "pair": apart.pair,
        "shares": list(apart.shares),
        "ranks": list(apart.ranks),
        "told": [_told(sentence) for sentence in apart.told],
    }


def _told(sentence: Sentence) -> Told:
    return {"key": sentence.key, "said": sentence.said()}


def _plain(tensor: Tensor) -> Any:
    """A tensor as nested lists; what is not finite as words."""
    listed = tensor.tolist()
    return listed if bool(tensor.isfinite().all()) else json_numbers(listed)


def described(spec: LossSpec) -> ListedLoss:
    return {
        "name": spec.name,
        "title": spec.title,
        "group": spec.group,
        "formula": spec.formula,
        "about": (spec.function.__doc__ or "").strip().partition("\n")[0],
        "parameters": [_parameter(parameter) for parameter in spec.parameters],
        "reads": dict(spec.reads),
        "conventions": [_convention(spec.under(c.name), c.name) for c in spec.conventions],
        "references": list(spec.references),
        "aliases": list(spec.aliases),
        "akin": [
            {"name": one.name, "about": str(one.said())} for one in classes_related_to(spec.name)
        ],
        "collapse_formula": spec.collapse_formula or None,
        "floor_formula": spec.floor_formula or None,
    }


def _convention(spec: LossSpec, name: str) -> ListedConvention:
    parameters = [_parameter(parameter) for parameter in spec.parameters]
    return {"name": name, "formula": spec.formula, "parameters": parameters}


def _parameter(parameter: Parameter) -> ListedParameter:
    numeric = parameter.kind in ("number", "list")
    default = parameter.default
    return {
        "name": parameter.name,
        "symbol": parameter.symbol,
        "kind": parameter.kind,
        "default": list(default) if isinstance(default, tuple) else default,
        "minimum": parameter.minimum if numeric else None,
        "maximum": parameter.maximum if numeric else None,
        "can_be_off": parameter.on_value is not None,
        "choices": list(parameter.choices),
    }
