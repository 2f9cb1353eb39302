"""Sentences on a batch: drawn with what they say, and without it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import torch

from lossprism.explorer.core.batch import Batch, batch_of_scores, batch_of_vectors
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import remarks
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES, spec_of
from tests.judgements import Among, SentencesOf, Source, simulated


def names(count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(f"a{i}" for i in range(count)), tuple(f"b{i}" for i in range(count))


def of_scores(scores: np.ndarray, labels: np.ndarray) -> Batch:
    listed = (tuple(map(float, one)) for one in (labels, scores))
    return batch_of_scores(Pairs(*names(len(labels)), *listed), Rules())


def of_vectors(vectors: np.ndarray, labels: np.ndarray) -> Batch:
    """Vectors [2N, D], first and second sentence of each pair in turn."""
    pairs = Pairs(*names(len(labels)), tuple(map(float, labels)))
    return batch_of_vectors(pairs, vectors, Rules())


def remarks_on(
    batch: Batch, loss: str = "cosent", data: Data | None = None, **parameters: object
) -> set[str]:
    scenario = Scenario(data=data or Data(source="random"), loss=loss)
    scenario = dataclasses.replace(scenario, parameters=tuple(parameters.items()))
    return {one.key for one in remarks(explore(scenario, batch), most=99)}


def among(key: str, sentences_of: SentencesOf) -> Among:
    return Among(sentences_of, lambda keys: key in keys)


def hold(key: str, true: tuple[str, SentencesOf], false: tuple[str, SentencesOf]) -> None:
    sides = {"true": true, "false": false}
    drawn = {
        side: (about, among(key, sentences_of)) for side, (about, sentences_of) in sides.items()
    }
    simulated(f"remark.{key}", **drawn)


def graded(draw: Source, count: int = 24) -> np.ndarray:
    return draw.permutation(np.arange(count) % 6).astype(float)


def noisy(draw: Source, correlation: float = 0.7, count: int = 24) -> Batch:
    """Scores within −1 and 1 of graded labels, by even noise."""
    truth = draw.normal(size=count)
    scores = correlation * truth + np.sqrt(1 - correlation**2) * draw.normal(size=count)
    return of_scores(np.tanh(scores / 2), np.round(np.clip(2.5 + 1.2 * truth, 0, 5)))


def ordinary(draw: Source) -> set[str]:
    return remarks_on(noisy(draw))


# Faults


def nan_loss(scores, labels):
    roots = (scores - 2).sqrt()
    return roots.sum()


def detached_loss(scores, labels):
    return (scores.detach() * labels).sum() + torch.zeros((), requires_grad=True)


def own(function: Callable) -> SentencesOf:
    """Sentences on a user's own loss on any batch."""

    def sentences_of(draw: Source) -> set[str]:
        before = dict(LOSSES)
        try:
            LOSSES[function.__name__] = spec_of(function)
            return remarks_on(noisy(draw), function.__name__)
        finally:
            LOSSES.clear()
            LOSSES.update(before)

    return sentences_of


hold("not_finite", ("a root below 0", own(nan_loss)), ("CoSENT", ordinary))
hold("no_gradient", ("detached scores", own(detached_loss)), ("CoSENT", ordinary))


# Language and labels


@functools.cache
def written(letters: str, foreign: float) -> SentencesOf:
    return lambda draw: remarks_on_words(draw, letters, foreign)


def remarks_on_words(draw: Source, letters: str, foreign: float) -> set[str]:
    words = ["".join(draw.choice(list(letters), 6)) for _ in range(16)]
    many = int(foreign * 16)
    words[:many] = ["".join(draw.choice(list("中文句子编码器向量"), 6)) for _ in range(many)]
    rows = tuple((words[2 * i] + str(i), words[2 * i + 1] + str(i), str(i)) for i in range(8))
    count = len(rows)
    pairs = Pairs(
        tuple(a for a, _, _ in rows), tuple(b for _, b, _ in rows), tuple(map(float, range(count)))
    )
    batch = batch_of_vectors(pairs, draw.normal(size=(len(pairs.sentences), 8)), Rules())
    return remarks_on(batch, data=Data(source="table", rows=rows))


LATIN = "abcdefghijklmnopqrstuvwxyzéüñç"
hold(
    "language",
    ("three quarters Chinese", written(LATIN, 0.75)),
    ("a quarter Chinese", written(LATIN, 0.25)),
)
hold(
    "one_pair",
    ("one pair", lambda draw: remarks_on(of_scores(draw.uniform(-1, 1, 1), np.ones(1)))),
    ("24 pairs", ordinary),
)


def regression_of_one_label(draw: Source) -> set[str]:
    return remarks_on(of_scores(draw.uniform(-1, 1, 9), np.ones(9)), "cosine_mse")


hold(
    "labels_equal",
    ("one label, CoSENT", lambda draw: remarks_on(of_scores(draw.uniform(-1, 1, 9), np.ones(9)))),
    ("one label, regression", regression_of_one_label),
)
hold(
    "labels_equal_felt",
    ("one label, regression", regression_of_one_label),
    ("graded labels", ordinary),
)


# Collapse


@functools.cache
def flat(spread: float, scale: float) -> SentencesOf:
    def sentences_of(draw: Source) -> set[str]:
        scores = 0.5 + spread * draw.permutation(np.linspace(0, 1, 24))
        return remarks_on(of_scores(scores, graded(draw)), scale=scale)

    return sentences_of


def near_one(draw: Source, apart: float) -> set[str]:
    """Pairs of which each second sentence is next to the first, all this far around one point."""
    point, own = draw.normal(size=16), apart * draw.normal(size=(24, 16))
    vectors = point + np.repeat(own, 2, axis=0) + 1e-3 * draw.normal(size=(48, 16))
    return remarks_on(of_vectors(vectors, graded(draw)))


hold(
    "collapsed",
    ("all sentences at one point", lambda draw: near_one(draw, 0.0)),
    ("similarities of pairs within 0.0001, sentences apart", lambda draw: near_one(draw, 2.0)),
)
hold(
    "alike",
    ("similarities within 0.019, λ 500", flat(0.019, 500.0)),
    ("similarities within 0.05", flat(0.05, 500.0)),
)


@functools.cache
def turned(wrong: float, scale: float, loss: str = "cosent") -> SentencesOf:
    """So large a share of the scores in an order that the labels contradict."""

    def sentences_of(draw: Source) -> set[str]:
        labels = graded(draw)
        scores = np.linspace(-0.8, 0.8, 24)[labels.argsort(kind="stable").argsort()]
        many = int(wrong * 24)
        some = draw.permutation(24)[:many]
        scores[some] = -scores[some]
        return remarks_on(of_scores(scores, labels), loss, **({"scale": scale} if scale else {}))

    return sentences_of


hold(
    "above_collapse_not_below",
    ("a quarter turned round, λ 60", turned(0.25, 60.0)),
    ("none turned round, λ 60", turned(0.0, 60.0)),
)
hold(
    "above_collapse_all_over",
    ("all turned round", turned(1.0, 20.0)),
    ("a quarter turned round: not at a small λ", turned(0.25, 20.0)),
)
hold(
    "above_collapse",
    ("a loss without a scale, all turned round", turned(1.0, 0, "pairwise_hinge")),
    ("none turned round", turned(0.0, 0, "pairwise_hinge")),
)


def clustered(draw: Source, near: float, temperature: float) -> set[str]:
    """Pairs around points of their own; the smaller `near`, the more keys of others are nearer."""
    points = draw.normal(size=(16, 8))
    vectors = np.repeat(points, 2, axis=0) * near + draw.normal(size=(32, 8))
    return remarks_on(of_vectors(vectors, np.ones(16)), "info_nce", temperature=temperature)


hold(
    "above_collapse_not_above",
    ("keys of others nearer, τ 0.01", lambda draw: clustered(draw, 0.5, 0.01)),
    ("the own key nearest, τ 0.01", lambda draw: clustered(draw, 20.0, 0.01)),
)


# Places, order, terms


@functools.cache
def placed(loss: str, side: float) -> SentencesOf:
    """Each second sentence near the first one, or on the other side of the sphere."""

    def sentences_of(draw: Source) -> set[str]:
        vectors = draw.normal(size=(24, 16))
        vectors[1::2] = side * vectors[::2] + 0.05 * draw.normal(size=(12, 16))
        return remarks_on(of_vectors(vectors, np.ones(12)), loss)

    return sentences_of


def twice_or_opposite(loss: str) -> SentencesOf:
    """Each second sentence opposite to the first; or near it, and one of them there twice."""
    opposite = placed(loss, -1.0)

    def sentences_of(draw: Source) -> set[str]:
        if draw.integers(2):
            return opposite(draw)
        vectors = draw.normal(size=(24, 16)).astype(np.float32)
        vectors[1::2] = vectors[::2] + 0.05 * draw.normal(size=(12, 16))
        # Two near questions with one answer, which was encoded in two batches.
        vectors[2] = vectors[0] + 0.05 * draw.normal(size=16)
        vectors[3] = vectors[1] * (1 + 1e-7 * draw.normal(size=16))
        return remarks_on(of_vectors(vectors, np.ones(12)), loss)

    return sentences_of


NEAR = "each near its own"
for loss, kind in (("info_nce", "key"), ("supcon", "class")):
    hold(
        f"all_{kind}",
        (NEAR, placed(loss, 1.0)),
        ("each opposite to its own, or one text there twice", twice_or_opposite(loss)),
    )
hold(
    "all_prototype",
    (NEAR, placed("arcface", 1.0)),
    ("each opposite to its own", placed("arcface", -1.0)),
)
hold(
    "in_order",
    ("scores in the order of the labels", turned(0.0, 20.0)),
    ("one in eight turned round", turned(0.125, 20.0)),
)


def one_term(draw: Source, scale: float) -> set[str]:
    labels = graded(draw)
    scores = np.linspace(-0.5, 0.5, 24)[labels.argsort(kind="stable").argsort()]
    scores[labels.argmin()] = 0.95
    return remarks_on(of_scores(scores, labels), scale=scale)


def many_terms_or_always_one(draw: Source) -> set[str]:
    """Where no handful carries the weight, or where the loss is one term whatever the batch."""
    if draw.integers(2):
        return one_term(draw, 1.0)
    return remarks_on(
        noisy(draw, draw.uniform(-0.9, 0.9), int(draw.integers(9, 60))), "max_violation"
    )


hold(
    "few_terms",
    ("one pair far out of place, λ 500", lambda draw: one_term(draw, 500.0)),
    ("the same, λ 1; or the largest violation of any batch", many_terms_or_always_one),
)


# The band of the norm


def with_norm(scale: float, size: float) -> SentencesOf:
    def sentences_of(draw: Source) -> set[str]:
        vectors = size * draw.normal(size=(48, 8))
        return remarks_on(of_vectors(vectors, graded(draw)), scale=scale)

    return sentences_of


hold("gradient_large", ("λ 500", with_norm(500.0, 1.0)), ("λ 2", with_norm(2.0, 1.0)))
hold("gradient_small", ("λ 2, long vectors", with_norm(2.0, 100.0)), ("λ 5", with_norm(5.0, 1.0)))


# Vectors that came with the data

OWN = Data(source="table", encoder=f"clip.npz#{'0' * 32}")


def of_two_sides(apart: float, alike: float) -> SentencesOf:
    """Pairs of 12 vectors of 16 dimensions, each side around a centre of its own, `apart` of their
    spread from the other's; `alike` is the correlation within a pair."""

    def sentences_of(draw: Source) -> set[str]:
        count, width = 12, 16
        shared, noise = draw.normal(size=(count, width)), draw.normal(size=(2, count, width))
        sides = np.sqrt(alike) * shared + np.sqrt(1 - alike) * noise
        direction = draw.normal(size=width)
        centre = apart * direction / np.linalg.norm(direction) * np.sqrt(width) / 2
        around = draw.normal(size=width)  # both kinds may lie to one side of the origin
        vectors = np.stack([sides[0] + centre + around, sides[1] - centre + around], axis=1)
        batch = of_vectors(vectors.reshape(2 * count, width), np.ones(count))
        return remarks_on(batch, "info_nce", OWN)

    return sentences_of


hold(
    "modality_gap",
    ("images to one side, texts to the other", of_two_sides(1.0, 0.5)),
    ("two views of one kind", of_two_sides(0.0, 0.5)),
)
