"""What the server answers the Large batch page while work goes on."""

from __future__ import annotations

import threading

from explorer.runtime.jobs import Jobs
from explorer.web.pages.large import requests as large
from tests.unit.lab.large.made import batch_of

PATIENCE = 900  # seconds, on a machine that has other things to do
LOSSES = "cosent", "circle"
REQUEST = {"loss": "cosent", "source": {"random": {"pairs": 10}}}


def test_a_question_under_way_does_not_begin_stopped_work_again(monkeypatch):
    begun, over, runs, answers = threading.Event(), threading.Event(), [], []

    def long_work(batch, loss, parameters, progress, twins):
        runs.append(loss)
        begun.set()
        assert over.wait(PATIENCE)
        progress(0, 1)

    monkeypatch.setattr(large, "_opened", Jobs())
    monkeypatch.setattr(large, "open_batch", long_work)
    monkeypatch.setattr(large, "ANSWER_S", 0.5)
    asking = threading.Thread(target=lambda: answers.append(large._answer(REQUEST, dict)))
    asking.start()
    assert begun.wait(PATIENCE)
    large._cancel(REQUEST)
    asking.join(PATIENCE)
    over.set()
    assert "working" in answers[0]
    assert runs == ["cosent"]


def test_work_that_two_ask_for_goes_on_when_one_of_them_is_stopped(monkeypatch):
    """Also who goes on at once after stopping, while the stopped work has not yet ended."""
    begun, over, runs = threading.Event(), threading.Event(), []

    def long_work(asked, report):
        runs.append(asked.loss)
        begun.set()
        assert over.wait(PATIENCE)
        report("reading", 1, 2)
        return batch_of(10)

    for name in ("_opened", "_batches"):
        monkeypatch.setattr(large, name, Jobs())
    monkeypatch.setattr(large, "_make", long_work)
    stopped, other = (large._open(large._asked({**REQUEST, "loss": loss})) for loss in LOSSES)
    assert begun.wait(PATIENCE)
    stopped.cancel()
    assert stopped.wait(PATIENCE)
    over.set()
    assert other.wait(PATIENCE)
    assert len(other.result().batch) == 10
    assert len(runs) == 2
