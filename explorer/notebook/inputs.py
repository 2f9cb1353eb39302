"""Pairs as notebooks hold them: data frames, Arrow tables, datasets, arrays and lists."""

import itertools
import math
import os
import random
import sys
from collections.abc import Iterable, Mapping, Sized
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw

from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.local_path import file_inside
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import of_type
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.pairs_from_tables import TYPED_COLUMNS
from lossprism.explorer.sources.pictures_in_table_cells import (
    content_of,
    is_picture_path,
    thumbnail_of,
    thumbnails,
    with_name,
)
from lossprism.explorer.web.api.request_parsing import (
    check_lengths,
    rows_of,
    rules_of,
    scenario_under,
    table_of,
)

Row = Mapping[Any, object]
SPLITS = ("DatasetDict", "IterableDatasetDict")
FILE_FIELDS = {"bytes", "path"}
SEED = 0  # of the rows that are shown of more than EXPLORED_PAIRS


class Inputs(NamedTuple):
    """A resolved scenario, sentences on the roles of its table's columns, and one on the rows that
    were drawn, "" where all are shown."""

    resolved: Resolved
    reading: tuple[str, ...]
    drawn: str = ""


def read_inputs(
    name: str,
    sentences1: object = None,
    sentences2: object = None,
    scores: object = None,
    loss: object = "cosent",
    convention: object = "",
    *,
    threshold: object = None,
    label_range: object = None,
    extra_negatives: object = True,
    prototypes: object = None,
    twins: object = "keep",
    guide: object = "",
    teacher: object = "",
    teacher_scores: object = None,
    table: object = "",
    columns: object = None,
    pictures: object = None,
    language: str = "en",
    **parameters: object,
) -> Inputs:
    """Return the scenario of the arguments of `show`; `name` is the function that was called,
    `language` that of the sentences on what was read. Of more than EXPLORED_PAIRS rows as many are
    drawn.

    Raises Problem, naming the first invalid input.
    """
    if sentences2 is None and not _is_sent(table) and _is_table(sentences1):
        sentences1, table = None, sentences1
    found, count = table_rows(name, table, _folder(pictures))
    as_columns = (sentences1, sentences2, scores, teacher_scores)
    lists = [as_list(one) for one in as_columns]
    lengths = [
        len(read) for one, read in zip(as_columns, lists, strict=True) if _is_list(one, read)
    ]
    if len({*lengths, *([count] if count else [])}) == 1:
        count = (*lengths, count)[0]
        lists = [
            drawn(read) if _is_list(one, read) else read
            for one, read in zip(as_columns, lists, strict=True)
        ]
    first, second, labels, taught = lists
    chosen = dict(columns) if isinstance(columns, Mapping) else columns
    rows = rows_of(name, EXPLORED_PAIRS, first, second, labels, found, chosen, language=language)
    rules = rules_of(threshold, as_list(label_range), extra_negatives, as_list(prototypes), twins)
    data = table_of(rows, EMBEDDED, guide, teacher, taught)
    settings = {key: as_list(value) for key, value in parameters.items()}
    values = {"count": count, "most": EXPLORED_PAIRS, "seed": SEED}
    note = say(language, "reading.drawn", **values) if count > EXPLORED_PAIRS else ""
    return Inputs(scenario_under(loss, settings, convention, rules, data), rows.reading, note)


def places_drawn(count: int) -> list[int]:
    """Return the places of the rows that are shown of so many, in their order."""
    if count <= EXPLORED_PAIRS:
        return list(range(count))
    return sorted(random.Random(SEED).sample(range(count), EXPLORED_PAIRS))


def drawn(values: list[Any]) -> list[Any]:
    return [values[place] for place in places_drawn(len(values))]


def _folder(pictures: object) -> str:
    """Read the folder of pictures; None is the working directory."""
    folder = os.path.expanduser(of_type(str, os.PathLike)(pictures or ".", "pictures"))
    if not os.path.isdir(folder):
        raise Problem("picture_folder", folder=str(folder))
    return str(folder)


def table_rows(
    name: str, table: object, pictures: str
) -> tuple[str | list[dict[str, object]], int]:
    """Return the text of a table as it is, and of any other table the rows that are shown, and the
    number of all its rows. Paths of pictures in the folder `pictures` become these pictures.

    Raises Problem if it is no table, is empty or has more than EXPLORED_PAIRS rows and no length.
    """
    if not _is_sent(table):
        return "", 0
    if isinstance(table, str):
        if len(table.splitlines()) == 1 and table[0] not in "{[":  # a path, say
            raise _misfit(table)
        return table, 0
    rows, count = _rows(name, table)
    read = [{str(column): _cell(value, pictures) for column, value in row.items()} for row in rows]
    return read, count


def as_list(value: Any) -> Any:
    """Return an array, a tensor or a column as a list of plain values; anything else unchanged."""
    values = _plain(_known(value))
    if isinstance(values, str | bytes | Mapping | nw.DataFrame | nw.LazyFrame):
        return value
    if not isinstance(values, Iterable):
        return values
    return [as_list(one) for one in _bounded(values)]


def _is_list(value: object, read: object) -> bool:
    """Return whether a value was read as a list of a known length."""
    return isinstance(read, list) and isinstance(value, Sized)


def _bounded(values: Iterable[Any]) -> Iterable[Any]:
    """Return the values, of an iterator, which may be endless, one more than may be shown."""
    return values if isinstance(values, Sized) else itertools.islice(values, EXPLORED_PAIRS + 1)


def _known(value: Any) -> Any:
    """Return a data frame or column of a library as narwhals has it; anything else unchanged.

    Raises Problem if two columns have one name.
    """
    try:
        frame = nw.from_native(value, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise Problem("notebook_columns") from None
    if isinstance(frame, nw.DataFrame) and len({*frame.columns}) < len(frame.columns):
        raise Problem("notebook_columns")
    return frame


def _plain(value: Any) -> Any:
    """Return numbers, arrays, tensors and columns of libraries as Python's own."""
    if isinstance(value, nw.Series):
        return value.to_list()
    return value.tolist() if hasattr(value, "tolist") else value


def _is_sent(table: object) -> bool:
    return table is not None and not (isinstance(table, str | list | tuple) and not table)


def _is_table(value: object) -> bool:
    """Return whether a first argument that came alone is a table, not a list of sentences."""
    if value is None or isinstance(value, Real):
        return False
    plain = _plain(_known(value))
    is_list = isinstance(plain, list | tuple)
    return not is_list or not all(isinstance(one, str) for one in plain)


def _rows(name: str, table: Any) -> tuple[list[Row], int]:
    """Return the rows that are shown of a table, each by the names of its columns, and the number
    of all."""
    if type(table).__name__ in SPLITS and (splits := list(table)):
        raise Problem("notebook_splits", names=", ".join(splits), first=splits[0])
    datasets = sys.modules.get("datasets")
    frame = _known(table)
    if datasets and isinstance(table, datasets.Dataset):
        count = check_lengths(name, sys.maxsize, {"table": table})
        return table.select(places_drawn(count)).to_list(), count
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        count = check_lengths(name, sys.maxsize, {"table": range(len(frame))})
        return list(frame[places_drawn(count)].rows(named=True)), count
    frame = _plain(frame)
    if isinstance(frame, Mapping):
        columns = {str(column): as_list(values) for column, values in frame.items()}
        if not columns or not all(isinstance(values, list) for values in columns.values()):
            raise _misfit(table)
        count = check_lengths(name, sys.maxsize, columns)
        rows = zip(*map(drawn, columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows], count
    if not isinstance(frame, Iterable) or isinstance(frame, bytes):
        raise _misfit(table)
    rows = list(_bounded(frame))
    limit = sys.maxsize if isinstance(frame, Sized) else EXPLORED_PAIRS
    count = check_lengths(name, limit, {"table": rows})
    return list(map(_row, drawn(rows))), count


def _row(row: object) -> Row:
    """Return a row by the names of its columns; two or three cells are sentences and a score."""
    if isinstance(row, Mapping):
        return row
    cells = _plain(row)
    if isinstance(cells, list | tuple) and 2 <= len(cells) <= len(TYPED_COLUMNS):
        return dict(zip(TYPED_COLUMNS, cells, strict=False))
    raise _misfit(row)


def _misfit(value: object) -> Problem:
    return Problem("notebook_table", value=shortened(value, write=repr))


def _cell(value: Any, pictures: str) -> object:
    """Return a cell as JSON has it: a picture is a small one as a data URL, missing values and
    other bytes are None."""
    if (image := sys.modules.get("PIL.Image")) and isinstance(value, image.Image):
        return thumbnail_of(value)
    value = _plain(value)
    if isinstance(value, Mapping) and value.keys() == FILE_FIELDS:  # an image of `datasets`
        value = value["path"] if value["bytes"] is None else value["bytes"]
    if isinstance(value, bytes):
        return thumbnails([("", value)]).get("")
    if value is None or _is_missing(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _cell(inner, pictures) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cell(inner, pictures) for inner in value]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, str | os.PathLike):
        return _picture_or_text(os.fspath(value), pictures)
    return value if isinstance(value, int | float) else str(value)


def _picture_or_text(text: str, pictures: str) -> str:
    """Return the picture of that path in the folder `pictures`, by its path; any other text."""
    path = file_inside(text, pictures) if is_picture_path(text) else None
    found = thumbnails([(text, content_of(path))]) if path else {}
    return with_name(found[text], text) if found else text


def _is_missing(value: object) -> bool:
    """Return whether a cell of a data frame has no value: NaN, or NA or NaT of pandas."""
    if isinstance(value, float):
        return math.isnan(value)
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)
