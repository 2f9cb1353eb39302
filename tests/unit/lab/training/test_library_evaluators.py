"""Held-out figures are those of the evaluators of sentence-transformers on the same vectors.

Every figure of a run that an evaluator computes too is compared, without equal scores: at those,
ours count a collapsed model's answers as a draw or as wrong (`test_in_lists`, `test_positives`),
and the evaluators' depend on the order of the corpus.
"""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sentence_transformers.cross_encoder.evaluation import (
    CrossEncoderClassificationEvaluator,
    CrossEncoderCorrelationEvaluator,
    CrossEncoderRerankingEvaluator,
)
from sentence_transformers.sentence_transformer.evaluation import (
    BinaryClassificationEvaluator,
    EmbeddingSimilarityEvaluator,
    InformationRetrievalEvaluator,
    NanoBEIREvaluator,
    RerankingEvaluator,
)
from sentence_transformers.util import cos_sim
from sklearn.metrics import roc_auc_score

from lossprism.explorer.lab.training.held_out_list_metrics import list_figures
from lossprism.explorer.lab.training.held_out_metrics import HeldOut, bands_of
from lossprism.losses.labels import LabelRules

SEEDS = range(6)
DIMENSION = 8
RULES = LabelRules(0.5, (0.0, 1.0))


# Where an evaluator leaves its figures for a model's card.
CARD = SimpleNamespace(set_evaluation_metrics=lambda *given: None)


class KnownVectors:
    """A bi-encoder with a vector for each text: that of its group, the piece before "/", and some
    of its own."""

    similarity_fn_name = "cosine"
    similarity = staticmethod(cos_sim)
    model_card_data = CARD

    def encode(self, texts, convert_to_tensor=False, **_):
        vectors = torch.stack([of(text.partition("/")[0]) + 0.8 * of(text) for text in texts])
        return vectors if convert_to_tensor else vectors.numpy()

    encode_query = encode_document = encode


class KnownScores:
    """A cross-encoder: the cosine of the vectors of `KnownVectors`."""

    model_card_data = CARD
    num_labels = 1

    def predict(self, pairs, **_):
        sides = (
            KnownVectors().encode(list(side), convert_to_tensor=True)
            for side in zip(*pairs, strict=True)
        )
        return torch.nn.functional.cosine_similarity(*sides).numpy()


def of(text):
    return torch.from_numpy(np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSION))


def figures(pairs, model):
    held_out = HeldOut.of(pairs, bands_of([label for *_, label in pairs]), threshold=0.5)
    return held_out.figures(model)


def sides(pairs):
    return [list(side) for side in zip(*pairs, strict=True)]


def alike(expected):
    return pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [2, 3, 60])
def test_correlations(seed, count):
    labels = np.random.default_rng(seed).random(count)
    pairs = [(f"{seed}{i}/a", f"{seed}{i}/b", float(label)) for i, label in enumerate(labels)]
    found, *_ = figures(pairs, KnownVectors())
    theirs = EmbeddingSimilarityEvaluator(*sides(pairs), write_csv=False)(KnownVectors())
    assert found["spearman"] == alike(theirs["spearman_cosine"])
    assert found["pearson"] == alike(theirs["pearson_cosine"])
    found, *_ = figures(pairs, KnownScores())
    sentences, labels = [pair[:2] for pair in pairs], [label for *_, label in pairs]
    theirs = CrossEncoderCorrelationEvaluator(sentences, labels, write_csv=False)(KnownScores())
    assert (found["spearman"], found["pearson"]) == alike((theirs["spearman"], theirs["pearson"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_accuracy_at_the_best_threshold(seed):
    draw = np.random.default_rng(seed)
    pairs = [(f"{seed}{i}/a", f"{seed}{i}/b", 1.0) for i in range(40)]
    pairs += [(f"{seed}{i}/a", f"{draw.integers(10**6)}/b", 0.0) for i in range(40)]
    found, scores, _ = figures(pairs, KnownVectors())
    theirs = BinaryClassificationEvaluator(*sides(pairs), write_csv=False)(KnownVectors())
    assert found["accuracy"] == alike(theirs["cosine_accuracy"])
    assert found["accuracy_threshold"] == alike(theirs["cosine_accuracy_threshold"])
    labels = [label for *_, label in pairs]
    assert found["auc"] == alike(roc_auc_score(labels, scores))  # no evaluator has it
    found, *_ = figures(pairs, KnownScores())
    sentences = [pair[:2] for pair in pairs]
    theirs = CrossEncoderClassificationEvaluator(sentences, labels, write_csv=False)(KnownScores())
    assert found["accuracy"] == alike(theirs["accuracy"])
    assert found["accuracy_threshold"] == alike(theirs["accuracy_threshold"])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [3, 40, 200])
def test_places_of_keys(seed, count):
    """One right key for each query, as many keys as pairs."""
    pairs = [(f"{seed}{i}/query", f"{seed}{i}/key", 1.0) for i in range(count)]
    found, *_ = figures(pairs, KnownVectors())
    theirs = information_retrieval(pairs)(KnownVectors())
    assert found["accuracy_at_1"] == alike(theirs["cosine_accuracy@1"])
    assert found["mrr_at_10"] == alike(theirs["cosine_mrr@10"])
    if count == 200:  # neither all right nor all wrong
        assert 0.05 < found["accuracy_at_1"] < found["mrr_at_10"] < 0.95


def information_retrieval(pairs, kind=InformationRetrievalEvaluator):
    queries = {f"q{i}": first for i, (first, *_) in enumerate(pairs)}
    corpus = {f"k{i}": second for i, (_, second, _) in enumerate(pairs)}
    right = {f"q{i}": {f"k{i}"} for i in range(len(pairs))}
    return kind(queries, corpus, right, write_csv=False)


def test_nano_beir_is_the_same_measure():
    """Its datasets are on the hub; what it does with each is `InformationRetrievalEvaluator`."""
    kind = NanoBEIREvaluator.information_retrieval_class
    assert issubclass(kind, InformationRetrievalEvaluator)
    pairs = [(f"{i}/query", f"{i}/key", 1.0) for i in range(50)]
    found, *_ = figures(pairs, KnownVectors())
    theirs = information_retrieval(pairs, kind)(KnownVectors())
    assert (found["accuracy_at_1"], found["mrr_at_10"]) == alike(
        (theirs["cosine_accuracy@1"], theirs["cosine_mrr@10"])
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_lists(seed):
    """Lists of 12 to 16 candidates, more than the ten places that count; 1 to 3 are relevant."""
    draw = np.random.default_rng(seed)
    pairs, samples = [], []
    for q in range(20):
        right = [f"{seed}{q}/{k}" for k in range(draw.integers(1, 4))]
        wrong = [f"{draw.integers(10**6)}/{q}.{k}" for k in range(draw.integers(11, 14))]
        query = f"{seed}{q}/query"
        samples.append({"query": query, "positive": right, "negative": wrong})
        pairs += [(query, text, 1.0) for text in right] + [(query, text, 0.0) for text in wrong]
    _, scores, _ = figures(pairs, KnownVectors())
    found = list_figures(pairs, scores, RULES)
    assert found.count == 20
    theirs = RerankingEvaluator(samples, at_k=10, write_csv=False)(KnownVectors())
    assert found.mrr_at_10 == alike(theirs["mrr@10"])
    assert found.ndcg_at_10 == alike(theirs["ndcg@10"])
    _, scores, _ = figures(pairs, KnownScores())
    found = list_figures(pairs, scores, RULES)
    theirs = CrossEncoderRerankingEvaluator(samples, at_k=10, write_csv=False)(KnownScores())
    assert (found.mrr_at_10, found.ndcg_at_10) == alike((theirs["mrr@10"], theirs["ndcg@10"]))
    assert 0.2 < found.mrr_at_10 < 1
