"""explore(scenario) gives, for every loss on every kind of batch, what the page shows."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy import stats

from lossprism.explorer.core.batch import batch_of_scores, batch_of_vectors, load_table
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import parameters_for
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.random_batch import RandomBatch, composed
from lossprism.explorer.sources.textbook import EXAMPLES
from lossprism.losses import LOSSES, spec_of
from tests.scenes import data_for
from tests.sentences import raises_problem
from tests.unit.losses.made import case

RANDOM = Data(source="random", random=RandomBatch(pairs=24, dimension=16, seed=5))


def on(data, loss="cosent", **parameters):
    scenario = Scenario(data=data_for(loss, data), loss=loss, parameters=tuple(parameters.items()))
    return explore(scenario)


def of_rows(*rows):
    """The exploration of any loss on these pairs, in vectors drawn for their sentences."""
    pairs = load_table(rows).pairs
    vectors = np.random.default_rng(4).standard_normal((len(pairs.sentences), 8))
    batch = batch_of_vectors(pairs, vectors, Rules())
    return lambda loss: explore(Scenario(data=Data(), loss=loss), batch)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_on_every_example_is_finite(loss):
    for example in EXAMPLES:
        with case(example=example):
            found = on(Data(example=example), loss)
            assert math.isfinite(found.loss)
            assert found.pair_gradient.isfinite().all()
            assert found.pair_gradient.shape == (len(found.batch),)
            assert math.isfinite(found.gradient_norm)
            assert found.trace.last(LOSSES[loss].terms) is not None


@pytest.mark.parametrize(
    ("loss", "convention"),
    [(name, c.name) for name, spec in LOSSES.items() for c in spec.conventions],
)
def test_every_convention_runs(loss, convention):
    found = explore(Scenario(data_for(loss, RANDOM, convention), loss=loss, convention=convention))
    assert math.isfinite(found.loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_shown_is_the_public_functions(loss):
    found = on(RANDOM, loss)
    batch = found.batch
    given = {
        name: batch.read(what, batch.vectors, batch.scores)
        for name, what in found.spec.reads.items()
    }
    expected = found.spec.function(**given, **found.parameters)
    torch.testing.assert_close(found.trace.loss, expected, rtol=1e-12, atol=0)


def test_the_sources_batch_has_the_sources_loss():
    found = on(Data(example="cosent_batch"), "cosent", scale=20.0)
    assert found.loss == pytest.approx(7.919774e-06, rel=1e-6)
    assert found.order.ordered == 4
    assert found.order.violated == 0


@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent", "pairwise_logistic", "circle"])
def test_the_gradient_of_a_pair_is_that_of_its_score(loss):
    found = on(RANDOM, loss)
    by_scores = found.trace.last("scores").gradient
    torch.testing.assert_close(found.pair_gradient, by_scores)


def test_the_projected_gradient_of_a_loss_on_vectors_is_that_of_its_cosines():
    """contrastive on cosine distance depends on the vectors only through each pair's cosine."""
    found = on(RANDOM, "contrastive", distance="cosine", margin=0.5)
    by_scores = -found.trace.last("distances").gradient
    torch.testing.assert_close(found.pair_gradient, by_scores, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", ["info_nce", "nt_xent", "supcon", "angle", "contrastive"])
def test_the_gradient_of_a_loss_on_vectors_is_its_projection(loss):
    """A step along which a pair's cosine rises fastest: what it changes the loss by, for each unit
    that the cosine rises."""
    found = on(RANDOM, loss)
    batch, step = found.batch, 1e-5
    assert found.is_projected

    def at(moved):
        scores = batch.scores_from(moved)
        given = {name: batch.read(what, moved, scores) for name, what in found.spec.reads.items()}
        return float(found.spec.function(**given, **found.parameters)), scores

    for pair in range(0, len(batch), 5):
        vectors = batch.vectors.detach().clone().requires_grad_()
        batch.scores_from(vectors)[pair].backward()
        direction = vectors.grad
        ends = [at(batch.vectors + sign * step * direction) for sign in (1, -1)]
        changed, risen = ends[0][0] - ends[1][0], float((ends[0][1] - ends[1][1])[pair])
        assert changed / risen == pytest.approx(
            float(found.pair_gradient[pair]), rel=1e-4, abs=1e-7
        )


def test_beside_the_projection_stands_the_gradient_by_this_similarity_alone():
    """InfoNCE of the matrix of its cosines, in which one cell is moved and all others are held."""
    found = on(RANDOM, "info_nce", temperature=0.1)
    batch, step = found.batch, 1e-5
    queries, keys = (batch.read(name, batch.vectors, batch.scores) for name in ("queries", "keys"))
    others = batch.read("negatives", batch.vectors, batch.scores)
    candidates = keys if others is None else torch.cat((keys, others))
    cosines = torch.nn.functional.cosine_similarity(queries[:, None], candidates, dim=2)

    def loss_of(matrix):
        target = torch.arange(len(matrix))
        return float(torch.nn.functional.cross_entropy(matrix / 0.1, target))

    for place, pair in enumerate(batch.positives.tolist()):
        up, down = cosines.clone(), cosines.clone()
        up[place, place] += step
        down[place, place] -= step
        slope = (loss_of(up) - loss_of(down)) / (2 * step)
        assert float(found.score_gradient[pair]) == pytest.approx(slope, rel=1e-4, abs=1e-8)
    # It has no say over pairs that it does not compare, and is another number than the projection.
    assert found.score_gradient[batch.others].isnan().all()
    positives = batch.positives
    apart = found.score_gradient[positives] - found.pair_gradient[positives]
    assert float(apart.abs().max()) > 1e-3


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_by_the_score_is_there_where_the_loss_has_one(loss):
    found = on(RANDOM, loss)
    if found.spec.reads_scores:
        assert not found.is_projected
        torch.testing.assert_close(found.score_gradient, found.pair_gradient)
    else:
        assert found.is_projected
        compares = found.trace.last("similarities") and found.spec.group != "prototypes"
        assert (found.score_gradient is not None) == bool(compares)


def reads_both(scores, first, second):
    cosines = torch.nn.functional.cosine_similarity(first, second)
    terms = scores.square() + cosines
    return terms.mean()


def test_a_loss_of_ones_own_that_reads_both_has_both(monkeypatch):
    monkeypatch.setitem(LOSSES, "reads_both", spec_of(reads_both))
    found = on(RANDOM, "reads_both")
    count, scores = len(found.batch), found.batch.scores
    torch.testing.assert_close(found.score_gradient, 2 * scores / count)
    torch.testing.assert_close(found.pair_gradient, (2 * scores + 1) / count)


def test_the_gradient_norm_is_over_the_sentence_vectors():
    found = on(RANDOM)
    step = 1e-6
    vectors = found.batch.vectors
    direction = torch.randn_like(vectors)
    batch = found.batch

    def loss_at(moved):
        scores = batch.scores_from(moved)
        return LOSSES["cosent"].function(scores, batch.labels)

    slope = (loss_at(vectors + step * direction) - loss_at(vectors - step * direction)) / (2 * step)
    assert abs(float(slope)) <= found.gradient_norm * float(direction.norm())
    assert found.gradient_of == "vectors"
    given = on(Data(example="cosent_batch"))
    assert given.gradient_of == "scores"


def test_weights_are_shares_and_count_their_terms():
    found = on(RANDOM)
    weights = found.weights
    assert float(weights.shares.sum()) == pytest.approx(1)
    assert weights.terms == found.order.ordered
    ranked = weights.shares.flatten().sort(descending=True).values
    assert ranked[: weights.active].sum() >= 0.9
    assert ranked[: weights.active - 1].sum() < 0.9
    assert weights.carried == pytest.approx(float(ranked[: weights.active].sum()))
    entropy = stats.entropy(weights.shares.flatten().numpy())
    assert weights.effective == pytest.approx(math.exp(entropy))


@pytest.mark.parametrize(
    "loss",
    ["cosent", "weighted_cosent", "pairwise_logistic", "pairwise_hinge", "max_violation", "angle"],
)
def test_a_loss_over_ordered_pairs_has_a_term_for_each_and_no_other(loss):
    found = on(RANDOM, loss)
    assert found.weights.terms == found.order.ordered
    mask = found.trace.mask_of(found.trace.last("terms"))
    assert torch.equal(mask, found.batch.labels[:, None] < found.batch.labels)


def test_the_weight_of_a_pair_in_cross_entropy_is_how_far_it_is_from_certain():
    found = on(RANDOM, "binary_cross_entropy")
    batch = found.batch
    missing = (batch.scores.sigmoid() - batch.positive.to(batch.scores.dtype)).abs()
    torch.testing.assert_close(found.weights.shares, missing / missing.sum())
    assert found.heaviest[0].cell == (int(missing.argmax()),)


@pytest.mark.parametrize("loss", ["triplet", "contrastive", "pairwise_hinge"])
def test_terms_of_equal_weight_come_by_their_value(loss):
    found = on(RANDOM, loss)
    keys = [(term.share, term.value) for term in found.heaviest]
    assert keys == sorted(keys, reverse=True)
    share, value = keys[-1]
    alike = found.weights.shares == share
    values = found.trace.last(found.spec.terms).value
    assert int((alike & (values > value)).sum()) <= len(keys)  # none of these is left out


def test_the_heaviest_terms_come_in_order_and_add_up():
    found = on(RANDOM)
    shares = [term.share for term in found.heaviest]
    assert shares == sorted(shares, reverse=True)
    assert found.heaviest[-1].so_far == pytest.approx(sum(shares))
    top = found.heaviest[0]
    assert found.weights.shares[top.cell] == found.weights.shares.max()
    assert float(found.trace.last("terms").value[top.cell]) == top.value


def test_order_counts_agree_with_a_loop():
    found = on(RANDOM)
    scores, labels = found.batch.scores.tolist(), found.batch.labels.tolist()
    ordered = [(i, j) for i in range(24) for j in range(24) if labels[i] > labels[j]]
    assert found.order.ordered == len(ordered)
    assert found.order.violated == sum(scores[j] > scores[i] for i, j in ordered)
    assert found.order.spearman == pytest.approx(stats.spearmanr(scores, labels).statistic)


def test_loss_at_zero_scale_is_the_collapse_value():
    found = on(RANDOM, "cosent", scale=0.1)
    assert found.collapse == pytest.approx(math.log(1 + found.order.ordered))
    assert abs(found.loss - found.collapse) < 0.2


def test_minimum_and_loss_are_in_order():
    for loss, spec in LOSSES.items():
        if spec.floor is None:
            continue
        found = on(RANDOM, loss)
        if found.floor is not None:
            assert found.floor <= found.loss + 1e-9, loss


def test_a_sentence_in_several_pairs_makes_the_minimum_a_bound():
    """Both queries of the worked example are u₁: no embedding has less than ln 2."""
    found = on(Data(example="worked_example"), "info_nce")
    assert found.floor < 1e-12
    assert found.floor_is_bound
    vectors = torch.randn(4, 3, generator=torch.Generator().manual_seed(1)).double()
    vectors.requires_grad_()
    descent = torch.optim.LBFGS([vectors], max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        batch = found.batch
        given = {what: batch.read(what, vectors, None) for what in found.spec.reads.values()}
        return found.spec.definition(**given, **found.parameters)

    def closure():
        descent.zero_grad()
        value = loss()
        value.backward()
        return value

    descent.step(closure)
    assert float(loss().detach()) == pytest.approx(math.log(2), abs=1e-6)


def test_independent_pairs_reach_the_minimum():
    alone = of_rows(("a", "b", "1"), ("c", "d", "0"), ("e", "f", "1"))
    shared = of_rows(("a", "b", "1"), ("a", "d", "0"), ("e", "f", "1"))
    for loss, bound in (("cosent", True), ("contrastive", True), ("supcon", False)):
        assert shared(loss).floor_is_bound == bound
        assert not alone(loss).floor_is_bound
    # The shared sentence is the first of a pair that is not positive, which InfoNCE does not read.
    assert not shared("info_nce").floor_is_bound
    assert of_rows(("a", "b", "1"), ("e", "f", "1"), ("g", "f", "0"))("info_nce").floor_is_bound
    # All embeddings equal are at the least of it.
    assert shared("max_violation").floor == 0
    assert not shared("max_violation").floor_is_bound


def test_scores_that_came_with_the_data_move_by_themselves():
    assert not on(Data(example="cosent_batch"), "cosent").floor_is_bound


@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent", "pairwise_logistic", "circle"])
def test_scores_that_are_no_cosines_have_the_minimum_of_logits(loss):
    """Of cosines it is the least between −1 and 1; these lie beyond, as a cross-encoder's may."""
    pairs = Pairs(("a", "c"), ("b", "d"), (1.0, 0.0), (5.0, -5.0))
    scenario = Scenario(loss=loss, parameters=(("scale", 1.0),))
    found = explore(scenario, batch_of_scores(pairs, scenario.rules))
    assert found.floor == 0
    within = dataclasses.replace(pairs, scores=(0.5, -0.5))
    assert explore(scenario, batch_of_scores(within, scenario.rules)).floor > 0


@pytest.mark.parametrize(("dimension", "bound"), [(2, True), (64, False)])
def test_too_few_dimensions_make_the_minimum_a_bound(dimension, bound):
    """64 keys on a circle cannot all be far from one another."""
    settings = RandomBatch(pairs=64, dimension=dimension, seed=1)
    found = on(Data(source="random", random=settings), "info_nce")
    assert found.floor < 1e-6
    assert found.floor_is_bound == bound
    assert not on(Data(source="random", random=settings), "cosent").floor_is_bound


@pytest.mark.parametrize(
    ("loss", "convention", "chosen"),
    [
        ("supcon", "pytorch-metric-learning 2.9", {"include_self": True}),
        ("triplet", "sentence-transformers 6.2 BatchSemiHard", {"mining": "hard"}),
    ],
)
def test_a_link_may_carry_what_a_convention_no_longer_takes(loss, convention, chosen):
    spec = LOSSES[loss].under(convention)
    assert parameters_for(spec, chosen) == parameters_for(spec, {})
    with raises_problem("unknown_parameter"):
        parameters_for(spec, {"include_myself": True})


def test_planted_wrong_labels_are_suspected():
    settings = RandomBatch(
        pairs=60, dimension=32, agreement=1.0, mislabelled=0.05, hard_negatives=0.0, seed=2
    )
    planted = set(composed(settings).mislabelled)
    assert len(planted) == 3
    found = on(Data(source="random", random=settings))
    assert {suspect.pair for suspect in found.suspects[:3]} == planted


def test_the_two_wrong_labels_of_the_english_set_lead_the_suspects():
    example = EXAMPLES["graded_english"]
    found = on(Data(example="graded_english"))
    assert {suspect.pair for suspect in found.suspects[:2]} == set(example.mislabelled)


def test_all_labels_equal_sees_nothing():
    rows = tuple((f"a{i}", f"b{i}", "1") for i in range(5))
    settings = dataclasses.replace(RANDOM.random, pairs=5)
    batch_scenario = Scenario(
        data=Data(source="random", random=settings), rules=Rules(threshold=-1)
    )
    found = explore(dataclasses.replace(batch_scenario, loss="circle"))
    assert rows
    assert found.loss == 0
    assert found.gradient_norm == 0
    assert found.weights.active == 0
    assert found.heaviest == []


def test_it_is_a_pure_function():
    one, two = on(RANDOM, "info_nce"), on(RANDOM, "info_nce")
    assert one.loss == two.loss
    assert torch.equal(one.pair_gradient, two.pair_gradient)


@pytest.mark.parametrize(
    ("loss", "parameters", "message"),
    [
        ("cosine_mes", {}, "cosine_mse"),
        ("perplexity", {}, "cosent"),
        ("cosent", {"tau": 1}, "scale"),
        ("cosent", {"scale": 1e9}, "0.1 to 1000"),
        ("cosent", {"scale": "20"}, "0.1 to 1000"),
        ("cosent", {"scale": True}, "0.1 to 1000"),
        ("cosent", {"scale": math.nan}, "0.1 to 1000"),
        ("info_nce", {"symmetric": 1}, "on or off"),
        ("contrastive", {"distance": "manhattan"}, "euclidean"),
        ("hierarchical_cosent", {"weights": (1.0,)}, "it needs 3"),
    ],
)
def test_a_bad_choice_is_answered_with_what_is_accepted(loss, parameters, message):
    with pytest.raises(Problem) as raised:
        on(RANDOM, loss, **parameters)
    assert message in str(raised.value)


def test_an_unknown_convention_is_named():
    with pytest.raises(Problem, match="sentence-transformers"):
        explore(Scenario(convention="keras"))


def test_large_batches_keep_their_numbers():
    data = Data(source="random", random=RandomBatch(pairs=512, labels="continuous"))
    found = on(data)
    assert found.order.ordered == np.sum(
        np.subtract.outer(found.batch.labels.numpy(), found.batch.labels.numpy()) > 0
    )
    assert float(found.pair_gradient.sum()) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_lies_beside_the_terms_is_what_is_felt_when_their_gradient_is_cut(loss, monkeypatch):
    spec = LOSSES[loss]
    switches = [{p.name: True} for p in spec.parameters if p.kind == "switch"]
    for changed in [{}, *switches]:
        whole = on(RANDOM, loss, **changed)
        with monkeypatch.context() as cut:

            def stop(step, gradient):
                return torch.zeros_like(gradient) if step.name == spec.terms else None

            cut.setattr("lossprism.explorer.core.trace._keep_gradient", stop)
            felt = on(RANDOM, loss, **changed).gradient_norm
        assert whole.trace.beside == (felt > 0), changed


def test_supcon_pulls_its_positives_beside_the_terms():
    assert on(RANDOM, "supcon").trace.beside
    assert not on(RANDOM, "cosent").trace.beside
    assert not on(RANDOM, "info_nce").trace.beside
    assert on(RANDOM, "info_nce", symmetric=True).trace.beside


@pytest.mark.parametrize("loss", LOSSES)
def test_the_threshold_matters_to_those_that_say_so(loss):
    at = [
        explore(Scenario(data_for(loss, Data()), Rules(threshold=threshold), loss))  # graded labels
        for threshold in (1, 3)
    ]
    assert len({len(one.batch.positives) for one in at}) == 2
    assert (at[0].loss != at[1].loss) == at[0].spec.by_threshold
