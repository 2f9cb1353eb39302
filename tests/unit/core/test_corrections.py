"""Pairs that were relabelled or left out: what is explored, what is taken away."""

from __future__ import annotations

import csv
import dataclasses
import io

import numpy as np
import pytest

from lossprism.explorer.core.batch import load_pairs, make_batch, source_pairs
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.caption import pair_numbers
from lossprism.explorer.export.csv import corrected_csv, corrections_csv
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import raises_problem

ROWS = tuple(
    (f"The {word} cat sat.", f"A {word} cat sat down.", str(n)) for n, word in enumerate("abcdef")
)
SKIPPED = (("", "no first sentence", "1"),)


def with_corrections(*made, rows=ROWS, **data):
    return Scenario(data=Data(source="table", rows=rows, corrections=made, **data))


RELABELLED = (*ROWS[1][:2], "4,5")
LEFT_OUT = (*ROWS[3][:2], "")


def test_a_label_is_changed_and_a_pair_left_out():
    pairs = load_pairs(with_corrections(RELABELLED, LEFT_OUT).data)
    assert pairs.labels == (0, 4.5, 2, 4, 5)
    assert pairs.places == (0, 1, 2, 4, 5)
    assert ROWS[3][0] not in pairs.sentences


def test_of_several_corrections_the_last_counts():
    again = (*RELABELLED[:2], "2")
    assert load_pairs(with_corrections(RELABELLED, again).data).labels[1] == 2
    assert load_pairs(with_corrections(LEFT_OUT, (*LEFT_OUT[:2], "1")).data).labels[3] == 1


def test_the_others_stay_as_they_were():
    """An example brings its vectors: each sentence keeps its own."""
    data = Data()
    whole, pairs = make_batch(data, Rules()), source_pairs(data)
    out = [(pairs.first[place], pairs.second[place], "") for place in (0, 7)]
    less = make_batch(dataclasses.replace(data, corrections=tuple(out)), Rules())
    kept = [place for place in range(len(whole)) if place not in (0, 7)]
    assert less.scores.tolist() == whole.scores[kept].tolist()
    assert less.labels.tolist() == whole.labels[kept].tolist()


def test_pairs_are_called_by_the_rows_that_they_came_from():
    scenario = with_corrections(LEFT_OUT, rows=(*ROWS[:2], *SKIPPED, *ROWS[2:]))
    assert pair_numbers(explore(scenario)) == [1, 2, 4, 6, 7]
    example = Data(
        corrections=((source_pairs(Data()).first[1], source_pairs(Data()).second[1], ""),)
    )
    assert pair_numbers(explore(Scenario(data=example)))[:3] == [1, 3, 4]


def test_what_was_changed_can_be_taken_away():
    found = explore(with_corrections(RELABELLED, LEFT_OUT))
    data = found.scenario.data
    of = source_pairs(data), data.corrections
    rows = list(csv.DictReader(io.StringIO(corrections_csv(*of))))
    assert [(row["score"], row["corrected"]) for row in rows] == [("1.0", "4,5"), ("3.0", "")]
    now = list(csv.DictReader(io.StringIO(corrected_csv(*of))))
    assert [float(row["score"]) for row in now] == [0, 4.5, 2, 4, 5]
    again = tuple(tuple(row.values()) for row in now)
    assert np.allclose(explore(with_corrections(rows=again)).loss, found.loss)


def test_a_link_carries_them():
    scenario = with_corrections(RELABELLED, LEFT_OUT)
    assert Scenario.from_link(scenario.to_link()) == scenario


def test_what_is_no_label_is_reported():
    with raises_problem("score_not_a_number", value="high"):
        load_pairs(with_corrections((*ROWS[0][:2], "high")).data)
    with pytest.raises(Problem):
        load_pairs(with_corrections(*((a, b, "") for a, b, _ in ROWS)).data)
