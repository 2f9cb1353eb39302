"""Errors as sentences that a user can act on, in the user's language."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Any, Literal, cast, get_args

from lossprism.explorer.locale import Word, say
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.json_encoding import MAX_INTEGER, whole_letters
from lossprism.explorer.runtime.redaction import without_places

# The input that solves the problem.
About = Literal[
    "",  # something in the data, or nothing
    "encoder",  # another encoder
    "loss",  # another loss or parameter
    "scores",  # another loss or other labels
    "unfilled",  # a first choice: none is made yet
    "columns",  # a choice of columns whose roles are unclear
    "chosen_columns",  # columns that were chosen twice
    "unknown_column",  # a column that exists
    "encoding",  # the encoding of a file
    "size",  # a smaller batch
    "search",  # another search
    "cancelled",  # the rest of the cancelled work
    "again",  # another attempt, which may succeed
    "lists",  # data with lists
    "guide",  # another guide, or none
    "teacher",  # another teacher, or any
    "gone",  # the same file, handed in again
    "log",  # the same folder, read as the log of a training
    "teacher_vectors",  # a teacher whose vectors fit
    "leave",  # the owner's permission to fetch a model or run a loss's file: the value `name`
]
ABOUT = get_args(About)
# What a sentence of the catalogues holds.
Value = int | str | Word | list[int | str | Word]
SEPARATORS = frozenset("/\\")  # of the parts of a path


class Problem(ValueError):
    """An error in the input that its sender can correct.

    `key` names a sentence of the catalogues under ``problem.``; `values` fill its placeholders, a
    `locale.word` in the language of the sentence. The page shows it in its own language, everything
    else in English. `about` is the input to correct, one of `ABOUT`, for code that must decide by
    it: never read anything off the key.
    """

    key: str
    about: About
    values: dict[str, Value]

    def __init__(self, key: str, *, about: str = "", **values: object) -> None:
        if about not in ABOUT:
            raise ValueError(f"about is {about!r}; it must be one of {', '.join(ABOUT)}")
        self.about = cast("About", about)
        self.key = f"problem.{key}"
        self.values = {name: _carried(value) for name, value in values.items()}
        super().__init__(self.key)

    def __str__(self) -> str:
        return say("en", self.key, **self.values)

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback: what to correct is an input."""
        return [f"{type(self).__name__}: {self}"]

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "about": self.about,
            "values": {name: _sent(value) for name, value in self.values.items()},
        }

    def concerning(self, about: str) -> Problem:
        """Return the same with another `about`."""
        return Problem(self.key.removeprefix("problem."), about=about, **self.values)

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> Problem:
        """Read the output of `to_json`, of this or another process."""
        key = answer["key"].removeprefix("problem.")
        about = answer.get("about", "")
        return cls(key, about=about if about in ABOUT else "", **answer["values"])


def logged(problem: Problem) -> Problem:
    """Log the problem's reason, without content, and return it: a host wants to know of refusals
    for want of memory, time or a turn."""
    print(f"refused {problem.key}", file=sys.stderr, flush=True)
    return problem


def _carried(value: Any) -> Any:
    """Return a value as a sentence may hold it; on a hosted page without paths of the machine."""
    text = str(value) if isinstance(value, PurePath | Exception) else value
    if not isinstance(text, str):
        return value
    # Problems are made by the thousand, of cells that are no numbers: few of them hold a path.
    if SEPARATORS.isdisjoint(text) or deployment_policy().reads_local_paths:
        return whole_letters(value) if isinstance(value, str) else value
    return whole_letters(without_places(text))


def _sent(value: object) -> int | str | dict | list:
    """Return a value for JSON: a whole number, words, or text."""
    if isinstance(value, dict | list) or (type(value) is int and abs(value) <= MAX_INTEGER):
        return value
    return whole_letters(str(value))
