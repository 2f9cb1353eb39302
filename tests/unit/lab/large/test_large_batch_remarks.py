"""Remarks on a large batch are those of Explore on the same pairs."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.core.batch import batch_of_scores
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import mostly_foreign, remarks
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_remarks import judged, remarks_of
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.sources.pairs import Pairs
from tests.unit.lab.large.made import batch_of

OF_SCORES = ("cosent", "weighted_cosent", "pairwise_logistic", "pairwise_hinge")


def quiet(done, total):
    pass


def opened_of(batch, loss, **parameters):
    chosen = checked(loss, parameters)
    return open_batch(batch, loss, chosen, quiet), chosen


def drawn(count, noise=0.8, wrong=0):
    source = np.random.default_rng(0)
    truth = source.normal(size=count)
    labels = np.round(np.clip(2.5 + 1.2 * truth, 0, 5))
    scores = np.tanh((truth + noise * source.normal(size=count)) / 2)
    labels[np.argsort(scores)[:wrong]] = 5
    return labels, scores


def both(labels, scores, loss, **parameters):
    """The batch as Explore has it, explored, and as the Large page has it, opened and judged."""
    names = tuple(tuple(f"{side}{i}" for i in range(len(labels))) for side in "ab")
    pairs = Pairs(*names, tuple(labels.tolist()), tuple(scores.tolist()))
    scenario = Scenario(data=Data(source="random"), loss=loss, parameters=tuple(parameters.items()))
    explored = explore(scenario, batch_of_scores(pairs, Rules()))
    batch = in_order(labels, scores, *names)
    opened, chosen = opened_of(batch, loss, **parameters)
    by = judged(batch, quiet)
    return explored, opened, by, remarks_of(opened, loss, chosen, by)


@pytest.mark.parametrize("loss", OF_SCORES)
@pytest.mark.parametrize(("wrong", "noise"), [(0, 0.8), (12, 0.1)])
def test_512_pairs_are_judged_as_explore_does(loss, wrong, noise):
    explored, opened, by, _ = both(*drawn(512, noise, wrong), loss)
    found = opened.batch.contradictions
    entries = opened.batch.entry[found.suspects]
    assert set(entries) == {one.pair for one in explored.suspects}
    mine = dict(zip(entries, found.rates[found.suspects], strict=True))
    fitting = dict(zip(entries, found.fitting[found.suspects], strict=True))
    for one in explored.suspects:
        assert mine[one.pair] == pytest.approx(one.rate, abs=1e-12)
        assert fitting[one.pair] == one.fitting
    assert opened.violated == (explored.order.violated, explored.order.ordered)
    assert by.spearman == pytest.approx(explored.order.spearman, abs=1e-12)
    assert by.usual == explored.disagreement


@pytest.mark.parametrize(
    ("labels", "scores", "loss", "parameters"),
    [
        (*drawn(300, 0.1, wrong=8), "cosent", {}),
        (np.arange(60.0), -np.linspace(-1, 1, 60), "cosent", {}),
        (np.arange(60.0), -np.linspace(-1, 1, 60), "pairwise_hinge", {}),
        (np.ones(40), np.linspace(-1, 1, 40), "cosent", {}),
        (np.arange(40.0), np.full(40, 0.5), "cosent", {}),
        (np.arange(40.0), np.linspace(-1, 1, 40), "weighted_cosent", {"scale": 100.0}),
        (*drawn(300), "cosent", {"scale": 200.0}),
    ],
)
def test_the_same_is_remarked_as_on_the_explore_page(labels, scores, loss, parameters):
    explored, _, _, message = both(labels, scores, loss, **parameters)
    assert message, "each of these has a remark"
    # The norm over sentence vectors is not known here, and has no remark.
    expected = [one for one in remarks(explored) if not one.key.startswith("gradient_")]
    assert [one.key for one in message] == [one.key for one in expected]
    for mine, other in zip(message, expected, strict=True):
        assert mine.values == other.values


@pytest.mark.parametrize("loss", offered())
def test_every_loss_is_judged(loss):
    batch = batch_of(200, "grades", width=8)
    opened, chosen = opened_of(batch, loss)
    assert len(remarks_of(opened, loss, chosen, judged(batch, quiet))) <= 3


@pytest.mark.parametrize(("loss", "key"), [("info_nce", "all_key"), ("nt_xent", "all_class")])
def test_keys_that_all_come_first_and_embeddings_that_collapsed(loss, key):
    labels, names = np.ones(30), tuple(map(str, range(30)))
    apart = np.eye(30)
    batch = in_order(labels, np.ones(30), names, [f"key {n}" for n in names], (apart, apart))
    opened, chosen = opened_of(batch, loss)
    assert [one.key for one in remarks_of(opened, loss, chosen, judged(batch, quiet))] == [key]
    alike = np.ones((30, 4))
    batch = in_order(labels, np.ones(30), names, names, (alike, alike))
    opened, chosen = opened_of(batch, loss)
    remarks = remarks_of(opened, loss, chosen, judged(batch, quiet))
    assert "collapsed" in {one.key for one in remarks}


@pytest.mark.parametrize("loss", ["info_nce", "nt_xent", "siglip"])
def test_a_text_that_stands_twice_is_nearest_to_no_query(loss):
    """Each answer belongs to two questions, so none has its own before all others: not even where
    rounding parts them."""
    source = np.random.default_rng(0)
    answers = np.repeat(source.normal(size=(150, 384)), 2, axis=0)
    requested = answers + 0.1 * source.normal(size=answers.shape)
    labels, names = np.ones(300), ("",) * 300
    opened, chosen = opened_of(in_order(labels, labels, names, names, (requested, answers)), loss)
    # As a view looks for its partner, the two answers of one text are each other's nearest.
    assert opened.nearest == 0
    keys = {one.key for one in remarks_of(opened, loss, chosen, judged(opened.batch, quiet))}
    assert not keys & {"all_key", "all_class"}
    alone = in_order(
        labels[::2], labels[::2], names[::2], names[::2], (requested[::2], answers[::2])
    )
    opened, _ = opened_of(alone, loss)
    assert opened.nearest == opened.shape[0]


def test_the_letters_of_all_sentences_are_counted():
    assert mostly_foreign(["a", "中文句子"], ["b"])
    assert not mostly_foreign(["une phrase en français"], ["中文"])
    assert not mostly_foreign(["1234 ?!"], [])
