"""Matryoshka representation learning: one loss on several prefixes of the same vectors."""

import functools
import inspect
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine, unit
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.registry import LOSSES
from lossprism.losses.spec import LossSpec

REDUCTIONS = ("sum", "mean")
# What a loss takes beside what a batch of pairs has, and is cut as the rest.
FURTHER = ("negatives", "own_negatives", "queue")
# The vectors in place of what a loss reads of their similarities.
_SIDES = {
    "scores": ("first", "second"),
    "list_scores": ("queries", "candidates"),
    "margin_positives": ("queries", "positives", "negatives"),
}


def matryoshka(
    loss: Callable[..., Tensor],
    dims: Sequence[int],
    weights: Sequence[float] | None = None,
    reduce: str = "sum",
    *,
    vectors: Iterable[str] | None = None,
) -> Callable[..., Tensor]:
    r"""Σ_m c_m L(z[:m] / |z[:m]|), or their mean (Kusupati et al. 2022).

    The function that is returned takes what `loss` takes, with every vector cut to each of `dims`
    and brought back to length 1. Of a loss on pair scores it takes `first` and `second` [N, D] in
    place of the scores, which are then the cosines of the prefixes; of one on lists `queries`
    [N, D] and `candidates` [N, K, D], and of one on margins `queries`, `positives` [N, D] and
    `negatives` [N, K, D].

    >>> from lossprism.losses import info_nce
    >>> nested = matryoshka(info_nce, [2, 1])
    >>> queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> keys = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> whole = info_nce(queries, keys, temperature=1.0)
    >>> bool(nested(queries, keys, temperature=1.0) > whole)
    True

    Args:
        loss: one of `losses`, or any function of tensors.
        dims: lengths of prefixes, each from 1 to the width of the vectors; in any order.
        weights: c_m, one for each of `dims`; all 1, if left out.
        reduce: "sum" as sentence-transformers 6.2 has it, "mean" (over `dims`) as FlagEmbedding.
        vectors: the names of the arguments that are cut; of the losses of this package they are
            known, and those of another function must be named.

    Raises:
        ValueError: dims that are no lengths, or two of a kind; weights that do not fit them; a
            function whose vectors are not named; when it is called, a prefix longer than the
            vectors.
    """
    input_checks.one_of(REDUCTIONS, reduce=reduce)
    lengths = _lengths(dims)
    factors = _factors(weights, lengths)
    if reduce == "mean":
        factors = [factor / len(lengths) for factor in factors]
    inner, cut = _of_vectors(loss), _cut(loss, vectors)
    named = inspect.signature(inner)
    kinds = {one.kind: one.name for one in named.parameters.values()}
    further = kinds.get(inspect.Parameter.VAR_KEYWORD, "")

    @functools.wraps(loss, assigned=("__name__", "__doc__"))
    def nested(*arguments: object, **keywords: object) -> Tensor:
        bound = named.bind(*arguments, **keywords)
        rest = bound.arguments.get(further, {})
        all_arguments = {**bound.arguments, **rest}
        whole = {
            name: value for name in cut if isinstance(value := all_arguments.get(name), Tensor)
        }
        _must_hold(lengths, whole)
        values = []
        for length in lengths:
            prefixes = {name: unit(value[..., :length]) for name, value in whole.items()}
            chosen: dict[str, Any] = {n: prefixes.get(n, one) for n, one in bound.arguments.items()}
            if further:
                chosen[further] = {n: prefixes.get(n, one) for n, one in rest.items()}
            again = inspect.BoundArguments(named, OrderedDict(chosen))
            values.append(inner(*again.args, **again.kwargs))
        return torch.stack(
            [factor * value for factor, value in zip(factors, values, strict=True)]
        ).sum()

    return nested


def prefix_shares(gradient: Tensor, dims: Sequence[int]) -> list[float]:
    """The share of the energy Σ g² of a gradient [N, D] that lies in each of its prefixes.

    >>> prefix_shares(torch.tensor([[3.0, 4.0]]), [1, 2])
    [0.36, 1.0]

    A gradient of nothing but zeros has none: NaN.
    """
    input_checks.must_be_rows(gradient=gradient)
    lengths = _lengths(dims)
    _must_hold(lengths, {"gradient": gradient})
    energy = gradient.detach().double().square().sum(dim=0)
    return [float(energy[:length].sum() / energy.sum()) for length in lengths]


def _spec_of(loss: Callable[..., Tensor]) -> LossSpec | None:
    spec = LOSSES.get(getattr(loss, "__name__", ""))
    return spec if spec is not None and spec.function is loss else None


def _of_vectors(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the loss itself, or one on pair scores as a function of both sides."""
    spec = _spec_of(loss)
    if spec is None:
        return loss
    reads = set(spec.reads.values())
    if whole := reads & {"level_scores", "pair_logits", "teacher_embeddings"}:
        raise ValueError(
            f"{spec.name} reads {', '.join(whole)}; matryoshka takes losses on vectors or on their "
            "similarities"
        )

    def of_pairs(first: Tensor, second: Tensor, labels: Tensor, **keywords: object) -> Tensor:
        return loss(cosine(first, second), labels, **keywords)

    def of_lists(
        queries: Tensor, candidates: Tensor, *beside: Tensor, **keywords: object
    ) -> Tensor:
        return loss(cosine_of_each(queries, candidates), *beside, **keywords)

    def of_margins(
        queries: Tensor, positives: Tensor, negatives: Tensor, *beside: Tensor, **keywords: object
    ) -> Tensor:
        sides = cosine(queries, positives), cosine_of_each(queries, negatives)
        return loss(*sides, *beside, **keywords)

    readers = {"scores": of_pairs, "list_scores": of_lists, "margin_positives": of_margins}
    return next((function for what, function in readers.items() if what in reads), loss)


def cosine_of_each(queries: Tensor, candidates: Tensor) -> Tensor:
    """Return the cosine of each query [N, D] with each of its own candidates [N, K, D]."""
    count = candidates.shape[1]
    every = cosine(queries.repeat_interleave(count, dim=0), candidates.flatten(0, 1))
    return every.view(-1, count)


def _cut(loss: Callable[..., Tensor], vectors: Iterable[str] | None) -> tuple[str, ...]:
    if vectors is not None:
        return tuple(vectors)
    spec = _spec_of(loss)
    if spec is None:
        raise ValueError(
            "nobody knows which arguments of this function are vectors: name them, "
            'such as vectors=("queries", "keys")'
        )
    reads = set(spec.reads.values())
    for what, sides in _SIDES.items():
        if what in reads:
            return sides
    named = inspect.signature(loss).parameters
    known = (name for name, what in spec.reads.items() if READABLE[what].axes[-1] == "dimension")
    return *known, *(name for name in FURTHER if name in named and name not in spec.reads)


def _lengths(dims: Sequence[int]) -> list[int]:
    lengths = list(dims)
    if not lengths or len(set(lengths)) < len(lengths):
        raise ValueError(f"dims are {lengths}; there must be one or more, and no two alike")
    for length in lengths:
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise ValueError(f"dims has {length!r}; a prefix has a whole number of 1 or more")
    return lengths


def _factors(weights: Sequence[float] | None, lengths: list[int]) -> list[float]:
    factors = [1.0] * len(lengths) if weights is None else [float(one) for one in weights]
    if len(factors) != len(lengths):
        raise ValueError(f"there are {len(factors)} weights for {len(lengths)} dims; one each")
    if not all(map(math.isfinite, factors)):
        raise ValueError(f"weights are {factors}; each must be finite")
    return factors


def _must_hold(lengths: list[int], whole: dict[str, Tensor]) -> None:
    for name, value in whole.items():
        if value.ndim < 2 or value.shape[-1] < max(lengths):
            raise ValueError(
                f"{name} has shape {tuple(value.shape)}; a prefix of {max(lengths)} needs vectors "
                "of at least as many dimensions"
            )
