"""The matrix of a loss as a widget of Jupyter: the page's own view, whose state Python has too."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.parameter_values import checked
from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.core.scenario import FACETS, ORDERS, read_colour_range
from lossprism.explorer.export.caption import title_of
from lossprism.explorer.export.drawing_data_of_exploration import (
    describe_batch,
    looking_at,
    one_step,
)
from lossprism.explorer.export.drawing_data_types import BatchData
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.notebook.inputs import as_list, read_inputs
from lossprism.explorer.notebook.widget_document import FRAME, document, page_facts, sentences
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.validation import integer, invalid_value, of_type, optional
from lossprism.explorer.web.api.request_parsing import read_choice

Reader = Callable[[Any], Any]


class Checked(traitlets.TraitType):
    """A trait that a reader checks: an invalid value is refused with its Problem.

    Args:
        default: the value that the trait begins with.
        read: returns the checked value, or raises Problem.
    """

    def __init__(self, default: object, read: Reader) -> None:
        super().__init__(default)
        self.read = read
        self.tag(sync=True)

    def validate(self, obj: object, value: object) -> object:
        return self.read(value)


def _choice(name: str, choices: tuple[str, ...]) -> Checked:
    return Checked(choices[0], lambda value: read_choice(name, value, choices))


def _cell(value: object, name: str = "selected") -> tuple[int, int] | None:
    """Read a cell: None, or the numbers of a row and a column, counted from 0."""
    cell = optional(of_type(list, tuple))(as_list(value), name)
    if cell is None:
        return None
    if len(cell) != 2 or not all(integer(one, name) >= 0 for one in cell):
        raise invalid_value(name, value)
    return cell[0], cell[1]


def _colours(value: object) -> tuple[float, float] | None:
    """Read the ends of the scale of colours: None, or two numbers."""
    return optional(read_colour_range)(as_list(value), "colour_range")


def _pointed(value: object) -> dict[str, object]:
    """Read what is pointed at: {"pairs": numbers of pairs, "cell": as `selected`}."""
    entries = of_type(dict)(value, "pointed")
    pairs = of_type(list, tuple)(entries.get("pairs", []), "pointed.pairs")
    cell = _cell(entries.get("cell"), "pointed.cell")
    return {"pairs": [integer(one, "pointed.pairs") for one in pairs], "cell": cell and [*cell]}


class MatrixWidget(anywidget.AnyWidget):
    """The matrix of a step of a loss, in a cell; each parameter of the loss is a trait of its own.

    Traits:
        facet: "value", "mask", "weight" or "gradient".
        step: name of the step that is shown; at first that of the terms.
        sorted_by: "entry", "label" or "score".
        colour_range: the values at both ends of the colours; None takes those of the cells in view.
        selected: (row, column) of the cell that is pinned by a click, counted from 0 as entered,
            whatever they are sorted by; None without one.
        pointed: {"pairs": […], "cell": …} under the pointer, to link with that of another widget.

    `exploration` has the numbers: `exploration.loss`, `exploration.trace`, `exploration.weights`.
    """

    _esm = FRAME
    document = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    language = traitlets.Unicode().tag(sync=True)
    facts = traitlets.Dict().tag(sync=True)
    batch = traitlets.Dict().tag(sync=True)
    reference_formulas = traitlets.Dict().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    facet = _choice("facet", FACETS)
    sorted_by = _choice("sorted_by", ("label", *(one for one in ORDERS if one != "label")))
    colour_range = Checked(None, _colours)
    selected = Checked(None, _cell)
    pointed = Checked({"pairs": [], "cell": None}, _pointed)

    def __init__(self, resolved: Resolved, language: str) -> None:
        self._resolved, self._batch = resolved, resolved.batch
        self.exploration: Exploration = explore(resolved, self._batch)
        spec = resolved.spec
        super().__init__(
            document=document(),
            words=sentences(language),
            language=language,
            facts=page_facts(),
            title=title_of(self.exploration, language),
            reference_formulas={
                "collapse": spec.collapse_formula if spec.collapse else "",
                "floor": spec.floor_formula if spec.floor else "",
            },
            batch=plain(BatchData("pairs", **describe_batch(self._batch))),
        )
        traits = {
            one.name: Checked(resolved.parameters[one.name], functools.partial(_parameter, one))
            for one in spec.parameters
        }
        self._names = tuple(traits)
        self.add_traits(step=Checked("", self._step), **traits)
        self._draw()
        self.observe(self._compute, self._names)
        self.observe(lambda _: self._draw(), ["step", "sorted_by"])

    def _step(self, name: object) -> str:
        """Read the name of a step. Raises Problem if the loss has none of it."""
        text = of_type(str)(name, "step")
        return text and looking_at(self.exploration, text)[1]

    def _compute(self, _: Mapping[str, object]) -> None:
        """Compute the loss under the parameters in force, and draw it."""
        values = {name: getattr(self, name) for name in self._names}
        self.exploration = explore(self._resolved.at(**values), self._batch)
        self._draw()

    def _draw(self) -> None:
        """Send the step that is looked at; another one where the loss has it no longer."""
        known = [step.name for step in self.exploration.trace.tensors]
        step = self.step if self.step in known else ""
        seen, name = looking_at(self.exploration.seen(order=self.sorted_by), step)
        self.picture = plain(one_step(seen, seen.scenario.view.step))
        self.step = name


def _parameter(parameter: Any, value: object) -> object:
    return checked(parameter, as_list(value))


def of_pairs(*data: Any, language: str = "en", **options: Any) -> MatrixWidget:
    """Return the widget of these pairs; arguments as for `show`, without `height`.

    Raises Problem, naming the first invalid input.
    """
    read_choice("language", language, tuple(LANGUAGES))
    inputs = read_inputs("widget", *data, language=language, **options)
    if inputs.drawn:
        warnings.warn(inputs.drawn, stacklevel=3)
    return MatrixWidget(inputs.resolved, language)
