"""The least values of list losses whose scores lie between ends, as cosines do."""

import functools
import math

import torch
from torch import Tensor

from lossprism.losses.kernels import mean_of
from lossprism.losses.labels import Ends
from lossprism.losses.minimum import CACHED_MINIMA, Bound, least_in_box

HALVINGS = 80
MAX_CANDIDATES = 512  # more take too long for a moving slider


def width_of(within: Ends, temperature: float) -> float:
    """Return the largest difference of two scores, over the temperature."""
    return (within[1] - within[0]) / temperature


def least_cross_entropies(shares: Tensor, present: Tensor, width: float) -> Tensor:
    """Return min −Σ_j P_j log softmax(z)_j of each list, z between 0 and `width`: [L].

    The best z_j is log P_j + c, or an end of the interval if that lies outside; c is where it is
    log Σ exp(z), found by bisection. Unbounded, it is the entropy of the shares P, [L, K].
    """
    if math.isinf(width):
        return torch.special.entr(shares).sum(dim=1)
    heights, absent = shares.log(), ~present

    def logits_at(c: Tensor) -> Tensor:
        return (heights + c).clamp(0, width).masked_fill(absent, -torch.inf)

    low = present.sum(dim=1, keepdim=True).clamp_min(1).to(shares.dtype).log()
    high = low + width
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rises = logits_at(middle).logsumexp(dim=1, keepdim=True) > middle
        low, high = torch.where(rises, middle, low), torch.where(rises, high, middle)
    log_shares = logits_at((low + high) / 2).log_softmax(dim=1).masked_fill(absent, 0)
    return -(shares * log_shares).sum(dim=1)


def least_list_mle(present: Tensor, weighted: bool, width: float) -> float:
    """Return the least mean over lists of ListMLE, or p-ListMLE: it depends on their lengths
    alone."""
    counts = present.sum(dim=1)
    each = [_least_of_list(count, weighted, width) for count in counts.tolist()]
    mean = float(mean_of(torch.tensor(each, dtype=torch.float64), counts.cpu() > 0))
    return Bound(mean) if int(counts.max()) > MAX_CANDIDATES else mean


@functools.lru_cache(maxsize=CACHED_MINIMA)
def _least_of_list(count: int, weighted: bool, width: float) -> float:
    """Return min Σ_k w_k (log Σ_{j ≤ k} exp(z_j) − z_k), z_0 = 0, from the last choice to the
    first."""
    if count < 2 or count > MAX_CANDIDATES or math.isinf(width):
        return 0.0
    weights = torch.ones(count, dtype=torch.float64)
    if weighted:  # 2^(n − π) − 1, over the largest power
        places = torch.arange(count - 1, -1, -1, dtype=torch.float64)
        weights = torch.exp2(-places) - 2.0 ** (1 - count)
        weights = weights / weights.sum()
    later = torch.ones(count, count, dtype=torch.bool).tril()

    def value_at(points: Tensor) -> float:
        return float(weights.dot(points.logcumsumexp(0) - points))

    def derivatives_at(points: Tensor) -> tuple[Tensor, Tensor]:
        shares = points.expand(count, -1).masked_fill(~later, -torch.inf).softmax(dim=1)
        pulled = shares.T @ weights
        curvature = torch.diag(pulled) - shares.T @ (weights[:, None] * shares)
        return pulled - weights, curvature

    return least_in_box(value_at, derivatives_at, count, 0.0, width)


def least_soft_ranks(counts: Tensor, places: Tensor, width: float) -> Tensor:
    """Return the soft ranks of candidates at places 1 … n if every two neighbours were `width`
    apart.

    Lists are [L, 1] `counts` and [1, K] `places`. No scores give the first m candidates a smaller
    sum of ranks, for any m.
    """
    closest = torch.tensor(-width, dtype=torch.float64).sigmoid()
    return places + closest * (counts - 2 * places + 1)
