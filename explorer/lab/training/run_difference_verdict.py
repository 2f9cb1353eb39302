"""Significance of differences between runs, over the seeds and the held-out pairs together.

Two losses, trained with S shared seeds and measured on the same n pairs, differ by D, the mean over
seeds of (b − a). Other seeds would give another D, and so would other pairs. The variance of D is
the sum of two parts:

    seeds   the variance of the S differences / S; with more than two groups, pooled if larger
    pairs   from the influence of each pair on D (`metric_uncertainty.sampling_variance`), with
            degrees of freedom by the number of independent pairs (`metric_uncertainty.witnesses`)

Variation with both is in either part and is subtracted once. The interval is Student's. Its
quantile is the mean of those of both parts, weighted by them (Cochran 1964), which keeps the level
at three seeds, where Satterthwaite's degrees of freedom are wrong twice as often as stated. By
Bonferroni, the level holds for all pairs of groups together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lossprism.explorer.lab.training.metric_uncertainty import (
    Measured,
    independent_pairs,
    sampling_variance,
    witnesses,
)

LEVEL = 0.98  # of confidence, for all comparisons together
LEAST_SEEDS = 3  # that show a spread
MIN_FREEDOM = 0.1  # with fewer degrees of freedom, chance can give any correlation
MAX_NEEDED_PAIRS = 1_000_000  # more are not worth naming
# An interval this narrow about 0 is that of figures that are equal for each pair.
BLANK_WIDTH = 1e-9

By = Mapping[int, Measured]
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Difference:
    """Mean of b − a over the shared seeds, and its interval at LEVEL.

    `covers`: "both" other seeds and other pairs; with fewer than LEAST_SEEDS, other "pairs" for
    these models alone. `pairs_needed` is the number of pairs at which a difference of this size
    would be significant with these seeds; None if it already is, or for no such number up to
    MAX_NEEDED_PAIRS.
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
        """True if the interval does not contain 0."""
        return self.low > 0 or self.high < 0

    @property
    def is_blank(self) -> bool:
        """True if no pair differs, which says nothing about other pairs."""
        return max(abs(self.low), abs(self.high)) < BLANK_WIDTH


def difference(a: By, b: By, pairs: Pairs, beside: Sequence[By] = ()) -> Difference | None:
    """Return the difference of b to a; None if they share no seed.

    `beside` are all groups of the comparison, with a and b: the level holds for all differences
    between them, and they show how runs on this data vary with the seed.
    """
    seeds = tuple(sorted(a.keys() & b.keys()))
    if not seeds:
        return None
    differences = np.array([b[seed].value - a[seed].value for seed in seeds])
    moved = np.array([b[seed].influence - a[seed].influence for seed in seeds])
    mean, count = float(differences.mean()), len(seeds)
    unseen = float(np.mean([a[seed].unseen + b[seed].unseen for seed in seeds]))
    # For a share, `unseen` stands for the pairs of most influence: the others count equally.
    weight = np.ones(len(pairs)) if unseen else moved.mean(axis=0)
    known = witnesses(weight, pairs)
    by_pairs = sampling_variance(moved.mean(axis=0), pairs) + unseen
    by_seeds = by_both = 0.0
    freedom_of_seeds = math.inf
    covers = "both" if count >= LEAST_SEEDS else "pairs"
    if covers == "both":
        pooled, freedom = _pooled([group for group in beside if set(seeds) <= group.keys()], seeds)
        own = float(differences.var(ddof=1))
        by_seeds = max(own, pooled) / count
        freedom_of_seeds = max(count - 1, freedom)
        each = np.mean([sampling_variance(one, pairs) for one in moved]) + unseen
        by_both = max(float(each) - by_pairs, 0.0) / (count - 1)
    variance = max(by_seeds + by_pairs - by_both, by_seeds, by_pairs)
    if not variance > 0:  # all scores are equal
        return Difference(mean, mean, mean, seeds, len(pairs), covers, None)
    comparisons = max(len(beside) * (len(beside) - 1) // 2, 1)
    pairs_quantile = _quantile(comparisons, max(known - 1, 1.0))
    seeds_quantile = _quantile(comparisons, freedom_of_seeds)
    share = by_seeds / variance
    quantile = share * seeds_quantile + (1 - share) * pairs_quantile
    half = quantile * math.sqrt(variance)
    needed = _needed(mean, quantile, by_seeds, variance, len(pairs)) if half >= abs(mean) else None
    bound = 1.0 if unseen else 2.0  # the largest difference of two shares, of two correlations
    low, high = max(mean - half, -bound), min(mean + half, bound)
    return Difference(mean, low, high, seeds, len(pairs), covers, needed)


@dataclass(frozen=True)
class Gain(Difference):
    """Change by training: from the mean `before` to the mean `after`, over the seeds."""

    before: float
    after: float


def gain(before: By, after: By, pairs: Pairs) -> Gain | None:
    """Return the gain of a figure by training, over the shared seeds; None without one."""
    change = difference(before, after, pairs)
    if change is None:
        return None
    sides = (
        float(np.mean([side[seed].value for seed in change.seeds])) for side in (before, after)
    )
    return Gain(**vars(change), **dict(zip(("before", "after"), sides, strict=True)))


def by_chance(pairs: Pairs) -> float | None:
    """Return the largest Spearman, in either direction, that scores unrelated to the labels have on
    these pairs at LEVEL; None for fewer than three pairs.

    r √(n − 2) / √(1 − r²) has Student's distribution with n − 2 degrees of freedom (Kendall &
    Stuart 1973), where n counts independent pairs.
    """
    if len(pairs) < 3:
        return None
    freedom = independent_pairs(pairs) - 2
    if freedom < MIN_FREEDOM:
        return 1.0
    quantile = _quantile(1, freedom)
    return quantile / math.sqrt(freedom + quantile**2)


def _pooled(groups: Sequence[By], seeds: Sequence[int]) -> tuple[float, int]:
    """Return the variance by the seed of a difference of two groups, estimated from all groups
    without the common effect of each seed, and its degrees of freedom."""
    if len(groups) < 2:
        return 0.0, 0
    values = np.array([[group[seed].value for seed in seeds] for group in groups])
    rest = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    freedom = (len(groups) - 1) * (len(seeds) - 1)
    return 2 * float(np.square(rest).sum()) / freedom, freedom


def _quantile(comparisons: int, freedom: float) -> float:
    """Return Student's two-sided quantile at LEVEL for this number of comparisons together."""
    from scipy.special import stdtrit  # on demand: it takes its time to load

    return float(stdtrit(freedom, 1 - (1 - LEVEL) / 2 / comparisons))


def _needed(
    mean: float, quantile: float, by_seeds: float, variance: float, pairs: int
) -> int | None:
    """Return the number of pairs at which the interval of this difference would end at 0; None if
    there is none."""
    remaining = (mean / quantile) ** 2 - by_seeds
    if remaining <= 0:
        return None
    needed = math.ceil((variance - by_seeds) * pairs / remaining)
    return max(needed, pairs + 1) if needed <= MAX_NEEDED_PAIRS else None


@dataclass(frozen=True)
class Verdict:
    """Ranking of groups: `order` has their places, the best first, `beside` the difference of the
    best to each of the others, in that order (None if they share no seed)."""

    order: tuple[int, ...]
    beside: tuple[Difference | None, ...]


def judged(groups: Sequence[By], pairs: Pairs) -> Verdict:
    """Rank two or more groups, each a figure by seed, all measured on the same pairs."""
    means = [float(np.mean([one.value for one in group.values()])) for group in groups]
    best, *others = order = sorted(range(len(groups)), key=lambda place: -means[place])
    differences = [difference(groups[other], groups[best], pairs, groups) for other in others]
    return Verdict(tuple(order), tuple(differences))
