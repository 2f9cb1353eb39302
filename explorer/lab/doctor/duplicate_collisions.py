"""Expected meetings of duplicate texts in a batch, by closed forms.

A batch has `size` of `count` rows, drawn without replacement. A partner of a row is another row
whose key the loss cannot tell from its own: both share a query or a key, or its key is the query.
"""

import math
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.doctor.text_ids import pair_ids
from lossprism.explorer.runtime.response_parent_classes import Whole


@dataclass(frozen=True)
class Collisions(Whole):
    """Means over batches: the number of `pairs` of rows with one a partner of the other; the number
    of `rows` with a partner; `floor`, the mean of ln(1 + partners) over the rows, which is the
    minimum of every softmax over the batch; the `share` of negatives that are a partner's key."""

    pairs: float
    rows: float
    floor: float
    share: float


def partners(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return the number of partners of each row [N]."""
    return _sharing(first, second, pair) + _as_second(first, second)


def have_partners(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return the mask of the rows that have a partner or are one [N]."""
    return partners_either_way(first, second, pair) > 0


def partners_either_way(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return the number of partners of each row plus that of rows whose partner it is [N], with
    rows of a shared text once."""
    return _sharing(first, second, pair) + _as_second(first, second) + _as_second(second, first)


def partner_pairs(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> float:
    """Return the number of pairs of rows with one a partner of the other; (A, B) and (B, A) are one
    such pair."""
    sharing, as_second = _sharing(first, second, pair).sum(), _as_second(first, second).sum()
    return float(sharing / 2 + as_second - _swapped(first, second).sum() / 2)


def _sharing(first: np.ndarray, second: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return the number of other rows with the first or the second text of each row [N]."""
    counts = np.bincount(first)[first]
    counts += np.bincount(second)[second]
    counts -= np.bincount(pair)[pair]
    counts -= 1
    return counts


def _as_second(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the number of other rows with the first text of each row as their second [N], without
    those of `_sharing`; 0 for a row of equal texts."""
    count = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    as_second = np.bincount(second, minlength=count)
    on_both = np.bincount(first[first == second], minlength=count)
    return np.where(first == second, 0, as_second[first] - on_both[first])


def _swapped(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the number of other rows with the texts of each row swapped [N]."""
    count = len(first)
    numbers = pair_ids(np.concatenate([first, second]), np.concatenate([second, first]))
    sizes = np.bincount(numbers[:count], minlength=2 * count)
    return np.where(first == second, 0, sizes[numbers[count:]])


def expected_collisions(partners: np.ndarray, size: int, pairs: float | None = None) -> Collisions:
    """Return the means over batches of `size` rows, or of all if fewer, by the number of partners
    of each row [N].

    `pairs`: the number of `partner_pairs`; by default, partners are mutual.
    """
    count = len(partners)
    size = min(size, count)
    if size < 2:
        return Collisions(0.0, 0.0, 0.0, 0.0)
    numbers, rows = np.unique(partners, return_counts=True)
    met = floor = 0.0
    for number, many in zip(numbers.tolist(), rows.tolist(), strict=True):
        if number:
            none, mean = _meetings_of_row(number, count - 1, size - 1)
            met += many * (1 - none)
            floor += many * mean
    expected = float(partners.sum())
    share = expected / (count * (count - 1))
    pairs = expected / 2 if pairs is None else pairs
    drawn = size * (size - 1) / (count * (count - 1))
    return Collisions(pairs * drawn, met * size / count, floor / count, share)


def _meetings_of_row(partners: int, others: int, drawn: int) -> tuple[float, float]:
    """Return the chance that no partner of a row is drawn, and the mean of ln(1 + drawn
    partners)."""
    least, largest = max(0, drawn - (others - partners)), min(partners, drawn)
    chance = math.exp(_log_hypergeometric(least, partners, others, drawn))
    none = chance if least == 0 else 0.0
    counts = np.arange(least, largest + 1, dtype=np.float64)
    # Ratio of each chance to the one before: (K − k)(n − k) / ((k + 1)(N − K − n + k + 1)).
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
        log_choose(partners, met)
        + log_choose(others - partners, drawn - met)
        - log_choose(others, drawn)
    )


def log_choose(count: int, chosen: int) -> float:
    """Return the logarithm of the number of ways to choose so many of a count."""
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)
