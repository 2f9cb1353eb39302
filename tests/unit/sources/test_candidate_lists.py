"""A text with a list of candidates, and a list of labels beside it: lists as listwise losses of
sentence-transformers take them."""

from __future__ import annotations

import json
import math

import pytest

from lossprism.explorer.sources.pairs_from_tables import read_table
from tests.unit.sources.test_pairs_without_labels import as_file, delimited

ROWS = [
    ("how tall", ["8848 m", "very tall", "ten"], [3, 1, 0]),
    ("how old", ["ten", "old"], [1.5, 0]),
]
PAIRS = [
    ("how tall", "8848 m", 3),
    ("how tall", "very tall", 1),
    ("how tall", "ten", 0),
    ("how old", "ten", 1.5),
    ("how old", "old", 0),
]


def pairs_of(table):
    found = table.pairs
    return list(zip(found.first, found.second, found.labels, strict=True))


@pytest.mark.parametrize("names", [("query", "docs", "labels"), ("query", "documents", "scores")])
@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
def test_each_candidate_is_a_pair(kind, names):
    table = read_table(as_file(ROWS, names, kind), f"x.{kind}")
    assert pairs_of(table) == PAIRS
    assert (table.pairs.labelled, table.total, table.left_out) == (True, 2, 0)


def test_lists_that_are_written_in_cells():
    written = [(query, json.dumps(texts), json.dumps(labels)) for query, texts, labels in ROWS]
    content = delimited(written, ("query", "docs", "labels"))
    assert pairs_of(read_table(content, "x.csv")) == PAIRS
    # A sentence in brackets beside a label, or without any, is a sentence.
    lines = [("what", "[1, 2]", "0.5"), ("who", "[she]", "1")]
    found = pairs_of(read_table(delimited(lines, ("query", "docs", "labels")), "x.csv"))
    assert found == [("what", "[1, 2]", 0.5), ("who", "[she]", 1)]


def test_columns_of_other_names_are_chosen():
    content = as_file(ROWS, ("ask", "found", "good"), "parquet")
    chosen = {"first": "ask", "second": "found", "score": "good"}
    assert pairs_of(read_table(content, "x.parquet", columns=chosen)) == PAIRS


def test_without_labels_all_are_positives():
    rows = [(query, texts) for query, texts, _ in ROWS]
    table = read_table(as_file(rows, ("query", "documents"), "parquet"), "x.parquet")
    assert pairs_of(table) == [(query, text, 1) for query, text, _ in PAIRS]
    assert not table.pairs.labelled


def test_a_teacher_scores_each_candidate():
    rows = [(*row, [0.5 * label for label in row[2]]) for row in ROWS]
    table = read_table(as_file(rows, ("query", "docs", "labels", "teacher"), "jsonl"), "x.jsonl")
    assert table.pairs.teacher == tuple(0.5 * label for *_, label in PAIRS)


@pytest.mark.parametrize(
    "name",
    [
        "teacher",
        "ce_score",
        "Reranker Score",
        "rerank_score",
        "teacher-logits",
        "CrossEncoder_scores",
    ],
)
def test_a_teachers_column_is_known_by_its_name_and_may_have_gaps(name):
    rows = [(*pair, score) for pair, score in zip(PAIRS[:3], (2.5, None, -1.0), strict=True)]
    for kind in ("csv", "tsv", "jsonl", "parquet"):
        content = as_file(rows, ("query", "passage", "score", name), kind)
        table = read_table(content, f"x.{kind}")
        assert table.chosen["teacher"] == name
        assert table.chosen["score"] == "score"
        assert pairs_of(table) == PAIRS[:3]
        assert table.pairs.teacher == pytest.approx((2.5, math.nan, -1.0), nan_ok=True)


def test_a_list_that_does_not_fit_is_reported_with_its_row():
    rows = [*ROWS, ("how far", ["near", "far"], [1]), ("how far", ["near", "far"], 1)]
    table = read_table(as_file(rows, ("query", "docs", "labels"), "jsonl"), "x.jsonl")
    assert pairs_of(table) == PAIRS
    assert [one.row for one in table.skipped] == [3, 4]
    counted = {"column": "docs", "count": 2, "other": "labels", "values": 1}
    assert table.skipped[0].problem.key == "problem.candidates_values"
    assert table.skipped[0].problem.values == counted
    content = as_file([*ROWS, ("a", [{"b": 1}], [1])], ("query", "docs", "labels"), "json")
    (skipped,) = read_table(content, "x.json").skipped
    assert skipped.problem.key == "problem.sentence_not_text"
