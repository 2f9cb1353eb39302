"""The names of a loss: of the registry, of papers, of libraries' classes and functions.

`losses.registry` looks a name up among the losses; this module defines how a name is read,
and which convention of a loss it selects.
"""

import difflib
import functools
import itertools
import re
from collections.abc import Iterable

from lossprism.losses.library_peer_record import SENTENCE_TRANSFORMERS as LIBRARY
from lossprism.losses.spec import Convention, LossSpec

# So many letters of a convention's name say which class is meant: BatchHard of
# BatchHardTripletLoss.
MIN_PREFIX = 8
# Classes of sentence-transformers that are no loss here, but share their name with losses of other
# libraries, each with the nearest loss.
SHARED_CLASSES = {"SoftmaxLoss": "multitask_cosent", "CrossEntropyLoss": "binary_cross_entropy"}
MAX_QUOTED = 60  # letters of a name that an error quotes
MIN_LIKENESS, MAX_SUGGESTIONS = 0.7, 3
_DOTTED = re.compile(r"[\w.]+")
_VERSION = re.compile(r"\d+\.[\d.]+|[0-9a-f]{7}")
_CLASS = re.compile(r"[A-Za-z]\w*[A-Z]\w+")  # a capital within: CoSENTLoss, GTE


class LossNameError(KeyError):
    """A name that does not identify one loss."""


class UnknownLoss(LossNameError):
    """An unknown name. `suggestions` are similar names."""

    def __init__(self, name: str, suggestions: Iterable[str] = ()) -> None:
        super().__init__(name)
        self.name, self.suggestions = name.strip()[:MAX_QUOTED], tuple(suggestions)

    def __str__(self) -> str:
        known = f"; did you mean {', '.join(self.suggestions)}?" if self.suggestions else ""
        return f"there is no loss called {self.name!r}{known or '; LOSSES lists all names'}"


class AmbiguousLoss(LossNameError):
    """A name of several losses, or of several conventions of `loss`: the `choices`."""

    def __init__(self, name: str, choices: Iterable[str], loss: str = "") -> None:
        super().__init__(name)
        self.name, self.choices, self.loss = name.strip()[:MAX_QUOTED], tuple(choices), loss

    def __str__(self) -> str:
        kind = f"several conventions of {self.loss!r}" if self.loss else "several losses"
        return f"{self.name!r} may be {kind}: {'; '.join(self.choices)}"


def plain(name: str) -> str:
    """Reduce a name to its letters and digits: no case, signs, or words around it.

    >>> plain("CachedMultipleNegativesRankingLoss"), plain("NT-Xent"), plain("losses.CoSENTLoss")
    ('multiplenegativesranking', 'ntxent', 'cosent')
    """
    letters = re.sub(r"[^0-9a-z]", "", last_part(name).lower())
    return letters.removeprefix("cached").removesuffix("loss") or letters


def classes_of(spec: LossSpec) -> set[str]:
    """Return the classes of sentence-transformers that compute a loss, by their plain names."""
    equivalent = spec.equivalent and spec.equivalent(**spec.defaults)
    imported = re.findall(r"\w+", equivalent.imports) if equivalent else ()
    return {plain(word) for word in imported}


@functools.cache
def names_of(convention: Convention) -> frozenset[str]:
    """Return the names of a convention: its aliases, the functions that compute it by default, and
    the words of its name that are a library's (before a version) or a class's (BatchAll).

    >>> sorted(names_of(Convention("lightly 1.6.0, of both views (LLaVE)")))
    ['LLaVE', 'lightly']
    """
    return _names_in(convention.name) | classes_named(convention)


@functools.cache
def classes_named(convention: Convention) -> frozenset[str]:
    """Return the names of a convention without those of libraries.

    >>> sorted(classes_named(Convention("open_clip 3.3.0 ClipLoss")))
    ['ClipLoss']
    """
    called = {one.called for one in convention.peers if not one.settings}
    named = {word for word in _names_in(convention.name) if _CLASS.fullmatch(word)}
    return frozenset(named | called | set(convention.aliases))


@functools.cache
def _names_in(convention: str) -> frozenset[str]:
    words = [word.strip("(),") for word in convention.split()]
    named = {word for word in words if _CLASS.fullmatch(word)}
    before = {one for one, after in itertools.pairwise(words) if _VERSION.fullmatch(after)}
    return frozenset(named | {word for word in before if word[:1].isalpha() and len(word) > 1})


def last_part(name: str) -> str:
    """Return the class of a name with a module, CoSENTLoss of
    sentence_transformers.losses.CoSENTLoss; any other name unchanged."""
    return name.strip().rpartition(".")[2] if _DOTTED.fullmatch(name.strip()) else name.strip()


def is_qualified(name: str, convention: Convention) -> bool:
    """Return whether a name is a class with the module that identifies its library."""
    return any("." in one and name.strip().endswith(one) for one in names_of(convention))


def library_in(name: str) -> str:
    """Return the library, by its pip name, whose module precedes a class; "" without one.

    >>> library_in("pytorch_metric_learning.losses.CircleLoss"), library_in("CircleLoss")
    ('pytorch-metric-learning', '')
    """
    module, dot, _ = name.strip().rpartition(".")
    return module.partition(".")[0].replace("_", "-") if dot and _DOTTED.fullmatch(name) else ""


def closest(name: str, specs: Iterable[LossSpec]) -> list[tuple[str, str]]:
    """Return up to three similar names, best first, each with its loss."""
    likest: dict[str, tuple[float, str]] = {}
    wanted = difflib.SequenceMatcher(b=plain(name))
    for spec in specs:
        for one in (spec.name, spec.title, *spec.aliases):
            wanted.set_seq1(plain(one))
            likest[spec.name] = max(likest.get(spec.name, (0.0, "")), (wanted.ratio(), one))
    ranked = sorted(((*one, loss) for loss, one in likest.items()), reverse=True)
    near = [(written, loss) for ratio, written, loss in ranked if ratio >= MIN_LIKENESS]
    return near[:MAX_SUGGESTIONS]


def conventions_called(spec: LossSpec, name: str) -> list[str]:
    """Return the conventions of a loss that the name of a library's class or function selects.

    An exact match comes first, then one by `plain`, then conventions whose name begins it
    (BatchHard of BatchHardTripletLoss). None for a name of the loss itself: RankNet is the loss,
    RankNetLoss a class.
    """
    qualified = [one.name for one in spec.conventions if is_qualified(name, one)]
    if qualified:
        return qualified
    called = last_part(name)
    if called == spec.name or f"{called}Loss" in spec.aliases:
        return []
    written = [one.name for one in spec.conventions if called in one.name.split()]
    named = written or [one.name for one in spec.conventions if called in names_of(one)]
    if named or called == spec.title or not called.isidentifier():
        return named
    wanted = plain(called)
    named = [one.name for one in spec.conventions if wanted in map(plain, one.name.split())]
    named = named or [one.name for one in spec.conventions if wanted in map(plain, names_of(one))]
    of_class = named or [one.name for one in spec.conventions if wanted in _classes_in(spec, one)]
    return of_class or _begun_by(spec, wanted)


def _classes_in(spec: LossSpec, convention: Convention) -> set[str]:
    """Return sentence-transformers' classes that compute a loss under a convention, by plain
    names."""
    return classes_of(spec.under(convention.name)) if convention.name.startswith(LIBRARY) else set()


def _begun_by(spec: LossSpec, wanted: str) -> list[str]:
    words = [(plain(word), one.name) for one in spec.conventions for word in names_of(one)]
    begun = [pair for pair in words if wanted.startswith(pair[0]) and len(pair[0]) >= MIN_PREFIX]
    longest = max((len(word) for word, _ in begun), default=0)
    return [convention for word, convention in begun if len(word) == longest]
