"""Figures of a loss on one batch, from its definition: terms, gradients, reference values,
similarities."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lossprism.losses import LossSpec
from lossprism.losses.geometry import unit
from lossprism.losses.kernels.stable_functions import effective_count
from lossprism.losses.sentence_transformers.candidate_lists import value_within_lists
from lossprism.losses.sentence_transformers.trainer_batch import Examples

# What the names of definitions end with.
SUFFIX = "_definition"


def value_with_terms(
    spec: LossSpec, read: Mapping[str, Tensor], settings: Mapping[str, object], lists: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """Return the value, and the terms of the definition, for one loss on several prefixes those on
    each.

    No terms for a mean over lists, or while the training is profiled, which this would disturb.
    """
    if lists is not None:
        return value_within_lists(spec, _defined, read, settings, lists), []
    if sys.getprofile() is not None:
        return spec.definition(**read, **settings), []
    found_terms: list[Tensor] = []
    parts = spec.parts or (spec,)
    # Those of different losses are terms of nothing in common.
    alike = len({part.spec.name for part in spec.parts}) < 2
    terms = alike and (spec.parts[0].spec.terms if spec.parts else spec.terms)

    def watch(frame: Any, event: str, _: object) -> None:
        # A definition may hand over to another one.
        if event == "return" and frame.f_code.co_name.endswith(SUFFIX):
            value = frame.f_locals.get(terms)
            if isinstance(value, Tensor):
                found_terms.append(value)

    sys.setprofile(watch)
    try:
        value = spec.definition(**read, **settings)
    finally:
        sys.setprofile(None)
    # Each prefix has the same steps, of which the last counts.
    of_each = len(found_terms) // len(parts)
    last = found_terms[of_each - 1 :: of_each] if of_each else []
    return value, last if all(one.requires_grad for one in last) else []


def detached_settings(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings, a learned one as a tensor without its graph."""
    return {
        name: value.detach() if isinstance(value, Tensor) else value
        for name, value in settings.items()
    }


def plain_settings(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings, a tensor of one number as that number."""
    return {
        name: float(value) if isinstance(value, Tensor) and value.numel() == 1 else value
        for name, value in settings.items()
    }


def _defined(spec: LossSpec, read: Mapping[str, Tensor], settings: Mapping[str, object]) -> Tensor:
    return spec.definition(**read, **settings)


def figures_of_gradients(
    value: Tensor, terms: Sequence[Tensor], leaves: Sequence[Tensor]
) -> tuple[float | None, float | None]:
    """Return exp of the entropy of the terms' weights, summed over prefixes, and the norm of the
    gradient by the model's outputs."""
    if not value.requires_grad:
        return None, None
    gradients = torch.autograd.grad(value, [*leaves, *terms], allow_unused=True)
    by_leaves = [one for one in gradients[: len(leaves)] if one is not None]
    norm = math.sqrt(sum(float(one.square().sum()) for one in by_leaves)) if by_leaves else None
    weights = [one.abs().nan_to_num(0) for one in gradients[len(leaves) :] if one is not None]
    if not weights or len({one.shape for one in weights}) > 1:
        return None, norm
    return effective_count(torch.stack(weights).sum(0)), norm


def reference_value(
    spec: LossSpec,
    name: str,
    read: Mapping[str, Tensor],
    settings: Mapping[str, object],
    lists: Tensor | None,
) -> float | None:
    """Return the reference value of this name, "collapse" or "floor"; None if unknown."""

    def value_of(
        spec: LossSpec, read: Mapping[str, Tensor], settings: Mapping[str, object]
    ) -> float | None:
        formula = getattr(spec, name)
        return formula and formula(read, **settings)

    if lists is None:
        value = value_of(spec, read, settings)
    else:
        value = value_within_lists(spec, value_of, read, settings, lists)
    return None if value is None or not math.isfinite(value) else float(value)


def mean_similarities(examples: Examples, of_batch: bool) -> tuple[float | None, float | None]:
    """Return the mean similarity of positive and of negative pairs: cosines of a bi-encoder, scores
    of a cross-encoder."""
    with torch.no_grad():
        if len(examples.columns) == 1:
            return _of_classes(unit(examples.columns[0]), examples.labels)
        alike = replace(examples, similarity="cosine").scores
        positive = examples.positive
        positives, negatives = alike[positive], alike[~positive]
        if examples.pair_scores is not None or not of_batch:
            return _mean(positives), _mean(negatives)
        return mean_similarities_of_batch(examples.queries, examples.keys, examples.negatives)


def mean_similarities_of_batch(
    queries: Tensor, keys: Tensor, negatives: Tensor | None
) -> tuple[float | None, float | None]:
    """Return the mean cosine of each query with its own key, and with all others and the negatives.

    `queries` and `keys` [N, D], `negatives` [M, D].
    """
    queries, keys = unit(queries), unit(keys)
    own = float((queries * keys).sum())
    # Every query with every key, less its own: a product of sums, and no matrix.
    total, count = float(queries.sum(0) @ keys.sum(0)) - own, len(queries) * (len(queries) - 1)
    if negatives is not None:
        total += float(queries.sum(0) @ unit(negatives).sum(0))
        count += len(queries) * len(negatives)
    return own / len(queries) if len(queries) else None, total / count if count else None


def _of_classes(vectors: Tensor, classes: Tensor) -> tuple[float | None, float | None]:
    sums = vectors.new_zeros(int(classes.max()) + 1, vectors.shape[1])
    sums.index_add_(0, classes.long(), vectors)
    sizes = torch.bincount(classes.long()).double()
    together = float(sums.square().sum()) - len(vectors)
    apart = float(vectors.sum(0).square().sum()) - float(sums.square().sum())
    pairs = float((sizes * (sizes - 1)).sum())
    others = len(vectors) * (len(vectors) - 1) - pairs
    return (together / pairs if pairs else None, apart / others if others else None)


def _mean(values: Tensor) -> float | None:
    return float(values.mean()) if len(values) else None
