"""A cell with more letters than a hosted page allows leaves out its row, whatever the file."""

from __future__ import annotations

import csv
import io
import json

import pyarrow
import pyarrow.parquet
import pytest

from lossprism.explorer.lab.doctor.texts_with_classes_reader import read_classes
from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources.pairs_from_tables import read_table
from lossprism.explorer.web.api import endpoint_functions
from tests.sentences import raises_problem

MOST = 100
LONG = "word " * MOST


def _csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(
        {k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows
    )
    return out.getvalue().encode()


def _json_lines(rows):
    return "\n".join(map(json.dumps, rows)).encode()


def _parquet(rows):
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


WRITERS = {"a.csv": _csv, "a.jsonl": _json_lines, "a.parquet": _parquet}
ROWS = {
    "first": lambda text: {"sentence1": text, "sentence2": "other", "score": 0.5},
    "second": lambda text: {"sentence1": "one", "sentence2": text, "score": 0.5},
    "negative": lambda text: {"anchor": "one", "positive": "two", "negative": text},
    "negatives": lambda text: {"anchor": "one", "positive": "two", "negative": ["a", text]},
    "candidate": lambda text: {"query": "one", "docs": ["a", text], "labels": [1, 0]},
}


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_SENTENCE_LETTERS", str(MOST))
    with as_visitor(new_key()):
        yield


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("place", ROWS)
def test_the_row_is_left_out_and_named(name, place, hosted):
    rows = [ROWS[place](text) for text in ("short", LONG, "x" * MOST)]
    table = read_table(WRITERS[name](rows), name)
    assert (table.total, table.left_out) == (3, 1)
    (skipped,) = table.skipped
    assert (skipped.row, skipped.problem.key) == (2, "problem.sentence_too_long")
    assert LONG.strip() not in {*table.pairs.first, *table.pairs.second}
    large = read_pairs(WRITERS[name](rows), name, None, None, lambda *_: None)
    assert large.skipped[0] == 1


@pytest.mark.parametrize("name", WRITERS)
def test_at_home_it_is_read(name, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_SENTENCE_LETTERS", str(MOST))
    table = read_table(WRITERS[name]([ROWS["first"](LONG)]), name)
    assert table.pairs.first == (LONG.strip(),)


def test_of_sentences_with_classes_too(hosted):
    rows = [
        {"text": text, "label": kind}
        for text, kind in (("a", "x"), (LONG, "x"), ("b", LONG), ("c", "y"))
    ]
    found = read_classes(_csv(rows), "a.csv", lambda *_: None)
    assert found.skipped == 2


def test_a_program_gets_the_problem_before_its_numbers_are_read(hosted):
    """The row would be left out, and its similarity would belong to no pair."""
    sentences = {"sentences1": ["a", LONG], "sentences2": ["b", "c"], "scores": [0, 1]}
    for call in (
        lambda: endpoint_functions.trace_loss("cosent", **sentences, similarities=[0.1, 0.2]),
        lambda: endpoint_functions.compare_losses(
            [{"loss": "cosent"}, {"loss": "info_nce"}], **sentences, similarities=[0.1, 0.2]
        ),
        lambda: endpoint_functions.compute_loss("cosent", **sentences),
    ):
        with raises_problem("sentence_too_long", most=MOST):
            call()
