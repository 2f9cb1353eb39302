"""Pairs whose label and score disagree: out of order with far more others than usual.

Works on plain arrays, labels and scores [N] in float64, in O(N log N), for the explored batch and
for files with a million pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from lossprism.explorer.core.rank_correlation import mid_ranks, with_ties_merged

# A pair is suspect if it contradicts at least this share of the pairs it is ordered against,
# and this many times the share that an average pair contradicts.
SUSPECT_RATE = 0.2
SUSPECT_FACTOR = 2.0
# A suspect that contradicts at least this share is strong. Of clean pairs that an encoder orders
# well hardly any is, so that wrong labels show by their number (docs/judgements.md has the power).
STRONG_RATE = 0.7
# Labels of fewer kinds are not judged: noise makes as many strong suspects as wrong labels do
# (docs/judgements.md has the power by kind).
MIN_KINDS = 3
# Share of the pairs, those that contradict least: a few wrong labels hardly show there.
BULK_SHARE = 0.9
# Scores of right labels have outliers: noise whose tails are as heavy as those of Student's t.
NOISE_DEGREES = 3
# Where this share of the batches with such noise lie: a twentieth have more strong suspects.
HEAVY_SHARE = 0.9
# How much noise there is is searched in so many steps, in so many draws at most.
NOISE_STEPS, NOISE_DRAWS = 10, 16
# Where this share of the batches without a wrong label lie.
CLEAN_SHARE = 0.98
# Above so many pairs the count of suspects is as good as normal: fewer draws say where it lies.
MANY = 2**14
# As many draws as leave the next one between the least and the most of them in this share.
DRAWS, DRAWS_OF_MANY = round(2 / (1 - CLEAN_SHARE)) - 1, 8
# Counts up to this one scatter as Poisson's do, which few draws that are all 0 do not show.
SMALL_COUNT = 100
# Scores of several draws that are gone through at once.
CELLS_AT_ONCE = 2**20

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Contradictions:
    """Agreement of scores with labels. For each pair, [N]: `wrong` counts the pairs with another
    label that it is out of order with, of `against` comparisons; ties in scores are not wrong.
    `fitting` is the label that would fit: the one at its score's rank among all labels, with pairs
    of equal score ranked by their labels."""

    labels: np.ndarray
    scores: np.ndarray
    wrong: np.ndarray
    against: np.ndarray
    fitting: np.ndarray

    @property
    def ordered(self) -> int:
        """The number of comparisons of two pairs."""
        return int(self.against.sum()) // 2

    @property
    def violated(self) -> int:
        return int(self.wrong.sum()) // 2

    @cached_property
    def rates(self) -> np.ndarray:
        """The share of its comparisons that each pair contradicts."""
        return self.wrong / np.maximum(self.against, 1)

    @cached_property
    def suspects(self) -> np.ndarray:
        """The places of pairs whose score and label disagree, worst first: those that contradict
        far more than is usual. `disagreement` estimates how many to expect without wrong labels."""
        least = _least_rate(self.wrong.sum(), self.against.sum())
        suspects = np.flatnonzero((self.rates >= least) & (self.fitting != self.labels))
        return suspects[np.argsort(-self.rates[suspects], kind="stable")]

    @property
    def strong(self) -> np.ndarray:
        """The suspects with a rate of at least STRONG_RATE."""
        return self.suspects[self.rates[self.suspects] >= STRONG_RATE]

    def of_bulk(self) -> Contradictions:
        """Compare the `BULK_SHARE` of the pairs with the fewest contradictions among themselves."""
        bulk = np.argsort(self.rates, kind="stable")[: _bulk_of(len(self.labels))]
        return contradictions(self.labels[bulk], self.scores[bulk])


def contradictions(labels: np.ndarray, scores: np.ndarray) -> Contradictions:
    """Compare each pair with all pairs of another label."""
    scores = with_ties_merged(scores)
    _, levels, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.lexsort((levels, scores))
    wrong, fitting = np.empty(len(labels), dtype=np.int64), np.empty(len(labels))
    wrong[order] = _out_of_order(levels[order][None])[0]
    fitting[order] = np.sort(labels)
    return Contradictions(labels, scores, wrong, len(labels) - counts[levels], fitting)


def _bulk_of(count: int) -> int:
    return max(round(BULK_SHARE * count), 1)


def _least_rate(wrong: np.ndarray | int, against: int) -> np.ndarray:
    """Return the smallest rate of contradictions that is remarkable, given the total rate."""
    return np.maximum(SUSPECT_FACTOR * (np.asarray(wrong) / max(int(against), 1)), SUSPECT_RATE)


def _out_of_order(levels: np.ndarray) -> np.ndarray:
    """Count for each place in each row [D, N] of small integers the larger ones before it and the
    smaller ones after it.

    Places are split by the highest bit of their number, each part by the next bit, and so on: two
    places are counted at the first bit in which they differ.
    """
    rows, bits = len(levels), int(levels.max(initial=0)).bit_length()
    # In 32 bits, for a million places take their time by the bytes that are moved.
    keys = (levels + (np.arange(rows)[:, None] << bits)).astype(np.int32).ravel()
    places = np.arange(keys.size, dtype=np.int32)
    origin, counts = places.copy(), np.zeros_like(places)
    first = np.append(0, np.cumsum(np.bincount(keys, minlength=rows << bits))).astype(np.int32)
    for bit in reversed(range(bits)):
        part = keys >> (bit + 1) << (bit + 1)
        start, middle = first[part], first[part + (1 << bit)]
        high = (keys >> bit) & 1
        high_before = np.cumsum(high, dtype=np.int32) - high
        high_before -= high_before[start]
        low_before = places - start - high_before
        is_high = high == 1
        counts += np.where(is_high, middle - start - low_before, high_before)
        # Low ones come first, all in the order that they had.
        target = np.where(is_high, middle + high_before, start + low_before)
        for values in (keys, origin, counts):
            values[target] = values.copy()
    counted = np.empty(counts.shape, dtype=np.int64)
    counted[origin] = counts
    return counted.reshape(levels.shape)


@dataclass(frozen=True)
class Disagreement:
    """Number of suspects expected in a batch without a wrong label, from its correlation alone: the
    mean over draws, and the interval of CLEAN_SHARE of such batches. At most `most_strong` would be
    strong, also under heavy-tailed noise; for binary labels, which are not judged, all."""

    expected: float
    low: int
    high: int
    most_strong: int


def disagrees(strong: int, usual: Disagreement | None) -> bool:
    """Return whether there are more strong suspects than in a batch without a wrong label."""
    return usual is not None and strong > usual.most_strong


def disagreement(
    contradicted: Contradictions, correlation: float | None, progress: Progress = lambda *_: None
) -> Disagreement | None:
    """Draw batches with these labels in which only noise separates score and label; count suspects.

    The noise is homogeneous and preserves this rank correlation: score and label are jointly normal
    except for the grades of the label (a Gaussian copula). Strong suspects, if there are any, are
    also counted under heavy-tailed noise, except for binary labels, which are not judged. None if
    the correlation is not above 0. `progress` receives the draws done and may raise to stop.
    """
    if correlation is None or correlation <= 0:
        return None
    grades = _grades_of(np.sort(contradicted.labels))
    draws = DRAWS if len(grades.labels) <= MANY else DRAWS_OF_MANY
    is_judged = grades.levels[-1] + 1 >= MIN_KINDS
    total = 2 * draws if is_judged and len(contradicted.strong) else draws
    share = _share_by_correlation(grades, correlation, _normal_noise())
    suspects, strong = _suspects_of_draws(
        grades, share, _normal_noise(), draws, lambda done: progress(done, total)
    )
    most_strong = _range_of(strong)[1] if is_judged else len(contradicted.labels)
    if is_judged and len(contradicted.strong):
        share, noise = _share_under_heavy_noise(grades, contradicted, correlation), _heavy_tails(1)
        _, strong = _suspects_of_draws(
            grades, share, noise, draws, lambda done: progress(draws + done, total)
        )
        most_strong = max(most_strong, _range_of(strong, HEAVY_SHARE)[1])
    progress(total, total)
    return Disagreement(float(suspects.mean()), *_range_of(suspects), most_strong)


@dataclass(frozen=True, eq=False)
class _Grades:
    """Labels [N] in ascending order as numbers (`levels`), the comparisons of a pair of each level
    (`against`), and the normal scores [N] that the labels grade (`truth`)."""

    labels: np.ndarray
    levels: np.ndarray
    against: np.ndarray
    truth: np.ndarray

    def drawn(self, share: float, noise: np.ndarray) -> np.ndarray:
        """Draw levels in the order of scores made of this share of truth and of noise [D, N]."""
        return self.levels[np.argsort(share * self.truth + math.sqrt(1 - share**2) * noise, axis=1)]

    def suspects(self, seen: np.ndarray) -> np.ndarray:
        """Count suspects and strong suspects of each draw: [2, D]. `seen` has the levels in the
        order of the draw's scores [D, N], which are all different."""
        wrong = _out_of_order(seen)
        rates = wrong / np.maximum(self.against[seen], 1)
        least = _least_rate(wrong.sum(1), self.against[self.levels].sum())
        suspect = (rates >= least[:, None]) & (seen != self.levels)
        return np.stack([suspect.sum(1), (suspect & (rates >= STRONG_RATE)).sum(1)])

    def bulk_share(self, seen: np.ndarray) -> float:
        """Return the mean rate of contradictions among the bulk of the pairs over draws."""
        rates = _out_of_order(seen) / np.maximum(self.against[seen], 1)
        count, is_bulk = _bulk_of(seen.shape[1]), np.zeros(seen.shape, dtype=bool)
        np.put_along_axis(is_bulk, np.argsort(rates, axis=1, kind="stable")[:, :count], True, 1)
        bulk = seen[is_bulk].reshape(len(seen), count)
        alike = sum(int(np.square(np.bincount(one)).sum()) for one in bulk)
        return int(_out_of_order(bulk).sum()) / max(bulk.size * count - alike, 1)


def _grades_of(labels: np.ndarray) -> _Grades:
    count = len(labels)
    _, levels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    # Labels are grades of something continuous: normal scores, in any order within a grade.
    quantiles = (torch.arange(count).double() + 0.5) / count
    truth = (math.sqrt(2) * torch.erfinv(2 * quantiles - 1)).numpy()
    return _Grades(labels, levels, count - sizes, truth)


# Makes noise in so many draws [D, N] of so many pairs.
Noise = Callable[[int, int], np.ndarray]


def _normal_noise() -> Noise:
    source = torch.Generator().manual_seed(0)
    return lambda *shape: torch.randn(*shape, generator=source, dtype=torch.float64).numpy()


def _heavy_tails(seed: int) -> Noise:
    source = np.random.RandomState(seed)
    return lambda *shape: source.standard_t(NOISE_DEGREES, shape)


def _suspects_of_draws(
    grades: _Grades, share: float, noise: Noise, draws: int, progress: Callable[[int], None]
) -> np.ndarray:
    """Count suspects and strong suspects of each draw: [2, D]."""
    count, counts = len(grades.labels), []
    some = min(max(CELLS_AT_ONCE // max(count, 1), 1), draws)
    for start in range(0, draws, some):
        progress(start)
        drawn = grades.drawn(share, noise(min(some, draws - start), count))
        counts.append(grades.suspects(drawn))
    return np.concatenate(counts, axis=1).astype(float)


def _share_under_heavy_noise(
    grades: _Grades, contradicted: Contradictions, correlation: float
) -> float:
    """Return the part of truth in a score under heavy-tailed noise: the larger of two estimates, by
    the rank correlation and by the contradictions among the bulk of the pairs, since wrong labels
    lower the correlation. Large batches are sampled."""
    step = -(-len(grades.labels) // MANY)
    some = grades if step == 1 else _grades_of(grades.labels[step // 2 :: step])
    bulk, count = contradicted.of_bulk(), len(some.labels)
    target_rate = bulk.violated / max(bulk.ordered, 1)
    noise = _heavy_tails(0)(min(max(MANY // count, 1), NOISE_DRAWS), count)
    low, high = 0.0, 1.0
    for _ in range(NOISE_STEPS):
        middle = (low + high) / 2
        noisy = some.bulk_share(some.drawn(middle, noise)) > target_rate
        low, high = (middle, high) if noisy else (low, middle)
    return max(low, _share_by_correlation(some, correlation, lambda *_: noise))


def _range_of(counts: np.ndarray, share: float = CLEAN_SHARE) -> tuple[int, int]:
    """Return the interval of another draw's count with this probability: quantiles of many draws,
    or the prediction interval of a few normal ones. Small counts scatter by at least their root."""
    edge = (1 - share) / 2
    if len(counts) >= DRAWS:
        ordered, beyond = np.sort(counts), round(edge * (len(counts) + 1))
        return int(ordered[beyond - 1]), int(ordered[-beyond])
    from scipy.special import stdtrit  # Student's t; on demand: it takes its time to load

    mean = float(counts.mean())
    spread = max(counts.std(ddof=1), math.sqrt(min(mean, SMALL_COUNT) + 1))
    reach = stdtrit(len(counts) - 1, 1 - edge) * spread * math.sqrt(1 + 1 / len(counts))
    return max(0, math.floor(mean - reach)), math.ceil(mean + reach)


def _share_by_correlation(grades: _Grades, target: float, noise: Noise) -> float:
    """Return the part of truth in a score at which score and label have the `target` correlation:
    the mean over draws of this noise, or, for many pairs and homogeneous noise, the limit."""
    truth, count = grades.truth, len(grades.labels)
    ranks = mid_ranks(grades.labels)
    ranks -= ranks.mean()
    spread = float(np.linalg.norm(ranks))
    some = noise(NOISE_DRAWS, count) if count <= MANY else np.empty((0, 0))

    def drawn(share: float) -> float:
        scores = share * truth + math.sqrt(1 - share**2) * some
        own = scores.argsort(axis=1).argsort(axis=1).astype(float)
        own -= own.mean(axis=1, keepdims=True)
        return float((own @ ranks / (np.linalg.norm(own, axis=1) * spread)).mean())

    def limit(share: float) -> float:
        """Correlate the mean rank of a score, over its noise, with the ranks of labels."""
        seen = torch.special.ndtr(torch.from_numpy(share * truth / math.sqrt(2 - share**2)))
        return float(seen.numpy() @ ranks) / (spread * math.sqrt(count / 12))

    correlation = drawn if count <= MANY else limit
    low, high = 0.0, 1.0
    for _ in range(12 if count <= MANY else 24):
        middle = (low + high) / 2
        low, high = (middle, high) if correlation(middle) < target else (low, middle)
    return (low + high) / 2
