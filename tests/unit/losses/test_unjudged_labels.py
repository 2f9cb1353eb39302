"""Labels of −1, by which libraries mark a pair that nobody judged: left out, by the fast form."""

import pytest
import torch

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.scenario import Rules
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from lossprism.losses.labels import UNJUDGED
from lossprism.losses.sentence_transformers.trainer_batch import Examples
from tests.unit.losses.made import saved_bytes

OF_LISTS = [
    pytest.param(spec.under(one.name), id=one.name)
    for spec in LOSSES.values()
    for one in spec.conventions
    if "list_labels" in spec.under(one.name).reads.values()
]
LEAVING_OUT = [
    pytest.param(spec.under(one.name), id=one.name)
    for spec in LOSSES.values()
    for one in spec.conventions
    if one.name.startswith(("allRank", "TF-Ranking")) and "sum / N" not in one.name
]
PER_ITEM = [
    pytest.param(spec.under(one.name), id=one.name)
    for spec in LOSSES.values()
    for one in spec.conventions
    if "sum / N" in one.name
]


def drawn(spec, lists, candidates):
    """Scores, and labels from −1 on; one list without any judgement, one with a single one."""
    made = torch.Generator().manual_seed(lists)
    scores = torch.randn(lists, candidates, generator=made, dtype=torch.float64)
    labels = torch.randint(UNJUDGED, 4, (lists, candidates), generator=made)
    labels[0] = UNJUDGED
    labels[1, 1:] = UNJUDGED
    if "list_labels" in spec.reads.values():
        return scores, labels
    return scores.flatten(), labels.flatten()


def value_and_gradient(function, scores, labels, spec):
    scores = scores.clone().requires_grad_()
    value = function(scores=scores, labels=labels, **spec.defaults)
    return value.detach(), torch.autograd.grad(value, scores)[0]


@pytest.mark.parametrize("spec", OF_LISTS)
def test_no_convention_on_lists_forms_every_pair(spec):
    """Of 64 lists of 50 candidates, 160,000 pairs, some vectors of 3,200 numbers remain."""
    scores, labels = drawn(spec, 64, 50)
    labels = labels.clamp_min(0) if spec.reads["mask"] == "list_mask" else labels
    moving = scores.requires_grad_()
    kept = saved_bytes(spec.checked, scores=moving, labels=labels, **spec.defaults)
    assert kept <= 8 * scores.numel() * scores.element_size()


@pytest.mark.parametrize("spec", LEAVING_OUT)
def test_the_fast_form_is_the_definition(spec):
    for lists, candidates in ((2, 3), (5, 4), (40, 20)):
        scores, labels = drawn(spec, lists, candidates)
        found = value_and_gradient(spec.checked, scores, labels, spec)
        expected = value_and_gradient(spec.definition, scores, labels, spec)
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("spec", LEAVING_OUT)
def test_what_is_left_out_changes_nothing(spec):
    """Neither by its score nor by being there; it gets no gradient."""
    scores, labels = drawn(spec, 6, 5)
    left_out = labels == UNJUDGED
    value, gradient = value_and_gradient(spec.checked, scores, labels, spec)
    assert (gradient[left_out] == 0).all()
    assert gradient.abs().sum() > 0
    other = torch.where(left_out, scores + 7, scores)
    torch.testing.assert_close(value_and_gradient(spec.checked, other, labels, spec)[0], value)
    longer = (
        torch.nn.functional.pad(scores, (0, 2)),
        torch.nn.functional.pad(labels, (0, 2), value=-1),
    )
    torch.testing.assert_close(value_and_gradient(spec.checked, *longer, spec)[0], value)
    given = {"scores": scores, "labels": labels}
    padded = dict(zip(given, longer, strict=True))
    for reference in (spec.collapse, spec.floor):
        assert float(reference(padded, **spec.defaults)) == pytest.approx(
            float(reference(given, **spec.defaults))
        )


@pytest.mark.parametrize("spec", PER_ITEM)
def test_a_label_below_zero_is_compared_with_none_and_counted(spec):
    """As keras-rs and TF-Ranking: of [1, 0, -1] one pair is ordered, and N is 3."""
    scores = torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64)
    for absent in (-1.0, -2.0):
        two = spec.definition(scores[:2], torch.tensor([1.0, 0.0]), **spec.defaults)
        three = spec.definition(scores, torch.tensor([1.0, 0.0, absent]), **spec.defaults)
        torch.testing.assert_close(three, two * 2 / 3)
        given = {"scores": scores, "labels": torch.tensor([1.0, 0.0, absent])}
        shorter = {name: value[:2] for name, value in given.items()}
        for reference in filter(None, (spec.collapse, spec.floor)):
            found, expected = (reference(one, **spec.defaults) for one in (given, shorter))
            assert found == pytest.approx(expected * 2 / 3)


def test_pages_and_trainers_hand_over_the_same_mask():
    labels = (3.0, -1.0, 0.0, -1.0, -1.0, 2.0)
    queries, documents = ("q",) * 3 + ("p",) * 3, tuple("abcdef")
    vectors = torch.eye(8).double()
    batch = batch_of_vectors(Pairs(queries, documents, labels), vectors.numpy(), Rules())
    expected = torch.tensor([[True, False, True], [False, False, True]])
    mask = batch.read("judged_mask", batch.vectors, batch.scores)
    assert mask is not None
    assert torch.equal(mask, expected)
    examples = Examples(
        columns=(),
        outputs=(),
        pair_scores=torch.zeros(6),
        labels=torch.tensor(labels),
        rows=2,
        bound=1.0,
        labelled=True,
        lists=torch.tensor([[0, 1, 2], [3, 4, 5]]),
    )
    assert torch.equal(examples.judged_mask, expected)
