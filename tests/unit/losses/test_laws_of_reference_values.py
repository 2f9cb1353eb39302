"""What holds of every loss at collapse and at best."""

import math
import sys

import pytest
import torch

from lossprism.losses import LOSSES, SHIPPED
from lossprism.losses.geometry import unit
from lossprism.losses.minimum import Bound
from tests.unit.losses.made import EMBEDDED, SCORED, L, close, collapsed, inputs_for

VARIANTS = [
    (name, parameters)
    for name, parameters in [
        *((name, {}) for name in LOSSES),
        ("cosent", {"scale": 1.0}),
        ("circle", {"positive_margin": 0.75, "negative_margin": 0.25}),
        ("circle_self_paced", {"scale": 4.0, "margin": 0.4}),
        ("pairwise_logistic", {"reduction": "mean", "scale": 2.0}),
        ("pairwise_hinge", {"margin": 0.1}),
        ("hierarchical_cosent", {"weights": (0.5, 0.3, 0.2), "scale": 2.0}),
        ("info_nce", {"symmetric": True, "temperature": 0.3}),
        ("info_nce", {"temperature": 1.0}),
        ("nce", {"noise_ratio": 4.0, "temperature": 0.5}),
        ("nce", {"full": True, "log_noise": 0.5, "temperature": 0.5}),
        ("siglip", {"scale": 2.0, "bias": 0.5}),
        ("supcon", {"include_self": True, "temperature": 0.5}),
        ("contrastive", {"half": True, "distance": "cosine", "margin": 0.5}),
        ("contrastive", {"distance": "cosine", "margin": 3.0}),
        ("multi_similarity", {"mined": False, "threshold": 0.5}),
        ("multi_similarity", {"margin": 0.5, "threshold": 0.3}),
        ("n_pair", {"similarity": "cosine"}),
        ("lifted", {"margin": 0.3}),
        ("triplet", {"mining": "hard", "margin": 0.7, "distance": "cosine"}),
        ("triplet", {"mining": "semi_hard", "distance": "squared_euclidean"}),
        ("arcface", {"scale": 3.0, "margin": 0.3}),
        ("cosface", {"scale": 3.0}),
        ("proxy_nca", {"scale": 3.0}),
        ("proxy_nca", {"include_own": True}),
        ("proxy_anchor", {"scale": 3.0, "margin": 0.3}),
        ("uniformity", {"t": 5.0}),
        ("vicreg", {"variance_weight": 3.0}),
        ("orthogonal", {"mean_weight": 0.0, "aggregation": "sum"}),
        ("list_net", {"target": "raw", "temperature": 0.5}),
        ("list_net", {"target": "normalized"}),
        ("list_mle", {"weighted": True}),
        ("list_mle", {"order": "given", "temperature": 0.5}),
        ("lambda_loss", {"scheme": "ndcg1", "k": 2}),
        ("lambda_loss", {"scheme": "none", "reduction": "sum", "sigma": 3.0}),
        ("approx_ndcg", {"temperature": 1.0}),
        ("distill_kl", {"temperature": 2.0, "divergence": "ce", "teacher_temperature": 0.5}),
    ]
]


@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
def test_collapse_is_the_loss_where_all_embeddings_are_equal(name, parameters):
    spec = LOSSES[name]
    if spec.collapse is None:
        assert name == "multitask_cosent" or spec not in SHIPPED  # its logits are no embeddings
        return
    given = collapsed(spec, inputs_for(spec, seed=1))
    settings = {**spec.defaults, **parameters}
    close(spec.collapse(given, **settings), spec.definition(**given, **settings), rtol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_collapse_of_a_batch_with_nothing_to_distinguish(name):
    """One class, equal labels: still the value of the definition."""
    spec = LOSSES[name]
    given = inputs_for(spec, seed=1)
    for key in {"labels", "classes"} & given.keys():
        given[key] = torch.zeros_like(given[key])
    given = collapsed(spec, given)
    if spec.collapse is not None:
        expected = spec.definition(**given, **spec.defaults)
        close(spec.collapse(given, **spec.defaults), expected, rtol=1e-9)


@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
def test_no_value_is_below_the_minimum(name, parameters):
    spec = LOSSES[name]
    settings = {**spec.defaults, **parameters}
    found = 0
    for seed in range(12):
        given = inputs_for(spec, seed=seed)
        floor = spec.floor and spec.floor(given, **settings)
        if floor is None:
            continue
        found += 1
        loss = spec.definition(**given, **settings)
        assert floor <= loss * (1 + 1e-9) + 1e-12
        if spec.collapse is not None:
            assert floor <= spec.collapse(given, **settings) * (1 + 1e-9) + 1e-12
    # The least of graded logistic is not known.
    assert found == 12 or name == "pairwise_logistic" or spec not in SHIPPED


REACHED = [
    ("cosent", {"scale": 3.0}),
    ("weighted_cosent", {"scale": 3.0}),
    ("hierarchical_cosent", {"weights": (0.5, 0.3, 0.2), "scale": 2.0}),
    ("angle", {"scale": 2.0}),
    ("circle", {"scale": 2.0, "positive_margin": 0.3}),
    ("pairwise_hinge", {"margin": 0.3}),
    ("cosine_mse", {}),
    ("binary_cross_entropy", {}),
    ("info_nce", {"temperature": 0.5}),
    ("info_nce", {"temperature": 2.0}),
    ("info_nce", {"temperature": 0.5, "symmetric": True}),
    ("nt_xent", {"temperature": 0.5}),
    ("nce", {"temperature": 0.5, "noise_ratio": 2.0}),
    ("nce", {"temperature": 0.5, "full": True, "log_noise": 0.7}),
    ("nce", {"temperature": 2.0, "full": True, "log_noise": 3.0}),
    ("siglip", {"scale": 4.0, "bias": -2.0}),
    ("siglip", {"scale": 1.0, "bias": -3.0}),
    ("supcon", {"temperature": 0.5}),
    ("supcon", {"temperature": 0.5, "include_self": True}),
    ("multi_similarity", {"mined": False, "threshold": 0.5, "negative_scale": 5.0}),
    ("multi_similarity", {"negative_scale": 5.0}),
    ("n_pair", {"similarity": "cosine"}),
    ("contrastive", {"distance": "cosine", "margin": 2.5}),
    ("contrastive", {}),
    ("lifted", {}),
    ("triplet", {"margin": 0.7, "distance": "cosine"}),
    ("triplet", {"mining": "hard", "margin": 0.7}),
    ("arcface", {"scale": 3.0, "margin": 0.3}),
    ("cosface", {"scale": 3.0}),
    ("proxy_nca", {}),
    ("proxy_nca", {"include_own": True, "scale": 3.0}),
    ("alignment", {}),
    ("uniformity", {}),
    ("orthogonal", {}),
    ("proxy_anchor", {"scale": 2.0}),
    ("proxy_anchor", {"scale": 8.0}),
    ("list_net", {"temperature": 0.2}),
    ("list_net", {}),
    ("list_mle", {}),
    ("list_mle", {"temperature": 0.3}),
    ("list_mle", {"weighted": True, "order": "given"}),
    ("distill_kl", {}),
    ("distill_kl", {"divergence": "ce"}),
    ("softmax_rank", {"target": "raw"}),
    ("softmax_rank", {"temperature": 0.2, "target": "normalized"}),
    ("margin_mse", {}),
    ("distill_kl", {"temperature": 0.1, "teacher_temperature": 1.0}),
    ("distill_kl", {"temperature": 0.1, "teacher_temperature": 1.0, "divergence": "ce"}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "parameters"), REACHED)
def test_the_minimum_is_reached_by_descent(name, parameters):
    spec = LOSSES[name]
    settings = {**spec.defaults, **parameters}
    given = inputs_for(spec, seed=11)
    if "classes" in given:
        given["classes"] = torch.arange(6) % 3
    wide = torch.Generator().manual_seed(3)
    leaves = {}
    for key, tensor in given.items():
        if spec.reads[key] in EMBEDDED:  # room for a simplex of every row
            leaves[key] = torch.randn(len(tensor), 8, generator=wide, dtype=torch.float64)
        elif spec.reads[key] in SCORED:
            leaves[key] = tensor.clone()
    for leaf in leaves.values():
        leaf.requires_grad_()
    floor = spec.floor(given, **settings)

    def value():
        bound = {
            key: leaf.sin() if spec.reads[key] in SCORED else leaf for key, leaf in leaves.items()
        }
        return spec.definition(**{**given, **bound}, **settings)

    descent = torch.optim.LBFGS(
        list(leaves.values()),
        lr=1,
        max_iter=600,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def closure():
        descent.zero_grad()
        loss = value()
        loss.backward()
        return loss

    descent.step(closure)
    assert floor - 1e-9 <= value().item() <= floor + 2e-3 * max(abs(floor), 0.5)


BETWEEN_ENDS = ["list_net", "softmax_rank", "list_mle", "lambda_loss", "approx_ndcg", "adr_mse"]


@pytest.mark.parametrize("temperature", [0.3, pytest.param(1.0, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", [*BETWEEN_ENDS, "distill_kl"])
def test_no_scores_between_their_ends_are_below_the_minimum(name, temperature):
    """Descent from several starts, on lists of two to five; what is no bound is reached."""
    spec = LOSSES[name]
    settings = dict(spec.defaults)
    settings |= {"temperature": temperature} if "temperature" in settings else {"scheme": "none"}
    for seed, count in ((1, 2), (2, 4), (3, 6)):
        given = inputs_for(spec, seed=seed, count=count)
        floor = spec.floor(given, **settings)
        least = min(descended(spec, given, settings, start) for start in range(3))
        assert floor <= least + 1e-9
        if not isinstance(floor, Bound):
            assert least <= floor + 2e-3 * max(abs(floor), 0.5)
        elif count == 2 and name != "lambda_loss":  # a bound that says something
            assert floor > spec.scored_as("logit").floor(given, **settings)


def descended(spec, given, settings, seed):
    """The loss after some steps of descent over the sines of what was drawn."""
    made = torch.Generator().manual_seed(seed)
    drawn = torch.randn(given["scores"].shape, generator=made, dtype=torch.float64)
    drawn.requires_grad_()
    descent = torch.optim.LBFGS([drawn], max_iter=300, line_search_fn="strong_wolfe")

    def closure():
        descent.zero_grad()
        loss = spec.definition(**{**given, "scores": drawn.sin()}, **settings)
        loss.backward()
        return loss

    descent.step(closure)
    return float(closure())


@pytest.mark.parametrize("name", BETWEEN_ENDS)
def test_logits_have_the_minimum_of_scores_without_ends(name):
    spec = LOSSES[name].scored_as("logit")
    given = inputs_for(spec, seed=1)
    nearly = {**given, "scores": -1e3 * given["labels"].argsort(dim=1, descending=True).argsort(1)}
    floor = spec.floor(given, **spec.defaults)
    bounded = LOSSES[name].floor(given, **spec.defaults)
    assert floor <= bounded
    if name == "list_mle":
        assert floor == 0
        close(spec.definition(**{**nearly, "scores": nearly["scores"].double()}), 0.0)


def test_minimum_of_list_mle_on_cosines():
    """Two candidates at ±1: log(1 + e^−2). Three: the middle one where its slope is 0."""
    spec, labels = LOSSES["list_mle"], torch.tensor([[1, 0]])
    assert spec.floor({"labels": labels}, **spec.defaults) == pytest.approx(
        math.log1p(math.exp(-2)), rel=1e-12
    )
    three = spec.floor({"labels": torch.tensor([[2, 1, 0]])}, **spec.defaults)
    middle = torch.linspace(-1, 1, 200_001, dtype=torch.float64)
    first = torch.log1p(torch.exp(middle - 1) + math.exp(-2))
    assert three == pytest.approx(float((first + torch.log1p(torch.exp(-1 - middle))).min()))


MINED = [c.name for c in LOSSES["triplet"].conventions if not c.reads]


@pytest.mark.thorough
@pytest.mark.parametrize("convention", ["", *MINED])
@pytest.mark.parametrize("classes", [(0, 0, 1, 1, 2, 2), (0, 0, 0, 1, 1, 2), (0, 0, 0, 1), (0, 0)])
def test_reference_values_of_mined_triplets_on_the_sphere(convention, classes):
    """Classes of one size reach their floor in the corners of a simplex; else it bounds."""
    spec, classes = LOSSES["triplet"].under(convention), torch.tensor(classes)
    corners = torch.eye(int(classes.max()) + 1, dtype=torch.float64)
    spread = unit(corners - corners.mean(dim=0) + 1e-300)[classes]
    source = torch.Generator().manual_seed(4)
    for margin in (0.4, 1.9, 5.0):
        settings = spec.defaults | ({"margin": margin} if "margin" in spec.defaults else {})
        at = {"classes": classes, "anchors": spread[:1].expand(len(classes), -1)}
        close(spec.collapse(at, **settings), spec.definition(**at, **settings), atol=2e-6)
        reached = spec.definition(spread, classes=classes, **settings)
        floor = spec.floor({"anchors": spread, "classes": classes}, **settings)
        if len(corners) > 1 and not isinstance(floor, Bound):
            close(floor, reached, atol=2e-6)
        for _ in range(20):
            drawn = torch.randn(len(classes), 3, generator=source, dtype=torch.float64)
            given = {"anchors": unit(drawn), "classes": classes}
            assert spec.definition(**given, **settings) >= spec.floor(given, **settings) - 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [(0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 1, 2, 2)])
@pytest.mark.parametrize("margin", [0.2, 1.0, 3.0])
def test_reference_values_of_lifted_structure_on_the_sphere(margin, classes):
    """Two classes reach the floor at opposite points; three cannot be opposite to each other."""
    spec = LOSSES["lifted"].under("pytorch-metric-learning 2.9 LiftedStructureLoss (unit vectors)")
    classes = torch.tensor(classes)
    given = {"embeddings": torch.zeros(len(classes), 3), "classes": classes}
    floor, source = spec.floor(given, margin=margin), torch.Generator().manual_seed(5)
    opposite = (
        torch.eye(3, dtype=torch.float64)[[0] * len(classes)] * (1 - 2 * (classes % 2))[:, None]
    )
    reached = spec.definition(opposite, classes, margin=margin)
    if int(classes.max()) == 1:
        close(floor, reached, atol=1e-9)
    same = opposite[:1].expand(len(classes), -1)
    close(spec.collapse(given, margin=margin), spec.definition(same, classes, margin=margin))
    for _ in range(50):
        drawn = torch.randn(len(classes), 3, generator=source, dtype=torch.float64)
        assert spec.definition(drawn, classes, margin=margin) >= floor - 1e-9


@pytest.mark.parametrize("margin", [0.5, 1.0, 3.0])
def test_reference_values_of_unsquared_contrastive(margin):
    one = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).double()
    for convention in LOSSES["contrastive"].conventions:
        if "pytorch" not in convention.name and "Manhattan" not in convention.name:
            continue
        spec = LOSSES["contrastive"].under(convention.name)
        for labels in ([1, 0, 0], [1, 1, 1], [0, 0, 0]):
            labels = torch.tensor(labels)
            alike = {"first": one, "second": one, "labels": labels}
            side = torch.where(labels[:, None] > 0, one, -one)
            apart = {"first": one, "second": side, "labels": labels}
            collapse, floor = (of(alike, margin=margin) for of in (spec.collapse, spec.floor))
            close(collapse, spec.definition(**alike, margin=margin))
            if "Manhattan" not in convention.name:  # a cube has farther corners
                close(floor, spec.definition(**apart, margin=margin))
            assert floor <= spec.definition(**apart, margin=margin)


def test_the_minimum_of_the_largest_violation_is_reached_in_order():
    given = inputs_for(LOSSES["max_violation"], seed=1)
    assert L["max_violation"](given["labels"] / 4, given["labels"]) == 0


@pytest.mark.parametrize("cells", [1, 24, 2**18])
def test_what_a_guide_keeps_is_counted_alike_a_few_rows_at_a_time(cells, monkeypatch):
    """In spans of one row, of several with a shorter last one, and of all."""
    spec = LOSSES["gist"]
    monkeypatch.setattr(sys.modules[spec.collapse.__module__], "CELLS", cells)
    given = inputs_for(spec, seed=3)
    alone = {name: tensor for name, tensor in given.items() if "negatives" not in name}
    for alike in (collapsed(spec, given), collapsed(spec, alone)):
        for settings in (
            {},
            {"margin": 0.2, "margin_kind": "relative"},
            {"contrast_anchors": False},
            {"contrast_positives": False, "margin": -0.3},
        ):
            chosen = {**spec.defaults, **settings}
            close(spec.collapse(alike, **chosen), spec.definition(**alike, **chosen), rtol=1e-9)


def test_minimums_at_their_textbook_values():
    pair = {"queries": torch.eye(4), "keys": torch.eye(4)}
    simplex = math.log1p(3 * math.exp(-4 / 3 / 0.5))
    close(LOSSES["info_nce"].floor(pair, temperature=0.5), simplex)
    collapse = {name: LOSSES[name].collapse for name in LOSSES}
    close(collapse["info_nce"](pair), math.log(4))
    close(collapse["nt_xent"]({"first": torch.eye(4)}), math.log(7))
    close(collapse["cosent"]({"labels": torch.tensor([0, 0, 1, 1])}), math.log(5))
    close(
        collapse["contrastive"]({"labels": torch.tensor([0, 0, 0, 1])}, half=True), 0.5 * 4 * 0.75
    )
    close(collapse["triplet"]({"classes": torch.tensor([0, 0, 1])}, margin=0.3), 0.3)


def test_a_dimension_that_does_not_vary_has_no_part_in_barlow_twins():
    given = inputs_for(LOSSES["barlow_twins"], seed=2)
    for name, side in given.items():
        given[name] = torch.cat((side, 1e-33 * torch.randn(len(side), 1)), dim=1).requires_grad_()
    loss = L["barlow_twins"](**given)
    close(loss, 1 + L["barlow_twins"](**{name: one[:, :-1] for name, one in given.items()}))
    for by in torch.autograd.grad(loss, list(given.values())):
        assert not by[:, -1].any()
        assert by.norm() < 100
