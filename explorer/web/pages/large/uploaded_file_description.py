"""A file that is uploaded piece by piece and read in the background: its columns, encoding and
skipped rows."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.lab.large.large_pair_table_reader import FilePairs
from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_parent_classes import Sparse, as_answer
from lossprism.explorer.sources.character_encodings import encoding_choices, previews
from lossprism.explorer.sources.column_roles import CLASS_ROLES, PAIR_ROLES, TRIPLET_ROLES
from lossprism.explorer.sources.pairs_from_tables import SkippedRow
from lossprism.explorer.sources.reading_notes import ReadingNote, reading_notes
from lossprism.explorer.sources.table_file_reader import read_grid

# What reads the bytes of a file.
Content = Callable[[], bytes]


@dataclass(frozen=True)
class HandedIn(Sparse):
    """The file's name by content, once it is complete."""

    file: str = ""


@dataclass(frozen=True)
class LargeFile:
    """Interpretation of a file: its columns, those in use, and skipped rows; the encoding ("" if
    unclear), and the possible ones, best first, each with its reading of the first words;
    `own_vectors` names the encoder of the vectors that it has of its texts, "" for none."""

    encoding: str
    encodings: list[tuple[str, str]]
    columns: tuple[str, ...]
    chosen: dict[str, str]
    header: bool
    total: int
    used: int
    limited: bool
    labelled: bool
    inference: bool
    notes: tuple[ReadingNote, ...]
    skipped: int
    reasons: list[SkippedRow]
    own_vectors: str = ""


@dataclass(frozen=True)
class LargeFileUndecided:
    """A file whose columns or encoding the user has to choose."""

    undecided: Literal[True]
    skipped: int
    reasons: list[SkippedRow]
    encoding: str
    encodings: list[tuple[str, str]]
    columns: tuple[str, ...]
    chosen: dict[str, str]
    header: bool


def hand_in(request: Json) -> HandedIn:
    """Answer {token, start, content: base64, name, last} with the file's name by content, once it
    is complete. {token, forget} deletes its pieces."""
    digest, _ = uploads.hand_in(request)
    return HandedIn(digest)


def described(read: FilePairs, content: Content, encoding: str) -> LargeFile:
    """Return a file's columns, those in use, and skipped rows; `encoding` is the chosen one, "" for
    none."""
    count, skipped = read.skipped
    return as_answer(
        LargeFile,
        read,
        encodings=encoding_choices(content, read.encoding, encoding),
        used=len(read.labels),
        notes=reading_notes(read),
        skipped=count,
        reasons=[SkippedRow.of(row, problem) for row, problem in skipped],
    )


def undecided(
    content: Content, name: str, chosen: Mapping[str, str], header: bool | None, encoding: str
) -> LargeFileUndecided:
    """Return the choices of columns, with those chosen so far, if it is not clear which to read; or
    else of encodings."""
    content = functools.cache(content)
    try:
        grid = read_grid(content(), name, header, encoding=encoding, chosen=chosen.values())
    except Problem as problem:
        if problem.about != "encoding":
            raise
        return LargeFileUndecided(True, 0, [], "", previews(content()), (), {}, header=False)
    others = (one for one in (TRIPLET_ROLES, CLASS_ROLES) if set(chosen) & set(one))
    roles = next(others, PAIR_ROLES)
    return LargeFileUndecided(
        True,
        0,
        [],
        grid.encoding,
        encoding_choices(content, grid.encoding, encoding),
        grid.columns,
        {**dict.fromkeys(roles, ""), **chosen},
        grid.header,
    )
