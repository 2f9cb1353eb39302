"""The pictures of lessons: a step of the derivation as Explore shows it, and small charts."""

import dataclasses
import math

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export.exploration_array_types import Axis, BatchData, Shown
from lossprism.explorer.export.exploration_arrays import describe_batch, looking_at, one_step
from lossprism.explorer.lab.learn.lesson_types import Chart, Curve, Matrix, Side
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.losses.geometry import unit

COSINES = Side("cosine", -0.2, 1.3)  # with room for what a lesson adds to them


def matrix(e: Exploration, step: str = "", facet: str = "weight") -> Matrix:
    """Return a step of the trace by its name, "" for the terms, in one facet."""
    seen, _ = looking_at(e, step, facet)
    shown = one_step(seen, seen.scenario.view.step).shown
    return Matrix(dataclasses.replace(shown, live="", numbers={}), facet, batch_data(e.batch))


def batch_data(batch: Batch) -> BatchData:
    """Return the texts and labels that name the rows and columns of a matrix."""
    return BatchData(key="", **describe_batch(batch))


def cells_left(e: Exploration, present: Tensor) -> Matrix:
    """Return the weights of the terms, a matrix in the order of its batch, in the cells alone that
    are `present`, bool [rows, columns]."""
    picture = matrix(e)
    assert e.weights is not None
    weight = packed(e.weights.shares.where(present, 0))
    mask = packed(present, torch.uint8)
    shown = dataclasses.replace(picture.shown, weight=weight, mask=mask, hatched=True)
    return dataclasses.replace(picture, shown=shown)


def sentence_matrix(batch: Batch, covered: Tensor, formula: str) -> Matrix:
    """Return all sentences against all sentences, and whether a loss compares them: bool [S, S]."""
    count = len(covered)
    first = batch.axis("sentence", count)
    assert first is not None
    everyone = list(range(count))
    axis = Axis("sentence", items=everyone, pairs=first[0].tolist(), sentences=everyone)
    shown = Shown(
        step=0,
        name="covered",
        latex=formula,
        live="",
        boolean=True,
        signed=False,
        rows=count,
        columns=count,
        all_rows=count,
        all_columns=count,
        row_axis=axis,
        column_axis=axis,
        value=packed(covered.float()),
        gradient=None,
        beside=False,
        weight=None,
        mask=packed(covered, torch.uint8),
        hatched=False,
        numbers={},
    )
    return Matrix(shown, "mask", batch_data(batch))


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
