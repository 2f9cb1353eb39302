"""The same loss in sentence-transformers: what it reads there, and the code that computes it.

The code stands in `templates/twins`. A loss without an entry in `TWINS` has no twin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from explorer.core.explore import Exploration
from explorer.export.template import render
from losses import LOSSES, LossSpec


def is_ours(spec: LossSpec) -> bool:
    """Whether the loss comes with this library."""
    return spec.function.__module__.startswith("losses.")


def as_defined_here(spec: LossSpec) -> bool:
    """Whether the convention, if there is one, changes no more than parameters."""
    return spec.definition is LOSSES[spec.name].definition


@dataclass(frozen=True)
class Twin:
    """A loss of that library: what it reads, what to import, and the template of its code."""

    reads: dict[str, str]
    imports: str
    template: str
    values: dict[str, object] = field(default_factory=dict)

    def code(self, given: Sequence[str]) -> str:
        """The lines that compute it from the inputs of these names."""
        return render(f"twins/{self.template}.py", given=given, **self.values)


def twin_of(e: Exploration) -> Twin | None:
    """The loss of sentence-transformers that is this one, or None where there is none."""
    find = TWINS.get(e.spec.name)
    return find(e) if find and is_ours(e.spec) else None


def _contrastive(e: Exploration) -> Twin | None:
    if not as_defined_here(e.spec):
        return None
    reads = {"first": "first", "second": "second", "labels": "binary_labels"}
    return Twin(reads, "ContrastiveLoss, SiameseDistanceMetric", "contrastive", dict(e.parameters))


def _info_nce(e: Exploration) -> Twin | None:
    if not as_defined_here(e.spec):
        return None
    kind = f"MultipleNegatives{'Symmetric' if e.parameters['symmetric'] else ''}RankingLoss"
    reads = {"queries": "queries", "keys": "keys", "negatives": "negatives"}
    return Twin(reads, kind, "info_nce", {**e.parameters, "twin": kind})


def _nt_xent(e: Exploration) -> Twin | None:
    if not as_defined_here(e.spec):
        return None
    reads = {"first": "queries", "second": "keys"}
    return Twin(reads, "MultipleNegativesRankingLoss", "nt_xent", dict(e.parameters))


def _pairwise(kind: str, labels: str = "labels") -> Callable[[Exploration], Twin | None]:
    """A loss of the cosine of each pair, or of what its two vectors give."""

    def find(e: Exploration) -> Twin | None:
        by_cosine = "scores" in e.spec.reads.values()
        if not as_defined_here(e.spec) or (by_cosine and not _scores_are_cosines(e)):
            return None
        reads = {"first": "first", "second": "second", "labels": labels}
        return Twin(reads, kind, "pairs", {**e.parameters, "twin": kind})

    return find


def _scores_are_cosines(e: Exploration) -> bool:
    if e.batch.vectors is None:
        return False
    cosines = e.batch.scores_from(e.batch.vectors)
    return bool(torch.allclose(cosines, e.batch.scores, rtol=0, atol=1e-9))


_MINED = {
    "triplet_over_violating_definition": "BatchAllTripletLoss",
    "triplet_every_anchor_definition": "BatchHardTripletLoss",
}


def _triplet(e: Exploration) -> Twin | None:
    p = e.parameters
    if p.get("distance") not in ("euclidean", "cosine"):
        return None
    reads, here = dict(e.spec.reads), as_defined_here(e.spec)
    mined = "BatchSemiHardTripletLoss" if here and p["mining"] == "semi_hard" else None
    mined = mined or _MINED.get(e.spec.definition.__name__)
    if mined:
        imports = f"BatchHardTripletLossDistanceFunction, {mined}"
        return Twin(reads, imports, "mined_triplets", {**p, "twin": mined})
    if not here or p["mining"] != "all" or not _has_triplet(e):
        return None
    return Twin(reads, "TripletDistanceMetric, TripletLoss", "all_triplets", dict(p))


def _has_triplet(e: Exploration) -> bool:
    """Without any triplet our loss is 0 and the library's is the mean of nothing."""
    sizes = e.batch.classes.bincount()
    return len(sizes) > 1 and bool((sizes > 1).any())


TWINS: dict[str, Callable[[Exploration], Twin | None]] = {
    "angle": _pairwise("AnglELoss"),
    "contrastive": _contrastive,
    "cosent": _pairwise("CoSENTLoss"),
    "cosine_mse": _pairwise("CosineSimilarityLoss", "unit_labels"),
    "info_nce": _info_nce,
    "nt_xent": _nt_xent,
    "triplet": _triplet,
}
