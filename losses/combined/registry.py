"""The losses by name: those that ship or were added, and, asked for by name, what they make."""

from __future__ import annotations

import functools
from typing import TypeVar, overload

from losses.aliases import (
    LIBRARY,
    SHARED_CLASSES,
    AmbiguousLoss,
    LossNameError,
    UnknownLoss,
    classes_of,
    closest,
    conventions_called,
    is_qualified,
    last_part,
    library_in,
    names_of,
    plain,
)
from losses.combined.composed import composed
from losses.combined.names import MOST_LETTERS, RECIPES, WRAPPED, summands_of, without_blanks
from losses.spec import LossSpec

T = TypeVar("T")
# So many losses made of losses are kept.
KEPT_MADE = 128


class Registry(dict[str, LossSpec]):
    """Losses by name. A name that says what a loss is made of (`losses.combined.names`) is known
    as well, ``LOSSES["info_nce+angle"]``, and so are other names of a loss: that of a library's
    class gives the loss under the convention of that library,
    ``LOSSES["MultipleNegativesRankingLoss"]``. None of these is counted, nor met on the way through
    all."""

    def __missing__(self, name: str) -> LossSpec:
        if not isinstance(name, str):
            raise KeyError(name)
        found = self.exact(name)
        if found is not None:
            return found
        loss, convention = self.called(name)
        return self[loss].under(convention)

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        try:
            return isinstance(name, str) and bool(self.called(name))
        except LossNameError:
            return False

    @overload
    def get(self, key: str, default: None = None, /) -> LossSpec | None: ...
    @overload
    def get(self, key: str, default: LossSpec | T, /) -> LossSpec | T: ...
    def get(self, key: str, default: object = None, /) -> object:
        return self[key] if key in self else default  # noqa: SIM401  # this is `get`

    def known(self) -> list[LossSpec]:
        """The losses that are listed, and the sums that are trained with."""
        return [*self.values(), *(self[name] for name in RECIPES)]

    def called(self, name: str, library: str = "") -> tuple[str, str]:
        """The one loss that goes by this name, and the convention that is named after it, "" for
        none. Of several libraries `library` is meant, or that of the class's module.

        Raises UnknownLoss where no loss does, and AmbiguousLoss where several do, or several
        conventions with other numbers.
        """
        if (own := self.exact(name)) is not None:
            return own.name, ""
        specs = self.all_called(name)
        found = [(spec, one) for spec in specs for one in conventions_called(spec, name) or [""]]
        library = library_in(name) or library
        found = [one for one in found if library and _is_of(*one, library)] or found
        losses = list(dict.fromkeys(spec.name for spec, _ in found))
        if (library or LIBRARY) == LIBRARY and (nearest := SHARED_CLASSES.get(last_part(name))):
            losses.append(nearest)
        if len(losses) > 1:
            raise AmbiguousLoss(name, losses)
        spec, conventions = found[0][0], [convention for _, convention in found]
        shortest = min(conventions, key=len)
        if all(_says_what_changed(spec, one, shortest) for one in conventions):
            return spec.name, shortest
        raise AmbiguousLoss(name, conventions, spec.name)

    def all_called(self, name: str) -> list[LossSpec]:
        """The losses that go by this name: to the letter first, of the registry, as another name
        or a library's class; then, as `plain` reads it, of the registry, as a title, as another
        name, as a class. A sum goes by names of its parts, with a plus between them.

        Raises UnknownLoss where none does.
        """
        wanted, written = plain(name[: MOST_LETTERS + 1]), last_part(name[: MOST_LETTERS + 1])
        if len(name) > MOST_LETTERS or not any(letter.isalpha() for letter in wanted):
            raise UnknownLoss(name)
        if (own := self.exact(name)) is not None:
            return [own]
        specs = self.known()
        found = (
            [spec for spec in specs if any(is_qualified(name, one) for one in spec.conventions)]
            or [spec for spec in specs if written in {*spec.aliases, *_classes(spec)}]
            or [spec for spec in specs if wanted in (plain(spec.name), plain(spec.title))]
            or [spec for spec in specs if wanted in map(plain, spec.aliases)]
            or [
                spec for spec in specs if wanted in {*classes_of(spec), *map(plain, _classes(spec))}
            ]
            or self._made_of_others(name)
        )
        if not found:
            raise UnknownLoss(name, (written for written, _ in closest(name, specs)))
        return found

    def exact(self, name: str) -> LossSpec | None:
        """The loss of this name in the registry, or made of such; of a name that is too long
        nothing is looked at, and nothing kept."""
        if len(name) > MOST_LETTERS:
            return None
        written = without_blanks(name)
        return super().get(written) or self._composed(written)

    @functools.lru_cache(maxsize=KEPT_MADE)  # noqa: B019  # there is one registry
    def _composed(self, name: str) -> LossSpec | None:
        listed = dict(self)  # which knows of no sums
        summands = summands_of(name, listed)
        return composed(summands, listed) if summands else None

    def _made_of_others(self, name: str) -> list[LossSpec]:
        """The sum, the loss on prefixes or the one with a queue whose parts go by these names."""
        parts, made = name.split("+"), ""
        if len(parts) > 1 and all(part.strip() for part in parts):
            made = "+".join(map(self._only, parts))
        elif said := WRAPPED.fullmatch(without_blanks(name)):
            wrapper, inner, lengths = said.groups()
            made = f"{wrapper.lower()}({self._only(inner)}{lengths})"
        found = self.exact(made)
        return [] if found is None else [found]

    def _only(self, name: str) -> str:
        """The one loss that goes by this name, whatever its convention."""
        first, *others = (spec.name for spec in self.all_called(name))
        if others:
            raise AmbiguousLoss(name, (first, *others))
        return first

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return id(self)


def _classes(spec: LossSpec) -> set[str]:
    """The names of libraries' classes and functions that compute the loss in some convention."""
    return {name for convention in spec.conventions for name in names_of(convention)}


def _is_of(spec: LossSpec, convention: str, library: str) -> bool:
    """Whether a convention is that of a library, by its own name or by what computes it there at
    its own defaults."""
    peers = next((one.peers for one in spec.conventions if one.name == convention), ())
    named = (convention, *(one.library for one in peers if not one.settings))
    return any(one.casefold().startswith(library.casefold()) for one in named)


def _says_what_changed(spec: LossSpec, convention: str, shortest: str) -> bool:
    """Whether a convention is the `shortest`, says what is changed in it, or is the same in another
    library."""
    if convention.startswith(shortest):
        return True
    one, other = ({c.name: c for c in spec.conventions}[name] for name in (convention, shortest))
    return (one.definition, one.parameters, one.reads, one.score) == (
        other.definition,
        other.parameters,
        other.reads,
        other.score,
    )


# `losses` lists here what ships and what was added.
LOSSES = Registry()
