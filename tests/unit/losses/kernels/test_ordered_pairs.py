"""The fast forms of the losses on ordered pairs: equal to their definitions, at every size."""

import itertools
from functools import cache

import pytest
import torch

from lossprism.losses import LOSSES, cosent, pairwise_hinge, weighted_cosent
from lossprism.losses.kernels import (
    log1p_ordered_sum_exp,
    log_sum_over_ordered_pairs,
    ordered_hinge_and_logistic_sums,
)
from lossprism.losses.kernels.log_sum_over_ordered_pairs import (
    distinct_levels,
    levels_in_order,
    sort_keys,
)
from tests.unit.losses.made import case, saved_bytes

SIZES = (1, 2, 3, 7, 64, 193, 500, 1030)
PAIRED = {
    "cosent": {"scale": 2.0},
    "weighted_cosent": {"scale": 2.0},
    "circle": {"scale": 2.0, "positive_margin": 0.7, "negative_margin": 0.2},
    "circle_self_paced": {"scale": 2.0},
    "pairwise_hinge": {"margin": 0.3},
    "pairwise_logistic": {"scale": 2.0},
    # As libraries have it, by the names there.
    "allrank.rankNet": {"scale": 2.0},
    "allrank.rankNet_weightByGTDiff": {"scale": 2.0},
    "sentence_transformers.RankNetLoss": {"scale": 2.0},
    "tensorflow_ranking.keras.losses.PairwiseLogisticLoss": {"scale": 2.0},
}
CASES = [*PAIRED.items(), ("pairwise_logistic", {"scale": 2.0, "reduction": "mean"})]

# How a form is chosen, moved so that small batches take every one of them.
IN_LOGARITHM = {
    "sums by label or in order": {(log_sum_over_ordered_pairs, "MAX_MATRIX_ROWS"): 1},
    "sums in order": {
        (log_sum_over_ordered_pairs, "MAX_MATRIX_ROWS"): 1,
        (log_sum_over_ordered_pairs, "distinct_levels"): lambda _: None,
    },
    "terms": {
        (log_sum_over_ordered_pairs, "MAX_EXPONENTIAL"): 1.0,
        (log_sum_over_ordered_pairs, "MAX_TERM_ROWS"): 2000,
    },
    "logarithms": {
        (log_sum_over_ordered_pairs, "MAX_EXPONENTIAL"): 1.0,
        (log_sum_over_ordered_pairs, "MAX_TERM_ROWS"): 1,
    },
}
BY_PAIR = {
    "logistic in tiles": {(ordered_hinge_and_logistic_sums, "LOGISTIC_ROWS"): 1},
    "hinge in a tree, logistic in small tiles": {
        (ordered_hinge_and_logistic_sums, "LOGISTIC_ROWS"): 1,
        (ordered_hinge_and_logistic_sums, "HINGE_ROWS"): 1,
        (ordered_hinge_and_logistic_sums, "TILE_TERMS"): 333,
    },
}


def on_every_path(cases):
    """Each case as it comes, and on each path that its loss may take."""
    listed = []
    for one in cases:
        name = one if isinstance(one, str) else one[0]
        others = BY_PAIR if LOSSES[name].name.startswith("pairwise") else IN_LOGARITHM
        for path, moved in {"as it comes": {}, **others}.items():
            given = (one,) if isinstance(one, str) else one
            listed.append(pytest.param(*given, moved, id=f"{name}, {path}"))
    return listed


@pytest.fixture
def path(request, monkeypatch):
    """What is moved."""
    for (module, name), value in request.param.items():
        monkeypatch.setattr(module, name, value)
    return request.param


each_loss = pytest.mark.parametrize(("name", "path"), on_every_path(PAIRED), indirect=["path"])
each_case = pytest.mark.parametrize(
    ("name", "settings", "path"), on_every_path(CASES), indirect=["path"]
)


def scores_of(count, seed=0, spread=1.0):
    made = torch.Generator().manual_seed(seed)
    return (torch.rand(count, generator=made, dtype=torch.float64) * 2 - 1) * spread


LABELS = {
    "continuous": lambda n, made: torch.rand(n, generator=made, dtype=torch.float64),
    "all equal": lambda n, made: torch.full((n,), 2.5),
    "binary": lambda n, made: torch.randint(0, 2, (n,), generator=made),
    "grades": lambda n, made: torch.randint(0, 6, (n,), generator=made) / 4,
    "tenths": lambda n, made: torch.randint(0, 51, (n,), generator=made) / 10,
    "signed": lambda n, made: torch.randint(-9, 9, (n,), generator=made),
    "uneven": lambda n, made: torch.tensor([-1e9, -0.0, 0.0, 1e-3, 1.0, 7e8])[
        torch.randint(0, 6, (n,), generator=made)
    ],
    "thousandths": lambda n, made: (torch.rand(n, generator=made) * 1000).round() / 1000,
    "one in a thousand": lambda n, made: torch.where(torch.arange(n) % 1000 == 7, 0.1, 0.0),
}


def labels_of(kind, count, seed=1):
    return LABELS[kind](count, torch.Generator().manual_seed(seed))


def both(spec, scores, labels, **settings):
    """Value and gradient of the public function and of the definition."""
    forms = (spec.checked, spec.definition)
    return [value_and_gradient(form, scores, labels, **settings) for form in forms]


def value_and_gradient(function, scores, labels, **settings):
    leaf = scores.detach().requires_grad_()
    loss = function(leaf, labels, **settings)
    return loss.detach(), *torch.autograd.grad(loss, leaf)


@cache
def defined(name, settings, kind, count):
    """Value and gradient of the definition: the same on every path of the public function."""
    labels = labels_of(kind, count).double()
    return value_and_gradient(LOSSES[name].definition, scores_of(count), labels, **dict(settings))


def same(found, expected, tolerance=1e-10):
    for ours, theirs in zip(found, expected, strict=True):
        largest = theirs.abs().max().item()
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance * largest)


@each_case
def test_a_fast_form_is_its_definition(name, settings, path):
    # Where the sizes at which a form is chosen are moved, small batches show what large ones do.
    for kind, count in itertools.product(LABELS, SIZES[:-2] if path else SIZES):
        labels = labels_of(kind, count).double()
        found = value_and_gradient(LOSSES[name].checked, scores_of(count), labels, **settings)
        with case(labels=kind, count=count):
            same(found, defined(name, tuple(settings.items()), kind, count))


@each_loss
def test_scores_may_have_any_distance(name, path):
    spreads, kinds = (1e-6, 30.0, 350.0, 700.0, 1e4), ("continuous", "binary", "grades")
    for spread, kind in itertools.product(spreads, kinds):
        labels = labels_of(kind, 250).double()
        with case(spread=spread, labels=kind):
            same(*both(LOSSES[name], scores_of(250, spread=spread), labels, **PAIRED[name]))


@pytest.mark.parametrize("spread", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("count", [1, 2, 7, 48, 49, 192, 193, 500])
def test_levels_are_summed_at_once_or_one_by_one(count, spread):
    labels = labels_of("grades", count)
    levels = torch.stack([scores_of(count, seed, spread) for seed in range(3)])
    weights, scale = torch.tensor([0.5, 0.0, 2.0]).double(), torch.tensor(2.0).double()
    spec = LOSSES["hierarchical_cosent"]

    def found(function):
        moving = [one.clone().requires_grad_() for one in (levels, weights, scale)]
        value = function(moving[0], labels, weights=moving[1], scale=moving[2])
        return value, *torch.autograd.grad(value, moving)

    same(found(spec.function), found(spec.definition))
    same(*both(spec, levels, labels, scale=2.0, weights=(0.5, 0.0, 2.0)))


def test_what_the_hinge_learns_beside_its_scores_has_its_gradient_too():
    scores, labels = torch.rand(2, 9, generator=torch.Generator().manual_seed(3)).double()
    margin, eps = torch.tensor([0.3, 0.1]).double()
    moving = [one.clone().requires_grad_() for one in (scores, labels, margin, eps)]
    spec = LOSSES["pairwise_hinge"]

    def gradient(function, *learned):
        scores, labels, margin, eps = (
            one if place in learned else one.detach() for place, one in enumerate(moving)
        )
        value = function(scores, labels, margin=margin, eps=eps)
        return torch.autograd.grad(value, [moving[place] for place in learned])

    for learned in ((0, 1), (0, 2), (0, 3), (0, 1, 2, 3)):
        found, expected = (gradient(one, *learned) for one in (spec.function, spec.definition))
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


def test_a_far_outlier_does_not_drown_the_rest():
    """Exponentials of all scores over the largest would leave 0 here."""
    scores = torch.tensor([-1e4, 0.3, 0.1, 1e4]).double()
    labels = torch.tensor([0, 1, 2, 3])
    found = cosent(scores, labels, scale=5.0)
    torch.testing.assert_close(found, torch.tensor(1.0).double().exp().log1p())


@each_loss
def test_from_one_level_to_as_many_as_there_are_pairs(name, path):
    place, mixed = torch.arange(300), torch.Generator()
    for levels in (1, 2, 3, 10, 50, 299, 300):
        labels = (place % levels)[torch.randperm(300, generator=mixed.manual_seed(3))]
        found, expected = both(LOSSES[name], scores_of(300), labels.double(), **PAIRED[name])
        with case(levels=levels):
            same(found, expected)
            if levels == 1:
                assert found[0] == 0
                assert not found[1].any()


@each_loss
def test_whole_numbers_and_their_floats_are_the_same_labels(name, path):
    labels = labels_of("signed", 300)
    spec = LOSSES[name]
    whole, floating = (
        both(spec, scores_of(300), kind, **PAIRED[name])[0] for kind in (labels, labels.float())
    )
    same(whole, floating, tolerance=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "grades"])
@each_case
def test_derivatives_to_the_second(name, settings, kind, path):
    labels = labels_of(kind, 9)

    def at(scores):
        return LOSSES[name].checked(scores, labels, **settings)

    leaf = scores_of(9, seed=4).requires_grad_()
    if name == "circle_self_paced":  # its weights carry no gradient, so differences see another
        (slope,) = torch.autograd.grad(at(leaf), leaf, create_graph=True)
        curved = torch.autograd.grad(slope.square().sum(), leaf)
        (slope,) = torch.autograd.grad(
            LOSSES[name].definition(leaf, labels, **settings), leaf, create_graph=True
        )
        same(curved, torch.autograd.grad(slope.square().sum(), leaf))
        return
    # Along random directions: each by itself is the definition's.
    assert torch.autograd.gradcheck(at, (leaf,), fast_mode=True)
    assert torch.autograd.gradgradcheck(at, (leaf,), fast_mode=True)


@pytest.mark.parametrize("path", IN_LOGARITHM.values(), ids=IN_LOGARITHM, indirect=True)
@pytest.mark.parametrize("at_lower", [True, False])
def test_two_score_vectors_have_a_gradient_each(at_lower, path):
    lower, higher = scores_of(9, seed=1), scores_of(9, seed=2)
    labels = labels_of("grades", 9)

    def at(moving):
        pair = (moving, higher) if at_lower else (lower, moving)
        return log1p_ordered_sum_exp(*pair, labels, scale=2.0, shift=0.3)

    leaf = (lower if at_lower else higher).requires_grad_()
    terms = 2 * (lower[:, None] - higher[None, :]) + 0.3
    expected = terms.exp()[labels[:, None] < labels[None, :]].sum().log1p()
    torch.testing.assert_close(at(leaf), expected)
    assert torch.autograd.gradcheck(at, (leaf,))


@pytest.mark.parametrize(
    ("name", "path"),
    on_every_path(["cosent", "weighted_cosent", "pairwise_logistic"]),
    indirect=["path"],
)
def test_a_scale_may_be_learned(name, path):
    scores, labels = scores_of(40), labels_of("grades", 40).double()
    scale = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    spec = LOSSES[name]
    (found,) = torch.autograd.grad(spec.function(scores, labels, scale=scale), scale)
    (expected,) = torch.autograd.grad(spec.definition(scores, labels, scale=scale), scale)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("steps", [2, 7, 40, 10**9])
def test_the_largest_violation_is_shared_by_all_that_are_equal(steps, kind, monkeypatch):
    monkeypatch.setattr(ordered_hinge_and_logistic_sums, "LARGEST_ROWS", 0)
    for count in SIZES[:-1]:  # the path is the same for all
        labels = labels_of(kind, count).double()
        scores = (scores_of(count, seed=count) * steps).round() / steps
        same(*both(LOSSES["max_violation"], scores, labels))
        same(*both(LOSSES["max_violation"], labels + scores / 10, labels))
        same(*both(LOSSES["max_violation"], labels.neg(), labels))


def test_the_largest_violation_of_a_million_is_found_without_a_matrix():
    scores, labels = scores_of(2**20).requires_grad_(), labels_of("continuous", 2**20)
    loss = LOSSES["max_violation"].function(scores, labels)
    loss.backward()
    higher, lower = scores.grad.argmin(), scores.grad.argmax()
    assert labels[higher] > labels[lower]
    assert loss.item() == (scores[lower] - scores[higher]).item()
    assert scores.grad.abs().sum() == 2


# Precision


@pytest.mark.parametrize("kind", ["continuous", "tenths", "binary"])
@pytest.mark.parametrize("function", [cosent, weighted_cosent])
def test_a_million_float32_scores_have_the_gradient_of_float64(function, kind):
    scores = scores_of(2**20).float()
    labels = labels_of(kind, 2**20)
    single, double = scores.requires_grad_(), scores.detach().double().requires_grad_()
    loss, exact = function(single, labels), function(double, labels)
    loss.backward()
    exact.backward()
    assert loss.item() == pytest.approx(exact.item(), rel=1e-7)
    wrong = (single.grad - double.grad).abs() / double.grad.abs()
    assert wrong.max() < 1e-6  # at every single pair
    assert single.grad.double().sum().abs() < 1e-7 * single.grad.abs().double().sum()


@pytest.mark.parametrize("count", [100, 900, 5000])
def test_the_hinge_of_scores_near_a_thousand_is_exact(count):
    scores = (scores_of(count) * 3 + 1000).float()
    labels = labels_of("continuous", count).float()
    single, double = scores.requires_grad_(), scores.detach().double().requires_grad_()
    loss, exact = pairwise_hinge(single, labels), pairwise_hinge(double, labels.double())
    loss.backward()
    exact.backward()
    assert loss.item() == pytest.approx(exact.item(), rel=1e-6)
    assert (single.grad - double.grad).abs().max() < 1e-6 * double.grad.abs().max()


@each_loss
def test_the_gradient_of_a_shift_is_zero(name, path):
    if name == "circle_self_paced":  # which sees scores themselves, not their differences
        return
    (_, gradient), _ = both(LOSSES[name], scores_of(400), labels_of("tenths", 400), **PAIRED[name])
    assert gradient.sum().abs() < 1e-12 * gradient.abs().sum()


# Memory, devices, transforms


@pytest.mark.parametrize("count", [300, 3000])
@pytest.mark.parametrize("name", PAIRED)
def test_a_step_saves_no_matrix(name, count):
    scores, labels = scores_of(count).float().requires_grad_(), labels_of("tenths", count)
    assert 0 < saved_bytes(LOSSES[name].checked, scores, labels) <= 40 * count


@each_loss
def test_expanded_and_strided_scores(name, path):
    labels = labels_of("grades", 300).double()
    every_second = scores_of(600)[::2]
    assert not every_second.is_contiguous()
    same(*both(LOSSES[name], every_second, labels, **PAIRED[name]))
    same(*both(LOSSES[name], torch.tensor(0.3).double().expand(300), labels, **PAIRED[name]))
    same_label = torch.zeros(()).expand(300)
    assert LOSSES[name].checked(every_second, same_label, **PAIRED[name]) == 0


# Labels


def in_the_order_of(labels, cells, count):
    assert 0 <= cells.min() <= cells.max() < count
    order = labels.argsort()
    return torch.equal(cells[order].diff().sign(), labels[order].diff().sign().long())


@pytest.mark.parametrize(
    "kind",
    ["all equal", "binary", "grades", "tenths", "signed", "thousandths", "one in a thousand"],
)
@pytest.mark.parametrize("count", [300, 5000, 40_000])
def test_few_levels_are_found_without_a_sort(kind, count):
    labels = labels_of(kind, count)
    assert in_the_order_of(labels, *distinct_levels(labels))


@pytest.mark.parametrize("kind", LABELS)
def test_a_sort_finds_the_levels_of_any_labels(kind):
    labels = labels_of(kind, 5000)
    cells, count = levels_in_order(labels)
    assert in_the_order_of(labels, cells, count)
    assert count == len(labels.unique())


def test_labels_without_few_levels_are_left_to_the_sort():
    assert distinct_levels(labels_of("continuous", 5000)) is None
    assert distinct_levels(labels_of("continuous", 40_000)) is None
    assert distinct_levels(torch.tensor([0, 2**40]).repeat(100)) is None
    for count in (5000, 40_000):
        close = torch.zeros(count)
        close[77] = 1.0
        close[78] = 1.0 + 1e-6  # in the middle, where a cell holds both
        close[79] = 2.0
        assert distinct_levels(close) is None
    extremes = torch.tensor([-3e38, 3e38]).repeat(200)
    assert distinct_levels(extremes) is None
    assert distinct_levels(torch.tensor([0.0, 1e-44]).repeat(200)) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_sort_keys_have_the_order_of_their_labels(dtype):
    made = torch.Generator().manual_seed(0)
    labels = torch.randn(4000, generator=made, dtype=torch.float64) * 10
    labels = torch.cat((labels, labels[:99], torch.tensor([0.0, -0.0, 1e-40, -1e-40]))).to(dtype)
    keys, order = sort_keys(labels).sort()
    assert not keys.is_floating_point()
    assert torch.equal(labels[order], labels.sort().values)
    assert torch.equal(keys[1:] == keys[:-1], labels[order][1:] == labels[order][:-1])
