"""The same loss in sentence-transformers: batches on which it can be compared.

The library's losses, and the code that calls them, are beside each loss (`LossSpec.equivalent`).
"""

from collections.abc import Mapping

import torch

from lossprism.explorer.core.explore import Exploration
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.combined.first_dimensions_of_vectors import length_of
from lossprism.losses.contrastive.triplet_minimum_and_collapse import has_triplet
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent, on_prefixes
from lossprism.losses.spec import ParameterValue


def is_ours(spec: LossSpec) -> bool:
    """Return whether the loss is in the package `losses`."""
    return spec.function.__module__.startswith("lossprism.losses.")


def number(value: ParameterValue) -> float:
    """Return the value of a numeric parameter."""
    assert isinstance(value, float | int)
    return float(value)


def stated(spec: LossSpec, parameters: Mapping[str, ParameterValue]) -> list[str]:
    """Return the parameters as arguments of a call, without those off by default."""
    return [
        f"{name}={value!r}"
        for name, value in parameters.items()
        if value is not None or spec.defaults[name] is not None
    ]


def as_defined_here(spec: LossSpec) -> bool:
    """Return whether the convention, if any, changes only parameters."""
    return spec.definition is LOSSES[spec.name].definition


def equivalent_of(e: Exploration) -> Equivalent | None:
    """Return the equivalent loss of sentence-transformers, None if there is none."""
    if found := inside_prefixes(e):
        return on_prefixes(*found)
    if e.same_text_left_out:
        return None  # the library tells no texts apart
    equivalent = e.spec.equivalent(**e.parameters) if e.spec.equivalent else None
    if equivalent is None or (equivalent.over_triplets and not has_triplet(e.batch.classes)):
        return None
    # The library makes the scores itself, which are the cosines of the vectors it is given.
    by_score = "scores" in e.spec.reads.values()
    return None if by_score and not _scores_are_cosines(e) else equivalent


def inside_prefixes(e: Exploration) -> tuple[Equivalent, list[int], list[float]] | None:
    """Return the library's inner loss, the lengths of the prefixes and their weights, for one loss
    on several prefixes; None for any other, and if the library has no such loss."""
    parts = e.spec.parts
    if not parts or len({part.spec.name for part in parts}) > 1 or e.batch.vectors is None:
        return None
    if e.same_text_left_out:
        return None
    first, width = parts[0], e.batch.vectors.shape[1]
    shares = [part.prefix for part in parts if part.prefix is not None]
    if len(shares) < len(parts) or first.spec.equivalent is None:
        return None
    settings = {own: e.parameters[named] for own, named in first.parameters.items()}
    inner = first.spec.equivalent(**settings)
    if inner is None or inner.over_triplets or not inner.of_vectors:
        return None
    weights = [number(e.parameters[part.weight]) for part in parts]
    return inner, [length_of(share, width) for share in shares], weights


def _scores_are_cosines(e: Exploration) -> bool:
    if e.batch.vectors is None:
        return False
    cosines = e.batch.scores_from(e.batch.vectors)
    return bool(torch.allclose(cosines, e.batch.scores, rtol=0, atol=1e-9))
