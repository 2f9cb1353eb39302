"""Losses on one batch: the numbers are those of `explore`, and the sentences on two are true."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re

import pytest
import torch
from scipy import stats

from lossprism.explorer.core.batch import batch_of_scores, make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import MAX_LOSSES, compare, kendall
from lossprism.explorer.locale import LANGUAGES, catalogue, say
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from lossprism.losses.inputs_that_losses_may_read import READABLE
from tests.sentences import pattern_of

RANDOM = Scenario(data=Data(source="random", random=RandomBatch(pairs=12, dimension=6, seed=5)))
EVERY = [
    Side(name, convention)
    for name, spec in LOSSES.items()
    for convention in ("", *(one.name for one in spec.conventions))
]
SIX = [
    Side("info_nce", parameters=(("temperature", 0.1),)),
    Side("cosent"),
    Side("pairwise_hinge", parameters=(("margin", 0.1),)),
    Side("triplet"),
    Side("circle"),
    Side("supcon", "pytorch-metric-learning 2.9"),
]


def same(found, expected):
    if expected is None:
        return found is None
    return torch.equal(found.nan_to_num(7.5), expected.nan_to_num(7.5))


def explored(scenario, batch):
    """The exploration, or the problem that there is instead."""
    try:
        return explore(scenario, batch)
    except Problem as problem:
        return problem


@pytest.mark.parametrize("begin", range(0, len(EVERY), MAX_LOSSES))
def test_every_loss_under_every_convention_is_the_exploration(begin):
    sides = [*EVERY, Side("cosent")][begin : begin + MAX_LOSSES]
    found = compare(RANDOM, sides)
    batch = make_batch(RANDOM.data, RANDOM.rules)
    assert found.batch is batch
    for outcome in found.sides:
        one = explored(outcome.side.applied_to(RANDOM), batch)
        if isinstance(one, Problem):
            assert (outcome.stands, outcome.problem.key) == (False, one.key)
            continue
        figures = outcome.figures
        assert figures.loss == one.loss
        assert (figures.floor, figures.floor_is_bound) == (one.floor, one.floor_is_bound)
        assert figures.collapse == one.collapse
        assert (figures.gradient_norm, figures.gradient_of) == (one.gradient_norm, one.gradient_of)
        weights = one.weights
        assert (figures.terms, figures.active) == (weights.terms, weights.active)
        assert figures.effective == weights.effective
        assert figures.moving == int((weights.shares > 0).sum())
        assert (figures.ordered, figures.violated) == (one.order.ordered, one.order.violated)
        assert figures.places == one.places
        assert dict(outcome.parameters) == one.parameters
        assert same(outcome.pair_gradient, one.pair_gradient)
        assert same(outcome.score_gradient, one.score_gradient)
        assert same(outcome.vector_gradient, one.trace.gradients[1])
        assert outcome.is_projected == one.is_projected


@pytest.mark.parametrize("side", SIX, ids=lambda side: side.loss)
def test_a_side_agrees_with_itself(side):
    found = compare(RANDOM, [side, side])
    (between,) = found.between
    assert between.reasons == ()
    assert between.tau == pytest.approx(1, abs=1e-12)
    assert between.cosine == pytest.approx(1, abs=1e-12)
    assert between.factor == pytest.approx(1, abs=1e-12)
    assert between.apart is None


def test_the_order_of_the_sides_permutes_the_result():
    there, back = compare(RANDOM, SIX), compare(RANDOM, SIX[::-1])
    assert [one.figures for one in there.sides] == [one.figures for one in back.sides[::-1]]
    assert len(there.between) == 15
    for one in there.between:
        other = back.of(5 - one.first, 5 - one.second)
        assert (other.tau, other.gradient) == (one.tau, one.gradient)
        assert other.cosine == pytest.approx(one.cosine)
        assert (other.apart.pair, other.apart.shares) == (one.apart.pair, one.apart.shares[::-1])
        assert other.apart.ranks == one.apart.ranks[::-1]
        assert [message.key for message in other.apart.sentences] == [
            message.key for message in one.apart.sentences
        ]
        assert [message.key for message in other.reasons] == [
            message.key for message in one.reasons
        ]


def test_another_side_does_not_change_what_two_have_between_them():
    two, six = compare(RANDOM, SIX[:2]).of(0, 1), compare(RANDOM, SIX).of(0, 1)
    assert two == six
    assert compare(RANDOM, SIX).of(1, 0) == six


def test_an_observer_sees_each_exploration():
    seen = {}
    sides = [Side("cosent"), Side("nowhere"), Side("triplet")]
    compare(RANDOM, sides, see=lambda place, one: seen.setdefault(place, one.spec.name))
    assert seen == {0: "cosent", 2: "triplet"}


def test_a_batch_of_ones_own_takes_the_place_of_the_data():
    pairs = Pairs(("a", "b", "c"), ("d", "e", "f"), (0.0, 0.5, 1.0), scores=(0.9, 0.1, 0.5))
    batch = batch_of_scores(pairs, Rules())
    found = compare(RANDOM, [Side("cosent"), Side("cosine_mse")], batch)
    assert found.batch is batch
    assert found.sides[1].figures.loss == pytest.approx((0.81 + 0.16 + 0.25) / 3)
    assert found.between[0].cosine is None  # the scores are given, and no vector moves


# ---- What is between two


def test_kendalls_tau_counts_ties_as_scipy_does():
    made = torch.Generator().manual_seed(0)
    for _ in range(20):
        first, second = torch.randint(0, 5, (2, 9), generator=made).double()
        expected = stats.kendalltau(first.numpy(), second.numpy(), variant="b").statistic
        assert kendall(first, second) == pytest.approx(float(expected))
    assert kendall(torch.ones(4), torch.arange(4.0)) is None
    tied = torch.tensor([1.0, 1.0, 2.0]).double()
    assert kendall(tied, tied + torch.tensor([0, 1e-15, 0])) == pytest.approx(1)


def test_tau_and_cosine_are_of_the_gradients():
    found = compare(RANDOM, [Side("cosent"), Side("info_nce"), Side("triplet")])
    a, b, c = found.sides
    assert [one.gradient for one in found.between] == ["score", "pair", "pair"]
    by_scores = [one.score_gradient.nan_to_num(0).cpu().numpy() for one in (a, b)]
    expected = stats.kendalltau(*by_scores).statistic
    assert found.of(0, 1).tau == pytest.approx(float(expected))
    expected = stats.kendalltau(a.pair_gradient.cpu(), c.pair_gradient.cpu()).statistic
    assert found.of(0, 2).tau == pytest.approx(float(expected))
    flat = [one.vector_gradient.flatten() for one in (a, b)]
    expected = torch.cosine_similarity(*flat, dim=0)
    assert found.of(0, 1).cosine == pytest.approx(float(expected))


@pytest.mark.parametrize("equalised", [False, True])
def test_the_bars_stand_on_one_axis(equalised):
    found = compare(RANDOM, [Side("cosent"), Side("nowhere"), Side("info_nce")])
    bars = found.bars(equalised)
    assert (bars.gradient, bars.equalised, bars.values[1]) == ("score", equalised, None)
    for place in (0, 2):
        plain = found.sides[place].score_gradient.nan_to_num(0)
        size = float(plain.norm()) if equalised else 1.0
        torch.testing.assert_close(bars.values[place], plain / size)
    with_triplets = compare(RANDOM, [Side("cosent"), Side("triplet")]).bars()
    assert with_triplets.gradient == "pair"


def test_one_factor_between_two_conventions_is_found():
    """Both directions added up are twice their mean; SupContrast multiplies by τ/0.07."""
    tau = (("temperature", 0.2),)
    added = "SimCLR, google-research/simclr be133b3 (both directions added)"
    zeros = "SupContrast, unreleased, December 2023 (anchors without a positive count as zeros)"
    found = compare(RANDOM, [Side("nt_xent", "", tau), Side("nt_xent", added, tau)])
    assert found.between[0].factor == pytest.approx(2, rel=1e-9)
    assert [one.key for one in found.between[0].reasons] == ["compare.other.definition"]
    batch = dataclasses.replace(
        found.batch, classes=torch.arange(24, device=found.batch.labels.device) // 2
    )  # no anchor alone
    found = compare(RANDOM, [Side("supcon", "", tau), Side("supcon", zeros, tau)], batch)
    assert found.between[0].factor == pytest.approx(0.2 / 0.07, rel=1e-9)
    assert compare(RANDOM, [Side("cosent"), Side("circle")]).between[0].factor is None


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Side("cosent"), Side("cosent", "sentence-transformers 6.2 CoSENTLoss"), []),
        (Side("cosent"), Side("cosent", "", (("scale", 5.0),)), ["scale"]),
        (
            Side("pairwise_logistic"),
            Side("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss"),
            ["scale", "parameter"],
        ),
        (
            Side("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss"),
            Side("pairwise_logistic", "keras-rs 0.4.0 PairwiseLogisticLoss (sum / N)"),
            ["definition"],
        ),
        (Side("cosent"), Side("circle"), ["loss", "inputs"]),
        (Side("cosent"), Side("weighted_cosent"), ["loss"]),
        (Side("cosent"), Side("info_nce"), ["loss", "kind", "inputs"]),
        (
            Side("cosent"),
            Side("info_nce", "", (("temperature", 0.1),)),
            ["loss", "kind", "inputs", "scale"],
        ),
        (Side("triplet"), Side("triplet", "", (("margin", 5.0),)), ["parameter"]),
        (Side("siglip"), Side("siglip", "", (("bias", -5.0),)), ["parameter"]),
    ],
    ids=str,
)
def test_what_must_not_be_compared_says_why(first, second, expected):
    (between,) = compare(RANDOM, [first, second]).between
    assert [one.key.rpartition(".")[2] for one in between.reasons] == expected
    for reason in between.reasons:
        for language in LANGUAGES:
            assert "{" not in reason.written(language)


def test_a_temperature_is_reported_as_a_factor():
    sides = [Side("cosent", "", (("scale", 50.0),)), Side("info_nce")]
    (between,) = compare(RANDOM, sides).between
    assert re.findall(r"\d+", between.reasons[-1].written())[-2:] == ["50", "20"]
    sides[0] = Side("cosent", "", (("scale", 20.0),))
    assert "20" not in " ".join(one.written() for one in compare(RANDOM, sides).between[0].reasons)


# ---- Where two disagree most


COSENT = say("en", "loss.cosent.title")


def given(labels, scores):
    names = [f"{place}" for place in range(len(labels))]
    pairs = Pairs(
        tuple(f"a{n}" for n in names), tuple(f"b{n}" for n in names), labels, scores=scores
    )
    return batch_of_scores(pairs, Rules())


def reported(labels, scores, *sides):
    """Return the pair, the keys of its sentences, and its lines in English."""
    (between,) = compare(RANDOM, [Side(one) for one in sides], given(labels, scores)).between
    keys = [one.key.partition(".")[2] for one in between.apart.sentences]
    for language, one in itertools.product(LANGUAGES, between.apart.sentences):
        assert "{" not in one.written(language)
    return between.apart, keys, "\n".join(one.written() for one in between.apart.sentences)


def test_the_pair_is_the_one_whose_shares_differ_most():
    found = compare(RANDOM, [Side("cosent"), Side("cosine_mse")])
    shares = [one.score_gradient / one.score_gradient.abs().sum() for one in found.sides]
    expected = int((shares[0] - shares[1]).abs().argmax())
    apart = found.between[0].apart
    assert apart.pair == expected
    assert apart.shares == tuple(float(one[expected]) for one in shares)
    sizes = [one.abs().sort(descending=True).values.tolist() for one in shares]
    assert [sizes[i].index(abs(apart.shares[i])) + 1 for i in (0, 1)] == list(apart.ranks)
    key = apart.sentences[0].key
    assert int(pattern_of(key).fullmatch(apart.sentences[0].written())["pair"]) == expected + 1


def test_limits_of_the_lowest_label_are_reported():
    """The regression draws it up to its label; CoSENT has nothing that it should stand above."""
    apart, keys, message = reported((0.4, 0.6, 0.8), (-0.5, 0.6, 0.8), "cosine_mse", "cosent")
    assert (apart.pair, keys[1:]) == (0, ["because.none_lower"])
    assert apart.shares[0] == -1
    assert pattern_of("compare.because.none_lower", light=COSENT).search(message)


def test_limits_of_the_highest_label_are_reported():
    apart, keys, message = reported((0.1, 0.2, 0.4), (0.1, 0.2, 1.0), "cosent", "cosine_mse")
    assert (apart.pair, keys[1:]) == (2, ["because.none_higher"])
    assert apart.shares[1] == 1
    assert pattern_of("compare.because.none_higher", light=COSENT).search(message)


def test_the_claim_is_not_made_where_there_is_a_lower_label():
    _, keys, _ = reported((0.3, 0.4, 0.6, 0.8), (0.0, -0.5, 0.6, 0.8), "cosine_mse", "cosent")
    assert len(keys) == 1


def test_terms_without_weight_are_counted():
    """The second pair stands in order with room to spare; the regression moves it most."""
    batch = (0.3, 0.5, 0.9, 1.0), (0.3, 0.625, 0.95, 0.95)
    apart, keys, message = reported(*batch, "cosine_mse", "pairwise_hinge")
    assert (apart.pair, apart.shares[1]) == (1, 0)
    assert keys == ["apart.pushes.nothing", "because.no_weight"]
    hinge = say("en", "loss.pairwise_hinge.title")
    assert pattern_of("compare.because.no_weight", light=hinge, count=3).search(message)


def test_a_pair_that_is_no_positive():
    apart, keys, message = reported((0.0, 1.0, 1.0), (0.9, 0.8, 0.9), "cosine_mse", "info_nce")
    assert (apart.pair, apart.shares[1]) == (0, 0)
    assert keys == ["apart.pushes.nothing", "because.not_positive"]
    assert pattern_of("compare.because.not_positive", label=0, threshold=0.5).search(message)


def test_a_loss_without_gradient_disagrees_with_nobody():
    found = compare(RANDOM, [Side("pairwise_hinge"), Side("cosent")], given((1.0, 1.0), (0.1, 0.2)))
    assert (found.between[0].apart, found.between[0].tau, found.between[0].factor) == (None,) * 3


# ---- What a stranger may ask


def test_a_side_that_cannot_be_computed_says_why_and_the_others_stand():
    sides = [
        Side("cosent"),
        Side("nowhere"),
        Side("cosent", "", (("scael", 3.0),)),
        Side("cosent", "", (("scale", math.inf),)),
        Side("cosent", "keras"),
        Side("triplet"),
    ]
    found = compare(RANDOM, sides, given((0.0, 1.0), (0.5, 1.5)))
    assert [one.stands for one in found.sides] == [True, *[False] * 5]
    keys = [one.problem and one.problem.key.partition(".")[2] for one in found.sides]
    assert keys == [
        None,
        "unknown_loss",
        "unknown_parameter",
        "parameter_range",
        "unknown_convention",
        "no_vectors",
    ]
    assert found.between == ()
    assert [one.named() for one in found.sides[1:3]] == ["nowhere", "CoSENT · scael=3"]
    assert found.bars().values[1:] == (None,) * 5


@pytest.mark.parametrize("count", [0, 1, MAX_LOSSES + 1, 50])
def test_too_few_and_too_many_are_refused(count):
    with pytest.raises(Problem) as refused:
        compare(RANDOM, [Side("cosent")] * count)
    assert refused.value.key == "problem.compare_sides"
    assert refused.value.values == {"count": count, "least": 2, "most": MAX_LOSSES}


def test_nothing_is_encoded_for_sides_none_of_which_can_be_computed():
    rows = tuple((f"a {i}", f"b {i}", "") for i in range(20))
    scenario = Scenario(data=Data(source="table", rows=rows, encoder="/nowhere"))
    with pytest.raises(Problem) as problem:
        compare(scenario, [Side("cosent"), Side("nowhere")])
    assert problem.value.key == "problem.needs_scores"
    with pytest.raises(Problem) as problem:  # one could: so it matters that there is no encoder
        compare(scenario, [Side("cosent"), Side("info_nce")])
    assert problem.value.key == "problem.encoder_folder_missing"
    with pytest.raises(Problem) as problem:
        compare(Scenario(data=Data(source="table")), [Side("nowhere"), Side("info_nce")])
    assert problem.value.key == "problem.no_pairs"


def test_each_side_leads_back_to_explore():
    convention = "CLIP (initial temperature), open_clip 3.3.0 ClipLoss"
    side = Side("info_nce", convention, (("temperature", 0.2),))
    scenario = side.applied_to(RANDOM)
    assert (scenario.data, scenario.rules) == (RANDOM.data, RANDOM.rules)
    assert Scenario.from_link(scenario.to_link()) == scenario
    named = compare(RANDOM, [side, side]).sides[0].named()
    assert named.endswith(f" · {convention} · temperature=0.2")


def test_everything_that_a_loss_reads_has_a_word():
    for name in {what for spec in LOSSES.values() for what in spec.reads.values()}:
        assert name in READABLE
        for language in LANGUAGES:
            assert f"compare.reads.{name}" in catalogue(language)
