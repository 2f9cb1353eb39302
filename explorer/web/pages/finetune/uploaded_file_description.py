"""A file that is uploaded whole for a plan of training: its columns, its encoding, its pairs."""

from dataclasses import dataclass
from typing import cast

from lossprism.explorer.lab.training import new_file_evaluation
from lossprism.explorer.lab.training.pair_sources import held_out_of
from lossprism.explorer.lab.training.plan import RANGES, TrainingData
from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.runtime.validation import invalid_value, of_type
from lossprism.explorer.sources import pairs_from_tables
from lossprism.explorer.sources.character_encodings import encoding_choices, previews
from lossprism.explorer.sources.column_roles import CHOOSE_COLUMNS, NO_SCORE, PAIR_ROLES, TEACHER
from lossprism.explorer.sources.reading_notes import ReadingNote, reading_notes
from lossprism.explorer.sources.table_file_reader import read_grid
from lossprism.explorer.web.page_requests import Nothing


@dataclass(frozen=True)
class FileEncoding:
    """In which encoding a file was read ("" where that is unclear), and those it could be read
    in, the likeliest first, each with how its first words would read."""

    encoding: str
    encodings: list[tuple[str, str]]
    file: str
    name: str


@dataclass(frozen=True)
class Upload(FileEncoding):
    """A file that was handed in: its token, its columns, which of them serve, of which nothing is
    read, how many pairs."""

    columns: list[str]
    chosen: dict[str, str]
    unread: list[str]
    used: int
    labelled: bool
    inference: bool
    notes: list[ReadingNote]
    total: int


@dataclass(frozen=True)
class UploadUndecided(FileEncoding):
    """A file whose columns, or whose encoding, are to be chosen from."""

    problem: Problem
    columns: list[str]
    chosen: dict[str, str]


def uploaded_path(token: str, where: str) -> str:
    """The path of an upload, by the digest of its content."""
    if not token:
        raise Problem("training_no_file", about="unfilled")
    if not uploads.is_digest(token):
        raise invalid_value(f"data.{where}", token)
    path = uploads.find(token)
    if path is None:
        raise Problem("training_file_gone")
    return str(path)


def uploaded_pairs(chosen: object) -> new_file_evaluation.Unseen:
    """The pairs of an upload, {file: token, name, columns, encoding}."""
    if not isinstance(chosen, dict) or not isinstance(chosen.get("columns") or {}, dict):
        raise invalid_value("on", chosen)
    columns = {str(role): str(name) for role, name in (chosen.get("columns") or {}).items()}
    path = uploaded_path(str(chosen.get("file") or ""), "file")
    encoding = str(chosen.get("encoding") or "")
    return new_file_evaluation.read(path, uploads.name_in(chosen), columns, encoding)


def hand_in(request: object) -> Upload | UploadUndecided:
    """A file, as `uploads.hand_in` takes it → its digest, with what `describe_file` says of it."""
    digest, name = uploads.hand_in(request)
    if not digest:  # a piece of a file, which this page sends whole
        return cast("Upload", Nothing())
    return describe_file({"file": digest, "name": name})


def describe_file(request: dict) -> Upload | UploadUndecided:
    """{file: token, name, columns?, encoding?, held_out?} → its columns, which of them serve, how
    many pairs it has. One that is `held_out` is read as a training on the columns reads it."""
    token, name = str(request.get("file")), uploads.name_in(request)
    path = uploaded_path(token, "file")
    chosen = of_type(dict)(request.get("columns") or {}, "columns")
    columns = {str(role): str(column) for role, column in chosen.items()}
    encoding, content = str(request.get("encoding") or ""), uploads.read(token, name)
    most = int(RANGES["most"][1])
    how = {"columns": tuple(columns.items()), "encoding": encoding, "most": most}
    try:
        if request.get("held_out"):
            table = held_out_of(TrainingData(held_out_file=path, held_out_name=name, **how))
        else:
            table = pairs_from_tables.read_table(
                content, name, **{**how, "columns": columns or None}
            )
    except Problem as problem:
        if problem.about == "encoding":
            return UploadUndecided("", previews(content), token, name, problem, [], {})
        if problem.about not in CHOOSE_COLUMNS:
            raise
        grid = read_grid(content, name, None, encoding=encoding, chosen=columns.values())
        return UploadUndecided(
            encoding=grid.encoding,
            encodings=encoding_choices(lambda: content, grid.encoding, encoding),
            file=token,
            name=name,
            problem=problem,
            columns=list(grid.columns),
            chosen={**dict.fromkeys(PAIR_ROLES, ""), **columns},
        )
    return as_answer(
        Upload,
        table,
        encodings=encoding_choices(lambda: content, table.encoding, encoding),
        file=token,
        name=name,
        columns=list(table.columns),
        chosen={**table.chosen, TEACHER: table.chosen.get(TEACHER, NO_SCORE)},
        unread=[one for one in table.unread if one not in table.vectors],
        used=len(table.pairs),
        labelled=table.pairs.labelled,
        notes=list(reading_notes(table)),
    )
