"""The matrix of a loss's terms as the page asks of it, however it is gone through."""

from abc import ABC, abstractmethod

import numpy as np

from lossprism.explorer.core.duplicate_negatives import SameText
from lossprism.explorer.lab.large.heaviest_terms import Heaviest
from lossprism.explorer.lab.large.window_blocks import Blocks, Window


class TermMatrix(ABC):
    """Rows and columns are those of the loss's matrix of terms; their axes are named."""

    @property
    def axes(self) -> tuple[str, str]:
        return "pair", "pair"

    @property
    @abstractmethod
    def row_pairs(self) -> np.ndarray | range:
        """The place in the batch of the pair behind each row."""

    @property
    def column_pairs(self) -> np.ndarray | range:
        return self.row_pairs

    @property
    def of_weights(self) -> bool:
        """True if terms are the logarithms of the weights, for the loss is a plain sum."""
        return True

    @property
    def known(self) -> tuple[bool, bool]:
        """Tell of the loss, and of the gradient, if it is there at once."""
        return True, True

    @property
    @abstractmethod
    def loss(self) -> float: ...

    @abstractmethod
    def present(self) -> int:
        """Number of terms that take part."""

    def same_text(self) -> SameText | None:
        """The negatives of the same text, of a loss that has such; None of another."""
        return None

    @abstractmethod
    def effective(self) -> float:
        """exp of the entropy of the weights: how many terms carry them, as if all were equal."""

    @property
    def effective_error(self) -> float:
        """Largest relative error of `effective`, where only bounds are known."""
        return 0.0

    @abstractmethod
    def gradient(self) -> np.ndarray:
        """∂L/∂s by pair in the order of the batch; NaN where a pair has no term of its own."""

    @abstractmethod
    def heaviest(self) -> Heaviest: ...

    @abstractmethod
    def blocks(self, window: Window) -> Blocks: ...

    def nearest(self) -> int | None:
        """Number of rows nearer to their own column than to any other, or None if the loss has no
        such column."""
        return None
