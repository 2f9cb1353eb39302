"""Classes that are called as those of sentence-transformers: its value and gradient, by default."""

from __future__ import annotations

import inspect

import pytest
import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder import losses as cross
from sentence_transformers.sentence_transformer import losses as bi

import lossprism.losses.sentence_transformers as adapter
from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    EXPORTED,
    NEAR_NAMES,
    library_convention,
    trains_as_one,
)
from lossprism.losses.sentence_transformers.loss_call_recorder import TrainerCall
from lossprism.losses.sentence_transformers.loss_replay import measured
from tests.tiny import save_bert, static_model
from tests.unit.losses.test_sentence_transformers import cross_encoder

# It has no defaults: the library's wants a count of labels, and ours one of classes.
WITHOUT_DEFAULTS = {"softmax"}

ANCHORS = ["cat", "dog runs", "sun shines hot", "old cat sleeps"]
OTHERS = ["cat sleeps", "red dog", "sun", "big dog runs old"]
NEGATIVES = ["hot", "small cat", "dog dog red", "sun runs"]
CANDIDATES = [["cat", "red dog", "sun hot"], ["dog", "old cat"], ["big", "sun", "red", "dog runs"]]
QUERIES = ["old dog", "sun shines", "cat runs hot"]
# Graded, odd and equal labels; of a cross-encoder's lists, one without any that differ.
PAIR_LABELS = (
    [1.0, 0.0, 0.0, 1.0],
    [0.9, 0.2, 0.4, 0.6],
    [2.0, -1.0, 1.0, 0.0],
    [3.0, 5.0, 1.0, 0.0],
)
LIST_LABELS = (
    [[1.0, 0.0, 0.0], [0.0, 1.0], [0.0, 0.0, 1.0, 1.0]],
    [[0.3, 0.9, 0.1], [0.5, 0.2], [0.0, 0.7, 1.0, 0.4]],
    [[3.0, 0.0, 1.0], [2.0, 2.0], [0.0, 4.0, 1.0, 2.0]],
)
# In pieces, as by default, it takes no static embedding; the number is the same.
SETTINGS = {"MegaBatchMarginLoss": {"use_mini_batched_version": False}}


def classes_of(module):
    return {name.lower(): name for name in dir(module) if inspect.isclass(getattr(module, name))}


def same_names(module):
    """Each loss whose class has, but for case, the name of one of the module's, with that name."""
    theirs = classes_of(module)
    named = {loss: NEAR_NAMES.get(loss, made.__name__) for loss, made in EXPORTED.items()}
    found = {loss: theirs.get(name.lower()) for loss, name in named.items()}
    return {loss: name for loss, name in found.items() if name and loss not in WITHOUT_DEFAULTS}


BI, CROSS = same_names(bi), same_names(cross)


def value_and_gradient(loss, *batch):
    loss.model.zero_grad()
    value = loss(*batch)
    value.backward()
    return value.detach(), [w.grad.clone() for w in loss.model.parameters() if w.grad is not None]


def agree(mine, theirs):
    torch.testing.assert_close(mine[0], theirs[0], rtol=1e-5, atol=1e-6)
    assert len(mine[1]) == len(theirs[1])
    for one, other in zip(mine[1], theirs[1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_every_class_that_is_named_like_the_librarys_has_its_convention():
    assert {"contrastive", "triplet", "margin_mse", "distill_kl"} <= set(BI)
    assert {"list_mle", "list_net", "lambda_loss", "adr_mse"} <= set(CROSS)
    for loss in {*BI, *CROSS}:
        assert library_convention(LOSSES[loss]), loss


def bi_batches(name):
    """(columns, labels) that the class learns from."""
    if name == "MegaBatchMarginLoss":
        return [([ANCHORS, OTHERS], None)]
    if name == "TripletLoss":
        return [([ANCHORS, OTHERS, NEGATIVES], None)]
    if name == "MarginMSELoss":
        return [([ANCHORS, OTHERS, NEGATIVES], torch.tensor([0.4, 3.0, -1.0, 0.0]))]
    if name == "DistillKLDivLoss":
        return [([ANCHORS, OTHERS, NEGATIVES], torch.tensor([[1.0, 0], [2, 5], [0, 0], [9, -1]]))]
    return [([ANCHORS, OTHERS], torch.tensor(labels)) for labels in PAIR_LABELS]


@pytest.mark.filterwarnings("ignore")  # what either makes of odd labels
@pytest.mark.parametrize("loss", BI)
def test_a_bi_encoders_class_gives_the_librarys_value_and_gradient(loss):
    for columns, labels in bi_batches(BI[loss]):
        model = static_model()
        read = [model.preprocess(column) for column in columns]
        mine = value_and_gradient(getattr(adapter, EXPORTED[loss].__name__)(model), read, labels)
        theirs = getattr(bi, BI[loss])(model, **SETTINGS.get(BI[loss], {}))
        agree(mine, value_and_gradient(theirs, read, labels))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"), layers=1)


def cross_batches(name):
    if name == "MarginMSELoss":
        return [([ANCHORS, OTHERS, NEGATIVES], torch.tensor([0.4, 3.0, -1.0, 0.0]))]
    if name == "BinaryCrossEntropyLoss":
        return [([ANCHORS, OTHERS], torch.tensor(labels)) for labels in PAIR_LABELS]
    return [([QUERIES, CANDIDATES], [torch.tensor(one) for one in label]) for label in LIST_LABELS]


def in_evaluation(model: CrossEncoder) -> CrossEncoder:
    return model.eval()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loss", CROSS)
def test_a_cross_encoders_class_gives_the_librarys_value_and_gradient(loss, bert):
    model = in_evaluation(cross_encoder(bert))
    for columns, labels in cross_batches(CROSS[loss]):
        mine = value_and_gradient(EXPORTED[loss](model), columns, labels)
        agree(mine, value_and_gradient(getattr(cross, CROSS[loss])(model), columns, labels))


@pytest.mark.parametrize("labels", LIST_LABELS)
def test_ranknet_compares_within_lists_as_the_library(labels, bert):
    model = in_evaluation(cross_encoder(bert))
    convention = "sentence-transformers 6.2 RankNetLoss (mean / ln 2)"
    loss = adapter.PairwiseLogisticLoss(model, convention=convention)
    batch = [QUERIES, CANDIDATES], [torch.tensor(one) for one in labels]
    agree(value_and_gradient(loss, *batch), value_and_gradient(cross.RankNetLoss(model), *batch))


MULTIPLE_NEGATIVES = "cross_encoder.losses.MultipleNegativesRankingLoss"
CACHED = "cross_encoder.losses.CachedMultipleNegativesRankingLoss"


def every_other_text(first, second):
    """A list for each first text: its own second text, then all others."""
    places = range(len(first))
    lists = [[second[row], *(second[one] for one in places if one != row)] for row in places]
    return [first, lists], [torch.tensor([1.0, *[0.0] * (len(first) - 1)]) for _ in places]


@pytest.mark.parametrize(
    "name", [MULTIPLE_NEGATIVES, MULTIPLE_NEGATIVES.replace("Mult", "CachedMult")]
)
def test_in_batch_negatives_of_a_cross_encoder_are_lists(name, bert):
    """With its own scale and sigmoid; it draws some of the negatives unless it is set to take
    all."""
    model = in_evaluation(cross_encoder(bert))
    theirs = getattr(cross, name.rpartition(".")[2])(model, num_negatives=None)
    mine = adapter.training_loss(name)(model)
    agree(
        value_and_gradient(mine, *every_other_text(ANCHORS, OTHERS)),
        value_and_gradient(theirs, [ANCHORS, OTHERS], None),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", PAIR_LABELS)
def test_distillation_of_a_cross_encoder_takes_labels_as_they_are(labels, bert):
    model = in_evaluation(cross_encoder(bert))
    mine = adapter.training_loss("cross_encoder.losses.MSELoss")(model)
    batch = [ANCHORS, OTHERS], torch.tensor(labels)
    agree(value_and_gradient(mine, *batch), value_and_gradient(cross.MSELoss(model), *batch))


COMPARING = [name for name, spec in LOSSES.items() if spec.compares_pairs]


@pytest.mark.parametrize("name", COMPARING)
def test_pairs_of_different_lists_do_not_meet(name):
    """A loss that compares pairs gives the mean of what it gives each list alone."""
    torch.manual_seed(0)
    loss = adapter.training_loss(name)(static_model(width=6), label_range=(0, 1))
    labels = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.0, 0.8]])

    def value(*rows):
        columns = [[column[row] for row in rows] for column in (ANCHORS, OTHERS, NEGATIVES)]
        return loss([loss.model.preprocess(c) for c in columns], labels[list(rows)])

    alone = torch.stack([value(row) for row in range(4)])
    torch.testing.assert_close(value(0, 1, 2, 3), alone.mean())
    assert float(alone.detach().std()) > 0


# A sum of each pairwise loss with one on in-batch negatives; one of lists; one with a queue.
SUMS_WITH_PAIRS = [
    *(n for one in COMPARING if trains_as_one(LOSSES[n := f"info_nce+{one}"])),
    "cosine_mse+cosent",
    "list_net+cosent",
    "queue(info_nce)+cosent",
    "supcon+matryoshka(cosent,4)",
]


def batch_of_lists(model):
    """Four lists of a positive and a negative, each with a label for both."""
    labels = torch.tensor([[1.0, 0.0], [1.0, 0.4], [0.9, 0.1], [0.8, 0.0]])
    return [model.preprocess(column) for column in (ANCHORS, OTHERS, NEGATIVES)], labels


def in_lists(loss):
    """The value and the gradient of a loss on them."""
    value = loss(*batch_of_lists(loss.model))
    return value, torch.autograd.grad(value, list(loss.model.parameters()), allow_unused=True)


@pytest.mark.parametrize("name", SUMS_WITH_PAIRS)
def test_each_part_of_a_sum_compares_as_it_does_alone(name):
    """In lists, the part on pairs within each of them, and the part in the batch over all."""
    torch.manual_seed(0)
    model = static_model(width=6)
    loss = adapter.training_loss(name)(model, label_range=(0, 1))
    whole, slopes = in_lists(loss)
    parts = [
        in_lists(adapter.training_loss(part)(model, label_range=(0, 1))) for part in name.split("+")
    ]
    weights = [loss.settings.get(f"weight_of_{part}", 1) for part in name.split("+")]
    torch.testing.assert_close(
        whole, sum(w * one for w, (one, _) in zip(weights, parts, strict=True))
    )
    for slope, *of_parts in zip(slopes, *(one for _, one in parts), strict=True):
        expected = sum(w * one for w, one in zip(weights, of_parts, strict=True))
        torch.testing.assert_close(slope, expected)


@pytest.mark.parametrize("reference_value", ["collapse", "floor"])
def test_reference_values_of_a_sum_in_lists_are_those_of_its_parts(reference_value):
    def known(name):
        loss = adapter.training_loss(name)(static_model(width=6), label_range=(0, 1))
        columns, labels = batch_of_lists(loss.model)
        outputs = tuple(loss.model(column)["sentence_embedding"] for column in columns)
        value = loss(columns, labels).detach()
        return getattr(
            measured(loss, TrainerCall(loss.model, columns, labels, outputs, value, False)),
            reference_value,
        )

    torch.manual_seed(0)
    both = known("info_nce+cosent")
    torch.manual_seed(0)
    first = known("info_nce")
    torch.manual_seed(0)
    assert both == pytest.approx(first + known("cosent"))


def test_rows_that_share_a_first_text_are_compared_by_a_part_on_pairs_as_without_lists():
    """They are lists to a loss on lists alone."""
    texts, labels = [["cat", "cat", "dog", "dog"], OTHERS], torch.tensor([0.9, 0.1, 0.2, 0.8])
    model = static_model(width=6)

    def value(name):
        loss = adapter.training_loss(name)(model, label_range=(0, 1))
        return loss([model.preprocess(column) for column in texts], labels)

    torch.testing.assert_close(value("list_net+cosent"), value("list_net") + value("cosent"))


def test_the_name_of_the_loss_chooses_our_defaults():
    columns = [static_model().preprocess(column) for column in (ANCHORS, OTHERS)]
    labels = torch.tensor([1.0, 0.0, 0.0, 1.0])
    ours = adapter.training_loss("contrastive")(static_model())(columns, labels)
    chosen = adapter.ContrastiveLoss(static_model(), convention="")(columns, labels)
    torch.testing.assert_close(chosen, ours)
    theirs = adapter.ContrastiveLoss(static_model())(columns, labels)
    assert abs(float(theirs.detach() - ours.detach())) > 0.01


@pytest.mark.parametrize(
    "loss", [n for n, s in LOSSES.items() if any(c.score == "dot" for c in s.conventions)]
)
def test_a_convention_on_dot_products_compares_them(loss):
    spec = LOSSES[loss]
    for convention in spec.conventions:
        made = adapter.training_loss(loss)(static_model(), convention=convention.name)
        dots = spec.under(convention.name).score == "dot"
        if "similarity" in made.settings:
            assert made.settings["similarity"] == ("dot" if dots else "cosine")
        else:
            assert made.similarity == ("dot" if dots else "cosine")
