"""Which losses are measured, at which sizes, and on what."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from losses import LOSSES
from losses.contrastive.mined_triplets import (
    triplet_over_violating,
    triplet_over_violating_definition,
)
from losses.contrastive.nt_xent import nt_xent_of_classes, nt_xent_of_classes_definition
from losses.ranking.circle_self_paced import circle_per_anchor, circle_per_anchor_definition

WIDTH = 384
CLASSES = 8

Inputs = Callable[[int], tuple[Tensor, ...]]


@dataclass(frozen=True)
class Case:
    """One loss: ours and its dense definition on `inputs(N)`, at growing N.

    The definition runs up to `dense` and the peers, known by `name` or `rivals`, up to `peers`.
    """

    name: str
    ours: Callable[..., Tensor]
    definition: Callable[..., Tensor]
    inputs: Inputs
    sizes: tuple[int, ...]
    dense: int
    peers: int = 2**20
    rivals: str = ""
    on: str = ""  # a device that it needs

    @property
    def rival(self) -> str:
        return self.rivals or self.name


def scored(labels: Callable[[int], Tensor]) -> Inputs:
    return lambda count: (torch.rand(count) * 2 - 1, labels(count))


def grades(count: int, number: int = 51) -> Tensor:
    return torch.randint(0, number, (count,)) / (number - 1)


def vectors(count: int, width: int = WIDTH, dtype: torch.dtype = torch.float32) -> tuple:
    """Keys near their queries, as in training."""
    queries = torch.randn(count, width)
    return queries.to(dtype), (queries + torch.randn(count, width)).to(dtype)


def graded_vectors(count: int) -> tuple[Tensor, ...]:
    return *vectors(count), grades(count, 6)


def triples(count: int) -> tuple[Tensor, ...]:
    return *vectors(count), torch.randn(count, WIDTH)


def levelled(count: int) -> tuple[Tensor, ...]:
    """Scores of three levels, with one label a pair."""
    return torch.rand(3, count) * 2 - 1, grades(count)


def binary_vectors(count: int) -> tuple[Tensor, ...]:
    return *vectors(count), (torch.rand(count) < 0.5).float()


def classed(count: int, per_class: int = 0) -> tuple[Tensor, ...]:
    number = count // per_class if per_class else CLASSES
    classes = torch.arange(count) % number
    return torch.randn(number, WIDTH)[classes] + 2 * torch.randn(count, WIDTH), classes


def prototyped(number: int, count: int = 512) -> tuple[Tensor, ...]:
    """`number` classes, of which a batch of `count` shows some."""
    prototypes = torch.randn(number, WIDTH) / math.sqrt(WIDTH)
    classes = torch.randint(0, number, (count,))
    return torch.randn(count, WIDTH), classes, prototypes


def _registered(name: str, **parameters: object) -> dict[str, Callable[..., Tensor]]:
    spec = LOSSES[name]
    return {
        "ours": partial(spec.function, **parameters),
        "definition": partial(spec.definition, **parameters),
    }


def _with_prototypes(name: str, **parameters: object) -> dict[str, Callable[..., Tensor]]:
    def named(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda embeddings, classes, prototypes: loss(
            embeddings, classes, prototypes=prototypes, **parameters
        )

    return {kind: named(loss) for kind, loss in _registered(name).items()}


def _mined(mining: str) -> dict[str, Callable[..., Tensor]]:
    def named(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda anchors, classes: loss(anchors, classes=classes, mining=mining, margin=5.0)

    return {kind: named(loss) for kind, loss in _registered("triplet").items()}


SMALL = (8, 16, 32, 64)
ON_SCORES = (*SMALL, 512, 4096, 65536, 2**20)
ON_VECTORS = (*SMALL, 512, 4096)


def _on_scores(
    name: str,
    labels: Callable[[int], Tensor],
    *,
    sizes: tuple[int, ...] = ON_SCORES,
    dense: int = 4096,
    title: str = "",
) -> Case:
    given = {"inputs": scored(labels), "sizes": sizes, "dense": dense, "rivals": name}
    return Case(title or name, **_registered(name), **given)


CASES = (
    _on_scores("cosent", torch.rand, title="cosent, continuous labels"),
    _on_scores("cosent", grades, title="cosent, 51 grades"),
    _on_scores("cosent", partial(grades, number=2), title="cosent, two labels"),
    Case("angle", **_registered("angle"), inputs=graded_vectors, sizes=ON_VECTORS, dense=4096),
    _on_scores("circle", grades, title="circle, graded"),
    _on_scores("circle_self_paced", grades),
    Case(
        "hierarchical_cosent",
        **_registered("hierarchical_cosent"),
        inputs=levelled,
        sizes=ON_SCORES[:-1],
        dense=4096,
    ),
    _on_scores("weighted_cosent", torch.rand, sizes=ON_SCORES[:-1]),
    _on_scores("pairwise_hinge", torch.rand, sizes=(*SMALL, 512, 4096, 100_000)),
    _on_scores("pairwise_logistic", torch.rand, sizes=(*SMALL, 512, 8192), dense=8192),
    _on_scores("max_violation", torch.rand, sizes=ON_SCORES[:-1]),
    _on_scores("cosine_mse", torch.rand, sizes=ON_SCORES[:-1], dense=65536),
    _on_scores(
        "binary_cross_entropy", partial(grades, number=2), sizes=ON_SCORES[:-1], dense=65536
    ),
    Case("info_nce", **_registered("info_nce"), inputs=vectors, sizes=ON_VECTORS, dense=4096),
    Case(
        "info_nce, symmetric",
        **_registered("info_nce", symmetric=True),
        inputs=vectors,
        sizes=ON_VECTORS,
        dense=4096,
    ),
    Case(
        "info_nce, bfloat16, D = 768",
        **_registered("info_nce"),
        inputs=partial(vectors, width=768, dtype=torch.bfloat16),
        sizes=(4096, 65536),
        dense=4096,
        peers=65536,
        rivals="info_nce",
        on="cuda",
    ),
    Case(
        "nt_xent",
        **_registered("nt_xent"),
        inputs=vectors,
        sizes=(*SMALL, 512, 2048),
        dense=2048,
        peers=64,
    ),
    Case("siglip", **_registered("siglip"), inputs=vectors, sizes=ON_VECTORS, dense=4096),
    Case("nce", **_registered("nce"), inputs=vectors, sizes=ON_VECTORS, dense=4096),
    Case(
        "nt_xent, several positives",
        nt_xent_of_classes,
        nt_xent_of_classes_definition,
        inputs=classed,
        sizes=(*SMALL, 256, 4096),
        dense=256,
        peers=256,
    ),
    Case("supcon", **_registered("supcon"), inputs=classed, sizes=ON_VECTORS, dense=4096),
    Case(
        "circle, per anchor",
        circle_per_anchor,
        circle_per_anchor_definition,
        inputs=classed,
        sizes=ON_VECTORS,
        dense=4096,
    ),
    Case(
        "triplet, given",
        **_registered("triplet", margin=5.0),
        inputs=triples,
        sizes=ON_VECTORS,
        dense=4096,
    ),
    Case(
        "triplet, hard",
        **_mined("hard"),
        inputs=classed,
        sizes=ON_VECTORS,
        dense=4096,
    ),
    Case(
        "triplet, semi-hard",
        **_mined("semi_hard"),
        inputs=classed,
        sizes=(*SMALL, 256, 2048),
        dense=256,
        peers=256,
    ),
    Case(
        "triplet, all",
        triplet_over_violating,
        triplet_over_violating_definition,
        inputs=classed,
        sizes=(*SMALL, 256, 2048),
        dense=256,
        peers=256,
    ),
    Case(
        "softmax",
        **_with_prototypes("softmax"),
        inputs=prototyped,
        sizes=(16, 100, 1000, 10_000, 100_000),
        dense=100_000,
    ),
    Case(
        "arcface",
        **_with_prototypes("arcface", margin=math.radians(28.6)),
        inputs=prototyped,
        sizes=(16, 100, 1000, 10_000, 100_000),
        dense=100_000,
    ),
    Case(
        "contrastive",
        **_registered("contrastive", margin=0.5, distance="cosine", half=True),
        inputs=binary_vectors,
        sizes=ON_VECTORS,
        dense=4096,
    ),
)

LARGE = tuple(
    Case(name, **_registered(name), inputs=vectors, sizes=(32768,), dense=0, peers=0)
    for name in ("info_nce", "nt_xent", "siglip")
)
