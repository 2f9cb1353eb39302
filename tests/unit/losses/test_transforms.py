"""What torch does to a function, done to every public loss: vmap, compile, another device."""

from functools import partial
from inspect import signature

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from lossprism import losses
from lossprism.losses import LOSSES, OTHERS, SHIPPED
from tests.unit.losses.made import EVERY, call, case, gradients, inputs_for, learned, saved_bytes


def of_classes(count):
    made = torch.Generator().manual_seed(count)
    embeddings = torch.randn(count, 4, generator=made, dtype=torch.float64)
    return embeddings, torch.arange(count) % 7


def registered(spec, count):
    """A loss as a function of what it learns, and that."""
    given = inputs_for(spec, seed=1, count=count)
    names = learned(spec, given)
    rest = {name: tensor for name, tensor in given.items() if name not in names}

    def loss(moving, rest):
        return spec.function(**dict(zip(names, moving, strict=True)), **rest, **spec.defaults)

    return loss, [given[name] for name in names], rest


def classed(function, count):
    embeddings, classes = of_classes(count)
    return lambda moving, rest: function(*moving, **rest), [embeddings], {"classes": classes}


def in_rows(function, count):
    made = torch.Generator().manual_seed(count)
    names = [n for n, p in signature(function).parameters.items() if p.default is p.empty]
    rows = torch.randn(len(names), count, 4, generator=made, dtype=torch.float64)
    return lambda moving, rest: function(*moving, **rest), list(rows), {}


def scored(function, count):
    made = torch.Generator().manual_seed(count)
    scores = torch.randn(count, generator=made, dtype=torch.float64)
    labels = torch.arange(count) % 7 - 1
    return lambda moving, rest: function(*moving, **rest), [scores], {"labels": labels}


BY_ARGUMENT = {"classes": classed, "scores": scored}


def called(function):
    named = (n for n in BY_ARGUMENT if n in signature(function).parameters)
    return partial(BY_ARGUMENT.get(next(named, ""), in_rows), function)


FORMS = {
    **{name: partial(registered, spec) for name, spec in LOSSES.items()},
    **{name: called(function) for name, function in OTHERS.items()},
    **{
        f"triplet, {mining}": partial(classed, partial(losses.triplet, mining=mining))
        for mining in ("hard", "semi_hard", "all")
    },
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def value_and_gradient(loss, moving, rest):
    moving = [tensor.detach().clone().requires_grad_() for tensor in moving]
    value = loss(moving, rest)
    return value.detach(), torch.autograd.grad(value, moving)


@every_form
def test_a_batch_of_batches(form):
    """torch.func.vmap: several batches at once, value and gradient."""
    for count in (6, 40):
        with case(count=count):
            several_at_once(*form(count))


def several_at_once(loss, moving, rest):
    several = [torch.stack((tensor, 1.1 * tensor)) for tensor in moving]
    expected = [value_and_gradient(loss, [one[k] for one in several], rest) for k in (0, 1)]
    both = torch.func.grad_and_value(lambda *moving: loss(moving, rest), tuple(range(len(moving))))
    gradients, values = torch.func.vmap(both)(*several)
    for place, (value, gradient) in enumerate(expected):
        torch.testing.assert_close(values[place], value)
        for found, one in zip(gradients, gradient, strict=True):
            torch.testing.assert_close(found[place], one)


@every_form
def test_several_backward_passes_at_once(form):
    """What `torch.autograd.functional.jacobian` does when it is to vectorize."""
    for count in (6, 40):
        with case(count=count):
            several_backwards_at_once(*form(count))


def several_backwards_at_once(loss, moving, rest):
    _, expected = value_and_gradient(loss, moving, rest)
    leaves = [tensor.detach().clone().requires_grad_() for tensor in moving]
    outer = torch.tensor([1.0, -2.0], dtype=torch.float64)
    found = torch.autograd.grad(loss(leaves, rest), leaves, outer, is_grads_batched=True)
    for both, one in zip(found, expected, strict=True):
        torch.testing.assert_close(both, torch.stack((one, -2 * one)))


class NoWaiting(TorchDispatchMode):
    """Refuses what makes an accelerator wait and the device without numbers lets pass."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        found = operation(*args, **(kwargs or {}))
        copies = (torch.ops.aten._to_copy, torch.ops.aten.copy_)
        if operation.overloadpacket in copies:
            tensors = [one for one in (*args, found) if isinstance(one, torch.Tensor)]
            assert {tensor.device.type for tensor in tensors} == {"meta"}
        return found


@every_form
def test_an_accelerator_never_waits(form):
    """The meta device has no numbers: to read one, or to size by one, is an error."""
    for count in (8, 100, 1300):
        loss, moving, rest = form(count)
        there = [tensor.to("meta") for tensor in moving]
        rest = {name: tensor.to("meta") for name, tensor in rest.items()}
        with case(count=count), NoWaiting():
            _, gradients = value_and_gradient(loss, there, rest)
        assert [one.shape for one in gradients] == [tensor.shape for tensor in moving]


def test_what_waits_is_noticed():
    there = torch.ones(3, device="meta")
    with NoWaiting(), pytest.raises(AssertionError):
        torch.zeros(3).to("meta")
    for wait in (lambda: there.sum().item(), lambda: there.nonzero(), lambda: there[there > 0]):
        with pytest.raises((RuntimeError, NotImplementedError)):
            wait()


WITH_LABELS = ["weighted_cosent", "pairwise_hinge", "contrastive", "binary_cross_entropy"]


@pytest.mark.parametrize("count", [6, 300])
@pytest.mark.parametrize("name", WITH_LABELS)
def test_labels_may_be_learned_where_their_size_counts(name, count):
    spec = LOSSES[name]
    given = inputs_for(spec, seed=1, count=count)
    gradients = []
    for form in (spec.function, spec.definition):
        labels = given["labels"].double().requires_grad_()
        loss = form(**{**given, "labels": labels}, **spec.defaults)
        gradients += torch.autograd.grad(loss, labels)
    assert gradients[0].any()
    torch.testing.assert_close(*gradients)


def carried_forwards(loss, moving, directions, rest):
    with forward_ad.dual_level():
        there = list(map(forward_ad.make_dual, moving, directions))
        return forward_ad.unpack_dual(loss(there, rest)).tangent


@every_form
def test_a_derivative_forwards(form):
    """torch.autograd.forward_ad: the slope of the loss along a direction, without a backward."""
    loss, moving, rest = form(12)
    directions = [torch.randn_like(tensor) for tensor in moving]
    _, gradients = value_and_gradient(loss, moving, rest)
    along = sum((one * by).sum() for one, by in zip(directions, gradients, strict=True))
    torch.testing.assert_close(carried_forwards(loss, moving, directions, rest), along)


# What was added to the package need not have a kernel.
WITH_KERNEL = {
    name: form for name, form in FORMS.items() if name not in LOSSES or LOSSES[name] in SHIPPED
}


@pytest.mark.parametrize("form", WITH_KERNEL.values(), ids=WITH_KERNEL)
def test_no_more_is_kept_than_what_is_given_and_its_gradient(form):
    weights = 64  # bytes, of what a loss keeps for each level
    for count in (40, 1300):
        loss, moving, rest = form(count)
        moving = [tensor.requires_grad_() for tensor in moving]
        given = sum(tensor.nbytes for tensor in (*moving, *rest.values()))
        most = given + sum(one.nbytes for one in moving) + weights
        assert saved_bytes(loss, moving, rest) <= most, count


@pytest.mark.parametrize("spec", EVERY)
def test_what_does_not_learn_may_come_from_inference_mode(spec):
    """Labels of a teacher, keys of a frozen encoder: autograd refuses to save them as they are."""
    for count in (6, 300):
        with case(count=count):
            rest_may_be_frozen(spec, inputs_for(spec, seed=1, count=count))


def rest_may_be_frozen(spec, given):
    expected = gradients(spec, given)
    for name in expected:
        with torch.inference_mode():
            frozen = {one: tensor.clone() for one, tensor in given.items()}
        leaf = given[name].clone().requires_grad_()
        loss = call(spec, {**frozen, name: leaf})
        torch.testing.assert_close(torch.autograd.grad(loss, leaf)[0], expected[name])


NUMBERS = {
    "cosent": "scale",
    "weighted_cosent": "scale",
    "hierarchical_cosent": "scale",
    "multitask_cosent": "scale",
    "pairwise_logistic": "scale",
    "circle": "scale",
    "circle_self_paced": "scale",
    "angle": "scale",
    "info_nce": "temperature",
    "supcon": "temperature",
    "siglip": "scale",
}


@pytest.mark.parametrize("count", [6, 300])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_learned_on_what_was_made_in_inference_mode(name, count):
    """Scores of a frozen model, and a λ that learns."""
    spec, number = LOSSES[name], NUMBERS[name]
    given = inputs_for(spec, seed=1, count=count)
    with torch.inference_mode():
        frozen = {one: tensor.clone() for one, tensor in given.items()}
    found, expected = (
        torch.autograd.grad(call(spec, each, **{number: leaf}), leaf)[0]
        for each in (frozen, given)
        for leaf in [torch.tensor(2.0, dtype=torch.float64, requires_grad=True)]
    )
    torch.testing.assert_close(found, expected)
