"""`lossprism.explorer.show`: the page within a notebook, on one's own pairs."""

from __future__ import annotations

import httpx
import pytest
import torch

import lossprism
from lossprism.explorer import notebook
from lossprism.explorer.core.scenario import Rules, Scenario
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web import page_html
from tests.sentences import raises_problem

FIRST = ["A man eats pasta.", "A girl plays the violin.", "Two dogs run.", "It rains in Rome."]
SECOND = ["Someone has a meal.", "A child makes music.", "A cat sleeps.", "The stock market fell."]
LABELS = [1.0, 0.8, 0.2, 0.0]


@pytest.fixture(scope="module")
def notebook_server():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    site, found = notebook._server()
    assert torch.get_num_threads() == 2  # the notebook's own work goes on as before
    torch.set_num_threads(before)
    yield found
    site.close()
    notebook._server.cache_clear()


def test_show_opens_the_page_on_the_pairs(notebook_server):
    scores = torch.tensor([1.0, 0.8, 0.25, 0.0], dtype=torch.float64)
    shown = lossprism.show(tuple(FIRST), SECOND, scores, loss="circle", scale=32)
    place, link = shown.address.split("/#")
    assert place == notebook_server
    assert page_html.BASE in httpx.get(place).text
    assert f'<iframe src="{shown.address}"' in shown._repr_html_()
    restored = Scenario.from_link(link)
    assert restored.loss == "circle"
    assert dict(restored.parameters) == {"scale": 32}
    labels = ["1", "0.8", "0.25", "0"]
    assert restored.data.rows == tuple(zip(FIRST, SECOND, labels, strict=True))


def test_show_opens_another_librarys_definition(notebook_server):
    shown = lossprism.show(
        FIRST, SECOND, LABELS, loss="triplet", convention="torch 2.13 (ε in the distance)"
    )
    restored = Scenario.from_link(shown.address.split("/#")[1])
    assert (restored.loss, restored.convention) == ("triplet", "torch 2.13 (ε in the distance)")
    with raises_problem("unknown_convention", name="numpy"):
        lossprism.show(FIRST, SECOND, LABELS, loss="triplet", convention="numpy")


def test_show_takes_the_rules_of_the_page(notebook_server):
    shown = lossprism.show(FIRST, SECOND, LABELS, threshold=0.7, label_range=(0, 2))
    restored = Scenario.from_link(shown.address.split("/#")[1])
    assert restored.rules == Rules(threshold=0.7, label_range=(0.0, 2.0))
    with raises_problem("label_range", low="2", high="0"):
        lossprism.show(FIRST, SECOND, LABELS, label_range=(2, 0))


def test_show_uses_one_server_for_all_cells(notebook_server):
    one, other = (lossprism.show(FIRST, SECOND, LABELS, loss=loss) for loss in ("cosent", "circle"))
    assert one.address != other.address
    assert one.address.startswith(notebook_server)
    assert other.address.startswith(notebook_server)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"loss": "cosnet"}, "There is no loss called cosnet."),
        ({"scael": 2}, "CoSENT has no parameter scael."),
        ({"scale": 5000}, "scale is 5000; accepted are numbers from 0.1 to 1000."),
    ],
)
def test_show_refuses_before_it_starts_anything(monkeypatch, asked, sentence):
    monkeypatch.setattr(notebook, "_server", lambda: pytest.fail("the server was started"))
    with pytest.raises(Problem) as problem:
        lossprism.show(FIRST, SECOND, LABELS, **asked)
    assert str(problem.value).startswith(sentence)
