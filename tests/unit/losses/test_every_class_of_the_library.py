"""Every loss of sentence-transformers: held to ours over 20 steps, or named here with a reason."""

from __future__ import annotations

import copy
import inspect
import random

import pytest
import torch
from sentence_transformers.cross_encoder import losses as cross
from sentence_transformers.sentence_transformer import losses as bi
from torch import nn

import lossprism.losses.sentence_transformers as adapter
from lossprism.explorer.core.library_classes_without_loss import RELATED_CLASSES
from tests.tiny import save_bert, sentence
from tests.unit.losses.test_sentence_transformers import (
    BATCH,
    CROSS_TWINS,
    OF_TRANSFORMERS,
    STEPS,
    TWINS,
    TheirMultitask,
    agree,
    cross_encoder,
)

# What has no counterpart, and why.
WITHOUT = {
    "AdaptiveLayerLoss": "another loss on the vectors of earlier layers, which a batch has not: "
    "ours on levels is hierarchical_cosent",
    "Matryoshka2dLoss": "AdaptiveLayerLoss around MatryoshkaLoss",
    "ContrastiveTensionLoss": "it trains two copies of the model against each other",
    "ContrastiveTensionLossInBatchNegatives": "it trains two copies of the model against each "
    "other; the loss on one batch is InfoNCE both ways with a learned temperature",
    "DenoisingAutoEncoderLoss": "a decoder's loss on tokens, not one on vectors or scores",
}
CROSS_WITHOUT = {
    "CrossEntropyLoss": "it names one of C classes, of a model that gives C numbers for a pair; "
    "ours read one score. With C = 2 it is binary_cross_entropy of their difference: below",
}


def losses_of(module) -> set[str]:
    """The classes of losses that the installed library offers."""
    made = {name: getattr(module, name) for name in module.__all__}
    return {
        name
        for name, kind in made.items()
        if inspect.isclass(kind)
        and issubclass(kind, nn.Module)
        and "Loss" in name
        and "Scheme" not in name
    }


def called_classes(*twins) -> set[str]:
    """The classes whose losses stand beside ours."""
    found = {name for table in twins for *_, theirs in table.values() for name in named(theirs)}
    return found | set(TheirMultitask.__init__.__code__.co_names)


def named(function) -> set[str]:
    return set(function.__code__.co_names)


def test_every_dense_class_is_tested_or_listed():
    every = losses_of(bi)
    held = called_classes(TWINS, OF_TRANSFORMERS) & every
    assert held.isdisjoint(WITHOUT)
    assert held | set(WITHOUT) == every
    assert set(WITHOUT) == {
        one.name for one in RELATED_CLASSES if not one.is_shared
    }  # for the message


def test_every_class_of_cross_encoders_is_tested_or_listed():
    every = losses_of(cross)
    held = (called_classes(CROSS_TWINS) | named(theirs_of_all) | named(theirs_in_pieces)) & every
    assert held.isdisjoint(CROSS_WITHOUT)
    assert held | set(CROSS_WITHOUT) == every
    assert set(CROSS_WITHOUT) <= {one.name for one in RELATED_CLASSES}


PLAIN = {"num_negatives": None, "scale": 1.0, "activation_fn": nn.Identity()}


def theirs_of_all(model):
    return cross.MultipleNegativesRankingLoss(model, **PLAIN)


def theirs_in_pieces(model):
    return cross.CachedMultipleNegativesRankingLoss(model, mini_batch_size=5, **PLAIN)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"), layers=1)


def stepped(model, loss, batches):
    """The weights after a step of plain gradient descent on each batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.eval()  # without dropout: the pairs are scored in another order
    for columns, labels in batches:
        optimizer.zero_grad()
        loss(columns, labels).backward()
        optimizer.step()
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


@pytest.mark.trains
@pytest.mark.parametrize("theirs", [theirs_of_all, theirs_in_pieces])
def test_all_second_sentences_as_negatives_are_lists_of_a_cross_encoder(theirs, bert):
    """Its softmax of the own pair over every second sentence of the batch is `softmax_rank` on a
    list of these for each first sentence."""
    draw = random.Random(5)
    pairs = [[[sentence(draw) for _ in range(BATCH)] for _ in range(2)] for _ in range(STEPS)]
    here = torch.eye(BATCH)
    lists = [
        (
            [first, [[second[row], *second[:row], *second[row + 1 :]] for row in range(BATCH)]],
            [torch.tensor([1.0, *[0.0] * (BATCH - 1)]) for _ in here],
        )
        for first, second in pairs
    ]
    models = cross_encoder(bert), cross_encoder(bert)
    before = {name: weight.detach().clone() for name, weight in models[0].named_parameters()}
    one = stepped(models[0], adapter.SoftmaxRankLoss(models[0]), lists)
    other = stepped(models[1], theirs(models[1]), [(columns, None) for columns in pairs])
    agree(one, other)
    assert max(float((one[n] - before[n]).abs().max()) for n in before) > 1e-3


@pytest.mark.trains
def test_two_classes_are_the_difference_of_their_numbers(bert):
    """CrossEntropyLoss of two classes is `binary_cross_entropy` of one number less the other."""
    from sentence_transformers.cross_encoder import CrossEncoder

    draw = random.Random(6)
    batches = [
        (
            [[sentence(draw) for _ in range(BATCH)] for _ in range(2)],
            torch.tensor([draw.randrange(2) for _ in range(BATCH)]),
        )
        for _ in range(STEPS)
    ]
    torch.manual_seed(0)
    theirs = CrossEncoder(bert, num_labels=2)
    ours = copy.deepcopy(theirs)

    class Apart(nn.Module):
        """The same model, of which one number less the other is the score."""

        device = ours.device

        def __init__(self):
            super().__init__()
            self.model = ours

        def preprocess(self, pairs, prompt, *, task):
            return self.model.preprocess(pairs, prompt=prompt, task=task)

        def forward(self, tokens):
            scores = self.model(tokens)["scores"]
            return {"scores": scores[:, 1:] - scores[:, :1]}

    loss = adapter.BinaryCrossEntropyLoss(Apart())
    one = stepped(ours, loss, batches)
    other = stepped(theirs, cross.CrossEntropyLoss(theirs), batches)
    agree(one, other)
