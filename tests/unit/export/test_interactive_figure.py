"""The figure to point at is the SVG, small, with the words of its cells, and nothing that could run
but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.export.figure.appearance import PALETTES
from lossprism.explorer.export.figure.cells import cells_of
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.interactive_figure import interactive_figure
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.figure_of_scenario_or_page import write_figure
from lossprism.losses import LOSSES
from tests.scenes import data_for
from tests.sentences import raises_problem

FONTS = re.compile(r"@font-face\{.*?\}")
SENTENCE = "A sentence of some eleven words stands in each place of number {}."
ROWS = tuple((SENTENCE.format(i), SENTENCE.format(-i), str(i % 6)) for i in range(32))


def data_in(drawn: str) -> dict:
    packed = re.search(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', drawn)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def cells_in(facet: dict) -> np.ndarray:
    """The words of a facet's cells: each of its characters stands for one."""
    return np.array([[facet["words"][ord(one) - 32] for one in row] for row in facet["cells"]])


def explored(loss="cosent", rows=ROWS, **view):
    data = data_for(loss, Data(source="table", rows=rows))
    return explore(Scenario(loss=loss, data=data, view=View(**view)))


def random_batch(pairs):
    return Data(source="random", random=RandomBatch(pairs=pairs, dimension=8, seed=7))


def test_its_words_are_those_of_the_step_and_of_masked_cells():
    scenario = Scenario(data=Data(example="cosent_batch"), view=View(order="entry"))
    found = explore(scenario)
    data = data_in(interactive_figure(found))
    terms = found.trace.last("terms")
    present = np.isfinite(terms.value.numpy())
    facets = {facet["name"]: cells_in(facet) for facet in data["facets"]}
    assert [*facets] == ["Value", "Weight", "Gradient"]
    for cells in facets.values():
        assert set(cells[~present]) == {say("en", "ui.takes_no_part")} == {data["absent"]}
    shares = found.weights.shares.numpy()
    for name, values, write in (
        ("Value", terms.value.numpy(), display_number),
        ("Weight", shares, percent),
        ("Gradient", terms.gradient.numpy(), display_number),
    ):
        expected = [write(value) for value in values[present].tolist()]
        assert facets[name][present].tolist() == expected
    assert data["step"] == "terms"
    assert [side[0] for side in data["rows"]] == ["pair 1", "pair 2", "pair 3", "pair 4"]
    pairs = found.batch.pairs
    for side, first, second in zip(data["rows"], pairs.first, pairs.second, strict=True):
        assert side[1:3] == [first, second]
        assert side[3].startswith("label ")


def test_the_facet_in_view_comes_first():
    for facet in ("weight", "gradient"):
        data = data_in(interactive_figure(explored(facet=facet)))
        assert data["facets"][0]["name"].lower() == facet
        assert {one["name"] for one in data["facets"]} == {"Value", "Weight", "Gradient"}
    boolean = data_in(interactive_figure(explored(facet="mask")))
    assert set(boolean["facets"][0]["words"]) == {"yes", "no"}


def test_the_picture_is_the_svg():
    found = explored(rows=ROWS[:12])
    drawn = interactive_figure(found, language="zh", dark=True)
    assert with_fonts(matrix_figure(found, language="zh", dark=True)) in drawn
    ElementTree.fromstring(re.search(r"<svg.*</svg>", drawn, re.DOTALL)[0])


def kilobytes_up_to_32_rows(loss, language="en", **view):
    drawn = interactive_figure(explored(loss, **view), language=language)
    if '<script type="text/plain"' in drawn and len(data_in(drawn)["rows"]) > 32:
        return 0.0
    return len(FONTS.sub("", drawn).encode()) / 1000


@pytest.mark.thorough
@pytest.mark.parametrize("loss", ["cosent", "info_nce", "gist", "triplet", "list_net"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_up_to_32_rows_it_has_60_kilobytes_beside_its_fonts(loss, language):
    assert 10 < kilobytes_up_to_32_rows(loss, language) < 60


def test_vectors_of_32_rows_have_60_kilobytes_too():
    """A row has 384 dimensions; their values are rounded, and say so."""
    assert 30 < kilobytes_up_to_32_rows("orthogonal", step=0) < 60
    found = explored("orthogonal", step=0)
    cells = cells_in(data_in(interactive_figure(found))["facets"][0])
    exact = cells_of(found, picture(found).shown, PALETTES["light"])
    assert cells.shape == exact.values.shape == (32, 384)
    shown = [[float(word.removeprefix("≈ ").replace("−", "-")) for word in row] for row in cells]
    assert {word[:2] for row in cells for word in row} == {"≈ "}
    half_a_step = (exact.largest - exact.least) / 200
    error = np.abs(np.array(shown) - exact.values)
    assert error.max() > 0.2 * half_a_step
    assert (error < 1.01 * half_a_step + 0.051 * np.abs(exact.values)).all()  # and of two digits


@pytest.mark.thorough
@pytest.mark.parametrize("loss", LOSSES)
def test_every_step_up_to_32_rows_has_60_kilobytes_beside_its_fonts(loss):
    steps = range(len(explored(loss).trace.steps))
    assert max(kilobytes_up_to_32_rows(loss, step=step) for step in steps) < 60


def test_a_large_one_has_the_facet_in_view_to_three_digits_and_numbers_to_look_up():
    found = explore(Scenario(loss="info_nce", data=random_batch(200)))
    drawn = interactive_figure(found)
    data = data_in(drawn)
    (facet,) = data["facets"]
    rows, columns = len(data["rows"]), len(data["columns"])
    assert min(rows, columns) > 64
    assert cells_in(facet).shape == (rows, columns)
    digits = [re.sub(r"[−.]|e.*", "", word).lstrip("0") for word in cells_in(facet)[0]]
    assert max(map(len, digits[:20])) <= len(say("en", "ui.takes_no_part"))
    assert all(len(one) <= 3 for one in digits if one.isdigit())
    assert [len(one["numbers"]) for one in data["lookup"]] == [rows, columns]
    assert data["lookup"][1]["name"] == "key"
    assert len(FONTS.sub("", drawn).encode()) < 6 * rows * columns
    assert data_in(interactive_figure(explored()))["lookup"] == []


def test_words_of_the_users_stay_words():
    struck = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    rows = ((struck, "b", "1"), ("c", struck, "0"))
    drawn = interactive_figure(explore(Scenario(data=Data(source="table", rows=rows, file=struck))))
    assert struck not in drawn
    assert "<img src=x" not in drawn
    assert data_in(drawn)["columns"][-1][1] == struck  # and none is lost


def policy_of(drawn: str) -> str:
    return re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', drawn)[1]


def test_no_script_but_its_own_may_run_and_nothing_may_be_fetched():
    drawn = interactive_figure(explored())
    (script,) = re.findall(r"<script type='module'>(.*?)</script>", drawn, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = policy_of(drawn)
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}';" in policy
    assert "http" not in policy
    number = interactive_figure(explored(step=6))
    assert "script" not in policy_of(number)
    assert "<script" not in number  # one number has nothing to point at


@pytest.mark.thorough
def test_every_loss_has_one():
    for loss in LOSSES:
        found = explored(loss, ROWS[:6])
        data = data_in(interactive_figure(found))
        for facet in data["facets"]:
            assert cells_in(facet).shape == (len(data["rows"]), len(data["columns"])), loss


def test_what_cannot_be_written_is_reported(tmp_path):
    with raises_problem("figure_not_written") as caught:
        write_figure(Scenario(), tmp_path / "no" / "figure.html")
    assert caught.value.key == "problem.figure_not_written"
