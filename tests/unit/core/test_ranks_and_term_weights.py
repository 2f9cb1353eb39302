"""Where the right key, class or prototype stands, on batches small enough to check by hand."""

from __future__ import annotations

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.ranks_and_term_weights import places_of, weights_of
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.core.trace import trace
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for

UNIT = torch.eye(3, dtype=torch.float64)


def test_every_query_finds_its_own_key():
    found = places_of({"queries": UNIT, "keys": 2 * UNIT})
    assert (found.kind, found.anchors, found.first, found.reciprocal) == ("key", 3, 3, 1.0)


def test_ranks_are_counted_among_all_keys():
    # Query 0 is nearest to key 1 and then to its own; the others find theirs.
    keys = torch.tensor([[0.9, 0.5, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    queries = torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 1.0]]).double()
    found = places_of({"queries": queries, "keys": keys})
    assert found.first == 2
    assert found.reciprocal == pytest.approx((1 / 2 + 1 + 1) / 3)
    # A further negative that is nearer still pushes it to the third place.
    found = places_of({"queries": queries, "keys": keys, "negatives": queries[:1]})
    assert found.reciprocal == pytest.approx((1 / 3 + 1 + 1) / 3)


def test_collapse_is_no_success():
    same = torch.ones(4, 2)
    found = places_of({"queries": same, "keys": same})
    assert (found.first, found.reciprocal) == (0, 1 / 4)


def test_of_a_class_the_nearest_other_member_counts():
    turn = torch.tensor([0.0, 0.1, 0.3, 1.5, 1.6])
    embeddings = torch.stack([turn.cos(), turn.sin()], dim=1)
    found = places_of({"embeddings": embeddings, "classes": torch.tensor([0, 0, 1, 1, 2])})
    # 0 and 1 find each other; 2 has both of them before 3, and 3 has 4 before 2; 4 is alone.
    assert (found.kind, found.anchors, found.first) == ("class", 4, 2)
    assert found.reciprocal == pytest.approx((1 + 1 + 1 / 3 + 1 / 2) / 4)


def test_prototypes_are_judged_by_what_the_loss_compares():
    given = {"embeddings": UNIT[:2], "classes": torch.tensor([0, 1]), "prototypes": UNIT}
    assert places_of(given).first == 2
    logits = torch.tensor([[1.0, 2.0, 0.0], [0.0, 3.0, 0.0]])
    assert places_of(given, logits).first == 1


def test_a_loss_on_pairs_looks_for_nothing():
    assert places_of({"scores": torch.zeros(3), "labels": torch.zeros(3)}) is None


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_judged_by_what_it_does(loss):
    data = Data(source="random", random=RandomBatch(pairs=20, dimension=8, seed=1))
    found = explore(Scenario(data=data_for(loss, data), loss=loss))
    kinds = {"in_batch": {"key", "class"}, "prototypes": {"prototype"}, "pair_scores": {None}}
    kind = found.places and found.places.kind
    kinds["spread"] = {None, "key"}
    assert kind in kinds.get(found.spec.group, {None, "class"})
    if kind:
        assert 0 <= found.places.first <= found.places.anchors
        assert found.places.first / found.places.anchors <= found.places.reciprocal <= 1


@pytest.mark.parametrize("loss", ["softmax", "arcface"])
def test_the_accuracy_of_prototypes_is_the_argmax_of_the_loss(loss):
    data = Data(source="random", random=RandomBatch(pairs=30, dimension=8, seed=2, agreement=0.3))
    found = explore(Scenario(data=data, loss=loss))
    compared = found.trace.last("logits") or found.trace.last("similarities")
    right = compared.value.argmax(dim=1) == found.batch.classes
    assert found.places.first == int(right.sum())


def test_a_key_as_near_as_the_own_one_but_for_rounding_stands_before_it():
    turned = torch.tensor([1.0, 1e-8]), torch.tensor([1.0, -1e-8])
    keys = torch.stack((turned[0], turned[1], torch.tensor([0.0, 1.0]))).double()
    queries = torch.tensor([[1.0, 0.5], [1.0, -0.5], [0.0, 1.0]]).double()
    found = places_of({"queries": queries, "keys": keys})
    assert (found.first, found.reciprocal) == (1, pytest.approx((0.5 + 0.5 + 1) / 3))


@pytest.mark.parametrize("count", [10, 20, 40, 70, 300])
def test_nine_of_ten_equal_terms_are_active(count):
    """Nine shares of a tenth add up to 0.8999999999999999, and are 90% all the same."""

    def loss(scores):
        terms = scores * 1.0
        return terms.sum()

    scores = torch.linspace(0, 1, count, dtype=torch.float64, requires_grad=True)
    found = weights_of(trace(loss, wrt=(scores,), through="terms", scores=scores), "terms")
    assert found.active == count * 9 // 10
    assert found.carried == pytest.approx(0.9)


def test_scores_that_came_with_the_data_are_felt_at_every_level():
    """Of three levels of weight 1, all of the given scores: three times the loss on these."""
    data = Data(example="cosent_batch")
    one, three = (
        explore(Scenario(data=data, loss=loss)) for loss in ("cosent", "hierarchical_cosent")
    )
    assert three.loss == pytest.approx(3 * one.loss)
    torch.testing.assert_close(three.pair_gradient, 3 * one.pair_gradient)
    assert three.is_felt
