"""The losses inside sentence-transformers' own trainers, beside that library's losses."""

from __future__ import annotations

import copy
import functools
import random

import pytest
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer
from sentence_transformers.cross_encoder import losses as cross
from sentence_transformers.cross_encoder.losses.lambda_loss import LambdaRankScheme
from sentence_transformers.cross_encoder.training_args import CrossEncoderTrainingArguments
from sentence_transformers.sentence_transformer import losses as bi
from sentence_transformers.sentence_transformer.training_args import (
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.util import dot_score
from torch import nn

import lossprism.losses.sentence_transformers as adapter
from lossprism.losses import LOSSES
from lossprism.losses.inputs_that_losses_may_read import READABLE
from tests.tiny import save_bert, sentence, static_model

STEPS, BATCH = 8, 8
OTHER_COLUMNS = {
    "triplets": ("sentence3",),
    "margins": ("sentence3",),
    "several margins": ("sentence3", "sentence4"),
    "lists": ("sentence3", "sentence4"),
}


@functools.cache
def rows(kind, count=STEPS * BATCH):
    draw = random.Random(3)
    columns = {"sentence1": [sentence(draw) for _ in range(count)]}
    if kind == "classes":
        return Dataset.from_dict({**columns, "label": [draw.randrange(3) for _ in range(count)]})
    if kind == "ragged":  # as the library's cross-encoders take lists
        sizes = [draw.randrange(1, 5) for _ in range(count)]
        columns["documents"] = [[sentence(draw) for _ in range(size)] for size in sizes]
        labels = [[draw.randrange(3) for _ in range(size)] for size in sizes]
        return Dataset.from_dict({**columns, "label": labels})
    columns["sentence2"] = [sentence(draw) for _ in range(count)]
    for other in OTHER_COLUMNS.get(kind, ()):
        columns[other] = [sentence(draw) for _ in range(count)]
    labels = {
        "scored": lambda: round(draw.random(), 1),
        "binary": lambda: draw.randrange(2),
        "lists": lambda: [draw.randrange(3) for _ in range(3)],
        "margins": lambda: 4 * draw.random() - 2,
        "several margins": lambda: [4 * draw.random() - 2 for _ in range(2)],
        "vectors": lambda: [draw.gauss(0, 1) for _ in range(6)],
        "vectors of each": lambda: [[draw.gauss(0, 1) for _ in range(6)] for _ in range(2)],
    }
    if kind in labels:
        columns["label"] = [labels[kind]() for _ in range(count)]
    return Dataset.from_dict(columns)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"), layers=1)


def trained(model, loss, data, folder, **other):
    """The weights after a few steps of the library's own trainer."""
    is_cross = isinstance(model, CrossEncoder)
    arguments = CrossEncoderTrainingArguments if is_cross else SentenceTransformerTrainingArguments
    trainer = CrossEncoderTrainer if is_cross else SentenceTransformerTrainer
    chosen = arguments(
        output_dir=str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        learning_rate=other.pop("learning_rate", 0.01),
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        seed=1,
        disable_tqdm=True,
        **other,
    )
    trainer(model=model, args=chosen, train_dataset=data, loss=loss).train()
    # The library's batch losses call the model `sentence_embedder`.
    weights = {
        name.replace("sentence_embedder.", "model."): w for name, w in loss.named_parameters()
    }
    return {
        name: weight.detach().clone()
        for name, weight in weights.items()
        if not name.startswith("guide.")
    }


def agree(one, other):
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=1e-4, atol=1e-5, msg=name)


def other_encoder():
    """A second encoder with the tokens of `static_model`, and vectors of its own."""
    encoder = static_model()
    turned = torch.randn(6, 6, generator=torch.Generator().manual_seed(7))
    encoder[0].embedding.weight.data @= torch.eye(6) + 0.5 * turned
    return encoder


read = functools.cache(SentenceTransformer)


def transformer(folder):
    """Of its own weights at every call, read once."""
    return copy.deepcopy(read(folder))


def other_transformer(model):
    """A guide of the same architecture, with vectors of its own."""
    encoder = copy.deepcopy(model)
    encoder[0].auto_model.embeddings.word_embeddings.weight.data *= 3
    return encoder


def their_gist(model, **settings):
    """The library's, which takes no static embedding, past that question."""
    loss = bi.GISTEmbedLoss.__new__(bi.GISTEmbedLoss)
    nn.Module.__init__(loss)
    loss.model = model
    chosen = {"temperature": 0.01, "margin_strategy": "absolute", "margin": 0.0, **settings}
    chosen |= {"contrast_anchors": True, "contrast_positives": True, "must_retokenize": False}
    chosen |= {"gather_across_devices": False, "guide": other_encoder()}
    chosen |= {"similarity_fct": nn.CosineSimilarity(dim=-1)}
    vars(loss).update(chosen, cross_entropy_loss=nn.CrossEntropyLoss())
    return loss


TWINS = {
    **{
        f"embedding_mse, {kind}": (
            kind,
            lambda m: adapter.EmbeddingMseLoss(m),
            lambda m: bi.MSELoss(m),
        )
        for kind in ("vectors", "vectors of each")
    },
    "embedding_mse, EmbedDistill": (
        "vectors",
        lambda m: adapter.EmbeddingMseLoss(m),
        lambda m: bi.EmbedDistillLoss(m, distance_metric="mse"),
    ),
    "embedding_mse, EmbedDistill by cosines": (
        "vectors of each",
        lambda m: adapter.EmbeddingMseLoss(
            m, convention="sentence-transformers 6.2 EmbedDistillLoss (cosine)"
        ),
        lambda m: bi.EmbedDistillLoss(m),
    ),
    "gist": (
        "positives",
        lambda m: adapter.GistLoss(m, guide=other_encoder()),
        their_gist,
    ),
    "gist, relative margin and negatives": (
        "triplets",
        lambda m: adapter.GistLoss(
            m,
            guide=other_encoder(),
            convention="sentence-transformers 6.2, relative margin of 5 %",
        ),
        lambda m: their_gist(m, margin=0.05, margin_strategy="relative"),
    ),
    "cosent": ("scored", lambda m: adapter.CosentLoss(m), lambda m: bi.CoSENTLoss(m)),
    "angle": ("scored", lambda m: adapter.AngleLoss(m), lambda m: bi.AnglELoss(m)),
    "cosine_mse": (
        "scored",
        lambda m: adapter.CosineMseLoss(m),
        lambda m: bi.CosineSimilarityLoss(m),
    ),
    "contrastive": (
        "binary",
        lambda m: adapter.ContrastiveLoss(
            m, convention="sentence-transformers 6.2 ContrastiveLoss"
        ),
        lambda m: bi.ContrastiveLoss(m),
    ),
    "contrastive, graded labels": (
        "scored",
        lambda m: adapter.ContrastiveLoss(
            m, convention="sentence-transformers 6.2 ContrastiveLoss"
        ),
        lambda m: bi.ContrastiveLoss(m),
    ),
    "contrastive, Manhattan": (
        "scored",
        lambda m: adapter.ContrastiveLoss(
            m,
            convention="sentence-transformers 6.2, Manhattan distance",
            margin=2.0,
        ),
        lambda m: bi.ContrastiveLoss(
            m, distance_metric=bi.SiameseDistanceMetric.MANHATTAN, margin=2.0
        ),
    ),
    "online_contrastive": (
        "binary",
        lambda m: adapter.OnlineContrastiveLoss(m),
        lambda m: bi.OnlineContrastiveLoss(m),
    ),
    "info_nce": (
        "positives",
        lambda m: adapter.InfoNceLoss(m),
        lambda m: bi.MultipleNegativesRankingLoss(m),
    ),
    "info_nce with negatives": (
        "triplets",
        lambda m: adapter.InfoNceLoss(m, temperature=0.1),
        lambda m: bi.MultipleNegativesRankingLoss(m, scale=10),
    ),
    "info_nce both ways": (
        "positives",
        lambda m: adapter.InfoNceLoss(m, symmetric=True),
        lambda m: bi.MultipleNegativesSymmetricRankingLoss(m),
    ),
    "info_nce, four directions": (
        "triplets",
        lambda m: adapter.InfoNceLoss(
            m, convention="sentence-transformers 6.2, four directions in one softmax (GTE)"
        ),
        lambda m: bi.MultipleNegativesRankingLoss(
            m, directions=("query_to_doc", "query_to_query", "doc_to_query", "doc_to_doc")
        ),
    ),
    "info_nce, hardness": (
        "triplets",
        lambda m: adapter.InfoNceLoss(m, hardness=5.0, hardness_on="hard"),
        lambda m: bi.MultipleNegativesRankingLoss(
            m, hardness_mode="hard_negatives", hardness_strength=5.0
        ),
    ),
    "info_nce, hardness in the batch": (
        "triplets",
        lambda m: adapter.InfoNceLoss(m, hardness=9.0, temperature=0.1),
        lambda m: bi.MultipleNegativesRankingLoss(
            m, scale=10, hardness_mode="in_batch_negatives", hardness_strength=9.0
        ),
    ),
    "info_nce, dot products": (
        "triplets",
        lambda m: adapter.InfoNceLoss(m, convention="sentence-transformers 6.2, dot products"),
        lambda m: bi.MultipleNegativesRankingLoss(m, scale=1, similarity_fct=dot_score),
    ),
    "info_nce, both directions in one softmax": (
        "positives",
        lambda m: adapter.InfoNceLoss(
            m, convention="sentence-transformers 6.2, both directions in one softmax"
        ),
        lambda m: bi.MultipleNegativesRankingLoss(m, directions=("query_to_doc", "doc_to_query")),
    ),
    "mega_batch_margin": (
        "positives",
        lambda m: adapter.MegaBatchMarginLoss(m),
        lambda m: bi.MegaBatchMarginLoss(m, use_mini_batched_version=False),
    ),
    "margin_mse": (
        "margins",
        lambda m: adapter.MarginMseLoss(m, similarity="dot"),
        lambda m: bi.MarginMSELoss(m),
    ),
    "distill_kl": (
        "lists",
        lambda m: adapter.DistillKlLoss(m, similarity="dot", temperature=2.0),
        lambda m: bi.DistillKLDivLoss(m, temperature=2.0),
    ),
    "triplet": (
        "triplets",
        lambda m: adapter.TripletLoss(m, margin=5.0),
        lambda m: bi.TripletLoss(m),
    ),
    "triplet, by convention": (
        "triplets",
        lambda m: adapter.TripletLoss(m, convention="sentence-transformers 6.2 TripletLoss"),
        lambda m: bi.TripletLoss(m),
    ),
    "orthogonal": (
        "positives",
        lambda m: adapter.OrthogonalLoss(m),
        lambda m: bi.GlobalOrthogonalRegularizationLoss(m),
    ),
    "triplet, all": (
        "classes",
        lambda m: adapter.TripletLoss(m, convention="sentence-transformers 6.2 BatchAll"),
        lambda m: bi.BatchAllTripletLoss(m),
    ),
    "triplet, hard": (
        "classes",
        lambda m: adapter.TripletLoss(m, convention="sentence-transformers 6.2 BatchHard"),
        lambda m: bi.BatchHardTripletLoss(m),
    ),
    "triplet, Manhattan": (
        "triplets",
        lambda m: adapter.TripletLoss(
            m,
            convention="sentence-transformers 6.2, Manhattan distance (given triplets)",
        ),
        lambda m: bi.TripletLoss(m, distance_metric=bi.TripletDistanceMetric.MANHATTAN),
    ),
    "triplet, hard and soft": (
        "classes",
        lambda m: adapter.TripletLoss(
            m, convention="sentence-transformers 6.2 BatchHardSoftMargin"
        ),
        lambda m: bi.BatchHardSoftMarginTripletLoss(m),
    ),
    "matryoshka of cosent": (
        "scored",
        lambda m: adapter.training_loss("matryoshka(cosent,6,2)")(m),
        lambda m: bi.MatryoshkaLoss(m, bi.CoSENTLoss(m), matryoshka_dims=[6, 2]),
    ),
    "matryoshka of margin_mse": (
        "margins",
        lambda m: adapter.training_loss("matryoshka(margin_mse,6,2)")(m),
        lambda m: bi.MatryoshkaLoss(m, bi.MarginMSELoss(m), matryoshka_dims=[6, 2]),
    ),
    "triplet, semi-hard": (
        "classes",
        lambda m: adapter.TripletLoss(m, convention="sentence-transformers 6.2 BatchSemiHard"),
        lambda m: bi.BatchSemiHardTripletLoss(m),
    ),
}


# Of the library's own, these want a transformer: they take a batch in pieces, or have a guide.
OF_TRANSFORMERS = {
    "gist": (
        "positives",
        lambda m: adapter.GistLoss(m, guide=other_transformer(m), temperature=0.05),
        lambda m: bi.GISTEmbedLoss(m, other_transformer(m), temperature=0.05),
    ),
    "gist, cached": (
        "triplets",
        lambda m: adapter.GistLoss(m, guide=other_transformer(m), temperature=0.05),
        lambda m: bi.CachedGISTEmbedLoss(
            m, other_transformer(m), temperature=0.05, mini_batch_size=3
        ),
    ),
    "info_nce both ways, cached": (
        "positives",
        lambda m: adapter.InfoNceLoss(m, symmetric=True),
        lambda m: bi.CachedMultipleNegativesSymmetricRankingLoss(m, mini_batch_size=3),
    ),
    "info_nce, cached": (
        "positives",
        lambda m: adapter.InfoNceLoss(m),
        lambda m: bi.CachedMultipleNegativesRankingLoss(m, mini_batch_size=3),
    ),
    "mega_batch_margin, in pieces": (
        "positives",
        lambda m: adapter.MegaBatchMarginLoss(m),
        lambda m: bi.MegaBatchMarginLoss(m, mini_batch_size=3),
    ),
}


@pytest.mark.trains
@pytest.mark.parametrize("twin", OF_TRANSFORMERS)
def test_a_transformer_trains_as_with_the_librarys_own_loss(twin, bert, tmp_path):
    kind, mine, theirs = OF_TRANSFORMERS[twin]
    models = transformer(bert), transformer(bert)
    plain = {"optim": "sgd", "learning_rate": 0.1}  # as for a cross-encoder below
    one = trained(models[0], mine(models[0]), rows(kind), tmp_path, **plain)
    other = trained(models[1], theirs(models[1]), rows(kind), tmp_path, **plain)
    agree(one, other)
    before = read(bert).state_dict()
    moved = [models[0].state_dict()[name] - before[name] for name in before]
    assert max(float(one.abs().max()) for one in moved if one.is_floating_point()) > 0.01


@pytest.mark.trains
@pytest.mark.parametrize("twin", TWINS)
def test_training_goes_as_with_the_librarys_own_loss(twin, tmp_path):
    kind, mine, theirs = TWINS[twin]
    models = static_model(), static_model()
    before = models[0].state_dict()["0.embedding.weight"].clone()
    one = trained(models[0], mine(models[0]), rows(kind), tmp_path)
    other = trained(models[1], theirs(models[1]), rows(kind), tmp_path)
    agree(one, other)
    assert not torch.allclose(before, one["model.0.embedding.weight"], atol=0.01)


class TheirMultitask(nn.Module):
    """CoSENT and the classifier of Sentence-BERT, put together from the library's parts."""

    def __init__(self, model, alpha):
        super().__init__()
        self.model, self.alpha = model, alpha
        self.ranking = bi.CoSENTLoss(model)
        self.naming = bi.SoftmaxLoss(model, model.get_embedding_dimension(), num_labels=2)

    def forward(self, columns, labels):
        classes = (labels >= 0.5).long()
        return self.ranking(columns, labels) + self.alpha * self.naming(columns, classes)


def test_the_classifier_of_the_multitask_loss_trains_as_sentence_bert_does(tmp_path):
    models = static_model(), static_model()
    mine = adapter.MultitaskCosentLoss(models[0], alpha=3.0)
    theirs = TheirMultitask(models[1], alpha=3.0)
    theirs.naming.classifier.load_state_dict(mine.classifier.state_dict())
    one = trained(models[0], mine, rows("scored"), tmp_path)
    other = trained(models[1], theirs, rows("scored"), tmp_path)
    torch.testing.assert_close(
        one["model.0.embedding.weight"], other["model.0.embedding.weight"], rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(
        one["classifier.weight"], other["naming.classifier.weight"], rtol=1e-4, atol=1e-5
    )


CROSS_TWINS = {
    "list_net": ("ragged", lambda m: adapter.ListNetLoss(m), lambda m: cross.ListNetLoss(m)),
    "list_mle": (
        "ragged",
        lambda m: adapter.ListMleLoss(m, order="given"),
        lambda m: cross.ListMLELoss(m),
    ),
    "list_mle, weighted": (
        "ragged",
        lambda m: adapter.ListMleLoss(m, convention="sentence-transformers 6.2 PListMLELoss"),
        lambda m: cross.PListMLELoss(m),
    ),
    "lambda_loss": ("ragged", lambda m: adapter.LambdaLoss(m), lambda m: cross.LambdaLoss(m)),
    "lambda_loss, none: RankNet": (
        "ragged",
        lambda m: adapter.LambdaLoss(m, scheme="none"),
        lambda m: cross.RankNetLoss(m),
    ),
    "lambda_loss, lambdarank at k": (
        "ragged",
        lambda m: adapter.LambdaLoss(m, scheme="lambdarank", k=2),
        lambda m: cross.LambdaLoss(m, weighting_scheme=LambdaRankScheme(), k=2),
    ),
    "adr_mse": ("ragged", lambda m: adapter.AdrMseLoss(m), lambda m: cross.ADRMSELoss(m)),
    "margin_mse": (
        "margins",
        lambda m: adapter.MarginMseLoss(m),
        lambda m: cross.MarginMSELoss(m),
    ),
    **{
        f"margin_mse, {kind}": (
            kind,
            lambda m: adapter.MarginMseLoss(m),
            lambda m: cross.MarginMSELoss(m),
        )
        for kind in ("several margins", "lists")
    },
    "binary_cross_entropy": (
        "binary",
        lambda m: adapter.BinaryCrossEntropyLoss(m),
        lambda m: cross.BinaryCrossEntropyLoss(m),
    ),
    "binary_cross_entropy, graded labels": (
        "scored",
        lambda m: adapter.BinaryCrossEntropyLoss(
            m, convention="sentence-transformers 6.2 BinaryCrossEntropyLoss"
        ),
        lambda m: cross.BinaryCrossEntropyLoss(m),
    ),
    "cosine_mse": ("scored", lambda m: adapter.CosineMseLoss(m), lambda m: cross.MSELoss(m)),
}


def cross_encoder(folder):
    """Of its own weights at every call."""
    return copy.deepcopy(made_cross_encoder(folder))


@functools.cache
def made_cross_encoder(folder):
    """Of weights that are large enough for texts to differ in their scores, and losses by them."""
    torch.manual_seed(0)
    encoder = CrossEncoder(folder, num_labels=1)
    with torch.no_grad():
        for weight in encoder.parameters():
            if weight.ndim == 2:
                weight.mul_(15)
    return encoder


@pytest.mark.trains
@pytest.mark.parametrize("twin", CROSS_TWINS)
def test_a_cross_encoder_trains_as_with_the_librarys_own_loss(twin, bert, tmp_path):
    kind, mine, theirs = CROSS_TWINS[twin]
    models = cross_encoder(bert), cross_encoder(bert)
    before = dict(made_cross_encoder(bert).named_parameters())
    # Adam makes much of a rounding where a slope is 0, as a shift of all scores of a list is.
    plain = {"optim": "sgd", "learning_rate": 0.3}
    chosen = {} if kind in ("binary", "scored") else plain
    one = trained(models[0], mine(models[0]), rows(kind), tmp_path, **chosen)
    other = trained(models[1], theirs(models[1]), rows(kind), tmp_path, **chosen)
    agree(one, other)
    moved = [(one - before[name]).abs().max() for name, one in models[0].named_parameters()]
    assert max(map(float, moved)) > 0.003


def batch(model, kind, count=6):
    data = rows(kind, count)
    texts = [list(data[name]) for name in data.column_names if name != "label"]
    labels = torch.tensor(data["label"]) if "label" in data.column_names else None
    return texts, labels


def value(loss, kind, count=6):
    texts, labels = batch(loss.model, kind, count)
    if isinstance(loss.model, CrossEncoder):
        return loss(texts, labels)
    return loss([loss.model.preprocess(column) for column in texts], labels)


CLASSES_OF_THEIR_OWN = {name for name, spec in LOSSES.items() if "prototypes" in spec.reads}
ON_LISTS = {name for name, spec in LOSSES.items() if "lists" in spec.needs}


def taught(name):
    """A teacher of vectors, for a loss that learns them."""
    return {"teacher": other_encoder()} if "teacher_vectors" in LOSSES[name].needs else {}


@pytest.mark.parametrize("name", [n for n in LOSSES if n not in CLASSES_OF_THEIR_OWN | ON_LISTS])
@pytest.mark.parametrize("kind", ["scored", "binary", "triplets"])
def test_every_loss_trains_from_scored_pairs_and_from_triplets(name, kind):
    settings = taught(name) or ({"mining": "all"} if name == "triplet" else {})
    model = static_model() if taught(name) else static_model(width=5)  # odd: AnglE halves it
    loss = adapter.TRAINING_LOSSES[name](model, **settings)
    found = value(loss, kind)
    found.backward()
    assert found.isfinite()
    assert model[0].embedding.weight.grad.abs().sum() > 0


CONVENTIONS = [
    (name, convention.name)
    for name, spec in LOSSES.items()
    if name not in CLASSES_OF_THEIR_OWN
    for convention in spec.conventions
]


@pytest.mark.parametrize(("name", "convention"), CONVENTIONS)
def test_every_convention_trains_as_it_is_defined(name, convention):
    model = static_model()
    loss = adapter.TRAINING_LOSSES[name](model, convention=convention, **taught(name))
    on_others = "triplets" if "lists" in loss.spec.needs else "binary"
    texts, labels = batch(model, "lists" if name in ON_LISTS else on_others, 12)
    columns = [model.preprocess(column) for column in texts]
    examples = loss.examples(columns, labels, None, None)
    defined = loss.spec.definition(**loss.arguments(examples), **loss.settings)
    found = loss(columns, labels)
    torch.testing.assert_close(found, defined, rtol=1e-4, atol=1e-5)
    found.backward()
    assert model[0].embedding.weight.grad.isfinite().all()


@pytest.mark.parametrize("name", ["supcon", "triplet", *sorted(CLASSES_OF_THEIR_OWN)])
def test_losses_on_classes_train_from_one_column(name):
    model = static_model()
    own = {"class_count": 3} if name in CLASSES_OF_THEIR_OWN else {}
    loss = adapter.TRAINING_LOSSES[name](
        model, **own, **({"mining": "hard"} if name == "triplet" else {})
    )
    found = value(loss, "classes", 12)
    found.backward()
    assert found > 0 or name == "proxy_nca"
    if own:
        assert loss.prototypes.grad.abs().sum() > 0


@pytest.mark.parametrize("name", LOSSES)
def test_a_cross_encoder_takes_the_losses_on_pair_scores_and_says_no_to_the_rest(name, bert):
    model = cross_encoder(bert)
    own = {"class_count": 3} if name in CLASSES_OF_THEIR_OWN else {}
    if name in CLASSES_OF_THEIR_OWN or not LOSSES[name].reads_scores_only:
        if own:
            return  # a cross-encoder has no vector that prototypes could be compared with
        with pytest.raises(ValueError, match="cross-encoder gives one score"):
            value(adapter.TRAINING_LOSSES[name](model), "binary")
        return
    found = value(adapter.TRAINING_LOSSES[name](model), "lists" if name in ON_LISTS else "binary")
    found.backward()
    assert found.isfinite()


def test_a_trainer_takes_the_former_name_of_a_convention():
    loss = adapter.InfoNceLoss(
        static_model(), convention="sentence-transformers MultipleNegativesSymmetricRankingLoss"
    )
    today = "sentence-transformers 6.2 MultipleNegativesSymmetricRankingLoss"
    assert (loss.convention, loss.settings["symmetric"]) == (today, True)


def test_a_guide_of_other_tokens_reads_the_same_texts(bert):
    """Texts are put together from the model's tokens, and taken apart by the guide's."""
    model, guide = transformer(bert), other_encoder()
    loss = adapter.GistLoss(model, guide=guide)
    texts, _ = batch(model, "positives")
    found = loss.examples([model.preprocess(column) for column in texts], None, None, None)
    for column, vectors in zip(texts, found.guide, strict=True):
        torch.testing.assert_close(vectors, guide.encode(column, convert_to_tensor=True))
    assert not any(name.startswith("guide") for name, _ in loss.named_parameters())
    assert loss.get_config_dict()["guide"] == "SentenceTransformer"


def test_only_a_loss_that_reads_a_guide_takes_one():
    with pytest.raises(ValueError, match="InfoNceLoss reads no guide; these do: gist"):
        adapter.InfoNceLoss(static_model(), guide=static_model())
    with pytest.raises(ValueError, match="the guide has no tokenizer"):
        adapter.GistLoss(static_model(), guide=nn.Linear(2, 2))


def test_the_rules_are_those_of_the_page():
    """The same batch gives the same loss as the explorer computes, whatever a loss reads."""
    from lossprism.explorer.core.batch import Batch, _components
    from lossprism.explorer.core.scenario import Rules
    from lossprism.explorer.sources.pairs import Pairs

    model = static_model()
    texts, labels = batch(model, "scored", 12)
    with torch.no_grad():
        first, second = (model(model.preprocess(t))["sentence_embedding"] for t in texts)
        encoded = [other_encoder()(model.preprocess(t))["sentence_embedding"] for t in texts]
    vectors, teacher = torch.cat([first, second]).double(), torch.cat(encoded)
    places = torch.arange(12), torch.arange(12, 24)
    labels = 1 + labels * 4
    positive = labels >= 3
    read = Batch(
        pairs=Pairs(("",) * 12, ("",) * 12, tuple(labels.tolist())),
        vectors=vectors,
        given=None,
        labels=labels.double(),
        first=places[0],
        second=places[1],
        threshold=3.0,
        label_range=(1.0, 5.0),
        positive=positive,
        classes=_components(*places, positive, 24),
        rules=Rules(),
        teacher_vectors=teacher.double(),
    )
    for name, spec in LOSSES.items():
        if name in CLASSES_OF_THEIR_OWN | ON_LISTS | {"hierarchical_cosent", "multitask_cosent"}:
            continue  # these bring parts of their own, or read lists (`test_lists_training`)
        settings = {"mining": "all"} if name == "triplet" else {}
        chosen = {"label_range": (1.0, 5.0), **taught(name), **settings}
        loss = adapter.TRAINING_LOSSES[name](model, **chosen)
        columns = [model.preprocess(column) for column in texts]
        here = loss(columns, labels)
        given = {n: read.read(what, vectors, read.scores) for n, what in spec.reads.items()}
        there = spec.function(**{n: t for n, t in given.items() if t is not None}, **settings)
        assert float(here.detach()) == pytest.approx(float(there), rel=1e-4), name


def test_what_a_loss_may_read_is_there_or_learned():
    """Nothing that the one table names is forgotten here, and nothing has another name."""
    learned = {"prototypes", "pair_logits", "level_scores"}
    given = {*dir(adapter.Examples), *adapter.Examples.__dataclass_fields__}
    assert set(READABLE) - given == learned


def test_levels_of_a_transformer(tmp_path):
    model = SentenceTransformer(save_bert(tmp_path))
    loss = adapter.HierarchicalCosentLoss(model, weights=(0.5, 1.0, 2.0))
    assert loss.levels == ("token", "layer:1", "sentence")
    texts, labels = batch(model, "scored")
    columns = [model.preprocess(column) for column in texts]
    outputs = [model(dict(column)) for column in columns]
    hidden = [
        model[0].model(
            **{k: c[k] for k in ("input_ids", "attention_mask")}, output_hidden_states=True
        )
        for c in columns
    ]
    sides = []
    for column, states in zip(columns, hidden, strict=True):
        mask = column["attention_mask"][:, :, None]
        sides.append((states.hidden_states[1] * mask).sum(1) / mask.sum(1))
    cos = nn.functional.cosine_similarity
    tokens = []
    for a, b in zip(range(6), range(6), strict=True):
        one = outputs[0]["token_embeddings"][a][outputs[0]["attention_mask"][a].bool()]
        two = outputs[1]["token_embeddings"][b][outputs[1]["attention_mask"][b].bool()]
        near = cos(one[:, None], two[None], dim=2)
        tokens.append((near.amax(1).mean() + near.amax(0).mean()) / 2)
    sentence_scores = cos(outputs[0]["sentence_embedding"], outputs[1]["sentence_embedding"])
    from lossprism.losses import cosent

    expected = (
        0.5 * cosent(torch.stack(tokens), labels)
        + cosent(cos(*sides), labels)
        + 2 * cosent(sentence_scores, labels)
    )
    assert loss(columns, labels).item() == pytest.approx(expected.item(), rel=1e-5)
    loss(columns, labels).backward()
    assert not any(loss._states.values())


def test_what_cannot_be_trained_is_reported():
    model = static_model()
    with pytest.raises(ValueError, match="no label"):
        value(adapter.CosentLoss(model), "positives")
    with pytest.raises(ValueError, match="two columns"):
        value(adapter.CosentLoss(model), "classes")
    with pytest.raises(ValueError, match="three columns"):
        value(adapter.training_loss("triplet")(model), "positives")
    with pytest.raises(ValueError, match="one column"):
        value(adapter.SoftmaxLoss(model, class_count=2), "binary")
    with pytest.raises(TypeError, match="no parameter 'margin'; it has: scale"):
        adapter.CosentLoss(model, margin=1)
    with pytest.raises(ValueError, match="the model has 0 layers"):
        adapter.HierarchicalCosentLoss(model, levels=("layer:1",))
    with pytest.raises(ValueError, match="unknown"):
        adapter.HierarchicalCosentLoss(model, levels=("paragraph",))


def test_labels_that_do_not_fit_the_columns_are_reported(bert):
    loss, vectors = adapter.CosentLoss(static_model()), torch.ones(6, 6)
    texts, _ = batch(loss.model, "positives")
    with pytest.raises(ValueError, match=r"\(6, 6\); with 2 columns of text each row needs one"):
        loss([loss.model.preprocess(column) for column in texts], vectors)
    loss = adapter.MarginMseLoss(cross_encoder(bert))
    texts, labels = batch(loss.model, "lists", 2)
    with pytest.raises(ValueError, match=r"the rows have \[3, 2\] labels"):
        loss(texts, [labels[0], labels[1][:2]])


@pytest.mark.parametrize("name", ["CosentLoss", "PairwiseHingeLoss"])
def test_a_list_of_labels_has_one_for_each_candidate(name):
    model = static_model()
    columns = [model.preprocess(["red cat", "old dog"]) for _ in range(3)]
    with pytest.raises(ValueError, match=r"shape \(2, 3\); a row needs a number for each of the 2"):
        getattr(adapter, name)(model)(columns, torch.rand(2, 3))


@pytest.mark.parametrize("name", ["CosentLoss", "InfoNceLoss", "UniformityLoss"])
def test_there_are_as_many_labels_as_pairs(name):
    model = static_model()
    columns = [model.preprocess(["red cat", "old dog"]) for _ in range(2)]
    with pytest.raises(ValueError, match="3 labels for 2 pairs of 2 rows"):
        getattr(adapter, name)(model)(columns, torch.tensor([1.0, 0.0, 1.0]))


@pytest.mark.parametrize("name", sorted(CLASSES_OF_THEIR_OWN))
def test_a_loss_with_prototypes_says_under_its_own_name_that_it_asks_for_a_count(name):
    kind = adapter.TRAINING_LOSSES[name]
    with pytest.raises(TypeError, match=f"{kind.__name__} .* pass class_count"):
        kind(static_model())


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("cosent", {}),
        ("cosine_mse", {"label_range": (0.0, 2.0)}),
        ("binary_cross_entropy", {"threshold": 2.0}),
        ("lambda_loss+cosine_mse", {"label_range": (0.0, 2.0)}),
    ],
)
def test_candidates_in_columns_are_those_of_a_list(name, settings, bert):
    """A column for each candidate, or one list of them: the labels say the same of each."""
    loss = adapter.training_loss(name)(cross_encoder(bert).eval(), **settings)
    texts, labels = batch(loss.model, "lists")
    documents = [list(row) for row in zip(*texts[1:], strict=True)]
    found = loss([texts[0], documents], list(labels))
    torch.testing.assert_close(loss(texts, labels), found)
    torch.testing.assert_close(loss(texts, list(labels)), found)  # as its trainer hands them over


def test_a_batch_without_a_positive_teaches_nothing():
    model = static_model()
    loss = adapter.InfoNceLoss(model, label_range=(0.0, 5.0))
    found = value(loss, "binary")
    found.backward()
    assert found == 0
    assert model[0].embedding.weight.grad.abs().sum() == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "learns a teacher's vectors"),
        (torch.ones(6), r"have the shape \[6\]"),
        (torch.ones(6, 5), r"\[6, 6\] or \[6, 2, 6\] is needed"),
        (torch.ones(6, 3, 6), r"have the shape \[6, 3, 6\]; with 2 columns"),
    ],
)
def test_a_teachers_vectors_fit_the_texts(labels, message):
    model = static_model()
    texts, _ = batch(model, "positives")
    columns = [model.preprocess(column) for column in texts]
    with pytest.raises(ValueError, match=message):
        adapter.EmbeddingMseLoss(model)(columns, labels)


def test_a_teacher_of_vectors_encodes_each_text():
    model, teacher = static_model(), other_encoder()
    texts, labels = batch(model, "scored")
    columns = [model.preprocess(column) for column in texts]
    encoded = torch.stack([teacher(column)["sentence_embedding"] for column in columns], dim=1)
    loss = adapter.EmbeddingMseLoss(model, teacher=teacher)
    found = loss(columns, labels)
    torch.testing.assert_close(found, adapter.EmbeddingMseLoss(model)(columns, encoded.detach()))
    assert not any(name.startswith("teacher") for name, _ in loss.named_parameters())
    assert loss.get_config_dict()["teacher"] == "SentenceTransformer"
    alone = adapter.EmbeddingMseLoss(model)(columns[:1], encoded[:, 0])
    torch.testing.assert_close(alone, loss(columns[:1]))
    # Beside another loss, which reads the labels.
    both = adapter.training_loss("embedding_mse+cosine_mse")(model, teacher=teacher)
    rest = adapter.CosineMseLoss(model)(columns, labels)
    torch.testing.assert_close(both(columns, labels), found + rest)
    with pytest.raises(ValueError, match="have 5 numbers and the model's 6"):
        adapter.EmbeddingMseLoss(model, teacher=static_model(width=5))(columns, labels)
    for apart in ("embedding_mse+arcface", "embedding_mse+queue(info_nce)"):
        with pytest.raises(ValueError, match="cannot be trained as one sum"):
            adapter.training_loss(apart)
