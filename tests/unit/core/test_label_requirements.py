"""Positives without labels on Explore: what each loss says, and what is taken away of them."""

from __future__ import annotations

import csv
import dataclasses
import json

import pytest
from torch import Tensor

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.label_requirements import labels_needed, positives_loss
from lossprism.explorer.core.remarks import remarks, statistics
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.code import package_code
from lossprism.explorer.export.csv import corrected_csv, pairs_csv
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch, picture
from lossprism.explorer.lab.training.data import data_of_scenario
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs_from_tables import read_table
from lossprism.losses import LOSSES, spec_of
from tests.added_encoder import MadeEncoder, added

ROWS = (
    ("A man eats pasta.", "Someone has a meal.", ""),
    ("A girl plays the violin.", "A child makes music.", ""),
    ("Two dogs run.", "Dogs are running.", ""),
    ("It rains in Rome.", "Rome gets wet.", ""),
)
TYPED = Scenario(data=Data(source="table", rows=ROWS))
ON_LISTS = {name for name, spec in LOSSES.items() if "lists" in spec.needs or spec.reads_teacher}
OVER_POSITIVES = [
    name for name, spec in LOSSES.items() if labels_needed(spec) is None and name not in ON_LISTS
]


def of(loss, scenario=TYPED):
    return dataclasses.replace(scenario, loss=loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_is_computed_or_says_what_would_make_it_possible(loss):
    if loss in OVER_POSITIVES:
        assert explore(of(loss)).loss == explore(of(loss)).loss
        return
    with pytest.raises(Problem) as raised:
        explore(of(loss))
    if loss in ON_LISTS and labels_needed(LOSSES[loss]) is None:
        assert raised.value.key in ("problem.no_lists", "problem.no_teacher_vectors")
        return
    for language in LANGUAGES:
        sentence = say(language, raised.value.key, **raised.value.values)
        assert "InfoNCE" in sentence
        assert "{" not in sentence
    assert raised.value.about == "scores"


def test_the_sentence_of_cosent():
    titles = {"loss": LOSSES["cosent"].title, "known": LOSSES["info_nce"].title}
    assert str(labels_needed(LOSSES["cosent"])) == say("en", "problem.needs_scores", **titles)


def test_it_follows_from_what_a_loss_reads():
    def ordered(scores: Tensor, labels: Tensor) -> Tensor:
        return (scores * labels).sum()

    def sided(scores: Tensor, binary_labels: Tensor) -> Tensor:
        return (scores * binary_labels).sum()

    def contrasted(queries: Tensor, keys: Tensor) -> Tensor:
        return (queries * keys).sum()

    keys = [
        (found := labels_needed(spec_of(one))) and found.key for one in (ordered, sided, contrasted)
    ]
    assert keys == ["problem.needs_scores", "problem.needs_negatives", None]
    assert positives_loss().name == "info_nce"
    convention = LOSSES["circle_self_paced"].under(
        "pytorch-metric-learning 2.9 CircleLoss (per anchor)"
    )
    assert labels_needed(convention) is None
    assert labels_needed(LOSSES["circle_self_paced"]) is not None


@pytest.mark.parametrize("loss", OVER_POSITIVES)
def test_pictures_remarks_and_code_of_positives(loss):
    found = explore(of(loss))
    json.dumps(dataclasses.asdict(picture(found)), allow_nan=False)
    assert not {"labels_equal", "labels_equal_felt"} & {one.key for one in remarks(found)}
    assert str(found.loss)[:6] in package_code(found).text
    result = describe_batch(found.batch)
    assert (result["labelled"], result["positives"], result["negatives"]) == (False, 4, 0)


def test_no_correlation_is_computed():
    found = explore(of("info_nce"))
    assert found.order.spearman is None
    result = statistics(found.batch)
    assert (result.pearson, result.ks, result.high, result.low) == (None, None, 4, 0)


def test_what_is_written_has_no_labels_and_is_read_as_it_was():
    found = explore(of("info_nce"))
    again = read_table(corrected_csv(found.batch.pairs, ()).encode(), "x.csv").pairs
    assert again.rows == ROWS
    assert [row["score"] for row in csv.DictReader(pairs_csv(found).splitlines())] == [""] * 4
    linked = Scenario.from_link(of("info_nce").to_link())
    assert explore(linked).loss == found.loss
    assert data_of_scenario(TYPED.data).rows == ROWS


def test_a_corrected_label_makes_the_others_labels_too():
    data = dataclasses.replace(TYPED.data, corrections=((*ROWS[0][:2], "0"),))
    found = explore(Scenario(data=data))
    assert found.batch.pairs.labels == (0.0, 1.0, 1.0, 1.0)
    assert found.order.ordered == 3


def test_a_loss_that_needs_scores_is_refused_before_anything_is_encoded():
    requests = []
    unasked = MadeEncoder("made", "made", vectors=requests.append)
    rows = tuple((f"nobody encodes {i}", f"this {i}", "") for i in range(4))
    data = Data(source="table", rows=rows, encoder="made")
    with added(unasked), pytest.raises(Problem) as refusal:
        explore(Scenario(loss="cosent", data=data))
    assert refusal.value.about == "scores"
    assert not requests
