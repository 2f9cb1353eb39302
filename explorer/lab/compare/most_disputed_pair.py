"""The pair on which two sides disagree most, and why where a count is the reason."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.remarks import Value
from lossprism.explorer.lab.compare.comparison_results import (
    EQUAL_GRADIENT_POWER,
    DisputedPair,
    GradientKind,
    Outcome,
    Sentence,
    of_positives,
)
from lossprism.explorer.runtime.number_format import display_number, percent


def disagreement(
    a: Outcome, b: Outcome, kind: GradientKind, batch: Batch, numbers: Sequence[int]
) -> DisputedPair | None:
    """Find the pair whose shares differ most; None where they differ by rounding alone, or where
    one side has no gradient at all."""
    shares = [share for one in (a, b) if (share := _shares(one, kind)) is not None]
    if len(shares) < 2:
        return None
    differences = (shares[0] - shares[1]).abs()
    pair = int(differences.argmax())
    if float(differences[pair]) <= torch.finfo(differences.dtype).eps ** EQUAL_GRADIENT_POWER:
        return None
    here = [float(one[pair]) for one in shares]
    ranks = [int((one.abs() > one[pair].abs()).sum()) + 1 for one in shares]
    heavy = 0 if abs(here[0]) >= abs(here[1]) else 1
    sides, light = (a, b), 1 - heavy
    values: dict[str, Value | list[Value]] = {
        "pair": numbers[pair],
        "total": len(differences),
        **_of_side("heavy", sides[heavy], here[heavy], ranks[heavy]),
        **_of_side("light", sides[light], here[light], ranks[light]),
    }
    does = [_does(here[heavy]), _does(here[light])]
    sentences = [Sentence(f"compare.apart.{does[0]}.{does[1]}", values)]
    sentences += _because(sides[light], kind, batch, pair, (here[heavy], here[light]))
    return DisputedPair(pair, (here[0], here[1]), (ranks[0], ranks[1]), tuple(sentences))


def _of_side(which: str, side: Outcome, share: float, rank: int) -> dict[str, Value | list[Value]]:
    called = side.called
    return {
        which: called["name"],
        f"{which}_more": called["more"],
        f"{which}_share": percent(abs(share)),
        f"{which}_rank": rank,
    }


def _shares(side: Outcome, kind: GradientKind) -> Tensor | None:
    felt = side.gradient(kind)
    total = 0.0 if felt is None else float(felt.abs().sum())
    return felt / total if felt is not None and 0 < total < math.inf else None


def _does(share: float) -> str:
    return "nothing" if share == 0 else "pulls" if share < 0 else "pushes"


def _because(
    side: Outcome, kind: GradientKind, batch: Batch, pair: int, shares: tuple[float, float]
) -> list[Sentence]:
    """Give the reason for the lighter side's share, where a count is the reason."""
    called, (heavy, light) = side.called, shares
    values: dict[str, Value | list[Value]] = {"light": called["name"], "light_more": called["more"]}
    gradient = side.score_gradient if kind == "score" else None
    unread = gradient is not None and bool(gradient[pair].isnan())
    if unread and not batch.positive[pair] and of_positives(side):
        read = {"label": batch.pairs.labels[pair], "threshold": batch.threshold}
        values |= {name: display_number(value) for name, value in read.items()}
        return [Sentence("compare.because.not_positive", values)]
    term_counts, projected = side.term_counts, kind == "pair" and side.is_projected
    if term_counts is None or projected or heavy * light > 0:
        return []
    above, below, weighing = (
        int(counts[pair]) for counts in (term_counts.above, term_counts.below, term_counts.weighing)
    )
    own = term_counts.labels[pair]
    if heavy < 0 and above == 0 and not bool((term_counts.labels < own).any()):
        return [Sentence("compare.because.none_lower", values)]
    if heavy > 0 and below == 0 and not bool((term_counts.labels > own).any()):
        return [Sentence("compare.because.none_higher", values)]
    if light == 0 and above + below > 0 and weighing == 0:
        return [Sentence("compare.because.no_weight", {**values, "count": above + below})]
    return []
