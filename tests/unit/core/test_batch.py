"""One batch serves every loss, by rules that say what they did."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest
import torch

from lossprism.explorer.core.batch import batch_of_scores, load_table, make_batch
from lossprism.explorer.core.scenario import Data, Rules
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs, corrected
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses.geometry import cosine
from lossprism.losses.inputs_that_losses_may_read import READABLE
from tests.added_encoder import MadeEncoder, added
from tests.scenes import data_for
from tests.sentences import raises_problem

ENGLISH = Data(example="graded_english")
GRADED_LISTS = Data(example="graded_lists")


def read(batch, what):
    return batch.read(what, batch.vectors, batch.scores)


def test_each_distinct_sentence_has_one_vector():
    batch = make_batch(Data(example="worked_example"), Rules())
    assert batch.pairs.sentences == ("u₁", "u₂", "u₃", "u₄")
    assert batch.vectors.shape == (4, 3)
    assert batch.first.tolist() == [0, 0, 1, 0]
    assert batch.second.tolist() == [1, 2, 2, 3]


def test_the_worked_example_has_its_true_cosines():
    scores = make_batch(Data(example="worked_example"), Rules()).scores
    expected = [0.8165, 0.5774, 0.0, 0.9855]
    np.testing.assert_allclose(scores.numpy(), expected, atol=1e-3)


def test_given_scores_stay_exactly_as_given():
    batch = make_batch(Data(example="cosent_batch"), Rules())
    assert batch.scores.tolist() == [0.1, 0.2, 0.8, 0.9]


def test_given_scores_get_vectors_whose_cosines_they_are():
    batch = make_batch(Data(example="cosent_batch"), Rules())
    assert batch.orthogonal
    built = cosine(batch.vectors[batch.first], batch.vectors[batch.second])
    torch.testing.assert_close(built, batch.scores, rtol=1e-12, atol=1e-12)
    across = batch.vectors[batch.first] @ batch.vectors[batch.second].T
    assert (across - across.diag().diag()).abs().max() == 0


def test_positive_from_the_middle_of_the_scale_on():
    batch = make_batch(ENGLISH, Rules())
    assert (batch.threshold, batch.label_range) == (2.5, (0, 5))
    assert torch.equal(batch.positive, batch.labels >= batch.threshold)
    graded = make_batch_of(graded_rows())
    assert (graded.threshold, graded.label_range) == (3, (1, 5))
    assert graded.positive.tolist() == [False, False, True, True, True]
    moved = make_batch_of(graded_rows(), Rules(label_range=(0.0, 5.0)))
    assert (moved.threshold, moved.label_range) == (2.5, (0, 5))
    chosen = make_batch_of(graded_rows(), Rules(threshold=4.0, label_range=(0.0, 5.0)))
    assert (chosen.threshold, chosen.label_range) == (4, (0, 5))


def graded_rows():
    return tuple((f"a {label}", f"b {label}", str(label)) for label in range(1, 6))


def test_the_scale_of_a_batch_is_that_of_the_data_it_was_drawn_from():
    """Eight pairs of six grades reach neither end."""
    settings = RandomBatch(pairs=8, grades=6, imbalance=0.9)
    for seed in range(20):
        drawn = dataclasses.replace(settings, seed=seed)
        batch = make_batch(Data(source="random", random=drawn), Rules())
        assert (batch.threshold, batch.label_range) == (2.5, (0, 5))
    some = Pairs(("a", "c"), ("b", "d"), (1.0, 2.0), (0.1, 0.2), label_range=(1.0, 5.0))
    assert batch_of_scores(some, Rules()).threshold == 3
    assert batch_of_scores(corrected(some, [("a", "b", "4")]), Rules()).threshold == 3
    assert batch_of_scores(some, Rules(label_range=(0.0, 2.0))).threshold == 1


def test_a_threshold_of_ones_own():
    batch = make_batch(ENGLISH, Rules(threshold=4.0))
    assert len(batch.positives) == int((batch.labels >= 4).sum())
    assert read(batch, "queries").shape[0] == len(batch.positives)


def test_a_threshold_above_every_score_leaves_no_positive():
    batch = make_batch(ENGLISH, Rules(threshold=9.0))
    with pytest.raises(Problem, match="threshold 9"):
        read(batch, "queries")


def test_the_other_pairs_second_sentences_are_extra_negatives():
    batch = make_batch(ENGLISH, Rules())
    negatives = read(batch, "negatives")
    expected = batch.vectors[batch.second[~batch.positive]]
    assert torch.equal(negatives, expected)
    assert read(make_batch(ENGLISH, Rules(extra_negatives=False)), "negatives") is None


def test_classes_are_the_connected_components_of_the_positive_pairs():
    rows = (("a", "b", "1"), ("b", "c", "1"), ("d", "e", "0"), ("e", "f", "1"))
    vectors = {"a": 0, "b": 0, "c": 0, "d": 1, "e": 2, "f": 2}
    batch = make_batch_of(rows)
    classes = dict(zip(batch.pairs.sentences, batch.classes.tolist(), strict=True))
    assert classes == vectors


def make_batch_of(rows, rules=None):
    """A batch of typed rows with vectors made up on the spot, so that no encoder is loaded."""

    def vectors(sentences):
        rng = np.random.RandomState(0)
        return rng.standard_normal((len(sentences), 8)).astype(np.float32)

    with added(MadeEncoder("made", "made", vectors=vectors)):
        return make_batch(Data(source="table", rows=rows, encoder="made"), rules or Rules())


def test_prototypes_are_class_means_without_gradient():
    batch = make_batch(ENGLISH, Rules())
    vectors = batch.vectors.clone().requires_grad_()
    prototypes = batch.read("prototypes", vectors, batch.scores)
    assert not prototypes.requires_grad
    for number in range(int(batch.classes.max()) + 1):
        mean = batch.vectors[batch.classes == number].mean(dim=0)
        torch.testing.assert_close(prototypes[number], mean, rtol=1e-10, atol=1e-12)


def test_prototypes_may_be_given():
    rows = (("a", "b", "1"), ("c", "d", "0"))
    text = "\n".join(" ".join(str(c + d) for d in range(8)) for c in range(3))
    batch = make_batch_of(rows, Rules(prototypes=text))
    assert read(batch, "prototypes")[2, 1] == 3
    wrong = make_batch_of(rows, Rules(prototypes="1 2 3"))
    with pytest.raises(Problem, match="3 rows of 8"):
        read(wrong, "prototypes")
    words = make_batch_of(rows, Rules(prototypes="one two\n" * 3))
    with raises_problem("prototypes_numbers"):
        read(words, "prototypes")


@pytest.mark.parametrize("text", ["1 2\n" * 10**6, "1 " * 10**6, "a" * 10**6])
def test_prototypes_are_not_read_beyond_their_shape(text):
    wrong = make_batch_of((("a", "b", "1"), ("c", "d", "0")), Rules(prototypes=text))
    began = time.process_time()
    with pytest.raises(Problem) as raised:
        read(wrong, "prototypes")
    assert time.process_time() - began < 0.5
    assert len(str(raised.value)) < 500


def test_regression_targets_reach_from_end_to_end():
    for what in ("unit_labels", "cosine_labels"):
        assert read(make_batch_of(graded_rows()), what).tolist() == [0, 0.25, 0.5, 0.75, 1]
        wider = make_batch_of(graded_rows(), Rules(label_range=(0.0, 10.0)))
        torch.testing.assert_close(read(wider, what), torch.arange(1, 6).to(wider.labels) / 10)
        narrow = make_batch_of(graded_rows(), Rules(label_range=(1.0, 4.0)))
        with raises_problem("labels_beyond", label=5, low=1, high=4):
            read(narrow, what)
        assert len(read(narrow, "binary_labels")) == 5  # asks for the threshold alone
    cosines = make_batch_of((("a", "b", "-0.5"), ("c", "d", "0.8")))
    assert read(cosines, "cosine_labels").tolist() == [-0.5, 0.8]
    assert read(cosines, "unit_labels").tolist() == [0.25, 0.9]


def test_an_odd_width_gets_a_zero_for_angle_and_keeps_its_cosines():
    batch = make_batch(Data(example="worked_example"), Rules())
    first, second = read(batch, "first"), read(batch, "second")
    assert first.shape == (4, 4)
    torch.testing.assert_close(cosine(first, second), batch.scores)


def test_every_axis_knows_its_pairs_and_sentences():
    batch = make_batch(ENGLISH, Rules())
    pairs, sentences = batch.axis("key", len(batch))
    for pair, sentence in zip(pairs.tolist(), sentences.tolist(), strict=True):
        assert batch.pairs.sentences[sentence] == batch.pairs.second[pair]
    pairs, sentences = batch.axis("query", len(batch.positives))
    for pair, sentence in zip(pairs.tolist(), sentences.tolist(), strict=True):
        assert batch.pairs.sentences[sentence] == batch.pairs.first[pair]
        assert batch.positive[pair]
    pairs, sentences = batch.axis("sentence", len(batch.classes))
    for pair, sentence in zip(pairs.tolist(), sentences.tolist(), strict=True):
        assert sentence in (batch.first[pair], batch.second[pair])
    assert batch.axis("pair", 7) is None


def test_an_empty_table_is_a_problem():
    with raises_problem("no_pairs"):
        make_batch(Data(source="table", rows=(("", "", ""),)), Rules())


def test_the_same_choice_is_made_once():
    data = Data(source="random", random=RandomBatch(pairs=8))
    assert make_batch(data, Rules()) is make_batch(dataclasses.replace(data), Rules())


def test_an_unknown_example_is_named():
    with pytest.raises(Problem, match="graded_english"):
        make_batch(Data(example="nowhere"), Rules())


def test_more_triplets_than_a_matrix_holds_are_refused_with_their_number():
    rows = tuple(("hub", f"spoke {i}", "1") for i in range(200))
    batch = make_batch_of(rows)
    assert len(batch.classes.unique()) == 1
    with pytest.raises(Problem, match="8\u202f080\u202f200 triplets"):
        read(batch, "paired_classes")
    assert len(read(batch, "classes")) == 201


def test_rows_beyond_what_a_matrix_shows_are_left_out_and_that_is_known():
    rows = tuple((f"a {i}", f"b {i}", "1") for i in range(600))
    assert load_table(rows).limited
    assert len(make_batch_of(rows)) == EXPLORED_PAIRS


def test_every_name_of_the_one_table_can_be_read():
    english, lists = (
        make_batch(data, Rules(twins="leave_out")) for data in (ENGLISH, GRADED_LISTS)
    )
    taught = make_batch(data_for("embedding_mse", ENGLISH), Rules())
    for name, reading in READABLE.items():
        batch = lists if "lists" in reading.needs else english
        batch = taught if "teacher_vectors" in reading.needs else batch
        value = read(batch, name)
        if value is None:  # nobody's negatives are here
            assert reading.optional
            continue
        assert value.ndim == len(reading.axes), name
        if reading.made_of in ("vectors", "classes"):
            with pytest.raises(Problem, match="vectors"):
                batch.read(name, None, batch.scores)
        else:
            torch.testing.assert_close(batch.read(name, None, batch.scores), value)
