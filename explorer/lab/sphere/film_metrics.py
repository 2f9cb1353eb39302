"""Curves of a film: what is measured of the points in each of its frames."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.rank_correlation import rank_correlation

TEMPERATURE = 2.0  # t of uniformity, as in Wang & Isola 2020
LEAST_SPREAD = 1e-9  # of the cosines of the pairs, below which their order is rounding


@dataclass(frozen=True, eq=False)
class Measures:
    """A number for each frame [T], NaN where there is none.

    `alignment` is the mean squared distance of positive pairs, `uniformity` the logarithm of the
    mean of exp(−2 distance²) over all pairs of points, `effective_rank` the exponential of the
    entropy of the singular values, `spearman` the rank correlation of the pairs' cosines with their
    labels.
    """

    alignment: Tensor
    uniformity: Tensor
    effective_rank: Tensor
    spearman: Tensor


def measures(frames: Tensor, batch: Batch) -> Measures:
    """Measure frames of points [T, S, D] of length 1, which are the sentences of a batch."""
    scores = (frames[:, batch.first] * frames[:, batch.second]).sum(dim=2)
    return Measures(
        alignment=(2 - 2 * scores[:, batch.positive]).mean(dim=1),
        uniformity=_uniformity(frames),
        effective_rank=_effective_rank(frames),
        spearman=_spearman(scores, batch),
    )


def _uniformity(frames: Tensor) -> Tensor:
    count = frames.shape[1]
    similarities = frames @ frames.transpose(1, 2)
    terms = -TEMPERATURE * (2 - 2 * similarities)
    terms.diagonal(dim1=1, dim2=2).fill_(-math.inf)
    return terms.flatten(1).logsumexp(dim=1) - math.log(count * (count - 1))


def _effective_rank(frames: Tensor) -> Tensor:
    values = torch.linalg.svdvals(frames)
    shares = values / values.sum(dim=1, keepdim=True)
    return (-torch.special.xlogy(shares, shares).sum(dim=1)).exp()


def _spearman(scores: Tensor, batch: Batch) -> Tensor:
    labels = batch.plain_labels
    correlations = np.full(len(scores), math.nan)
    if labels.min() < labels.max():
        for place, row in enumerate(scores.cpu().numpy()):
            if np.ptp(row) > LEAST_SPREAD:
                correlations[place] = rank_correlation(row, labels)
    return torch.from_numpy(correlations)
