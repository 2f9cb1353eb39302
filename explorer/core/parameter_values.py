"""The parameters of a loss: accepted values, values over their ranges, and selection by name."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TypeGuard

import torch

from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number
from lossprism.losses import LossSpec, Parameter
from lossprism.losses.spec import ParameterValue

Settings = tuple[tuple[str, ParameterValue], ...]


def numeric_parameters(spec: LossSpec) -> list[Parameter]:
    """The parameters that can be swept."""
    return [parameter for parameter in spec.parameters if parameter.kind == "number"]


def spread(parameter: Parameter, points: int) -> tuple[float, ...]:
    """Return values over the parameter's range, evenly spaced on its own kind of axis."""
    low, high = parameter.minimum, parameter.maximum
    shares = torch.linspace(0, 1, points, dtype=torch.float64)
    ratios = parameter.logarithmic
    values = low * (high / low) ** shares if ratios else low + (high - low) * shares
    return tuple(values.clamp(low, high).tolist())


def as_typed(value: float, parameter: Parameter) -> float:
    """Return the value as a reader would type it: a whole number, or one of three digits."""
    return float(round(value) if parameter.whole else f"{value:.3g}")


def chosen_numeric(spec: LossSpec, name: str) -> Parameter:
    """Return the numeric parameter of this name, the first one if unnamed.

    Raises:
        Problem: if the loss has none, or none of this name.
    """
    known = {parameter.name: parameter for parameter in numeric_parameters(spec)}
    if not known:
        raise Problem("no_parameter", about="loss", loss=title_word(spec))
    if name and name not in known:
        values = {"loss": title_word(spec), "known": ", ".join(known)}
        raise Problem("unknown_parameter", about="loss", name=name[:60], **values)
    return known[name or next(iter(known))]


def parameters_read_by(
    formula: Callable[..., object], chosen: Mapping[str, ParameterValue]
) -> Settings:
    """Return the parameters that the formula names, or all if it accepts any."""
    named = _named(formula)
    return tuple((name, value) for name, value in chosen.items() if named is None or name in named)


@functools.lru_cache(maxsize=512)
def _named(formula: Callable[..., object]) -> frozenset[str] | None:
    """Return the names of the arguments; None if others are used too."""
    arguments = inspect.signature(formula).parameters.values()
    rest = [one.name for one in arguments if one.kind is inspect.Parameter.VAR_KEYWORD]
    if rest and rest != ["_"]:
        return None
    return frozenset(one.name for one in arguments)


def checked(parameter: Parameter, value: object) -> ParameterValue:
    """Return the value, a number as a float; None is accepted if the parameter may be off.

    Raises:
        Problem: naming the accepted values.
    """
    if value is None and parameter.on_value is not None:
        return None
    shown = str(value)[:60]
    if parameter.kind == "choice":
        if not isinstance(value, str) or value not in parameter.choices:
            accepted = ", ".join(parameter.choices)
            raise Problem(
                "parameter_choice", about="loss", name=parameter.name, value=shown, known=accepted
            )
        return value
    if parameter.kind == "switch":
        if not isinstance(value, bool):
            raise Problem("parameter_switch", about="loss", name=parameter.name, value=shown)
        return value
    provided = value if parameter.kind == "list" and isinstance(value, tuple | list) else (value,)
    numbers: list[float] = []
    for number in provided:
        if not _fits(number, parameter):
            raise Problem(
                _range_problem(parameter),
                about="loss",
                name=parameter.name,
                value=shown,
                low=typed(parameter.minimum),
                high=typed(parameter.maximum),
            )
        numbers.append(float(number))
    if isinstance(parameter.default, tuple):
        if len(numbers) != len(parameter.default):
            raise Problem(
                "parameter_count",
                about="loss",
                name=parameter.name,
                given=len(numbers),
                count=len(parameter.default),
            )
        return tuple(numbers)
    return numbers[0]


def _fits(value: object, parameter: Parameter) -> TypeGuard[float]:
    """Return whether it is a number in the parameter's range, and whole if required."""
    if not is_number(value) or not parameter.minimum <= value <= parameter.maximum:
        return False
    return not parameter.whole or value % 1 == 0


def _range_problem(parameter: Parameter) -> str:
    """Return the key of the problem of a number out of range."""
    kind = "parameter_whole" if parameter.whole else "parameter_range"
    return kind if parameter.on_value is None else f"{kind}_or_off"
