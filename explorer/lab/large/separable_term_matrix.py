"""The matrix of terms that are a row part times a column part, as a page asks for it."""

from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.large.heaviest_terms import Heaviest, heaviest_terms
from lossprism.explorer.lab.large.pair_order_terms_by_row_and_column import (
    SeparableTerms,
    split_blocks,
)
from lossprism.explorer.lab.large.term_matrix_interface import TermMatrix
from lossprism.explorer.lab.large.window_blocks import Blocks, Window


@dataclass(frozen=True, eq=False)
class SeparableMatrix(TermMatrix):
    """Terms that split into a part of the row and a part of the column."""

    split: SeparableTerms

    @property
    def row_pairs(self) -> range:
        return range(len(self.split))

    @property
    def of_weights(self) -> bool:
        return False

    @property
    def loss(self) -> float:
        return self.split.loss

    def present(self) -> int:
        return self.split.present()

    def effective(self) -> float:
        return self.split.effective()

    def gradient(self) -> np.ndarray:
        return self.split.gradient()

    def heaviest(self) -> Heaviest:
        return heaviest_terms(self.split)

    def blocks(self, window: Window) -> Blocks:
        return split_blocks(self.split, window)
