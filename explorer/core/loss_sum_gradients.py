"""The parts of a sum of losses on one batch: the gradient of each, and conflicts between them."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lossprism.explorer.core import pair_gradients, ranks_and_term_weights
from lossprism.explorer.core.explore import Exploration, differentiable_inputs
from lossprism.explorer.core.ranks_and_term_weights import Weights
from lossprism.losses import prefix_shares
from lossprism.losses.combined.combined_loss_spec import part_inputs, part_values
from lossprism.losses.combined.first_dimensions_of_vectors import length_of
from lossprism.losses.spec import Part

# So many of the pairs on which parts pull against each other are named.
NAMED_PARTS = 5


@dataclass(frozen=True, eq=False)
class PartSeen:
    """A part: `value` L_k and its unweighted reference values, `norm` |w_k ∂L_k| and its `share`
    of the sum of all parts' norms (None if no part has a gradient).

    At the weight `equal` its norm is that of the other parts' summed gradient; None if one of the
    two is 0. `weights` are those of its terms, within the part.
    """

    part: Part
    value: float
    collapse: float | None
    floor: float | None
    norm: float
    share: float | None
    equal: float | None
    weights: Weights | None


@dataclass(frozen=True)
class Opposed:
    """A pair whose `pulls`, the gradients of each weighted part, have both signs."""

    pair: int
    pulls: tuple[float, ...]


@dataclass(frozen=True)
class Energy:
    """A prefix of `dimensions`: its share of Σ g² over all vectors, for the gradient of the whole
    loss (`share`) and of the part on the longest prefix (`alone`)."""

    dimensions: int
    share: float
    alone: float


@dataclass(frozen=True, eq=False)
class Parts:
    """All parts of a loss on a batch.

    `cosines` [K, K] are between their gradients, NaN for a zero one. `opposed` are the heaviest of
    the `opposed_count` pairs on which parts pull against each other; over all pairs, `undone` is
    the share of Σ_k |pull| that cancels. `energies` are those of prefixes, shortest first, for a
    loss on prefixes.
    """

    parts: list[PartSeen]
    cosines: Tensor
    opposed: list[Opposed]
    opposed_count: int
    undone: float
    energies: list[Energy]


def parts_of(e: Exploration) -> Parts | None:
    """Return the parts of the loss on the batch; None for a loss that is no sum."""
    if not any(part.weight for part in e.spec.parts):
        return None
    values, gradients, pulls = _differentiated(e)
    norms = gradients.norm(dim=1)
    total, whole = float(norms.sum()), gradients.sum(dim=0)
    seen = [
        _seen(e, part, value, float(norm), total, float((whole - gradient).norm()))
        for part, value, norm, gradient in zip(e.spec.parts, values, norms, gradients, strict=True)
    ]
    rise, fall = pulls.clamp_min(0).sum(dim=0), -pulls.clamp_max(0).sum(dim=0)
    lost = 2 * torch.minimum(rise, fall)
    heaviest = lost.argsort(descending=True, stable=True)[:NAMED_PARTS].tolist()
    size = float(pulls.abs().sum())
    return Parts(
        parts=seen,
        cosines=(gradients @ gradients.T / norms[:, None] / norms).clamp(-1, 1),
        opposed=[
            Opposed(pair, tuple(pulls[:, pair].tolist())) for pair in heaviest if lost[pair] > 0
        ],
        opposed_count=int((lost > 0).sum()),
        undone=float(lost.sum()) / size if size > 0 else 0.0,
        energies=_energies(e, gradients),
    )


def _differentiated(e: Exploration) -> tuple[list[float], Tensor, Tensor]:
    """Return each part's value, weighted gradient [K, ·] and pair gradients [K, N], as `explore`
    has them for the whole loss."""
    batch, spec = e.batch, e.spec
    inputs, differentiated = differentiable_inputs(batch, spec)
    values, gradients, pulls = [], [], []
    for part in spec.parts:
        value = part.spec.definition(
            **part_inputs(part, inputs, e.parameters), **part_values(part, e.parameters)
        )
        found = torch.autograd.grad(
            value, differentiated, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        weight = float(e.parameters[part.weight])  # pyright: ignore[reportArgumentType]
        by_scores, by_vectors = (*(weight * one for one in found), None)[:2]
        of_scores = by_scores if batch.given is not None or not spec.reads_vectors else None
        of_vectors = by_vectors if spec.reads_vectors else None
        total = by_scores if e.gradient_of == "scores" or by_vectors is None else by_vectors
        assert total is not None  # one of both was asked for
        values.append(float(value.detach()))
        gradients.append(total.double().flatten())
        pulls.append(pair_gradients.pair_gradient(batch, of_vectors, of_scores))
    return values, torch.stack(gradients), torch.stack(pulls)


def _seen(
    e: Exploration, part: Part, value: float, norm: float, total: float, others: float
) -> PartSeen:
    handing = part_inputs(part, e.given, e.parameters)
    inputs = {name: one for name, one in handing.items() if one is not None}
    settings = part_values(part, e.parameters)
    weight = float(e.parameters[part.weight])  # pyright: ignore[reportArgumentType]
    with torch.no_grad():
        collapse = part.spec.collapse and part.spec.collapse(inputs, **settings)
        minimum = part.spec.floor and part.spec.floor(inputs, **settings)
    step = f"{part.label}_{part.spec.terms}"
    return PartSeen(
        part=part,
        value=value,
        collapse=collapse,
        floor=minimum,
        norm=norm,
        share=norm / total if total > 0 and math.isfinite(total) else None,
        equal=weight * others / norm if norm > 0 and others > 0 else None,
        weights=ranks_and_term_weights.weights_of(e.trace, step) if part.spec.terms else None,
    )


def _energies(e: Exploration, gradients: Tensor) -> list[Energy]:
    parts = e.spec.parts
    on_prefixes = [k for k, part in enumerate(parts) if part.prefix is not None]
    if not on_prefixes or e.batch.vectors is None or e.gradient_of != "vectors":
        return []
    shape = e.batch.vectors.shape
    lengths = [length_of(parts[k].prefix or 1.0, shape[1]) for k in on_prefixes]
    longest = on_prefixes[lengths.index(max(lengths))]
    ordered = sorted(set(lengths))
    whole, alone = gradients.sum(dim=0).reshape(shape), gradients[longest].reshape(shape)
    return [
        Energy(length, share, by_itself)
        for length, share, by_itself in zip(
            ordered, prefix_shares(whole, ordered), prefix_shares(alone, ordered), strict=True
        )
    ]
