"""What a change of a batch does to every loss, and how losses run to their collapse."""

from __future__ import annotations

import dataclasses
import functools
import math

import pytest
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare import losses_towards_collapse
from lossprism.explorer.lab.compare.batch_change_effects import (
    KINDS,
    Change,
    changed_batch,
    reads_only_scores,
    what_if,
)
from lossprism.explorer.lab.compare.losses_towards_collapse import collapsing, moved_together
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES

RANDOM = Data(source="random", random=RandomBatch(pairs=12, candidates=3, dimension=6, seed=4))
ANSWERS = Data(example="hard_negatives")
EVERY = [Scenario(data=RANDOM, loss=name) for name in LOSSES]


@functools.cache
def batch_of(data=RANDOM, extra=True):
    return make_batch(data, Rules(extra_negatives=extra))


def one(loss, batch, change, **parameters):
    (found,) = what_if([Scenario(loss=loss, parameters=tuple(parameters.items()))], batch, change)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_every_loss_says_what_it_makes_of_a_change(kind):
    batch = batch_of()
    effects = what_if(EVERY, batch, Change(kind, pair=1, by=0.0 if kind == "shift" else 2.0))
    assert [one.loss for one in effects] == list(LOSSES)
    for scenario, found in zip(EVERY, effects, strict=True):
        assert found.before.loss == explore(scenario, batch).loss
        moves_scores = kind in ("shift", "spread")
        cannot = moves_scores and not reads_only_scores(LOSSES[found.loss])
        # What a teacher would give a pair that is new, nobody knows.
        cannot |= kind == "false_negative" and "teacher" in LOSSES[found.loss].needs
        assert (found.after is None) is cannot is (found.refused is not None)
        if kind == "shift":
            assert not found.notices


def test_a_change_of_scores_is_noticed_by_those_that_do_not_rank():
    """Lesson 5: all cosines + 0.2."""
    batch, shift = batch_of(Data()), Change("shift", by=0.2)
    cosent = one("cosent", batch, shift)
    assert cosent.before.loss == pytest.approx(19.12, abs=5e-3)
    assert cosent.after.loss == pytest.approx(cosent.before.loss, rel=1e-12)
    assert not cosent.notices
    # Both by the scores: what knows differences alone pulls as it did.
    assert cosent.after.gradient == pytest.approx(cosent.before.gradient, rel=1e-9)
    regression = one("cosine_mse", batch, shift)
    assert regression.before.loss == pytest.approx(0.082, abs=5e-4)
    assert regression.after.loss == pytest.approx(0.128, abs=5e-4)
    assert one("cosine_mse", batch, Change("shift", by=0.3)).after.loss == pytest.approx(
        0.181, abs=5e-4
    )
    assert regression.notices
    assert regression.floor_after == pytest.approx(0)
    # A cosine that was raised above 1 makes no other minimum, and no other value at collapse.
    assert float(batch.scores.max()) + 0.2 > 1
    for found in (cosent, regression):
        assert (found.floor_after, found.collapse_after) == (
            found.floor_before,
            found.collapse_before,
        )
    assert cosent.floor_before == pytest.approx(1.235, abs=5e-4)


def test_half_the_spread_is_half_the_scale():
    batch = batch_of(Data())
    spread = one("cosent", batch, Change("spread", by=0.5)).after.loss
    halved = explore(Scenario(parameters=(("scale", 10.0),)), batch).loss
    assert spread == pytest.approx(halved, rel=1e-12)


def test_raw_labels_leave_a_minimum_that_no_cosine_reaches():
    """Lesson 5: with labels 0 to 5, MSE is 6.77 with floor 5.47; 79% of targets unreachable."""
    batch = batch_of(Data())
    scores, labels = batch.scores, batch.labels
    spec = LOSSES["cosine_mse"]
    assert float(spec.definition(scores, labels)) == pytest.approx(6.77, abs=5e-3)
    assert spec.floor({"labels": labels}) == pytest.approx(5.47, abs=5e-3)
    assert float((labels > 1).double().mean()) == pytest.approx(0.79, abs=5e-3)
    assert int((labels > scores).sum()) == 21


def test_a_duplicate_in_the_batch_sets_a_minimum():
    """Lesson 4: row 3 twice: .0285 → .182, × 6.4; the floor is 2 ln 2/9."""
    batch = batch_of(ANSWERS, extra=False)
    found = one("info_nce", batch, Change("duplicate", int(batch.positives[3])))
    assert found.before.loss == pytest.approx(0.0285, abs=5e-5)
    assert found.after.loss == pytest.approx(0.182, abs=5e-4)
    assert found.ratio == pytest.approx(6.4, abs=0.05)
    assert found.after.loss > 2 * math.log(2) / 9


def test_each_change_makes_the_rows_it_says():
    batch = batch_of(Data())
    low, high = batch.label_range
    flipped = changed_batch(batch, Change("flip", 0))
    assert float(flipped.labels[0]) == low + high - float(batch.labels[0])
    assert torch.equal(flipped.scores, batch.scores)
    assert (flipped.threshold, flipped.label_range) == (batch.threshold, batch.label_range)
    dropped = changed_batch(batch, Change("drop", 3))
    assert len(dropped) == len(batch) - 1
    assert batch.pairs.first[3] not in dropped.pairs.first
    doubled = changed_batch(batch, Change("duplicate", 3))
    assert (len(doubled), doubled.pairs.second[-1]) == (len(batch) + 1, batch.pairs.second[3])
    false = changed_batch(batch, Change("false_negative", pair=2, by=5))
    assert false.pairs.first[-1] == batch.pairs.first[5]
    assert false.pairs.second[-1] == batch.pairs.second[2]
    assert float(false.labels[-1]) == float(batch.labels.min())
    assert len(false.classes) == len(batch.classes)  # no new sentence


def test_flipping_twice_is_the_batch_again():
    batch = batch_of(Data())
    again = changed_batch(changed_batch(batch, Change("flip", 4)), Change("flip", 4))
    assert torch.allclose(again.labels, batch.labels)


def test_given_scores_stay_with_their_pairs():
    batch = batch_of(Data(example="cosent_batch"))
    assert changed_batch(batch, Change("drop", 1)).given.tolist() == [0.1, 0.8, 0.9]
    with pytest.raises(Problem) as refused:
        changed_batch(batch, Change("false_negative", pair=0, by=1))
    assert refused.value.key == "problem.what_if_given"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (Change("melt"), "what_if_kind"),
        (Change("drop", 12), "what_if_pair"),
        (Change("false_negative", 0, 2.5), "what_if_pair"),
    ],
)
def test_what_cannot_be_changed_is_reported(change, key):
    with pytest.raises(Problem) as refused:
        changed_batch(batch_of(), change)
    assert refused.value.key == f"problem.{key}"


# ---- How far collapsed


def test_every_loss_ends_on_its_line():
    found = collapsing(EVERY, batch_of(), points=3)
    assert found.shares == (0, 0.5, 1)
    assert found.spread[-1] == pytest.approx(0, abs=1e-9)
    for scenario, way in zip(EVERY, found.ways, strict=True):
        assert way.values[0] == pytest.approx(explore(scenario, batch_of()).loss)
        # The teacher's vectors stay where they are, and the batch's meet elsewhere.
        elsewhere = way.loss == "embedding_mse"
        assert way.arrives is (None if way.line is None else not elsewhere), way.loss
    assert {way.loss for way in found.falling} == {
        way.loss for way in found.ways if way.reached < way.values[0] - 1e-9 * abs(way.values[0])
    }


def test_on_the_way_each_value_is_that_of_the_moved_batch(monkeypatch):
    batch, explored = batch_of(), []
    monkeypatch.setattr(
        losses_towards_collapse, "explore", lambda *given: explored.append(1) or explore(*given)
    )
    found = collapsing(EVERY, batch, points=5)
    assert len(explored) == 2 * len(EVERY)  # both ends of each way
    for scenario, way in zip(EVERY, found.ways, strict=True):
        for place in (1, 3):
            moved = moved_together(batch, found.shares[place])
            expected = explore(scenario, moved).loss
            assert way.values[place] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_the_lines_of_eight_questions():
    """Lesson 3: ln K, ln(2N − 1), the margin, ln(1 + |P|), 8 ln 2."""
    names = ("info_nce", "nt_xent", "triplet", "siglip")
    scenarios = [Scenario(loss=name) for name in names]
    found = collapsing(scenarios, batch_of(ANSWERS, extra=False), points=3)
    expected = [math.log(8), math.log(15), 1.0, 8 * math.log(2)]
    assert [way.reached for way in found.ways] == pytest.approx(expected, abs=1e-6)
    graded = collapsing([Scenario()], batch_of(Data()), points=2)
    assert graded.ways[0].reached == pytest.approx(math.log(270))
    assert graded.ways[0].falls  # 19.12 is worse than answering the same for everything


def test_siglip_starts_above_its_collapse_and_is_named():
    batch = batch_of(ANSWERS, extra=False)
    apart = dataclasses.replace(batch, vectors=torch.eye(len(batch.classes), dtype=torch.float64))
    found = collapsing([Scenario(loss="siglip"), Scenario(loss="info_nce")], apart, points=5)
    assert found.ways[0].values[0] == pytest.approx(10.0004, abs=5e-5)
    assert found.ways[0].reached == pytest.approx(5.545, abs=5e-4)
    assert [way.loss for way in found.falling] == ["siglip"]


def test_nothing_moves_at_the_start_and_lengths_stay():
    batch = batch_of()
    assert moved_together(batch, 0.0) is batch
    half = moved_together(batch, 0.5).vectors.norm(dim=1)
    assert torch.allclose(half, batch.vectors.norm(dim=1).mean().expand_as(half), rtol=1e-3)
    with pytest.raises(Problem):
        collapsing(EVERY[:1], batch, points=1)
