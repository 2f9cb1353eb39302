"""Every loss against values computed by explicit loops over pairs, without torch."""

import pytest
import torch

from losses import LOSSES, SHIPPED
from tests.unit.losses.made import golden_cases

CASES = golden_cases()
NAMED = [pytest.param(case, id=f"{case['loss']}-{n}") for n, case in enumerate(CASES)]
WITH_GRADIENT = [case for case in NAMED if case.values[0]["grad_scores"] is not None]


def tensors(case):
    whole = ("classes", "queue_classes")
    return {
        name: torch.tensor(value, dtype=torch.int64 if name in whole else torch.float64)
        for name, value in case["inputs"].items()
    }


@pytest.mark.parametrize("written", ["function", "definition"])
@pytest.mark.parametrize("case", NAMED)
def test_value(case, written):
    loss = getattr(LOSSES[case["loss"]], written)(**tensors(case), **case["params"])
    assert loss.shape == ()
    assert loss.item() == pytest.approx(case["value"], rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("written", ["function", "definition"])
@pytest.mark.parametrize("case", WITH_GRADIENT)
def test_gradient_of_the_scores(case, written):
    given = tensors(case)
    scores = given["scores" if "scores" in given else "level_scores"].requires_grad_()
    getattr(LOSSES[case["loss"]], written)(**given, **case["params"]).backward()
    expected = torch.tensor(case["grad_scores"], dtype=torch.float64)
    # Central differences lose digits in proportion to the loss: 1e-16 · loss / 1e-6.
    torch.testing.assert_close(
        scores.grad.reshape(expected.shape), expected, rtol=1e-5, atol=1e-9 * abs(case["value"])
    )


def test_the_cases_cover_the_registry():
    without = {"multitask_cosent", "angle", "nce"}  # held by gradcheck and by hand
    # Held by the formulas of their authors' code (test_in_batch_family) and the installed library.
    without |= {"decoupled", "debiased", "hard_weighted", "focal_info_nce", "soft_info_nce"}
    without |= {"gist", "mega_batch_margin", "online_contrastive"}
    without |= {spec.name for spec in SHIPPED if "lists" in spec.needs}  # by `test_lists`
    assert {case["loss"] for case in CASES} | without == {spec.name for spec in SHIPPED}
