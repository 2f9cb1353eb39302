"""Pairs are split without leaks, varied as asked for, and refused with a sentence."""

from __future__ import annotations

import json
import random

import pytest

from lossprism.explorer.lab.training import data
from lossprism.explorer.lab.training.data import Corpus, split
from lossprism.explorer.lab.training.data_augmentation import augmented, cut_off, reordered
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus, losses_for, refusal
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.trainer_rows import classes_of, sentences_of
from lossprism.explorer.locale import title_word
from lossprism.losses import LOSSES
from tests.sentences import pattern_of, raises_problem
from tests.unit.lab.training.conftest import corpus


def chained(count, joined=()):
    """Pairs with sentences of their own, but those in `joined` share their first with the next."""
    return [(f"a{i - (i in joined)}", f"b{i}", float(i % 3)) for i in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_no_sentence_stands_on_both_sides(seed):
    pairs = chained(100, joined=set(range(1, 60, 2)))
    train, held_out = split(pairs, 0.2, seed)
    assert not sentences_of(train) & sentences_of(held_out)
    assert sorted([*train, *held_out]) == sorted(pairs)
    assert 15 <= len(held_out) <= 20


def test_pairs_that_all_hang_together_cannot_be_split():
    pairs = [("hub", f"spoke {i}", float(i)) for i in range(30)]
    with raises_problem("training_all_joined", count=30):  # no larger share would do
        split(pairs, 0.2, 0)
    with raises_problem("training_joined", count=31, largest=30):
        split([*pairs, ("lone", "some", 1.0)], 0.2, 0)


def test_too_few_pairs():
    with raises_problem("training_too_few", count=5, least=8):
        split(chained(5), 0.2, 0)


def test_the_split_follows_the_seed():
    pairs = chained(100)
    assert split(pairs, 0.2, 1) == split(pairs, 0.2, 1)
    assert split(pairs, 0.2, 1) != split(pairs, 0.2, 2)


@pytest.mark.parametrize("text", ["one two three four five six seven", "今天天气很好我们出去走走"])
def test_a_cut_off_leaves_words_out_in_order(text):
    for seed in range(20):
        left = cut_off(text, random.Random(seed))
        parts = list if " " not in text else str.split
        assert 0 < len(parts(text)) - len(parts(left)) <= 2
        rest = iter(parts(text))
        assert all(word in rest for word in parts(left))  # a subsequence


@pytest.mark.parametrize(
    "text", ["It rained. We left, then ate.", "先吃饭，再走路。", "one two three four"]
)
def test_reordering_keeps_every_word(text):
    parts = list if " " not in text else str.split
    for seed in range(20):
        turned = reordered(text, random.Random(seed))
        assert turned != text
        assert sorted(parts(turned)) == sorted(parts(text))


def test_short_sentences_are_left_alone():
    assert augmented([("a b", "c", 1.0)], ("cutoff", "reorder"), 0) == []


def test_augmented_pairs_keep_their_label_and_one_sentence():
    pairs = [("one two three four five", "six seven eight nine ten", 2.0)]
    for kind in ("cutoff", "reorder"):
        ((first, second, label),) = augmented(pairs, (kind,), 3)
        assert label == 2.0
        assert (first == pairs[0][0]) != (second == pairs[0][1])


def test_a_list_is_varied_whole_under_one_query():
    query = "one two three four five"
    pairs = [(query, f"answer {i} of these", float(i)) for i in range(3)]
    for kind in ("cutoff", "reorder"):
        copies = augmented(pairs, (kind,), 3)
        assert [pair[1:] for pair in copies] == [pair[1:] for pair in pairs]
        assert len({pair[0] for pair in copies} - {query}) == 1


def table(tmp_path, heads, rows):
    path = tmp_path / "pairs.jsonl"
    lines = [json.dumps(dict(zip(heads, row, strict=True))) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_other_wordings_join_the_training_side_only(tmp_path):
    heads = ("sentence1", "sentence2", "score", "back")
    rows = [(f"a{i}", f"b{i}", i % 3, f"again a{i}") for i in range(50)]
    chosen = TrainingData(source="file", file=table(tmp_path, heads, rows), alternatives=("back",))
    corpus = checked_corpus(TrainingPlan(data=chosen))
    reworded = [pair for pair in corpus.train if pair[0].startswith("again")]
    assert len(reworded) == 40 == len(corpus.train) - len(reworded)
    held_out = {second for _, second, _ in corpus.held_out}
    assert not held_out & {second for _, second, _ in corpus.train}


def test_a_held_out_file_of_ones_own(tmp_path):
    heads = ("sentence1", "sentence2", "score")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    mine = table(tmp_path / "one", heads, [(f"a{i}", f"b{i}", i % 3) for i in range(20)])
    theirs = table(tmp_path / "two", heads, [(f"a{i}", f"c{i}", i % 2) for i in range(15, 25)])
    chosen = TrainingData(source="file", file=mine, held_out_file=theirs)
    corpus = checked_corpus(TrainingPlan(data=chosen))
    assert (len(corpus.train), len(corpus.held_out), corpus.shared) == (20, 10, 5)


def test_a_held_out_file_of_unknown_encoding_has_that_of_the_other(tmp_path):
    heads = "sentence1,sentence2,score\n"
    train = heads + "".join(f"Чай {i} горячий.,Чай {i} остыл.,{i % 2}\n" for i in range(20))
    held_out = heads + "".join(f"ВАЙ,{i},{i % 2}\n" for i in range(8))
    for name, text in (("train.csv", train), ("held_out.csv", held_out)):
        (tmp_path / name).write_bytes(text.encode("koi8-r"))
    files = {"file": str(tmp_path / "train.csv"), "held_out_file": str(tmp_path / "held_out.csv")}
    result = TrainingData(source="file", **files, encoding="KOI8-R")
    assert data.read(TrainingPlan(data=result)).held_out[0][0] == "ВАЙ"
    with raises_problem("file_encoding"):
        data.read(TrainingPlan(data=TrainingData(source="file", **files)))


def test_examples_typed_rows_and_what_has_no_words():
    corpus = checked_corpus(TrainingPlan(data=TrainingData(example="graded_english")))
    assert len(corpus.train) + len(corpus.held_out) == 24
    rows = tuple((f"a{i}", f"b{i}", str(i % 2)) for i in range(600))  # more than a page's batch
    corpus = checked_corpus(TrainingPlan(data=TrainingData(source="rows", rows=rows)))
    assert len(corpus.train) + len(corpus.held_out) == 600
    with raises_problem("training_no_words", name="cosent_batch"):
        checked_corpus(TrainingPlan(data=TrainingData(example="cosent_batch")))


def test_an_unreachable_hub_is_reported(monkeypatch):
    import huggingface_hub

    def nowhere(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", nowhere)
    chosen = TrainingData(source="hub", hub="sentence-transformers/stsb")
    with raises_problem("hub_set_unreachable", name="sentence-transformers/stsb"):
        checked_corpus(TrainingPlan(data=chosen))


def corpus_of(*labels):
    pairs = tuple((f"a{i}", f"b{i}", float(label)) for i, label in enumerate(labels))
    return Corpus(pairs, pairs[:4])


def test_one_label_value_says_which_losses_can():
    same = corpus_of(*[1] * 10)
    able = {name for name, why in losses_for(TrainingPlan(), same).items() if why is None}
    assert {"info_nce", "nt_xent", "siglip", "supcon"} <= able
    assert not able & {"cosent", "contrastive", "circle", "angle", "multitask_cosent"}
    why = refusal(TrainingPlan(loss="cosent"), same)
    assert why.key == "problem.training_one_label"
    assert LOSSES["info_nce"].title in str(why)
    assert title_word(LOSSES["angle"]) not in why.values["known"]


def test_a_threshold_beyond_all_labels_names_the_rule():
    pairs = corpus_of(*[0, 1] * 5)
    high = {"threshold": 9.0}
    assert refusal(TrainingPlan(loss="info_nce"), pairs) is None
    why = refusal(TrainingPlan(loss="info_nce", **high), pairs)
    assert (why.key, why.values["count"]) == ("problem.training_no_positives", 0)
    why = refusal(TrainingPlan(loss="circle", **high), pairs)
    assert why.key == "problem.training_one_side"
    assert refusal(TrainingPlan(loss="cosent", **high), pairs) is None


def test_a_run_reads_labels_as_the_page_does():
    graded = corpus_of(1, 2, 3, 4, 5, 1, 2)
    assert data.rules_for(TrainingPlan(), graded) == (3, (1, 5))
    chosen = TrainingPlan(label_range=(0.0, 5.0))
    assert data.rules_for(chosen, graded) == (2.5, (0, 5))
    assert data.rules_for(TrainingPlan(threshold=4.0), graded) == (4, (1, 5))


def test_labels_beyond_the_chosen_scale_are_reported_where_they_matter():
    plan = TrainingPlan(label_range=(1.0, 4.0))
    whys = losses_for(plan, corpus_of(1, 2, 3, 4, 5, 1, 2))
    keys = {name for name, why in whys.items() if why and why.key == whys["cosine_mse"].key}
    assert keys == {"cosine_mse"}
    beyond = {"label": 5, "low": 1, "high": 4}
    assert pattern_of("problem.labels_beyond", **beyond).fullmatch(str(whys["cosine_mse"]))


@pytest.mark.parametrize("labels", [(1, 2, 3, 4, 5), (0, 1), (-2, 0, 3)])
def test_a_run_keeps_the_rules_that_it_was_begun_with(runs, labels):
    plan, pairs = TrainingPlan(encoder="scratch"), corpus(labels)
    run = runs.prepare(plan, pairs)
    assert data.rules_of(run, plan) == data.rules_for(plan, pairs)
    config = run.read("config.json")
    config["rules"] = {"threshold": 1.25, "label_range": [0, 9]}
    run.write("config.json", config)
    assert data.rules_of(run, plan) == (1.25, (0, 9))
    # An earlier version did not write them down: half of the largest, on a scale from 0.
    del config["rules"]
    run.write("config.json", config)
    low = min(labels) if min(labels) < 0 else 0
    assert data.rules_of(run, plan) == (max(labels) / 2, (low, max(labels)))
    assert data.rules_of(run, TrainingPlan(threshold=4.0)).threshold == 4


@pytest.mark.parametrize("kind", ["bi", "cross"])
@pytest.mark.parametrize(
    ("labels", "threshold"), [([1] * 10, None), ([0, 1] * 5, None), ([0, 1] * 5, 9.0)]
)
def test_every_reason_names_exactly_the_losses_that_can(kind, labels, threshold):
    whys = losses_for(TrainingPlan(kind=kind, threshold=threshold), corpus_of(*labels))
    single = {name: why for name, why in whys.items() if not LOSSES[name].parts}
    able = [title_word(LOSSES[name]) for name, why in single.items() if why is None]
    assert all(why.values["known"] == (able or "—") for why in whys.values() if why)


def test_a_cross_encoder_needs_a_loss_on_scores():
    pairs = corpus_of(*[0, 1] * 5)
    whys = losses_for(TrainingPlan(kind="cross"), pairs)
    able = {name for name, why in whys.items() if why is None}
    assert {"cosent", "binary_cross_entropy", "multitask_cosent", "circle"} <= able
    assert not able & {"info_nce", "angle", "triplet", "softmax", "hierarchical_cosent"}
    assert LOSSES["cosent"].title in str(whys["info_nce"])


def test_classes_are_the_components_of_the_positive_pairs():
    pairs = [("a", "b", 1.0), ("b", "c", 1.0), ("d", "e", 0.0), ("f", "d", 1.0)]
    found = classes_of(pairs, 0.5)
    groups = {}
    for sentence, number in found.items():
        groups.setdefault(number, set()).add(sentence)
    assert sorted(map(sorted, groups.values())) == [["a", "b", "c"], ["d", "f"], ["e"]]
    assert sorted(groups) == [0, 1, 2]
