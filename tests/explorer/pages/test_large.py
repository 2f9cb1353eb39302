"""What the server answers the Large batch page while work goes on."""

from __future__ import annotations

import threading

from explorer.lab.large.jobs import Jobs
from explorer.pages import large

PATIENCE = 20
REQUEST = {"loss": "cosent", "source": {"random": {"pairs": 10}}}


def test_a_question_under_way_does_not_begin_stopped_work_again(monkeypatch):
    begun, over, runs, answers = threading.Event(), threading.Event(), [], []

    def long_work(batch, loss, parameters, progress):
        runs.append(loss)
        begun.set()
        assert over.wait(PATIENCE)
        progress(0, 1)

    monkeypatch.setattr(large, "_opened", Jobs())
    monkeypatch.setattr(large, "open_batch", long_work)
    monkeypatch.setattr(large, "PATIENCE_S", 0.5)
    asking = threading.Thread(target=lambda: answers.append(large._answer(REQUEST, dict)))
    asking.start()
    assert begun.wait(PATIENCE)
    large._cancel(REQUEST)
    asking.join(PATIENCE)
    over.set()
    assert "working" in answers[0]
    assert runs == ["cosent"]
