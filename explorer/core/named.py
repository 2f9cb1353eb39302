"""The losses by any of their names: of the registry, of papers, of libraries' classes."""

from __future__ import annotations

import difflib
import re

from explorer.core.akin import akin_called
from explorer.runtime.problem import Problem
from losses import LOSSES, LossSpec
from losses.combined.names import MOST_LETTERS, RECIPES, without_blanks
from losses.sentence_transformers.naming import LIBRARY, classes_of, is_class, plain

# So many letters of a convention's name say which class is meant: BatchHard of
# BatchHardTripletLoss.
BEGINNING = 8
QUOTED = 60  # letters of a name that is no loss's
ALIKE, CLOSE = 0.7, 3  # from that likeness on, and so many of them, names are offered
# A loss by another of its names on prefixes, or with a queue.
_WRAPPED = re.compile(r"(matryoshka|queue)\(([^(),]+)((?:,\d+)*)\)", re.IGNORECASE)


def losses_called(name: str) -> list[LossSpec]:
    """The losses that go by this name: to the letter first, of the registry or as another name;
    then, read as `plain` does, of the registry, as a title, as another name, as a class of
    sentence-transformers, in the name of a convention. A sum goes by names of its parts, with a
    plus between them.

    Raises:
        Problem: where none does.
    """
    if len(name) > MOST_LETTERS:
        raise unknown_loss(name, by_any=True)
    wanted, specs = plain(name), known_losses()
    if not any(letter.isalpha() for letter in wanted):  # a word of a convention may be plain too
        raise unknown_loss(name, by_any=True)
    found = (
        ([LOSSES[name.strip()]] if name.strip() in LOSSES else [])
        or [spec for spec in specs if name.strip() in spec.aliases]
        or [spec for spec in specs if wanted in (plain(spec.name), plain(spec.title))]
        or [spec for spec in specs if wanted in map(plain, spec.aliases)]
        or [spec for spec in specs if wanted in classes_of(spec)]
        or [spec for spec in specs if any(is_class(wanted, c.name) for c in spec.conventions)]
    )
    if not found and all(part.strip() for part in name.split("+")):
        found = _made_of_others(name)
    if not found:
        raise unknown_loss(name, by_any=True)
    return found


def _made_of_others(name: str) -> list[LossSpec]:
    """The sum, the loss on prefixes or the one with a queue whose parts go by these names."""
    summed = name
    if "+" in name:
        summed = "+".join(losses_called(part)[0].name for part in name.split("+"))
    elif said := _WRAPPED.fullmatch(without_blanks(name)):
        wrapper, inner, lengths = said.groups()
        called = losses_called(inner)[0].name
        summed = f"{wrapper.lower()}({called}{lengths})"
    return [LOSSES[summed]] if summed in LOSSES else []


class AmbiguousLoss(Problem):
    """A name by which several losses go, or several conventions of one."""


def loss_called(name: str, library: str = "") -> tuple[str, str]:
    """The one loss that goes by this name, as the registry has it, and the convention that is named
    after it, "" for none. Of conventions of several libraries that of `library` is meant.

    Raises:
        Problem: where no loss does. AmbiguousLoss: where several do, or several conventions.
    """
    if name.strip() in LOSSES:
        return LOSSES[name.strip()].name, ""
    spec = _only_loss(name)
    called = name.strip()
    if called not in spec.aliases:  # a title, or a class in other letters
        called = next((one for one in spec.aliases if one.casefold() == called.casefold()), "")
    found = conventions_called(spec, called) if called.isidentifier() else []
    found = [one for one in found if library and one.startswith(library)] or found
    if len(found) < 2:
        return spec.name, "".join(found)
    shortest = min(found, key=len)
    if all(one.startswith(shortest) for one in found):  # the others say what is changed in it
        return spec.name, shortest
    said = {"name": name.strip()[:QUOTED], "loss": spec.name, "known": "; ".join(found)}
    raise AmbiguousLoss("loss_ambiguous", about="loss", **said)


def _only_loss(name: str) -> LossSpec:
    found = losses_called(name)
    if len(found) > 1:
        said = {"name": name.strip()[:QUOTED], "close": ", ".join(spec.name for spec in found)}
        raise AmbiguousLoss("unknown_loss_close", about="loss", **said)
    return found[0]


def as_registered(loss: str, convention: str = "") -> tuple[str, str]:
    """The loss as the registry has it, and its convention by the name of today.

    A class or a function of a library is the loss under the convention of that library, unless
    another one is named. What no loss goes by, or several do, stays as it is: whoever computes it
    refuses it.
    """
    name = registered_loss(loss)
    if name not in LOSSES:
        return name, convention
    if convention or without_blanks(loss) == name:
        return name, LOSSES[name].present(convention) if convention else ""
    try:
        return loss_called(loss)
    except AmbiguousLoss:
        return without_blanks(loss), ""


def registered_loss(loss: str) -> str:
    """The loss as the registry has it, whatever its convention; as it stands where no loss goes by
    that name, or several do."""
    if (name := without_blanks(loss)) in LOSSES:
        return name
    try:
        return _only_loss(loss).name
    except Problem:
        return name


def not_registered(loss: str) -> Problem:
    """Why a loss is not computed: no loss goes by this name, or it may be several."""
    try:
        loss_called(loss)
    except AmbiguousLoss as problem:
        return problem
    except Problem:
        pass
    return unknown_loss(loss)


def known_losses() -> list[LossSpec]:
    """The losses of the registry, and the sums that are trained with."""
    return [*LOSSES.values(), *(LOSSES[name] for name in RECIPES)]


def unknown_loss(name: str, *, by_any: bool = False) -> Problem:
    """That no loss goes by this name: why, and what is nearest, of a class that is none here; else
    with those that are written much like it, or all that there are. With `by_any`, where all names
    are understood, these are offered as they are written, else the registry's."""
    called = name.strip()[:QUOTED]
    if akin := akin_called(called):
        return akin.said(called)
    if close := close_names(called) if by_any else close_losses(called):
        return Problem("unknown_loss_close", about="loss", name=called, close=", ".join(close))
    return Problem("unknown_loss", about="loss", name=called, known=", ".join(LOSSES))


def close_names(name: str) -> list[str]:
    """Up to three names that are written much like this one, the likest first, each of another
    loss: of the registry, of papers, of libraries' classes."""
    return [written for written, _ in _close(name)]


def close_losses(name: str) -> list[str]:
    """The losses of these names, as the registry has them."""
    return [loss for _, loss in _close(name)]


def _close(name: str) -> list[tuple[str, str]]:
    likest: dict[str, tuple[float, str]] = {}
    wanted = difflib.SequenceMatcher(b=plain(name))
    for spec in known_losses():
        for one in (spec.name, spec.title, *spec.aliases):
            wanted.set_seq1(plain(one))
            likest[spec.name] = max(likest.get(spec.name, (0.0, "")), (wanted.ratio(), one))
    ranked = sorted(((*one, loss) for loss, one in likest.items()), reverse=True)
    return [(written, loss) for ratio, written, loss in ranked[:CLOSE] if ratio >= ALIKE]


def other_names() -> list[tuple[str, str, str]]:
    """Each other name of each loss, the loss, and of a class the one convention that is named
    after it, or after what it begins with; "" where there is none, or several."""
    specs = known_losses()
    return [(name, spec.name, _meant(spec, name)) for spec in specs for name in spec.aliases]


def conventions_called(spec: LossSpec, name: str) -> list[str]:
    """The conventions of a loss that the name of a library's class or function selects: those with
    the name in their own, else of the library's class of that name, else those whose own name
    begins it (BatchHard of BatchHardTripletLoss). None for a name of the loss itself: RankNet is
    the loss, RankNetLoss a class."""
    called = name.strip()
    if called == spec.name or f"{called}Loss" in spec.aliases:
        return []
    named = [one.name for one in spec.conventions if called in one.name.split()]
    if called == spec.title:
        return named
    wanted = plain(called)
    named = named or [one.name for one in spec.conventions if is_class(wanted, one.name)]
    if named or not called.isidentifier():
        return named
    of_class = [one.name for one in spec.conventions if wanted in _classes_under(spec, one.name)]
    return of_class or _of_library(spec, wanted) or _begun_by(spec, wanted)


def _of_library(spec: LossSpec, wanted: str) -> list[str]:
    """The conventions of sentence-transformers in which its class computes the loss itself."""
    ours = [one.name for one in spec.conventions if one.name.startswith(LIBRARY)]
    return [name for name in ours if wanted in classes_of(spec.under(name))]


def _classes_under(spec: LossSpec, convention: str) -> frozenset[str]:
    """The plain names of the classes and functions that compute a loss under a convention."""
    under = spec.under(convention)
    own = next(one for one in spec.conventions if one.name == convention)
    known = classes_of(under) if own.definition is not None or own.equivalent else set()
    return frozenset(known | {plain(peer.called) for peer in own.peers})


def _begun_by(spec: LossSpec, wanted: str) -> list[str]:
    words = [(plain(word), c.name) for c in spec.conventions for word in c.name.split()]
    begun = [pair for pair in words if wanted.startswith(pair[0]) and len(pair[0]) >= BEGINNING]
    longest = max((len(word) for word, _ in begun), default=0)
    return [convention for word, convention in begun if len(word) == longest]


def _meant(spec: LossSpec, name: str) -> str:
    found = conventions_called(spec, name) if name.isidentifier() else []
    return found[0] if len(found) == 1 else ""
