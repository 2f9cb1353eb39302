"""Figures read off a trace: order, ranks, heaviest terms, suspicious labels."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.label_disagreement import contradictions
from lossprism.explorer.core.rank_correlation import TIE_LIMIT, spearman
from lossprism.explorer.core.trace import Trace
from lossprism.losses.duplicate_text_masks import same_text
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels.stable_functions import effective_count

# The fewest terms that together carry this share of all weight are the active ones.
ACTIVE_SHARE = 0.9
MAX_HEAVY_TERMS = 20


@dataclass(frozen=True)
class Order:
    """Agreement of scores with labels: counts over all pairs of pairs."""

    ordered: int
    violated: int
    spearman: float | None


@dataclass(frozen=True)
class Places:
    """Ranks of the right candidate among all that an anchor is compared with.

    `kind` is the target: the anchor's own "key", another sentence of its "class", its "prototype".
    `first` of the `anchors` have it nearer than every wrong one; `reciprocal` is the mean of
    1/rank.
    """

    kind: str
    anchors: int
    first: int
    reciprocal: float


@dataclass(frozen=True)
class Weights:
    """Distribution of ∂loss/∂terms over the terms. `shares` has their shape and sums to 1.

    The `active` heaviest terms together have a share of at least ACTIVE_SHARE, namely `carried`.
    """

    shares: Tensor
    terms: int
    active: int
    carried: float
    effective: float


@dataclass(frozen=True)
class Term:
    """A heavy term: its cell, its share of the weight, and the share up to and with it."""

    cell: tuple[int, ...]
    value: float
    share: float
    so_far: float


@dataclass(frozen=True)
class Suspect:
    """A pair whose label contradicts its score: how often, and the label that would fit."""

    pair: int
    rate: float
    fitting: float


def order_of(batch: Batch) -> tuple[Order, list[Suspect]]:
    """Return how well scores follow labels, and the suspects, worst first: pairs out of order with
    far more others than is usual."""
    contradicted = contradictions(batch.plain_labels, batch.plain_scores)
    suspects = [
        Suspect(pair, float(contradicted.rates[pair]), float(contradicted.fitting[pair]))
        for pair in contradicted.suspects.tolist()
    ]
    correlation = spearman(batch.plain_labels, batch.plain_scores)
    return Order(contradicted.ordered, contradicted.violated, correlation), suspects


def places_of(inputs: dict[str, Tensor | None], logits: Tensor | None = None) -> Places | None:
    """Rank the right key, class or prototype for a loss that looks for one; else return None.

    `inputs` are the loss's inputs by their names in `losses.inputs_that_losses_may_read.READABLE`.
    Nearness is the cosine; for prototypes it is `logits`, which the loss itself compares.
    """
    classes = inputs.get("classes", inputs.get("paired_classes"))
    queries, keys, negatives = inputs.get("queries"), inputs.get("keys"), inputs.get("negatives")
    embeddings, prototypes = inputs.get("embeddings"), inputs.get("prototypes")
    if queries is not None and keys is not None:
        keys = keys if negatives is None else torch.cat((keys, negatives))
        near = cosine_matrix(queries, keys)
        right = torch.eye(*near.shape, dtype=torch.bool, device=near.device)
        texts = [inputs.get(f"{side}_texts") for side in ("query", "key", "negative")]
        of_queries, of_keys, of_others = texts
        if of_queries is not None and of_keys is not None:
            every = of_keys if of_others is None else torch.cat((of_keys, of_others))
            left_out = same_text(of_queries, of_keys, every) & ~right
            near = near.masked_fill(left_out, -torch.inf)
        return _places("key", near, right)
    if classes is None or embeddings is None:
        return None
    if prototypes is not None:
        near = cosine_matrix(embeddings, prototypes) if logits is None else logits
        numbers = torch.arange(near.shape[1], device=near.device)
        return _places("prototype", near, classes[:, None] == numbers)
    near = cosine_matrix(embeddings, embeddings)
    itself = torch.eye(len(near), dtype=torch.bool, device=near.device)
    right = (classes[:, None] == classes) & ~itself
    return _places("class", near.masked_fill(itself, -torch.inf), right)


def _places(kind: str, near: Tensor, right: Tensor) -> Places:
    """Rank the right candidate; a tie counts against it, so that collapse is no success."""
    place = right.any(dim=1)
    best = near.masked_fill(~right, -torch.inf).amax(dim=1)
    least = best - TIE_LIMIT * best.abs().clamp_min(1)  # logits are larger than cosines
    rank = 1 + ((near >= least[:, None]) & ~right).sum(dim=1)[place]
    mean = float((1 / rank.double()).mean()) if len(rank) else math.nan
    return Places(kind, int(place.sum()), int((rank == 1).sum()), mean)


def weights_of(trace: Trace, terms: str) -> Weights | None:
    """Return the weight of each term: the absolute gradient at the step called `terms`."""
    step = trace.last(terms)
    if step is None or step.gradient is None:
        return None
    mask = trace.mask_of(step)  # masked terms are absent, not terms of weight 0
    present = step.gradient.numel() if mask is None else int(mask.sum())
    return weights_in(step.gradient, present)


def weights_in(gradient: Tensor, present: int) -> Weights:
    """Return the weights of a gradient at the terms, of which `present` exist."""
    sizes = gradient.abs()
    total = sizes.sum()
    if not 0 < float(total) < math.inf:
        return Weights(torch.zeros_like(sizes), present, 0, 0.0, 0.0)
    shares = sizes / total
    heavy = shares[shares > 0]
    # All terms below this together cannot reach what is left out, so none of them is active.
    candidates = heavy[heavy >= (1 - ACTIVE_SHARE) / shares.numel()]
    ranked = np.sort(candidates.cpu().numpy())[::-1].cumsum()  # NumPy sorts many times as fast
    # A sum that reaches the share exactly may have been rounded to just below it.
    rounding = shares.numel() * torch.finfo(shares.dtype).eps
    active = min(int((ranked < ACTIVE_SHARE - rounding).sum()) + 1, len(ranked))
    return Weights(shares, present, active, float(ranked[active - 1]), effective_count(heavy))


def heaviest(trace: Trace, terms: str, weights: Weights) -> list[Term]:
    """Return the terms with the largest weight, heaviest first; ties by larger value."""
    values, shares = trace.named(terms).value, weights.shares.flatten()
    count = min(MAX_HEAVY_TERMS, shares.numel())
    least = shares.topk(count).values[-1:].sum()  # 0 where there are no terms
    tied = values.flatten().masked_fill(shares < least, -torch.inf)
    chosen = tied.masked_fill(shares > least, torch.inf).topk(count).indices
    chosen = chosen[values.flatten()[chosen].argsort(descending=True, stable=True)]
    chosen = chosen[shares[chosen].argsort(descending=True, stable=True)]
    values_chosen = values.flatten()[chosen].tolist()
    carried = shares[chosen]
    return [
        Term(tuple(map(int, np.unravel_index(place, values.shape))), value, share, total)
        for place, value, share, total in zip(
            chosen.tolist(),
            values_chosen,
            carried.tolist(),
            carried.cumsum(0).tolist(),
            strict=True,
        )
        if share > 0
    ]
