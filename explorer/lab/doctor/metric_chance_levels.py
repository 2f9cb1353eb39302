"""Chance levels of metrics: what an answer that is always "no", or a random order, gets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from lossprism.explorer.lab.doctor.known_loss_and_batch import Known

COMMON_COUNTS = (*range(2, 11), 16, 20, 32, 50, 64, 100, 128, 256)
CUT = 10  # positions that MRR@10 and NDCG@10 look at
METRIC_NOISE = 0.01  # of a metric, where the number of candidates is known
ROUNDED = 0.005  # of a metric, where it is not: 1 is no 0.99 of 100 candidates


class Chance(NamedTuple):
    """The value of a metric by chance, of one right candidate among the `candidates`: "always_no",
    "accuracy", "mrr" and "ndcg" over all positions, "mrr_cut" and "ndcg_cut" over the first 10."""

    metric: str
    candidates: int
    value: float


def chance_levels(count: int) -> Iterator[Chance]:
    """Yield each chance level of one right candidate among `count`.

    >>> [(one.metric, round(one.value, 4)) for one in chance_levels(4)]
    [('always_no', 0.75), ('accuracy', 0.25), ('mrr', 0.5208), ('ndcg', 0.6404)]
    """
    yield Chance("always_no", count, (count - 1) / count)
    yield Chance("accuracy", count, 1 / count)
    ends = {"": count, "_cut": CUT} if count > CUT else {"": count}
    for ending, end in ends.items():
        positions = range(1, end + 1)
        yield Chance(f"mrr{ending}", count, sum(1 / at for at in positions) / count)
        gains = sum(1 / math.log2(1 + at) for at in positions)
        yield Chance(f"ndcg{ending}", count, gains / count)


def chances_at(value: float, tolerance: float, known: Known) -> tuple[Chance, ...]:
    """The chance levels that a number may be, the fewest candidates first. Where their number is
    known, from the negatives, the classes or the batch, within 1%; else to the digits written."""
    counts = _counts(known)
    noise, rounding = METRIC_NOISE * abs(value), ROUNDED * abs(value)
    near = max(tolerance, noise) if counts else min(tolerance, rounding)
    levels = (one for count in counts or COMMON_COUNTS for one in chance_levels(count))
    return tuple(one for one in levels if abs(one.value - value) <= near)


def _counts(known: Known) -> list[int]:
    hard = known.negatives or 0
    batch = (known.batch or 0) * (1 + hard)
    return sorted({count for count in (hard + 1, known.classes or 0, batch) if count > 1})
