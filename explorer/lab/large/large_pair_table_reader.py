"""Pairs of a large file, with similarities where a column holds them."""

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossprism.explorer.lab.large.batch import NumberedSentences
from lossprism.explorer.lab.large.text_buffer import TextBuffer
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.limits import DISK_ROWS, LARGE_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import Cells
from lossprism.explorer.sources.column_names import SCORE_NAMES, plain_name
from lossprism.explorer.sources.column_roles import (
    NO_SCORE,
    POSITIVE_ROLES,
    TEACHER,
    TRIPLET_ROLES,
    choose_columns,
    listed,
)
from lossprism.explorer.sources.encoders.uploaded_vectors import store
from lossprism.explorer.sources.label_words_to_scores import ENTAILMENT
from lossprism.explorer.sources.pairs_from_tables import check_share
from lossprism.explorer.sources.reading_notes import ColumnsRead
from lossprism.explorer.sources.row_to_pairs import RowReader
from lossprism.explorer.sources.table_column_kinds import Grid
from lossprism.explorer.sources.table_file_reader import read_grid
from lossprism.explorer.sources.vector_column_of_each_text_column import OWN, VECTOR_ROLES

# A first and a second sentence, the label, the teacher's score, the similarity.
Read = tuple[str, str, float, float, float]

# Compared as `column_names.plain_name` makes them.
SIMILARITY_NAMES = (
    "similarity",
    "cosine",
    "cosinesimilarity",
    "cos",
    "cossim",
    "predicted",
    "prediction",
    "modelscore",
    "相似度",
    "余弦",
    "余弦相似度",
    "预测",
)


@dataclass(frozen=True, eq=False)
class FilePairs(ColumnsRead):
    """Pairs of a large file.

    `scores` are the similarities of the file, None where sentences must be encoded. Without labels
    (`labelled`) all pairs are positives. `rows` are the file's rows of the pairs. `teacher` is
    another model's score of each pair, NaN for none; None without such a column, or if not
    requested. `skipped` holds the number of unusable rows, and the first of them with their
    reasons. `inference`: the labels are kinds of natural language inference. `listed` are the roles
    for which some cell has a list. `margins`: a teacher's scores are those of the negatives alone:
    `teacher` has 0 for the positive then, and less for them. `own_vectors` names the encoder of the
    vectors that the file has of its texts, "" for none.
    """

    first: TextBuffer | NumberedSentences
    second: TextBuffer | NumberedSentences
    labels: np.ndarray
    scores: np.ndarray | None
    labelled: bool
    header: bool
    total: int
    limited: bool
    encoding: str
    skipped: tuple[int, tuple[tuple[int, Problem], ...]]
    rows: np.ndarray
    teacher: np.ndarray | None = None
    inference: bool = False
    listed: frozenset[str] = frozenset()
    margins: bool = False
    own_vectors: str = ""

    @property
    def highest_label(self) -> float:
        """The highest label of all pairs."""
        return float(self.labels.max())

    @property
    def threshold(self) -> float | None:
        """Threshold of positive labels, as in `Pairs`."""
        return ENTAILMENT if self.inference else None


def read_pairs(
    content: bytes | Path,
    name: str,
    columns: Mapping[str, str] | None,
    header: bool | None,
    report: Report,
    encoding: str = "",
    taught: bool = False,
) -> FilePairs:
    """Read two sentences in each row (or a triplet), with a label and a similarity if there are
    any.

    A file needs no sentences if it has a similarity, unless "" is chosen for that: then none of its
    columns is taken. At most LARGE_PAIRS pairs are read, of a file on the disk DISK_ROWS. `content`
    and `encoding` are as `read_grid` takes them. `report` hears of the parsing of the text, then of
    the reading of its rows, and may raise to stop. The column of a teacher is read if `taught`.

    Raises Problem if there is no such table.
    """
    name = whole_letters(name)
    named = (columns or {}).values()
    grid = read_grid(content, name, header, lambda *far: report("parsing", *far), encoding, named)
    requested = {
        role: named for role, named in (columns or {}).items() if named or role == "similarity"
    }
    if not requested.get("similarity"):
        grid.check_texts()
    vector_roles = {role: requested.pop(role) for role in [*requested] if role in VECTOR_ROLES}
    chosen = {
        role: at for role, at in _choose(grid, requested).items() if taught or role != TEACHER
    }
    if "similarity" not in chosen:
        chosen |= OWN.columns(grid.columns, chosen, vector_roles, grid.is_vectors)
    read = RowReader(grid, chosen)
    first, second = TextBuffer(), TextBuffer()
    labels, scores, teacher, rows = array("d"), array("d"), array("d"), array("Q")
    most = DISK_ROWS if isinstance(content, Path) else LARGE_PAIRS
    is_taught, is_scored = TEACHER in chosen, "similarity" in chosen
    total, count, problems, limited = 0, 0, [], False
    for row, cells in grid.records(lambda *far: report("reading", *far)):
        total += 1
        if len(labels) >= most:
            limited = True
            continue
        try:
            pairs = _pairs_of(read, cells)
        except Problem as problem:
            count += 1
            if len(problems) < 20:
                problems.append((row, problem.with_traceback(None)))
            check_share(count, total - count, problems[0][0])
            continue
        read.keep()
        for one, other, label, taught_score, score in pairs:
            first.append(one)
            second.append(other)
            labels.append(label)
            if is_taught:
                teacher.append(taught_score)
            if is_scored:
                scores.append(score)
            rows.append(row)
    if not labels:
        raise problems[0][1] if problems else Problem("no_pairs")
    named = "first" in chosen or read.is_triplet
    return FilePairs(
        first if named else NumberedSentences(len(first), "a"),
        second if named else NumberedSentences(len(first), "b"),
        np.asarray(labels),
        np.asarray(scores) if is_scored else None,
        read.labelled,
        grid.header,
        total,
        limited,
        grid.encoding,
        (count, tuple(problems)),
        np.asarray(rows),
        _or_none(np.asarray(teacher)),
        read.inference,
        frozenset(read.listed),
        read.margins,
        store(name, *read.vectors.every(), read.pictures.found) if read.vectors.places else "",
        **vars(read.used),
    )


def _or_none(teacher: np.ndarray) -> np.ndarray | None:
    return None if np.isnan(teacher).all() else teacher


def _choose(grid: Grid, requested: dict[str, str]) -> dict[str, int]:
    """The position of the column for each role, with or without a similarity."""
    similarity = _similarity(grid, requested.pop("similarity", None))
    whole = (grid.columns, requested, grid.is_score, grid.is_text, grid.may_be_score)
    if similarity is None:
        return choose_columns(*whole)
    # For everything else, that column is not there.
    names = [name if at != similarity else "" for at, name in enumerate(grid.columns)]

    def is_score(position: int) -> bool:
        return position != similarity and grid.is_score(position)

    def may_be_score(position: int) -> bool:
        return position != similarity and grid.may_be_score(position)

    try:
        chosen = choose_columns(names, requested, is_score, grid.is_text, may_be_score)
    except Problem:
        plain = [plain_name(name) for name in names]
        scores = [at for at in range(len(names)) if is_score(at)]
        named = [at for at in scores if plain[at] in SCORE_NAMES]
        if requested.get("score") in names:
            named = [names.index(requested["score"])]
        if not named and len(scores) != 1:
            # The one column of numbers is the label, as everywhere else.
            return choose_columns(*whole)
        chosen = {"score": (named or scores)[0]}
    if set(chosen) - {TEACHER} == set(POSITIVE_ROLES) and requested.get("score") != NO_SCORE:
        return choose_columns(*whole)
    if set(chosen) - {TEACHER} == set(TRIPLET_ROLES):
        return chosen  # a triplet has two pairs, and one number would not do
    return {**chosen, "similarity": similarity}


def _similarity(grid: Grid, requested: str | None) -> int | None:
    if requested == "":
        return None
    if requested is not None:
        if requested not in grid.columns:
            raise Problem(
                "column_unknown",
                about="unknown_column",
                column=requested,
                columns=listed(grid.columns),
            )
        return grid.columns.index(requested)
    plain = [plain_name(name) for name in grid.columns]
    known = [at for at, name in enumerate(plain) if name in SIMILARITY_NAMES and grid.is_score(at)]
    return known[0] if known else None


def _pairs_of(read: RowReader, cells: Cells | Problem) -> list[Read]:
    """The pairs of a row, each with its similarity, or 0."""
    if isinstance(cells, Problem):
        raise cells
    similarity = read.score(cells, "similarity") if "similarity" in read.positions else 0.0
    if "first" not in read.positions and not read.is_triplet:
        return [("", "", read.score(cells), math.nan, similarity)]
    return [(*pair, similarity) for pair in read(cells)]
