"""Biases added to logits: rules for the similarities [N, K] of rows and candidates.

Each returns a matrix [N, K], or one that expands to it, without gradient.
"""

import torch
from torch import Tensor

from lossprism.losses import masks

# In `negative_owners`: a given negative that is hard to every query.
EVERYBODY = -2


def hardness_of_all(similarities: Tensor, hardness: float) -> Tensor:
    """Return α times its similarity for every candidate (LLaVE)."""
    return hardness * similarities.detach()


def hardness_of_given(
    similarities: Tensor, hardness: float, negative_owners: Tensor | None = None
) -> Tensor:
    """Return α times its similarity for hard negatives: the row's own, or all given ones if owners
    are unknown."""
    return hardness * similarities.detach() * hard(similarities, negative_owners)


def hardness_in_batch(
    similarities: Tensor, hardness: float, negative_owners: Tensor | None = None
) -> Tensor:
    """Return α times its similarity for all candidates but hard negatives."""
    return hardness * similarities.detach() * ~hard(similarities, negative_owners)


def own_weight(
    similarities: Tensor, log_weight: float, negative_owners: Tensor | None = None
) -> Tensor:
    """Return log w for the row's own hard negatives, 0 for all if owners are unknown."""
    if negative_owners is None:
        return torch.zeros_like(similarities)
    return log_weight * masks.own_negatives(similarities, negative_owners).to(similarities)


def hard(cells: Tensor, negative_owners: Tensor | None) -> Tensor:
    """Return the cells [N, K] that are hard negatives of their row."""
    if negative_owners is None:
        return masks.given_only(cells)
    of_all = (negative_owners == EVERYBODY).expand(len(cells), -1)
    further = cells.shape[1] - of_all.shape[1]
    return masks.own_negatives(cells, negative_owners) | torch.nn.functional.pad(
        of_all, (further, 0)
    )
