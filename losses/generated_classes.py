"""Classes that are made from a `LossSpec`: their constructor and documentation."""

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from torch import nn

from lossprism.losses.loss_parameter import Parameter
from lossprism.losses.module_bases import EXTRA, default_settings
from lossprism.losses.spec import LossSpec

LINE_LENGTH = 100  # letters

Base = TypeVar("Base", bound=nn.Module)


def made_class(
    name: str, base: type[Base], spec: LossSpec, form: str, attributes: Mapping[str, object]
) -> type[Base]:
    """Return a class of a loss below `base`, with signature and docstring from the loss; `form`
    says what it is, such as "as a module"."""
    documented = [one for one in spec.parameters if one.name not in _own_arguments(base)]
    members = {
        "__init__": _constructor(base, spec),
        "__doc__": _docstring(spec, form, documented) + _other_arguments(base),
    }
    return cast("type[Base]", type(name, (base,), {**members, **attributes}))


def _constructor(base: type[nn.Module], spec: LossSpec) -> Callable[..., None]:
    """Return an `__init__` that calls that of `base`, and in whose signature the parameters of the
    loss stand in place of `**settings`."""

    def __init__(self: nn.Module, *values: Any, **settings: Any) -> None:
        base.__init__(self, *values, **settings)

    own = _own_arguments(base)
    of_loss = {name: one for name, one in _loss_arguments(spec).items() if name not in own}
    arguments = {**of_loss, **own}
    listed = sorted(arguments.values(), key=lambda one: one.kind)
    __init__.__dict__["__signature__"] = inspect.Signature(listed, return_annotation=None)
    return __init__


@functools.cache
def _own_arguments(base: type[nn.Module]) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a class and of those above it, which it calls with `**settings`."""
    arguments: dict[str, inspect.Parameter] = {}
    for one in _with_constructor(base):
        arguments = {**inspect.signature(one.__init__, eval_str=True).parameters, **arguments}
    return {n: one for n, one in arguments.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}


def _with_constructor(base: type[nn.Module]) -> list[type]:
    """Return the class and those above it that have a constructor, up to torch's own."""
    above = base.__mro__[: base.__mro__.index(nn.Module)]
    return [one for one in above if "__init__" in vars(one)]


def _loss_arguments(spec: LossSpec) -> dict[str, inspect.Parameter]:
    """Return the parameters of a loss as keywords with their defaults; a number may be learned."""
    named = inspect.signature(spec.checked, eval_str=True).parameters
    kinds = {parameter.name: parameter.kind for parameter in spec.parameters}
    arguments = {}
    for name, default in default_settings(spec).items():
        type_ = named[name].annotation
        learned = nn.Parameter | type_ if kinds[name] == "number" else type_
        arguments[name] = named[name].replace(default=default, annotation=learned)
    return {**arguments, **{name: named[name] for name in EXTRA if name in named}}


def _docstring(spec: LossSpec, form: str, parameters: Iterable[Parameter]) -> str:
    """Return the words of the loss, its formula and its parameters."""
    like = f", as in {spec.convention}" if spec.convention else ""
    parts = [f"{spec.title} {form}{like}.", textwrap.fill(spec.about, LINE_LENGTH)]
    parts.append(textwrap.indent(spec.formula, "    "))
    lines = [f"    {one.name}: {_meaning(one)}" for one in parameters]
    parts.append("\n".join(["Args:", *lines]) if lines else "")
    return "\n\n".join(filter(None, parts)) + "\n"


def _other_arguments(base: type[nn.Module]) -> str:
    """Return the sentence on the arguments that are not the loss's, "" for none."""
    classes = [
        f"`{one.__name__}`"
        for one in _with_constructor(base)
        if set(inspect.signature(one.__init__).parameters) - {"self", "settings"}
    ]
    return f"\nThe other arguments are those of {' and '.join(classes)}.\n" if classes else ""


def _meaning(parameter: Parameter) -> str:
    """Return the meaning of a parameter, its symbol and what may be chosen."""
    symbol = f"{parameter.symbol} in the formula" if parameter.symbol else ""
    choices = f"one of {', '.join(map(repr, parameter.choices))}" if parameter.choices else ""
    label = "" if parameter.label == parameter.name.replace("_", " ") else parameter.label
    return "; ".join(filter(None, (label, symbol, choices))) or parameter.label
