"""A file on the Explore page: what it holds, and the batches that are drawn from it."""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lossprism.explorer.core.scenario import DRAW_READERS, Data, Reading
from lossprism.explorer.runtime import uploads, validation
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, NAMED_ROWS, TRAINED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import invalid_value
from lossprism.explorer.sources import pairs_from_tables
from lossprism.explorer.sources.character_encodings import encoding_choices, previews
from lossprism.explorer.sources.column_roles import NO_SCORE, TEACHER
from lossprism.explorer.sources.drawn_batches import RANGES, Draw, batch_rows, drawn, epoch_of
from lossprism.explorer.sources.guide_vectors_in_base64 import EncodedVector, encoded_vectors
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.reading_notes import ReadingNote, reading_notes
from lossprism.explorer.sources.table_file_reader import read_grid
from lossprism.explorer.sources.vector_column_of_each_text_column import GUIDES, OWN
from lossprism.losses.labels import label_range_of

# What is drawn from a file that is too large to be shown whole, before anything is chosen.
USUAL = Draw("shuffled", size=64)
# Whole files that are held as pairs; a file is up to 64 MB.
HELD = 3


@dataclass(frozen=True)
class FileRead:
    """The pairs that are used of a file, and how it was read; `file` is its digest, `own_vectors`
    names the encoder of the vectors that it has of its texts, "" for none; `encodings` as
    `LargeFile` has them."""

    name: str
    file: str
    rows: tuple[tuple[str, str, str], ...]
    teacher: tuple[tuple[str, str, str], ...]
    guided: tuple[EncodedVector, ...]
    own_vectors: str
    reading: Reading
    columns: tuple[str, ...]
    chosen: dict[str, str]
    notes: tuple[ReadingNote, ...]
    header: bool
    encoding: str
    encodings: list[tuple[str, str]]


@dataclass(frozen=True)
class FileUndecided:
    """A file whose columns, or whose encoding, are to be chosen from."""

    error: Problem
    file: str
    columns: tuple[str, ...]
    header: bool
    chosen: dict[str, str]
    encoding: str
    encodings: list[tuple[str, str]]


@dataclass(frozen=True)
class SendFile:
    """The file of that digest is not held: it is to be sent again."""

    send_file: Literal[True] = True


def read_file(request: Any) -> FileRead | FileUndecided | SendFile:
    """{name, content: base64 or file: digest, columns?, header?, encoding?, draw?} → the rows of a
    batch, what was found besides, and the digest by which the file is known from now on."""
    if "file" in request:
        digest, name = str(request["file"]), uploads.name_in(request)
    else:
        whole = {key: value for key, value in request.items() if key in ("name", "content")}
        digest, name = uploads.hand_in(whole)
    reader = _reader_of(digest, name, request)
    if reader is None:
        return SendFile()
    encoding = str(request.get("encoding") or "")
    try:
        table = reader()
    except Problem as problem:
        if problem.about not in ("columns", "encoding"):
            raise
        return _undecided(problem, digest, name, request)
    draw = _draw_in(request, table.pairs)
    batch = table.pairs.at(drawn(table.pairs, draw)) if len(table.pairs) else table.pairs
    return FileRead(
        name=name,
        file=digest,
        rows=batch.rows,
        teacher=batch.taught_rows,
        guided=encoded_vectors(batch.sentences, batch.guide),
        own_vectors=table.own_vectors,
        reading=_reading(table, draw),
        columns=table.columns,
        chosen=_offered(table),
        notes=reading_notes(table),
        header=table.header,
        encoding=table.encoding,
        encodings=encoding_choices(lambda: uploads.read(digest, name), table.encoding, encoding),
    )


def _offered(table: pairs_from_tables.Table) -> dict[str, str]:
    """The columns that are read, and that a teacher's may be chosen, or those of vectors and of a
    guide's where columns may hold such."""
    chosen = table.chosen
    guides, own = (
        [mine for role, mine in kind.roles.items() if role in chosen] for kind in (GUIDES, OWN)
    )
    if not table.vectors and not table.brings_guide:
        guides = []
    if not table.vectors and not table.own_vectors:
        own = []
    further = {role: chosen.get(role, NO_SCORE) for role in (TEACHER, *guides, *own)}
    return {role: name for role, name in chosen.items() if role not in further} | further


def _undecided(
    problem: Problem, digest: str, name: str, request: Mapping[str, Any]
) -> FileUndecided:
    """Return the columns to choose from, or else the encodings."""
    content, encoding = uploads.read(digest, name), str(request.get("encoding") or "")
    try:
        named = map(str, (request.get("columns") or {}).values())
        grid = read_grid(content, name, request.get("header"), encoding=encoding, chosen=named)
    except Problem as unreadable:
        if unreadable.about != "encoding":
            raise
        return FileUndecided(problem, digest, (), False, {}, "", previews(content))
    nothing: dict[str, str] = dict.fromkeys(("first", "second", "score"), "")
    encodings = encoding_choices(lambda: content, grid.encoding, encoding)
    known = (grid.columns, grid.header, nothing, grid.encoding, encodings)
    return FileUndecided(problem, digest, *known)


def whole_file(request: Mapping[str, Any], data: Data) -> Pairs | None:
    """Return all pairs of the file that a request names; None where it names none.

    Raises Problem where the file has left.
    """
    if request.get("file") is None:
        return None
    digest = str(request["file"])
    reader = _reader_of(digest, data.file, request)
    if reader is None:
        raise Problem("large_file_gone", about="gone", name=data.file)
    pairs = reader().pairs
    return pairs if data.guided else dataclasses.replace(pairs, guide=None)


def _reader_of(digest: str, name: str, request: Mapping[str, Any]) -> Any:
    """Return the reader of the file of this digest with the request's options; None where it has
    left."""
    columns, header = request.get("columns"), request.get("header")
    if not uploads.is_digest(digest) or uploads.find(digest) is None:
        return None
    if not isinstance(columns, dict | None) or not isinstance(header, bool | None):
        raise invalid_value("columns", columns)
    chosen = None if columns is None else tuple((str(k), str(v)) for k, v in columns.items())
    return functools.partial(
        _whole, digest, name, chosen, header, str(request.get("encoding") or "")
    )


@functools.lru_cache(maxsize=HELD)
def _whole(
    digest: str,
    name: str,
    columns: tuple[tuple[str, str], ...] | None,
    header: bool | None,
    encoding: str,
) -> pairs_from_tables.Table:
    content = uploads.read(digest, name)
    chosen = None if columns is None else dict(columns)
    table = pairs_from_tables.read_table(
        content,
        name,
        columns=chosen,
        header=header,
        most=TRAINED_PAIRS,
        encoding=encoding,
        with_vectors=True,
    )
    ends = label_range_of(table.pairs.labels) if len(table.pairs) else None
    pairs = dataclasses.replace(table.pairs, label_range=ends)
    return pairs_from_tables.with_stored_vectors(dataclasses.replace(table, pairs=pairs), name)


def _draw_in(request: Mapping[str, Any], pairs: Pairs) -> Draw:
    """The draw that is asked for: else all that there is, where it can be shown whole."""
    if request.get("draw") is None:
        return USUAL if len(pairs) > EXPLORED_PAIRS else Draw(size=EXPLORED_PAIRS)
    draw = validation.read(
        Draw, request["draw"], "draw", DRAW_READERS, lambda at: invalid_value(at, "")
    )
    for name, (low, high) in RANGES.items():
        if not low <= getattr(draw, name) <= high:
            raise invalid_value(f"draw.{name}", getattr(draw, name))
    return draw


def _reading(table: pairs_from_tables.Table, draw: Draw) -> Reading:
    whole = len(table.pairs)
    return Reading(
        total=table.total,
        encoding=table.encoding,
        limited=table.limited,
        whole=whole,
        draw=draw,
        batches=epoch_of(table.pairs, draw) if whole else 0,
        batch_rows=batch_rows(table.pairs, draw.size) if table.pairs.in_rows else 0,
        label_range=table.pairs.label_range,
        left_out=table.left_out,
        reasons=tuple(
            (skip.row, skip.key, tuple(skip.values.items())) for skip in table.skipped[:NAMED_ROWS]
        ),
    )
