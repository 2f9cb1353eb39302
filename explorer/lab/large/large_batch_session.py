"""A session with a large batch under one loss: all that the page requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lossprism.explorer.core.duplicate_negatives import SameText
from lossprism.explorer.lab.large.batch import LargeBatch, check_fits, with_texts
from lossprism.explorer.lab.large.block_summed_matrix_interface import BlockSummedMatrix
from lossprism.explorer.lab.large.heaviest_terms import Heaviest
from lossprism.explorer.lab.large.loss_matrix_methods import (
    loss_input_of,
    method_of,
    offered,
    parameters_of,
)
from lossprism.explorer.lab.large.separable_term_matrix import SeparableMatrix
from lossprism.explorer.lab.large.term_matrix_interface import TermMatrix
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.runtime.limits import LARGE_CELLWISE_PAIRS, LARGE_DRAWN_PAIRS
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES


def pair_limit(loss: str, *, drawn: bool = False) -> int:
    """Return the largest number of pairs that the loss takes; `drawn`: of a random batch."""
    if drawn and loss_input_of(loss) == "angles":
        return LARGE_DRAWN_PAIRS
    return method_of(loss).pair_limit


def checked(loss: str, chosen: Mapping[str, object]) -> dict[str, object]:
    """The parameters in force.

    Raises Problem for a loss that is not offered, and for a value outside its range.
    """
    if loss not in offered():
        accepted = ", ".join(offered())
        raise Problem("large_loss", about="loss", loss=str(loss)[:60], accepted=accepted)
    values: dict[str, object] = {}
    for parameter in parameters_of(loss):
        value = chosen.get(parameter.name, parameter.default)
        if parameter.kind == "choice":
            fits = value in parameter.choices
            accepted = ", ".join(parameter.choices)
        elif parameter.kind == "switch":
            fits, accepted = isinstance(value, bool), "true, false"
        else:
            fits = (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and parameter.minimum <= value <= parameter.maximum
            )
            accepted = " … ".join(map(typed, (parameter.minimum, parameter.maximum)))
        if not fits:
            raise Problem(
                "large_parameter",
                about="loss",
                name=parameter.name,
                value=str(value)[:40],
                accepted=accepted,
            )
        values[parameter.name] = value
    return values


@dataclass(frozen=True, eq=False)
class LargeSession:
    """A batch under a loss, and what its matrix of terms tells, each computed once."""

    batch: LargeBatch
    matrix: TermMatrix

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.matrix.row_pairs), len(self.matrix.column_pairs)

    @property
    def is_exact(self) -> bool:
        """True if blocks are made of their terms, not of approximations."""
        return not isinstance(self.matrix, BlockSummedMatrix)

    @cached_property
    def loss(self) -> float:
        return self.matrix.loss

    @cached_property
    def present(self) -> int:
        """Number of terms that take part."""
        return self.matrix.present()

    @cached_property
    def effective(self) -> float:
        """exp of the entropy of the weights: how many terms carry them, as if all were equal."""
        return self.matrix.effective()

    @cached_property
    def gradient(self) -> np.ndarray:
        """∂L/∂s by pair in the order of the batch; NaN where a pair has no term of its own."""
        return self.matrix.gradient()

    @cached_property
    def gradient_norm(self) -> float:
        """The length of the gradient, as far as there is one."""
        return float(np.sqrt(np.nansum(np.square(self.gradient))))

    @cached_property
    def heaviest(self) -> Heaviest:
        return self.matrix.heaviest()

    @cached_property
    def violated(self) -> tuple[int, int]:
        """Number of comparisons of pairs that stand the wrong way round, and of all."""
        if self.matrix.axes != ("pair", "pair"):
            return 0, 0
        contradicted = self.batch.contradictions
        return contradicted.violated, contradicted.ordered

    @cached_property
    def nearest(self) -> int | None:
        """Number of rows nearer to their own column than to any other, or None if the loss has no
        such column."""
        return self.matrix.nearest()

    @cached_property
    def same_text(self) -> SameText | None:
        """The negatives of the same text, for a loss that compares texts of a batch."""
        return self.matrix.same_text()


def open_batch(
    batch: LargeBatch,
    loss: str,
    parameters: Mapping[str, object],
    progress: Progress,
    duplicates: str = "keep",
) -> LargeSession:
    """Open the batch under the loss. A matrix that is streamed is surveyed here, once.

    `duplicates` is as in the rules of a scenario; a loss that reads no texts ignores it.

    Raises Problem if the loss does not take so many pairs.
    """
    check_fits(len(batch), pair_limit(loss), loss)
    form, method = LOSSES[loss].form, method_of(loss)
    if duplicates == "leave_out" and LOSSES[loss].reads_texts:
        batch = with_texts(batch)
    if method.split is not None:
        return LargeSession(batch, SeparableMatrix(method.split(form, batch, parameters)))
    if method.summed is not None and len(batch) > LARGE_CELLWISE_PAIRS:
        summed = method.summed(form, batch, parameters)
        if summed is not None:
            return LargeSession(batch, summed.surveyed(progress))
    assert method.streamed is not None, "what does not split is streamed"
    return LargeSession(batch, method.streamed(form, batch, parameters).surveyed(progress))
