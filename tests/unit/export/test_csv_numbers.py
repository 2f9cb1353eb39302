"""A script reads every number of every CSV file as a number, to its last digit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export import csv
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.lab.large.large_batch_downloads import figures_csv
from lossprism.explorer.sources.pairs import Correction
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.explore.request_handlers import OF_ALL_PAIRS, TAKEAWAYS
from lossprism.losses import LOSSES
from tests.plain_numbers import table_of, text_columns
from tests.scenes import data_for

WORDS = {"sentence1", "sentence2", "row", "column", "item", "row_text", "column_text", "item_text"}
RANDOM = Data(source="random", random=RandomBatch(pairs=12, dimension=6, seed=3))
TABLES = [what for what in TAKEAWAYS if what.endswith("_csv")]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_table_of_explore(loss):
    found = explore(Scenario(loss=loss, data=data_for(loss, RANDOM)))
    for what in TABLES:
        table = table_of(TAKEAWAYS[what][2](found, "zh", False))
        # A matrix's first column names its rows.
        names = {table.columns[0]} if what == "matrix_csv" else WORDS
        assert text_columns(table) <= names, (what, text_columns(table) - names)


@pytest.mark.parametrize("facet", ["value", "gradient", "weight", "mask"])
def test_a_matrix_is_read_to_its_last_digit(facet):
    scenario = Scenario(data=RANDOM, view=View(facet=facet))
    found = explore(scenario)
    table = table_of(csv.matrix_csv(found)).iloc[:, 1:].to_numpy(dtype=float)
    shown = picture(found).shown
    step = found.trace.tensors[shown.step]
    whole = {
        "value": step.value,
        "gradient": step.gradient,
        "weight": found.weights.shares if found.weights else None,
        "mask": found.trace.mask_of(step),
    }[facet]
    numbers = whole.reshape(shown.all_rows, shown.all_columns).double().numpy()
    numbers = numbers[shown.row_axis.items][:, shown.column_axis.items]
    there = np.isfinite(numbers)
    np.testing.assert_array_equal(table[there], numbers[there])
    assert np.isnan(table[~there]).all()


def test_the_pairs_are_read_to_their_last_digit():
    found = explore(Scenario(data=RANDOM))
    table = table_of(csv.pairs_csv(found))
    assert table["score_gradient"].tolist() == [float(g) for g in found.score_gradient]
    assert table["cosine"].tolist() == [float(s) for s in found.batch.scores]


def test_corrected_pairs_and_what_was_changed():
    pairs = explore(Scenario(data=RANDOM)).batch.pairs
    pairs = dataclasses.replace(pairs, labels=tuple(label / 3 for label in pairs.labels))
    made: list[Correction] = [
        (pairs.first[0], pairs.second[0], "0.30000000000000004"),
        (pairs.first[1], pairs.second[1], ""),
    ]
    for what, (_, table_of_all) in OF_ALL_PAIRS.items():
        table = table_of(table_of_all(pairs, made))
        assert text_columns(table) == {"sentence1", "sentence2"}, what
    assert table["corrected"].tolist()[0] == 0.30000000000000004


def test_figures_of_a_large_batch_keep_labels_separate():
    figures = {
        "loss_name": "cosent",
        "scale": 20.0,
        "data": "24 % of 9",
        "loss": 1 / 3,
        "none": None,
    }
    table = table_of(figures_csv(figures))
    assert text_columns(table) == {"figure", "text"}
    assert table["value"].dropna().tolist() == [20.0, 1 / 3]
    assert table["text"].dropna().tolist() == ["cosent", "24 % of 9"]
