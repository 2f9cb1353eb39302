"""In-batch and prototype losses by tiles: the definition's numbers, without its matrices."""

import math

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.kernels import query_key_losses_by_tiles
from lossprism.losses.prototypes import softmax
from tests.unit.losses.made import case, saved_bytes

IN_BATCH = ("info_nce", "nt_xent", "nce", "siglip")

# name, parameters (a dict), and whether there are further negatives
PAIRED = [
    ("info_nce", {}, False),
    ("info_nce", {}, True),
    ("info_nce", {"symmetric": True}, False),
    ("info_nce", {"symmetric": True}, True),
    ("info_nce", {"temperature": 1e-3}, True),
    ("info_nce", {"temperature": 1e-3, "symmetric": True}, True),
    ("nt_xent", {}, False),
    ("nt_xent", {"temperature": 1e-3}, False),
    ("nce", {}, False),
    ("nce", {"noise_ratio": 7.0, "temperature": 1e-3}, False),
    ("nce", {"full": True, "log_noise": 1.5}, False),
    ("siglip", {}, False),
    ("siglip", {"scale": 1000.0, "bias": 3.0}, False),
]
CLASSED = [
    ("softmax", {}),
    ("arcface", {}),
    ("arcface", {"scale": 1000.0, "margin": 1.2}),
    ("arcface", {"margin": 0.0}),
    ("arcface", {"scale": 0.0}),
    ("cosface", {}),
    ("cosface", {"scale": 1000.0}),
    ("proxy_nca", {}),
    ("proxy_nca", {"scale": 500.0}),
    ("proxy_nca", {"include_own": True}),
    ("proxy_anchor", {}),
    ("proxy_anchor", {"scale": 1000.0, "margin": 0.7}),
]
CASES = [(name, parameters, extra) for name, parameters, extra in PAIRED] + [
    (name, parameters, False) for name, parameters in CLASSED
]
IDS = [f"{n}-{'-'.join(p) or 'plain'}{'-negatives' * e}{i}" for i, (n, p, e) in enumerate(CASES)]
every_case = pytest.mark.parametrize(("name", "parameters", "extra"), CASES, ids=IDS)


def follows_products() -> bool:
    """Whether the meta device has CUDA's product of half precision that is summed in float32, which
    torch 2.8 has on CUDA alone."""
    sums = torch.empty(1, 1, device="meta")
    half = sums.bfloat16()
    try:
        torch.addmm(sums, half, half, out=sums, out_dtype=sums.dtype)
    except NotImplementedError:
        return False
    return True


on_meta = pytest.mark.skipif(
    not follows_products(), reason="this torch's meta device has no addmm with out_dtype"
)


def made(name, count, extra, seed=0, width=5, dtype=torch.float64):
    """The vectors of a loss by name, and all else it takes."""
    generator = torch.Generator().manual_seed(seed)

    def normal(rows):
        return torch.randn(rows, width, generator=generator, dtype=torch.float64).to(dtype)

    if name in IN_BATCH:
        names = ("first", "second") if name == "nt_xent" else ("queries", "keys")
        vectors = {one: normal(count) for one in names}
        if extra:
            vectors["negatives"] = normal(count // 2 + 1)
        return vectors, {}
    number = count // 3 + 2
    classes = torch.randint(0, number, (count,), generator=generator)
    return {"embeddings": normal(count), "prototypes": normal(number)}, {"classes": classes}


def value_and_gradient(function, vectors, **rest):
    moving = {name: vector.detach().clone().requires_grad_() for name, vector in vectors.items()}
    value = function(**moving, **rest)
    return value, torch.autograd.grad(value, list(moving.values()))


def agree(found, expected, rtol=1e-10, atol=1e-12):
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol)


def as_defined(name, vectors, **rest):
    spec = LOSSES[name]
    found = value_and_gradient(spec.function, vectors, **rest)
    expected = value_and_gradient(spec.definition, vectors, **rest)
    largest = max(float(g.abs().max()) for g in expected[1])
    agree(found[0], expected[0])
    agree(found[1], expected[1], atol=1e-10 * max(largest, 1e-2))


@pytest.fixture(params=["few cells", "one tile", "ragged tiles"])
def tiles(request, monkeypatch):
    if request.param != "few cells":
        monkeypatch.setattr(softmax, "SMALL_BATCH_CELLS", 0)
    if request.param == "ragged tiles":
        monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
        monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 4)


# The definition's numbers


@every_case
@pytest.mark.usefixtures("tiles")
def test_value_and_gradient_are_those_of_the_definition(name, parameters, extra):
    for count in (1, 2, 3, 4, 5, 17, 64):
        vectors, rest = made(name, count, extra)
        with case(count=count):
            as_defined(name, vectors, **rest, **parameters)


@every_case
@pytest.mark.usefixtures("tiles")
def test_zero_short_and_equal_vectors(name, parameters, extra):
    vectors, rest = made(name, 9, extra)
    for vector in vectors.values():
        vector[0] = 0
        vector[1] = vector[2]
        vector[3] *= 1e-9  # too short for a direction
    keys, queries = list(vectors.values())[:2]
    keys[4] = queries[4]
    as_defined(name, vectors, **rest, **parameters)


@pytest.mark.parametrize(
    ("name", "learned", "rest"),
    [
        ("info_nce", {"temperature": 0.3}, {}),
        ("info_nce", {"temperature": 0.01}, {"symmetric": True}),
        ("nt_xent", {"temperature": 0.3}, {}),
        ("nce", {"temperature": 0.3}, {"noise_ratio": 3.0}),
        ("nce", {"temperature": 0.3, "log_noise": 0.7}, {"full": True}),
        ("siglip", {"scale": 4.0, "bias": -2.0}, {}),
        ("arcface", {"scale": 4.0}, {"margin": 0.7}),
    ],
)
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.usefixtures("tiles")
def test_a_learned_temperature_scale_or_bias(name, learned, rest, alone):
    """Its gradient is there too, and also where nothing else has one."""
    vectors, given = made(name, 11, extra=name == "info_nce")
    spec = LOSSES[name]
    answers = []
    for function in (spec.function, spec.definition):
        moving = {
            n: torch.tensor(v, dtype=torch.float64).requires_grad_() for n, v in learned.items()
        }
        leaves = {n: v.clone().requires_grad_(not alone) for n, v in vectors.items()}
        value = function(**leaves, **given, **moving, **rest)
        wanted = [*moving.values(), *([] if alone else leaves.values())]
        answers.append((value, *torch.autograd.grad(value, wanted)))
    agree(*answers)


@every_case
@pytest.mark.usefixtures("tiles")
def test_only_the_gradients_that_are_needed(name, parameters, extra):
    vectors, rest = made(name, 9, extra)
    spec = LOSSES[name]
    _, every = value_and_gradient(spec.function, vectors, **rest, **parameters)
    for place, one in enumerate(vectors):
        moving = vectors[one].clone().requires_grad_()
        loss = spec.function(**{**vectors, one: moving}, **rest, **parameters)
        agree(torch.autograd.grad(loss, moving)[0], every[place])
    with torch.no_grad():
        moving = {n: v.clone().requires_grad_() for n, v in vectors.items()}
        loss = spec.function(**moving, **rest, **parameters)
        assert not loss.requires_grad
        agree(loss, spec.function(**vectors, **rest, **parameters))


@pytest.mark.parametrize("name", ["info_nce", "nt_xent", "arcface"])
def test_a_tiny_loss_keeps_its_digits_in_float32(name):
    """exp(−30) beside 1: a logsumexp less the own logit would round it away."""
    ones = torch.eye(3)
    given = {"info_nce": (ones, ones), "nt_xent": (ones, ones), "arcface": (ones, torch.arange(3))}
    named = {"prototypes": ones, "scale": 30.0, "margin": 0.0} if name == "arcface" else {}
    if not named:
        named = {"temperature": 1 / 30}
    expected = math.log1p((4 if name == "nt_xent" else 2) * math.exp(-30))
    assert LOSSES[name].function(*given[name], **named).item() == pytest.approx(expected, rel=1e-5)


def test_siglip_is_the_full_nce_at_the_same_threshold():
    vectors, _ = made("nce", 7, extra=False)
    found = LOSSES["siglip"].function(**vectors, scale=5.0, bias=-1.5)
    agree(found, LOSSES["nce"].function(**vectors, full=True, temperature=0.2, log_noise=1.5))


# Derivatives of derivatives, other transforms


@pytest.mark.thorough
@every_case
@pytest.mark.usefixtures("tiles")
def test_gradgradcheck(name, parameters, extra):
    vectors, rest = made(name, 5, extra, seed=3, width=3)
    mild = {"temperature": 0.5, "scale": 3.0}
    parameters = {n: mild.get(n, v) for n, v in {**LOSSES[name].defaults, **parameters}.items()}
    leaves = [vector.requires_grad_() for vector in vectors.values()]

    def loss(*moving):
        return LOSSES[name].function(
            **dict(zip(vectors, moving, strict=True)), **rest, **parameters
        )

    # Along random directions: each by itself is compared with the definition's, which is held to
    # differences in `test_gradients`.
    assert torch.autograd.gradcheck(loss, leaves, fast_mode=True)
    assert torch.autograd.gradgradcheck(loss, leaves, fast_mode=True)


# Memory, layout, types


@pytest.mark.parametrize(
    ("name", "parameters"), [(n, p) for n, p, extra in PAIRED if not extra], ids=str
)
def test_no_more_is_kept_than_the_vectors_and_their_gradients(name, parameters):
    count, width = 600, 8
    vectors, _ = made(name, count, extra=False, width=width, dtype=torch.float32)
    leaves = [vector.requires_grad_() for vector in vectors.values()]
    allowed = 4 * count * width * 4
    assert saved_bytes(LOSSES[name].function, *leaves, **parameters) <= allowed
    assert saved_bytes(LOSSES[name].definition, *leaves, **parameters) > count * count * 4


@pytest.mark.parametrize("name", ["softmax", "arcface"])
def test_many_classes_keep_no_matrix(name):
    count, number, width = 64, 5000, 8
    embeddings = torch.randn(count, width, requires_grad=True)
    prototypes = torch.randn(number, width, requires_grad=True)
    classes = torch.randint(0, number, (count,))
    kept = saved_bytes(LOSSES[name].function, embeddings, classes, prototypes=prototypes)
    assert kept <= 2 * (count + number) * width * 4 + classes.nbytes
    assert kept < count * number * 4


def largest_tensor(function, *given):
    """Elements of the largest tensor that any step makes."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        most = 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            made = operation(*args, **(kwargs or {}))
            for one in made if isinstance(made, tuple | list) else (made,):
                if isinstance(one, torch.Tensor):
                    self.most = max(self.most, one.numel())
            return made

    with Watch() as watch:
        function(*given)
    return watch.most


@pytest.mark.parametrize("symmetric", [False, True])
def test_no_step_makes_the_matrix(symmetric, monkeypatch):
    monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
    monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 32)
    queries, keys = torch.randn(2, 500, 8, requires_grad=True)

    def step():
        LOSSES["info_nce"].function(queries, keys, symmetric=symmetric).backward()

    assert largest_tensor(step) <= 32 * 500


@every_case
@pytest.mark.usefixtures("tiles")
def test_strided_and_broadcast_inputs(name, parameters, extra):
    vectors, rest = made(name, 9, extra)
    strided = {n: v.repeat_interleave(2, dim=1)[:, ::2] for n, v in vectors.items()}
    turned = {n: v.T.contiguous().T for n, v in vectors.items()}
    expected = value_and_gradient(LOSSES[name].function, vectors, **rest, **parameters)
    for moved in (strided, turned):
        assert all(not v.is_contiguous() for v in moved.values())
        leaves = {n: v.requires_grad_() for n, v in moved.items()}
        loss = LOSSES[name].function(**leaves, **rest, **parameters)
        agree((loss, torch.autograd.grad(loss, list(leaves.values()))), expected)
    one = {n: v[:1] for n, v in vectors.items()}
    broadcast = {n: v.expand_as(vectors[n]) for n, v in one.items()}
    as_defined(name, broadcast, **rest, **parameters)
    leaf = {n: v.clone().requires_grad_() for n, v in one.items()}
    spread = {n: v.expand_as(vectors[n]) for n, v in leaf.items()}
    LOSSES[name].function(**spread, **rest, **parameters).backward()
    _, summed = value_and_gradient(LOSSES[name].function, broadcast, **rest, **parameters)
    for vector, gradient in zip(leaf.values(), summed, strict=True):
        agree(vector.grad, gradient.sum(dim=0, keepdim=True))


@every_case
def test_the_inputs_are_left_as_they_were(name, parameters, extra):
    vectors, rest = made(name, 9, extra)
    before = {n: v.clone() for n, v in vectors.items()}
    value_and_gradient(LOSSES[name].function, vectors, **rest, **parameters)
    assert all(torch.equal(vectors[n], before[n]) for n in vectors)


@every_case
def test_going_backward_twice_gives_the_same(name, parameters, extra):
    vectors, rest = made(name, 9, extra)
    leaves = {n: v.requires_grad_() for n, v in vectors.items()}
    loss = LOSSES[name].function(**leaves, **rest, **parameters)
    first = torch.autograd.grad(3 * loss, list(leaves.values()), retain_graph=True)
    second = torch.autograd.grad(loss, list(leaves.values()))
    agree(first, tuple(3 * gradient for gradient in second))


@every_case
@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=on_meta)])
def test_an_accelerator_never_waits_for_a_number(name, parameters, extra, dtype, monkeypatch):
    """The meta device has no numbers to read: a step that wants one fails."""
    monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
    monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 4)
    vectors, rest = made(name, 10, extra, dtype=dtype)
    there = {n: v.to("meta") for n, v in vectors.items()}
    rest = {n: t.to("meta") for n, t in rest.items()}
    loss, gradients = value_and_gradient(LOSSES[name].function, there, **rest, **parameters)
    assert loss.dtype == torch.float32
    assert [(g.shape, g.dtype) for g in gradients] == [(v.shape, dtype) for v in vectors.values()]


@on_meta
def test_bfloat16_reaches_the_products_of_cuda_unraised():
    from torch.utils._python_dispatch import TorchDispatchMode

    multiplied = []  # on the meta device, which follows CUDA here

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            if operation.overloadpacket is torch.ops.aten.addmm:
                multiplied.append((args[1].dtype, args[2].dtype, kwargs["out"].dtype))
            return operation(*args, **(kwargs or {}))

    queries, keys = torch.randn(2, 10, 4, device="meta", dtype=torch.bfloat16, requires_grad=True)
    with Watch():
        LOSSES["info_nce"].function(queries, keys).backward()
    assert set(multiplied) == {(torch.bfloat16, torch.bfloat16, torch.float32)}


@pytest.mark.parametrize("name", IN_BATCH)
def test_a_temperature_of_several_numbers_is_refused(name):
    vectors, _ = made(name, 4, extra=False)
    which = "scale" if name == "siglip" else "temperature"
    with pytest.raises(ValueError, match=rf"{which} has shape \(4, 1\)"):
        LOSSES[name].function(**vectors, **{which: torch.ones(4, 1)})
