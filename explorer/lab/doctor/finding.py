"""The finding of Doctor: its name, severity, numbers, and the rows that show it."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lossprism.explorer.lab.doctor.remedy_trial_result import Tried
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.response_parent_classes import Answer, Whole, as_answer

Severity = Literal["severe", "warning", "note"]
SEVERE, WARNING, NOTE = SEVERITIES = ("severe", "warning", "note")
EVIDENCE = 5  # rows of each finding that pages and terminals show
Value = int | float | str


@dataclass(frozen=True)
class Cell(Whole):
    """Texts of two pairs (counted from 1) and their cosine; for a query with another pair's key,
    also the cosine with its `own` key."""

    row: int
    other: int
    first: str
    second: str
    cosine: float
    own: float | None = None


@dataclass(frozen=True)
class Fault:
    """A finding.

    `name` is stable. `values` are the numbers of its sentence, `rows` all pairs that show it
    (counted from 1; for a run, its steps), `advice` code to paste, `cells` texts of two pairs that
    show it. `tried` has the trials of the advice, None where nothing can be tried. `subject` is the
    subject: "data", a "run" or "similarities". `assumed` names the unknown labels behind its
    numbers, `more` a sentence that continues it.
    """

    name: str
    severity: str
    values: dict[str, Value] = field(default_factory=dict)
    rows: tuple[int, ...] = ()
    advice: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    subject: str = "data"
    assumed: str = ""
    more: str = ""
    tried: Tried | None = None

    @property
    def shown(self) -> tuple[int, ...]:
        """The first of its rows, for display."""
        return self.rows[:EVIDENCE]

    def written(self, language: str = "en") -> str:
        """Return the sentence of the finding."""
        sentence = say(language, f"doctor.{self.subject}.{self.name}", **self.values)
        if self.more:
            sentence = say(
                language, f"doctor.{self.subject}.{self.more}", sentence=sentence, **self.values
            )
        if not self.assumed:
            return sentence
        return say(language, f"doctor.{self.subject}.if.{self.assumed}", sentence=sentence)

    def advised(self, language: str = "en") -> list[str]:
        """Return the advice, and the code to paste."""
        kind = "none_helps" if self.tried == {} else f"{self.subject}.do"
        return [
            say(language, f"doctor.{kind}.{self.name}", **self.values),
            *(self._paste(one, language) for one in self.advice),
        ]

    def _paste(self, code: str, language: str) -> str:
        """Return the code, with the result of its trial as a comment."""
        trial = (self.tried or {}).get(code)
        return f"# {trial.written(language)}\n{code}" if trial else code

    def lines(self, language: str = "en", rows: Iterable[str] = ()) -> Iterator[str]:
        """Yield the finding for the terminal, with the rows that show it."""
        yield f"{say(language, f'doctor.severity.{self.severity}')} · {self.name}"
        for one in (self.written(language), *rows, *self.advised(language)):
            yield textwrap.indent(one, "   ")

    def answered(self, kind: type[Answer], language: str, **others: object) -> Answer:
        """Return the answer of this kind about the finding, with its other fields."""
        sentences = {"said": self.written(language), "advice": self.advised(language)}
        return as_answer(kind, self, **sentences, **others)


@dataclass(frozen=True)
class FoundFault(Whole):
    """A finding about a dataset: its sentence, the numbers in it, rows of the table that show
    it."""

    name: str
    severity: Severity
    said: str
    values: dict[str, Value]
    rows: list[int]
    advice: list[str]


class WithFaults:
    """Base of the result of a check, with its findings."""

    faults: tuple[Fault, ...]

    @property
    def severe(self) -> bool:
        return any(fault.severity == SEVERE for fault in self.faults)


def worst_first(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the findings by severity, those of one severity in their order."""
    return tuple(sorted(faults, key=lambda fault: SEVERITIES.index(fault.severity)))


def evidence(places: np.ndarray) -> tuple[int, ...]:
    """Return these places as numbers of pairs, counted from 1."""
    return tuple((places + 1).tolist())
