"""The `LossSpec` of a function that has none of its own."""

import inspect
from collections.abc import Callable

from torch import Tensor

from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.loss_parameter import Parameter
from lossprism.losses.spec import LossSpec


def spec_of(function: Callable[..., Tensor]) -> LossSpec:
    """Return the `LossSpec` of a function that has none.

    Positional arguments must have names that a batch can fill (`READABLE`); keyword-only numbers
    become parameters that range from 0 to four times their default.
    """
    parameters = []
    for name, argument in inspect.signature(function).parameters.items():
        default = argument.default
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY or name in READABLE:
            continue
        if isinstance(default, bool):
            parameters.append(Parameter(name, default))
        elif isinstance(default, int | float):
            reach = 4 * abs(default) or 1.0
            low = -reach if default < 0 else 0.0
            parameters.append(Parameter(name, float(default), "", low, reach, reach / 200))
    return LossSpec(
        function=function,
        title=function.__name__.replace("_", " "),
        formula="",
        parameters=tuple(parameters),
        terms="terms",
    )
