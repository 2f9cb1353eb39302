"""Sentences on pairs whose label and score disagree: drawn with wrong labels, and without."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np

from lossprism.explorer.core.label_disagreement import contradictions, disagreement, disagrees
from lossprism.explorer.core.rank_correlation import spearman
from tests.judgements import SentencesOf, Source, simulated
from tests.judgements.batches import LATIN, among, graded, hold, of_scores, remarks_on, written

Labels = Callable[[np.ndarray], np.ndarray]


def six_grades(truth: np.ndarray) -> np.ndarray:
    return np.round(np.clip(2.5 + 1.2 * truth, 0, 5))


def two_kinds(truth: np.ndarray) -> np.ndarray:
    return (truth > 0).astype(float)


# Labels of what is true.
KINDS: dict[str, Labels] = {
    "labels 0 to 5": six_grades,
    "three kinds": lambda truth: np.digitize(truth, [-0.43, 0.43]) / 2,
    "mostly 4 and 5": lambda truth: np.digitize(truth, [-2.2, -1.7, -1, 0]) + 1.0,
    "of any value": lambda truth: truth.copy(),
}


def with_wrong_labels(
    draw: Source,
    share_wrong: float,
    count: int,
    low: float,
    high: float,
    noise: Callable[[Source, int], np.ndarray] = lambda draw, count: draw.normal(size=count),
    labels_of: Labels = six_grades,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels, of which some away from the middle are turned to the other end, and scores that
    follow the right ones by a correlation between these, with noise of variance 1."""
    truth, relation = draw.normal(size=count), draw.uniform(low, high)
    scores = relation * truth + np.sqrt(1 - relation**2) * noise(draw, count)
    labels = labels_of(truth)
    wrong = draw.permutation(np.flatnonzero(np.abs(truth) > 0.8))[: int(share_wrong * count)]
    labels[wrong] = labels.min() + labels.max() - labels[wrong]
    return labels, np.tanh(scores / 2)


GOOD, ANY = (0.93, 0.96), (0.5, 0.96)
WRONG = "{share} of {count} labels turned to the other end, Spearman of the others 0.9"
CLEAN = "{count} pairs without a wrong label, Spearman 0.5 to 0.93"
TAILS = "noise normal or Student's t with 3 degrees of freedom"


@functools.cache
def labelled(share_wrong: float, ends: tuple[float, float]) -> SentencesOf:
    return lambda draw: remarks_on(
        of_scores(*with_wrong_labels(draw, share_wrong, 200, *ends)[::-1])
    )


hold(
    "suspects",
    (WRONG.format(share="5%", count=200), labelled(0.05, GOOD)),
    (CLEAN.format(count=200), labelled(0.0, ANY)),
)


def even_or_heavy(draw: Source, count: int) -> np.ndarray:
    """Noise that is normal, or Student's t with 3 degrees of freedom."""
    heavy = draw.standard_t(3, count) / np.sqrt(3)
    return heavy if draw.random() < 0.5 else draw.normal(size=count)


def disagreeing(
    share_wrong: float, ends: tuple[float, float], labels_of: Labels | None = None
) -> Callable[[Source], bool]:
    """Whether it is said of a dataset of 1,000 pairs, with labels of one kind or, without one, of
    each but two kinds in turn."""
    kinds = itertools.cycle(KINDS.values())

    def sentences_of(draw: Source) -> bool:
        kind = labels_of or next(kinds)
        labels, scores = with_wrong_labels(draw, share_wrong, 1000, *ends, even_or_heavy, kind)
        found = contradictions(labels, scores)
        return disagrees(len(found.strong), disagreement(found, spearman(labels, scores)))

    return sentences_of


simulated(
    "doctor.data.disagreement",
    true=(
        f"{WRONG.format(share='3%', count='1,000')}, {TAILS}, {', '.join(KINDS)}",
        disagreeing(0.03, GOOD),
    ),
    false=(f"{CLEAN.format(count='1,000')}, {TAILS}, of the same", disagreeing(0.0, ANY)),
    by_kind={
        kind: (disagreeing(0.03, GOOD, labels_of), disagreeing(0.0, ANY, labels_of))
        for kind, labels_of in (*KINDS.items(), ("two kinds, which are not judged,", two_kinds))
    },
)


MANY_PAIRS = 17_000  # enough for the few draws of a large batch


GIVEN = (six_grades, two_kinds, KINDS["mostly 4 and 5"], KINDS["of any value"])


def expected(share_wrong: float, correlation: float) -> Callable[[Source], bool]:
    """Whether what is listed of many pairs lies where that of data without a wrong label would."""

    def sentences_of(draw: Source) -> bool:
        truth = draw.normal(size=MANY_PAIRS)
        noise = draw.normal(size=MANY_PAIRS)
        scores = correlation * truth + np.sqrt(1 - correlation**2) * noise
        labels = GIVEN[draw.integers(len(GIVEN))](truth)
        wrong = draw.permutation(MANY_PAIRS)[: int(share_wrong * MANY_PAIRS)]
        labels[wrong] = labels.min() + labels.max() - labels[wrong]
        listed = len(contradictions(labels, scores).suspects)
        usual = disagreement(contradictions(labels, scores), spearman(labels, scores))
        return usual is not None and usual.low <= listed <= usual.high

    return sentences_of


OF_LABELS = "labels 0 to 5, 0 or 1, mostly 4 and 5, or of any value"
simulated(
    "ui.suspects_expected",
    true=(f"17,000 pairs without a wrong label, {OF_LABELS}: it holds", expected(0.0, 0.7)),
    false=("a tenth turned round, correlation 0.97: it holds", expected(0.1, 0.97)),
)


def fewer_listed(share_wrong: float) -> Callable[[Source], bool]:
    """Whether fewer pairs of two labels are listed than even noise would leave."""

    def sentences_of(draw: Source) -> bool:
        labels = draw.integers(0, 2, 500).astype(float)
        scores = 4 * labels + draw.normal(size=500)
        wrong = draw.permutation(500)[: int(share_wrong * 500)]
        labels[wrong] = 1 - labels[wrong]
        if not share_wrong:  # even noise, and as much as of the others
            scores = labels * 1.5 + draw.normal(size=500)
        listed = len(contradictions(labels, scores).suspects)
        usual = disagreement(contradictions(labels, scores), spearman(labels, scores))
        return usual is not None and listed < usual.low

    return sentences_of


simulated(
    "ui.suspects_fewer",
    true=("a tenth of 500 labels, 0 or 1, turned round", fewer_listed(0.1)),
    false=("500 labels, 0 or 1, and even noise", fewer_listed(0.0)),
)


def nothing_listed(turned_round: int) -> Callable[[Source], bool]:
    def sentences_of(draw: Source) -> bool:
        labels = graded(draw, 60)
        scores = labels / 5 + draw.uniform(-0.05, 0.05, 60)
        scores[np.argsort(labels)[:turned_round]] = 1.2
        return len(contradictions(labels, scores).suspects) == 0

    return sentences_of


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
