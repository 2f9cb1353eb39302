"""The examples say what they claim to say, and their embeddings belong to their sentences."""

from collections import Counter

import numpy as np
import pytest

from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.textbook import EXAMPLES, embed_examples, load_example

CHINESE = ("graded_chinese", "graded_chinese_multilingual")
MIXED = (
    *("graded_english", *CHINESE),
    *("nli_triplets", "hard_negatives", "hard_negatives_chinese"),
)
WITH_SENTENCES = (*MIXED, "graded_lists", "twins")


def cosines(pairs):
    unit = pairs.vectors / np.linalg.norm(pairs.vectors, axis=1, keepdims=True)
    first, second = pairs.positions
    return (unit[first] * unit[second]).sum(axis=1)


def spearman(a, b):
    def ranks(values):
        values = np.asarray(values)
        return (values[:, None] > values).sum(1) + (values[:, None] == values).sum(1) / 2

    return np.corrcoef(ranks(a), ranks(b))[0, 1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_loads_and_is_named_in_every_language(name):
    example, pairs = EXAMPLES[name], load_example(name)
    assert example.name == name
    assert len(set(pairs.labels)) > 1
    if pairs.vectors is not None:
        assert len(pairs.vectors) == len(pairs.sentences)
        assert pairs.vectors.dtype == np.float32
    for language in LANGUAGES:
        keys = [example.title, example.about, *([example.note] if example.note else [])]
        assert all(catalogue(language)[key] for key in keys)


def test_unknown_example_names_the_known_ones():
    with pytest.raises(Problem, match="graded_chinese"):
        load_example("nothing")


def test_cosent_batch_is_the_printed_one():
    pairs = load_example("cosent_batch")
    assert pairs.scores == (0.1, 0.2, 0.8, 0.9)
    assert pairs.labels == (0, 0, 1, 1)
    assert len(pairs.sentences) == 8


def test_worked_example_has_the_printed_cosines():
    pairs = load_example("worked_example")
    assert pairs.sentences == ("u₁", "u₂", "u₃", "u₄")
    first, second = pairs.positions
    dots = (pairs.vectors[first] * pairs.vectors[second]).sum(axis=1)
    printed = dict(zip(zip(pairs.first, pairs.second, strict=True), dots, strict=True))
    assert printed["u₁", "u₂"] == pytest.approx(0.816, abs=5e-4)
    assert printed["u₁", "u₃"] == pytest.approx(0.577, abs=5e-4)
    assert printed["u₂", "u₃"] == 0
    # S1 prints 0.816; the printed vectors give 0.577 · (0.5 + 0.5 + 0.707) = 0.985.
    assert printed["u₁", "u₄"] == pytest.approx(0.985, abs=5e-4)
    assert pairs.labels == (0.9, 0.2, 0.1, 0.5)


@pytest.mark.parametrize("name", WITH_SENTENCES)
def test_no_pair_stands_twice(name):
    pairs = load_example(name)
    assert len(set(zip(pairs.first, pairs.second, strict=True))) == len(pairs)


@pytest.mark.parametrize("name", MIXED)
def test_sets_have_24_pairs_in_mixed_order(name):
    pairs = load_example(name)
    assert len(pairs) == 24
    steps = np.diff(pairs.labels)
    assert (steps > 0).sum() >= 5
    assert (steps < 0).sum() >= 5


@pytest.mark.parametrize("name", ["graded_english", *CHINESE])
def test_graded_sets_use_the_scale_and_have_two_wrong_labels(name):
    labels = np.array(load_example(name).labels)
    assert (labels.min(), labels.max()) == (0, 5)
    assert len(set(labels)) >= 10
    assert len(EXAMPLES[name].mislabelled) == 2


def test_english_wrong_labels_stand_out_and_the_others_agree():
    pairs, wrong = load_example("graded_english"), list(EXAMPLES["graded_english"].mislabelled)
    cosine, labels = cosines(pairs), np.array(pairs.labels)
    distance = np.abs(cosine.argsort().argsort() - labels.argsort(kind="stable").argsort())
    assert set(np.argsort(distance)[-2:]) == set(wrong)
    right = np.delete(np.arange(24), wrong)
    assert spearman(cosine[right], labels[right]) > 0.8
    assert spearman(cosine, labels) < 0.65


def test_a_multilingual_encoder_orders_the_chinese_pairs_that_an_english_one_does_not():
    wrong = list(EXAMPLES["graded_chinese"].mislabelled)
    english, multilingual = (load_example(name) for name in CHINESE)
    assert english.rows == multilingual.rows
    labels = np.delete(english.labels, wrong)
    follows = [spearman(np.delete(cosines(one), wrong), labels) for one in (english, multilingual)]
    assert follows[0] < 0.5
    assert follows[1] > 0.75
    by_rank = cosines(multilingual).argsort().argsort()
    misplaced = np.abs(by_rank - np.argsort(np.argsort(multilingual.labels, kind="stable")))
    assert set(np.argsort(misplaced)[-2:]) == set(wrong)


@pytest.mark.parametrize("name", ["hard_negatives", "hard_negatives_chinese"])
def test_hard_negatives_are_hard_and_each_question_has_one_answer(name):
    pairs = load_example(name)
    labels = np.array(pairs.labels)
    for question in set(pairs.first):
        mine = [i for i, first in enumerate(pairs.first) if first == question]
        assert sorted(labels[mine]) == [0, 0, 1]
    cosine = cosines(pairs)
    assert cosine[labels == 0].max() > np.median(cosine[labels == 1])


def test_lists_have_four_to_six_graded_candidates_and_a_teacher():
    pairs = load_example("graded_lists")
    sizes = Counter(pairs.first)
    assert len(sizes) == 6
    assert set(sizes.values()) == {4, 5, 6}
    for query in sizes:
        mine = [i for i, first in enumerate(pairs.first) if first == query]
        assert len({pairs.labels[i] for i in mine}) >= 3
        assert max(mine, key=pairs.labels.__getitem__) == max(mine, key=pairs.teacher.__getitem__)
    agreement = spearman(np.array(pairs.teacher), np.array(pairs.labels))
    assert 0.85 < agreement < 1  # it is no copy of the labels


def test_hidden_positives_share_no_text_with_the_pair_that_they_are_right_for():
    pairs, example = load_example("twins"), EXAMPLES["twins"]
    texts = Counter((*pairs.first, *pairs.second))
    for place, other in example.hidden:
        assert pairs.labels[place] == pairs.labels[other] == 1
        assert texts[pairs.first[place]] == texts[pairs.second[place]] == 1
        assert pairs.first[place] != pairs.first[other]
    assert [place for place, _ in example.hidden] == [4, 7, 11]
    assert len(example.mislabelled) == 1


@pytest.mark.thorough
@pytest.mark.encoder
def test_shipped_embeddings_equal_a_fresh_encoding():
    fresh = embed_examples()
    embedded = [name for name in WITH_SENTENCES if not EXAMPLES[name].encoder]
    assert {name for name in fresh if "." not in name} == set(embedded)
    for name in embedded:
        np.testing.assert_allclose(load_example(name).vectors, fresh[name], atol=1e-5)
