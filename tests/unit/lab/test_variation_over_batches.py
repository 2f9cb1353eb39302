"""The figures of the strip over many batches are those of each batch by itself."""

from __future__ import annotations

import dataclasses

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.variation_over_batches import (
    FIGURES,
    batches_of_file,
    over_batches,
    random_batches,
)
from lossprism.explorer.sources.drawn_batches import Draw
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.random_batch import RandomBatch
from tests.sentences import raises_problem

SMALL = Data(source="random", random=RandomBatch(pairs=12, dimension=8, seed=3))


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "supcon", "cosine_mse"])
def test_each_batch_is_explored_by_itself(loss):
    scenario = Scenario(loss=loss, data=SMALL)
    found = over_batches(scenario, random_batches(SMALL, 5))
    assert {len(values) for values in found.values()} == {5}
    for place in range(5):
        random = dataclasses.replace(SMALL.random, seed=3 + place)
        alone = explore(
            dataclasses.replace(scenario, data=dataclasses.replace(SMALL, random=random))
        )
        for name, read in FIGURES.items():
            assert found[name][place] == read(alone), name


def whole(count: int = 50) -> Pairs:
    texts = [tuple(f"{side} {i}" for i in range(count)) for side in "ab"]
    return Pairs(*texts, tuple(float(i % 4) for i in range(count)))


def test_batches_of_a_file_begin_with_the_first():
    draw = Draw("shuffled", 8, number=3)
    found = batches_of_file(whole(), draw, 10)
    assert [len(one) for one in found] == [8] * 10
    assert (
        found[3].first == batches_of_file(whole(), dataclasses.replace(draw, number=0), 4)[3].first
    )
    seen = {text for one in found[:6] for text in one.first}
    assert len(seen) == 48


def test_an_order_that_stays_has_each_batch_once():
    """Counted again and again, the same few would look like many."""
    found = batches_of_file(whole(), Draw("in_order", 8), 200)
    assert [one.first[0] for one in found] == [f"a {8 * place}" for place in range(6)]
    assert len(batches_of_file(whole(), Draw("in_order", 512), 200)) == 1


@pytest.mark.encoder
def test_what_was_corrected_is_corrected_in_every_batch():
    pairs = whole(16)
    data = Data(source="table", corrections=(("a 1", "b 1", ""), ("a 2", "b 2", "9")))
    batches = batches_of_file(pairs, Draw("in_order", 8), 2)
    plain = over_batches(Scenario(data=dataclasses.replace(data, corrections=())), batches)
    other = over_batches(Scenario(data=data), batches)
    assert plain["loss"][0] != other["loss"][0]
    assert plain["loss"][1] == other["loss"][1]


def test_an_example_is_all_that_there_is():
    with raises_problem("no_batches"):
        random_batches(Data(), 3)


def without_positives(batches: int) -> list[Pairs]:
    every = batches_of_file(whole(32), Draw("in_order", 8), 4)
    return [
        dataclasses.replace(one, labels=(0.0,) * len(one)) if place < batches else one
        for place, one in enumerate(every)
    ]


@pytest.mark.encoder
def test_a_batch_without_a_positive_has_no_figure_of_a_loss_that_needs_one():
    scenario = Scenario(loss="info_nce", data=Data(source="table"))
    plain, some = (over_batches(scenario, without_positives(lacking)) for lacking in (0, 2))
    for name, values in some.items():
        assert values == [None, None, *plain[name][2:]], name
    assert plain["loss"][0] is not None
    ranked = over_batches(dataclasses.replace(scenario, loss="cosent"), without_positives(2))
    assert None not in ranked["loss"]


@pytest.mark.encoder
def test_no_positive_in_any_batch_is_reported():
    scenario = Scenario(loss="info_nce", data=Data(source="table"))
    with raises_problem("no_positives"):
        over_batches(scenario, without_positives(4))
