"""The losses by any of their names: of the registry, of papers, of libraries' classes."""

from __future__ import annotations

from explorer.runtime.problem import Problem
from losses import LOSSES, LossSpec
from losses.combined.names import MOST_LETTERS
from losses.sentence_transformers.naming import classes_of, is_class, plain

# So many letters of a convention's name say which class is meant: BatchHard of
# BatchHardTripletLoss.
BEGINNING = 8


def losses_called(name: str) -> list[LossSpec]:
    """The losses that go by this name: to the letter first, of the registry or as another name;
    then, read as `plain` does, of the registry, as a title, as another name, as a class of
    sentence-transformers, in the name of a convention. A sum goes by names of its parts, with a
    plus between them.

    Raises:
        Problem: where none does.
    """
    if len(name) > MOST_LETTERS:
        raise unknown(name)
    wanted, specs = plain(name), LOSSES.values()
    found = (
        ([LOSSES[name.strip()]] if name.strip() in LOSSES else [])
        or [spec for spec in specs if name.strip() in spec.aliases]
        or [spec for spec in specs if wanted in (plain(spec.name), plain(spec.title))]
        or [spec for spec in specs if wanted in map(plain, spec.aliases)]
        or [spec for spec in specs if wanted in classes_of(spec)]
        or [spec for spec in specs if any(is_class(wanted, c.name) for c in spec.conventions)]
    )
    if not found and "+" in name:
        parts = [losses_called(part) for part in name.split("+")]
        summed = "+".join(one[0].name for one in parts)
        found = [LOSSES[summed]] if summed in LOSSES else []
    if not found:
        raise unknown(name)
    return found


def unknown(name: str) -> Problem:
    """The Problem of a name that no loss has."""
    return Problem("unknown_loss", about="loss", name=name[:60], known=", ".join(LOSSES))


def other_names() -> list[tuple[str, str, str]]:
    """Each other name of each loss, the loss, and of a class the one convention that is named
    after it, or after what it begins with; "" where there is none, or several."""
    specs = LOSSES.values()
    return [(name, spec.name, _meant(spec, name)) for spec in specs for name in spec.aliases]


def _meant(spec: LossSpec, name: str) -> str:
    wanted = plain(name)
    if not name.isidentifier() or wanted in (plain(spec.name), plain(spec.title)):
        return ""
    words = [(plain(word), c.name) for c in spec.conventions for word in c.name.split()]
    begun = [pair for pair in words if wanted.startswith(pair[0]) and len(pair[0]) >= BEGINNING]
    longest = max((len(word) for word, _ in begun), default=0)
    found = [c for word, c in words if word == wanted] or [
        convention for word, convention in begun if len(word) == longest
    ]
    return found[0] if len(found) == 1 else ""
