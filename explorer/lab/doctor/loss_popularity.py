"""Frequency of a loss or a library's class in practice, by which Doctor ranks the meanings of a
number: `loss_popularity.json` is the table of groups, each with its reason."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Usage(NamedTuple):
    """Losses, and conventions of them by loss, that are equally common, for one reason. `cost` is
    what is assumed by taking a number for theirs; all others are of cost 0."""

    reason: str
    cost: float
    losses: Sequence[str] = ()
    conventions: Mapping[str, Sequence[str]] = MappingProxyType({})


def _usages() -> tuple[Usage, ...]:
    text = Path(__file__).with_name("loss_popularity.json").read_text("utf-8")
    return tuple(Usage(**fields) for fields in json.loads(text))


USAGES = _usages()


def usage_cost(loss: str, convention: str) -> float:
    """Return what is assumed by taking a number for one of this loss under this convention: as
    little as the loss is common, or as much as the convention is not."""
    for usage in USAGES:
        if convention in usage.conventions.get(loss, ()):
            return usage.cost
    return next((usage.cost for usage in USAGES if loss in usage.losses), 0.0)
