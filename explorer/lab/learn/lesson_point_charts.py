"""The charts of lessons: points on the circle, and cosines beside labels."""

import math

import torch

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.lab.learn.lesson_types import Chart, Curve, Side
from lossprism.losses.geometry import unit

COSINES = Side("cosine", -0.2, 1.3)  # with room for what a lesson adds to them


def on_the_sphere(batch: Batch, moved: Batch) -> Chart:
    """Return the sentences of the moved batch in a plane through the middle of the sphere: along
    the mean of the vectors of `batch`, and across it along which they differ most."""
    vectors = unit(batch.needed_vectors)
    mean = unit(vectors.mean(0, keepdim=True))[0]
    rest = vectors - (vectors @ mean)[:, None] * mean
    across = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    seen = unit(moved.needed_vectors) @ torch.stack([across, mean], dim=1)
    points = Curve("points", "first", seen[:, 0].tolist(), seen[:, 1].tolist())
    sphere = Curve("line", "faint", *circle(1), "learn.curve.sphere")
    return Chart((sphere, points), Side("", -1.2, 1.2), Side("", -1.2, 1.2), square=True)


def circle(radius: float, at: float = 0.0) -> tuple[list[float], list[float]]:
    """Return the points of a circle around (`at`, 0)."""
    turns = [2 * math.pi * step / 72 for step in range(73)]
    return [at + radius * math.cos(one) for one in turns], [radius * math.sin(one) for one in turns]


def against_labels(batch: Batch) -> Chart:
    """Return the cosine of each pair over its label."""
    low, high = batch.label_range
    points = Curve("points", "first", list(batch.pairs.labels), batch.scores.tolist())
    return Chart((points,), Side("label", low - 0.2, high + 0.2), COSINES)
