"""The pairs that `lossprism.show` and `lossprism.widget` take; anything else gets a sentence."""

from __future__ import annotations

import base64
import datetime
import decimal
import io
import itertools
import pathlib
import random

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from PIL import Image

from lossprism.explorer.notebook.inputs import read_inputs
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import pattern_of, raises_problem

FIRST = ["A man eats pasta.", "A girl plays the violin.", "Two dogs run."]
SECOND = ["Someone has a meal.", "A child makes music.", "A cat sleeps."]
SCORES = [1.0, 0.8, 0.25]
COLUMNS = {"sentence1": FIRST, "sentence2": SECOND, "score": SCORES}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
CELLS = list(zip(*COLUMNS.values(), strict=True))
EXPECTED = tuple(zip(FIRST, SECOND, ["1", "0.8", "0.25"], strict=True))
TABLES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas with an index": pd.DataFrame(COLUMNS, index=["c", "a", "b"]),
    "pandas with objects": pd.DataFrame(COLUMNS).astype(object),
    "polars": pl.DataFrame(COLUMNS),
    "polars, lazy": pl.LazyFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "datasets": datasets.Dataset.from_dict(COLUMNS),
    "datasets, selected": datasets.Dataset.from_dict(
        {name: [*values, values[0]] for name, values in COLUMNS.items()}
    ).select(range(3)),
    "datasets as tensors": datasets.Dataset.from_dict(COLUMNS).with_format("torch"),
    "datasets, streamed": datasets.Dataset.from_dict(COLUMNS).to_iterable_dataset(),
    "lists by columns": COLUMNS,
    "arrays by columns": {name: np.array(values) for name, values in COLUMNS.items()},
    "rows": ROWS,
    "a generator of rows": (row for row in ROWS),
    "rows of cells": CELLS,
    "an array of cells": np.array(CELLS, dtype=object),
    "text": "sentence1,sentence2,score\n" + "\n".join(",".join(map(str, row)) for row in CELLS),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_any_library_gives_the_same_rows(kind):
    found = read_inputs("show", TABLES[kind])
    assert found.resolved.scenario.data.rows == EXPECTED
    if "generator" not in kind:  # that is used up
        assert read_inputs("show", table=TABLES[kind]).reading == found.reading
    assert found.reading  # which column was taken for which


SERIES = {
    "lists": lambda values: values,
    "tuples": tuple,
    "pandas": pd.Series,
    "polars": lambda values: pl.Series("", values),
    "pyarrow": lambda values: pa.chunked_array([pa.array(values)]),
    "numpy": np.array,
    "datasets": lambda values: datasets.Dataset.from_dict({"a": values})["a"],
    "a generator": iter,
}


@pytest.mark.parametrize("kind", SERIES)
def test_a_column_of_any_library_is_a_list(kind):
    columns = [SERIES[kind](values) for values in COLUMNS.values()]
    assert read_inputs("show", *columns).resolved.scenario.data.rows == EXPECTED


def test_numbers_of_libraries_are_parameters():
    for value in (np.float32(2.5), torch.tensor(2.5), np.array(2.5)):
        found = read_inputs("show", FIRST, SECOND, SCORES, scale=value)
        assert found.resolved.parameters["scale"] == 2.5
    found = read_inputs("show", FIRST, SECOND, SCORES, label_range=np.array([0.0, 2.0]))
    assert found.resolved.scenario.rules.label_range == (0, 2)


def test_triplets_and_what_is_beside_them():
    frame = pd.DataFrame(
        {
            "id": [decimal.Decimal(1), decimal.Decimal(2)],
            "day": [datetime.date(2026, 1, 1), pd.NaT],
            "picture": [b"\x89PNG", None],
            "anchor": ["a cat", "a dog"],
            "positive": ["a kitten", "a puppy"],
            "negative": [["a car"], ["a bus"]],
        }
    )
    found = read_inputs("show", frame, loss="info_nce").resolved.scenario.data
    assert ("a cat", "a kitten", "1") in found.rows
    assert ("a dog", "a bus", "0") in found.rows


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_value_is_reported_as_missing(missing):
    frame = pd.DataFrame({**COLUMNS, "score": [1.0, missing, 0.2]}).astype(object)
    with pytest.raises(Problem, match=r"^Row 2 of the table .*score.* is missing"):
        read_inputs("show", frame)


LONG = {
    "sentence1": [f"a {row}" for row in range(3000)],
    "sentence2": [f"b {row}" for row in range(3000)],
    "score": [row / 3000 for row in range(3000)],
}


@pytest.mark.parametrize(
    "sent",
    [
        [LONG],
        [pd.DataFrame(LONG)],
        [pl.DataFrame(LONG).lazy()],
        [datasets.Dataset.from_dict(LONG)],
        [[*map(dict, map(zip, itertools.repeat(LONG), zip(*LONG.values(), strict=True)))]],
        [*LONG.values()],
    ],
    ids=["columns", "pandas", "polars", "datasets", "rows", "lists"],
)
def test_of_more_rows_than_a_page_shows_the_same_are_drawn_and_reported(sent):
    found = read_inputs("show", *sent, teacher_scores=LONG["score"], loss="distill_kl")
    rows = found.resolved.scenario.data.rows
    assert len({*rows}) == EXPLORED_PAIRS
    numbers = [int(first.removeprefix("a ")) for first, _, _ in rows]
    assert numbers == sorted(random.Random(0).sample(range(3000), EXPLORED_PAIRS))
    assert [float(label) for *_, label in rows] == [row / 3000 for row in numbers]
    taught = [float(score) for *_, score in found.resolved.scenario.data.teacher]
    assert taught == pytest.approx([row / 3000 for row in numbers])
    values = {"count": 3000, "most": EXPLORED_PAIRS, "seed": 0}
    assert pattern_of("reading.drawn", **values).fullmatch(found.drawn)


def test_rows_that_are_all_shown_are_not_drawn():
    found = read_inputs("show", {name: cells[:EXPLORED_PAIRS] for name, cells in LONG.items()})
    assert (len(found.resolved.scenario.data.rows), found.drawn) == (EXPLORED_PAIRS, "")


SPLITS = datasets.DatasetDict({"train": datasets.Dataset.from_dict(COLUMNS)})
UNUSABLE_STATUS = {
    "nothing": [None],
    "a number": [5],
    "an object": [object()],
    "a class": [pd.DataFrame],
    "a function": [len],
    "bytes": [b"sentence1,sentence2"],
    "a path": [pathlib.Path("pairs.csv")],
    "the name of a file": ["pairs.csv"],
    "one list": [FIRST],
    "one column": [pd.Series(FIRST)],
    "one column of numbers": [pl.Series([1, 2])],
    "a set": [set(FIRST)],
    "a sentence for a list": ["A cat.", "A dog."],
    "numbers for sentences": [[1, 2], [3, 4]],
    "lists of two lengths": [FIRST, SECOND[:2]],
    "columns of two lengths": [{**COLUMNS, "score": [1.0]}],
    "columns that are no lists": [{"sentence1": 1, "sentence2": 2}],
    "an empty dictionary": [{}],
    "an empty list": [[]],
    "an empty frame": [pd.DataFrame()],
    "a frame without rows": [pl.DataFrame(COLUMNS).clear()],
    "a table without rows": [pa.table({"sentence1": pa.array([], pa.string())})],
    "one column of texts": [pd.DataFrame({"sentence1": FIRST})],
    "two columns of one name": [pd.DataFrame([["a", "b"]], columns=["text", "text"])],
    "two columns of one name in arrow": [pa.table([["a"], ["b"]], names=["text", "text"])],
    "splits": [SPLITS],
    "no splits": [datasets.DatasetDict()],
    "rows of four cells": [[("a", "b", 1, 2)]],
    "rows and sentences": [[{"sentence1": "a", "sentence2": "b"}, "c"]],
    "rows of rows": [[[["a", "b"], ["c", "d"]]]],
    "a number as a tensor": [torch.tensor(1.0)],
    "endless rows": [({"sentence1": str(one), "sentence2": "b"} for one in itertools.count())],
    "endless sentences": [map(str, itertools.count()), map(str, itertools.count())],
    "a score that is none": [FIRST, SECOND, [1.0, None, "high"]],
    "scores in a frame": [FIRST, SECOND, pd.DataFrame({"score": SCORES})],
}


@pytest.mark.parametrize("kind", UNUSABLE_STATUS)
def test_anything_else_gets_a_sentence(kind):
    with pytest.raises(Problem) as problem:
        read_inputs("show", *UNUSABLE_STATUS[kind])
    message = str(problem.value)
    assert message.endswith(".")
    assert "Narwhals" not in message


OPTIONS = {
    "table and lists": {"table": ROWS, "sentences1": FIRST, "sentences2": SECOND},
    "columns": {"table": ROWS, "columns": ["sentence1"]},
    "an unknown column": {"table": ROWS, "columns": {"first": "nothing"}},
    "loss": {"table": ROWS, "loss": 5},
    "a class for a loss": {"table": ROWS, "loss": torch.nn.MSELoss},
    "convention": {"table": ROWS, "convention": 5},
    "a frame for a parameter": {"table": ROWS, "scale": pd.DataFrame()},
    "a word for a parameter": {"table": ROWS, "scale": "large"},
    "label_range": {"table": ROWS, "label_range": "0-1"},
    "threshold": {"table": ROWS, "threshold": [1]},
    "twins": {"table": ROWS, "twins": True},
    "extra_negatives": {"table": ROWS, "extra_negatives": "yes"},
    "prototypes": {"table": ROWS, "prototypes": 4},
    "guide": {"table": ROWS, "guide": 4},
    "teacher_scores": {"table": ROWS, "teacher_scores": pd.DataFrame({"a": [1]})},
    "pictures": {"table": ROWS, "pictures": 4},
    "pictures in no folder": {"table": ROWS, "pictures": "no such folder"},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_an_option_that_does_not_fit_gets_a_sentence(kind):
    with pytest.raises(Problem) as problem:
        read_inputs("show", **OPTIONS[kind])
    assert str(problem.value).endswith(".")
    assert "Narwhals" not in str(problem.value)


# ---- Pictures ------------------------------------------------------------------------------------

INKS = ("red", "green", "blue")
SQUARES = [Image.new("RGB", (120, 80), ink) for ink in INKS]
IMAGES, TEXTS = np.random.RandomState(0).randn(2, 3, 4)


def as_file(image):
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def with_pictures(images):
    vectors = {"image_embedding": IMAGES.tolist(), "caption_embedding": TEXTS.tolist()}
    return {"image": images, "caption": [f"a {ink} square" for ink in INKS], **vectors}


PICTURES = {
    "images in pandas": pd.DataFrame(with_pictures(SQUARES)),
    "images in rows": pd.DataFrame(with_pictures(SQUARES)).to_dict("records"),
    "images by columns": with_pictures(SQUARES),
    "bytes in polars": pl.DataFrame(with_pictures(list(map(as_file, SQUARES)))),
    "images of datasets": datasets.Dataset.from_dict(with_pictures(SQUARES)),
    "files of datasets": pd.DataFrame(
        with_pictures([{"bytes": as_file(one), "path": None} for one in SQUARES])
    ),
}


def inks_of(found):
    """The colours of the pictures of a batch, by their names."""
    inks = {}
    for name, url in found.resolved.batch.pictures.items():
        content = base64.b64decode(url.removeprefix("data:image/webp;base64,"))
        pixel = Image.open(io.BytesIO(content)).convert("RGB").getpixel((9, 9))
        inks[name] = INKS[int(np.argmax(pixel))]
    return inks


@pytest.mark.parametrize("kind", PICTURES)
def test_pictures_stand_beside_their_vectors(kind):
    found = read_inputs("show", PICTURES[kind], loss="info_nce")
    assert inks_of(found) == {f"image {row}": ink for row, ink in enumerate(INKS, start=1)}
    np.testing.assert_allclose(found.resolved.batch.vectors[::2], IMAGES, rtol=1e-5)


@pytest.mark.parametrize("kind", ["text", "path", "absolute", "home"])
def test_paths_of_pictures_are_read_in_their_folder_alone(kind, tmp_path, monkeypatch):
    folder, other = tmp_path / "mine", tmp_path / "other"
    for place in (folder, other):
        place.mkdir()
        for ink, square in zip(INKS, SQUARES, strict=True):
            square.save(place / f"{ink}.png")
    names = [f"{ink}.png" for ink in INKS]
    written = {
        "text": names,
        "path": list(map(pathlib.Path, names)),
        "absolute": [str(folder / name) for name in names],
        "home": names,
    }[kind]
    monkeypatch.setenv("HOME", str(tmp_path))
    chosen = "~/mine" if kind == "home" else folder
    table = pd.DataFrame(with_pictures(written))
    found = read_inputs("show", table, loss="info_nce", pictures=chosen)
    assert inks_of(found) == dict(zip(map(str, written), INKS, strict=True))
    monkeypatch.chdir(folder)  # the folder that is meant without one
    assert inks_of(read_inputs("show", table, loss="info_nce")) == inks_of(found)
    strange = [str(other / "red.png"), "../other/green.png", "blue.png"]
    found = read_inputs("show", pd.DataFrame(with_pictures(strange)), loss="info_nce")
    assert inks_of(found) == {"blue.png": "blue"}
    assert found.resolved.batch.pairs.first == tuple(strange)


def test_the_sentences_say_what_to_do():
    with raises_problem("notebook_splits", names="train", first="train"):
        read_inputs("show", SPLITS)
    with raises_problem("notebook_columns"):
        read_inputs("show", UNUSABLE_STATUS["two columns of one name"][0])
    with raises_problem("api_too_many", count=EXPLORED_PAIRS + 1, name="show", most=EXPLORED_PAIRS):
        read_inputs("show", UNUSABLE_STATUS["endless rows"][0])
    with raises_problem("notebook_table", value="<built-in function len>"):
        read_inputs("show", len)
    with raises_problem("notebook_table", value="'pairs.tsv'"):  # its path, not its text
        read_inputs("show", "pairs.tsv")
