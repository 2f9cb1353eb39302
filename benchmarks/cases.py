"""Cases of the losses' benchmark: losses, sizes and inputs.

Every loss is, at its defaults on a batch of what it reads (`plain`); what is known to be worth more
than that, or other sizes, stands in `CHOSEN`.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from benchmarks.inputs import (
    Drawn,
    Inputs,
    binary_vectors,
    classed,
    distilled,
    graded,
    graded_vectors,
    grades,
    guided,
    in_order,
    margins,
    prototyped,
    scored,
    separated_pairs,
    short,
    triples,
    vectors,
)
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.contrastive.info_nce_directions_and_negatives import DIRECTIONS
from lossprism.losses.contrastive.lifted import lifted_unit, lifted_unit_definition
from lossprism.losses.contrastive.mined_triplet_library_variants import (
    triplet_over_violating,
    triplet_over_violating_definition,
)
from lossprism.losses.contrastive.nt_xent import nt_xent_of_classes, nt_xent_of_classes_definition
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.ranking.circle_self_paced import (
    circle_per_anchor,
    circle_per_anchor_definition,
)
from lossprism.losses.spread.vicreg import vicreg_of_means, vicreg_of_means_definition


@dataclass(frozen=True)
class Case:
    """A loss and its dense definition on `inputs(N)`, at growing N.

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


def _registered(name: str, **parameters: object) -> dict[str, Callable[..., Tensor]]:
    spec = LOSSES[name]
    return {
        "ours": partial(spec.function, **parameters),
        "definition": partial(spec.definition, **parameters),
    }


def _with_texts(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """No text stands twice, so that a peer that tells none apart computes the same."""
    return lambda first, second: loss(
        first, second, same_text=torch.arange(len(first), device=first.device)
    )


def _with_twins(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Every tenth text stands twice."""

    def called(first: Tensor, second: Tensor) -> Tensor:
        texts = torch.arange(len(first), device=first.device)
        return loss(first, second, same_text=torch.where(texts % 10 == 9, texts - 1, texts))

    return called


def _with_prototypes(name: str, **parameters: object) -> dict[str, Callable[..., Tensor]]:
    def named(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda embeddings, classes, prototypes: loss(
            embeddings, classes, prototypes=prototypes, **parameters
        )

    return {kind: named(loss) for kind, loss in _registered(name).items()}


def _gisted() -> dict[str, Callable[..., Tensor]]:
    def named(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda queries, keys, of_queries, of_keys: loss(
            queries, keys, guide_queries=of_queries, guide_keys=of_keys, temperature=0.05
        )

    return {kind: named(loss) for kind, loss in _registered("gist").items()}


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


def plain(spec: LossSpec) -> Case:
    """The loss at its defaults, on a batch of what it reads and cannot do without."""
    reads = {name: what for name, what in spec.reads.items() if not READABLE[what].optional}

    def inputs(count: int) -> tuple[Tensor, ...]:
        batch = Drawn(count)
        return tuple(getattr(batch, what) for what in reads.values())

    def called(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
        known = inspect.signature(loss).parameters
        if all(known[name].kind is not inspect.Parameter.KEYWORD_ONLY for name in reads):
            return partial(loss, **spec.defaults)
        return lambda *tensors: loss(**dict(zip(reads, tensors, strict=True)), **spec.defaults)

    sizes = ON_SCORES[:-1] if spec.reads_scores_only else ON_VECTORS
    return Case(spec.name, called(spec.function), called(spec.definition), inputs, sizes, 4096)


def _on_lists(name: str, inputs: Inputs = graded) -> Case:
    return Case(name, **_registered(name), inputs=inputs, sizes=(*SMALL, 1000), dense=1000)


# By the loss that they are of; of a loss on lists of labels it is `_on_lists`.
CHOSEN: Mapping[str, tuple[Case, ...]] = {
    **{name: (_on_lists(name),) for name, spec in LOSSES.items() if spec.group == "lists"},
    "list_mle": (_on_lists("list_mle", in_order),),
    "distill_kl": (_on_lists("distill_kl", distilled),),
    "margin_mse": (_on_lists("margin_mse", margins),),
    "cosent": (
        _on_scores("cosent", torch.rand, title="cosent, continuous labels"),
        _on_scores("cosent", grades, title="cosent, 51 grades"),
        _on_scores("cosent", partial(grades, number=2), title="cosent, two labels"),
    ),
    "angle": (
        Case("angle", **_registered("angle"), inputs=graded_vectors, sizes=ON_VECTORS, dense=4096),
    ),
    "circle": (_on_scores("circle", grades, title="circle, graded"),),
    "circle_self_paced": (
        _on_scores("circle_self_paced", grades),
        Case(
            "circle, per anchor",
            circle_per_anchor,
            circle_per_anchor_definition,
            inputs=classed,
            sizes=ON_VECTORS,
            dense=4096,
        ),
    ),
    "weighted_cosent": (_on_scores("weighted_cosent", torch.rand, sizes=ON_SCORES[:-1]),),
    "pairwise_hinge": (
        _on_scores("pairwise_hinge", torch.rand, sizes=(*SMALL, 512, 4096, 100_000)),
    ),
    "pairwise_logistic": (
        _on_scores("pairwise_logistic", torch.rand, sizes=(*SMALL, 512, 8192), dense=8192),
    ),
    "max_violation": (_on_scores("max_violation", torch.rand, sizes=ON_SCORES[:-1]),),
    "cosine_mse": (_on_scores("cosine_mse", torch.rand, sizes=ON_SCORES[:-1], dense=65536),),
    "binary_cross_entropy": (
        _on_scores(
            "binary_cross_entropy", partial(grades, number=2), sizes=ON_SCORES[:-1], dense=65536
        ),
    ),
    "info_nce": (
        plain(LOSSES["info_nce"]),
        Case(
            "info_nce, τ = 0.01, pairs that are told apart",
            **_registered("info_nce", temperature=0.01),
            inputs=separated_pairs,
            sizes=(64, 1024),
            dense=1024,
        ),
        Case(
            "info_nce, symmetric",
            **_registered("info_nce", symmetric=True),
            inputs=vectors,
            sizes=ON_VECTORS,
            dense=4096,
        ),
        Case(
            "info_nce, four directions in one softmax, texts masked",
            **{
                kind: _with_texts(loss)
                for kind, loss in _registered("info_nce", directions=DIRECTIONS).items()
            },
            inputs=vectors,
            sizes=ON_VECTORS,
            dense=2048,
        ),
        Case(
            "info_nce, four directions in one softmax, some texts twice",
            **{
                kind: _with_twins(loss)
                for kind, loss in _registered("info_nce", directions=DIRECTIONS).items()
            },
            inputs=vectors,
            sizes=ON_VECTORS,
            dense=2048,
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
    ),
    "gist": (
        Case(
            "gist",
            **_gisted(),
            inputs=guided,
            sizes=(*SMALL, 256, 512, 2048, 4096),
            dense=4096,
            peers=512,
        ),
    ),
    "nt_xent": (
        Case(
            "nt_xent",
            **_registered("nt_xent"),
            inputs=vectors,
            sizes=(*SMALL, 512, 2048),
            dense=2048,
            peers=64,
        ),
        Case(
            "nt_xent, several positives",
            nt_xent_of_classes,
            nt_xent_of_classes_definition,
            inputs=classed,
            sizes=(*SMALL, 256, 4096),
            dense=256,
            peers=256,
        ),
    ),
    "vicreg": (
        plain(LOSSES["vicreg"]),
        Case(
            "vicreg, of means",
            vicreg_of_means,
            vicreg_of_means_definition,
            inputs=vectors,
            sizes=ON_VECTORS,
            dense=4096,
        ),
    ),
    "lifted": (
        Case(
            "lifted, unit vectors",
            lifted_unit,
            lifted_unit_definition,
            inputs=classed,
            sizes=(*SMALL, 256, 4096),
            dense=4096,
            peers=256,
        ),
    ),
    "multi_similarity": (
        plain(LOSSES["multi_similarity"]),
        Case(
            "multi_similarity, every pair",
            **_registered("multi_similarity", threshold=0.5, mined=False),
            inputs=classed,
            sizes=ON_VECTORS,
            dense=4096,
        ),
    ),
    "n_pair": (
        dataclasses.replace(plain(LOSSES["n_pair"]), inputs=short),
        Case(
            "n_pair, unit vectors",
            **_registered("n_pair", similarity="cosine"),
            inputs=vectors,
            sizes=ON_VECTORS,
            dense=4096,
        ),
    ),
    "triplet": (
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
    ),
    "softmax": (
        Case(
            "softmax",
            **_with_prototypes("softmax"),
            inputs=prototyped,
            sizes=(16, 100, 1000, 10_000, 100_000),
            dense=100_000,
        ),
    ),
    "arcface": (
        Case(
            "arcface",
            **_with_prototypes("arcface", margin=math.radians(28.6)),
            inputs=prototyped,
            sizes=(16, 100, 1000, 10_000, 100_000),
            dense=100_000,
        ),
    ),
    **{
        name: (
            Case(
                name,
                **_with_prototypes(name, **parameters),
                inputs=prototyped,
                sizes=(16, 100, 1000, 10_000, 100_000),
                dense=100_000,
                peers=10_000,
            ),
        )
        for name, parameters in (
            ("cosface", {}),
            ("proxy_nca", {"include_own": True}),
            ("proxy_anchor", {}),
        )
    },
    "contrastive": (
        Case(
            "contrastive",
            **_registered("contrastive", margin=0.5, distance="cosine", half=True),
            inputs=binary_vectors,
            sizes=ON_VECTORS,
            dense=4096,
        ),
    ),
}


def cases_of(losses: Mapping[str, LossSpec]) -> tuple[Case, ...]:
    """Return the cases of these losses, in order."""
    return tuple(
        case for name, spec in losses.items() for case in CHOSEN.get(name) or (plain(spec),)
    )


CASES = cases_of(LOSSES)

LARGE = tuple(
    Case(name, **_registered(name), inputs=vectors, sizes=(32768,), dense=0, peers=0)
    for name in ("info_nce", "nt_xent", "siglip")
)
