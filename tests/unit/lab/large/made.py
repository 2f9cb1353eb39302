"""Large batches small enough to be checked cell by cell."""

from __future__ import annotations

import numpy as np

from lossprism.explorer.lab.large.batch import LargeBatch, in_order
from lossprism.explorer.lab.large.large_batch_session import checked
from lossprism.explorer.lab.large.loss_matrix_methods import split
from lossprism.explorer.lab.large.pair_order_terms_by_row_and_column import SeparableTerms
from lossprism.losses import LOSSES

LABELS = ("continuous", "grades", "binary", "ties", "single")


def batch_of(count: int, labels: str = "grades", seed: int = 0, width: int = 0) -> LargeBatch:
    """Scores that follow the labels roughly; with a `width`, vectors that have these cosines."""
    stream = np.random.RandomState(seed)
    drawn = {
        "continuous": lambda: stream.random_sample(count),
        "grades": lambda: stream.randint(0, 6, count) / 1.0,
        "binary": lambda: stream.randint(0, 2, count) / 1.0,
        "ties": lambda: np.round(stream.random_sample(count) * count / 3),
        "single": lambda: np.full(count, 3.0),
    }[labels]()
    spread = np.ptp(drawn) or 1.0
    scores = 0.5 * (drawn - drawn.min()) / spread + 0.6 * stream.random_sample(count) - 0.3
    names = tuple(f"sentence {k}" for k in range(count)), tuple(f"other {k}" for k in range(count))
    vectors = None
    if width:
        vectors = stream.standard_normal((count, width)), stream.standard_normal((count, width))
    return in_order(drawn, scores, *names, vectors)


def split_of(batch: LargeBatch, loss: str, **parameters: object) -> SeparableTerms:
    """The terms of a loss that split, in their parts."""
    return split(LOSSES[loss].form, batch, checked(loss, parameters))


def summed(cells: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The logsumexp of each block of these cells, by adding them up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.maximum.reduceat(np.maximum.reduceat(cells, rows, 0), columns, 1)
        shift = np.where(np.isneginf(largest), 0, largest)
        down = np.diff(np.append(rows, len(cells)))
        across = np.diff(np.append(columns, cells.shape[1]))
        spread = np.repeat(np.repeat(shift, down, 0), across, 1)
        sums = np.add.reduceat(np.add.reduceat(np.exp(cells - spread), rows, 0), columns, 1)
        return np.log(sums) + shift


def rising(count: int) -> LargeBatch:
    """Labels that rise in small steps, scores that rise and fall again."""
    values = np.arange(count) / count
    return in_order(np.round(values, 2), values % 0.3, ("",) * count, ("",) * count)
