"""What cannot be used is refused by a sentence that says what, where, and what is accepted."""

import math

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.inputs_that_losses_may_read import READABLE
from tests.unit.losses.made import (
    EVERY,
    call,
    inputs_for,
    learned,
)

L = {name: spec.function for name, spec in LOSSES.items()}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("spec", EVERY)
def test_nan_and_inf_are_refused_by_name_and_row(spec, bad):
    given = inputs_for(spec, seed=1)
    for name in learned(spec, given):
        spoiled = given[name].clone()
        spoiled[-1] = bad
        place = len(spoiled) - 1
        with pytest.raises(ValueError, match=rf"^{name}\[{place}\].* is -?{abs(bad)}; every value"):
            call(spec, {**given, name: spoiled})


@pytest.mark.parametrize(
    ("name", "number"), [("arcface", "margin"), ("cosface", "margin"), ("nce", "noise_ratio")]
)
def test_a_number_that_no_gradient_would_reach_is_refused(name, number):
    given = inputs_for(LOSSES[name])
    with pytest.raises(ValueError, match=f"{number} requires a gradient"):
        L[name](**given, **{number: torch.tensor(0.5, requires_grad=True)})
    as_tensor = L[name](**given, **{number: torch.tensor(0.5)})
    torch.testing.assert_close(as_tensor, L[name](**given, **{number: 0.5}))


def test_labels_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match=r"labels\[1\] is nan; every value must be a finite"):
        L["cosent"](torch.zeros(2), torch.tensor([0, math.nan]))


def test_large_finite_numbers_are_not_mistaken_for_inf():
    scores = torch.tensor([3e38, 3e38, -3e38])
    assert L["max_violation"](scores.double(), torch.tensor([0, 0, 1])) == scores[0].double() * 2


REFUSED = [
    ("cosent", (torch.zeros(3, 1), torch.zeros(3)), {}, r"scores has shape \(3, 1\); one score"),
    ("cosent", (torch.zeros(3), torch.zeros(2)), {}, r"labels has shape \(2,\); one label for"),
    ("cosent", (torch.zeros(0), torch.zeros(0)), {}, r"scores has shape \(0,\); one score"),
    ("hierarchical_cosent", (torch.zeros(3), torch.zeros(3)), {}, r"a row for each level"),
    ("hierarchical_cosent", (torch.zeros(2, 0), torch.zeros(0)), {}, r"has shape \(2, 0\); a row"),
    ("hierarchical_cosent", (torch.zeros(0, 2), torch.zeros(2)), {}, r"has shape \(0, 2\); a row"),
    (
        "hierarchical_cosent",
        (torch.zeros(2, 3), torch.zeros(3)),
        {"weights": (1.0,)},
        r"weights has 1 entries; one for each of the 2 levels",
    ),
    (
        "multitask_cosent",
        (torch.zeros(3), torch.zeros(3)),
        {"logits": torch.zeros(3, 2), "classes": torch.tensor([0, 1, 2])},
        r"classes\[2\] is 2; there are classes 0 to 1",
    ),
    (
        "multitask_cosent",
        (torch.zeros(3), torch.zeros(3)),
        {"logits": torch.zeros(2, 2), "classes": torch.tensor([0, 1])},
        r"logits has shape \(2, 2\); a row for each of the 3 pairs",
    ),
    ("angle", (torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(2)), {}, r"need an even number"),
    ("pairwise_logistic", (torch.zeros(2), torch.zeros(2)), {"reduction": "max"}, r"sum, mean"),
    ("info_nce", (torch.zeros(2, 3), torch.zeros(3, 3)), {}, r"queries \(2, 3\), keys \(3, 3\)"),
    ("info_nce", (torch.zeros(2), torch.zeros(2)), {}, r"queries has shape \(2,\); one row for"),
    (
        "info_nce",
        (torch.zeros(2, 3), torch.zeros(2, 3)),
        {"negatives": torch.zeros(1, 4)},
        r"negatives has 4 dimensions where 3 were given before",
    ),
    (
        "info_nce",
        (torch.ones(2, 3), torch.ones(2, 3)),
        {"negatives": torch.ones(3, 4, 3)},
        r"negatives has shape \(3, 4, 3\); for 2 queries of 3 dimensions it must be \[Q, D\] or",
    ),
    ("siglip", (torch.ones(1, 2, 3), torch.ones(1, 2, 3)), {}, r"queries has shape \(1, 2, 3\)"),
    ("info_nce", (torch.ones(2, 3), torch.ones(2, 3)), {"temperature": 0.0}, r"temperature is 0.0"),
    ("nce", (torch.ones(2, 3), torch.ones(2, 3)), {"noise_ratio": -1}, r"noise_ratio is -1"),
    (
        "nce",
        (torch.ones(2, 3), torch.ones(2, 3)),
        {"negatives": torch.ones(5, 3)},
        r"negatives has shape \(5, 3\); noise keys of 3 dimensions for each of the 2 queries",
    ),
    (
        "nce",
        (torch.ones(2, 3), torch.ones(2, 3)),
        {"negatives": torch.ones(2, 1, 4)},
        r"negatives has shape \(2, 1, 4\); noise keys of 3 dimensions for each of the 2 queries",
    ),
    ("supcon", (torch.ones(2, 3), torch.zeros(2)), {}, r"classes must be whole numbers"),
    ("n_pair", (torch.ones(2, 3), torch.ones(3, 3)), {}, r"anchors \(2, 3\), positives \(3, 3\)"),
    (
        "n_pair",
        (torch.ones(2, 3), torch.ones(2, 3)),
        {"similarity": "euclidean"},
        r"similarity is 'euclidean'; it must be one of dot, cosine",
    ),
    (
        "multi_similarity",
        (torch.ones(2, 3), torch.zeros(2).long()),
        {"negative_scale": 0.0},
        r"negative_scale is 0.0; it must be greater than 0",
    ),
    (
        "supcon",
        (torch.ones(2, 3), torch.zeros(2).long()),
        {"queue": torch.ones(2, 3)},
        r"queue and queue_classes belong together",
    ),
    (
        "supcon",
        (torch.ones(2, 3), torch.zeros(2).long()),
        {"queue": torch.ones(2, 3), "queue_classes": torch.zeros(3).long()},
        r"queue_classes has shape \(3,\); one class for each of the 2 rows",
    ),
    (
        "contrastive",
        (torch.ones(2, 3), torch.ones(2, 3), torch.zeros(2)),
        {"distance": "manhattan"},
        r"distance is 'manhattan'; it must be one of euclidean, cosine",
    ),
    ("triplet", (torch.ones(2, 3),), {}, r"needs positives and negatives"),
    ("triplet", (torch.ones(2, 3),), {"mining": "hard"}, r"needs the class of each embedding"),
    ("triplet", (torch.ones(2, 3),), {"mining": "soft"}, r"it must be one of given, all"),
    (
        "triplet",
        (torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3)),
        {"classes": torch.zeros(2).long()},
        r"classes have no use",
    ),
    (
        "triplet",
        (torch.ones(2, 3), torch.ones(2, 3)),
        {"classes": torch.zeros(2).long(), "mining": "all"},
        r"finds positives and negatives among the anchors",
    ),
    (
        "triplet",
        (torch.ones(2, 3),),
        {"mining": "all", "classes": torch.zeros(3).long()},
        r"2 rows",
    ),
    (
        "softmax",
        (torch.ones(2, 3), torch.tensor([0, -1])),
        {"prototypes": torch.ones(2, 3)},
        r"classes\[1\] is -1; there are prototypes 0 to 1",
    ),
    (
        "softmax",
        (torch.ones(2, 3), torch.zeros(2).long()),
        {"prototypes": torch.ones(0, 3)},
        r"prototypes has shape \(0, 3\)",
    ),
]


@pytest.mark.parametrize(("name", "given", "named", "message"), REFUSED)
def test_wrong_shapes_and_choices_say_what_is_right(name, given, named, message):
    with pytest.raises(ValueError, match=message):
        L[name](*given, **named)


@pytest.mark.parametrize("count", [4, 300])
def test_no_further_keys_are_as_if_left_out(count):
    """A filter may leave no hard negative, and a queue begins empty."""
    embeddings, keys = torch.randn(2, count, 3, generator=torch.manual_seed(1))
    classes = torch.arange(count) % 2
    none, of_none = torch.empty(0, 3, requires_grad=True), torch.empty(0, dtype=torch.int64)
    given = L["info_nce"](embeddings, keys, negatives=none)
    torch.testing.assert_close(given, L["info_nce"](embeddings, keys))
    given.backward()
    assert none.grad.shape == (0, 3)
    given = L["supcon"](embeddings, classes, queue=none, queue_classes=of_none)
    torch.testing.assert_close(given, L["supcon"](embeddings, classes))


FURTHER = [
    pytest.param(name, convention, id=f"{name}, {convention or 'ours'}")
    for name, spec in LOSSES.items()
    for convention in ("", *(one.name for one in spec.conventions))
    if "negatives" in spec.under(convention).reads.values()
    and spec.under(convention).defaults.get("in_batch", True)
]


@pytest.mark.parametrize("count", [4, 300])
@pytest.mark.parametrize(("name", "convention"), FURTHER)
def test_empty_negatives_are_as_if_left_out(name, convention, count):
    """With all that belongs to them: a guide's vectors, owners, texts."""
    spec = LOSSES[name].under(convention)
    of_negatives = ("negatives", "guide_negatives", "negative_owners", "negative_texts")
    given = inputs_for(spec, count=count)
    theirs = [one for one in given if spec.reads[one] in of_negatives]
    without = {**given, **dict.fromkeys(theirs)}
    empty = {**given, **{one: given[one][:0] for one in theirs}}
    forms = [spec.definition]
    if spec.definition is LOSSES[name].definition:
        forms.append(spec.function)
    for form in forms:
        expected, found = (form(**one, **spec.defaults) for one in (without, empty))
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("name", ["cosent", "info_nce", "contrastive", "supcon", "softmax"])
def test_a_list_is_not_a_tensor(name):
    spec = LOSSES[name]
    given = inputs_for(spec, seed=1)
    for one in given:
        with pytest.raises(TypeError, match=f"{one} must be a tensor, not list"):
            call(spec, {**given, one: [0.0, 1.0]})


CHECKED = [
    pytest.param(spec.under(one.name), id=f"{name}, {one.name}")
    for name, spec in LOSSES.items()
    for one in spec.conventions
]


def spoiled_of(spec, name, given):
    """What no loss can use in the place of this argument."""
    tensor, reading = given[name], READABLE[spec.reads[name]]
    yield tensor.tolist()
    if reading.made_of in ("labels", "classes", "texts"):
        yield tensor[:-1]
    if tensor.is_floating_point():
        bad = tensor.clone()
        bad[(-1,) + (0,) * (tensor.ndim - 1)] = math.nan
        yield bad
    if reading.made_of in ("classes", "texts"):
        yield tensor.double() + 0.5
    if name == "mask":
        yield tensor.double()
    if name == "classes" and "prototypes" in given:
        for number in (-1, len(given["prototypes"])):
            yield torch.cat([tensor[:-1], tensor.new_tensor([number])])


@pytest.mark.parametrize("spec", CHECKED)
def test_every_convention_refuses_what_the_loss_refuses(spec):
    """A bare definition says the same sentence as the loss that reads the same."""
    own = LOSSES[spec.name]
    given = inputs_for(spec, seed=1)
    for name in given:
        for bad in spoiled_of(spec, name, given):
            spoiled = {**given, name: bad}
            with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b") as found:
                spec.checked(**spoiled, **spec.defaults)
            if spec.reads == own.reads and spec.checked is not own.function:
                with pytest.raises(type(found.value)) as expected:
                    call(own, spoiled)
                assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("spec", CHECKED)
def test_checks_leave_the_numbers_of_a_convention(spec):
    given = inputs_for(spec, seed=1)
    torch.testing.assert_close(
        spec.checked(**given, **spec.defaults), spec.definition(**given, **spec.defaults)
    )
