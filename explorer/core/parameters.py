"""The numbers among the parameters of a loss, and values over their ranges."""

from __future__ import annotations

import torch

from explorer.locale import title_word
from explorer.runtime.problem import Problem
from losses import LossSpec, Parameter


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
