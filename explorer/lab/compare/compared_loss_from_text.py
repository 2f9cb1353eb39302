"""A side as a person types it: ``info_nce@"CLIP (initial temperature)":temperature=0.1``."""

import re

from lossprism.explorer.core.loss_lookup import registered_loss
from lossprism.explorer.lab.compare.comparison_results import Side, written_value
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import quoted
from lossprism.losses import LOSSES

_SIDE = re.compile(
    r"""(?P<loss>[^@:]+)
        (?:@(?P<convention>"[^"]*"|.*?))?
        (?::(?P<parameters>\w+=.*))?""",
    re.VERBOSE | re.DOTALL,
)


def read(text: str) -> Side:
    """Read LOSS, LOSS@CONVENTION, LOSS:NAME=VALUE,NAME=VALUE or both, the convention first.

    The beginning of a convention's name will do where no other begins so; quotation marks may stand
    around it. A value is read as JSON where it is JSON, [1,2,3] as a list, else as text. Loss and
    parameters are not checked here.

    Raises:
        Problem: where the text is of no such form.
    """
    match = _SIDE.fullmatch(text.strip())
    if match is None:
        raise Problem("side_form", text=quoted(text))
    loss, convention, parameters = (match[name] or "" for name in _SIDE.groupindex)
    named = _whole(loss.strip(), convention.strip().strip('"'))
    chosen = re.split(r",(?=\s*\w+=)", parameters) if parameters else []
    return Side(loss.strip(), named, tuple(_parameter(one) for one in chosen))


def _whole(loss: str, begun: str) -> str:
    """The convention whose name of today, or a former one, begins so, if one alone does."""
    registered = registered_loss(loss)
    known = LOSSES[registered].conventions if registered in LOSSES else ()
    fitting = [
        one.name
        for one in known
        if begun and any(n.startswith(begun) for n in (one.name, *one.former))
    ]
    return fitting[0] if len(fitting) == 1 else begun


def _parameter(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    return name.strip(), typed_value(value)


def typed_value(text: str) -> object:
    """Return the value of a parameter that is written as text (`read`)."""
    try:
        value = read_json(text)
    except ValueError:
        return text.strip()
    return tuple(value) if isinstance(value, list) else value


def written(side: Side) -> str:
    """The text that reads back as this side."""
    convention = f'@"{side.convention}"' if side.convention else ""
    chosen = ",".join(f"{name}={written_value(value)}" for name, value in side.parameters)
    return f"{side.loss}{convention}{f':{chosen}' if chosen else ''}"
