"""Starts of a film: points of classes, of random pairs, or of sentences by an encoder."""

from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.batch import Batch, batch_of_vectors, make_batch
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.map.projections import principal_components
from lossprism.explorer.lab.sphere.film import MAX_POINTS
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import random_batch
from lossprism.explorer.sources.pairs import Pairs

KINDS = ("classes", "random", "sentences")
MIN_POINTS = 6
MIN_SENTENCES = 3
MAX_PAIRS = 4 * MAX_POINTS  # of sentences, some of which may stand in many
RANGES = {
    "dimension": (2, 3),
    "points": (MIN_POINTS, MAX_POINTS),
    "classes": (1, MAX_POINTS // 2),
    "spread": (0.0, 1.0),
    "agreement": (0.0, 1.0),
    "seed": (0, 999),
}


@dataclass(frozen=True)
class Start:
    """Settings of the points on a circle (`dimension` 2) or a sphere (3) that a film starts with.

    Of "classes": so many `points` in classes of about equal size. The members of a class stand in a
    row, and each makes a positive pair with the next; each such pair comes with a negative one, of
    its first point and one of another class. At `spread` 0 a class starts in one place, at 1
    anywhere. Of "random" pairs: those of Explore's random batch, with these `labels` and this
    `agreement` of cosine and label. Of "sentences": those of an example, or of the scenario of a
    link, as far as `MAX_POINTS` and `MAX_PAIRS` go.
    """

    kind: str = "classes"
    dimension: int = 2
    points: int = 48
    classes: int = 4
    spread: float = 1.0
    labels: str = "graded"
    agreement: float = 0.2
    seed: int = 0
    example: str = "graded_english"
    scene: str = ""


@dataclass(frozen=True, eq=False)
class Placed:
    """The batch of the points, whose vectors are their places, [S, D]. `variance_share` is that
    of the variance of an encoder's vectors in these, None for points that are drawn; `left_out`
    counts the pairs beyond the first `MAX_POINTS` sentences or `MAX_PAIRS` pairs."""

    batch: Batch
    variance_share: float | None = None
    left_out: int = 0


def placed(start: Start) -> Placed:
    """Return the points where they start.

    Raises Problem if there are not enough points for the classes, or sentences have no vectors.
    """
    if start.kind == "classes":
        return Placed(_of_classes(start))
    if start.kind == "random":
        return Placed(_of_random_pairs(start))
    return _of_sentences(start)


def _of_classes(start: Start) -> Batch:
    if start.points < 2 * start.classes:
        raise Problem("sphere_classes", classes=start.classes, points=start.points)
    stream = np.random.RandomState([start.seed, 4])
    of_class = np.arange(start.points) * start.classes // start.points
    centres = _unit(stream.standard_normal((start.classes, start.dimension)))[of_class]
    anywhere = _unit(stream.standard_normal((start.points, start.dimension)))
    vectors = _unit((1 - start.spread) * centres + start.spread * anywhere)
    names = _names(of_class)
    first = np.flatnonzero(of_class[1:] == of_class[:-1])
    positive = [(one, one + 1, 1.0) for one in first]
    others = [np.flatnonzero(of_class != of_class[one]) for one in first]
    negative = [
        (one, int(stream.choice(other)), 0.0)
        for one, other in zip(first, others, strict=True)
        if len(other)
    ]
    rows = [*positive, *negative]
    pairs = Pairs(
        first=tuple(names[one] for one, _, _ in rows),
        second=tuple(names[other] for _, other, _ in rows),
        labels=tuple(label for *_, label in rows),
        label_range=(0.0, 1.0),
    )
    place = {name: number for number, name in enumerate(names)}
    in_order = vectors[[place[name] for name in pairs.sentences]]
    return batch_of_vectors(pairs, in_order, Rules(threshold=0.5, extra_negatives=False))


def _names(of_class: np.ndarray) -> list[str]:
    """Name each point by its class and its number there: 2.1, 2.2, …"""
    starts = np.searchsorted(of_class, of_class)
    members = np.arange(len(of_class)) - starts
    return [f"{one + 1}.{n + 1}" for one, n in zip(of_class, members, strict=True)]


def _of_random_pairs(start: Start) -> Batch:
    drawn = random_batch.draw(
        random_batch.RandomBatch(
            pairs=start.points // 2,
            dimension=start.dimension,
            labels=start.labels,
            agreement=start.agreement,
            mislabelled=0.0,
            hard_negatives=0.0,
            seed=start.seed,
        )
    )
    assert drawn.vectors is not None
    return batch_of_vectors(drawn, drawn.vectors, Rules())


def _of_sentences(start: Start) -> Placed:
    if start.scene:
        scenario = Scenario.from_link(start.scene)
        data, rules = scenario.data, scenario.rules
    else:
        data, rules = Data(source="example", example=start.example), Rules()
    with jobs.heavy_work_turn():
        batch = make_batch(data, rules)
    if batch.orthogonal:  # made of scores: there is no encoder
        raise Problem("no_vectors")
    pairs = batch.pairs
    if len(pairs.sentences) < MIN_SENTENCES:
        raise Problem("sphere_few", least=MIN_SENTENCES)
    seen = np.maximum.accumulate(np.stack([batch.first.cpu(), batch.second.cpu()]).max(axis=0))
    within = np.flatnonzero(seen[:MAX_PAIRS] < MAX_POINTS)
    rows = batch.needed_vectors.cpu().numpy()[: int(seen[within[-1]]) + 1]
    vectors, variance_share = principal_places(rows, start.dimension)
    part = pairs if len(within) == len(pairs) else pairs.at(within.tolist())
    batch = batch_of_vectors(part, vectors, rules)
    return Placed(batch, variance_share, len(pairs) - len(within))


def principal_places(vectors: np.ndarray, dimension: int) -> tuple[np.ndarray, float]:
    """Return unit vectors [S, D] along the first principal components of vectors [S, W], and the
    share of their variance that the components keep."""
    projection = principal_components(directions(vectors), dimension)
    return _unit(projection.points), sum(projection.shares or ())


def _unit(rows: np.ndarray) -> np.ndarray:
    """Return rows at length 1; a row without a direction points along the first axis."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(lengths > 0, lengths, 1.0)
    units[lengths[:, 0] == 0, 0] = 1.0
    return units
