"""Matrices whose blocks are summed without their cells, once a survey has gone through them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from lossprism.explorer.lab.large.heaviest_terms import Heaviest
from lossprism.explorer.lab.large.term_matrix_interface import TermMatrix
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.lab.large.window_blocks import Blocks, Window


class Surveyed(Protocol):
    """The part of a survey's findings that is alike for all."""

    @property
    def effective(self) -> float:
        """exp of the entropy of the weights."""
        ...

    @property
    def effective_error(self) -> float:
        """Largest relative error of `effective`."""
        ...


Findings = TypeVar("Findings", bound=Surveyed)


class BlockSummableTerms(ABC, Generic[Findings]):
    """Terms over the ordered pairs of a batch, whose survey gives `Findings`."""

    @property
    @abstractmethod
    def known(self) -> tuple[bool, bool]:
        """Tell of the loss, and of the gradient, if it is there at once."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of pairs."""

    @abstractmethod
    def survey(self, progress: Progress) -> Findings:
        """Go through the whole matrix. `progress` hears of pairs done and may raise to stop."""

    @abstractmethod
    def present(self, findings: Findings) -> int:
        """Number of terms."""

    @abstractmethod
    def loss(self, findings: Findings) -> float: ...

    @abstractmethod
    def gradient(self, findings: Findings) -> np.ndarray:
        """∂L/∂s by pair."""

    @abstractmethod
    def heaviest(self, findings: Findings) -> Heaviest: ...

    @abstractmethod
    def blocks(self, window: Window, findings: Findings) -> Blocks:
        """The blocks of a window."""

    def surveyed(self, progress: Progress) -> BlockSummedMatrix[Findings]:
        """Return these terms with the findings of their survey."""
        return BlockSummedMatrix(self, self.survey(progress))


@dataclass(frozen=True, eq=False)
class BlockSummedMatrix(TermMatrix, Generic[Findings]):
    """Terms that are summed without their cells, and what their survey found."""

    terms: BlockSummableTerms[Findings]
    found: Findings

    @property
    def row_pairs(self) -> range:
        return range(len(self.terms))

    @property
    def known(self) -> tuple[bool, bool]:
        return self.terms.known

    @property
    def loss(self) -> float:
        return self.terms.loss(self.found)

    def present(self) -> int:
        return self.terms.present(self.found)

    def effective(self) -> float:
        return self.found.effective

    @property
    def effective_error(self) -> float:
        return self.found.effective_error

    def gradient(self) -> np.ndarray:
        return self.terms.gradient(self.found)

    def heaviest(self) -> Heaviest:
        return self.terms.heaviest(self.found)

    def blocks(self, window: Window) -> Blocks:
        return self.terms.blocks(window, self.found)
