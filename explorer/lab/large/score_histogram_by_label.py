"""The histogram of a large batch's scores by label."""

from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.large.batch import LargeBatch

BINS, MAX_GROUPS = 48, 6


@dataclass(frozen=True, eq=False)
class Histogram:
    """Number of scores of each group of labels in each bin; `counts` is [groups, bins]."""

    edges: np.ndarray
    groups: tuple[tuple[float, float], ...]
    counts: np.ndarray


def histogram(batch: LargeBatch) -> Histogram:
    """Count scores by label: each level by itself, or with many levels, equally many pairs at a
    time."""
    levels = np.unique(batch.labels)
    if len(levels) > MAX_GROUPS:
        cuts = np.linspace(0, len(batch), MAX_GROUPS)[1:-1].round().astype(int)
        starts = np.unique(np.searchsorted(batch.labels, batch.labels[cuts], "left"))
        starts = np.unique(np.concatenate([[0], starts]))
    else:
        starts = np.searchsorted(batch.labels, levels, "left")
    stops = np.append(starts[1:], len(batch))
    low, high = float(batch.scores.min()), float(batch.scores.max())
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    counts = np.stack(
        [
            np.histogram(batch.scores[start:stop], edges)[0]
            for start, stop in zip(starts, stops, strict=True)
        ]
    )
    groups = tuple(
        (float(batch.labels[start]), float(batch.labels[stop - 1]))
        for start, stop in zip(starts, stops, strict=True)
    )
    return Histogram(edges, groups, counts)
