"""A user's own loss opens in the explorer; a wrong place is answered with a sentence."""

from __future__ import annotations

import dataclasses

import pytest

from explorer.core.explore import explore
from explorer.core.own_loss import add_own_loss
from explorer.core.remarks import remarks
from explorer.core.scenario import Scenario
from explorer.export.picture import picture
from explorer.runtime.problem import Problem
from losses import LOSSES

PLAIN = """
import torch

def soft_order(scores, labels, *, slope=5.0, twice=False):
    gaps = scores[:, None] - scores[None, :]
    wrong = labels[:, None] < labels[None, :]
    terms = torch.sigmoid(slope * gaps) * wrong
    return terms.sum() * (2 if twice else 1)
"""


@pytest.fixture
def own(tmp_path):
    before = dict(LOSSES)

    def write(text, name):
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        return add_own_loss(f"{path}:{name}")

    yield write
    LOSSES.clear()
    LOSSES.update(before)


def test_a_plain_function_gets_sliders_and_a_derivation(own):
    spec = own(PLAIN, "soft_order")
    assert [p.name for p in spec.parameters] == ["slope", "twice"]
    assert spec.parameters[0].minimum == 0
    assert spec.parameters[0].maximum == 20
    found = explore(Scenario(loss="soft_order"))
    assert [s.name for s in found.trace.steps] == ["gaps", "wrong", "terms", "return"]
    assert "torch.sigmoid" in found.trace.listing
    made = picture(found)
    assert made["steps"][made["chosen"]]["name"] == "terms"
    assert made["shown"]["row_axis"]["name"] == "pair"
    assert len(found.heaviest) > 0


def test_its_parameters_act(own):
    own(PLAIN, "soft_order")
    once = explore(Scenario(loss="soft_order")).loss
    twice = explore(Scenario(loss="soft_order", parameters=(("twice", True),))).loss
    assert twice == pytest.approx(2 * once)


def test_a_file_may_bring_its_own_spec(own):
    text = (
        PLAIN
        + """
from losses import LossSpec, Parameter
SPEC = LossSpec(function=soft_order, title="Soft order", formula="x", terms="terms",
                parameters=(Parameter("slope", 3.0, "k", 1.0, 9.0, 0.1),),
                reads={"scores": "scores", "labels": "binary_labels"})
"""
    )
    spec = own(text, "soft_order")
    assert spec.title == "Soft order"
    assert explore(Scenario(loss="soft_order")).parameters == {"slope": 3.0}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nothing", "path/to/file.py:function"),
        ("no/such/file.py:f", "no file"),
    ],
)
def test_a_wrong_place_is_answered(place, said):
    with pytest.raises(Problem, match=said):
        add_own_loss(place)


def test_an_absent_function_is_answered_with_those_present(own):
    with pytest.raises(Problem, match="soft_order"):
        own(PLAIN, "soft_ordre")


def test_arguments_that_no_batch_has_are_named(own):
    with pytest.raises(Problem, match="pixels"):
        own("def f(pixels, labels):\n    return pixels.sum()\n", "f")


def test_a_loss_that_returns_a_vector_is_answered(own):
    own("def g(scores, labels):\n    return scores * 2\n", "g")
    with pytest.raises(Problem, match="one number"):
        explore(dataclasses.replace(Scenario(), loss="g"))


FAULTY = """
import torch

def helper(scores):
    raise RuntimeError("the sizes do not\\nmatch")

def raises(scores, labels):
    doubled = scores * 2
    return helper(doubled)

def below_torch(scores, labels):
    return torch.cat([scores, labels[None]]).sum()

def gives_nan(scores, labels):
    roots = (scores - 2).sqrt()
    return roots.sum()

def detached(scores, labels):
    return (scores.detach() * labels).sum() + torch.zeros((), requires_grad=True)

def unnamed(scores, labels):
    gaps = scores - labels
    return gaps.square().mean()
"""


@pytest.mark.parametrize(
    ("name", "kind", "line"), [("raises", "RuntimeError", 5), ("below_torch", "RuntimeError", 12)]
)
def test_what_ones_own_function_raises_is_told_with_its_line(own, name, kind, line):
    own(FAULTY, name)
    with pytest.raises(Problem) as told:
        explore(Scenario(loss=name))
    values = told.value.values
    assert (told.value.key, values["kind"], values["line"]) == (
        "problem.own_loss_raised",
        kind,
        line,
    )
    assert values["file"].name == "mine.py"
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("text", "kind", "line"), [("a = 1\nb = missing\n", "NameError", 2), ("(\n", "SyntaxError", 1)]
)
def test_a_file_that_does_not_run_is_told_with_its_line(own, text, kind, line):
    with pytest.raises(Problem) as told:
        own(text, "anything")
    assert (told.value.values["kind"], told.value.values["line"]) == (kind, line)


def test_a_fault_of_ours_is_not_called_theirs(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("ours")

    monkeypatch.setattr("explorer.core.explore.trace", broken)
    with pytest.raises(RuntimeError, match="ours"):
        explore(Scenario())


def test_a_loss_that_is_no_number_and_one_that_moves_nothing_are_said(own):
    own(FAULTY, "gives_nan")
    found = {one.key: one.values for one in remarks(explore(Scenario(loss="gives_nan")), most=10)}
    assert found["not_finite"] == {
        "name": found["not_finite"]["name"],
        "loss": "NaN",
        "step": "roots",
    }
    own(FAULTY, "detached")
    said = [one.key for one in remarks(explore(Scenario(loss="detached")), most=10)]
    assert said[0] == "no_gradient"
    own(FAULTY, "unnamed")
    plain = explore(Scenario(loss="unnamed"))
    assert plain.weights is None  # the page says what to name, not that nothing carries weight
    assert {"not_finite", "no_gradient"}.isdisjoint(one.key for one in remarks(plain, most=10))
    assert picture(plain)["figures"]["terms"] is None
