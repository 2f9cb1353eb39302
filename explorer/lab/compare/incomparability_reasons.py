"""Reasons why the values of two sides must not be compared."""

import math
from collections.abc import Iterator

from lossprism.explorer.core.remarks import Value
from lossprism.explorer.lab.compare.comparison_results import Outcome, Sentence, Values
from lossprism.explorer.locale import parameter_word, title_word, word
from lossprism.explorer.runtime.number_format import display_number
from lossprism.losses import LossSpec
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.spec import ParameterValue


def reasons(a: Outcome, b: Outcome) -> Iterator[Sentence]:
    """Yield the reasons not to compare their two values, the broadest first."""
    one, other = _spec(a), _spec(b)
    if one.name != other.name:
        yield Sentence("compare.other.loss", _two(title_word(one), title_word(other)))
        if one.group != other.group:
            groups = [word(f"group.{spec.group}", spec.group) for spec in (one, other)]
            yield Sentence("compare.other.kind", _two(*groups))
    elif one.definition is not other.definition:
        yield Sentence("compare.other.definition", _two(_convention(a), _convention(b)))
    if set(a.reads) != set(b.reads):
        read = [[*map(_reading, side.reads)] for side in (a, b)]
        yield Sentence("compare.other.inputs", _two(*read))
    yield from _other_parameters(a, b)


def _spec(outcome: Outcome) -> LossSpec:
    if outcome.spec is None:
        raise ValueError(f"{outcome.side.loss} does not stand")
    return outcome.spec


def _convention(outcome: Outcome) -> Value:
    if outcome.side.convention:
        return outcome.side.convention
    return word("ui.own_convention", "our own")


def _two(first: Value | list[Value], second: Value | list[Value]) -> Values:
    return {"first": first, "second": second}


def _reading(what: str) -> Value:
    return word(f"compare.reads.{what}", READABLE[what].meaning)


def _other_parameters(a: Outcome, b: Outcome) -> Iterator[Sentence]:
    """Yield differences of the factor before the similarities, λ or 1/τ, and, for one loss, of any
    other parameter."""
    sharp = [_sharpness(one) for one in (a, b)]
    if None not in sharp and not _alike(*sharp):
        yield Sentence("compare.other.scale", _two(*map(display_number, sharp)))
    if _spec(a).name != _spec(b).name:
        return
    for parameter in _spec(a).parameters:
        name = parameter.name
        if parameter.role in ("scale", "temperature") or name not in b.parameters:
            continue
        if _alike(a.parameters[name], b.parameters[name]):
            continue
        yield Sentence(
            "compare.other.parameter",
            {
                "name": parameter_word(name),
                **_two(*(_in_words(side.parameters[name]) for side in (a, b))),
            },
        )


def _sharpness(outcome: Outcome) -> float | None:
    """Factor of the similarities in the exponent, where a parameter gives it."""
    for parameter in _spec(outcome).parameters:
        value = outcome.parameters[parameter.name]
        if parameter.role in ("scale", "temperature") and isinstance(value, float):
            return 1 / value if parameter.role == "temperature" else value
    return None


def _alike(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-12)
    return first == second


def _in_words(value: ParameterValue) -> Value:
    if value is None:
        return word("ui.off", "off")
    if isinstance(value, bool):
        return word(f"ui.{'yes' if value else 'no'}", str(value))
    if isinstance(value, str):
        return word(f"choice.{value}", value)
    if isinstance(value, tuple):
        return ", ".join(map(display_number, value))
    return display_number(value)
