"""A trace sees every named intermediate, on our code and on others', and leaves nothing behind."""

from __future__ import annotations

import gc
import runpy
import sys
import threading
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lossprism.explorer.core.trace import trace
from lossprism.losses import LOSSES
from lossprism.losses.ranking.cosent import cosent_definition
from tests.sentences import raises_problem

SCORES = torch.tensor([0.1, 0.2, 0.8, 0.9], dtype=torch.float64)
LABELS = torch.tensor([0, 0, 1, 1])


def names(traced):
    return [step.name for step in traced.steps]


class OneName(nn.Module):
    """Written as S0's module is: one name for five intermediates."""

    def forward(self, first, second, labels):
        sim = torch.sum(first * second, dim=1) * 20
        sim = sim[:, None] - sim[None, :]
        mask = (labels[:, None] < labels[None, :]).long()
        sim = sim - (1 - mask) * 1e12
        sim = torch.cat((torch.zeros(1).to(sim.device), sim.view(-1)), dim=0)
        return torch.logsumexp(sim, dim=0)


def test_every_assignment_of_a_definition_in_order():
    traced = trace(cosent_definition, SCORES, LABELS, scale=20.0)
    assert names(traced) == ["scaled", "differences", "ordered", "terms", "loss"]
    assert [step.name for step in traced.inputs] == ["scores", "labels"]
    lines = [step.line for step in traced.steps]
    assert lines == sorted(lines)
    assert traced.steps[0].source == "scaled = scale * scores"
    assert traced.steps[0].source in traced.listing


def test_values_and_gradients_are_those_of_autograd():
    traced = trace(cosent_definition, SCORES, LABELS, scale=20.0)
    scores = SCORES.clone().requires_grad_()
    terms = (20 * (scores[:, None] - scores[None, :])).masked_fill(
        ~(LABELS[:, None] < LABELS[None, :]), -torch.inf
    )
    terms.retain_grad()
    torch.cat([torch.zeros(1), terms.flatten()]).logsumexp(0).backward()
    torch.testing.assert_close(traced.last("terms").value, terms.detach(), rtol=1e-12, atol=0)
    torch.testing.assert_close(traced.last("terms").gradient, terms.grad, rtol=1e-10, atol=0)
    torch.testing.assert_close(traced.last("scores").gradient, scores.grad, rtol=1e-9, atol=1e-18)
    assert traced.last("loss").gradient == 1
    assert traced.last("ordered").gradient is None


def test_the_weight_of_each_term_is_the_gradient_at_terms():
    traced = trace(cosent_definition, SCORES, LABELS, scale=20.0)
    exponentials = traced.last("terms").value.exp()
    expected = exponentials / (1 + exponentials.sum())
    torch.testing.assert_close(traced.last("terms").gradient, expected, rtol=1e-12, atol=0)


def test_a_name_assigned_twice_is_two_steps():
    a = torch.tensor([[0.1], [0.2], [0.8], [0.9]])
    traced = trace(OneName(), a, torch.ones(4, 1), LABELS)
    assert names(traced) == ["sim", "sim", "mask", "sim", "sim", "return"]
    shapes = [tuple(step.value.shape) for step in traced.steps]
    assert shapes == [(4,), (4, 4), (4, 4), (4, 4), (17,), ()]
    first, second = traced.steps[0], traced.steps[1]
    torch.testing.assert_close(first.value, torch.tensor([2.0, 4.0, 16.0, 18.0]))
    printed = torch.tensor([[0, -2, -14, -16], [2, 0, -12, -14], [14, 12, 0, -2], [16, 14, 2, 0]])
    torch.testing.assert_close(second.value, printed.float())
    assert first.gradient.shape == (4,)
    assert second.gradient.shape == (4, 4)
    assert traced.steps[-1].source.startswith("return")


def test_a_tensor_changed_in_place_is_a_step_with_the_value_it_had():
    def loss_of(x):
        doubled = x * 2
        doubled += 1
        loss = doubled.sum()
        return loss

    traced = trace(loss_of, torch.tensor([1.0, 2.0]))
    assert names(traced) == ["doubled", "doubled", "loss"]
    assert traced.steps[0].value.tolist() == [2, 4]
    assert traced.steps[1].value.tolist() == [3, 5]
    assert traced.steps[1].gradient.tolist() == [1, 1]


def test_statements_over_several_lines_are_one_step_with_their_whole_text():
    def loss_of(x):
        total = x.square().sum()
        return total

    traced = trace(loss_of, torch.ones(3))
    assert names(traced) == ["total"]
    assert ".square()" in traced.steps[0].source
    assert ".sum()" in traced.steps[0].source


def test_a_statement_is_printed_as_it_is_written(tmp_path):
    """In letters of several bytes, in two on a line, over two after a form feed."""
    path = tmp_path / "own.py"
    first = 'name = "λ"; total = (x * len("损失")).sum()'
    second = "total = total * (\n        3)"
    text = f"def loss_of(x):\n    {first}\n\f    {second}  # ×\n    return total\n"
    path.write_text(text, encoding="utf-8")
    traced = trace(runpy.run_path(str(path))["loss_of"], torch.ones(3))
    assert traced.loss == 18
    assert [step.source for step in traced.steps] == [first.partition("; ")[2], second]


def test_sentence_transformers_own_loss():
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss

    theirs = CoSENTLoss(nn.Identity(), scale=20.0)
    torch.manual_seed(0)
    first, second = torch.randn(6, 4), torch.randn(6, 4)
    labels = torch.tensor([0.0, 1, 2, 0, 1, 2])
    traced = trace(theirs.compute_loss_from_embeddings, [first, second], labels)
    assert "scores" in names(traced)
    assert traced.steps[-1].name == "loss"
    assert traced.last("suffix_scores").gradient is not None
    expected = LOSSES["cosent"].function(F.cosine_similarity(first, second), labels)
    torch.testing.assert_close(traced.loss, expected)


def test_the_traced_frame_may_be_below_the_called_function():
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss

    theirs = CoSENTLoss(nn.Identity(), scale=20.0)
    vectors = [torch.randn(4, 3), torch.randn(4, 3)]

    def wrapper(vectors, labels):
        return theirs.compute_loss_from_embeddings(vectors, labels) * 1

    traced = trace(
        wrapper, vectors, torch.arange(4.0), within=CoSENTLoss.compute_loss_from_embeddings
    )
    assert "suffix_scores" in names(traced)


def test_the_callers_tensors_are_not_touched():
    scores = SCORES.clone()
    trace(cosent_definition, scores, LABELS)
    assert not scores.requires_grad
    assert scores.grad is None
    assert torch.equal(scores, SCORES)


def test_gradients_upstream_of_the_arguments():
    vectors = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    scores = vectors.sum(dim=1)
    traced = trace(cosent_definition, scores, LABELS, wrt=(vectors, scores))
    by_vectors, by_scores = traced.gradients
    torch.testing.assert_close(by_vectors, by_scores[:, None].expand(4, 3))
    assert vectors.grad is None


@pytest.fixture
def other_tracer():
    before = sys.gettrace()
    calls = []

    def tracer(frame, event, argument):
        calls.append(frame.f_code.co_name)

    sys.settrace(tracer)
    yield tracer, calls
    sys.settrace(before)


def test_the_previous_tracer_is_put_back_and_served_meanwhile(other_tracer):
    tracer, calls = other_tracer
    trace(cosent_definition, SCORES, LABELS)
    assert sys.gettrace() is tracer
    assert "log1p_sum_exp" in calls


def test_a_previous_tracer_that_puts_itself_back_takes_nothing_away(other_tracer):
    """As the one of coverage does."""
    tracer, calls = other_tracer

    def insistent(frame, event, argument):
        sys.settrace(insistent)
        return tracer(frame, event, argument)

    def around(scores, labels):
        return cosent_definition(scores, labels)

    sys.settrace(insistent)
    found = trace(around, SCORES, LABELS, within=cosent_definition)
    assert sys.gettrace() is insistent
    assert [step.name for step in found.steps][-1] == "loss"
    assert "log1p_sum_exp" in calls


def test_the_previous_tracer_is_put_back_when_the_loss_raises(other_tracer):
    def broken(x):
        doubled = x * 2
        raise RuntimeError(f"on purpose, at {doubled.shape}")

    with pytest.raises(RuntimeError, match="on purpose"):
        trace(broken, torch.ones(2))
    assert sys.gettrace() is other_tracer[0]


def test_several_threads_at_once_see_only_their_own():
    results: dict[int, list] = {}
    barrier = threading.Barrier(6)

    def work(size):
        scores = torch.linspace(0, 1, size)
        labels = torch.arange(size) % 3
        barrier.wait()
        for _ in range(20):
            traced = trace(cosent_definition, scores, labels, scale=float(size))
        results[size] = traced

    threads = [threading.Thread(target=work, args=(size,)) for size in range(4, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for size in range(4, 10):
        traced = results[size]
        assert names(traced) == ["scaled", "differences", "ordered", "terms", "loss"]
        assert traced.last("terms").value.shape == (size, size)
        assert traced.last("scaled").value[-1] == size


def test_memory_is_released_afterwards():
    kept = []

    def loss_of(x):
        big = x * 2
        kept.append(weakref.ref(big))
        loss = big.sum()
        return loss

    traced = trace(loss_of, torch.ones(1000))
    gc.collect()
    assert kept[0]() is None  # the graph and its tensors are gone …
    assert traced.last("big").gradient.sum() == 1000  # … their values and gradients are not
    value = weakref.ref(traced.last("big").value)
    del traced
    gc.collect()
    assert value() is None


def test_a_loss_must_be_one_number():
    with raises_problem("not_one_number"):
        trace(lambda x: x * 2, torch.ones(3))


def test_a_function_not_written_in_python_is_refused():
    with raises_problem("not_python"):
        trace(torch.sum, torch.ones(3))


def test_a_function_without_source_is_traced_all_the_same():
    space: dict = {}
    exec("def loss_of(x):\n    y = x * 3\n    return y.sum()\n", space)
    traced = trace(space["loss_of"], torch.ones(2))
    assert names(traced) == ["y", "return"]
    assert traced.steps[0].source == ""
    assert traced.steps[0].gradient.tolist() == [1, 1]


def test_a_loss_that_does_not_depend_on_its_input_has_no_gradients():
    def constant(x):
        loss = torch.zeros(())
        return loss

    traced = trace(constant, torch.ones(2))
    assert traced.loss == 0
    assert traced.inputs[0].gradient is None
