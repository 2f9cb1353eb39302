"""Frequency of meetings of duplicate texts in a batch, by closed forms.

A batch is `size` of `count` rows, drawn without replacement. The partners of a row are the other
rows whose key it cannot distinguish from its own: they share its query or its key, or their key is
its query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.runtime.response_types import Whole


@dataclass(frozen=True)
class Meetings(Whole):
    """Averages over batches: `pairs` of rows of which one is a partner of the other; `rows` that
    have a partner; `floor`, the mean of ln(1 + partners) over its rows, the minimum of every
    softmax over the batch; `share` of all its negatives that are a partner's key."""

    pairs: float
    rows: float
    floor: float
    share: float


def partners(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Number of other rows with the first or the second text of each row, or its first as their
    second [N]."""
    return _sharing(first, second, pair) + _as_second(first, second)


def touching(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Mask of the rows that are a partner of another or have one [N]."""
    return beside(first, second, pair) > 0


def beside(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Number of other rows that are a partner of each row or have it as one [N]; both count
    separately."""
    return _sharing(first, second, pair) + _as_second(first, second) + _as_second(second, first)


def encounters(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> float:
    """Number of pairs of rows of which one is a partner of the other; two whose texts stand the
    other way round are one such pair."""
    turned = _turned(first, second)
    alike, as_second = _sharing(first, second, pair).sum(), _as_second(first, second).sum()
    return float(alike / 2 + as_second - turned.sum() / 2)


def _sharing(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Number of other rows with the first or the second text of each row [N]."""
    sizes = [np.bincount(numbers)[numbers] for numbers in (first, second, pair)]
    return sizes[0] + sizes[1] - sizes[2] - 1


def _as_second(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Number of other rows that have the first text of each row as their second, and share neither
    text with it in its place [N]: none of a row whose two texts are one."""
    count = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    as_second = np.bincount(second, minlength=count)
    on_both = np.bincount(first[first == second], minlength=count)
    return np.where(first == second, 0, as_second[first] - on_both[first])


def _turned(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Number of other rows with the texts of each row the other way round [N]."""
    count, size = len(first), int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    both = np.concatenate([first * size + second, second * size + first])
    numbers = np.unique(both, return_inverse=True)[1]
    sizes = np.bincount(numbers[:count], minlength=2 * count)
    return np.where(first == second, 0, sizes[numbers[count:]])


def meetings(partners: np.ndarray, size: int, pairs: float | None = None) -> Meetings:
    """Return the averages over batches of `size` of the rows with these numbers of partners [N], or
    of all of fewer.

    `pairs`: the number of pairs of rows of which one is a partner of the other; left out, both
    always are.
    """
    count = len(partners)
    size = min(size, count)
    if size < 2:
        return Meetings(0.0, 0.0, 0.0, 0.0)
    numbers, rows = np.unique(partners, return_counts=True)
    met = floor = 0.0
    for number, many in zip(numbers.tolist(), rows.tolist(), strict=True):
        if number:
            none, mean = _of_one(number, count - 1, size - 1)
            met += many * (1 - none)
            floor += many * mean
    found = float(partners.sum())
    share = found / (count * (count - 1))
    pairs = found / 2 if pairs is None else pairs
    drawn = size * (size - 1) / (count * (count - 1))
    return Meetings(pairs * drawn, met * size / count, floor / count, share)


def _of_one(partners: int, others: int, drawn: int) -> tuple[float, float]:
    """Chance that none of a row's partners is drawn, and the mean of ln(1 + drawn partners)."""
    least, largest = max(0, drawn - (others - partners)), min(partners, drawn)
    chance = math.exp(_log_hypergeometric(least, partners, others, drawn))
    none = chance if least == 0 else 0.0
    counts = np.arange(least, largest + 1, dtype=np.float64)
    # Each chance from the one before it: (K − k)(n − k) / ((k + 1)(N − K − n + k + 1)).
    steps = (
        (partners - counts[:-1])
        * (drawn - counts[:-1])
        / ((counts[:-1] + 1) * (others - partners - drawn + counts[:-1] + 1))
    )
    with np.errstate(divide="ignore"):
        logs = np.concatenate(([0.0], np.log(steps))).cumsum()
    logs += _log_hypergeometric(least, partners, others, drawn)
    return none, float((np.exp(logs) * np.log1p(counts)).sum())


def _log_hypergeometric(met: int, partners: int, others: int, drawn: int) -> float:
    return (
        _log_choose(partners, met)
        + _log_choose(others - partners, drawn - met)
        - _log_choose(others, drawn)
    )


def _log_choose(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)
