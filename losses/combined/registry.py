"""The losses by name: those that ship or were added, and, asked for by name, what they make."""

from __future__ import annotations

import functools
from typing import TypeVar, overload

from losses.combined.composed import composed
from losses.combined.names import MOST_LETTERS, summands_of, without_blanks
from losses.spec import LossSpec

T = TypeVar("T")
# So many losses made of losses are kept.
KEPT_MADE = 128


class Registry(dict[str, LossSpec]):
    """Losses by name. A name that says what a loss is made of (`losses.combined.names`) is known
    as well, ``LOSSES["info_nce+angle"]``; it is not counted, nor met on the way through all."""

    def __missing__(self, name: str) -> LossSpec:
        found = self._made(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        return self._made(name) is not None

    @overload
    def get(self, key: str, default: None = None, /) -> LossSpec | None: ...
    @overload
    def get(self, key: str, default: LossSpec | T, /) -> LossSpec | T: ...
    def get(self, key: str, default: object = None, /) -> object:
        return self[key] if key in self else default  # noqa: SIM401  # this is `get`

    def _made(self, name: object) -> LossSpec | None:
        """What this name makes; of one that is too long nothing is looked at, and nothing kept."""
        if not isinstance(name, str) or len(name) > MOST_LETTERS:
            return None
        return self._composed(without_blanks(name))

    @functools.lru_cache(maxsize=KEPT_MADE)  # noqa: B019  # there is one registry
    def _composed(self, name: str) -> LossSpec | None:
        listed = dict(self)  # which knows of no sums
        summands = summands_of(name, listed)
        return composed(summands, listed) if summands else None

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return id(self)


# `losses` lists here what ships and what was added.
LOSSES = Registry()
