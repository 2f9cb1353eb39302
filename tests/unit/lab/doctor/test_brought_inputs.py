"""Inputs in the forms in which people bring them, each with the answer that an expert gives.

`tests/data/brought_inputs.json` has them by kind: numbers with what the text says beside them,
texts without a number, tables of pairs and of classes, tables that are refused and why, and runs.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from lossprism.explorer.lab.doctor.dataset_reader import Read, read_table
from lossprism.explorer.lab.doctor.logs.run_reader import log_reader
from lossprism.explorer.lab.doctor.pasted_input import read_pasted, read_typed
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.runtime.problem import Problem

DATA = Path(__file__).parents[3] / "data" / "brought_inputs.json"
BROUGHT = json.loads(DATA.read_text("utf-8"))
RUN = [4.0, 3.7, 3.4, 3.1]  # the values of the loss in each of the runs


def brought(kind: str):
    return pytest.mark.parametrize("one", BROUGHT[kind], ids=lambda one: one.get("name", ""))


def content(one: dict) -> bytes:
    return one["content"].encode(one.get("encoding", "utf-8"))


def table_of(one: dict) -> Read | ClassTable:
    table = read_table(content(one), one["name"], lambda *_: None)
    assert isinstance(table, Read | ClassTable)
    return table


@brought("numbers")
def test_the_loss_is_read_and_what_stands_beside_it(one):
    for read in (read_pasted(one["text"].encode()), read_typed(one["text"])):
        assert (read.kind, [*read.numbers]) == ("numbers", one["numbers"])
        assert read.known.provided == one["known"]


@pytest.mark.parametrize("text", BROUGHT["without a number"])
def test_no_number_is_read_where_there_is_none(text):
    assert read_typed(text).numbers == ()
    with pytest.raises(Problem) as caught:
        read_pasted(text.encode())
    assert caught.value.key in ("problem.pasted_unknown", "problem.pasted_no_value")


@brought("pairs")
def test_pairs_have_their_columns_and_labels(one):
    file = table_of(one).file
    assert file.chosen == one["roles"]
    assert [str(file.first[0]), str(file.second[0])] == one["first"]
    assert (file.labels.tolist() if file.labelled else None) == one["labels"]
    assert log_reader(one["name"], content(one)) is None


@brought("classes")
def test_classes_have_their_columns_and_names(one):
    table = table_of(one)
    assert isinstance(table, ClassTable)
    assert ([*table.columns.values()], [*table.names]) == (one["columns"], one["classes"])


@brought("refused tables")
def test_a_table_without_texts_or_labels_is_refused_and_nothing_else(one):
    with pytest.raises(Problem) as caught:
        table_of(one)
    assert caught.value.key == f"problem.{one['problem']}"
    with contextlib.suppress(Problem):
        assert read_pasted(content(one)).kind == "table"


@brought("runs")
def test_a_run_has_its_loss_and_steps(one):
    log = read_pasted(content(one)).log
    assert log is not None
    curve = log.curve(log.trained)
    assert curve.values.tolist() == pytest.approx(RUN)
    assert curve.steps.tolist() == one.get("steps", curve.steps.tolist())


@brought("no runs")
def test_what_logs_no_loss_is_no_run(one):
    assert log_reader(one["name"], content(one)) is None
