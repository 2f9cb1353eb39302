"""A random batch whose every property is chosen: how well cosine follows the label, which labels
are wrong, which negatives are hard. The same settings give the same batch on every machine."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs

LABELS = ("binary", "graded", "continuous")
RANGES = {
    "pairs": (2, EXPLORED_PAIRS),
    "candidates": (1, 64),
    "dimension": (2, 1024),
    "grades": (2, 20),
    "agreement": (0.0, 1.0),
    "mislabelled": (0.0, 0.5),
    "imbalance": (-0.9, 0.9),
    "hard_negatives": (0.0, 1.0),
    "guide": (0.0, 1.0),
    "seed": (0, 2**32 - 1),
}
LOWEST_COSINE, HIGHEST_COSINE = -0.1, 0.9
TEACHER = (-5.0, 5.0)  # the teacher's scores of the lowest and of the highest level


@dataclass(frozen=True)
class RandomBatch:
    """Settings of a random batch. `RANGES` holds the lowest and highest value of each number.

    `labels` is "binary" (0 and 1), "graded" (the whole numbers 0 … `grades` − 1) or "continuous" (0
    … 1). `agreement` is the strength of the relation of cosine and label: at 1 the cosine is a
    rising function of the label, at 0 it is independent of it. `mislabelled` is the share of pairs
    with a wrong label. `imbalance` tilts the labels: the highest is (1 + imbalance)/(1 − imbalance)
    times as frequent as the lowest. `hard_negatives` is the share of the rightly labelled pairs of
    the lower half whose cosine is raised to that of the upper half. `candidates` successive pairs
    share their first sentence: a list. `guide` is the agreement of a second encoder with the true
    levels of the labels; at 0 there is none.
    """

    pairs: int = 64
    candidates: int = 1
    dimension: int = 32
    labels: str = "graded"
    grades: int = 5
    agreement: float = 0.7
    mislabelled: float = 0.05
    imbalance: float = 0.0
    hard_negatives: float = 0.1
    guide: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Composition:
    """The pairs before they have vectors: for N pairs, `labels` and `cosines` of shape (N,), and
    the positions of the pairs with a wrong label and of the hard negatives. `label_range` are the
    least and the largest label that could be drawn; `levels` the true labels on a scale from 0 to
    1."""

    labels: np.ndarray
    cosines: np.ndarray
    mislabelled: tuple[int, ...]
    hard_negatives: tuple[int, ...]
    label_range: tuple[float, float]
    levels: np.ndarray


def draw(settings: RandomBatch, *, most: int = EXPLORED_PAIRS, with_teacher: bool = True) -> Pairs:
    """Draw the batch of at most `most` pairs: sentences "#1 a", "#1 b", "#2 a" …, labels, unit
    vectors of the sentences (2N, D), float32, and a teacher's scores, which follow the true level
    of every pair, also of one whose label is wrong.

    In lists, "#1 a" stands in several pairs. With a `guide`, its vectors of the sentences (2N, D)
    are drawn likewise, from streams of their own; no negative is hard for it. The teacher's
    vectors, drawn if `with_teacher`, are the batch's own, except that every pair has the cosine of
    its level.

    The first vector of a pair has a uniformly random direction; the second is cos · first + √(1 −
    cos²) · (a random unit vector orthogonal to the first), with the cosine of `composed`.

    Raises Problem if a setting is out of its range, naming it.
    """
    chosen = composed(settings, most=most)

    def drawn(cosines: np.ndarray) -> np.ndarray:
        # A stream of its own, so that the vectors do not depend on how many numbers that one used.
        return _drawn(settings, cosines, np.random.RandomState([settings.seed, 1]))

    vectors = drawn(chosen.cosines)
    guide = None
    if settings.guide:
        noise = np.random.RandomState([settings.seed, 2]).random_sample(settings.pairs)
        cosines = _cosines(settings.guide, chosen.levels, noise)
        guide = _drawn(settings, cosines, np.random.RandomState([settings.seed, 3]))
    lists = np.arange(settings.pairs) // settings.candidates
    low, high = TEACHER
    return Pairs(
        first=tuple(f"#{number} a" for number in lists + 1),
        second=tuple(f"#{number} b" for number in range(1, settings.pairs + 1)),
        labels=tuple(float(label) for label in chosen.labels),
        vectors=vectors,
        label_range=chosen.label_range,
        teacher=tuple(np.round(low + (high - low) * chosen.levels, 4).tolist()),
        guide=guide,
        teacher_vectors=drawn(_cosines(1.0, chosen.levels, chosen.levels))
        if with_teacher
        else None,
    )


def _drawn(settings: RandomBatch, cosines: np.ndarray, stream: np.random.RandomState) -> np.ndarray:
    """Unit vectors of the distinct sentences whose pairs have these cosines, float32."""
    count, dimension = settings.pairs, settings.dimension
    lists = np.arange(count) // settings.candidates
    # Drawn for every pair, so that one candidate each is the batch it always was.
    first = _unit(stream.standard_normal((count, dimension)))[lists * settings.candidates]
    other = stream.standard_normal((count, dimension))
    orthogonal = _unit(other - (other * first).sum(axis=1, keepdims=True) * first)
    cosine = cosines[:, None]
    second = cosine * first + np.sqrt(1 - cosine**2) * orthogonal
    vectors = np.stack([first, second], axis=1).reshape(2 * count, dimension)
    begins = np.diff(lists, prepend=-1) > 0  # its first sentence was in no pair before
    # Platforms differ in the last bits of a logarithm; they agree on what rounding leaves.
    return np.round(vectors, 7).astype(np.float32)[
        np.stack([begins, np.ones_like(begins)], axis=1).flatten()
    ]


def _cosines(agreement: float, levels: np.ndarray, noise: np.ndarray) -> np.ndarray:
    mixed = agreement * levels + (1 - agreement) * noise
    return LOWEST_COSINE + (HIGHEST_COSINE - LOWEST_COSINE) * mixed


def composed(settings: RandomBatch, *, most: int = EXPLORED_PAIRS) -> Composition:
    """Draw labels and target cosines of at most `most` pairs, and choose the pairs to tamper with.

    1. Each pair gets a true level q between 0 and 1, in the proportions of `imbalance`. 2. Its
    cosine is −0.1 + (agreement · q + (1 − agreement) · u), u uniform between 0 and 1. 3.
    Mislabelled pairs keep that cosine; their label moves by half the scale, wrapping around. 4.
    Hard negatives keep their label; the cosine is made from the q of a pair of the upper half.

    Raises Problem if a setting is out of its range, naming it.
    """
    _check(settings, most)
    # The legacy stream: NumPy promises never to change it.
    stream = np.random.RandomState([settings.seed, 0])
    steps = 0 if settings.labels == "continuous" else _grades(settings) - 1
    levels = stream.permutation(_levels(settings.pairs, steps, settings.imbalance))
    noise = stream.random_sample(settings.pairs)
    order = stream.permutation(settings.pairs)
    mislabelled = np.sort(order[: round(settings.mislabelled * settings.pairs)])

    labels = levels.copy()
    labels[mislabelled] = _moved_by_half(levels[mislabelled], steps)

    right = np.setdiff1d(np.arange(settings.pairs), mislabelled)
    lower = right[levels[right] < 0.5]
    upper = levels[levels > 0.5]
    hard = np.sort(stream.permutation(lower)[: round(settings.hard_negatives * len(lower))])
    apparent = levels.copy()
    apparent[hard] = upper[stream.randint(0, len(upper), size=len(hard))]

    return Composition(
        labels=np.round(labels * max(steps, 1), 4),
        cosines=_cosines(settings.agreement, apparent, noise),
        mislabelled=tuple(mislabelled.tolist()),
        hard_negatives=tuple(hard.tolist()),
        label_range=(0.0, float(max(steps, 1))),
        levels=levels,
    )


def _grades(settings: RandomBatch) -> int:
    return 2 if settings.labels == "binary" else settings.grades


def _levels(count: int, steps: int, tilt: float) -> np.ndarray:
    """`count` levels between 0 and 1, rising: the quantiles of the density 1 + tilt · (2q − 1).

    With `steps` > 0 they are multiples of 1/steps, in proportion to that density. The lowest and
    the highest level always occur, so that the batch has something to order.
    """
    if steps == 0:
        share = (np.arange(count) + 0.5) / count
        # The inverse of the distribution function, in the form that is safe at tilt = 0.
        levels = 2 * share / (1 - tilt + np.sqrt((1 - tilt) ** 2 + 4 * tilt * share))
    else:
        weight = 1 + tilt * (2 * np.arange(steps + 1) / steps - 1)
        bounds = np.round(count * np.cumsum(weight) / weight.sum()).astype(int)
        levels = np.repeat(np.arange(steps + 1) / steps, np.diff(bounds, prepend=0))
        levels[0], levels[-1] = 0.0, 1.0
    return levels


def _moved_by_half(levels: np.ndarray, steps: int) -> np.ndarray:
    """The levels moved by half the scale, wrapping around: every one becomes clearly wrong."""
    if steps == 0:
        return (levels + 0.5) % 1
    grade = np.round(levels * steps)
    return (grade + (steps + 1) // 2) % (steps + 1) / steps


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


def _check(settings: RandomBatch, most: int) -> None:
    if settings.labels not in LABELS:
        raise Problem("random_labels", value=settings.labels, accepted=", ".join(LABELS))
    for field, (lowest, highest) in {**RANGES, "pairs": (2, most)}.items():
        value = getattr(settings, field)
        kind = Integral if isinstance(highest, int) else Real
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or not lowest <= value <= highest:
            raise Problem(f"random_{field}", value=value, lowest=lowest, highest=highest)
