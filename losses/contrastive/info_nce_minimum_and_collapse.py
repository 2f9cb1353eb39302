"""Reference values of InfoNCE with its directions, masks and weights."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from lossprism.losses.contrastive.in_batch_symbols_and_counts import in_all, mean_log1p
from lossprism.losses.contrastive.info_nce_directions_and_negatives import (
    BOTH_WAYS,
    Ways,
    copies_of,
    ways_of,
)
from lossprism.losses.duplicate_text_masks import same_text_count
from lossprism.losses.minimum import least_in_batch, simplex_gap, softplus_at


def ways_taken(directions: Ways, symmetric: bool) -> tuple[str, ...]:
    return BOTH_WAYS if symmetric else ways_of(directions)


def keys_beside(tensors: dict[str, Tensor]) -> int:
    negatives = tensors.get("negatives")
    return 0 if negatives is None else len(negatives)


def _candidates(tensors: dict[str, Tensor], way: str) -> tuple[Tensor, Tensor]:
    """Count the others of the batch, and the further negatives, of each row: [N] each, on the
    processor."""
    count, beside = len(tensors["keys"]), keys_beside(tensors) if way.endswith("key") else 0
    in_batch = torch.full((count,), count - 1.0, dtype=torch.float64)
    further = torch.full((count,), float(beside), dtype=torch.float64)
    of_queries, of_keys = tensors.get("query_texts"), tensors.get("key_texts")
    if of_queries is None or of_keys is None:
        return in_batch, further
    sides = (of_queries, of_keys) if way.startswith("query") else (of_keys, of_queries)
    seen = of_queries if way.endswith("query") else of_keys
    in_batch -= same_text_count(*sides, seen).cpu() - 1
    of_others = tensors.get("negative_texts")
    if beside and of_others is not None:
        further -= same_text_count(*sides, of_others).cpu()
    return in_batch, further


# Directions in which a query's own hard negatives do not count.
OTHERS = {"key_to_key"}


def _of_each(owners: Tensor, count: int) -> Tensor:
    """Count the hard negatives of each query: [N], on the processor."""
    return owners[owners >= 0].bincount(minlength=count).double().cpu()


def _without_owner(owners: Tensor | None) -> float:
    """Count the negatives without an owner."""
    return 0.0 if owners is None else float((owners < 0).sum())


def info_nce_collapse(
    tensors: dict[str, Tensor],
    *,
    symmetric: bool = False,
    similarity: str = "cosine",
    directions: Ways = "query_to_key",
    partition: str = "joint",
    in_batch: bool = True,
    mask_above: float | None = None,
    hardness: float = 0.0,
    hardness_on: str = "in_batch",
    log_weight: float = 0.0,
    negatives_seen: str = "by_all",
    **_: object,
) -> float | None:
    """Return the value at collapse: all logits are equal, except for α of hardness, at cosines of
    1, and for the weight of a query's own hard negatives."""
    if hardness and similarity == "dot":
        return None  # as long as the vectors happen to be
    ways, owners = ways_taken(directions, symmetric), tensors.get("negative_owners")
    its_own = 0.0 if owners is None else _of_each(owners, len(tensors["keys"]))
    by_own = owners is not None and negatives_seen == "by_own"
    weighed = bool(hardness or log_weight or by_own or OTHERS & set(ways))
    if owners is not None and tensors.get("query_texts") is not None and weighed:
        return None  # some of its own may be left out by their text
    totals = []
    for way in ways:
        others, further = _candidates(tensors, way)
        if not in_batch:
            others = torch.zeros_like(others)
        if way == "query_to_key":
            others = others * math.exp(hardness if hardness_on != "hard" else 0.0)
            hard = further if owners is None else its_own
            lift = math.exp(hardness if hardness_on != "in_batch" else 0.0)
            lift *= 1.0 if owners is None else math.exp(log_weight)
            rest = _without_owner(owners) if by_own else further - hard
            rest = rest * math.exp(hardness if hardness_on != "hard" else 0.0)
            further = rest + hard * lift
        elif way == "key_to_key":
            further = further * 0 + _without_owner(owners) if by_own else further - its_own
        total = others + further
        # Below 0, what is as near as the own is above it.
        totals.append(total * (mask_above is None or mask_above >= 0))
    if partition == "joint" and not symmetric:
        return float((torch.stack(totals).sum(dim=0) + copies_of(ways)).log().mean())
    return float(torch.stack(totals).log1p().mean())


def info_nce_with_copies(
    copies: Mapping[str, Tensor],
    *,
    symmetric: bool = False,
    directions: Ways = "query_to_key",
    partition: str = "joint",
    hardness: float = 0.0,
    log_weight: float = 0.0,
    **_: object,
) -> float:
    """Return the least value with duplicates in the softmax of each direction, or of all of
    them."""
    if hardness or log_weight:
        return 0.0
    ways = ways_taken(directions, symmetric)
    if partition == "joint" and not symmetric:
        return float((in_all(copies) + copies_of(ways)).log().mean())
    return sum(mean_log1p({name: of_one}) for name, of_one in copies.items()) / len(ways)


def info_nce_floor(
    tensors: dict[str, Tensor],
    *,
    temperature: float = 0.05,
    symmetric: bool = False,
    similarity: str = "cosine",
    directions: Ways = "query_to_key",
    partition: str = "joint",
    in_batch: bool = True,
    mask_above: float | None = None,
    hardness: float = 0.0,
    hardness_on: str = "in_batch",
    log_weight: float = 0.0,
    negatives_seen: str = "by_all",
    **_: object,
) -> float | None:
    """Return the minimum; without further negatives a simplex is best in every direction at
    once."""
    ways, count, beside = (
        ways_taken(directions, symmetric),
        len(tensors["keys"]),
        keys_beside(tensors),
    )
    joint = partition == "joint" and not symmetric
    copies = copies_of(ways) if joint else 1
    if similarity == "dot":
        return math.log(copies)  # of long vectors, all at right angles
    if mask_above is not None and mask_above < 2:
        return None  # a pair far apart can have all else masked
    for way in ways:
        others, further = _candidates(tensors, way)
        if float(others.min()) < count - 1 or float(further.min()) < (
            beside if way.endswith("key") else 0
        ):
            return None
    owners = tensors.get("negative_owners") if beside else None
    by_own = owners is not None and negatives_seen == "by_own"
    if not in_batch:  # all keys with their queries, all negatives opposite
        own = torch.full((count,), float(beside)) if owners is None else _of_each(owners, count)
        rest = _without_owner(owners) if by_own else beside - own
        weight = 0.0 if owners is None else log_weight
        weight -= 2 / temperature + (hardness if hardness_on != "in_batch" else 0.0)
        other = -2 / temperature - (hardness if hardness_on != "hard" else 0.0)
        logits = torch.stack([own.double().log() + weight, (own * 0 + rest).double().log() + other])
        gaps = logits.logsumexp(dim=0).tolist()
        return sum(map(softplus_at, gaps)) / count
    if by_own or (owners is not None and log_weight):
        return None
    if beside:
        plain = ways == ("query_to_key",) or (ways == BOTH_WAYS and not joint)
        both = len(ways) > 1
        return least_in_batch(count, beside, temperature, both) if plain and not hardness else None
    alpha = hardness if hardness_on != "hard" else 0.0
    if alpha * temperature > 1:
        return None  # it may pay to move a pair apart
    if count == 1:
        return math.log(copies)
    gap = math.log(count - 1) - simplex_gap(count) / temperature
    lifts = [alpha / (count - 1) if way == "query_to_key" else 0.0 for way in ways]
    exponents = torch.tensor([gap - lift for lift in lifts], dtype=torch.float64)
    if not joint:
        return sum(softplus_at(exponent) for exponent in exponents.tolist()) / len(ways)
    return math.log(copies) + softplus_at(float(exponents.logsumexp(dim=0)) - math.log(copies))
