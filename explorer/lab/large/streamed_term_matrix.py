"""Matrices that are streamed, cell by cell, and what their survey says of the loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.duplicate_negatives import SameText
from lossprism.explorer.lab.large.duplicate_negatives import DuplicateSearch, same_text_of
from lossprism.explorer.lab.large.heaviest_terms import Heaviest
from lossprism.explorer.lab.large.sums_over_tile_strips import Tiles
from lossprism.explorer.lab.large.term_matrix_interface import TermMatrix
from lossprism.explorer.lab.large.tile_survey import Progress, Survey, survey, tile_blocks
from lossprism.explorer.lab.large.window_blocks import Blocks, Window


@dataclass(frozen=True, eq=False)
class Streamed:
    """A matrix that is streamed, and what its survey says of the loss.

    `row_pairs` and `column_pairs` are the places of the pairs behind rows and columns. `loss` and
    `gradient` read the value, and the gradient of each pair along its own similarity (NaN where a
    pair has no term of its own), off the survey.
    """

    tiles: Tiles
    row_pairs: np.ndarray
    column_pairs: np.ndarray
    axes: tuple[str, str]
    loss: Callable[[Survey], float]
    gradient: Callable[[Survey], np.ndarray]
    # How many rows are nearer to their own column than to any other, where a row has its own.
    nearest: Callable[[Survey], int | None] | None = None
    # What each row looks for among texts, and what its negatives weigh.
    looking: Callable[[Survey], DuplicateSearch] | None = None

    def surveyed(self, progress: Progress) -> StreamedMatrix:
        """Return this matrix with the findings of its survey."""
        return StreamedMatrix(self, survey(self.tiles, progress))


@dataclass(frozen=True, eq=False)
class StreamedMatrix(TermMatrix):
    """A matrix that was streamed once, and what that found."""

    streamed: Streamed
    survey: Survey

    @property
    def axes(self) -> tuple[str, str]:
        return self.streamed.axes

    @property
    def row_pairs(self) -> np.ndarray:
        return self.streamed.row_pairs

    @property
    def column_pairs(self) -> np.ndarray:
        return self.streamed.column_pairs

    @property
    def of_weights(self) -> bool:
        return not self.streamed.tiles.by_row

    @property
    def loss(self) -> float:
        return self.streamed.loss(self.survey)

    def present(self) -> int:
        return self.survey.present

    def effective(self) -> float:
        return self.survey.effective

    def gradient(self) -> np.ndarray:
        return self.streamed.gradient(self.survey)

    def heaviest(self) -> Heaviest:
        return self.survey.heaviest

    def blocks(self, window: Window) -> Blocks:
        return tile_blocks(self.streamed.tiles, self.survey, window)

    def nearest(self) -> int | None:
        counted = self.streamed.nearest
        return None if counted is None else counted(self.survey)

    def same_text(self) -> SameText | None:
        looking = self.streamed.looking
        return None if looking is None else same_text_of(looking(self.survey))
