"""Facts about losses, for programs: a line on each, or all of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from lossprism.explorer.core.library_classes_without_loss import classes_related_to
from lossprism.explorer.core.loss_lookup import loss_called
from lossprism.explorer.locale import spelled, title_word
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import Whole, as_answer
from lossprism.losses import LOSSES, LossSpec, Parameter


@dataclass(frozen=True)
class ListedParameter(Whole):
    """A parameter of a loss; limits if it is a number. One that `can_be_off` accepts null."""

    name: str
    symbol: str
    kind: str
    default: Setting
    minimum: float | None
    maximum: float | None
    can_be_off: bool
    choices: list[str]


@dataclass(frozen=True)
class ListedConvention(Whole):
    """The same loss as another library defines it."""

    name: str
    formula: str
    parameters: list[ListedParameter]


@dataclass(frozen=True)
class ListedRelatedClass(Whole):
    """A class of a library that has no loss here, and the reason: this loss is the nearest to
    it."""

    name: str
    about: str


@dataclass(frozen=True)
class ListedLoss(Whole):
    """Facts about a loss, without computing it."""

    name: str
    title: str
    group: str
    formula: str
    about: str
    parameters: list[ListedParameter]
    reads: dict[str, str]
    conventions: list[ListedConvention]
    references: list[str]
    aliases: list[str]
    related_classes: list[ListedRelatedClass]
    akin: list[ListedRelatedClass]  # the former name of `related_classes`
    collapse_formula: str | None
    floor_formula: str | None


@dataclass(frozen=True)
class CalledLoss(ListedLoss):
    """Facts about the loss that a name stands for, and the convention that the name selects."""

    convention: str


def summaries(specs: Iterable[LossSpec]) -> dict[str, dict[str, str]]:
    """Return one line on each loss, by its kind and its name."""
    found: dict[str, dict[str, str]] = {}
    for spec in specs:
        line = spec.about or spelled("en", "loss", title_word(spec))
        found.setdefault(spec.group, {})[spec.name] = line
    return found


def called(name: str) -> CalledLoss:
    """Return the facts about the loss with this name. Raises Problem if there is none, or several
    have it."""
    loss, convention = loss_called(name)
    return as_answer(CalledLoss, described(LOSSES[loss]), convention=convention)


def described(spec: LossSpec) -> ListedLoss:
    related = [
        ListedRelatedClass(one.name, str(one.problem())) for one in classes_related_to(spec.name)
    ]
    return as_answer(
        ListedLoss,
        spec,
        about=(spec.function.__doc__ or "").strip().partition("\n")[0],
        parameters=[_parameter(parameter) for parameter in spec.parameters],
        reads=dict(spec.reads),
        conventions=[_convention(spec.under(c.name), c.name) for c in spec.conventions],
        references=list(spec.references),
        aliases=list(spec.aliases),
        related_classes=related,
        akin=related,
        collapse_formula=spec.collapse_formula or None,
        floor_formula=spec.floor_formula or None,
    )


def _convention(spec: LossSpec, name: str) -> ListedConvention:
    parameters = [_parameter(parameter) for parameter in spec.parameters]
    return ListedConvention(name, spec.formula, parameters)


def _parameter(parameter: Parameter) -> ListedParameter:
    numeric, default = parameter.kind in ("number", "list"), parameter.default
    return as_answer(
        ListedParameter,
        parameter,
        default=list(default) if isinstance(default, tuple) else default,
        minimum=parameter.minimum if numeric else None,
        maximum=parameter.maximum if numeric else None,
        can_be_off=parameter.on_value is not None,
        choices=list(parameter.choices),
    )
