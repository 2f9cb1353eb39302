"""Answers to questions about losses on a batch, in figures of the comparison that is shown.

A function of `ANSWERS` takes the comparison of its question's losses, in the question's order, and
returns the verdict that their figures support, with these figures: the last part of the key of a
sentence ``compare.answer.<question>.<verdict>``, and its values.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import torch
from torch import Tensor

from lossprism.explorer.core.explore import explore, seconds_for
from lossprism.explorer.core.remarks import Value, short
from lossprism.explorer.lab.compare.batch_change_effects import Change, what_if
from lossprism.explorer.lab.compare.batch_splitting_methods import mechanics
from lossprism.explorer.lab.compare.comparison_results import (
    EQUAL_GRADIENT_POWER,
    Figures,
    Outcome,
    Sentence,
)
from lossprism.explorer.lab.compare.loss_comparison import CELL_BYTES, Comparison
from lossprism.explorer.lab.compare.losses_towards_collapse import collapsing
from lossprism.explorer.locale import Word, title_word
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.resource_checks import check_matrices

COSINE_SHIFT = 0.2  # of all cosines
PART_ROWS = 2  # of a small batch
CARRYING_SHARE = 0.99  # of a gradient: the pairs that have so much of it carry it
CLOSE_RATIO = 1.1  # times a value: 10 % apart
ROUNDING = 1e-9

Verdict = tuple[str, dict[str, Value | list[Value]]]
Known = TypeVar("Known")


def answer(question: str, comparison: Comparison) -> Sentence:
    """Return the answer to a question of `ANSWERS`, or why this batch gives none.

    Raises Problem where the machine was busy.
    """
    try:
        with jobs.light_work_turn(2 * len(comparison.sides) * seconds_for(len(comparison.batch))):
            verdict, values = ANSWERS[question](comparison)
    except Problem as problem:
        if problem.about == "again":
            raise
        reason = {"key": problem.key, "otherwise": str(problem), "values": problem.values}
        return Sentence("compare.answer.none", {"reason": cast("Word", reason)})
    return Sentence(f"compare.answer.{question}.{verdict}", values)


def _temperature(comparison: Comparison) -> Verdict:
    """Count the pairs that carry the gradient at the first and at the last, lower temperature."""
    high, low = (_carrying(_gradient(comparison, place)) for place in (0, -1))
    return "fewer" if low < high else "more" if low > high else "same", {
        "carried": f"{CARRYING_SHARE:.0%}",
        "low": _parameter(comparison, -1, "temperature"),
        "low_pairs": short(low),
        "high": _parameter(comparison, 0, "temperature"),
        "high_pairs": short(high),
        "pairs": short(len(comparison.batch)),
    }


def _libraries(comparison: Comparison) -> Verdict:
    """Compare the numbers by which libraries divide the sum of the first loss with those of pairs,
    of comparisons, and of comparisons times ln 2."""
    pairs, comparisons = len(comparison.batch), _all_figures(comparison)[0].ordered
    _gradient(comparison, 0)  # without one there is no factor between two
    divisors = (pairs, comparisons, comparisons * math.log(2))
    between = [_needed(comparison.of(0, place)) for place in (1, 2, 3)]
    are_these = all(
        one.factor is not None and math.isclose(one.factor * divisor, 1, rel_tol=1e-6)
        for one, divisor in zip(between, divisors, strict=True)
    )
    values: dict[str, Value | list[Value]] = {
        "pairs": short(pairs),
        "comparisons": short(comparisons),
    }
    return "factors" if are_these else "differ", values


def _ranking_or_contrast(comparison: Comparison) -> Verdict:
    """Count the pairs that one loss draws together and the other pushes apart."""
    first, other = (_signs(_gradient(comparison, place)) for place in (0, 1))
    opposed = int((first * other < 0).sum())
    return "opposed" if opposed else "alike", {
        "opposed": short(opposed),
        "pairs": short(len(comparison.batch)),
        "ranking": _terms(comparison, 0),
        "contrast": _terms(comparison, 1),
    }


def _mnrl_nt_xent(comparison: Comparison) -> Verdict:
    """Compare the values and the numbers of terms of InfoNCE and NT-Xent."""
    first, other = (_figures(comparison, place) for place in (0, 1))
    is_same = first.terms == other.terms and _are_close([first.loss, other.loss])
    return "same" if is_same else "differ", {
        "info_nce": short(first.loss),
        "info_nce_terms": _terms(comparison, 0),
        "nt_xent": short(other.loss),
        "nt_xent_terms": _terms(comparison, 1),
    }


def _temperatures(comparison: Comparison) -> Verdict:
    """Compare the minima and the values at collapse at all temperatures, from the highest on."""
    every = _all_figures(comparison)
    minima = [_needed(one.floor) for one in every]
    collapsed = [_needed(one.collapse) for one in every]
    lowest = min(range(len(every)), key=lambda place: every[place].loss)
    return "same" if _are_close(minima) and _are_close(collapsed) else "differ", {
        "high": _parameter(comparison, 0, "temperature"),
        "high_minimum": short(minima[0]),
        "high_collapse": short(collapsed[0]),
        "low": _parameter(comparison, -1, "temperature"),
        "low_minimum": short(minima[-1]),
        "low_collapse": short(collapsed[-1]),
        "lowest": _parameter(comparison, lowest, "temperature"),
    }


def _collapse(comparison: Comparison) -> Verdict:
    """Find the losses that are lower where all vectors are one point than on the batch."""
    standing = [one for one in comparison.sides if one.stands]
    scenarios = [one.side.applied_to(comparison.scenario) for one in standing]
    ways = collapsing(scenarios, comparison.batch, points=2).ways
    return _divided(standing, [way.falls for way in ways])


def _only_the_order(comparison: Comparison) -> Verdict:
    """Find the losses whose value changes when all cosines rise."""
    standing = [one for one in comparison.sides if one.stands]
    scenarios = [one.side.applied_to(comparison.scenario) for one in standing]
    effects = what_if(scenarios, comparison.batch, Change("shift", by=COSINE_SHIFT))
    return _divided(standing, [effect.notices for effect in effects])


def _small_batches(comparison: Comparison) -> Verdict:
    """Count the comparisons of both losses that are left in small parts of the batch."""
    _all_figures(comparison)  # before the work of the parts
    check_matrices(len(comparison.batch), CELL_BYTES)
    explored = (
        explore(side.side.applied_to(comparison.scenario), comparison.batch)
        for side in comparison.sides
    )
    first, other = (mechanics(e, "micro", PART_ROWS) for e in explored)
    return "same" if first.equal and other.equal else "fewer", {
        "size": PART_ROWS,
        "first": short(first.comparisons),
        "first_all": short(first.whole_comparisons),
        "other": short(other.comparisons),
        "other_all": short(other.whole_comparisons),
    }


def _contrastive(comparison: Comparison) -> Verdict:
    """Compare the largest value with the smallest."""
    values = [figures.loss for figures in _all_figures(comparison)]
    least, most = min(values), max(values)
    verdict = "within" if most <= CLOSE_RATIO * least + ROUNDING else "apart" if least else "zero"
    times = {"times": short(most / least)} if verdict == "apart" else {}
    return verdict, {"least": short(least), "most": short(most), **times}


def _margins(comparison: Comparison) -> Verdict:
    """Count the triplets with weight at the first and at the last, narrower margin."""
    wide, narrow = (_figures(comparison, place) for place in (0, -1))
    minimum = _needed(wide.floor)
    return "above" if minimum > 0 else "reached", {
        "minimum": short(minimum),
        "terms": _terms(comparison, 0),
        "wide_terms": short(_needed(wide.moving)),
        "narrow": _parameter(comparison, -1, "margin"),
        "narrow_terms": short(_needed(narrow.moving)),
    }


ANSWERS: dict[str, Callable[[Comparison], Verdict]] = {
    "temperature": _temperature,
    "libraries": _libraries,
    "ranking_or_contrast": _ranking_or_contrast,
    "mnrl_nt_xent": _mnrl_nt_xent,
    "temperatures": _temperatures,
    "collapse": _collapse,
    "only_the_order": _only_the_order,
    "small_batches": _small_batches,
    "contrastive": _contrastive,
    "margins": _margins,
}


# ---- What is found of a side


def _figures(comparison: Comparison, place: int) -> Figures:
    """Return the figures of a side. Raises its Problem where it could not be computed."""
    side = comparison.sides[place]
    if side.problem is not None:
        raise side.problem
    return _needed(side.figures)


def _all_figures(comparison: Comparison) -> list[Figures]:
    """Return the figures of all sides. Raises the Problem of one that could not be computed."""
    return [_figures(comparison, place) for place in range(len(comparison.sides))]


def _gradient(comparison: Comparison, place: int) -> Tensor:
    """Return the gradient of each pair [N] that the page draws. Raises Problem if all are 0."""
    _figures(comparison, place)
    gradient = _needed(comparison.bars().values[place])
    if not bool(gradient.any()):
        raise Problem("no_gradient", about="loss", loss=_title(comparison.sides[place]))
    return gradient


def _terms(comparison: Comparison, place: int) -> str:
    return short(_needed(_figures(comparison, place).terms))


def _parameter(comparison: Comparison, place: int, name: str) -> str:
    value = comparison.sides[place].parameters[name]
    assert isinstance(value, float)
    return typed(value)


def _title(side: Outcome) -> Word:
    return title_word(_needed(side.spec))


def _needed(value: Known | None) -> Known:
    """Return what the losses of a question always have."""
    assert value is not None
    return value


# ---- Verdicts


def _carrying(gradient: Tensor) -> int:
    """Return the number of pairs that carry a gradient [N], the largest first."""
    carried = gradient.abs().sort(descending=True).values.cumsum(0)
    return int((carried < CARRYING_SHARE * carried[-1]).sum()) + 1


def _signs(gradient: Tensor) -> Tensor:
    """Return the signs of a gradient [N], 0 where it is rounding."""
    least = torch.finfo(gradient.dtype).eps ** EQUAL_GRADIENT_POWER * gradient.abs().max()
    return gradient.sign() * (gradient.abs() > least)


def _are_close(values: Sequence[float]) -> bool:
    return all(
        math.isclose(values[0], one, rel_tol=ROUNDING, abs_tol=ROUNDING) for one in values[1:]
    )


def _divided(sides: Sequence[Outcome], are_picked: Sequence[bool]) -> Verdict:
    """Return whether some, all or none of the losses are picked, and the titles of both parts."""
    titles = {
        choice: [_title(one) for one, is_ in zip(sides, are_picked, strict=True) if is_ is choice]
        for choice in (True, False)
    }
    verdict = "some" if all(titles.values()) else "all" if titles[True] else "none"
    return verdict, {"picked": [*titles[True]], "others": [*titles[False]]}
