"""Chance levels of metrics: the value for a constant "no", and for a random order."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known

COMMON_COUNTS = (*range(2, 11), 16, 20, 32, 50, 64, 100, 128, 256)
MAX_RANK = 10  # of MRR@10 and NDCG@10
# Relative distance of a metric from its chance level: noise, where the number of candidates is
# known; else the largest rounding, since 1 is not the 0.99 of 100 candidates.
METRIC_NOISE, MAX_METRIC_ROUNDING = 0.01, 0.005


class Chance(NamedTuple):
    """Value of a metric by chance, with one right candidate of `candidates`: "always_no",
    "accuracy", "mrr" and "ndcg" over all ranks, "mrr_cut" and "ndcg_cut" over the first 10."""

    metric: str
    candidates: int
    value: float


def chance_levels(count: int) -> Iterator[Chance]:
    """Yield the chance level of each metric, with one right candidate among `count`.

    >>> [(one.metric, round(one.value, 4)) for one in chance_levels(4)]
    [('always_no', 0.75), ('accuracy', 0.25), ('mrr', 0.5208), ('ndcg', 0.6404)]
    """
    yield Chance("always_no", count, (count - 1) / count)
    yield Chance("accuracy", count, 1 / count)
    ends = {"": count, "_cut": MAX_RANK} if count > MAX_RANK else {"": count}
    for ending, end in ends.items():
        positions = range(1, end + 1)
        yield Chance(f"mrr{ending}", count, sum(1 / at for at in positions) / count)
        gains = sum(1 / math.log2(1 + at) for at in positions)
        yield Chance(f"ndcg{ending}", count, gains / count)


def chances_at(value: float, tolerance: float, known: Known) -> tuple[Chance, ...]:
    """Return the chance levels that a number may be, the fewest candidates first.

    It is within 1% where negatives, classes or the batch give the number of candidates, else equal
    to the written digits.
    """
    counts = _candidate_counts(known)
    noise, rounding = METRIC_NOISE * abs(value), MAX_METRIC_ROUNDING * abs(value)
    near = max(tolerance, noise) if counts else min(tolerance, rounding)
    levels = (one for count in counts or COMMON_COUNTS for one in chance_levels(count))
    return tuple(one for one in levels if abs(one.value - value) <= near)


def _candidate_counts(known: Known) -> list[int]:
    in_list = (known.negatives or 0) + 1
    in_batch = (known.batch or 0) * in_list
    return sorted({count for count in (in_list, known.classes or 0, in_batch) if count > 1})
