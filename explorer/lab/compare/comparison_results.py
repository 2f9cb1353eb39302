"""Results of one side of a comparison, and of any two."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from lossprism.explorer.core.loss_lookup import OFF, name_as_registered
from lossprism.explorer.core.ranks_and_term_weights import Places
from lossprism.explorer.core.remarks import Value
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import say, title_word
from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number, quoted
from lossprism.losses import LossSpec
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.spec import ParameterValue

# Gradients whose difference is less than this power of the rounding of a number are equal.
EQUAL_GRADIENT_POWER = 0.75
GradientKind = Literal["score", "pair"]
Values = Mapping[str, Value | list[Value]]


@dataclass(frozen=True)
class Sentence:
    """A sentence of the catalogues by its whole key, with its values."""

    key: str
    values: Values = field(default_factory=dict)

    def written(self, language: str = "en") -> str:
        """Return the sentence in a language."""
        return say(language, self.key, **self.values)


@dataclass(frozen=True)
class Side:
    """A loss of `LOSSES` with its parameters, in our convention or in a library's."""

    loss: str
    convention: str = ""
    parameters: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        name_as_registered(self)

    def applied_to(self, scenario: Scenario) -> Scenario:
        """The scenario under this loss: what a row of the comparison is on Explore."""
        chosen = {"loss": self.loss, "convention": self.convention, "parameters": self.parameters}
        return dataclasses.replace(scenario, **chosen)


@dataclass(frozen=True)
class Figures:
    """The metrics that Explore shows for a loss on a batch, each as `Exploration` has it.

    `terms` is their number; the heaviest `active` carry nine tenths of the weight and `moving` any
    at all. These three and `effective` are None for a loss without terms. `places` belongs to a
    loss that looks for the right candidate; for any other, `violated` of the `ordered` comparisons
    of pairs are wrong.
    """

    loss: float
    floor: float | None
    floor_is_bound: bool
    collapse: float | None
    gradient_norm: float
    gradient_of: str
    terms: int | None
    active: int | None
    moving: int | None
    effective: float | None
    ordered: int
    violated: int
    places: Places | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a side: its figures and gradients, or the problem that prevented them.

    `spec` is None where there is no such loss. `parameters` are those in force, `reads` the inputs
    (`losses.inputs_that_losses_may_read.READABLE`) that the loss got. `pair_gradient` [N] is the
    gradient that Explore draws: ∂L/∂s of a loss on pair scores, else the projection of the gradient
    by the sentence vectors (`is_projected`). `score_gradient` [N] is ∂L/∂s wherever the loss has
    one, NaN for a pair that it does not compare. `vector_gradient` [S, D] is by the distinct
    sentence vectors, None where it reaches none.
    """

    side: Side
    spec: LossSpec | None = None
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    figures: Figures | None = None
    pair_gradient: Tensor | None = None
    score_gradient: Tensor | None = None
    vector_gradient: Tensor | None = None
    is_projected: bool = False
    problem: Problem | None = None
    term_counts: TermCounts | None = None

    @property
    def stands(self) -> bool:
        """True if it could be computed."""
        return self.figures is not None

    @property
    def called(self) -> dict[str, Value]:
        """The loss in words, and what it has besides: convention and parameters that were chosen,
        " · scale=50", as `compare-losses` reads them."""
        loss, convention = self.entered
        title = loss if self.spec is None else title_word(self.spec)
        chosen = [
            f"{quoted_value(name)}={written_value(value)}" for name, value in self.side.parameters
        ]
        more = [convention, ", ".join(chosen)]
        return {"name": title, "more": "".join(f" · {one}" for one in more if one)}

    @property
    def entered(self) -> tuple[str, str]:
        """The names of loss and convention; of what does not stand, as much as one quotes."""
        names = self.side.loss, self.side.convention
        return names if self.stands else (quoted_value(names[0]), quoted_value(names[1]))

    def named(self, language: str = "en") -> str:
        return say(language, "compare.named", **self.called)

    def gradient(self, kind: GradientKind) -> Tensor | None:
        """The gradient of each pair [N], 0 of one that the loss does not compare."""
        gradient = self.score_gradient if kind == "score" else self.pair_gradient
        return None if gradient is None else gradient.nan_to_num(0.0)


@dataclass(frozen=True)
class DisputedPair:
    """The pair on which two sides disagree most.

    `shares`: the part of its own whole gradient that each gives the pair, below 0 where it draws
    the two sentences together; `ranks`: the rank of its size, from 1. `sentences` have these
    numbers, followed by the reason where a count is one.
    """

    pair: int
    shares: tuple[float, float]
    ranks: tuple[int, int]
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Between:
    """Comparison of two sides, `first` and `second` by their places.

    `reasons`: why their values must not be compared; empty where they may. `gradient` is the
    gradient of the pairs behind the other fields: "score", ∂L/∂s, where both have it, else "pair",
    the gradient that Explore draws. `tau` is Kendall's τ-b of its signed values over all pairs,
    equal values counted as ties; None where one side has all pairs tied. `cosine` is that of the
    gradients by the distinct sentence vectors, None where a side has none. The second's gradient is
    `factor` times the first's in every entry, by the vectors where both have them; None where it is
    not.
    """

    first: int
    second: int
    reasons: tuple[Sentence, ...]
    gradient: GradientKind
    tau: float | None
    cosine: float | None
    factor: float | None
    apart: DisputedPair | None


def quoted_value(value: object) -> str:
    return whole_letters(quoted(value))


@dataclass(frozen=True, eq=False)
class TermCounts:
    """Number of terms with each pair, [N] each, for a loss whose terms compare pairs.

    As the one that ought to be above (`above`) and below (`below`), and with weight (`weighing`).
    """

    above: Tensor
    below: Tensor
    weighing: Tensor
    labels: Tensor


def written_value(value: object) -> str:
    """A value of a parameter as the command reads it; of what is none, as much as one quotes."""
    if value is None:
        return OFF[0]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple) and all(map(is_number, value)):
        return quoted_value(f"[{','.join(map(written_value, value))}]")
    return (
        typed(value) if isinstance(value, float) and math.isfinite(value) else quoted_value(value)
    )


def of_positives(side: Outcome) -> bool:
    return any(READABLE[what].positives_only for what in side.reads)
