"""Losses of installed libraries, as functions of the same tensors.

A library that is not installed is not measured. Parameters are set so that peer and ours compute
the same number; where that cannot be, the relative error in the table shows it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

Peers = dict[str, dict[str, Callable[..., Tensor]]]


def all_peers() -> Peers:
    """For each loss of the benchmark, by library."""
    found: Peers = {}
    for library, offered in (
        ("torch", _torch),
        ("sentence-transformers", _sentence_transformers),
        ("pytorch-metric-learning", _pytorch_metric_learning),
    ):
        try:
            functions = offered()
        except ModuleNotFoundError:
            continue
        for loss, function in functions.items():
            found.setdefault(loss, {})[library] = function
    return found


def _torch() -> dict[str, Callable[..., Tensor]]:
    def info_nce(queries: Tensor, keys: Tensor) -> Tensor:
        logits = functional.normalize(queries) @ functional.normalize(keys).T / 0.05
        return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))

    def softmax(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> Tensor:
        return functional.cross_entropy(embeddings @ prototypes.T, classes)

    def alignment(first: Tensor, second: Tensor) -> Tensor:
        return (functional.normalize(first) - functional.normalize(second)).square().sum(1).mean()

    def uniformity(embeddings: Tensor) -> Tensor:
        return torch.pdist(functional.normalize(embeddings)).square().mul(-2).exp().mean().log()

    return {
        "info_nce": info_nce,
        "softmax": softmax,
        "alignment": alignment,
        "uniformity": uniformity,
    }


def _sentence_transformers() -> dict[str, Callable[..., Tensor]]:
    from sentence_transformers.sentence_transformer import losses as theirs

    nothing = nn.Identity()
    cosent = theirs.CoSENTLoss(nothing, similarity_fct=lambda scores, _: scores[:, 0])
    angle = theirs.AnglELoss(nothing)
    contrastive = theirs.ContrastiveLoss(nothing, margin=0.5)
    ranking = theirs.MultipleNegativesRankingLoss(nothing)
    both = theirs.MultipleNegativesRankingLoss(
        nothing, directions=("query_to_doc", "doc_to_query"), partition_mode="per_direction"
    )
    every_way = theirs.MultipleNegativesRankingLoss(
        nothing, directions=("query_to_doc", "query_to_query", "doc_to_query", "doc_to_doc")
    )
    mega = theirs.MegaBatchMarginLoss(nothing, use_mini_batched_version=False)
    orthogonal = theirs.GlobalOrthogonalRegularizationLoss(nothing)
    given = theirs.TripletLoss(nothing, triplet_margin=5.0)
    hard, semi_hard, every = (
        kind(nothing, margin=5.0)
        for kind in (
            theirs.BatchHardTripletLoss,
            theirs.BatchSemiHardTripletLoss,
            theirs.BatchAllTripletLoss,
        )
    )

    def of_scores(scores: Tensor, labels: Tensor) -> Tensor:
        return cosent.compute_loss_from_embeddings([scores[:, None]] * 2, labels)

    def of_vectors(loss: nn.Module) -> Callable[..., Tensor]:
        return lambda first, second, labels=None: loss.compute_loss_from_embeddings(
            [first, second], labels
        )

    def of_classes(loss: nn.Module) -> Callable[..., Tensor]:
        return lambda embeddings, classes: loss.compute_loss_from_embeddings([embeddings], classes)

    return {
        **_of_lists(),
        "cosent": of_scores,
        "angle": of_vectors(angle),
        "contrastive": of_vectors(contrastive),
        "info_nce": of_vectors(ranking),
        "info_nce, symmetric": of_vectors(both),
        "info_nce, four directions in one softmax, texts masked": of_vectors(every_way),
        "online_contrastive": of_vectors(theirs.OnlineContrastiveLoss(nothing)),
        "gist": _guided(theirs.GISTEmbedLoss),
        "mega_batch_margin": lambda first, second: mega.calculate_loss([[first], [second]]),
        "orthogonal": lambda *sides: sum(
            orthogonal.compute_loss_from_embeddings([*sides]).values()
        ),
        "triplet, given": lambda *vectors: given.compute_loss_from_embeddings([*vectors], None),
        "triplet, hard": of_classes(hard),
        "triplet, semi-hard": of_classes(semi_hard),
        "triplet, all": of_classes(every),
    }


class _Vectors(nn.Module):
    """Stands in for an encoder: its columns are vectors already."""

    def forward(self, column: dict[str, Tensor]) -> dict[str, Tensor]:
        return column


def _guided(kind: type[nn.Module]) -> Callable[..., Tensor]:
    """GISTEmbedLoss at τ = 0.05, past the question for tokenizers that its beginning asks."""
    loss = kind.__new__(kind)
    nn.Module.__init__(loss)
    settled = {"temperature": 0.05, "margin_strategy": "absolute", "margin": 0.0}
    settled |= {"contrast_anchors": True, "contrast_positives": True}
    settled |= {"must_retokenize": False, "gather_across_devices": False}
    settled |= {"similarity_fct": nn.CosineSimilarity(dim=-1)}
    vars(loss).update(settled)
    loss.model, loss.guide = _Vectors(), _Guide()
    loss.cross_entropy_loss = nn.CrossEntropyLoss()

    def called(queries: Tensor, keys: Tensor, of_queries: Tensor, of_keys: Tensor) -> Tensor:
        sides = ((queries, of_queries), (keys, of_keys))
        return loss([{"sentence_embedding": a, "guided": b} for a, b in sides], None)

    return called


class _Guide(nn.Module):
    """The same of a second encoder."""

    def forward(self, column: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": column["guided"]}


class _Scorer(nn.Module):
    """Stands in for a cross-encoder: it gives the scores that it was handed."""

    num_labels, device = 1, torch.device("cpu")
    scores = torch.empty(0)

    def preprocess(self, pairs: object, **_: object) -> dict[str, Tensor]:
        return {}

    def forward(self, _: object) -> dict[str, Tensor]:
        return {"scores": self.scores}


def _of_lists() -> dict[str, Callable[..., Tensor]]:
    """The losses of its cross-encoders, in one batch of pairs (`mini_batch_size` below 0)."""
    from sentence_transformers.cross_encoder import losses as theirs

    def of(kind: Callable[..., nn.Module], **named: object) -> Callable[..., Tensor]:
        model = _Scorer()
        loss = kind(model, mini_batch_size=-1, **named)

        def called(scores: Tensor, labels: Tensor) -> Tensor:
            model.scores = scores.flatten()
            documents = [[""] * scores.shape[1]] * len(scores)
            return loss([[""] * len(scores), documents], list(labels)).to(scores.dtype)

        return called

    return {
        "list_net": of(theirs.ListNetLoss),
        "list_mle": of(theirs.ListMLELoss, respect_input_order=False),
        "lambda_loss": of(theirs.LambdaLoss),
        "adr_mse": of(theirs.ADRMSELoss),
    }


def _pytorch_metric_learning() -> dict[str, Callable[..., Tensor]]:
    from pytorch_metric_learning import losses as theirs
    from pytorch_metric_learning import miners

    views = theirs.SelfSupervisedLoss(theirs.NTXentLoss(temperature=0.5))

    def with_weights(loss: nn.Module, name: str) -> Callable[..., Tensor]:
        """Its own weights, of one class, give way to ours."""

        def computed(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> Tensor:
            loss.num_classes = len(prototypes)
            loss.__dict__[name] = prototypes.T if name == "W" else prototypes
            loss.__dict__["proxy_labels"] = torch.arange(len(prototypes), device=classes.device)
            return loss(embeddings, classes)

        del loss._parameters[name]
        return computed

    miner, multi_similarity = miners.MultiSimilarityMiner(), theirs.MultiSimilarityLoss(base=1.0)
    pairs, vicreg = theirs.NPairsLoss(), theirs.VICRegLoss()

    def of_hard_pairs(embeddings: Tensor, classes: Tensor) -> Tensor:
        return multi_similarity(embeddings, classes, miner(embeddings, classes))

    def n_pairs(anchors: Tensor, positives: Tensor) -> Tensor:
        classes = torch.arange(len(anchors), device=anchors.device).repeat(2)
        return pairs(torch.cat((anchors, positives)), classes)

    width = 1  # of the weights that give way
    arcface = theirs.ArcFaceLoss(1, width, margin=28.6, scale=64)

    return {
        "nt_xent": lambda first, second: views(first, second),
        "nt_xent, several positives": theirs.NTXentLoss(temperature=0.07),
        "supcon": theirs.SupConLoss(temperature=0.1),
        "circle, per anchor": theirs.CircleLoss(m=0.4, gamma=80),
        "vicreg, of means": lambda first, second: vicreg(first, ref_emb=second),
        "multi_similarity": of_hard_pairs,
        "multi_similarity, every pair": theirs.MultiSimilarityLoss(),
        "lifted, unit vectors": theirs.LiftedStructureLoss(),
        "n_pair, unit vectors": n_pairs,
        "arcface": with_weights(arcface, "W"),
        "cosface": with_weights(theirs.CosFaceLoss(1, width), "W"),
        "proxy_nca": with_weights(theirs.ProxyNCALoss(1, width), "proxies"),
        "proxy_anchor": with_weights(theirs.ProxyAnchorLoss(1, width), "proxies"),
    }
