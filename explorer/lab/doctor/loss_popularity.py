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


_LISTED = read_json(Path(__file__).with_suffix(".json").read_text("utf-8"))
USAGES = tuple(Usage(**fields) for fields in _LISTED)


def usage_cost(loss: str, convention: str) -> float:
    """Return the cost of taking a number for one of this loss under this convention: negative for
    a common loss, positive for a rare convention."""
    for usage in USAGES:
        if convention in usage.conventions.get(loss, ()):
            return usage.cost
    return next((usage.cost for usage in USAGES if loss in usage.losses), 0.0)
