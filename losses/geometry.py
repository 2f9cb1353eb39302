"""Cosines and distances that stay finite, with finite gradients, at their edges."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.linalg import vector_norm

from lossprism.losses.input_checks import may_ask, would_be_lowered
from lossprism.losses.torch_internals import cdist_backward, differentiated_again, in_torch_func

DISTANCES = ("euclidean", "squared_euclidean", "cosine")
# Of `torch.cdist`: the Gram matrix would lose near duplicates to cancellation.
BY_DIFFERENCES = "donot_use_mm_for_euclid_dist"

# Below this length a vector has no direction (S1 eq. 44).
MIN_LENGTH = 1e-8
# What half precision leaves of a length of 1.
UNIT_TOLERANCE = 1e-2


def length(vectors: Tensor) -> Tensor:
    """Return |v| of each row [..., D]: [...].

    Finite even if only the squares overflow, if numbers may be read (`input_checks.may_ask`).
    """
    lengths = vector_norm(vectors, dim=-1)
    return lengths if _all_fit(lengths) else _length_of_any(vectors).squeeze(-1)


class Divisors(NamedTuple):
    """Divisors that turn rows [..., D] into directions: `lengths` [..., 1], none below MIN_LENGTH.

    `short` marks rows shorter than their divisor, None if known that there are none; `largest` is
    the largest length, None if it may not be read.
    """

    lengths: Tensor
    short: Tensor | None
    largest: float | None


def divisors(vectors: Tensor, dtype: torch.dtype | None = None) -> Divisors:
    """Return the lengths of rows [..., D], summed in `dtype`, with facts about them that are read
    once, if that does not block, instead of a step for each."""
    lengths = vector_norm(vectors, dim=-1, keepdim=True, dtype=dtype)
    if not may_ask(lengths) or lengths.numel() == 0:
        return Divisors(lengths.clamp_min(MIN_LENGTH), lengths < MIN_LENGTH, None)
    least, largest = lengths.aminmax()
    if largest.item() == math.inf:
        lengths = _length_of_any(vectors if dtype is None else vectors.to(dtype))
        least, largest = lengths.aminmax()
    if least.item() >= MIN_LENGTH:
        return Divisors(lengths, None, largest.item())
    return Divisors(lengths.clamp_min(MIN_LENGTH), lengths < MIN_LENGTH, largest.item())


def _length_of_any(vectors: Tensor) -> Tensor:
    """Return |v| of each row [..., D], [..., 1], even if only the squares overflow: the largest
    entry is factored out."""
    sizes = _sizes(vectors, -1)
    return (vectors / sizes).norm(dim=-1, keepdim=True) * sizes


def _all_fit(lengths: Tensor) -> bool:
    """Return whether no length is infinite, True if it may not be read."""
    return not may_ask(lengths) or lengths.numel() == 0 or lengths.max().item() != math.inf


def _sizes(vectors: Tensor, *along: int) -> Tensor:
    """Return the largest entry along these dimensions, kept with size 1; 1 if it is 0 or
    infinite."""
    largest = vectors.detach().abs().amax(dim=along, keepdim=True)
    return largest.masked_fill((largest == 0) | largest.isinf(), 1)


def unit(vectors: Tensor) -> Tensor:
    """Divide each row [..., D] by its length. A zero row stays zero, with a finite gradient."""
    return vectors / _length_of_any(vectors).clamp_min(MIN_LENGTH)


def are_unit(vectors: Tensor) -> bool:
    """Return whether every row [N, D] has length 1, as from an encoder that normalises."""
    return bool((vectors.detach().double().norm(dim=-1) - 1).abs().le(UNIT_TOLERANCE).all())


def with_even_width(vectors: Tensor) -> Tensor:
    """Append a zero column if the width is odd, since AnglE halves it; cosines stay the same."""
    return torch.nn.functional.pad(vectors, (0, 1)) if vectors.shape[1] % 2 else vectors


def centred(vectors: Tensor) -> Tensor:
    """Subtract the mean from each column of [N, D]; exactly 0 if all rows are equal."""
    shifted = vectors - vectors[:1]
    return shifted - shifted.mean(dim=0)


def unit_and_pull(vectors: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Return `unit` of [N, D], and the function from a gradient by it to one by the vectors."""
    lengths, short, _ = divisors(vectors)
    units = vectors / lengths

    def pull(gradient: Tensor) -> Tensor:
        along = (units * gradient).sum(dim=-1, keepdim=True)
        if short is not None:  # such a vector was divided by a constant
            along.masked_fill_(short, 0)
        return torch.addcmul(gradient, units, along, value=-1).div_(lengths)

    return units, pull


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """Return cos(uᵢ, vᵢ) of the rows of two [N, D]: [N]."""
    return (unit(first) * unit(second)).sum(dim=-1)


def dot(first: Tensor, second: Tensor) -> Tensor:
    """Return uᵢ·vᵢ of the rows of two [N, D]: [N]."""
    return (first * second).sum(dim=-1)


def cosine_matrix(rows: Tensor, columns: Tensor) -> Tensor:
    """Return cos(uᵢ, vⱼ) of every row [N, D] with every column [K, D]: [N, K]."""
    return dot_matrix(unit(rows), unit(columns))


def dot_matrix(rows: Tensor, columns: Tensor) -> Tensor:
    """Return uᵢ·vⱼ of every row [N, D] with every column [K, D], in their own precision: [N,
    K]."""
    if not would_be_lowered(rows):
        return rows @ columns.T
    with torch.autocast(rows.device.type, enabled=False):
        return rows @ columns.T


def distance(first: Tensor, second: Tensor, kind: str = "euclidean") -> Tensor:
    """Return d(uᵢ, vᵢ) of the rows of two [N, D]: [N]. The gradient of a zero distance is 0."""
    if kind == "cosine":
        return 1 - cosine(first, second)
    if kind == "squared_euclidean":
        return (first - second).square().sum(dim=-1)
    _must_be_known(kind)
    return _length_of_any(first - second).squeeze(-1)


def distance_and_pull(
    first: Tensor, second: Tensor, kind: str
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    """Return `distance` of [..., N, D], and the function, to call once, from ∂L/∂d to ∂L/∂first and
    ∂L/∂second."""
    if kind == "cosine":
        cosines, to_vectors = cosine_and_pull(first, second)
        return 1 - cosines, lambda slopes: to_vectors(slopes.neg())
    lengths, to_difference = _length_and_pull(first - second, kind)

    def pull(slopes: Tensor) -> tuple[Tensor, Tensor]:
        by_first = to_difference(slopes)
        return by_first, by_first.neg()

    return lengths, pull


def excess_and_pull(
    anchors: Tensor, near: Tensor, far: Tensor, kind: str, *, of_any_size: bool = True
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]]:
    """Return d(a, near) − d(a, far) of the rows of three [N, D], and the function, to call once,
    from a gradient by it to one by each of the three. Unless `of_any_size`, it may not be finite if
    only the squares of a Euclidean distance overflow."""
    if kind == "cosine":
        to_near, to_nearer = cosine_and_pull(anchors, near)
        to_far, to_farther = cosine_and_pull(anchors, far)

        def pull(slopes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            pushed, by_far = to_farther(slopes)
            pulled, by_near = to_nearer(slopes.neg())
            return pulled.add_(pushed), by_near, by_far

        return to_far - to_near, pull
    to_near, to_nearer = _length_and_pull(anchors - near, kind, of_any_size)
    to_far, to_farther = _length_and_pull(anchors - far, kind, of_any_size)

    def pull(slopes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        nearer, farther = to_nearer(slopes), to_farther(slopes)
        return nearer - farther, nearer.neg_(), farther

    return to_near - to_far, pull


def _length_and_pull(
    differences: Tensor, kind: str, of_any_size: bool = True
) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    if kind == "squared_euclidean":
        squares = differences.square().sum(dim=-1)
        return squares, lambda slopes: differences.mul_(slopes.mul(2).unsqueeze_(-1))
    lengths = length(differences) if of_any_size else vector_norm(differences, dim=-1)

    def pull(slopes: Tensor) -> Tensor:
        shares = (slopes / lengths).masked_fill_(lengths == 0, 0)
        return differences.mul_(shares.unsqueeze_(-1))

    return lengths, pull


def cosine_and_pull(
    first: Tensor, second: Tensor, turn: Callable[[Tensor, bool], Tensor] | None = None
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    """Return `cosine` of [..., N, D], and the function from ∂L/∂cos to ∂L/∂first and ∂L/∂second.

    With `turn`, uᵢ·T(vᵢ) / |uᵢ||vᵢ|, where `turn(v, False)` is T and `turn(u, True)` is Tᵀ.
    """
    lengths = torch.stack((vector_norm(first, dim=-1), vector_norm(second, dim=-1)))
    divisors = lengths.clamp_min(MIN_LENGTH)
    product = divisors.prod(dim=0)
    if not _all_fit(product) and not (first.isinf().any() or second.isinf().any()):
        return _cosine_of_large_and_pull(first, second, turn)
    turned = turn(second, False) if turn else second
    cosines = (first * turned).sum(dim=-1) / product

    def pull(slopes: Tensor) -> tuple[Tensor, Tensor]:
        # A vector too short for a direction was divided by a constant.
        along = (slopes * cosines / divisors.square()).masked_fill_(lengths < MIN_LENGTH, 0)
        across = (slopes / product)[..., None]
        by_first, by_second = along.neg_()[..., None]
        returned = turn(first, True) if turn else first
        return (
            (turned * across).addcmul_(first, by_first),
            (returned * across).addcmul_(second, by_second),
        )

    return cosines, pull


def _cosine_of_large_and_pull(
    first: Tensor, second: Tensor, turn: Callable[[Tensor, bool], Tensor] | None
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    sizes = _sizes(first, -1), _sizes(second, -1)
    cosines, to_scaled = cosine_and_pull(first / sizes[0], second / sizes[1], turn)

    def pull(slopes: Tensor) -> tuple[Tensor, Tensor]:
        by_first, by_second = to_scaled(slopes)
        return by_first.div_(sizes[0]), by_second.div_(sizes[1])

    return cosines, pull


def distance_matrix(rows: Tensor, columns: Tensor, kind: str = "euclidean") -> Tensor:
    """Return d(uᵢ, vⱼ) of every row [N, D] with every column [K, D]: [N, K]."""
    if kind == "cosine":
        return 1 - cosine_matrix(rows, columns)
    _must_be_known(kind)
    squared = kind == "squared_euclidean"
    lengths = _euclidean_matrix(rows, columns, squared)
    if not _all_fit(lengths):
        size = torch.maximum(*(_sizes(side, -1, -2) for side in (rows, columns)))
        scaled = rows / size
        other = scaled if rows is columns else columns / size
        return _euclidean_matrix(scaled, other, squared) * (size.square() if squared else size)
    return lengths


def _euclidean_matrix(rows: Tensor, columns: Tensor, squared: bool) -> Tensor:
    recorded = rows.requires_grad or columns.requires_grad
    if in_torch_func() and not differentiated_again():
        return _squared_if(squared, torch.cdist(rows, columns, compute_mode=BY_DIFFERENCES))
    if in_torch_func() or (recorded and rows is not columns):
        return _from_differences(rows[:, None] - columns, squared)
    if recorded:
        return _DistancesAmong.apply(rows, squared)
    return _euclidean_numbers(rows, columns, squared)


def _from_differences(differences: Tensor, squared: bool) -> Tensor:
    """Return |d|, or |d|², of [..., D]. Both derivatives of a length are 0 at 0."""
    squares = differences.square().sum(dim=-1)
    if squared:
        return squares
    zero = squares == 0
    return squares.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


def _euclidean_numbers(rows: Tensor, columns: Tensor, squared: bool) -> Tensor:
    if rows is columns and _may_be_halved(rows):
        lengths = _among(rows)
    else:
        lengths = torch.cdist(rows, columns, compute_mode=BY_DIFFERENCES)
    return _squared_if(squared, lengths)


def _squared_if(squared: bool, lengths: Tensor) -> Tensor:
    return lengths.square() if squared else lengths


class _DistancesAmong(torch.autograd.Function):
    """Distances of rows [N, D] among each other, with a differentiable gradient.

    Those of `torch.cdist` and `torch.pdist` have none; torch's is used where one derivative is
    enough.
    """

    @staticmethod
    def forward(ctx, rows, squared):
        ctx.squared = squared
        distances = _euclidean_numbers(rows, rows, squared)
        ctx.save_for_backward(rows, distances)
        return distances

    @staticmethod
    def backward(ctx, slopes):  # pyright: ignore[reportIncompatibleMethodOverride]
        rows, distances = ctx.saved_tensors
        slopes = slopes + slopes.T
        if torch.is_grad_enabled():
            lengths = distances.masked_fill(distances == 0, torch.inf)
            weights = 2 * slopes if ctx.squared else slopes / lengths
            rows = rows - rows.detach().mean(dim=0)  # far from 0 products lose digits
            return weights.sum(dim=1, keepdim=True) * rows - dot_matrix(weights, rows.T), None
        lengths = distances.sqrt() if ctx.squared else distances
        return cdist_backward(2 * slopes * lengths if ctx.squared else slopes, rows, lengths), None


def _may_be_halved(rows: Tensor) -> bool:
    """Return whether `torch.pdist` can replace `torch.cdist`: autocast does not raise its
    inputs."""
    plain = rows.ndim == 2 and min(rows.shape) > 0 and len(rows) > 1 and rows.device.type == "cpu"
    return plain and not would_be_lowered(rows)


def _among(rows: Tensor) -> Tensor:
    """Return the Euclidean distances of rows [N, D] among each other, each computed once."""
    count = len(rows)
    above = torch.ones(count, count, dtype=torch.bool).triu(diagonal=1)
    lengths = torch.pdist(rows)
    half = lengths.new_zeros(count, count).masked_scatter(above, lengths)
    return half + half.T


def sine(cosines: Tensor) -> Tensor:
    """Return sin θ ≥ 0 from cos θ. At cos θ = ±1, where its slope is infinite, it is 0 with
    gradient 0."""
    squares = (1 - cosines) * (1 + cosines)
    flat = squares < 8 * torch.finfo(cosines.dtype).eps  # no more than the rounding of a cosine
    return squares.masked_fill(flat, 1).sqrt().masked_fill(flat, 0)


def _must_be_known(kind: str) -> None:
    if kind not in DISTANCES:
        raise ValueError(f"distance is {kind!r}; it must be one of {', '.join(DISTANCES)}")
