"""Frequency of losses and libraries' classes in practice, by which Doctor ranks the meanings of a
number. The groups, with their reasons, are in `loss_popularity.json`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from lossprism.explorer.runtime.json_reading import read_json


class Usage(NamedTuple):
    """Losses, and conventions by loss, that are equally common, with the reason. `cost` is that of
    taking a number for theirs, in units of one unknown count; others cost 0."""

    reason: str
    cost: float
    losses: Sequence[str] = ()
    conventions: Mapping[str, Sequence[str]] = MappingProxyType({})


def _usages() -> tuple[Usage, ...]:
    text = Path(__file__).with_name("loss_popularity.json").read_text("utf-8")
    return tuple(Usage(**fields) for fields in read_json(text))


USAGES = _usages()


def usage_cost(loss: str, convention: str) -> float:
    """Return the cost of taking a number for one of this loss under this convention: negative for
    a common loss, positive for a rare convention."""
    for usage in USAGES:
        if convention in usage.conventions.get(loss, ()):
            return usage.cost
    return next((usage.cost for usage in USAGES if loss in usage.losses), 0.0)
