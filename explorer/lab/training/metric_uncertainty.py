"""Influence of each held-out pair on a figure, from which the uncertainty of the figure follows.

The influence of a pair is the derivative of the figure with respect to the pair's weight in the
sample (its influence function, Hampel 1974), so that figure ≈ truth + mean of the influences. That
takes one sorting for a figure, and differences and means of figures have the differences and means
of the influences.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.rank_correlation import mid_ranks
from lossprism.explorer.lab.training.held_out_metrics import (
    area_under_curve,
    best_accuracy,
    is_binary,
    reciprocal,
)


@dataclass(frozen=True)
class Measured:
    """A figure of n pairs, and the influence of each pair on it [n], of mean 0. `unseen` is a
    variance that the influences do not show: those of a share of 0 or 1 are all 0."""

    value: float
    influence: np.ndarray
    unseen: float = 0.0


def spearman(scores: np.ndarray, labels: np.ndarray) -> Measured | None:
    """The correlation of the mid-ranks. None where all scores or all labels are equal.

    A pair moves it by its own ranks, and by what its being there does to the ranks of all others.
    """
    a, b = _ranks(scores), _ranks(labels)
    # Centred, so that a mean of products is a covariance.
    a, b = a - 0.5, b - 0.5
    both, of_a, of_b = (float(np.mean(p)) for p in (a * b, a * a, b * b))
    if of_a <= 0 or of_b <= 0:
        return None
    both_moved = a * b + _above(scores, b) + _above(labels, a) - 3 * both
    a_moved = a * a + 2 * _above(scores, a) - 3 * of_a
    b_moved = b * b + 2 * _above(labels, b) - 3 * of_b
    value = both / np.sqrt(of_a * of_b)
    moved = both_moved / np.sqrt(of_a * of_b) - value / 2 * (a_moved / of_a + b_moved / of_b)
    return Measured(float(value), moved)


def pearson(scores: np.ndarray, labels: np.ndarray) -> Measured | None:
    """The correlation of the values. None where all scores or all labels are equal."""
    if scores.min() == scores.max() or labels.min() == labels.max():
        return None
    a, b = ((v - v.mean()) / v.std() for v in (scores, labels))
    value = float(np.mean(a * b))
    return Measured(value, a * b - value * (a * a + b * b) / 2)


def accuracy(scores: np.ndarray, labels: np.ndarray) -> Measured | None:
    """Return the share of pairs that the best threshold gets right; None for labels other than 0
    and 1. The influences take the threshold as fixed, which changes them little."""
    if not is_binary(labels):
        return None
    value, bound = best_accuracy(scores, labels)
    return Measured(value, ((scores >= bound) == (labels == 1)) - value)


def auc(scores: np.ndarray, labels: np.ndarray) -> Measured | None:
    """Return the share of comparisons in which a positive pair has the higher score; None for
    labels other than 0 and 1.

    The influence of a pair is its placement among those of the other label (DeLong et al. 1988).
    """
    if not is_binary(labels):
        return None
    value, positive = area_under_curve(scores, labels), labels == 1
    moved = np.empty(len(scores))
    for side, other in ((positive, ~positive), (~positive, positive)):
        others = np.sort(scores[other])
        beaten = np.searchsorted(others, scores[side], "left")
        tied = np.searchsorted(others, scores[side], "right") - beaten
        share = (beaten + tied / 2) / len(others)
        won = share if side is positive else 1 - share
        moved[side] = (won - value) / side.mean()
    return Measured(value, moved)


def accuracy_at_1(places: np.ndarray) -> Measured:
    """Return the share of queries whose own key has the first of these places [n].

    The influences take the other keys as fixed.
    """
    return _share((places == 1).astype(np.float64))


def mrr_at_10(places: np.ndarray) -> Measured:
    """Return the mean reciprocal place of the own key, within 10; as `accuracy_at_1`."""
    return _share(reciprocal(places))


def _share(each: np.ndarray) -> Measured:
    """Return a mean of values [n] from 0 to 1. Its variance counts half a wrong and half a right
    pair in addition (Agresti & Min 2005), split between both sides of a difference."""
    value = float(each.mean())
    return Measured(value, each - value, unseen=0.5 / len(each) ** 2)


# Figures from the scores and the labels of the pairs.
FIGURES: dict[str, Callable[[np.ndarray, np.ndarray], Measured | None]] = {
    "spearman": spearman,
    "pearson": pearson,
    "accuracy": accuracy,
    "auc": auc,
}
# Figures from the places of the own keys, if all pairs are positives.
RETRIEVAL: dict[str, Callable[[np.ndarray], Measured]] = {
    "accuracy_at_1": accuracy_at_1,
    "mrr_at_10": mrr_at_10,
}
ALL_FIGURES = (*FIGURES, *RETRIEVAL)
# The leading figure of a model is the first of these that its held-out pairs allow.
LEADING = ("spearman", "accuracy_at_1")


def sampling_variance(influence: np.ndarray, pairs: Sequence[tuple[str, str]]) -> float:
    """Return the variance of a figure over other draws of the pairs, from the influences [n].

    Pairs that share a sentence are dependent: the products of their influences count, too (the
    dyadic estimator of Aronow, Samii & Assenova 2015). The result is at least that of independent
    pairs.
    """
    sharing = _sharing(tuple(pairs))
    count = len(influence)
    alone = float(np.square(influence).sum())
    sums = _by_sentence(influence, sharing)
    # Pairs of the same two sentences were counted with each of both.
    both = np.bincount(sharing.same, influence[sharing.apart])
    joined = float(np.square(sums).sum() - np.square(both).sum())
    return max(joined, alone) / max(count * (count - 1), 1)


@dataclass(frozen=True)
class _Sharing:
    """Sentences that n pairs share.

    `first` numbers the first sentence of each pair [n]; `apart` masks the m pairs of two different
    sentences [n], of which `second` numbers the second sentence [m] and `same` the pair, in either
    order [m].
    """

    sentences: int
    first: np.ndarray
    apart: np.ndarray
    second: np.ndarray
    same: np.ndarray


@functools.lru_cache(maxsize=8)
def _sharing(pairs: tuple[tuple[str, str], ...]) -> _Sharing:
    numbers: dict[str, int] = {}
    ends = np.array([[numbers.setdefault(text, len(numbers)) for text in pair] for pair in pairs])
    differ = ends[:, 0] != ends[:, 1]
    _, same = np.unique(np.sort(ends[differ], axis=1), axis=0, return_inverse=True)
    return _Sharing(len(numbers), ends[:, 0], differ, ends[differ, 1], same.reshape(-1))


def _by_sentence(influence: np.ndarray, sharing: _Sharing) -> np.ndarray:
    """Return the sum of the influences of the pairs of each sentence [S]."""
    sums = np.bincount(sharing.first, influence, sharing.sentences)
    return sums + np.bincount(sharing.second, influence[sharing.apart], sharing.sentences)


def witnesses(influence: np.ndarray, pairs: Sequence[tuple[str, str]]) -> float:
    """Return the number of independent observations of equal weight behind `sampling_variance`.

    They are pairs or sentences, whichever are fewer; a sentence weighs by the influence of its
    pairs, or by their number if that gives fewer: influences may cancel out. Ten queries with forty
    candidates each are about ten observations.
    """
    sharing = _sharing(tuple(pairs))
    moved, counted = (_by_sentence(each, sharing) for each in (influence, np.ones(len(influence))))
    return min(map(_effective_count, (influence, moved, counted)))


# Repeated pairs are remarked on if they raise the variance of a mean by this factor, which widens
# the interval by a twentieth.
MIN_VARIANCE_RATIO = 1.1


def repeats(pairs: Sequence[tuple[str, str]]) -> int:
    """Return the number of pairs that repeat an earlier one, in either order; 0 if they hardly
    widen the intervals."""
    times = Counter(map(frozenset, pairs))
    wider = sum(count**2 for count in times.values()) / max(len(pairs), 1)
    return len(pairs) - len(times) if wider >= MIN_VARIANCE_RATIO else 0


def independent_pairs(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the number of pairs without a common sentence that would say as much as these about
    the agreement of similarities and labels, if pairs that share a sentence vary together."""
    times = Counter(itertools.chain.from_iterable(map(frozenset, pairs)))
    together = sum(max(times[first], times[second]) for first, second in pairs)
    return len(pairs) ** 2 / max(together, 1)


def _effective_count(values: np.ndarray) -> float:
    """Return the number of equal values that would be as uncertain: (Σx²)² / Σx⁴."""
    squares = np.square(values)
    total = float(np.square(squares).sum())
    return float(squares.sum()) ** 2 / total if total > 0 else 0.0


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return mid-ranks as shares in (0, 1); equal values have the mean of their ranks."""
    return (mid_ranks(values) - 0.5) / len(values)


def _above(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return, for each pair, the sum of the weights of higher values / n; ties count half."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    below = sums[np.searchsorted(ranked, values, "left")]
    up_to = sums[np.searchsorted(ranked, values, "right")]
    return (sums[-1] - (below + up_to) / 2) / len(values)
