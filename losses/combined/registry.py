"""The losses by name: those that ship or were added, and, asked for by name, what they make."""

from __future__ import annotations

import functools
from typing import TypeVar, overload

from losses.combined.composed import composed
from losses.combined.names import summands_of
from losses.spec import LossSpec

T = TypeVar("T")
# So many losses made of losses are kept.
KEPT = 128


class Registry(dict[str, LossSpec]):
    """Losses by name. A name that says what a loss is made of (`losses.combined.names`) is known
    as well, ``LOSSES["info_nce+angle"]``; it is not counted, nor met on the way through all."""

    def __missing__(self, name: str) -> LossSpec:
        found = self._composed(name) if isinstance(name, str) else None
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        return isinstance(name, str) and self._composed(name) is not None

    @overload
    def get(self, key: str, default: None = None, /) -> LossSpec | None: ...
    @overload
    def get(self, key: str, default: LossSpec | T, /) -> LossSpec | T: ...
    def get(self, key: str, default: object = None, /) -> object:
        return self[key] if key in self else default  # noqa: SIM401  # this is `get`

    @functools.lru_cache(maxsize=KEPT)  # noqa: B019  # there is one registry
    def _composed(self, name: str) -> LossSpec | None:
        listed = dict(self)  # which knows of no sums
        summands = summands_of(name, listed)
        return composed(summands, listed) if summands else None

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return id(self)
