"""Small encoders and pairs to train on in a second."""

from __future__ import annotations

import os
import random

import pytest

from explorer.lab.training.data import Corpus
from explorer.lab.training.runs import Runs

WORDS = ["cat", "dog", "sun", "sleeps", "runs", "shines", "hot", "old", "red", "big", "small"]


def sentence(draw, count=5):
    return " ".join(draw.choices(WORDS, k=count))


def corpus(labels=(0, 1, 2, 3, 4, 5), count=96, seed=5):
    draw = random.Random(seed)
    pairs = tuple(
        (sentence(draw), sentence(draw), float(draw.choice(labels))) for _ in range(count)
    )
    return Corpus(pairs[: 3 * count // 4], pairs[3 * count // 4 :])


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """The folder of a random transformer of two layers, with dropout."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(words), intermediate_size=32, **size)
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path / "runs", device="cpu")


@pytest.fixture
def trained(runs):
    """Train here, without a process, and give the name of the run."""
    from explorer.lab.training.session import train

    def work(plan, pairs=None):
        run = runs.prepare(plan, pairs or corpus())
        run.take_ticket(os.getpid())
        train(run)
        return run.name

    return work
