"""Encoders of a few words and numbers, to train in a second."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from random import Random

import torch

WORDS = ["cat", "dog", "sun", "sleeps", "runs", "shines", "hot", "old", "red", "big", "small"]


def sentence(draw: Random, count: int = 5) -> str:
    return " ".join(draw.choices(WORDS, k=count))


def static_model(width: int = 6):
    """A random vector for each word; the same at every call."""
    return copy.deepcopy(_static_model(width))


@functools.cache
def _static_model(width: int):
    """Made once: each new one would look up anew which packages are installed, for its card, which
    takes longer than a step of training."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    torch.manual_seed(0)
    vocabulary = {word: place for place, word in enumerate(["?", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = Whitespace()
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=width)])


def save_bert(folder: Path, dropout: float = 0.0, layers: int = 2) -> str:
    """Write a random transformer of a few layers into the folder, and name it."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
    return str(folder)
