"""A claim as data and one function from a batch to both sides of what it states."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor
from torch.nn.functional import normalize

from lossprism.explorer.runtime.number_format import display_number

Relation = Literal["=", "<", "≤", ">"]
MAIN = "claim"
CORRECTED = "corrected"
# What stands between two numbers where a relation does not hold.
OPPOSITE: dict[Relation, str] = {"=": "≠", "≤": ">", "<": "≥", ">": "≤"}
DIGITS = 6


@dataclass(frozen=True, eq=False)
class ClaimBatch:
    """The batch that a claim is executed on, in float64.

    `scores` and `labels` [N] are those of the pairs, `vectors` [S, D] those of the sentences, None
    where scores alone are known; `first` and `second` [N] are the rows of each pair's sentences.
    `positive` [N] marks similar pairs. `scale` is λ. `printed` has numbers that the source prints
    for this batch, by name.
    """

    scores: Tensor
    labels: Tensor
    positive: Tensor
    first: Tensor
    second: Tensor
    vectors: Tensor | None = None
    scale: float = 20.0
    printed: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def unit_vectors(self) -> Tensor:
        """The vectors at length 1, [S, D], of a batch that has vectors."""
        assert self.vectors is not None
        return normalize(self.vectors, dim=1)

    @property
    def vectors_of_pairs(self) -> tuple[Tensor, Tensor]:
        """The vectors of the first and of the second sentences, [N, D] each, of a batch that has
        vectors."""
        assert self.vectors is not None
        return self.vectors[self.first], self.vectors[self.second]


@dataclass(frozen=True)
class Tolerance:
    """Two numbers are equal up to a share of the larger one, or up to the absolute `least`."""

    relative: float
    least: float


# Of two numbers computed in float64 in two ways.
ROUNDING = Tolerance(1e-9, 1e-9)


@dataclass(frozen=True)
class Side:
    """A side of a comparison, or a number beside it, with its LaTeX; `text` stands in place of the
    number."""

    latex: str
    value: float = math.nan
    text: str = ""

    @property
    def written(self) -> str:
        """The text, or else the number."""
        return self.text or display_number(self.value, DIGITS)


ZERO = Side("", 0.0)


@dataclass(frozen=True)
class Comparison:
    """Both sides of one statement of a claim, with their numbers.

    `part` names the statement: the claim itself, another one that the source makes beside it, or
    the corrected one. `within` is False outside of the condition under which the statement may
    hold; `asserted` is False where its own premise is not met, so that it says nothing.
    `decided` is False where the numbers, an end of an interval, do not carry a verdict against the
    statement.
    """

    left: Side
    relation: Relation
    right: Side
    part: str = MAIN
    within: bool = True
    asserted: bool = True
    decided: bool = True
    tolerance: Tolerance = ROUNDING

    @property
    def holds(self) -> bool:
        left, right = self.left.value, self.right.value
        near = math.isclose(
            left, right, rel_tol=self.tolerance.relative, abs_tol=self.tolerance.least
        )
        if self.relation == "=":
            return near
        if self.relation == "≤":
            return left < right or near
        return left < right if self.relation == "<" else left > right

    @property
    def found_relation(self) -> str:
        """The relation that the numbers have: the stated one where it holds, else its opposite;
        "?" where they do not decide."""
        if self.holds:
            return self.relation
        return OPPOSITE[self.relation] if self.decided else "?"


@dataclass(frozen=True)
class Curve:
    """A curve of a chart, by the key of its name; `bars` from 0 stand for points without a line
    between them."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    bars: bool = False


@dataclass(frozen=True)
class Chart:
    """Curves over one axis; `x` and `y` are the LaTeX-free symbols of the axes, `band` bounds the
    values of y that the claim asks for."""

    x: str
    y: str
    curves: tuple[Curve, ...]
    logarithmic_x: bool = True
    logarithmic_y: bool = False
    band: tuple[float, float] | None = None


@dataclass(frozen=True)
class Sample:
    """Number of seeds and of held-out pairs that runs were judged on, and the level of intervals
    over them; `data` names the pairs, "" for those of a reader's batch."""

    seeds: int
    pairs: int
    level: str
    data: str = ""


@dataclass(frozen=True)
class Check:
    """A claim on one batch: the comparisons of all its statements, other numbers, and a chart.

    `sample` says what a check of runs was judged on.
    """

    comparisons: tuple[Comparison, ...]
    facts: tuple[Side, ...] = ()
    chart: Chart | None = None
    sample: Sample | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of a source.

    `check` executes it on a batch. `needs` says what of a batch it reads: "scores", "vectors", or
    "nothing" for a claim about the source's own example or about known distributions. `examples`
    are the source's own numbers, the first one shown. An `advice` is followed on a batch or is not;
    it cannot fail as a statement does. `losses` are those on whose formulas it bears. `scaled` is
    False for one that λ does not change.
    """

    name: str
    source: str
    formula: str
    check: Callable[[ClaimBatch], Check]
    examples: tuple[ClaimBatch, ...] = ()
    needs: Literal["scores", "vectors", "nothing"] = "scores"
    losses: tuple[str, ...] = ()
    advice: bool = False
    scaled: bool = True
