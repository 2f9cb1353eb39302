"""The trainers' losses in several processes: the model moves as in one, on the joined batch."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn.parallel import DistributedDataParallel

from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers import training_loss
from tests.process.gather.team import on_each
from tests.tiny import sentence, static_model

# The rows of each process, and how the positive pairs lie between them.
SHARED = (((5, 5), "mixed"), ((7, 3), "apart"))
ON_CLASSES = [name for name, spec in LOSSES.items() if "prototypes" in spec.reads.values()]


def rows(name, convention, count, order):
    """Texts and labels; `order` "apart" gives one process all positive pairs."""
    draw = random.Random(6)
    of_triplets = "lists" in LOSSES[name].under(convention).needs
    wide = 1 if name in ON_CLASSES else 2 + of_triplets
    columns = [[sentence(draw) for _ in range(count)] for _ in range(wide)]
    if of_triplets:
        return columns, None
    if name in ON_CLASSES:
        return columns, [draw.randrange(3) for _ in range(count)]
    labels = [draw.randrange(11) / 10 for _ in range(count)]
    return columns, sorted(labels, reverse=True) if order == "apart" else labels


def gradients(name, convention, columns, labels, spread):
    """Of the loss, its value and the gradient of each weight, the model's and its own."""
    model, settings = static_model(), {"gather": spread}
    if name in ON_CLASSES:
        settings["class_count"] = 3
    if name == "triplet" and not convention:
        settings["mining"] = "all"
    torch.manual_seed(torch.distributed.get_rank() if spread else 0)
    loss = training_loss(name)(model, convention=convention, **settings)
    own = [n for n, _ in loss.named_parameters() if not n.startswith("model.")]
    read = [model.preprocess(column) for column in columns]
    if spread:
        loss.model = DistributedDataParallel(model, find_unused_parameters=True)
    value = loss(read, None if labels is None else torch.tensor(labels))
    value.backward()
    found = {n.replace("module.", ""): w.grad for n, w in loss.named_parameters()}
    assert len(found) == 1 + len(own)
    return value.detach(), found


# What a teacher says is no part of these rows.
JOINED = {name: spec for name, spec in LOSSES.items() if not spec.reads_teacher}
CASES = [(name, "", shared) for name in JOINED if name != "own" for shared in SHARED]
# Sums, losses on prefixes, and lists beside what compares the whole batch.
COMPOSED = (
    "info_nce+angle",
    "matryoshka(cosent,6,2)+siglip",
    "matryoshka(supcon,6,2)",
    "matryoshka(list_net,6,2)+info_nce",
)
CASES += [(name, "", SHARED[0]) for name in COMPOSED]
# What a convention adds to the loss does not depend on how rows are shared: it is shared unevenly.
CASES += [(name, c.name, SHARED[-1]) for name, spec in JOINED.items() for c in spec.conventions]


def shared(rank, world):
    """Of each case, the value and the gradient of each weight where the rows are shared."""
    torch.set_num_threads(1)
    found = []
    for name, convention, (counts, order) in CASES:
        columns, labels = rows(name, convention, sum(counts), order)
        start = sum(counts[:rank])
        place = slice(start, start + counts[rank])
        mine = [column[place] for column in columns]
        value, moved = gradients(name, convention, mine, labels and labels[place], spread=True)
        found.append((value.item(), {weight: grad.numpy() for weight, grad in moved.items()}))
    return found


@pytest.mark.filterwarnings("ignore:.*of the first batch are read:UserWarning")
def test_a_model_moves_as_by_one_process_on_the_joined_batch():
    every = zip(CASES, *on_each(2, shared), strict=True)
    for (name, convention, (counts, order)), *found in every:
        columns, labels = rows(name, convention, sum(counts), order)
        expected, moved = gradients(name, convention, columns, labels, spread=False)
        case = (name, convention, counts, order)
        for value, weights in found:
            assert value == pytest.approx(expected.item(), rel=1e-4, abs=1e-8), case
            assert weights.keys() == moved.keys(), case
            for weight, gradient in weights.items():
                assert torch.allclose(
                    torch.from_numpy(gradient), moved[weight], rtol=1e-3, atol=1e-5
                ), (*case, weight)
