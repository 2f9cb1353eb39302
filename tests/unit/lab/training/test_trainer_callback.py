"""Recording changes nothing: the same losses, step by step, as without it."""

from __future__ import annotations

import dataclasses
import os
import random

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.training import training_run as sessions
from lossprism.explorer.lab.training.held_out_metrics import HeldOut
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.sources.encoders import EMBEDDED
from tests.unit.lab.training.conftest import corpus

PLAN = TrainingPlan(steps=20, batch_size=4, evaluations=5, learning_rate=1e-3)


@pytest.fixture
def prepared(runs):
    """A run that has its data and its model, and has not begun."""

    def prepare(plan):
        run = runs.prepare(plan, corpus())
        run.take_ticket(os.getpid())
        return sessions.prepared(run)

    return prepare


def losses_of(trainer):
    """The loss of each step of a training."""
    found = []
    trainer.loss.register_forward_hook(lambda _loss, _given, value: found.append(value.item()))
    trainer.train()
    return found


def recorded(session):
    trainer = sessions.make_trainer(session)
    sessions.make_recorder(session).attach(trainer)
    return losses_of(trainer)


def plain(session):
    """Sentence-transformers alone, with its own loss."""
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss

    return losses_of(
        sessions.make_trainer(dataclasses.replace(session, loss=CoSENTLoss(session.model)))
    )


@pytest.mark.parametrize("encoder", ["bert", EMBEDDED, SCRATCH])
def test_a_recorded_run_is_the_run(encoder, bert, prepared):
    steps = 2 if encoder == EMBEDDED else PLAN.steps  # of a real encoder they take longer
    encoder = bert if encoder == "bert" else encoder
    plan = dataclasses.replace(PLAN, encoder=encoder, steps=steps)
    with_it, library = (work(prepared(plan)) for work in (recorded, plain))
    assert len(with_it) == steps
    assert with_it == pytest.approx(library, rel=1e-4)
    assert len(set(with_it)) == steps
    if encoder != EMBEDDED:  # with our loss it is the same to more digits
        without = losses_of(sessions.make_trainer(prepared(plan)))
        assert with_it == pytest.approx(without, rel=1e-5)


def test_a_measurement_that_draws_numbers_is_not_noticed(bert, prepared, monkeypatch):
    def figures(self, model, own=HeldOut.figures):
        torch.rand(3), np.random.random(3), random.random()
        return own(self, model)

    plan = dataclasses.replace(PLAN, encoder=bert)
    expected = recorded(prepared(plan))
    monkeypatch.setattr(HeldOut, "figures", figures)
    assert recorded(prepared(plan)) == pytest.approx(expected, rel=1e-5)
