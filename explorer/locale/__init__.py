"""All texts that users read: a catalogue of sentences for each language.

A sentence is in `<language>/<topic>.json`, where the topic is the first part of its key. The
English words of a loss are beside it, in its `LossSpec`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from lossprism.losses.spec import LossSpec, Part

_FOLDER = Path(__file__).parent
# English first: what it lacks no language has.
LANGUAGES = ("en", *sorted({path.parent.name for path in _FOLDER.glob("*/ui.json")} - {"en"}))
# Values that count something are grouped: 1 048 576. A seed or the end of a range stays as typed.
COUNTS = frozenset(
    {"count", "part", "all", "used", "total", "done", "terms", "sentences"}
    | {"step", "steps", "kept", "train", "held_out", "since", "points"}
    | {"rows", "columns", "cells", "pairs", "classes", "comparisons", "seen", "positives", "most"}
    | {
        "values",
        "alike",
        "without",
        "repeated",
        "present",
        "candidates",
        "batches",
        "below",
        "drawn",
        "lists",
        "tried",
        "able",
        "expected",
    }
)
_PLURAL = re.compile(r"\{(\w+):([^|}]*)\|([^}]*)\}")
_PREFIXED = re.compile(r"(\w+)_(whole|half|quarter|\d+)")
_VALUE = re.compile(r"\{(\w+)\}")


class _Word(TypedDict):
    key: str
    otherwise: str


class Word(_Word, total=False):
    """A value with its own sentence in each language, or else one for all; `values` fill its
    placeholders. It is a dict, as answers, links and run folders have it."""

    values: dict[str, int | str | Word]


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return the sentences of one language, by key."""
    return {**(_english_of_losses() if language == "en" else {}), **_files_of(language)}


@cache
def _files_of(language: str) -> dict[str, str]:
    topics = sorted((_FOLDER / language).glob("*.json"))
    return {
        key: sentence
        for topic in topics
        for key, sentence in json.loads(topic.read_text(encoding="utf-8")).items()
    }


def _english_of_losses() -> dict[str, str]:
    from lossprism.losses import LOSSES  # with torch, which not every sentence needs

    words: dict[str, str] = {}
    for name, spec in LOSSES.items():
        own = {"title": spec.title, "about": spec.about, "note": spec.note}
        own |= {f"note.{convention.name}": convention.note for convention in spec.conventions}
        words |= {f"loss.{name}.{key}": text for key, text in own.items() if text}
        words |= {f"step.{name}.{step}": text for step, text in spec.steps.items()}
        words |= {f"parameter.{one.name}": one.label for one in spec.parameters if one.label}
    return words


def sentence_of(language: str, key: str) -> str:
    """Return the sentence `key` with its placeholders. Raises KeyError if the language lacks
    it."""
    files = _files_of(language)
    return files[key] if key in files else catalogue(language)[key]


def say(language: str, key: str, **values: object) -> str:
    """Return the sentence `key` in `language`, with `values` in its {placeholders}.

    {count:row|rows} is the first word if the value is 1, else the second.
    """
    sentence = _PLURAL.sub(
        lambda found: found[2] if str(values.get(found[1])) == "1" else found[3],
        sentence_of(language, key),
    )
    return _VALUE.sub(
        lambda found: spelled(language, found[1], values.get(found[1], found[0])), sentence
    )


def language_of(requested: object) -> str:
    """Return the requested language, English if there is no such one."""
    return str(requested) if requested in LANGUAGES else LANGUAGES[0]


def preferred(accepted: str) -> str:
    """Return our language that an Accept-Language header prefers, English without any."""

    def liking(entry: str) -> tuple[float, str]:
        name, _, quality = entry.partition(";")
        try:
            return float(quality.strip().removeprefix("q=") or 1), name.strip()[:2].lower()
        except ValueError:
            return 0.0, ""

    liked = {name: degree for degree, name in sorted(map(liking, accepted.split(",")))}
    return max(LANGUAGES, key=lambda name: liked.get(name, 0.0))


def word(key: str, otherwise: str, **values: int | str | Word) -> Word:
    """Return a value with its own sentence in each language, filled with `values`, or else one for
    all."""
    named: Word = {"key": key, "otherwise": otherwise}
    return {**named, "values": values} if values else named


def title_word(spec: LossSpec) -> Word:
    """Return the title of a loss; its name for a user's own loss, and the titles of its parts for a
    sum."""
    whole, *others = titles_in(spec).values()
    for other in others:
        whole = word("loss.sum", spec.title, first=whole, second=other)
    if spec.parts and spec.aliases:  # of a sum that is known by a name
        whole = word("loss.called", spec.title, loss=whole, name=spec.aliases[0])
    return whole


def titles_in(spec: LossSpec) -> dict[str, Word]:
    """Return the titles of a sum's losses by name; for a single loss its own."""
    if not spec.parts:
        return {spec.name: word(f"loss.{spec.name}.title", spec.title)}
    titles: dict[str, Word] = {}
    for part in spec.parts:
        title = title_word(part.spec)
        if part.prefix is not None:
            title = word("loss.on_prefixes", part.spec.title, loss=title)
        if part.length:
            title = word("loss.queued", part.spec.title, loss=title)
        titles[part.spec.name] = title
    return titles


def part_word(part: Part) -> Word:
    """Return the title of a part of a sum: its loss, and its prefix of the vectors."""
    title = title_word(part.spec)
    if part.length:
        return word("loss.queued", part.label, loss=title)
    if part.prefix is None:
        return title
    return _on_prefix(title, part.label, str(part.label).rpartition("_")[2])


def _on_prefix(title: Word, label: str, prefix: str) -> Word:
    if prefix.isdecimal():
        return word("loss.on_first", label, loss=title, dimensions=int(prefix))
    return word(f"loss.on_{prefix}", label, loss=title)


def parameter_word(name: str) -> Word:
    """Return the title of a parameter; for "scale_of_angle", a part's, with the part."""
    plain, of, label = name.partition("_of_")
    if not of:
        return word(f"parameter.{name}", name)
    prefixed = _PREFIXED.fullmatch(label)
    loss = prefixed[1] if prefixed else label
    title = word(f"loss.{loss}.title", loss)
    if prefixed:
        title = _on_prefix(title, label, prefixed[2])
    return word("parameter.of", name, name=word(f"parameter.{plain}", plain), loss=title)


def spelled(language: str, name: str, value: object) -> str:
    """Return a value as sentences write it."""
    if isinstance(value, Mapping):
        known: Mapping[str, Any] = value
        if known["key"] not in catalogue(language):
            return known["otherwise"]
        return say(language, known["key"], **known.get("values", {}))
    if isinstance(value, list):
        between = sentence_of(language, "ui.between")
        return between.join(spelled(language, name, one) for one in value)
    return grouped(value) if name in COUNTS and type(value) is int else str(value)


def grouped(count: int) -> str:
    """Return a count with its thousands separated by a no-break space: 1 048 576."""
    return f"{count:,}".replace(",", "\u202f")
