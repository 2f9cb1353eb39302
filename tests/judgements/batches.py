"""Sentences on a batch: drawn with what they say, and without it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import torch

from explorer.core.batch import Batch, batch_of_scores, batch_of_vectors
from explorer.core.disagreement import contradictions, disagreement, disagrees, spearman
from explorer.core.explore import explore
from explorer.core.remarks import remarks
from explorer.core.scenario import Data, Rules, Scenario
from explorer.sources.pairs import Pairs
from losses import LOSSES, spec_of
from tests.judgements import Among, Said, Source, simulated


def names(count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(f"a{i}" for i in range(count)), tuple(f"b{i}" for i in range(count))


def of_scores(scores: np.ndarray, labels: np.ndarray) -> Batch:
    listed = (tuple(map(float, one)) for one in (labels, scores))
    return batch_of_scores(Pairs(*names(len(labels)), *listed), Rules())


def of_vectors(vectors: np.ndarray, labels: np.ndarray) -> Batch:
    """Vectors [2N, D], first and second sentence of each pair in turn."""
    pairs = Pairs(*names(len(labels)), tuple(map(float, labels)))
    return batch_of_vectors(pairs, vectors, Rules())


def told(
    batch: Batch, loss: str = "cosent", data: Data | None = None, **parameters: object
) -> set[str]:
    scenario = Scenario(data=data or Data(source="random"), loss=loss)
    scenario = dataclasses.replace(scenario, parameters=tuple(parameters.items()))
    return {one.key for one in remarks(explore(scenario, batch), most=99)}


def among(key: str, said: Said) -> Among:
    return Among(said, lambda keys: key in keys)


def hold(key: str, true: tuple[str, Said], false: tuple[str, Said]) -> None:
    sides = {"true": true, "false": false}
    drawn = {side: (about, among(key, said)) for side, (about, said) in sides.items()}
    simulated(f"remark.{key}", **drawn)


def graded(draw: Source, count: int = 24) -> np.ndarray:
    return draw.permutation(np.arange(count) % 6).astype(float)


def noisy(draw: Source, correlation: float = 0.7, count: int = 24) -> Batch:
    """Scores within −1 and 1 of graded labels, by even noise."""
    truth = draw.normal(size=count)
    scores = correlation * truth + np.sqrt(1 - correlation**2) * draw.normal(size=count)
    return of_scores(np.tanh(scores / 2), np.round(np.clip(2.5 + 1.2 * truth, 0, 5)))


def ordinary(draw: Source) -> set[str]:
    return told(noisy(draw))


# Faults


def nan_loss(scores, labels):
    roots = (scores - 2).sqrt()
    return roots.sum()


def detached_loss(scores, labels):
    return (scores.detach() * labels).sum() + torch.zeros((), requires_grad=True)


def own(function: Callable) -> Said:
    """What is said of a loss of one's own on any batch."""

    def said(draw: Source) -> set[str]:
        before = dict(LOSSES)
        try:
            LOSSES[function.__name__] = spec_of(function)
            return told(noisy(draw), function.__name__)
        finally:
            LOSSES.clear()
            LOSSES.update(before)

    return said


hold("not_finite", ("a root below 0", own(nan_loss)), ("CoSENT", ordinary))
hold("no_gradient", ("detached scores", own(detached_loss)), ("CoSENT", ordinary))


# Language and labels


@functools.cache
def written(letters: str, foreign: float) -> Said:
    return lambda draw: told_of_words(draw, letters, foreign)


def told_of_words(draw: Source, letters: str, foreign: float) -> set[str]:
    words = ["".join(draw.choice(list(letters), 6)) for _ in range(16)]
    many = int(foreign * 16)
    words[:many] = ["".join(draw.choice(list("中文句子编码器向量"), 6)) for _ in range(many)]
    rows = tuple((words[2 * i] + str(i), words[2 * i + 1] + str(i), str(i)) for i in range(8))
    count = len(rows)
    pairs = Pairs(
        tuple(a for a, _, _ in rows), tuple(b for _, b, _ in rows), tuple(map(float, range(count)))
    )
    batch = batch_of_vectors(pairs, draw.normal(size=(len(pairs.sentences), 8)), Rules())
    return told(batch, data=Data(source="table", rows=rows))


LATIN = "abcdefghijklmnopqrstuvwxyzéüñç"
hold(
    "language",
    ("three quarters Chinese", written(LATIN, 0.75)),
    ("a quarter Chinese", written(LATIN, 0.25)),
)
hold(
    "one_pair",
    ("one pair", lambda draw: told(of_scores(draw.uniform(-1, 1, 1), np.ones(1)))),
    ("24 pairs", ordinary),
)


def regression_of_one_label(draw: Source) -> set[str]:
    return told(of_scores(draw.uniform(-1, 1, 9), np.ones(9)), "cosine_mse")


hold(
    "labels_equal",
    ("one label, CoSENT", lambda draw: told(of_scores(draw.uniform(-1, 1, 9), np.ones(9)))),
    ("one label, regression", regression_of_one_label),
)
hold(
    "labels_equal_felt",
    ("one label, regression", regression_of_one_label),
    ("graded labels", ordinary),
)


# Collapse


@functools.cache
def flat(spread: float, scale: float) -> Said:
    def said(draw: Source) -> set[str]:
        scores = 0.5 + spread * draw.permutation(np.linspace(0, 1, 24))
        return told(of_scores(scores, graded(draw)), scale=scale)

    return said


def near_one(draw: Source, apart: float) -> set[str]:
    """Pairs of which each second sentence is next to the first, all this far around one point."""
    point, own = draw.normal(size=16), apart * draw.normal(size=(24, 16))
    vectors = point + np.repeat(own, 2, axis=0) + 1e-3 * draw.normal(size=(48, 16))
    return told(of_vectors(vectors, graded(draw)))


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
def turned(wrong: float, scale: float, loss: str = "cosent") -> Said:
    """So large a share of the scores in an order that the labels contradict."""

    def said(draw: Source) -> set[str]:
        labels = graded(draw)
        scores = np.linspace(-0.8, 0.8, 24)[labels.argsort(kind="stable").argsort()]
        many = int(wrong * 24)
        some = draw.permutation(24)[:many]
        scores[some] = -scores[some]
        return told(of_scores(scores, labels), loss, **({"scale": scale} if scale else {}))

    return said


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
    return told(of_vectors(vectors, np.ones(16)), "info_nce", temperature=temperature)


hold(
    "above_collapse_not_above",
    ("keys of others nearer, τ 0.01", lambda draw: clustered(draw, 0.5, 0.01)),
    ("the own key nearest, τ 0.01", lambda draw: clustered(draw, 20.0, 0.01)),
)


# Suspects


def with_wrong_labels(
    draw: Source,
    share_wrong: float,
    count: int,
    low: float,
    high: float,
    noise: Callable[[Source, int], np.ndarray] = lambda draw, count: draw.normal(size=count),
) -> tuple[np.ndarray, np.ndarray]:
    """Labels of 0 to 5, of which some are turned to the other end, and scores that follow the right
    ones by a correlation between these, with noise of variance 1."""
    truth, relation = draw.normal(size=count), draw.uniform(low, high)
    scores = relation * truth + np.sqrt(1 - relation**2) * noise(draw, count)
    labels = np.round(np.clip(2.5 + 1.2 * truth, 0, 5))
    wrong = draw.permutation(np.flatnonzero(np.abs(labels - 2.5) > 1))[: int(share_wrong * count)]
    labels[wrong] = 5 - labels[wrong]
    return labels, np.tanh(scores / 2)


GOOD, ANY = (0.93, 0.96), (0.5, 0.96)
WRONG = "{share} of {count} labels turned to the other end, Spearman of the others 0.9"
CLEAN = "{count} pairs without a wrong label, Spearman 0.5 to 0.93"
TAILS = "noise normal or Student's t with 3 degrees of freedom"


@functools.cache
def labelled(share_wrong: float, ends: tuple[float, float]) -> Said:
    return lambda draw: told(of_scores(*with_wrong_labels(draw, share_wrong, 200, *ends)[::-1]))


hold(
    "suspects",
    (WRONG.format(share="5%", count=200), labelled(0.05, GOOD)),
    (CLEAN.format(count=200), labelled(0.0, ANY)),
)


def even_or_heavy(draw: Source, count: int) -> np.ndarray:
    """Noise that is normal, or Student's t with 3 degrees of freedom."""
    heavy = draw.standard_t(3, count) / np.sqrt(3)
    return heavy if draw.random() < 0.5 else draw.normal(size=count)


def disagreeing(share_wrong: float, ends: tuple[float, float]) -> Callable[[Source], bool]:
    """Whether it is said of a data set of 1,000 pairs."""

    def said(draw: Source) -> bool:
        labels, scores = with_wrong_labels(draw, share_wrong, 1000, *ends, even_or_heavy)
        found = contradictions(labels, scores)
        return disagrees(
            len(found.strong),
            disagreement(contradictions(labels, scores), spearman(labels, scores)),
        )

    return said


simulated(
    "doctor.data.disagreement",
    true=(f"{WRONG.format(share='3%', count='1,000')}, {TAILS}", disagreeing(0.03, GOOD)),
    false=(f"{CLEAN.format(count='1,000')}, {TAILS}", disagreeing(0.0, ANY)),
)


MANY_PAIRS = 17_000  # enough for the few draws of a large batch


# Labels of what is true: graded, 0 or 1, mostly at the upper end, and without grades.
GIVEN: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda truth: np.round(np.clip(2.5 + 1.2 * truth, 0, 5)),
    lambda truth: (truth > 0).astype(float),
    lambda truth: np.digitize(truth, [-2.2, -1.7, -1, 0]) + 1.0,
    lambda truth: truth,
)


def expected(share_wrong: float, correlation: float) -> Callable[[Source], bool]:
    """Whether what is listed of many pairs lies where that of data without a wrong label would."""

    def said(draw: Source) -> bool:
        truth = draw.normal(size=MANY_PAIRS)
        noise = draw.normal(size=MANY_PAIRS)
        scores = correlation * truth + np.sqrt(1 - correlation**2) * noise
        labels = GIVEN[draw.integers(len(GIVEN))](truth)
        wrong = draw.permutation(MANY_PAIRS)[: int(share_wrong * MANY_PAIRS)]
        labels[wrong] = labels.min() + labels.max() - labels[wrong]
        listed = len(contradictions(labels, scores).suspects)
        usual = disagreement(contradictions(labels, scores), spearman(labels, scores))
        return usual is not None and usual.low <= listed <= usual.high

    return said


KINDS = "labels 0 to 5, 0 or 1, mostly 4 and 5, or of any value"
simulated(
    "ui.suspects_expected",
    true=(f"17,000 pairs without a wrong label, {KINDS}: it holds", expected(0.0, 0.7)),
    false=("a tenth turned round, correlation 0.97: it holds", expected(0.1, 0.97)),
)


def fewer_listed(share_wrong: float) -> Callable[[Source], bool]:
    """Whether fewer pairs of two labels are listed than even noise would leave."""

    def said(draw: Source) -> bool:
        labels = draw.integers(0, 2, 500).astype(float)
        scores = 4 * labels + draw.normal(size=500)
        wrong = draw.permutation(500)[: int(share_wrong * 500)]
        labels[wrong] = 1 - labels[wrong]
        if not share_wrong:  # even noise, and as much as of the others
            scores = labels * 1.5 + draw.normal(size=500)
        listed = len(contradictions(labels, scores).suspects)
        usual = disagreement(contradictions(labels, scores), spearman(labels, scores))
        return usual is not None and listed < usual.low

    return said


simulated(
    "ui.suspects_fewer",
    true=("a tenth of 500 labels, 0 or 1, turned round", fewer_listed(0.1)),
    false=("500 labels, 0 or 1, and even noise", fewer_listed(0.0)),
)


def nothing_listed(turned_round: int) -> Callable[[Source], bool]:
    def said(draw: Source) -> bool:
        labels = graded(draw, 60)
        scores = labels / 5 + draw.uniform(-0.05, 0.05, 60)
        scores[np.argsort(labels)[:turned_round]] = 1.2
        return len(contradictions(labels, scores).suspects) == 0

    return said


for key in ("ui.no_suspects", "large.no_suspects"):
    simulated(
        key,
        true=("scores in the order of the labels", nothing_listed(0)),
        false=("two of the lowest labels score highest", nothing_listed(2)),
    )
simulated(
    "ui.suspects_doubtful",
    true=("three quarters Chinese", among("language", written(LATIN, 0.75))),
    false=("a quarter Chinese", among("language", written(LATIN, 0.25))),
)


# Places, order, terms


@functools.cache
def placed(loss: str, side: float) -> Said:
    """Each second sentence near the first one, or on the other side of the sphere."""

    def said(draw: Source) -> set[str]:
        vectors = draw.normal(size=(24, 16))
        vectors[1::2] = side * vectors[::2] + 0.05 * draw.normal(size=(12, 16))
        return told(of_vectors(vectors, np.ones(12)), loss)

    return said


def twice_or_opposite(loss: str) -> Said:
    """Each second sentence opposite to the first; or near it, and one of them there twice."""
    opposite = placed(loss, -1.0)

    def said(draw: Source) -> set[str]:
        if draw.integers(2):
            return opposite(draw)
        vectors = draw.normal(size=(24, 16)).astype(np.float32)
        vectors[1::2] = vectors[::2] + 0.05 * draw.normal(size=(12, 16))
        # Two near questions with one answer, which was encoded in two batches.
        vectors[2] = vectors[0] + 0.05 * draw.normal(size=16)
        vectors[3] = vectors[1] * (1 + 1e-7 * draw.normal(size=16))
        return told(of_vectors(vectors, np.ones(12)), loss)

    return said


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
    return told(of_scores(scores, labels), scale=scale)


def many_terms_or_always_one(draw: Source) -> set[str]:
    """Where no handful carries the weight, or where the loss is one term whatever the batch."""
    if draw.integers(2):
        return one_term(draw, 1.0)
    return told(noisy(draw, draw.uniform(-0.9, 0.9), int(draw.integers(9, 60))), "max_violation")


hold(
    "few_terms",
    ("one pair far out of place, λ 500", lambda draw: one_term(draw, 500.0)),
    ("the same, λ 1; or the largest violation of any batch", many_terms_or_always_one),
)


# The band of the norm


def with_norm(scale: float, size: float) -> Said:
    def said(draw: Source) -> set[str]:
        vectors = size * draw.normal(size=(48, 8))
        return told(of_vectors(vectors, graded(draw)), scale=scale)

    return said


hold("gradient_large", ("λ 500", with_norm(500.0, 1.0)), ("λ 2", with_norm(2.0, 1.0)))
hold("gradient_small", ("λ 2, long vectors", with_norm(2.0, 100.0)), ("λ 5", with_norm(5.0, 1.0)))
