"""Ranks of values, ties among them, and Spearman's correlation."""

import numpy as np

# Cosines that differ by no more are equal, and other similarities by this share of the largest:
# those of one text differ by what its vector was rounded to, and by the order in which its products
# were added up.
TIE_LIMIT = 1e-6


def with_ties_merged(scores: np.ndarray) -> np.ndarray:
    """Return the scores with values merged that differ only by rounding."""
    step = TIE_LIMIT * float(np.abs(scores).max(initial=0.0))
    return np.round(scores / step) * step if step > 0 else scores


def spearman(labels: np.ndarray, scores: np.ndarray) -> float | None:
    """Return the rank correlation; None if there is nothing to rank."""
    scores = with_ties_merged(scores)
    if len(scores) < 2 or scores.min() == scores.max() or labels.min() == labels.max():
        return None
    return rank_correlation(scores, labels)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return Spearman's ρ of two rows of values [N], neither of them constant."""
    return float(np.corrcoef(mid_ranks(one), mid_ranks(other))[0, 1])


def mid_ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value [N], from 1; ties share their mean rank. All NaN if a value is.

    Equals `scipy.stats.rankdata`, whose module takes longer to load than most inputs to rank.
    """
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    ordered = np.sort(values)
    below, upto = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return (below + upto + 1) / 2
