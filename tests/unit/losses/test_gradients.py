"""Autograd against differences for every loss and option, and what permuting a batch does."""

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.contrastive.info_nce_directions_and_negatives import DIRECTIONS
from tests.unit.losses.made import EVERY, call, gradients, inputs_for, learned

OPTIONS = [
    ("info_nce", {"symmetric": True, "temperature": 0.5}),
    ("info_nce", {"directions": DIRECTIONS, "temperature": 0.5}),
    ("info_nce", {"directions": DIRECTIONS, "partition": "per_direction", "temperature": 0.5}),
    ("info_nce", {"similarity": "dot", "temperature": 2.0, "mask_above": 0.1}),
    ("gist", {"temperature": 0.5, "margin": -0.3, "margin_kind": "relative"}),
    ("decoupled", {"weighted": True, "temperature": 0.4}),
    ("debiased", {"temperature": 0.2, "tau_plus": 0.02}),
    ("hard_weighted", {"temperature": 0.2, "tau_plus": 0.0, "beta": 0.7}),
    ("focal_info_nce", {"temperature": 0.5, "gamma": 2.0}),
    ("nce", {"full": True, "log_noise": 0.7, "temperature": 0.5}),
    ("nce", {"noise_ratio": 3.0, "temperature": 0.5}),
    ("supcon", {"include_self": True, "temperature": 0.5}),
    ("multi_similarity", {"mined": False, "threshold": 0.5}),
    ("n_pair", {"similarity": "cosine"}),
    ("contrastive", {"distance": "cosine", "half": True, "margin": 1.1}),
    ("triplet", {"mining": "all", "margin": 1.3, "distance": "squared_euclidean"}),
    ("triplet", {"mining": "all", "margin": 0.4, "distance": "cosine"}),
    ("triplet", {"mining": "semi_hard", "margin": 1.3}),
    ("triplet", {"mining": "all", "margin": 0.2, "soft_margin": True}),
    ("triplet", {"mining": "semi_hard", "margin": 0.4, "distance": "cosine"}),
    ("triplet", {"mining": "hard", "margin": 1.3}),
    ("triplet", {"mining": "hard", "margin": 0.4, "distance": "cosine"}),
    ("pairwise_logistic", {"reduction": "mean", "scale": 3.0}),
    ("hierarchical_cosent", {"weights": (0.2, 1.0, 3.0)}),
    ("multitask_cosent", {"alpha": 0.3}),
    ("arcface", {"scale": 4.0, "margin": 1.2}),
]


def checked(function, leaves):
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    return torch.autograd.gradcheck(function, leaves, eps=1e-6, atol=1e-6, rtol=1e-5)


def check(spec, given, **parameters):
    names = learned(spec, given)

    def at(*leaves):
        return call(spec, {**given, **dict(zip(names, leaves, strict=True))}, **parameters)

    assert checked(at, [given[name] for name in names])


# The weights of self-paced circle carry no gradient, so differences see another function.
DIFFERENTIABLE = [case for case in EVERY if case.id != "circle_self_paced"]


@pytest.mark.parametrize("spec", DIFFERENTIABLE)
def test_gradcheck(spec):
    check(spec, inputs_for(spec, seed=3))


@pytest.mark.parametrize(("name", "parameters"), OPTIONS)
def test_gradcheck_of_options(name, parameters):
    check(LOSSES[name], inputs_for(LOSSES[name], seed=5), **parameters)


def test_gradcheck_of_circle_with_constant_weights():
    """∂L/∂s of self-paced circle is that of circle with α fixed at its present value."""
    spec = LOSSES["circle_self_paced"]
    given = inputs_for(spec, seed=3)
    scores, labels = given["scores"], given["labels"]
    scale, margin = 8.0, 0.25
    positive_pace, negative_pace = (1 + margin - scores).relu(), (scores + margin).relu()

    def held(moving):
        sums = (scale * negative_pace * (moving - margin))[:, None] - (
            scale * positive_pace * (moving - 1 + margin)
        )[None, :]
        return sums[labels[:, None] < labels[None, :]].exp().sum().log1p()

    moving = scores.clone().requires_grad_()
    (expected,) = torch.autograd.grad(held(moving), moving)
    found = gradients(spec, given, scale=scale, margin=margin)["scores"]
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_gradcheck_of_given_triplets():
    triples = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1)).double()
    for distance in ("euclidean", "squared_euclidean", "cosine"):
        assert checked(
            lambda a, p, n, d=distance: LOSSES["triplet"].function(a, p, n, distance=d),
            list(triples),
        )


def test_gradcheck_of_nce_with_noise_of_its_own():
    made = torch.Generator().manual_seed(2)
    queries, keys = torch.randn(2, 3, 4, generator=made).double()
    noise = torch.randn(3, 2, 4, generator=made).double()
    for full in (False, True):
        assert checked(
            lambda q, k, n, f=full: LOSSES["nce"].function(
                q, k, negatives=n, temperature=0.5, full=f
            ),
            [queries, keys, noise],
        )


def test_gradcheck_of_supcon_with_a_queue():
    made = torch.Generator().manual_seed(2)
    embeddings, queue = torch.randn(2, 5, 4, generator=made).double()
    classes, queue_classes = torch.tensor([0, 0, 1, 2, 3]), torch.tensor([2, 1, 0, 9, 9])
    assert checked(
        lambda e, q: LOSSES["supcon"].function(
            e, classes, queue=q, queue_classes=queue_classes, temperature=0.5
        ),
        [embeddings, queue],
    )


@pytest.mark.parametrize("spec", EVERY)
def test_a_permuted_batch_has_the_permuted_gradient(spec):
    given = inputs_for(spec, seed=7)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(0))
    alone = (
        "negatives",
        "negative_owners",
        "guide_negatives",
        "negative_texts",
        "prototypes",
    )  # not one row for each example

    def permuted(name, tensor):
        if spec.reads[name] in alone:
            return tensor
        if spec.reads[name] == "targets":
            return tensor[order][:, order]
        return tensor[:, order] if spec.reads[name] == "level_scores" else tensor[order]

    before = gradients(spec, given)
    after = gradients(spec, {name: permuted(name, t) for name, t in given.items()})
    assert any(bool(gradient.any()) for gradient in before.values())
    for name, gradient in before.items():
        torch.testing.assert_close(after[name], permuted(name, gradient), rtol=1e-9, atol=1e-12)


def test_a_returned_gradient_may_be_changed():
    """What is kept for the backward pass is handed out as it is, if nobody asks for it again."""
    scores = torch.linspace(-1, 1, 5).requires_grad_()
    loss = LOSSES["cosent"].function(scores, torch.tensor([2, 0, 1, 1, 0]))
    expected = None
    for retain in (True, True, False):
        (gradient,) = torch.autograd.grad(loss, scores, retain_graph=retain)
        expected = gradient.clone() if expected is None else expected
        torch.testing.assert_close(gradient, expected)
        gradient.zero_()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
