"""The numbers among the parameters of a loss, and values over their ranges."""

from __future__ import annotations

import torch

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
