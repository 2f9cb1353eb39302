"""The matrices that lessons show."""

import dataclasses

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export.drawing_data_of_exploration import (
    describe_batch,
    looking_at,
    one_step,
)
from lossprism.explorer.export.drawing_data_types import Axis, BatchData, Shown
from lossprism.explorer.lab.learn.lesson_types import Matrix
from lossprism.explorer.runtime.base64_arrays import packed


def matrix(e: Exploration) -> Matrix:
    """Return the terms by their weights."""
    seen, _ = looking_at(e, "", "weight")
    shown = one_step(seen, seen.scenario.view.step).shown
    return Matrix(dataclasses.replace(shown, live="", numbers={}), "weight", batch_data(e.batch))


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
