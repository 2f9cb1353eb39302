"""The figure to point at holds the cells of the page, and nothing that could run."""

from __future__ import annotations

import base64
import json
import re

import numpy as np

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.interactive_figure import interactive_figure, write_interactive
from lossprism.explorer.runtime.number_format import display_number
from tests.sentences import raises_problem


def data_in(drawn: str) -> dict:
    return json.loads(
        re.search(r"<script type='application/json' id='data'>(.*)</script>", drawn)[1]
    )


def test_its_cells_are_those_of_the_step_and_masked_ones_are_empty():
    scenario = Scenario(data=Data(example="cosent_batch"), view=View(order="entry"))
    data = data_in(interactive_figure(explore(scenario)))
    z = data["figure"]["data"][0]["z"]
    cells = np.frombuffer(base64.b64decode(z["bdata"]), dtype=z["dtype"]).reshape(4, 4)
    terms = explore(scenario).trace.last("terms").value.numpy()
    present = np.isfinite(terms)
    np.testing.assert_allclose(cells[present], terms[present], rtol=1e-6)
    assert np.isnan(cells[~present]).all()
    said = np.array(data["values"])
    assert set(said[~present]) == {"masked: takes no part"}
    assert said[present].tolist() == [display_number(value) for value in cells[present].tolist()]
    assert [side[0] for side in data["rows"]] == ["pair 1", "pair 2", "pair 3", "pair 4"]


def test_words_of_the_users_stay_words():
    struck = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    rows = ((struck, "b", "1"), ("c", struck, "0"))
    drawn = interactive_figure(explore(Scenario(data=Data(source="table", rows=rows, file=struck))))
    assert struck not in drawn
    assert "<img src=x" not in drawn
    assert data_in(drawn)["columns"][-1][1] == struck  # and none is lost
    assert "default-src 'none'" in drawn


def test_what_cannot_be_written_is_said(tmp_path):
    with raises_problem("figure_not_written") as caught:
        write_interactive(Scenario(), tmp_path / "no" / "figure.html")
    assert caught.value.key == "problem.figure_not_written"
