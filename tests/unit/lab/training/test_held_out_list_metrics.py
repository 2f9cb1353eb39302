"""Held-out lists: NDCG and MRR, against their definitions and against other libraries."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from lossprism.explorer.lab.training import data, model_card, train_and_compare_commands
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.held_out_list_metrics import (
    described,
    list_figures,
    lists_among,
    mrr,
    ndcg,
)
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.losses.labels import LabelRules
from tests.tiny import sentence

RULES = LabelRules(2.5, (0.0, 5.0))
PLAN = TrainingPlan(encoder=SCRATCH, dimension=8, steps=4, batch_size=8, evaluations=2)


def rows(*lists):
    """Pairs of lists of labels: a query for each list, no candidate twice."""
    return [
        (f"query {q}", f"candidate {q}.{k}", float(label))
        for q, labels in enumerate(lists)
        for k, label in enumerate(labels)
    ]


def drawn(count=24, size=4, seed=0):
    draw = random.Random(seed)
    return tuple(
        (query, sentence(draw), float(label))
        for query in (f"{sentence(draw)} {number}" for number in range(count))
        for label in draw.sample(range(6), size)
    )


# What is measured


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("levels", [2, 5])
def test_ndcg_is_that_of_scikit_learn_ties_too(levels, seed):
    draw = np.random.default_rng(seed)
    gains = np.concatenate([[1.0, 0.0], draw.integers(0, levels, 13)])
    for scores in (draw.normal(size=15), draw.integers(0, 4, 15).astype(float)):
        assert ndcg(scores, gains) == pytest.approx(ndcg_score([gains], [scores], k=10))


@pytest.mark.parametrize("seed", range(4))
def test_both_are_those_of_the_evaluator_of_sentence_transformers(seed):
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

    draw = np.random.default_rng(seed)
    relevant = np.arange(14) == draw.integers(14)
    scores = draw.normal(size=14)
    theirs = CrossEncoderRerankingEvaluator([], at_k=10).compute_metrics(relevant * 1, scores)
    assert (mrr(scores, relevant), ndcg(scores, relevant * 1.0)) == pytest.approx(theirs[:2])


def test_a_collapsed_model_is_no_success():
    labels = (3, 0, 0, 0)
    found = list_figures(rows(labels), np.full(4, 0.7), RULES)
    assert found.mrr_at_10 == 1 / 4
    assert found.ndcg_at_10 == pytest.approx(np.mean(1 / np.log2([2, 3, 4, 5])))


def test_beyond_the_tenth_place_nothing_is_found():
    scores, relevant = -np.arange(12.0), np.arange(12) == 10
    assert mrr(scores, relevant) == 0 == ndcg(scores, relevant * 1.0)


def test_the_least_label_of_a_scale_gains_nothing():
    pairs, scores = rows((1, 5)), np.array([0.9, 0.1])
    found = list_figures(pairs, scores, LabelRules(3.0, (1.0, 5.0)))
    assert found.floor == 1
    assert found.ndcg_at_10 == pytest.approx(1 / np.log2(3))


def test_lists_without_a_comparison_are_left_out_and_counted():
    pairs = rows((5, 0), (4, 4, 4), (1, 2), (3,), (0, 3, 1), (2, 2), (0, 0))
    found = list_figures(pairs, np.arange(len(pairs)) * -0.01, RULES)
    assert (found.count, found.alike, found.without) == (2, 3, 1)
    assert found.mrr_at_10 == pytest.approx((1 + 1 / 2) / 2)
    description = described(found, "2.5", "0")
    numbers = ["2", "3", "1", "2.5", "0", "2.5"]
    assert re.findall(r"\d+(?:\.\d+)?", description) == numbers  # without those of NDCG@10, MRR@10


def test_without_lists_or_without_numbers_there_is_nothing():
    assert list_figures(rows((1,), (2,)), np.zeros(2), RULES) is None
    assert list_figures(rows((1, 2)), np.array([np.nan, 0]), RULES) is None
    none = list_figures(rows((4, 4)), np.zeros(2), RULES)
    assert (none.ndcg_at_10, none.mrr_at_10, none.count) == (None, None, 0)


def test_no_list_is_split_between_training_and_held_out():
    pairs = drawn()
    train, held_out = data.split(pairs, 0.3, 0)
    assert not {first for first, *_ in train} & {first for first, *_ in held_out}
    assert {len(places) for places in lists_among(held_out)} == {4}


# Of a run


@pytest.fixture
def run_of_lists(runs, trained):
    pairs = drawn()
    return trained(PLAN, Corpus(pairs[:64], pairs[64:]))


def test_a_run_says_how_lists_are_ordered(runs, run_of_lists, capsys):
    status = runs.status(run_of_lists)
    summary, folder = status.summary, runs.folder(run_of_lists)
    scores = folder.read_arrays("after.npz")["scores"]
    rules = LabelRules(summary.threshold, tuple(summary.label_range))
    after = list_figures(folder.read_pairs("held_out.jsonl"), scores, rules)
    assert summary.after.lists == after
    assert after.count + after.alike + after.without == 8
    train_and_compare_commands._print_figures(folder, status)
    printed = capsys.readouterr().out
    before = summary.before.lists
    assert f"NDCG@10 of lists: {before.ndcg_at_10:.3f} → {after.ndcg_at_10:.3f}\n" in printed
    readme = (folder.model / "README.md").read_text(encoding="utf-8")
    for message in ("| Held-out NDCG@10 of lists |", "| Held-out MRR@10 of lists |"):
        assert message in readme
    assert described(after, f"{rules.threshold:g}", "0") in printed
    assert described(after, f"{rules.threshold:g}", "0") in readme


def test_a_run_of_an_earlier_version_still_opens(runs, run_of_lists, capsys):
    folder = runs.folder(run_of_lists)
    summary = folder.read("summary.json")
    del summary["before"]["lists"]  # resumed by this version
    folder.write("summary.json", summary)
    train_and_compare_commands._print_figures(folder, runs.status(run_of_lists))
    assert "NDCG@10 of lists: — →" in capsys.readouterr().out
    assert "NDCG@10 of lists | — →" in model_card.section(PLAN, folder.summary, [])
    del summary["after"]["lists"]
    folder.write("summary.json", summary)
    train_and_compare_commands._print_figures(folder, runs.status(run_of_lists))
    assert "lists" not in capsys.readouterr().out
    assert "lists" not in model_card.section(PLAN, folder.summary, [])
