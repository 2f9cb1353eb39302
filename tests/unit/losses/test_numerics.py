"""Every trap that a loss library fell into: precision, masks, edges."""

import itertools
import math

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.geometry import cosine, distance, distance_matrix, length, sine, unit
from lossprism.losses.kernels import log1p_sum_exp, log_sum_exp, mean_of, softplus
from tests.unit.losses.made import (
    CLASSES,
    EMBEDDED,
    EVERY,
    call,
    case,
    collapsed,
    gradients,
    inputs_for,
    learned,
)

L = {name: spec.function for name, spec in LOSSES.items()}
HALF = [torch.float16, torch.bfloat16]


def all_finite(spec, given, **parameters):
    loss = call(spec, given, **parameters)
    found = gradients(spec, given, **parameters)
    assert loss.isfinite(), loss
    assert all(bool(g.isfinite().all()) for g in found.values()), found
    return loss, found


# Precision


def lowered(given, dtype):
    return {n: t.to(dtype) if t.is_floating_point() else t for n, t in given.items()}


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("spec", EVERY)
def test_half_precision_is_reduced_in_float32(spec, dtype):
    given = lowered(inputs_for(spec, seed=1), dtype)
    loss, found = all_finite(spec, given)
    assert loss.dtype == torch.float32
    same_numbers = call(spec, lowered(given, torch.float32))
    torch.testing.assert_close(loss, same_numbers, rtol=1e-6, atol=0)
    assert all(gradient.dtype == dtype for gradient in found.values())


@pytest.mark.parametrize("spec", EVERY)
def test_float32_has_the_digits_of_float32(spec):
    given = lowered(inputs_for(spec, seed=1), torch.float32)
    exact = call(spec, lowered(given, torch.float64))
    loss = call(spec, given)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), exact, rtol=2e-5, atol=1e-30)


@pytest.mark.parametrize("spec", EVERY)
def test_autocast_does_not_lower_a_loss(spec):
    given = lowered(inputs_for(spec, seed=1), torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = call(spec, given)
    torch.testing.assert_close(loss, call(spec, given), rtol=1e-6, atol=0)


def test_labels_are_not_lowered_with_the_scores():
    """In bfloat16 .500 and .501 would tie, and the pair would drop out."""
    scores = torch.tensor([0.25, 0.75], dtype=torch.bfloat16)
    labels = torch.tensor([0.501, 0.500])
    assert labels.bfloat16().unique().numel() == 1
    assert L["cosent"](scores, labels) == pytest.approx(10.0, rel=1e-4)


def test_the_mask_survives_float16():
    """S0 subtracts 1e12 where the labels say nothing; in float16 that is 0 · inf."""
    scores, labels = torch.tensor([0.1, 0.2, 0.8, 0.9]).half(), torch.tensor([0, 0, 1, 1])
    ordered = (labels[:, None] < labels[None, :]).half()
    scaled = 20 * scores
    subtracted = scaled[:, None] - scaled[None, :] - (1 - ordered) * torch.tensor(1e12).half()
    assert subtracted.isnan().any()
    for name in ("cosent", "circle"):
        moving = scores.clone().requires_grad_()
        loss = LOSSES[name].definition(moving, labels, scale=20.0)  # in float16 throughout
        loss.backward()
        assert loss.isfinite()
        assert moving.grad.isfinite().all()


def test_a_tiny_loss_keeps_its_digits_in_float32():
    """S0's own batch: log(1 + Σ) with Σ = 7.9e-6, of which log(1 + ·) would keep two digits."""
    scores, labels = [0.1, 0.2, 0.8, 0.9], torch.tensor([0, 0, 1, 1])
    exact = math.log1p(2 * math.exp(-14) + math.exp(-16) + math.exp(-12))
    assert exact == pytest.approx(7.919774e-06, rel=1e-6)
    found = L["cosent"](torch.tensor(scores, dtype=torch.float64), labels)
    assert found.item() == pytest.approx(exact, rel=1e-12)
    found = L["cosent"](torch.tensor(scores), labels)
    assert found.item() == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("name", ["info_nce", "nt_xent", "softmax", "arcface"])
def test_a_definition_far_below_epsilon_is_not_zero_in_float32(name):
    """What the page shows keeps its digits; training's fused cross-entropy need not."""
    spec = LOSSES[name]
    place = torch.arange(CLASSES)
    ones = torch.eye(CLASSES)
    given = {n: ones * 40 if what in EMBEDDED else place for n, what in spec.reads.items()}
    if "negatives" in given:
        given["negatives"] = given["negative_texts"] = None
    parameters = {p: 0.03 for p in spec.defaults if p == "temperature"}
    if name == "softmax":
        given["prototypes"] = ones
    loss = spec.definition(**given, **{**spec.defaults, **parameters})
    assert 0 < loss < torch.finfo(torch.float32).eps / 1000


@pytest.mark.parametrize("apart", [0.0, 1.0, 5.0, 8.0, 16.0, 60.0])
def test_the_softmax_with_prototypes_keeps_its_digits_at_distant_logits(apart):
    """Torch's own cross-entropy, which a loss far from 0 is, has no more digits than 1 has."""
    made = torch.Generator().manual_seed(0)
    prototypes, classes = torch.eye(6), torch.arange(24) % 6
    embeddings = apart * prototypes[classes] + torch.rand(24, 6, generator=made)
    results = []
    for dtype, loss in (
        (torch.float32, L["softmax"]),
        (torch.float64, LOSSES["softmax"].definition),
    ):
        leaves = [one.to(dtype).requires_grad_() for one in (embeddings, prototypes)]
        value = loss(leaves[0], classes, prototypes=leaves[1])
        results.append([value.detach(), *torch.autograd.grad(value, leaves)])
    for found, exact in zip(*results, strict=True):
        size = exact.abs().max().clamp_min(torch.finfo(torch.float32).tiny)
        torch.testing.assert_close(found.double() / size, exact / size, rtol=0, atol=5e-6)


def test_the_gradient_sums_to_zero_in_float32():
    made = torch.Generator().manual_seed(0)
    scores = (torch.rand(1500, generator=made) * 2 - 1).requires_grad_()
    labels = torch.rand(1500, generator=made)
    L["cosent"](scores, labels).backward()
    assert scores.grad.sum().abs() < 1e-5 * scores.grad.abs().sum()
    exact = scores.detach().double().requires_grad_()
    L["cosent"](exact, labels).backward()
    difference = (scores.grad - exact.grad).abs().max() / exact.grad.abs().max()
    assert difference < 1e-5


def test_the_hinge_does_not_cancel_on_large_scores():
    made = torch.Generator().manual_seed(0)
    scores = torch.randn(300, generator=made) + 1000
    labels = torch.rand(300, generator=made)
    exact = L["pairwise_hinge"](scores.double(), labels.double())
    found = L["pairwise_hinge"](scores, labels)
    assert found.item() == pytest.approx(exact.item(), rel=1e-5)


@pytest.mark.parametrize("count", [250, 1000])
@pytest.mark.parametrize("spec", [case for case in EVERY if case.values[0].collapse])
def test_many_equal_terms_add_up_in_float32(spec, count):
    """A sum that rounds each of them to the same side would be off in its fourth digit."""
    given = lowered(collapsed(spec, inputs_for(spec, seed=1, count=count)), torch.float32)
    expected = spec.collapse(given, **spec.defaults)
    # Where it is 0, there are no digits that a relative error could be taken of.
    assert call(spec, given).item() == pytest.approx(expected, rel=2e-6, abs=2e-6)


# Masks and sums


def test_log1p_sum_exp_at_its_edges():
    absent = torch.full((3,), -torch.inf).requires_grad_()
    total = log1p_sum_exp(absent)
    total.backward()
    assert total == 0
    assert not absent.grad.any()
    assert log1p_sum_exp(torch.empty(0, 4), dim=0).tolist() == [0.0] * 4
    assert log1p_sum_exp(torch.empty(4, 0), dim=1).tolist() == [0.0] * 4
    assert log1p_sum_exp(torch.tensor([1e4, -torch.inf])) == 1e4
    assert log1p_sum_exp(torch.tensor([-50.0]).double()).item() == pytest.approx(math.exp(-50))
    rows = torch.randn(5, 7, generator=torch.Generator().manual_seed(1)).double() * 30
    expected = torch.cat((rows, torch.zeros(5, 1)), dim=1).logsumexp(dim=1)
    torch.testing.assert_close(log1p_sum_exp(rows, dim=1), expected, rtol=1e-13, atol=0)


def test_log_sum_exp_of_a_row_of_nothing_has_no_gradient():
    rows = torch.tensor([[-torch.inf, -torch.inf], [0.0, -torch.inf]]).requires_grad_()
    total = log_sum_exp(rows, dim=1)
    assert total.tolist() == [-torch.inf, 0.0]
    total[1].backward()
    assert rows.grad.tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_softplus_has_all_digits_on_both_sides():
    x = torch.tensor([-40.0, -1.0, 0.0, 25.0, 1e4]).double()
    expected = [math.exp(-40), math.log1p(math.exp(-1)), math.log(2), 25 + math.exp(-25), 1e4]
    assert softplus(x).tolist() == pytest.approx(expected, rel=1e-14)


def test_the_mean_of_nothing_is_zero_without_gradient():
    terms = torch.tensor([torch.nan, 1.0]).requires_grad_()
    mean = mean_of(terms, torch.tensor([False, False]))
    mean.backward()
    assert mean == 0
    assert not terms.grad.any()


# Batches at the edge


@pytest.mark.parametrize("spec", EVERY)
def test_nothing_to_distinguish(spec):
    """All labels equal, one class."""
    given = inputs_for(spec, seed=1)
    for name in {"labels", "classes"} & given.keys():
        given[name] = torch.zeros_like(given[name])
    all_finite(spec, given)


@pytest.mark.parametrize("mining", ["all", "semi_hard", "hard"])
@pytest.mark.parametrize("classes", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_no_valid_triplet_is_no_loss(mining, classes):
    given = {"anchors": torch.randn(4, 3), "classes": torch.tensor(classes)}
    loss, found = all_finite(LOSSES["triplet"], given, mining=mining)
    assert loss == 0
    assert not found["anchors"].any()


@pytest.mark.parametrize("include_self", [False, True])
def test_supcon_without_a_positive(include_self):
    given = {"embeddings": torch.randn(4, 3), "classes": torch.arange(4)}
    loss, found = all_finite(LOSSES["supcon"], given, include_self=include_self)
    assert (loss == 0) is not include_self
    assert bool(found["embeddings"].any()) is include_self


@pytest.mark.parametrize("spec", EVERY)
def test_one_row(spec):
    given = inputs_for(spec, seed=1, count=1)
    loss, _ = all_finite(spec, given)
    nothing = ("pairwise_logistic", "pairwise_hinge", "cosent", "circle", "max_violation", "supcon")
    if spec.name in (*nothing, "angle", "nt_xent", "nce", "triplet"):
        assert loss == 0


def test_nce_without_noise_keys():
    queries, keys = torch.randn(2, 3, 4)
    none = torch.empty(3, 0, 4)
    assert L["nce"](queries, keys, negatives=none) == 0
    full = L["nce"](queries, keys, negatives=none, full=True, temperature=1.0)
    expected = softplus(-cosine(queries, keys)).mean()
    torch.testing.assert_close(full, expected)


def test_ties_make_no_term():
    scores = torch.tensor([0.3, 0.9, 0.1], dtype=torch.float64)
    with_tie = L["cosent"](scores, torch.tensor([2, 2, 1]))
    expected = math.log1p(math.exp(20 * (0.1 - 0.3)) + math.exp(20 * (0.1 - 0.9)))
    assert with_tie.item() == pytest.approx(expected, rel=1e-12)
    expected = (math.log1p(math.exp(0.1 - 0.3)) + math.log1p(math.exp(0.1 - 0.9))) / 2
    mean = L["pairwise_logistic"](scores, torch.tensor([2, 2, 1]), scale=1.0, reduction="mean")
    assert mean.item() == pytest.approx(expected, rel=1e-12)


def test_logistic_terms_stand_where_the_labels_speak():
    scores, labels = torch.tensor([0.3, 0.9]).double(), torch.tensor([1, 0])
    terms = L["pairwise_logistic"](scores, labels, scale=1.0, reduction="none")
    assert terms.tolist() == [[0, 0], [pytest.approx(math.log1p(math.exp(0.6))), 0]]


@pytest.mark.parametrize("spec", EVERY)
def test_zero_vectors(spec):
    given = inputs_for(spec, seed=1)
    for name, what in spec.reads.items():
        if what in EMBEDDED:
            given[name] = given[name].clone()
            given[name][0] = 0
    all_finite(spec, given)
    every = {n: t * 0 if spec.reads[n] in EMBEDDED else t for n, t in given.items()}
    all_finite(spec, every)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("spec", EVERY)
def test_identical_vectors(spec, dtype):
    all_finite(spec, lowered(collapsed(spec, inputs_for(spec, seed=1)), dtype))


@pytest.mark.parametrize("mining", ["all", "semi_hard", "hard"])
@pytest.mark.parametrize("metric", ["euclidean", "squared_euclidean", "cosine"])
def test_identical_vectors_among_triplets(mining, metric):
    given = {"anchors": torch.ones(5, 3), "classes": torch.tensor([0, 0, 1, 1, 1])}
    loss, _ = all_finite(LOSSES["triplet"], given, mining=mining, distance=metric, margin=0.7)
    assert loss.item() == pytest.approx(0.7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_arcface_at_the_ends_of_the_cosine(sign, dtype):
    made = torch.Generator().manual_seed(0)
    prototypes = torch.randn(3, 5, generator=made).to(dtype)
    given = {"embeddings": sign * prototypes, "classes": torch.arange(3), "prototypes": prototypes}
    loss, _ = all_finite(LOSSES["arcface"], given, scale=4.0, margin=0.5)
    cosines = unit(prototypes) @ unit(prototypes).T * sign
    logits = 4 * cosines
    logits.diagonal().copy_(torch.full((3,), 4 * sign * math.cos(0.5)))  # cos(θ + m)
    expected = torch.nn.functional.cross_entropy(logits, torch.arange(3))
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=1e-5)


def test_sine_is_flat_where_its_slope_is_infinite():
    cosines = torch.tensor([1.0, -1.0, 0.6]).double().requires_grad_()
    found = sine(cosines)
    found.sum().backward()
    assert found.tolist() == pytest.approx([0, 0, 0.8])
    assert cosines.grad.tolist() == pytest.approx([0, 0, -0.75])


def test_a_distance_of_zero_has_a_gradient_of_zero():
    vectors = torch.ones(2, 3).requires_grad_()
    distance(vectors, torch.ones(2, 3)).sum().backward()
    assert vectors.grad.tolist() == [[0.0] * 3] * 2
    vectors.grad = None
    distance_matrix(vectors, vectors).sum().backward()
    assert vectors.grad.tolist() == [[0.0] * 3] * 2


def test_distances_of_rows_among_each_other_are_those_of_any_rows():
    for count in (0, 1, 2, 9):
        rows = torch.randn(count, 5, dtype=torch.float64, requires_grad=True)
        weights = torch.randn(count, count, dtype=torch.float64)
        found, expected = (
            torch.autograd.grad((weights * distance_matrix(rows, one)).sum(), rows)[0]
            + torch.autograd.grad((weights * distance_matrix(other, rows)).sum(), rows)[0]
            for one, other in ((rows, rows), (rows * 1, rows * 1))
        )
        torch.testing.assert_close(distance_matrix(rows, rows), distance_matrix(rows, rows * 1))
        torch.testing.assert_close(found, expected if count else found)
    lower = torch.randn(4, 3, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert distance_matrix(lower, lower).dtype == torch.float32


def test_near_duplicates_keep_their_distance():
    """The Gram matrix loses it to cancellation: 1.8e-4 instead of 1e-5."""
    vectors = torch.ones(2, 100)
    vectors[1, 0] += 1e-5
    expected = (vectors[1, 0] - 1).item()
    assert distance_matrix(vectors, vectors)[0, 1].item() == pytest.approx(expected, rel=1e-5)


def test_a_zero_vector_has_no_direction():
    vectors = torch.zeros(1, 3).requires_grad_()
    found = cosine(vectors, torch.ones(1, 3))
    found.sum().backward()
    assert found.item() == 0
    assert vectors.grad.isfinite().all()


@pytest.mark.parametrize("spec", EVERY)
def test_extreme_sizes(spec):
    for dtype, size in itertools.product((torch.float64, torch.float32), (1e4, 1e-4)):
        given = inputs_for(spec, seed=1, dtype=dtype)
        for name in learned(spec, given):
            given[name] = given[name].sign() * size
        with case(dtype=dtype, size=size):
            all_finite(spec, given)


@pytest.mark.parametrize(("worse", "expected"), [(1e4, 20 * 2e4), (-1e4, 0.0)])
def test_cosent_far_out(worse, expected):
    scores = torch.tensor([-worse, worse])
    assert L["cosent"](scores, torch.tensor([1, 0])) == expected


# Types and memory


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool])
@pytest.mark.parametrize("spec", [case for case in EVERY if "labels" in case.values[0].reads])
def test_whole_and_boolean_labels(spec, dtype):
    """In uint8, 0 − 1 is 255; booleans have no difference."""
    given = inputs_for(spec, seed=1)
    every = torch.arange(given["labels"].numel()) % 3 == 1
    given["labels"] = every.long().reshape(given["labels"].shape)
    expected = call(spec, given)
    found = call(spec, {**given, "labels": given["labels"].to(dtype)})
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("spec", EVERY)
def test_strided_inputs(spec):
    given = inputs_for(spec, seed=1)

    def strided(tensor):
        spread = torch.zeros(*(2 * n for n in tensor.shape), dtype=tensor.dtype)
        view = spread[tuple(slice(None, None, 2) for _ in tensor.shape)]
        return view.copy_(tensor)

    spread = {name: strided(tensor) for name, tensor in given.items()}
    assert all(not t.is_contiguous() for t in spread.values())
    torch.testing.assert_close(call(spec, spread), call(spec, given), rtol=1e-12, atol=0)
    for name, gradient in gradients(spec, spread).items():
        torch.testing.assert_close(gradient, gradients(spec, given)[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("spec", EVERY)
def test_inputs_are_left_as_they_were(spec):
    given = inputs_for(spec, seed=1)
    before = {name: tensor.clone() for name, tensor in given.items()}
    gradients(spec, given)
    assert all(torch.equal(given[name], before[name]) for name in given)
    with torch.inference_mode():
        assert not call(spec, given).requires_grad


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float64, *HALF])
@pytest.mark.parametrize("spec", EVERY)
def test_on_a_gpu(spec, dtype):
    given = lowered(inputs_for(spec, seed=1, count=33), dtype)
    there = {name: tensor.cuda() for name, tensor in given.items()}
    loss = call(spec, there)
    assert loss.device.type == "cuda"
    exact = dtype == torch.float64
    # There the directions of bfloat16 vectors stay bfloat16 in the products.
    rtol, atol = {torch.float64: (1e-10, 1e-12), torch.bfloat16: (3e-3, 1e-3)}.get(
        dtype, (1e-4, 1e-6)
    )
    torch.testing.assert_close(loss.cpu(), call(spec, given), rtol=rtol, atol=atol)
    found, expected = gradients(spec, there), gradients(spec, given)
    if exact:
        for name, gradient in expected.items():
            torch.testing.assert_close(found[name].cpu(), gradient, rtol=1e-8, atol=1e-10)
    assert all(gradient.isfinite().all() for gradient in found.values())


@pytest.mark.parametrize("count", [4, 2000])  # in a matrix, in a tree
@pytest.mark.parametrize("eps", [0.0, torch.tensor(0.0, requires_grad=True)])
def test_the_hinge_of_equal_labels_is_zero_without_its_epsilon(count, eps):
    scores = torch.linspace(-1, 1, count, requires_grad=True)
    for loss in (LOSSES["pairwise_hinge"].definition, L["pairwise_hinge"]):
        value = loss(scores, torch.ones(count), eps=eps)
        assert value == 0
        assert torch.autograd.grad(value, scores)[0].eq(0).all()
    ordered = (torch.tensor([0.5, 0.4]), torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(L["pairwise_hinge"](*ordered, eps=eps).detach(), torch.tensor(0.2))


@pytest.mark.parametrize("count", [64, 512])
def test_a_mean_that_fits_is_finite_where_its_sum_would_overflow(count):
    made = torch.Generator().manual_seed(2)
    first, second, third = 1e18 * torch.randn(3, count, 8, generator=made)
    pairs, classes = torch.arange(count) % 2, torch.arange(count) // 2
    calls = [("contrastive", (first, second, pairs), {})]
    for metric in ("euclidean", "squared_euclidean"):
        calls.append(("triplet", (first, second, third), {"distance": metric}))
        for mining in ("all", "semi_hard", "hard"):
            settings = {"classes": classes, "mining": mining, "distance": metric}
            calls.append(("triplet", (first,), settings))
    for name, given, settings in calls:
        moving = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
        found = L[name](*moving, **settings)
        exact = L[name](*(t.double() if t.is_floating_point() else t for t in given), **settings)
        torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=0)
        found.backward()
        assert moving[0].grad.isfinite().all()


@pytest.mark.parametrize(("count", "dimension"), [(64, 384), (64, 1536), (512, 384)])
def test_vectors_of_which_only_the_squares_overflow(count, dimension):
    made = torch.Generator().manual_seed(3)
    first, second, third = 1e18 * torch.randn(3, count, dimension, generator=made)
    first[0], second[1] = 0, 1e-3 * second[1]
    classes = torch.arange(count) // 2
    similar = torch.arange(count) % (16 * dimension // 384) == 0  # so few that their mean fits
    calls = [
        ("contrastive", (first, second, similar), {}),
        ("contrastive", (first, second, similar), {"distance": "cosine"}),
        ("info_nce", (first, second), {"temperature": 0.5}),
        ("nt_xent", (first, second), {}),
        ("supcon", (first, classes), {}),
        ("triplet", (first,), {"classes": classes, "mining": "all"}),
        ("triplet", (first,), {"classes": classes, "mining": "hard"}),
        ("softmax", (first, classes % 8), {"prototypes": third[:8]}),
    ]
    calls += [("triplet", (first, second, third), {"distance": d}) for d in ("euclidean", "cosine")]
    for name, given, settings in calls:
        moving = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
        exactly = [t.double().requires_grad_() if t.is_floating_point() else t for t in given]
        found, exact = (L[name](*tensors, **settings) for tensors in (moving, exactly))
        assert found.item() == pytest.approx(exact.item(), rel=1e-4), (name, settings)
        found.backward()
        exact.backward()
        for one, other in zip(moving, exactly, strict=True):
            if one.is_floating_point():
                size = 1 / other.grad.abs().max()  # beyond what assert_close squares
                scaled = one.grad.double() * size
                torch.testing.assert_close(scaled, other.grad * size, rtol=0, atol=1e-3)


def test_an_infinite_entry_stays_infinite():
    vectors = torch.tensor([[torch.inf, 1.0], [3e38, 3e38], [3.0, 4.0]])
    torch.testing.assert_close(length(vectors), torch.tensor([torch.inf, torch.inf, 5.0]))


@pytest.mark.parametrize("count", [40, 600])  # one matrix, tiles
@pytest.mark.parametrize("learned", [False, True])
def test_scores_near_each_other_keep_their_difference_under_a_steep_scale(count, learned):
    """λs is rounded by 3e-5 at λ = 1000 and s = 0.9, and so would be each exponent."""
    made = torch.Generator().manual_seed(0)
    scores = 0.9 + 0.02 * torch.rand(count, generator=made)
    labels = torch.rand(count, generator=made)
    scale = torch.tensor(1000.0, requires_grad=True) if learned else 1000.0
    few = torch.arange(2)  # one pair of pairs: nothing averages out
    for some in (slice(None), few):
        given = scores[some].sort().values, labels[some].sort().values
        found = L["pairwise_logistic"](*given, scale=scale)
        exact = L["pairwise_logistic"](given[0].double(), given[1], scale=1000.0)
        assert found.item() == pytest.approx(exact.item(), rel=1e-6)


def test_the_slope_of_a_learned_scale_of_the_logistic_is_that_of_the_definition():
    made = torch.Generator().manual_seed(1)
    for count in (30, 600):
        scores = torch.rand(count, generator=made, dtype=torch.float64).requires_grad_()
        labels = torch.randint(0, 4, (count,), generator=made)
        for reduction in ("sum", "mean"):
            both = []
            for loss in (LOSSES["pairwise_logistic"].definition, L["pairwise_logistic"]):
                scale = torch.tensor(7.0, dtype=torch.float64, requires_grad=True)
                value = loss(scores, labels, scale=scale, reduction=reduction)
                both.append(torch.autograd.grad(value, (scale, scores)))
            torch.testing.assert_close(*both, rtol=1e-10, atol=1e-12)


def test_few_logits_of_a_softmax_are_refused_in_words():
    """Whatever torch's own cross-entropy would make of them: it leaves out the class −100."""
    embeddings, prototypes = torch.randn(2, 3, 4)
    given = {"prototypes": prototypes}
    for number in (3, -1, -100):
        with pytest.raises(ValueError, match=rf"classes\[1\] is {number}; there are prototypes 0"):
            LOSSES["softmax"].function(embeddings, torch.tensor([0, number, 1]), **given)
    prototypes[2, 0] = torch.inf  # its own logits may all be −∞, and its shares 0
    for one in (embeddings, -embeddings.abs()):
        with pytest.raises(ValueError, match=r"prototypes\[2\]\[0\] is inf"):
            LOSSES["softmax"].function(one, torch.tensor([0, 1, 1]), **given)
