"""Marks at single pairs: duplicate texts, and known faults of an example."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.core.batch import batch_of_vectors, make_batch
from lossprism.explorer.core.duplicate_texts_in_batch import SharedText, same_texts
from lossprism.explorer.core.known_faults_of_shipped_examples import KnownFault, known_faults
from lossprism.explorer.core.scenario import Data, Rules
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.textbook import EXAMPLES, load_example

TYPED, TWINS = Data(source="table"), Data(example="twins")


def marked(rows, *, labelled=True):
    """The marks of these (first, second, label), labels from 0 to 1."""
    first, second, labels = zip(*rows, strict=True)
    pairs = Pairs(first, second, labels, label_range=(0.0, 1.0), labelled=labelled)
    batch = batch_of_vectors(pairs, np.eye(len(pairs.sentences)), Rules())
    return same_texts(batch, TYPED)


def of_example(data):
    batch = make_batch(data, Rules())
    return same_texts(batch, data), known_faults(batch.pairs, data)


def test_each_sentence_is_marked_with_the_first_other_pair_that_holds_its_text():
    found = marked([("a", "x", 1), ("b", " x", 1), ("c", "x ", 1), ("X", "a", 1), ("d", "y", 1)])
    assert found == [
        SharedText(0, "first", 3, "second"),
        SharedText(0, "second", 1, "second"),
        SharedText(1, "second", 0, "second"),
        SharedText(2, "second", 0, "second"),
        SharedText(3, "second", 0, "first"),
    ]


def test_texts_are_distinguished_as_everywhere():
    """By NFC and without blanks; by case they differ."""
    assert marked([("a", "caf\u00e9  au lait", 1), ("b", "cafe\u0301 au lait", 1)])
    assert not marked([("a", "Cafe", 1), ("b", "cafe", 1)])


def test_a_pair_is_no_other_pair_of_itself():
    assert not marked([("a", "a", 1), ("b", "c", 1)])


def test_a_query_that_asks_twice_is_marked_and_a_negative_of_its_own_is_not():
    rows = [("q", "a", 1), ("q", "b", 1), ("q", "c", 0), ("r", "d", 1), ("s", "e", 1)]
    assert marked(rows) == [SharedText(0, "first", 1, "first"), SharedText(1, "first", 0, "first")]


def test_pairs_without_labels_are_no_lists():
    assert len(marked([("q", "a", 1), ("q", "b", 1)], labelled=False)) == 2


@pytest.mark.parametrize("copies", [1, 2])
def test_of_lists_the_shared_query_is_not_marked_and_a_shared_candidate_is(copies):
    """Several candidates of a query are right in each list."""
    rows = [(q, f"{q}{k}", grade) for q in "pqr" for k, grade in enumerate((1, 0.7, 0.7, 0))]
    shared = [("s", "once more", 1), ("s", "s1", 0), ("t", "once more", 0.7), ("t", "t1", 0)]
    found = marked([*rows, *shared[: 2 * copies]])
    expected = [SharedText(12, "second", 14, "second"), SharedText(14, "second", 12, "second")]
    assert found == (expected if copies == 2 else [])


@pytest.mark.parametrize("name", ["graded_lists", "nli_triplets", "hard_negatives"])
def test_lists_of_the_textbook_have_no_mark(name):
    assert of_example(Data(example=name)) == ([], [])


@pytest.mark.parametrize("name", ["worked_example", "cosent_batch"])
def test_names_of_numbers_are_no_texts(name):
    assert of_example(Data(example=name)) == ([], [])


def test_marks_of_duplicates_are_the_duplicates_and_their_originals():
    texts, known = of_example(TWINS)
    assert {(one.pair, one.side, one.other) for one in texts} == {
        (0, "first", 2),
        (0, "second", 1),
        (1, "second", 0),
        (2, "first", 0),
        (3, "second", 5),
        (5, "second", 3),
        (8, "second", 9),
        (9, "second", 8),
    }
    assert known == [
        KnownFault(4, "hidden", 3),
        KnownFault(7, "hidden", 6),
        KnownFault(11, "hidden", 10),
        KnownFault(14, "mislabelled"),
    ]


def corrected(*made):
    """The twins with labels for the pairs at these places, "" to leave one out."""
    pairs = load_example("twins")
    return Data(
        example="twins", corrections=tuple((pairs.first[i], pairs.second[i], to) for i, to in made)
    )


def test_marks_stay_at_their_pairs_where_others_were_left_out():
    texts, known = of_example(corrected((0, ""), (5, "")))
    # The originals of 1, 2 and 3 are gone, and every pair has moved up.
    assert {(one.pair, one.other) for one in texts} == {(6, 7), (7, 6)}
    assert known == [
        KnownFault(3, "hidden", 2),
        KnownFault(5, "hidden", 4),
        KnownFault(9, "hidden", 8),
        KnownFault(12, "mislabelled"),
    ]


def test_what_was_put_right_is_not_marked_any_more():
    kinds = [one.kind for one in of_example(corrected((14, "1")))[1]]
    assert kinds == ["hidden"] * 3
    # Without the pair that it would also be right for, nothing is hidden in it.
    assert [one.pair for one in of_example(corrected((3, "")))[1]] == [6, 10, 13]
    assert of_example(corrected((14, "0")))[1][-1] == KnownFault(14, "mislabelled")


def test_the_same_sentences_typed_are_known_by_their_texts_alone():
    pairs = load_example("twins")
    typed = Data(source="table", rows=pairs.rows)
    assert known_faults(pairs, typed) == []
    assert len(same_texts(make_batch(TWINS, Rules()), typed)) == 8


@pytest.mark.parametrize("name", ["graded_english", "graded_chinese"])
def test_wrong_labels_of_graded_sets_are_marked(name):
    wrong = EXAMPLES[name].mislabelled
    assert of_example(Data(example=name)) == ([], [KnownFault(i, "mislabelled") for i in wrong])
