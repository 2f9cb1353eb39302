"""Forms of losses: the structure of their terms, which holds on every batch.

A `LossSpec` declares one with `form`; an algorithm for that form (as on the Large batch page, for
batches too large to store) then works for the loss. A form defines the terms, never how they are
summed. Its entries are called with the parameters of the loss by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor


def never(**_: object) -> bool:
    return False


@dataclass(frozen=True)
class Separable:
    """log(1 + Σ w_ji e^(u_j + v_i)) over y_j < y_i, with w = y_i − y_j if `by_gap`, else 1.

    `parts(scores, **parameters)` gives u and v [N] of scores [N], pair by pair, for autograd to
    differentiate: what carries no gradient in the loss carries none there. `scores` is what the
    loss compares: "cosines", or "angles", the scores of AnglE (`ranking.angle.angle_scores`).
    """

    parts: Callable[..., tuple[Tensor, Tensor]]
    by_gap: bool = False
    scores: Literal["cosines", "angles"] = "cosines"


@dataclass(frozen=True)
class LogisticSum:
    """Σ log(1 + e^(λ(s_j − s_i))) over y_j < y_i, or if `mean` the mean of these; λ = `scale`."""

    scale: Callable[..., float]
    mean: Callable[..., bool] = never


@dataclass(frozen=True)
class HingeSum:
    """Σ (y_i − y_j) [s_j − s_i + m]₊ / (Σ (y_i − y_j) + ε) over y_j < y_i.

    m = `margin`, ε = `eps`.
    """

    margin: Callable[..., float]
    eps: Callable[..., float]


@dataclass(frozen=True)
class AgainstOthers:
    """mean_i log(1 + Σ_j e^(λ(cos_ij − cos_ii))) over the other columns j, λ = `scale`.

    Rows are queries and columns their keys, then the other pairs' keys; if `symmetric`, averaged
    with the same from keys to queries. With `views`, rows and columns are both sentences of every
    positive pair, each against all but itself and its partner. `follows` are the parameters that it
    supports, others must be at their defaults; empty: it supports all.
    """

    scale: Callable[..., float]
    symmetric: Callable[..., bool] = never
    views: bool = False
    follows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decisions:
    """1/N Σ_ij log(1 + e^±(λ cos_ij + b)), − where key j is query i's own and + elsewhere.

    λ = `scale`, b = `bias`.
    """

    scale: Callable[..., float]
    bias: Callable[..., float]


@dataclass(frozen=True)
class Largest:
    """max(0, max t_ji) over the terms: the largest term has all the weight on any batch."""


Form = Separable | LogisticSum | HingeSum | AgainstOthers | Decisions | Largest
