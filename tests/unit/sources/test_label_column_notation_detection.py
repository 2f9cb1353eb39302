"""How labels are written: each way means the same in every kind of file, and two ways ask."""

from __future__ import annotations

import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.label_words_to_scores import TWO_WAY_INFERENCE, YES_NO
from lossprism.explorer.sources.pairs_from_tables import Table, from_rows, read_table
from tests.unit.sources.test_pairs_without_labels import as_file

NAMES = ("sentence1", "sentence2", "label")
INFERENCE_NAMES = ("premise", "hypothesis", "label")
KINDS = ("csv", "tsv", "json", "jsonl", "parquet")
# Ways of writing a positive and a negative label.
BINARY = [
    ("true", "false"),
    ("True", "False"),
    ("TRUE", "FALSE"),
    ("t", "f"),
    ("T", "F"),
    ("yes", "no"),
    ("Yes", "NO"),
    ("y", "n"),
    ("Y", "N"),
    ("是", "否"),
    ("相似", "不相似"),
    ("相关", "不相关"),
    ("relevant", "not_relevant"),
    ("entailment", "not_entailment"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("正例", "负例"),
    ("paraphrase", "non-paraphrase"),
    ("1", "0"),
    ("１", "０"),  # of full width
    ("1.0", "0.0"),
]


def read(labels, kind="csv", names=NAMES) -> Table:
    rows = [(f"first {n}", f"second {n}", label) for n, label in enumerate(labels)]
    return read_table(as_file(rows, names, kind), f"x.{kind}")


def refused(labels, kind="csv", names=NAMES) -> str:
    with pytest.raises(Problem) as caught:
        read(labels, kind, names)
    return problem_name(caught.value)


def problem_name(problem: Problem) -> str:
    return problem.key.removeprefix("problem.")


@pytest.mark.parametrize("names", [NAMES, INFERENCE_NAMES, ("question", "answer", "相似度")])
@pytest.mark.parametrize("kind", KINDS)
def test_positive_and_negative_are_1_and_0_in_every_file(kind, names):
    # Beside premise and hypothesis numbers may be kinds of inference: see below.
    ways = BINARY if names != INFERENCE_NAMES else [one for one in BINARY if one[0][0] not in "1１"]
    tables = {
        (positive, negative): read([positive, negative, positive, positive], kind, names)
        for positive, negative in ways
    }
    wrong = [
        (way, table.pairs.labels, table.inference, table.left_out)
        for way, table in tables.items()
        if (table.pairs.labels, table.inference, table.left_out) != ((1, 0, 1, 1), False, 0)
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
@pytest.mark.parametrize("names", [NAMES, INFERENCE_NAMES])
def test_booleans_are_1_and_0(kind, names):
    table = read([True, False, True, True], kind, names)
    assert (table.pairs.labels, table.inference) == ((1, 0, 1, 1), False)


WORDS_OF_INFERENCE = [
    ("entailment", "neutral", "contradiction"),
    ("entailment", "neutral", "contradictory"),
    ("蕴含", "中立", "矛盾"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", WORDS_OF_INFERENCE)
def test_words_of_inference_are_kinds_in_every_file(words, kind):
    table = read([*words, "-"], kind)
    assert (table.pairs.labels, table.inference) == ((1, 0.5, 0), True)
    assert [problem_name(row.problem) for row in table.skipped] == ["inference_label"]


@pytest.mark.parametrize("names", [NAMES, INFERENCE_NAMES, ("context", "hypothesis", "label")])
@pytest.mark.parametrize("labels", ["enc", "ENC", "en", "nc", "c"])
def test_letters_of_inference_are_kinds(labels, names):
    """ANLI writes e, n and c; n alone is a no."""
    table = read(labels, names=names)
    known = {"e": 1, "n": 0.5, "c": 0}
    assert table.pairs.labels == tuple(known[label.lower()] for label in labels)
    assert table.inference
    assert not read(["y", "n", "n"]).inference


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (("good", "bad", "good", "bad"), ("good", "bad")),
        (("yes", "yes", "nope", "nope"), ("nope",)),
        (("entailment", "neutral", "unrelated", "unrelated"), ("unrelated",)),
        (("1", "1", "1", "other", "other"), ("other",)),
        (("E", "S", "C", "I") * 2, ("s", "i")),
        (("SUPPORTS", "REFUTES", "SUPPORTS", "NOT ENOUGH INFO"), ("supports", "not enough info")),
    ],
)
def test_an_unknown_word_for_a_class_of_pairs_needs_an_answer(labels, shown, kind):
    """Its rows are not left out: that would leave the others alone, which are all of one kind."""
    with pytest.raises(Problem) as caught:
        read(labels, kind)
    assert problem_name(caught.value) == "labels_unknown"
    assert all(f"“{word}”" in str(caught.value) for word in shown)


def test_what_stands_for_no_label_is_no_class():
    for absent in ("unknown", "n/a", "-", "?", "无"):
        assert read(["yes", "no", absent, "yes", absent, "no"]).pairs.labels == (1, 0, 1, 0)
    table = read(["4.5", "bad", "3", "bad", "1"])  # beside degrees a word is no class
    assert table.pairs.labels == (4.5, 3, 1)


def test_a_column_of_one_label_is_read_as_that():
    for word, label in {**YES_NO, **TWO_WAY_INFERENCE}.items():
        assert read([word] * 3).pairs.labels == (label,) * 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "labels",
    [
        ("yes", "no", "entailment", "neutral"),
        ("true", "neutral", "false", "contradiction"),
        ("yes", "no", "3", "5"),
        ("是", "否", "0.5", "0.7"),
        ("entailment", "1", "neutral", "0", "contradiction"),  # 1: neutral, or a positive?
        ("entailment", "0.3", "neutral", "0.9"),
    ],
)
def test_labels_written_in_two_ways_ask(labels, kind):
    assert refused(labels, kind) == "labels_mixed"


@pytest.mark.parametrize("numbers", [("0", "1"), ("0", "2"), ("1", "2"), ("0",), ("1",)])
@pytest.mark.parametrize("kind", KINDS)
def test_some_numbers_beside_premise_and_hypothesis_ask(numbers, kind):
    assert refused(numbers * 3, kind, INFERENCE_NAMES) == "labels_some_kinds"


def test_a_single_label_in_another_way_costs_its_row_alone():
    table = read([*["yes", "no"] * 10, "neutral"])
    assert len(table.pairs) == 20
    assert [problem_name(row.problem) for row in table.skipped] == ["label_written_otherwise"]
    table = read([*["4.5", "3"] * 10, "true"])
    assert len(table.pairs) == 20
    assert [problem_name(row.problem) for row in table.skipped] == ["label_written_otherwise"]


def test_yes_and_no_may_stand_beside_1_and_0():
    assert read(["yes", "no", "1", "0"]).pairs.labels == (1, 0, 1, 0)
    assert read(["1", "0", "1", "0", "yes"]).pairs.labels == (1, 0, 1, 0, 1)


def test_labels_of_candidates_are_read_as_those_of_pairs():
    rows = [("q", ["a", "b", "c"], ["yes", "no", "no"]), ("r", ["d", "e"], ["no", "yes"])]
    for kind in ("json", "parquet"):
        table = read_table(as_file(rows, ("query", "docs", "labels"), kind), f"x.{kind}")
        assert table.pairs.labels == (1, 0, 0, 0, 1)


def test_a_typed_table_reads_the_same_words():
    table = from_rows([("a", "b", "是"), ("c", "d", "否"), ("e", "f", "是")])
    assert table.pairs.labels == (1, 0, 1)


def test_a_column_of_answers_is_no_column_of_labels():
    """Single letters are labels where a column is called so, and texts elsewhere."""
    rows = [("what", "a", "n"), ("which", "b", "y"), ("who", "c", "t")]
    table = read_table(as_file(rows, ("anchor", "positive", "negative"), "csv"), "x.csv")
    assert set(table.chosen) == {"anchor", "positive", "negative"}
