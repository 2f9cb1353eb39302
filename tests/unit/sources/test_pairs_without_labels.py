"""Pairs without labels, as files and tables hold them."""

from __future__ import annotations

import csv
import io
import json
import random

import pyarrow
import pyarrow.parquet
import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.column_roles import NO_SCORE
from lossprism.explorer.sources.pairs import Pairs, corrected
from lossprism.explorer.sources.pairs_from_tables import from_rows, read_table

ROWS = [
    ("How do I reset my password?", "Open the settings and choose “Reset”."),
    ("Where is my parcel?", "The tracking page shows it, once it has left."),
    ("Can I pay by card?", "Yes, by all the usual cards."),
]


def delimited(rows, header, separator=","):
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows([header, *rows] if header else rows)
    return out.getvalue().encode()


def as_file(rows, names, kind):
    if kind in ("csv", "tsv"):
        return delimited(rows, names, "," if kind == "csv" else "\t")
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    if kind == "json":
        return json.dumps(objects, ensure_ascii=False).encode()
    if kind == "jsonl":
        return "\n".join(json.dumps(one) for one in objects).encode()
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(objects), out)
    return out.getvalue()


def problem_of(content, **options):
    with pytest.raises(Problem) as raised:
        read_table(content, "x.csv", **options)
    return raised.value


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "names",
    [
        ("question", "answer"),
        ("query", "document"),
        ("anchor", "positive"),
        ("Sentence1", "Sentence2"),
        ("问题", "答案"),
        ("prompt", "completion"),
        ("asked by a visitor", "what we said"),
    ],
)
def test_two_columns_of_sentences_are_positives(kind, names):
    table = read_table(as_file(ROWS, names, kind), f"x.{kind}", header=True)
    assert (table.pairs.first, table.pairs.second) == tuple(zip(*ROWS, strict=True))
    assert set(table.pairs.labels) == {1.0}
    assert not table.pairs.labelled
    assert table.chosen == {"first": names[0], "second": names[1], "score": NO_SCORE}
    assert not table.skipped


WORDS = ("a", "word", "gives", "another,", "she", "“said”", '"so"', "…")


def drawn(draw):
    """Rows of two sentences and a score."""

    def sentence():
        return " ".join(draw.choices(WORDS, k=draw.randint(2, 6)))

    count = draw.randint(1, 12)
    return [(sentence(), sentence(), round(draw.uniform(-5, 5), 3)) for _ in range(count)]


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_what_is_written_is_read_back_with_its_scores_or_without(scored, kind):
    for seed in range(8):
        rows = drawn(random.Random(seed))
        names = ("sentence1", "sentence2", "score")
        if not scored:
            rows, names = [row[:2] for row in rows], names[:2]
        pairs = read_table(as_file(rows, names, kind), f"x.{kind}", header=True).pairs
        assert pairs.labelled == scored
        expected = [row if scored else (*row, 1.0) for row in rows]
        assert list(zip(pairs.first, pairs.second, pairs.labels, strict=True)) == expected
        assert from_rows(pairs.rows).pairs.labels == pairs.labels
        assert from_rows(pairs.rows).pairs.labelled == scored


def test_a_score_column_that_nobody_filled_in_is_none():
    rows = [(*row, "") for row in ROWS]
    table = read_table(delimited(rows, ("question", "answer", "score")), "x.csv")
    assert (table.pairs.labelled, table.pairs.labels) == (False, (1.0, 1.0, 1.0))
    rows[0] = (*ROWS[0], "1")
    table = read_table(delimited(rows, ("question", "answer", "score")), "x.csv")
    assert (table.pairs.labelled, table.pairs.labels) == (True, (1.0,))
    assert [(s.row, s.problem.key) for s in table.skipped] == [
        (2, "problem.score_missing"),
        (3, "problem.score_missing"),
    ]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("verdict", ["good", "bad", "good"] * 4),
        ("kinds", [[1, 2], [3], [4]]),
    ],
)
def test_a_column_that_may_be_a_score_needs_an_answer(name, values):
    rows = [(*ROWS[place % 3], value) for place, value in enumerate(values)]
    content = as_file(rows, ("question", "answer", name), "json")
    with pytest.raises(Problem) as raised:
        read_table(content, "x.json")
    found = raised.value
    assert (found.key, found.about) == ("problem.columns_not_recognised", "columns")
    assert name in str(found)
    assert NO_SCORE in str(found)
    table = read_table(content, "x.json", columns={"score": NO_SCORE})
    assert len(table.pairs) == len(rows)
    assert not table.pairs.labelled


@pytest.mark.parametrize("name", ["id", "query_id", "Unnamed: 0", "编号"])
def test_a_column_that_counts_rows_is_no_score_and_named(name):
    rows = [(*row, place) for place, row in enumerate(ROWS)]
    table = read_table(as_file(rows, ("question", "answer", name), "json"), "x.json")
    assert (table.pairs.labelled, table.unread) == (False, (name,))


def test_one_column_of_numbers_is_the_score_as_ever():
    rows = [(*row, score) for row, score in zip(ROWS, (3, 1, 2), strict=True)]
    table = read_table(delimited(rows, ("question", "answer", "how_close")), "x.csv")
    assert (table.pairs.labelled, table.pairs.labels) == (True, (3.0, 1.0, 2.0))


def test_a_score_may_be_passed_over():
    rows = [(*row, 0.5) for row in ROWS]
    content = delimited(rows, ("question", "answer", "score"))
    assert read_table(content, "x.csv").pairs.labelled
    assert not read_table(content, "x.csv", columns={"score": NO_SCORE}).pairs.labelled


def test_other_columns_of_text_are_no_scores():
    rows = [(*row, f"https://example.org/{place}") for place, row in enumerate(ROWS)]
    table = read_table(delimited(rows, ("question", "answer", "url")), "x.csv")
    assert not table.pairs.labelled
    table = read_table(delimited(rows, ("here", "there", "url")), "x.csv")
    assert (table.chosen["second"], table.unread) == ("there", ("url",))


def test_a_header_above_longer_sentences_is_one():
    rows = [*ROWS, ROWS[0], ROWS[1]]
    table = read_table(delimited(rows, ("Frage", "Antwort")), "x.csv")
    assert (table.header, len(table.pairs)) == (True, 5)
    table = read_table(delimited(rows, None), "x.csv")
    assert (table.header, len(table.pairs)) == (False, 5)


def test_sentences_with_commas_between_tabs():
    text = "\n".join(f"{first}, please\t{second}, or not" for first, second in ROWS)
    table = read_table(text.encode(), "pasted.txt")
    assert len(table.pairs) == 3
    assert not table.pairs.labelled


# Negatives


def labelled(pairs):
    return list(zip(pairs.first, pairs.second, pairs.labels, strict=True))


EXPECTED = [("q", "yes", 1.0), ("q", "no", 0.0), ("q", "never", 0.0)]


@pytest.mark.parametrize(
    "row",
    [
        {"anchor": "q", "positive": "yes", "negative_1": "no", "negative_2": "never"},
        {"anchor": "q", "positive": "yes", "negatives": ["no", "never"]},
        {"query": "q", "pos": ["yes"], "neg": ["no", "never"]},
        {"anchor": "q", "positive": "yes", "negatives": '["no", "never"]'},
        {"query": "q", "positive": "yes", "hard_negative1": "no", "hard_negative2": "never"},
        {
            "anchor": "q",
            "positive": "yes",
            "negative": "no",
            "negative_2": "",
            "negative_3": "never",
        },
    ],
)
def test_each_negative_is_a_pair_of_label_0(row):
    table = read_table(json.dumps([row, row]).encode(), "x.json")
    assert labelled(table.pairs) == EXPECTED * 2
    assert table.pairs.labelled


def test_no_row_is_cut_between_its_negatives():
    row = {"anchor": "q", "positive": "yes", "negatives": ["no", "never"]}
    table = read_table(json.dumps([row] * 5).encode(), "x.json", most=7)
    assert (len(table.pairs), table.limited) == (6, True)


def test_a_row_without_a_negative_is_named():
    rows = [("q", "yes", "", ""), ("q", "yes", "no", "")]
    names = ("anchor", "positive", "negative_1", "negative_2")
    table = read_table(delimited(rows, names), "x.csv")
    assert labelled(table.pairs) == EXPECTED[:2]
    assert [(s.row, s.problem.values["column"]) for s in table.skipped] == [(1, "negative_1")]


# The typed table


def test_typed_rows_without_any_score_are_positives():
    table = from_rows([("a", "b", ""), ("", "", ""), ("c", "d"), ("e", "", "")])
    assert (table.pairs.labels, table.pairs.labelled) == ((1.0, 1.0), False)
    assert [(s.row, s.problem.key) for s in table.skipped] == [(4, "problem.sentence_missing")]


def test_one_typed_score_is_required_of_all():
    table = from_rows([("a", "b", "0.5"), ("c", "d", "")])
    assert (table.pairs.labels, table.pairs.labelled) == ((0.5,), True)
    assert [(s.row, s.problem.key) for s in table.skipped] == [(2, "problem.score_missing")]


def test_a_corrected_label_is_a_label():
    pairs = Pairs(("a", "c"), ("b", "d"), (1.0, 1.0), labelled=False)
    assert not corrected(pairs, [("a", "b", "")]).labelled
    found = corrected(pairs, [("a", "b", "0")])
    assert (found.labelled, found.labels) == (True, (0.0, 1.0))
    assert found.rows == (("a", "b", "0"), ("c", "d", "1"))
