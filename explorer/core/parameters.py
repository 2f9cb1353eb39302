"""The numbers among the parameters of a loss, values over their ranges, and who hears of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping

import torch

from explorer.locale import title_word
from explorer.runtime.problem import Problem
from losses import LossSpec, Parameter
from losses.spec import ParameterValue

Settings = tuple[tuple[str, ParameterValue], ...]


def numeric_parameters(spec: LossSpec) -> list[Parameter]:
    """The parameters that can be swept."""
    return [parameter for parameter in spec.parameters if parameter.kind == "number"]


def spread(parameter: Parameter, points: int) -> tuple[float, ...]:
    """Values over the parameter's range, evenly spaced on its own kind of axis."""
    low, high = parameter.minimum, parameter.maximum
    shares = torch.linspace(0, 1, points, dtype=torch.float64)
    ratios = parameter.logarithmic
    values = low * (high / low) ** shares if ratios else low + (high - low) * shares
    return tuple(values.clamp(low, high).tolist())


def chosen_numeric(spec: LossSpec, name: str = "") -> Parameter:
    """The numeric parameter of this name, the first one if unnamed.

    Raises:
        Problem: if the loss has none, or none of this name.
    """
    known = {parameter.name: parameter for parameter in numeric_parameters(spec)}
    if not known:
        raise Problem("no_parameter", about="loss", loss=title_word(spec))
    if name and name not in known:
        said = {"loss": title_word(spec), "known": ", ".join(known)}
        raise Problem("unknown_parameter", about="loss", name=name[:60], **said)
    return known[name or next(iter(known))]


def heard(formula: Callable[..., object], chosen: Mapping[str, ParameterValue]) -> Settings:
    """The parameters that the formula names, or all where it takes any and may read them."""
    named = _named(formula)
    return tuple((name, value) for name, value in chosen.items() if named is None or name in named)


@functools.lru_cache(maxsize=512)
def _named(formula: Callable[..., object]) -> frozenset[str] | None:
    """The arguments by their names; None where those that have none are read too."""
    found = inspect.signature(formula).parameters.values()
    rest = [one.name for one in found if one.kind is inspect.Parameter.VAR_KEYWORD]
    if rest and rest != ["_"]:
        return None
    return frozenset(one.name for one in found)
