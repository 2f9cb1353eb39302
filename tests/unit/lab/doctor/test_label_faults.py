"""What labels cannot teach: outside the ends of a loss, or within a list, counted per list."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.loss_lookup import losses_called, other_names
from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.doctor.finding import SEVERE
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.doctor.values_of_losses_without_definition import (
    loss_without_definition,
)
from lossprism.explorer.sources.pairs import Pairs
from tests.unit.lab.doctor.test_pair_dataset_checks import COUNT, clean_pairs, positives
from tests.unit.sources.test_pairs_without_labels import as_file

OUTSIDE = {"labels_outside", "labels_out_of_reach"}


def under(loss):
    return possible_losses(Known(loss=loss))[0].spec


def findings(pairs, loss):
    return {fault.name: fault for fault in examine(profiled(pairs), under(loss), 8).faults}


def test_labels_outside_the_ends_of_a_class_are_found():
    """Reported for every class whose trainer takes labels as they are, and for no other."""
    five, unit = (
        profiled(clean_pairs(tuple(float(place % labels) for place in range(COUNT))))
        for labels in (6, 2)
    )
    wrong, tried = [], 0
    for loss in sorted(name for name, *_ in other_names()):
        if loss_without_definition(loss) or any(spec.parts for spec in losses_called(loss)):
            continue
        spec, tried = under(loss), tried + 1
        for profile, outside in ((five, spec.label_ends is not None), (unit, False)):
            names = {fault.name for fault in examine(profile, spec, 8).faults}
            if bool(OUTSIDE & names) != outside:
                wrong.append((loss, names))
    assert wrong == []
    assert tried > 200


def test_what_takes_labels_as_they_are():
    taken = {"BinaryCrossEntropyLoss", "BCEWithLogitsLoss", "BCE", "CosineSimilarityLoss"}
    taken |= {"ContrastiveLoss", "OnlineContrastiveLoss"}
    for loss in taken:
        assert under(loss).label_ends is not None, loss
    for loss in ("CoSENTLoss", "ListNetLoss", "LambdaLoss", "MultipleNegativesRankingLoss"):
        assert under(loss).label_ends is None, loss


def lists(*labels):
    """A query for each tuple of labels, with as many candidates."""
    rows = [(f"q {at}", f"d {at} {n}", one) for at, of in enumerate(labels)
            for n, one in enumerate(of)]  # fmt: skip
    first, second, grades = zip(*rows, strict=True)
    return Pairs(first, second, grades)


def test_lists_are_counted_one_by_one():
    """A long list counts as one, and what teaches beside it makes it no severe finding."""
    mixed = lists((1.0, 0.0, 0.0), (0.0,) * 9, (1.0,), (2.0, 2.0), (1.0, 0.0))
    for loss in ("ListNetLoss", "ListMLELoss", "LambdaLoss", "ApproxNDCGLoss", "ADRMSELoss"):
        found = findings(mixed, loss)
        one, same = found["lists_of_one"], found["lists_of_one_label"]
        assert (one.values["count"], one.values["lists"], one.severity) == (1, 5, "warning")
        assert (same.values["count"], same.values["share"], same.severity) == (2, "40%", "warning")
    assert not findings(lists((1.0, 0.0), (2.0, 1.0)), "ListNetLoss")
    assert "lists_of_one_label" not in findings(mixed, "CoSENTLoss")
    nothing = findings(lists((1.0, 1.0), (0.0, 0.0)), "ListNetLoss")["lists_of_one_label"]
    assert nothing.severity == SEVERE
    by_sides = findings(lists((1.0, 0.0), (0.0, 0.0), (1.0, 1.0)), "MarginMSELoss")
    assert by_sides["lists_without_positive"].values["count"] == 1
    assert by_sides["lists_without_positive"].rows == (3, 4)
    assert by_sides["groups_without_negative"].values["count"] == 1


@pytest.mark.parametrize("loss", ["FlagEmbedding", "InfoNCE"])
def test_groups_without_a_negative_are_severe_without_negatives_of_the_batch(loss):
    spec = under(loss)
    taken = set() if spec.negatives_of_batch else {"groups_without_negative"}
    alone = positives(["q 1", "q 2"], ["d 1", "d 2"])
    found = {one.name: one for one in examine(profiled(alone), spec, 8).faults}
    assert set(found) == taken
    if taken:
        assert found["groups_without_negative"].severity == SEVERE
        assert found["groups_without_negative"].values["count"] == 2
        assert "stays 0" in found["groups_without_negative"].written()
        has = lists((1.0, 0.0), (1.0, 0.0), (1.0,))
        assert findings(has, loss)["groups_without_negative"].values["count"] == 1


@pytest.mark.parametrize("loss", ["RankNetLoss", "rankNet", "PairwiseHingeLoss", "CoSENTLoss"])
def test_losses_on_pairs_compare_within_each_list_of_rows_that_are_lists(loss):
    """As the trainers do: a list of one label teaches such a loss nothing, either."""
    labels = [[1, 0, 0], [1, 1, 1], [0, 0, 0], [2, 1, 0], [1]]
    rows = [(f"q {n}", ["a", "b", "c"][: len(own)], own) for n, own in enumerate(labels)]
    text = as_file(rows, ("query", "docs", "labels"), "jsonl")
    read = read_content(text, "x.jsonl", lambda *_: None)
    by_name = {fault.name: fault for fault in examine(read.profile, under(loss), 4).faults}
    assert by_name["lists_of_one"].values["count"] == 1
    assert by_name["lists_of_one_label"].values["count"] == 2
    alone = lists((1.0, 0.0, 0.0), (1.0, 1.0), (1.0,))  # of rows that are pairs
    assert not {"lists_of_one", "lists_of_one_label"} & findings(alone, loss).keys()
