"""A lesson as data: a question to predict, one lever, one picture, and numbers that are measured.

A step names a scenario and a function that measures it at a stop of the lever. Every number a
reader sees is read off the trace there; the catalogue has the sentences, by
``learn.<lesson>.<number of the step>``.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.scenario import Data, Rules, Scenario, View
from lossprism.explorer.export.drawing_data_types import BatchData, Shown
from lossprism.explorer.runtime.number_format import Real, display_number, whole_percent
from lossprism.losses.loss_parameter import ParameterValue

# How a number is written: to so many digits, as a share, a count, or a factor.
Format = Literal["number", "percent", "count", "times"]
Role = Literal["first", "second", "third", "faint"]


@dataclass(frozen=True)
class Curve:
    """Points of a chart that belong together; `role` names a colour; `name` and `texts`, one
    of each point, are keys of the catalogue."""

    kind: Literal["line", "points", "bars"]
    role: Role
    x: list[float]
    y: list[float]
    name: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Side:
    """An axis of a chart: a name of the catalogue, below ``learn.axis.``, and its ends."""

    name: str
    low: float
    high: float
    logarithmic: bool = False


@dataclass(frozen=True)
class Chart:
    """Curves over two axes, which have one unit of length if `square`."""

    curves: tuple[Curve, ...]
    x: Side
    y: Side
    square: bool = False


@dataclass(frozen=True)
class Matrix:
    """A step of the derivation, as Explore shows it in one facet, with its batch, of which some
    pairs are `marked` as mislabelled."""

    shown: Shown
    facet: str
    batch: BatchData
    marked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Moment:
    """The contents of one stop of the lever; a matrix in the pictures is of `seen`."""

    numbers: Mapping[str, float]
    pictures: tuple[Matrix | Chart, ...]
    seen: Exploration | None = None


@dataclass(frozen=True)
class Lever:
    """The lever that the reader moves through `stops`, from the first to that at `goal`, where the
    question is answered. `written` is the form of a stop: a word, by
    ``learn.<lesson>.<step>.stop.<number>``, or a number."""

    stops: tuple[float, ...]
    goal: int
    written: Format | Literal["word"] = "number"


@dataclass(frozen=True)
class Prediction:
    """The question before the lever moves: the number `of` the goal, to choose among `answers` or
    to mark on an axis from `low` to `high`, where a mark within `near` of it is right."""

    of: str
    answers: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 1.0
    near: float = 0.0

    def answered_by(self, value: float) -> float:
        """The answer that is right where this was measured: the nearest one, or itself."""
        return min(self.answers, key=lambda one: abs(one - value)) if self.answers else value


@dataclass(frozen=True)
class Step:
    """A question. `figures` are the numbers above the picture, the first of them large; `formats`
    are of those numbers that are not plain."""

    scenario: Scenario
    measure: Callable[[Scenario, float], Moment]
    lever: Lever
    prediction: Prediction
    figures: tuple[str, ...]
    formats: Mapping[str, Format] = dataclasses.field(default_factory=dict)

    def moments(self) -> list[Moment]:
        """Measure the scenario at each stop of the lever. Raises Problem as `explore`."""
        return [self.measure(self.scenario, stop) for stop in self.lever.stops]

    def written(self, name: str, value: float) -> str:
        """A number of this step as its sentences have it."""
        return write(value, self.formats.get(name, "number"))


@dataclass(frozen=True)
class Lesson:
    """A title of the catalogue, how long it takes, and its steps. Its card shows the first step at
    the stop `pictured`, None for the lever's goal. It leads on to a `landscape`, the state of that
    page as its address has it."""

    name: str
    minutes: int
    steps: tuple[Step, ...]
    pictured: int | None = None
    landscape: str = ""

    @property
    def pictured_stop(self) -> int:
        """The stop of the first step's lever that its card shows."""
        return self.steps[0].lever.goal if self.pictured is None else self.pictured


@dataclass(frozen=True)
class Number:
    """A measured number and how it is written."""

    value: Real
    text: str


def write(value: float, form: Format) -> str:
    """Write a number: "5.545", "0.182", "87%", "3", "×6.4"."""
    if form == "percent":
        return whole_percent(value)
    if form == "count":
        return str(round(value))
    if form == "times":
        return f"×{display_number(value, 2)}"
    return display_number(value, 4 if abs(value) >= 1 else 3)


def explored(
    example: str,
    loss: str,
    convention: str = "",
    *,
    shared: bool = True,
    order: str = "entry",
    **parameters: object,
) -> Scenario:
    """Return the scenario of a lesson: an example under a loss, its rows in this order; `shared`
    lets the other pairs' second sentences serve as keys too."""
    return Scenario(
        data=Data(example=example),
        rules=Rules(extra_negatives=shared),
        loss=loss,
        convention=convention,
        parameters=tuple(parameters.items()),
        view=View(order=order),
    )


def with_parameters(scenario: Scenario, **chosen: ParameterValue) -> Scenario:
    """Return the scenario with these parameters of its loss."""
    parameters = {**dict(scenario.parameters), **chosen}
    return dataclasses.replace(scenario, parameters=tuple(parameters.items()))
