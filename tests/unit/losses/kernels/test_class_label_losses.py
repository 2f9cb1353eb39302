"""Losses from classes in their forms for large batches: the definition's value and gradient."""

import inspect
import itertools
from functools import cache

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from lossprism import losses
from lossprism.losses import LOSSES, geometry
from lossprism.losses.kernels import class_label_losses as by_blocks
from lossprism.losses.kernels import mined_triplets as by_mining
from lossprism.losses.kernels import small_batch_losses as at_once
from tests.unit.losses.made import case, saved_bytes

SIZE = 41  # no multiple of a block


def convention(loss, name):
    named = (c for c in LOSSES[loss].conventions if c.name.startswith(name))
    return min(named, key=lambda one: len(one.name))  # further ones say what they change


def mined(mining):
    def function(embeddings, classes, **named):
        return losses.triplet(embeddings, classes=classes, mining=mining, **named)

    def definition(embeddings, classes, **named):
        return LOSSES["triplet"].definition(embeddings, classes=classes, mining=mining, **named)

    return function, definition


def of(loss, name):
    chosen = convention(loss, name)
    return chosen.function, chosen.definition


SIMILARITIES = {
    "supcon": (losses.supcon, LOSSES["supcon"].definition),
    "supcon with zeros": of("supcon", "SupContrast"),
    "nt_xent of classes": of("nt_xent", "pytorch-metric-learning"),
    "circle per anchor": of("circle_self_paced", "pytorch-metric-learning"),
}
TRIPLETS = {
    "hard": mined("hard"),
    "semi_hard": mined("semi_hard"),
    "all": mined("all"),
    "over violating": of("triplet", "sentence-transformers 6.2 BatchAll"),
    "unit": of("triplet", "pytorch-metric-learning 2.9 TripletMarginLoss"),
}
TWO_SIDED = {
    "multi-similarity": (losses.multi_similarity, LOSSES["multi_similarity"].definition),
    "lifted": (losses.lifted, LOSSES["lifted"].definition),
    "lifted unit": of("lifted", "pytorch-metric-learning"),
}
FORMS = {**SIMILARITIES, **TRIPLETS, **TWO_SIDED}
EVERY = [pytest.param(*pair, id=name) for name, pair in FORMS.items()]


def random_classes(count):
    return torch.randint(0, count, (SIZE,), generator=torch.Generator().manual_seed(3))


CLASSES = {
    "a few": random_classes(6),
    "many": random_classes(30),
    "one": torch.zeros(SIZE, dtype=torch.int64),
    "all distinct": torch.arange(SIZE),
    "two of each": torch.arange(SIZE) // 2,
    "unbalanced": (torch.arange(SIZE) > 3).long(),
    "any numbers": (random_classes(5) - 2) * 10**12,
}


MODULES = [
    inspect.getmodule(f)
    for f in (
        losses.supcon,
        losses.circle_per_anchor,
        losses.triplet_over_violating,
        losses.nt_xent,
        losses.multi_similarity,
    )
]


@pytest.fixture
def in_blocks(monkeypatch):
    """No batch is small, and a block has a few rows."""

    def parts_of(rows):
        return [slice(start, start + 6) for start in range(0, len(rows), 6)]

    for module in (by_blocks, by_mining):
        monkeypatch.setattr(module, "parts_of", parts_of)
    monkeypatch.setattr(by_mining, "TILE_CELLS", 7 * SIZE)
    for module in MODULES:
        monkeypatch.setattr(module, "is_small", lambda *_, **__: False)


@pytest.fixture(params=["in blocks", "at once by differences", "at once by products"])
def each_way(request, monkeypatch):
    """In blocks of a few rows, or the whole batch as one matrix."""
    if request.param == "in blocks":
        request.getfixturevalue("in_blocks")
        return
    for module in MODULES:
        monkeypatch.setattr(module, "is_small", lambda *_, **__: True)
    limit = SIZE if "differences" in request.param else 0
    monkeypatch.setattr(by_mining, "MAX_ROWS_AT_ONCE", limit)


def normal(*shape, seed=0, dtype=torch.float64):
    made = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=made, dtype=torch.float64).to(dtype)


def with_duplicates():
    embeddings = normal(SIZE, 5)
    embeddings[10:16] = embeddings[0]
    embeddings[21] = embeddings[20]
    return embeddings


BATCHES = {
    "generic": normal(SIZE, 5),
    "with duplicates": with_duplicates(),
    "with zeros": torch.cat((torch.zeros(3, 5), normal(SIZE - 3, 5))),
    "all equal": torch.full((SIZE, 5), 0.3, dtype=torch.float64),
    "far away": normal(SIZE, 5) + 50,
}


def value_and_gradients(function, *leaves, **named):
    moving = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    loss = function(*moving, **named)
    return loss.detach(), torch.autograd.grad(loss, moving)


def same(function, definition, *leaves, rtol=1e-10, atol=1e-10, **named):
    expected = value_and_gradients(definition, *leaves, **named)
    agree(value_and_gradients(function, *leaves, **named), expected, rtol, atol)


def agree(ours, theirs, rtol, atol):
    (found, gradients), (expected, slopes) = ours, theirs
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol)
    for gradient, slope in zip(gradients, slopes, strict=True):
        torch.testing.assert_close(gradient, slope, rtol=rtol, atol=atol)


# The definition's number and gradient


@cache
def defined(definition, batch, classes):
    """The same for every way to compute it."""
    return value_and_gradients(definition, BATCHES[batch], classes=CLASSES[classes])


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_any_classes_any_batch(each_way, function, definition):
    for batch, name in itertools.product(BATCHES, CLASSES):
        # A gradient of 0 comes out of cancellation where all embeddings are equal.
        atol = 1e-8 if batch == "all equal" else 1e-10
        with case(batch=batch, classes=name):
            found = value_and_gradients(function, BATCHES[batch], classes=CLASSES[name])
            agree(found, defined(definition, batch, name), rtol=1e-10, atol=atol)


DISTANCES = ("euclidean", "squared_euclidean", "cosine")


@pytest.mark.thorough
@pytest.mark.parametrize("mining", ["hard", "semi_hard", "all", "over violating"])
def test_any_distance_any_margin(each_way, mining):
    every = itertools.product(CLASSES, DISTANCES, (0.0, 0.05, 2.0))
    for name, distance, margin in every:
        chosen = {"classes": CLASSES[name], "margin": margin, "distance": distance}
        with case(**{**chosen, "classes": name}):
            same(*TRIPLETS[mining], normal(SIZE, 5), **chosen)


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("mining", ["semi_hard", "all", "over violating", "unit"])
def test_comparing_and_sorting_agree(in_blocks, monkeypatch, mining, few):
    monkeypatch.setattr(by_mining, "MAX_POSITIVES", few)
    monkeypatch.setattr(by_mining, "MAX_POSITIVES_FOR_LEAST", few)
    for batch in ("generic", "with duplicates"):
        for classes in CLASSES.values():
            same(*TRIPLETS[mining], BATCHES[batch], classes=classes)


@pytest.mark.parametrize("mining", ["hard", "semi_hard"])
def test_of_equal_candidates_the_first_is_chosen(each_way, mining):
    """Points on a line, many at one distance: the gradient falls on the definition's choice."""
    function, definition = TRIPLETS[mining]
    made = torch.Generator().manual_seed(5)
    for _ in range(10):
        points = torch.randint(0, 6, (SIZE, 1), generator=made).double()
        for classes in (CLASSES["a few"], CLASSES["two of each"]):
            same(function, definition, points, classes=classes, margin=1.5)


@pytest.mark.parametrize("temperature", [0.003, 0.1, 30.0])
@pytest.mark.parametrize("name", ["supcon", "supcon with zeros", "nt_xent of classes"])
def test_a_learned_temperature(each_way, name, temperature):
    function, definition = SIMILARITIES[name]
    learned = torch.tensor(temperature, dtype=torch.float64)
    for classes in ("a few", "many", "two of each", "all distinct"):

        def at(embeddings, temperature, form, classes=CLASSES[classes]):
            return form(embeddings, classes, temperature=temperature)

        same(
            lambda e, t: at(e, t, function),
            lambda e, t: at(e, t, definition),
            normal(SIZE, 5),
            learned,
        )


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("rows", [1, 4, 23])
def test_supcon_with_a_queue(each_way, rows, include_self):
    function, definition = SIMILARITIES["supcon"]
    queue_classes = torch.arange(rows) % 9
    temperature = torch.tensor(0.2, dtype=torch.float64)
    for classes in CLASSES.values():

        def at(embeddings, queue, temperature, form, classes=classes):
            return form(
                embeddings,
                classes,
                queue=queue,
                queue_classes=queue_classes,
                temperature=temperature,
                include_self=include_self,
            )

        leaves = (normal(SIZE, 5), normal(rows, 5, seed=1), temperature)
        same(lambda *given: at(*given, function), lambda *given: at(*given, definition), *leaves)


@pytest.mark.parametrize(("scale", "margin"), [(0.1, 0.25), (256.0, 0.25), (2000.0, 0.9)])
def test_circle_at_extreme_scales(each_way, scale, margin):
    for classes in CLASSES.values():
        same(
            *SIMILARITIES["circle per anchor"],
            normal(SIZE, 5),
            classes=classes,
            scale=scale,
            margin=margin,
            rtol=1e-9,
        )


@pytest.mark.parametrize(
    "changed",
    [
        {"mined": False},
        {"threshold": 0.3, "margin": 0.5},
        {"negative_scale": 2000.0, "positive_scale": 700.0, "mined": False},
    ],
)
def test_multi_similarity_of_other_pairs(each_way, changed):
    for classes in CLASSES.values():
        same(*TWO_SIDED["multi-similarity"], normal(SIZE, 5), classes=classes, **changed)


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_ragged_sizes(each_way, function, definition):
    for size in (1, 2, 5, 6, 7, 12, 13):
        with case(size=size):
            same(function, definition, normal(size, 4), classes=torch.arange(size) % 3)


@pytest.mark.thorough
@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_where_the_path_changes(function, definition):
    """As it is called, without made-up blocks: at once below, in blocks above."""
    for size in (23, 24, 25, 48, 49, 63, 64, 255, 256, 600):
        with case(size=size):
            same(function, definition, normal(size, 8), classes=torch.arange(size) % (size // 2))


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_blocks_that_are_not_cached_are_computed_again(
    in_blocks, monkeypatch, function, definition
):
    monkeypatch.setattr(by_blocks.PairBlocks, "most_held", 0)
    same(function, definition, normal(SIZE, 5), classes=CLASSES["a few"])


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_without_reading_numbers_on_the_way(each_way, monkeypatch, function, definition):
    """The path of accelerators, where every block may hold positives."""
    for module in (geometry, by_blocks, by_mining, at_once):
        monkeypatch.setattr(module, "may_ask", lambda _: False)
    for classes in CLASSES.values():
        same(function, definition, normal(SIZE, 5), classes=classes)


# Derivatives


SMALL = torch.tensor([0, 1, 0, 2, 1, 0, 0])


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"circle per anchor"}))  # weights held fixed
def test_gradient_against_differences(each_way, name):
    settings = {"temperature": 0.5} if name in SIMILARITIES else {}
    leaf = normal(7, 3, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda e: FORMS[name][0](e, SMALL, **settings),
        leaf,
        atol=1e-6,
        fast_mode=True,  # along random directions: each by itself is the definition's
    )


# torch has no second derivative of Euclidean distances of all pairs.
TWICE = [
    *((name, {"temperature": 0.5}) for name in ("supcon", "supcon with zeros")),
    ("nt_xent of classes", {"temperature": 0.5}),
    *((name, {"distance": "cosine"}) for name in TRIPLETS if name != "unit"),
    ("multi-similarity", {"mined": False}),
]


@pytest.mark.parametrize(("name", "settings"), TWICE)
def test_second_derivative_against_differences(each_way, name, settings):
    leaf = normal(7, 3, seed=2).requires_grad_()
    assert torch.autograd.gradgradcheck(
        lambda e: FORMS[name][0](e, SMALL, **settings),
        leaf,
        atol=1e-5,
        rtol=1e-3,
        fast_mode=True,  # along random directions
    )


@pytest.mark.parametrize(("name", "settings"), [*TWICE, ("circle per anchor", {"scale": 3.0})])
def test_second_derivative_is_that_of_the_definition(each_way, name, settings):
    direction = normal(7, 3, seed=4)
    curvatures = []
    for form in FORMS[name]:
        leaf = normal(7, 3, seed=2).requires_grad_()
        (slope,) = torch.autograd.grad(form(leaf, SMALL, **settings), leaf, create_graph=True)
        curvatures.append(torch.autograd.grad((slope * direction).sum(), leaf)[0])
    torch.testing.assert_close(*curvatures)
    assert curvatures[0].any()


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_a_loss_that_is_scaled_scales_its_gradient(each_way, function, definition):
    same(
        lambda e: -3 * function(e, CLASSES["a few"]) ** 2,
        lambda e: -3 * definition(e, CLASSES["a few"]) ** 2,
        normal(SIZE, 5),
    )


# Memory, types, devices, compilers


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_what_is_kept_for_the_backward_pass_grows_with_the_batch_alone(function, definition):
    rows, width = 900, 8
    embeddings = normal(rows, width, dtype=torch.float32).requires_grad_()
    classes = torch.arange(rows) % 300
    assert saved_bytes(function, embeddings, classes) <= 4 * rows * width * 4
    dense = saved_bytes(definition, embeddings, classes)
    assert dense > rows * rows * 4  # so the count is a count


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_strided_and_expanded_rows(each_way, function, definition):
    classes = CLASSES["a few"]
    wide = normal(2 * SIZE, 10)[::2, ::2]
    assert not wide.is_contiguous()
    same(lambda e: function(e, classes), lambda e: definition(e, classes), wide)
    one = normal(1, 5).requires_grad_()
    same(
        lambda e: function(e.expand(SIZE, 5), classes),
        lambda e: definition(e.expand(SIZE, 5), classes),
        one,
        atol=1e-7,
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_half_precision(each_way, function, definition, dtype):
    classes = CLASSES["a few"]
    low = normal(SIZE, 5).to(dtype)
    found, (gradient,) = value_and_gradients(function, low, classes=classes)
    expected, (slope,) = value_and_gradients(definition, low.double(), classes=classes)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-6)
    assert gradient.dtype == dtype
    bound = 2 * torch.finfo(dtype).eps * slope.abs().max()
    torch.testing.assert_close(gradient.double(), slope, rtol=1e-2, atol=bound.item())


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_float32_has_the_digits_of_float32(each_way, function, definition):
    classes = CLASSES["a few"]
    low = normal(SIZE, 5, dtype=torch.float32)
    found, (gradient,) = value_and_gradients(function, low, classes=classes)
    expected, (slope,) = value_and_gradients(definition, low.double(), classes=classes)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-6)
    bound = 1e-5 * slope.abs().max().item()
    torch.testing.assert_close(gradient.double(), slope, rtol=1e-4, atol=bound)


@pytest.mark.parametrize(("function", "definition"), EVERY)
def test_autocast_changes_nothing(each_way, function, definition):
    classes = CLASSES["a few"]
    low = normal(SIZE, 5, dtype=torch.float32)
    plain = value_and_gradients(function, low, classes=classes)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        lowered = value_and_gradients(function, low, classes=classes)
    torch.testing.assert_close(lowered, plain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mining", ["hard", "semi_hard", "all", "over violating"])
def test_duplicates_among_far_away_vectors_in_float32(each_way, mining):
    """The Gram matrix of float32 would tell them apart, and lose all other distances."""
    function, definition = TRIPLETS[mining]
    embeddings = (with_duplicates() + 1000).float()
    expected, _ = value_and_gradients(
        definition, embeddings.double(), classes=CLASSES["a few"], margin=0.3
    )
    found, (gradient,) = value_and_gradients(
        function, embeddings, classes=CLASSES["a few"], margin=0.3
    )
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-6)
    assert gradient.isfinite().all()


def of_one(count):
    """Only the first of `count` inputs wants a gradient."""
    return [True] + [False] * (count - 1)


SIMILAR = {
    "supcon": lambda forms, e, c: forms.supervised(of_one(7), e, c, None, None, 0.1, False, False),
    "queue": lambda forms, e, c: forms.supervised(of_one(7), e, c, e[:5], c[:5], 0.1, True, False),
    "nt_xent": lambda forms, e, c: forms.several_positives(of_one(3), e, c, 0.1),
    "circle": lambda forms, e, c: forms.paced_circle(of_one(4), e, c, 80.0, 0.4),
    "multi-similarity": lambda forms, e, c: forms.two_sided(
        of_one(7), e, c, True, 2.0, 50.0, 1.0, 0.1
    ),
}
MINED = {
    f"{mining} {distance}": lambda forms, e, c, m=mining, d=distance: forms.mined(
        of_one(5), e, c, m, 1.0, d
    )
    for mining in ("hard", "semi_hard", "all", "violating")
    for distance in ("euclidean", "squared_euclidean", "cosine", "chord")
}
ON_THE_WAY = [
    pytest.param(forms, compute, id=f"{forms.__name__} {name}")
    for large, computes in ((by_blocks, SIMILAR), (by_mining, MINED))
    for forms in (large, at_once)
    for name, compute in computes.items()
]


@pytest.mark.parametrize(("forms", "compute"), ON_THE_WAY)
def test_nothing_waits_for_an_accelerator(monkeypatch, forms, compute):
    """Tensors without numbers: to read one, to branch on it or to size by it raises."""
    rows = 700
    with FakeTensorMode(), torch.no_grad():
        embeddings = torch.empty(rows, 8)
        classes = torch.empty(rows, dtype=torch.int64)
        with pytest.raises(torch._subclasses.fake_tensor.DataDependentOutputException):
            classes[0].item()
        for module in (geometry, by_blocks, by_mining, at_once):  # what a processor may be asked
            monkeypatch.setattr(module, "may_ask", lambda _: False)
        loss, (gradient, *_) = compute(forms, embeddings, classes)
    assert (loss.shape, gradient.shape) == ((), (rows, 8))
