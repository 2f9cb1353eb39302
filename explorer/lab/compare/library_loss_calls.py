"""Calls of installed libraries, as functions of the tensors of a batch."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

Call = Callable[..., Tensor]


# ---- sentence-transformers' losses of cross-encoders, which have no equivalent


class _Scorer(nn.Module):
    """Stand-in for a cross-encoder: a document is the place of its score."""

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


def _cross_encoders(kind: str, scores: Tensor) -> Any:
    """A loss of cross-encoders of this name, with or without its module, around given scores."""
    from sentence_transformers.cross_encoder import CrossEncoder, losses

    scorer: Any = type("Scorer", (_Scorer, CrossEncoder), {"device": None})
    return getattr(losses, kind.rpartition(".")[2])(scorer(scores))


def of_scored_pairs(kind: str) -> Call:
    """A loss on the score that a cross-encoder gives each pair."""

    def computed(scores: Tensor, labels: Tensor) -> Tensor:
        documents = [str(place) for place in range(len(scores))]
        return _cross_encoders(kind, scores)([["query"] * len(scores), documents], labels)

    return computed


def of_a_positive_each() -> Call:
    """In-batch negatives of a cross-encoder.

    Each candidate in turn is the positive of its list, as often as its label says.
    """

    def computed(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        loss = _cross_encoders("MultipleNegativesRankingLoss", scores.flatten())
        own = [(labels[row][there], scores[row][there]) for row, there in _rows(mask)]
        lists = [(one, [s.roll(-place) for place in range(len(s))]) for one, s in own]
        values = [
            weights @ torch.stack([loss.calculate_loss([*turned.split(1)], 1) for turned in turns])
            for weights, turns in lists
        ]
        return torch.stack(values).mean()

    return computed


def of_lists(kind: str, **settings: str) -> Call:
    """A loss on the candidates of each query; its settings are names of the library's classes."""
    from sentence_transformers.cross_encoder import losses

    def computed(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(scores.numel()).reshape(scores.shape)
        rows = [(places[row][there].tolist(), labels[row][there]) for row, there in _rows(mask)]
        documents = [[str(place) for place in found] for found, _ in rows]
        chosen = {name: getattr(losses, of_class)() for name, of_class in settings.items()}
        loss = getattr(losses, kind)(_Scorer(scores.flatten()), **chosen)
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
    """Distillation on unchanged vectors: the query of each list and its candidates."""
    loss = _on_vectors("DistillKLDivLoss")

    def computed(first: Tensor, second: Tensor, places: Tensor, teacher: Tensor) -> Tensor:
        _must_be_full(places)
        vectors = [first[places[:, 0]], *(second[column] for column in places.T)]
        return loss.compute_loss_from_embeddings(vectors, teacher)

    return computed


def margins() -> Call:
    """The same; every positive beside every negative is a triplet of its own."""
    loss = _on_vectors("MarginMSELoss")

    def computed(
        first: Tensor, second: Tensor, positives: Tensor, negatives: Tensor, teacher: Tensor
    ) -> Tensor:
        there = negatives >= 0
        own = positives[:, None].expand_as(negatives)[there]
        vectors = [first[own], second[own], second[negatives[there]]]
        return loss.compute_loss_from_embeddings(vectors, teacher[there])

    return computed


def _must_be_full(places: Tensor) -> None:
    if bool((places < 0).any()):
        raise ValueError("it takes lists of one length")


def with_own_negatives(**settings: object) -> Call:
    """Softmax within the batch whose further columns are a query's own negatives, as many for
    each."""
    from sentence_transformers.sentence_transformer import losses

    settings = {"partition_mode": "joint", **settings}
    nothing: Any = None
    loss = losses.MultipleNegativesRankingLoss(nothing, **cast(Any, settings))

    def computed(
        queries: Tensor, keys: Tensor, negatives: Tensor | None = None, owners: Tensor | None = None
    ) -> Tensor:
        columns = _columns_of(negatives, owners, len(queries))
        return loss.compute_loss_from_embeddings([queries, keys, *columns], cast(Any, None))

    return computed


def _columns_of(negatives: Tensor | None, owners: Tensor | None, count: int) -> list[Tensor]:
    """Negatives [Q, D] as columns [count, D], row i of each a negative of query i."""
    if negatives is None or not len(negatives):
        return []
    owned = torch.zeros(count).int() if owners is None else owners.cpu().bincount(minlength=count)
    if len(owned.unique()) > 1 or int(owned.sum()) != len(negatives):
        raise ValueError("it takes as many hard negatives for each query")
    order = cast(Tensor, owners).argsort(stable=True)
    return list(negatives[order].unflatten(0, (count, -1)).unbind(1))


def guided(**settings: object) -> Call:
    """GIST on vectors: model and guide return those of the column that they receive."""
    from sentence_transformers.sentence_transformer import losses

    tokenizer = _tokenizer()

    def computed(**inputs: Tensor) -> Tensor:
        sides = [name for name in ("queries", "keys", "negatives") if name in inputs]
        model, guide = (_ColumnEncoder(tokenizer) for _ in range(2))
        loss = losses.GISTEmbedLoss(cast(Any, model), cast(Any, guide), **cast(Any, settings))
        model.vectors = [inputs[name] for name in sides]
        guide.vectors = [inputs[f"guide_{name}"] for name in sides]
        features = [{"column": torch.tensor(place)} for place in range(len(sides))]
        return loss(features, cast(Any, None))

    return computed


class _ColumnEncoder(nn.Module):
    """Stand-in for an encoder: the features name the column of its vectors."""

    max_seq_length = 1

    def __init__(self, tokenizer: object) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.vectors: list[Tensor] = []

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": self.vectors[int(features["column"])]}


def _tokenizer() -> object:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"a": 0}, unk_token="a"))
    return PreTrainedTokenizerFast(tokenizer_object=words)


# ---- torch


def info_nce(queries: Tensor, keys: Tensor, negatives: Tensor | None = None) -> Tensor:
    keys = keys if negatives is None else torch.cat((keys, negatives))
    logits = functional.normalize(queries) @ functional.normalize(keys).T / 0.05
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def softmax(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> Tensor:
    return functional.cross_entropy(embeddings @ prototypes.T, classes)


def triplet_margin(*, swap: bool = False) -> Call:
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


def margin_ranking(scores: Tensor, labels: Tensor) -> Tensor:
    higher, lower = (labels[:, None] > labels).nonzero(as_tuple=True)
    return nn.MarginRankingLoss()(scores[higher], scores[lower], torch.ones(len(higher)))


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
    loss_class = _metric_learning(kind)

    def computed(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> Tensor:
        loss = loss_class(*prototypes.shape)
        if hasattr(loss, "proxies"):
            del loss.proxies
            loss.proxies = prototypes
        else:
            del loss.W
            loss.W = prototypes.T
        return loss(embeddings, classes)

    return computed


# ---- open_clip


def open_clip(called: str, *, scale: float, bias: float | None = None) -> Call:
    """A loss of the vectors of both sides, which its models bring to length 1."""
    loss = getattr(importlib.import_module("open_clip.loss"), called)()

    def computed(first: Tensor, second: Tensor) -> Tensor:
        units = functional.normalize(first), functional.normalize(second)
        return loss(*units, logit_scale=scale, logit_bias=bias)

    return computed


# ---- lightly


def lightly(called: str) -> Call:
    loss = getattr(importlib.import_module("lightly.loss"), called)()
    return lambda first, second: loss(first, second)
