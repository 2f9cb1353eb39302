"""What is said of a table that was read: which column was taken as what, and which was left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from explorer.locale import say
from explorer.runtime.numbers import display_number
from explorer.runtime.wire import Json
from explorer.sources.columns import NO_SCORE, TRIPLET_ROLES, listed

# Columns that sentence-transformers takes for labels; it takes all others as texts, in their order.
LIBRARY_LABELS = ("label", "labels", "score", "scores")
# Gains of 2^label are infinite in float32 from here on.
STEEPEST_LABEL = 128
_SHOWN = ("first", "second", "score", *TRIPLET_ROLES, "teacher")


class ReadTable(Protocol):
    """A table with the columns that were read, and those that were not."""

    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def chosen(self) -> Mapping[str, str]: ...
    @property
    def negatives(self) -> Sequence[str]: ...
    @property
    def unread(self) -> Sequence[str]: ...
    @property
    def highest_label(self) -> float: ...


@dataclass(frozen=True)
class ReadingNote:
    """A sentence of the catalogues by its key, with its values."""

    key: str
    values: Mapping[str, str]

    def written(self, language: str = "en") -> str:
        return say(language, self.key, **self.values)

    def to_json(self) -> Json:
        return {"key": self.key, "values": dict(self.values)}


def reading_notes(table: ReadTable) -> tuple[ReadingNote, ...]:
    """Which columns were taken as what, which were left, and where sentence-transformers, which
    goes by the position of columns, would take others; and that labels are too high for gains."""
    notes = []
    for role in _SHOWN:
        name = table.chosen.get(role, NO_SCORE)
        if name != NO_SCORE or name in table.columns:
            names = table.negatives if role == "negative" and table.negatives else (name,)
            notes.append(ReadingNote(f"reading.{role}", {"columns": listed(names)}))
    if table.unread:
        notes.append(ReadingNote("reading.unread", {"columns": listed(table.unread)}))
    ours, theirs = _texts(table), _by_position(table.columns)
    if len(theirs) > 1 and theirs[: len(ours)] != ours:
        values = {"first": theirs[0], "second": theirs[1], "columns": listed(ours)}
        notes.append(ReadingNote("reading.by_position", values))
    if table.highest_label >= STEEPEST_LABEL:
        highest = display_number(table.highest_label)
        notes.append(ReadingNote("reading.steep_gains", {"highest": highest}))
    return tuple(notes)


def _texts(table: ReadTable) -> list[str]:
    """The columns of texts, as they are read here."""
    roles = TRIPLET_ROLES if "anchor" in table.chosen else ("first", "second")
    names = [table.chosen[role] for role in roles if role in table.chosen]
    return names if "anchor" not in table.chosen else [*names[:2], *(table.negatives or names[2:])]


def _by_position(columns: Sequence[str]) -> list[str]:
    return [name for name in columns if name not in LIBRARY_LABELS]
