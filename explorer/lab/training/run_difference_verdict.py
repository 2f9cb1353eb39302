"""Significance of differences of runs, over the seeds and over the held-out pairs together.

Two losses that were trained under S shared seeds and measured on the same n pairs differ by D =
mean over seeds of (b − a). Another S seeds would give another D, and so would another n pairs. The
variance of D is the sum of both parts, each estimated from what it varies over:

    seeds   variance of the S differences / S; of more than two groups, pooled where that is larger
    pairs   from the influence of each pair on D (`pair_influence.sampling_variance`), and by
            the number of independent witnesses (`pair_influence.witnesses`): for lists, queries

Variation with both is in either part and is taken out once. The interval is Student's; its quantile
is the mean of those of both parts, weighted by them (Cochran 1964), which keeps the level at three
seeds, where degrees of freedom by Satterthwaite are wrong twice as often as stated. It holds for
all pairs of groups of a comparison together, by Bonferroni, so that the best of many is not the
luckiest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lossprism.explorer.lab.training.pair_influence import (
    Measured,
    independent_pairs,
    sampling_variance,
    witnesses,
)

# How sure an interval is, for all comparisons that are made at once.
LEVEL = 0.98
# Fewer seeds show no spread.
LEAST_SEEDS = 3
# With fewer degrees of freedom, scores of no meaning may stand in any order.
LEAST_FREEDOM = 0.1
# So many pairs are as good as never.
MAX_NEEDED = 1_000_000
# An interval as narrow about 0 is one of figures that are equal, pair by pair.
BLANK = 1e-9

By = Mapping[int, Measured]
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Difference:
    """b − a, the mean over the shared seeds, and its interval at LEVEL.

    `covers`: "both" seeds and pairs, or, with fewer than LEAST_SEEDS, other "pairs" for these very
    models. `pairs_needed` pairs of the same kind would distinguish a difference of this size from 0
    with these seeds: None where it is significant already, where no number of pairs would, or where
    it is beyond MAX_NEEDED.
    """

    difference: float
    low: float
    high: float
    seeds: tuple[int, ...]
    pairs: int
    covers: Literal["both", "pairs"]
    pairs_needed: int | None

    @property
    def is_significant(self) -> bool:
        """True if chance would rarely do this."""
        return self.low > 0 or self.high < 0

    @property
    def is_blank(self) -> bool:
        """True if no pair varies, so that other pairs are unpredictable."""
        return max(abs(self.low), abs(self.high)) < BLANK


def difference(a: By, b: By, pairs: Pairs, beside: Sequence[By] = ()) -> Difference | None:
    """Return the difference of b to a; None where they share no seed.

    `beside` are all groups of the comparison, a and b among them: they give the number of
    comparisons that the level holds for, and the variation of runs of this data by their seed.
    """
    seeds = tuple(sorted(a.keys() & b.keys()))
    if not seeds:
        return None
    found = np.array([b[seed].value - a[seed].value for seed in seeds])
    moved = np.array([b[seed].influence - a[seed].influence for seed in seeds])
    mean, count = float(found.mean()), len(seeds)
    unseen = float(np.mean([a[seed].unseen + b[seed].unseen for seed in seeds]))
    # The addition to a share stands for the few pairs that would weigh most.
    weight = np.ones(len(pairs)) if unseen else moved.mean(axis=0)
    known = witnesses(weight, pairs)
    by_pairs = sampling_variance(moved.mean(axis=0), pairs) + unseen
    by_seeds = by_both = 0.0
    freedom_of_seeds = math.inf
    covers = "both" if count >= LEAST_SEEDS else "pairs"
    if covers == "both":
        pooled, freedom = _pooled([group for group in beside if set(seeds) <= group.keys()], seeds)
        own = float(found.var(ddof=1))
        by_seeds = max(own, pooled) / count
        freedom_of_seeds = max(count - 1, freedom)
        each = np.mean([sampling_variance(one, pairs) for one in moved]) + unseen
        by_both = max(float(each) - by_pairs, 0.0) / (count - 1)
    variance = max(by_seeds + by_pairs - by_both, by_seeds, by_pairs)
    if not variance > 0:  # the same scores throughout
        return Difference(mean, mean, mean, seeds, len(pairs), covers, None)
    comparisons = max(len(beside) * (len(beside) - 1) // 2, 1)
    pairs_quantile = _quantile(comparisons, max(known - 1, 1.0))
    seeds_quantile = _quantile(comparisons, freedom_of_seeds)
    share = by_seeds / variance
    quantile = share * seeds_quantile + (1 - share) * pairs_quantile
    half = quantile * math.sqrt(variance)
    needed = _needed(mean, quantile, by_seeds, variance, len(pairs)) if half >= abs(mean) else None
    bound = 1.0 if unseen else 2.0  # two shares, and two correlations, differ by no more
    low, high = max(mean - half, -bound), min(mean + half, bound)
    return Difference(mean, low, high, seeds, len(pairs), covers, needed)


@dataclass(frozen=True)
class Gain(Difference):
    """Change by training: from the mean `before` to the mean `after`, over the seeds."""

    before: float
    after: float


def gain(before: By, after: By, pairs: Pairs) -> Gain | None:
    """Return the rise of a figure, of one model or over several seeds; None where they share
    none."""
    found = difference(before, after, pairs)
    if found is None:
        return None
    sides = (float(np.mean([side[seed].value for seed in found.seeds])) for side in (before, after))
    return Gain(**vars(found), **dict(zip(("before", "after"), sides, strict=True)))


def by_chance(pairs: Pairs) -> float | None:
    """Bound, above and below 0, of the Spearman of scores without relation to the labels of these
    pairs, at LEVEL; None for fewer than three.

    r √(n − 2) / √(1 − r²) is Student's with n − 2 degrees of freedom (Kendall & Stuart 1973), where
    n are independent pairs: those that share a sentence may vary together.
    """
    if len(pairs) < 3:
        return None
    freedom = independent_pairs(pairs) - 2
    if freedom < LEAST_FREEDOM:
        return 1.0
    quantile = _quantile(1, freedom)
    return quantile / math.sqrt(freedom + quantile**2)


def _pooled(groups: Sequence[By], seeds: Sequence[int]) -> tuple[float, int]:
    """The variance of a difference of two groups by the seed, from all groups, what a seed does to
    all of them alike taken out; and its degrees of freedom."""
    if len(groups) < 2:
        return 0.0, 0
    values = np.array([[group[seed].value for seed in seeds] for group in groups])
    rest = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    freedom = (len(groups) - 1) * (len(seeds) - 1)
    return 2 * float(np.square(rest).sum()) / freedom, freedom


def _quantile(comparisons: int, freedom: float) -> float:
    """Student's two-sided quantile at LEVEL for so many comparisons together."""
    from scipy.special import stdtrit  # on demand: it takes its time to load

    return float(stdtrit(freedom, 1 - (1 - LEVEL) / 2 / comparisons))


def _needed(
    mean: float, quantile: float, by_seeds: float, variance: float, pairs: int
) -> int | None:
    """Number of pairs at which the interval of a difference of this size would end at 0."""
    remaining = (mean / quantile) ** 2 - by_seeds
    if remaining <= 0:
        return None
    needed = math.ceil((variance - by_seeds) * pairs / remaining)
    return max(needed, pairs + 1) if needed <= MAX_NEEDED else None


@dataclass(frozen=True)
class Verdict:
    """Groups by how high they came out, and what of that is more than chance.

    `order` are their places, the best first; `beside` the difference of the best to each of the
    others, in that order (None where they share no seed).
    """

    order: tuple[int, ...]
    beside: tuple[Difference | None, ...]


def judged(groups: Sequence[By], pairs: Pairs) -> Verdict:
    """Judge two or more groups, each a figure by seed, all measured on the same pairs."""
    means = [float(np.mean([one.value for one in group.values()])) for group in groups]
    best, *others = order = sorted(range(len(groups)), key=lambda place: -means[place])
    found = [difference(groups[other], groups[best], pairs, groups) for other in others]
    return Verdict(tuple(order), tuple(found))
