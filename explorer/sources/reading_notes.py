"""Notes on a table that was read: the roles of its columns, and the unread ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lossprism.explorer.locale import say
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.column_roles import (
    CLASS_ROLES,
    NO_SCORE,
    POSITIVE_ROLES,
    TEACHER,
    TRIPLET_ROLES,
    is_inner,
    listed,
    names_class,
    names_instruction,
)
from lossprism.explorer.sources.pictures_in_table_cells import PICTURE_BYTES, PICTURE_PIXELS, Source
from lossprism.explorer.sources.vector_column_of_each_text_column import OWN

# Columns that sentence-transformers takes for labels; it takes all others as texts, in their order.
LIBRARY_LABELS = ("label", "labels", "score", "scores")
# Gains of 2^label are infinite in float32 from here on.
STEEPEST_LABEL = 128
SHOWN_LINES = 10  # of those that are left out
VECTORS = tuple(OWN.roles.values())
_SHOWN = (*POSITIVE_ROLES, "score", *TRIPLET_ROLES, TEACHER, *CLASS_ROLES)


@dataclass(frozen=True, kw_only=True)
class ColumnsRead:
    """The roles of a table's columns.

    `chosen` maps each role to the name of its column. `positives`, `negatives` and `taught` are all
    columns of triplets that have these (of pairs without labels `positives` are all second texts),
    `unread` those that are not read, and `references` those of texts that hold paths, addresses or
    ids. `several_positives`: some row has more than one; `without_texts` are the columns of
    negatives, where no row has one; `left_lines` are the numbers of the lines of pasted text around
    the table. `pictures` has the picture of each text that has one, and `not_shown` are the
    texts of pictures that cannot be shown.
    """

    columns: tuple[str, ...]
    chosen: dict[str, str]
    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    taught: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    several_positives: bool = False
    without_texts: tuple[str, ...] = ()
    left_lines: tuple[int, ...] = ()
    pictures: Mapping[str, Source] = field(default_factory=dict, repr=False)
    not_shown: tuple[str, ...] = ()

    @property
    def highest_label(self) -> float:
        """The highest label that was read; −∞ where there is none."""
        return -math.inf

    def serving(self, role: str) -> tuple[str, ...]:
        """The names of all columns that serve a role."""
        several = {
            "second": self.positives,
            "positive": self.positives,
            "negative": self.negatives,
            TEACHER: self.taught,
        }
        name = self.chosen.get(role, NO_SCORE)
        one = (name,) if name != NO_SCORE or name in self.columns else ()
        return several.get(role, ()) if one and several.get(role) else one


@dataclass(frozen=True)
class ReadingNote:
    """A sentence of the catalogues by its key, with its values."""

    key: str
    values: dict[str, str]

    def written(self, language: str = "en") -> str:
        return say(language, self.key, **self.values)


def reading_notes(table: ColumnsRead) -> tuple[ReadingNote, ...]:
    """Return notes on the roles of the columns, on the unread ones, on sentence-transformers'
    different reading by position, and on missing values."""
    instructions = tuple(filter(names_instruction, table.unread))
    of_texts = (name for role, name in table.chosen.items() if role in VECTORS)
    vectors = [*of_texts] if OWN.serves(table.chosen) else []
    known = (*instructions, *table.without_texts)
    unread = tuple(name for name in table.unread if name not in known)
    named = {
        **{f"reading.{role}": table.serving(role) for role in _SHOWN},
        "reading.vectors": tuple(vectors),
        "reading.instruction": instructions,
        "reading.without_texts": table.without_texts,
        "reading.unread": unread,
        "reading.may_be_class": tuple(filter(names_class, unread)),
        "reading.references": () if vectors else table.references,
        "reading.unordered_positives": table.positives if table.several_positives else (),
    }
    notes = [ReadingNote(key, {"columns": listed(names)}) for key, names in named.items() if names]
    columns = [name for name in table.columns if name not in vectors]
    ours, theirs = _texts(table), _by_position(columns)
    if len(theirs) > 1 and theirs[: len(ours)] != ours:
        values = {"first": theirs[0], "second": theirs[1], "columns": listed(ours)}
        notes.append(ReadingNote("reading.by_position", values))
    if table.left_lines:
        shown = ", ".join(map(str, table.left_lines[:SHOWN_LINES]))
        more = ", …" if len(table.left_lines) > SHOWN_LINES else ""
        notes.append(ReadingNote("reading.left_lines", {"lines": shown + more}))
    if table.pictures:
        notes.append(ReadingNote("reading.pictures", {"count": str(len(table.pictures))}))
    if table.not_shown:
        values = {
            "count": str(len(table.not_shown)),
            "name": shortened(table.not_shown[0]),
            "mib": str(PICTURE_BYTES // MIB),
            "pixels": str(PICTURE_PIXELS // 10**6),
        }
        notes.append(ReadingNote("reading.not_shown", values))
    if table.highest_label >= STEEPEST_LABEL:
        highest = display_number(table.highest_label)
        notes.append(ReadingNote("reading.steep_gains", {"highest": highest}))
    return tuple(notes)


def _texts(table: ColumnsRead) -> list[str]:
    """The columns of texts, as they are read here."""
    roles = (*POSITIVE_ROLES, *TRIPLET_ROLES, CLASS_ROLES[0])
    return [name for role in roles for name in table.serving(role)]


def _by_position(columns: Sequence[str]) -> list[str]:
    return [name for name in columns if name not in LIBRARY_LABELS and not is_inner(name, columns)]
