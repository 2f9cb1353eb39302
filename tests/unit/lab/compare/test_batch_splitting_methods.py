"""A batch in pieces: what is the whole again, and what is not."""

from __future__ import annotations

import functools
import math

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.batch_splitting_methods import (
    ABSENT,
    ONE_SIDED,
    TWO_SIDED,
    WAYS,
    expected_of_parts,
    mechanics,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for

RANDOM = Data(source="random", random=RandomBatch(pairs=12, dimension=6, seed=4))
RULES = Rules()
GIVEN = Data(example="cosent_batch")
DEFINITIONS = [
    (name, convention)
    for name, spec in LOSSES.items()
    for convention in ("", *(one.name for one in spec.conventions if one.definition))
]


@functools.cache
def explored(loss="cosent", convention="", data=RANDOM, rules=RULES):
    scenario = Scenario(data_for(loss, data, convention), rules, loss=loss, convention=convention)
    return explore(scenario)


def answers():
    """Eight questions with their answers, each the others' only negative."""
    data = Data(example="hard_negatives")
    return explored("info_nce", "", data, Rules(extra_negatives=False))


def rows_of(e):
    """How many rows a loss has that can be cut: pairs, positive pairs, lists."""
    axes = [one.axes[0] for one in e.spec.readings]
    by_positives = any(one.positives_only for one in e.spec.readings)
    if "list" in axes or "row" in axes:
        return len(e.batch.lists if "list" in axes else e.batch.margins[0])
    if "given_triplet" in axes:
        return len(e.batch.triplets[0])
    return len(e.batch.positives) if by_positives else len(e.batch)


@pytest.mark.parametrize(("loss", "convention"), DEFINITIONS)
def test_what_is_the_whole_batch_again_is_it_to_the_last_digit(loss, convention):
    e = explored(loss, convention)
    rows = rows_of(e)
    ways = [("micro", rows), ("cached", 1), ("cached", rows), ("devices", 1), ("gathered", 1)]
    for way, size in ways:
        found = mechanics(e, way, size)
        assert found.equal, way
        assert found.loss == pytest.approx(e.loss, rel=1e-10, abs=1e-12)
        assert found.comparisons == found.whole_comparisons
    gathered = mechanics(e, "gathered", 3)
    assert gathered.loss == pytest.approx(e.loss, rel=1e-10, abs=1e-12)
    if gathered.gradient_ratio is not None:
        # The mean over devices is a third of the gradient, and points where it points.
        assert gathered.gradient_ratio == pytest.approx(1 / 3)
        assert gathered.gradient_cosine == pytest.approx(1)


def test_eight_small_batches_are_not_one_large_one():
    """Lesson 6: eight questions in batches of 8, 4, 2 and 1."""
    e = answers()
    losses = [expected_of_parts(e, size) for size in (8, 4, 2, 1)]
    assert all(one.exact for one in losses)
    assert [one.loss for one in losses] == pytest.approx([0.0285, 0.0127, 0.0042, 0.0], rel=0.02)
    assert losses[-1].loss == 0.0
    assert [one.comparisons for one in losses] == pytest.approx([56, 24, 8, 0])
    # In the order of the file it is one of these cuts.
    found = mechanics(e, "micro", 4)
    assert (found.parts, found.comparisons, found.equal) == (2, 24, False)
    assert found.difference == pytest.approx(found.loss - 0.02855, abs=1e-5)


def test_cosent_in_fours_has_few_comparisons_left():
    """Lesson 6: 269 comparisons and 19.12; in fours 35 and 4.84."""
    e = explored(data=Data())
    whole = mechanics(e, "micro", 24)
    assert (whole.whole_comparisons, round(whole.whole, 2)) == (269, 19.12)
    fours = expected_of_parts(e, 4)
    assert fours.exact
    assert fours.comparisons == pytest.approx(269 * 3 / 23)  # 35
    assert fours.loss == pytest.approx(4.84, rel=0.015)
    assert mechanics(e, "micro", 4).comparisons == 36  # as the pairs happen to stand


def test_copies_of_the_batch_add_a_logarithm():
    e = answers()
    for count in (2, 4):
        assert mechanics(e, "copies", count).comparisons > 0
    cosent = explored(data=Data())
    doubled = [mechanics(cosent, "copies", n).loss for n in (1, 2, 4)]
    assert doubled[1] - doubled[0] == pytest.approx(math.log(4), abs=1e-6)  # 1.386 each time
    assert doubled[2] - doubled[1] == pytest.approx(math.log(4), abs=1e-6)


def test_cells_say_what_exists_and_what_is_only_seen():
    e = answers()
    off = ~torch.eye(8, dtype=torch.bool)
    block = torch.arange(8)[:, None] // 4 == torch.arange(8) // 4
    micro = mechanics(e, "micro", 4).cells
    assert torch.equal(micro == TWO_SIDED, block & off)
    assert bool((micro[~block] == ABSENT).all())
    gathered = mechanics(e, "gathered", 2).cells
    assert bool((gathered[:4][off[:4]] == TWO_SIDED).all())
    assert bool((gathered[4:, 4:][off[4:, 4:]] == ONE_SIDED).all())
    queue = mechanics(e, "queue", 4)
    assert bool((queue.cells[4:, :4] == ONE_SIDED).all())
    assert bool((queue.cells[:4, 4:] == ABSENT).all())
    assert (queue.row_axis, queue.column_axis) == ("query", "key")
    # The second part has all eight keys, the first four.
    assert queue.losses[0] == pytest.approx(mechanics(e, "micro", 4).losses[0])
    assert queue.losses[1] > mechanics(e, "micro", 4).losses[1]


def test_parts_take_their_share_of_the_further_negatives():
    e = explored("info_nce", "", Data(example="hard_negatives"))
    found = mechanics(e, "micro", 4)
    assert found.cells.shape == (8, 24)
    per_row = (found.cells == TWO_SIDED).sum(dim=1).tolist()
    assert per_row == [11] * 8  # three others and eight of the sixteen


@pytest.mark.parametrize("way", [way for way in WAYS if way != "queue"])
def test_scores_that_were_given_are_cut_too(way):
    e = explored(data=GIVEN)
    found = mechanics(e, way, 2)
    assert found.whole == e.loss
    assert math.isfinite(found.loss)
    assert found.equal is (way == "cached")


def test_what_cannot_be_is_refused():
    e = explored()
    for way, size, key in (
        ("halves", 2, "mechanics_way"),
        ("micro", 0, "mechanics_size"),
        ("devices", 13, "mechanics_size"),
        ("queue", 4, "mechanics_no_queue"),
    ):
        with pytest.raises(Problem) as refused:
            mechanics(e, way, size)
        assert refused.value.key == f"problem.{key}"
    with pytest.raises(Problem):
        expected_of_parts(e, 13)
    with pytest.raises(Problem) as refused:  # it takes further negatives, but no keys
        mechanics(explored("decoupled"), "queue", 4)
    assert refused.value.key == "problem.mechanics_no_queue"


def test_parts_are_drawn_where_there_are_too_many():
    found = expected_of_parts(explored(data=Data()), 12)
    assert not found.exact
    assert found.drawn < math.comb(24, 12)
    assert found.loss < 19.12
