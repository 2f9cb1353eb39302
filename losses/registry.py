"""Registry of losses by name: shipped and added ones, and combinations made on request."""

import functools
from typing import TypeVar, overload

from lossprism.losses.combined.combined_loss_names import (
    MAX_NAME_LETTERS,
    RECIPES,
    WRAPPED,
    summands_of,
    without_blanks,
)
from lossprism.losses.combined.combined_loss_spec import composed
from lossprism.losses.loss_name_matching import (
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
from lossprism.losses.spec import LossSpec

T = TypeVar("T")
# So many losses made of losses are kept.
CACHED_COMBINATIONS = 128


class Registry(dict[str, LossSpec]):
    """Losses by name.

    Names of combined losses (`losses.combined.combined_loss_names`) are known as well,
    ``LOSSES["info_nce+angle"]``, and so are other names of a loss: a library's class selects the
    loss under the convention of that library, ``LOSSES["MultipleNegativesRankingLoss"]``. None of
    these is counted or iterated over.
    """

    def __missing__(self, name: str) -> LossSpec:
        if not isinstance(name, str):
            raise KeyError(name)
        spec = self.exact(name)
        if spec is not None:
            return spec
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
        """Return the listed losses, and the common sums."""
        return [*self.values(), *(self[name] for name in RECIPES)]

    def called(self, name: str, library: str = "") -> tuple[str, str]:
        """Return the one loss with this name, and the convention named after it, "" for none. Among
        several libraries, `library` or the class's module decides.

        Raises UnknownLoss if there is none, and AmbiguousLoss if there are several losses, or
        several conventions with other numbers.
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
        """Return the losses with this name: exact matches first, of the registry, as another name
        or a library's class; then, by `plain`, of the registry, as a title, as another name, as a
        class. A sum may use names of its parts, with a plus between them.

        Raises UnknownLoss if there is none.
        """
        plain_name, written = (
            plain(name[: MAX_NAME_LETTERS + 1]),
            last_part(name[: MAX_NAME_LETTERS + 1]),
        )
        if len(name) > MAX_NAME_LETTERS or not any(letter.isalpha() for letter in plain_name):
            raise UnknownLoss(name)
        if (own := self.exact(name)) is not None:
            return [own]
        specs = self.known()
        called = (
            [spec for spec in specs if any(is_qualified(name, one) for one in spec.conventions)]
            or [spec for spec in specs if written in {*spec.aliases, *_classes(spec)}]
            or [spec for spec in specs if plain_name in (plain(spec.name), plain(spec.title))]
            or [spec for spec in specs if plain_name in map(plain, spec.aliases)]
            or [
                spec
                for spec in specs
                if plain_name in {*classes_of(spec), *map(plain, _classes(spec))}
            ]
            or self._made_of_others(name)
        )
        if not called:
            raise UnknownLoss(name, (written for written, _ in closest(name, specs)))
        return called

    def exact(self, name: str) -> LossSpec | None:
        """Return the loss with exactly this name in the registry, or made of such; too long a name
        is neither looked up nor cached."""
        if len(name) > MAX_NAME_LETTERS:
            return None
        written = without_blanks(name)
        return super().get(written) or self._composed(written)

    @functools.lru_cache(maxsize=CACHED_COMBINATIONS)  # noqa: B019  # there is one registry
    def _composed(self, name: str) -> LossSpec | None:
        listed = dict(self)  # which knows of no sums
        summands = summands_of(name, listed)
        return composed(summands, listed) if summands else None

    def _made_of_others(self, name: str) -> list[LossSpec]:
        """Return the sum, the loss on prefixes or the one with a queue whose parts have these
        names."""
        parts, begun = name.split("+"), ""
        if len(parts) > 1 and all(part.strip() for part in parts):
            begun = "+".join(map(self._only, parts))
        elif match := WRAPPED.fullmatch(without_blanks(name)):
            wrapper, inner, lengths = match.groups()
            begun = f"{wrapper.lower()}({self._only(inner)}{lengths})"
        spec = self.exact(begun)
        return [] if spec is None else [spec]

    def _only(self, name: str) -> str:
        """Return the one loss with this name, whatever its convention."""
        first, *others = (spec.name for spec in self.all_called(name))
        if others:
            raise AmbiguousLoss(name, (first, *others))
        return first

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return id(self)


def _classes(spec: LossSpec) -> set[str]:
    """Return the names of libraries' classes and functions that compute the loss in some
    convention."""
    return {name for convention in spec.conventions for name in names_of(convention)}


def _is_of(spec: LossSpec, convention: str, library: str) -> bool:
    """Return whether a convention is a library's, by its own name or by what computes it there at
    its own defaults."""
    peers = next((one.peers for one in spec.conventions if one.name == convention), ())
    named = (convention, *(one.library for one in peers if not one.settings))
    return any(one.casefold().startswith(library.casefold()) for one in named)


def _says_what_changed(spec: LossSpec, convention: str, shortest: str) -> bool:
    """Return whether a convention is the `shortest`, names a change to it, or is the same in
    another library."""
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
