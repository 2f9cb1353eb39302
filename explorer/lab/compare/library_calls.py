"""What installed libraries compute, as functions of the tensors that a batch has."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

Call = Callable[..., Tensor]


# ---- sentence-transformers' losses of cross-encoders, which have no equivalent


class _Scorer(nn.Module):
    """Stands in for a cross-encoder: a document is the place of its score."""

    num_labels = 1

    def __init__(self, scores: Tensor) -> None:
        nn.Module.__init__(self)
        self.scores = scores
        self.device = scores.device

    def preprocess(self, pairs: list[tuple[str, str]], **_: object) -> dict[str, Tensor]:
        places = [int(document) for _, document in pairs]
        return {"place": torch.tensor(places, device=self.scores.device)}

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"scores": self.scores[features["place"]]}


def rank_net() -> Call:
    from sentence_transformers.cross_encoder.losses import RankNetLoss

    def computed(scores: Tensor, labels: Tensor) -> Tensor:
        documents = [str(place) for place in range(len(scores))]
        model: Any = _Scorer(scores)
        return RankNetLoss(model)((["query"], [documents]), [labels])

    return computed


def cross_entropy_of_cross_encoders() -> Call:
    from sentence_transformers.cross_encoder import CrossEncoder
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    scorer: Any = type("Scorer", (_Scorer, CrossEncoder), {"device": None})

    def computed(scores: Tensor, labels: Tensor) -> Tensor:
        documents = [str(place) for place in range(len(scores))]
        return BinaryCrossEntropyLoss(scorer(scores))([["query"] * len(scores), documents], labels)

    return computed


def of_lists(kind: str) -> Call:
    """A loss on the candidates of each query."""
    from sentence_transformers.cross_encoder import losses

    def computed(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(scores.numel()).reshape(scores.shape)
        rows = [(places[row][there].tolist(), labels[row][there]) for row, there in _rows(mask)]
        documents = [[str(place) for place in found] for found, _ in rows]
        loss = getattr(losses, kind)(_Scorer(scores.flatten()))
        return loss((["query"] * len(rows), documents), [own for _, own in rows])

    return computed


def _rows(mask: Tensor) -> Iterator[tuple[int, Tensor]]:
    return enumerate(mask.bool().cpu())


# ---- sentence-transformers' other losses without an equivalent


def _on_vectors(kind: str) -> Any:
    from sentence_transformers.sentence_transformer import losses

    nothing: Any = nn.Identity()  # vectors are given
    return getattr(losses, kind)(nothing)


def of_mined(kind: str) -> Call:
    loss = _on_vectors(kind)
    return lambda anchors, classes: loss.compute_loss_from_embeddings([anchors], classes)


def distilled() -> Call:
    """Its dot products are of vectors with one number, the score: those of a list without gaps."""
    loss = _on_vectors("DistillKLDivLoss")

    def computed(scores: Tensor, teacher: Tensor) -> Tensor:
        vectors = [torch.ones_like(scores[:, :1]), *scores.split(1, dim=1)]
        return loss.compute_loss_from_embeddings(vectors, teacher)

    return computed


def margins() -> Call:
    """The same; every positive beside every negative is a triplet of its own."""
    loss = _on_vectors("MarginMSELoss")

    def computed(positive: Tensor, negative: Tensor, teacher: Tensor, mask: Tensor) -> Tensor:
        there = mask.bool()
        sides = [positive[:, None].expand_as(negative)[there], negative[there]]
        vectors = [torch.ones_like(sides[0]), *sides]
        given = [one[:, None] for one in vectors]
        return loss.compute_loss_from_embeddings(given, teacher[there])

    return computed


# ---- torch


def info_nce(queries: Tensor, keys: Tensor, negatives: Tensor | None = None) -> Tensor:
    keys = keys if negatives is None else torch.cat((keys, negatives))
    logits = functional.normalize(queries) @ functional.normalize(keys).T / 0.05
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def softmax(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> Tensor:
    return functional.cross_entropy(embeddings @ prototypes.T, classes)


def given_triplets(*, swap: bool = False) -> Call:
    loss = nn.TripletMarginLoss(swap=swap)
    return lambda anchors, positives, negatives: loss(anchors, positives, negatives)


def triplets_by_coordinates() -> Call:
    from sentence_transformers.sentence_transformer import losses

    loss = losses.TripletLoss(cast(Any, None), losses.TripletDistanceMetric.MANHATTAN)

    def computed(anchors: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        return loss.compute_loss_from_embeddings([anchors, positives, negatives], anchors)

    return computed


def by_coordinates() -> Call:
    from sentence_transformers.sentence_transformer import losses

    loss = losses.ContrastiveLoss(cast(Any, None), losses.SiameseDistanceMetric.MANHATTAN)

    def computed(first: Tensor, second: Tensor, labels: Tensor) -> Tensor:
        return loss.compute_loss_from_embeddings([first, second], labels)

    return computed


def cosine_embedding(first: Tensor, second: Tensor, labels: Tensor) -> Tensor:
    return functional.cosine_embedding_loss(first, second, 2 * labels - 1)


def every_triplet(anchors: Tensor, classes: Tensor) -> Tensor:
    alike = classes[:, None] == classes
    partners = alike & ~torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    valid = (partners[:, :, None] & ~alike[:, None, :]).nonzero(as_tuple=True)
    return nn.TripletMarginLoss()(*(anchors[places] for places in valid))


# ---- pytorch-metric-learning


def _metric_learning(kind: str) -> Any:
    """A class of the library, which need not be installed."""
    return getattr(importlib.import_module("pytorch_metric_learning.losses"), kind)


def on_classes(kind: str, **settings: float) -> Call:
    """A loss of embeddings and classes, at its defaults but for these settings."""
    loss = _metric_learning(kind)(**settings)
    return lambda embeddings, classes: loss(embeddings, classes)


def on_pairs(kind: str, **settings: float) -> Call:
    """The same of pairs, the two sentences of each being a class."""
    loss = _metric_learning(kind)(**settings)

    def computed(first: Tensor, second: Tensor) -> Tensor:
        classes = torch.arange(len(first), device=first.device).repeat(2)
        return loss(torch.cat((first, second)), classes)

    return computed


def vicreg() -> Call:
    loss = _metric_learning("VICRegLoss")()
    return lambda first, second: loss(first, ref_emb=second)


def contrastive(**settings: float) -> Call:
    loss = _metric_learning("ContrastiveLoss")(**settings)

    def computed(first: Tensor, second: Tensor, labels: Tensor) -> Tensor:
        near, away = ((labels == value).nonzero()[:, 0] for value in (1, 0))
        indices = (near, near, away, away)
        return loss(first, ref_emb=second, indices_tuple=indices)

    return computed


def with_prototypes(kind: str) -> Call:
    """A loss whose weights give way to the prototypes of the batch."""
    made = _metric_learning(kind)

    def computed(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> Tensor:
        loss = made(*prototypes.shape)
        if hasattr(loss, "proxies"):
            del loss.proxies
            loss.proxies = prototypes
        else:
            del loss.W
            loss.W = prototypes.T
        return loss(embeddings, classes)

    return computed


# ---- rax


def rax(called: str) -> Call:
    jax, rax = (importlib.import_module(name) for name in ("jax", "rax"))
    slope = jax.value_and_grad(getattr(rax, called))

    class Computed(torch.autograd.Function):
        """Value and gradient as jax has them."""

        @staticmethod
        def forward(ctx: Any, scores: Tensor, labels: Tensor) -> Tensor:
            value, by_scores = slope(scores.detach().numpy(), labels.numpy())
            ctx.save_for_backward(torch.from_numpy(np.array(by_scores)).to(scores))
            return torch.from_numpy(np.array(value)).to(scores)

        @staticmethod
        def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None]:
            return ctx.saved_tensors[0] * above[0], None

    def computed(scores: Tensor, labels: Tensor) -> Tensor:
        return Computed.apply(scores, labels)

    return computed
