"""What the server answers the Large batch page while work goes on."""

from __future__ import annotations

import base64
import threading

import pytest

from lossprism.explorer.core.loss_lookup import as_registered, other_names
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.runtime.jobs import Jobs
from lossprism.explorer.web import page_requests
from lossprism.explorer.web.pages.large import request_handlers as large
from lossprism.explorer.web.pages.large import uploaded_file_description
from tests.sentences import raises_problem
from tests.unit.lab.large.made import batch_of
from tests.wire import by_name

PATIENCE = 900  # seconds, on a machine that has other things to do
LOSSES = "cosent", "circle"
REQUEST = {"loss": "cosent", "source": {"random": {"pairs": 10}}}


def test_the_encoding_of_a_file_is_reported_and_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    rows = "Чай ещё горячий.,Чай уже остыл.,1\nИдёт дождь.,Дождя нет.,0\n"
    content = f"sentence1,sentence2,score\n{rows}".encode("koi8-r")

    def describe(content, **how):
        sent = base64.b64encode(content).decode()
        file = uploaded_file_description.hand_in({"name": "tea.csv", "content": sent}).file
        source = {"kind": "file", "file": file, "name": "tea.csv", **how}
        large._reading(large._source(source)).wait(PATIENCE)
        return by_name(large.SERVED)["describe_file"]({"source": source})

    assert describe(content)["encoding"] == "KOI8-R"
    assert dict(describe(content)["encodings"])["KOI8-R"].startswith("Чай ещё")
    assert describe(content, encoding="Windows-1251")["encoding"] == "Windows-1251"
    unclear = describe("sentence1,sentence2,score\nВАЙ,b,1\n".encode("koi8-r"))
    assert (unclear["undecided"], unclear["encoding"], list(unclear["columns"])) == (True, "", [])
    assert "ВАЙ" in dict(unclear["encodings"])["KOI8-R"]


def test_a_question_under_way_does_not_begin_stopped_work_again(monkeypatch):
    begun, over, runs, answers = threading.Event(), threading.Event(), [], []

    def long_work(batch, loss, parameters, progress, twins):
        runs.append(loss)
        begun.set()
        assert over.wait(PATIENCE)
        progress(0, 1)

    monkeypatch.setattr(large, "_opened", Jobs())
    monkeypatch.setattr(large, "open_batch", long_work)
    monkeypatch.setattr(page_requests, "ANSWER_S", 0.5)
    asking = threading.Thread(target=lambda: answers.append(large.answer_of(REQUEST, dict)))
    asking.start()
    assert begun.wait(PATIENCE)
    large._cancel(REQUEST)
    asking.join(PATIENCE)
    over.set()
    assert isinstance(answers[0], page_requests.Working)
    assert runs == ["cosent"]


def test_work_that_two_ask_for_goes_on_when_one_of_them_is_stopped(monkeypatch):
    """Also who goes on at once after stopping, while the stopped work has not yet ended."""
    begun, over, runs = threading.Event(), threading.Event(), []

    def long_work(query, report):
        runs.append(query.loss)
        begun.set()
        assert over.wait(PATIENCE)
        report("reading", 1, 2)
        return batch_of(10)

    for name in ("_opened", "_batches"):
        monkeypatch.setattr(large, name, Jobs())
    monkeypatch.setattr(large, "_make", long_work)
    query = [large.read_query({**REQUEST, "loss": loss}) for loss in LOSSES]
    stopped, other = map(large.start_opening, query)
    assert begun.wait(PATIENCE)
    stopped.cancel()
    assert stopped.wait(PATIENCE)
    over.set()
    assert other.wait(PATIENCE)
    assert len(other.result().batch) == 10
    assert len(runs) == 2


@pytest.mark.parametrize(
    ("loss", "refused"),
    [("info_nce", None), ("cosent", "needs_scores"), ("circle", "needs_negatives")],
)
def test_a_loss_that_positives_teach_nothing_is_refused_before_any_is_encoded(
    loss, refused, monkeypatch
):
    rows = (("a", "b", ""), ("c", "d", ""))
    link = Scenario(data=Data(source="table", rows=rows)).to_link()
    if refused:
        monkeypatch.setattr(large, "make_batch", None)
    request = {"source": {"kind": "explore", "link": link}, "loss": loss}
    blocks = by_name(large.SERVED)["blocks"]
    answer = {"working": True}
    while "working" in answer:
        answer = blocks(request)
    assert (answer["error"]["key"] if refused else None) == (refused and f"problem.{refused}")
    if not refused:
        assert answer["figures"]["pairs"] == 2


def test_a_loss_goes_by_the_class_of_a_library():
    named = [(name, loss) for name, loss, _ in other_names() if loss in offered()]
    assert len(named) > 40
    for name, loss in named:
        if as_registered(name)[0] == loss:  # it is no name of several losses
            assert large.read_query({**REQUEST, "loss": name}).loss == loss
    with raises_problem("large_loss"):
        large.read_query({**REQUEST, "loss": "NoSuchLoss"})
