"""`lossprism.widget`: traits move the matrix, and what is chosen in it is read back."""

from __future__ import annotations

import base64
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

import lossprism
from lossprism.explorer import notebook
from lossprism.explorer.core.explore import explore
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.notebook import widget_document
from lossprism.explorer.notebook.inputs import read_inputs
from lossprism.explorer.notebook.matrix_widget import MatrixWidget
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from tests.sentences import raises_problem
from tests.unit.notebook.test_inputs import FIRST, ROWS, SCORES, SECOND

PAIRS = (FIRST, SECOND, SCORES)


def drawn(widget, name="value"):
    """An array of the picture, as it stands on the canvas."""
    shown = widget.picture["shown"]
    values = np.frombuffer(base64.b64decode(shown[name]), "<f4")
    return values.reshape(shown["rows"], shown["columns"])


def test_a_parameter_is_a_trait_that_moves_the_matrix():
    widget = lossprism.widget(ROWS, loss="cosent", scale=20)
    assert (widget.scale, widget.step) == (20, "terms")
    before = drawn(widget)
    widget.scale = 50
    expected = explore(read_inputs("show", *PAIRS, scale=50).resolved)
    assert widget.exploration.loss == expected.loss
    assert widget.picture["figures"]["loss"] == pytest.approx(expected.loss)
    present = np.isfinite(before)
    assert drawn(widget)[present] == pytest.approx(2.5 * before[present], rel=1e-5)


def test_numbers_of_libraries_and_of_sliders_move_it():
    widget = lossprism.widget(*PAIRS)
    for value in (np.float64(30), torch.tensor(30.0), 30):
        widget.scale = 20
        widget.scale = value
        assert (widget.scale, type(widget.scale)) == (30, float)
    widget.set_state({"scale": 40, "facet": "weight", "selected": [0, 2]})  # as the browser does
    assert (widget.scale, widget.facet, widget.selected) == (40, "weight", (0, 2))
    assert dict(widget.exploration.scenario.parameters)["scale"] == 40


def test_another_step_and_order_are_drawn():
    widget = lossprism.widget(*PAIRS)
    widget.step = "scores"
    assert widget.picture["shown"]["name"] == "scores"
    scores = explore(read_inputs("show", *PAIRS).resolved).batch.scores
    for order, places in (("entry", [0, 1, 2]), ("score", scores.argsort().tolist())):
        widget.sorted_by = order
        assert widget.picture["shown"]["column_axis"]["items"] == places
        assert drawn(widget)[0] == pytest.approx(scores[places].numpy())


def test_a_step_that_a_parameter_removes_gives_way_to_the_terms():
    widget = lossprism.widget(*PAIRS, loss="info_nce", mask_above=0.5)
    steps = {step["name"] for step in widget.picture["steps"]}
    widget.mask_above = None
    gone = steps - {step["name"] for step in widget.picture["steps"]}
    assert gone
    widget.mask_above = 0.5
    widget.step = min(gone)
    widget.mask_above = None
    assert widget.step == "terms"


REFUSED = {
    "scale": [0, -1, 1e9, "large", None, [1], float("nan")],
    "facet": ["weights", "", None, 3],
    "sorted_by": ["size", None],
    "step": ["nothing", 3, None],
    "selected": [(1,), (1, 2, 3), (-1, 0), "ab", 3, (0.5, 1), [True, False]],
    "colour_range": [3, [1], [2, 1], ["a", "b"]],
    "pointed": [3, None, {"pairs": 3}, {"pairs": ["a"]}, {"cell": [1]}],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_does_not_fit_is_refused_and_changes_nothing(name):
    widget = lossprism.widget(*PAIRS)
    before, picture = getattr(widget, name), widget.picture
    for value in REFUSED[name]:
        with pytest.raises(Problem):
            setattr(widget, name, value)
        assert getattr(widget, name) == before
        assert widget.picture is picture


def test_what_show_refuses_the_widget_refuses():
    with raises_problem("unknown_parameter", loss="CoSENT", name="scael", known="scale"):
        lossprism.widget(*PAIRS, scael=3)
    with pytest.raises(Problem, match="choose one of en, zh"):
        lossprism.widget(*PAIRS, language="fr")
    with raises_problem("notebook_table", value="<built-in function len>"):
        lossprism.widget(len)


def test_two_widgets_point_at_the_same():
    import traitlets

    one, other = (lossprism.widget(*PAIRS, loss=loss) for loss in ("cosent", "info_nce"))
    link = traitlets.link((one, "pointed"), (other, "pointed"))
    one.set_state({"pointed": {"pairs": [2, 0], "cell": [2, 0]}})
    assert other.pointed == {"pairs": [2, 0], "cell": [2, 0]}
    link.unlink()


def test_no_parameter_of_a_loss_has_the_name_of_something_else_of_a_widget():
    forms = [spec.under(one.name) for spec in LOSSES.values() for one in spec.conventions]
    names = {parameter.name for spec in (*LOSSES.values(), *forms) for parameter in spec.parameters}
    assert len(names) > 20
    assert {name for name in names if hasattr(MatrixWidget, name)} == set()


def test_without_anywidget_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, MatrixWidget.__module__)
    monkeypatch.delattr(notebook, "matrix_widget")
    with raises_problem("notebook_widget"):
        lossprism.widget(*PAIRS)


# ---- The document in its frame


class Document(HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts = []
        self.inside = ""
        self.feed(widget_document.document())

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        assert not {"src", "href"} & set(dict(attributes))

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts.append(data)


def test_the_document_has_all_of_its_modules_and_asks_no_server():
    imports, begin = Document().scripts[:2]
    modules = json.loads(imports)["imports"]
    texts = {
        name: base64.b64decode(data.partition(",")[2]).decode() for name, data in modules.items()
    }
    wanted = {begin.split('"')[1]}
    for text in texts.values():
        wanted |= set(re.findall(r'^import [^"\']*"([^"]+)";$', text, re.MULTILINE))
    assert wanted == set(modules)
    addresses = re.findall(r"url\(([^)]+)\)", widget_document.document())
    fonts = [one for one in addresses if "woff2" in one]
    assert len(fonts) > 20
    assert {one.partition(",")[0] for one in fonts} == {"data:font/woff2;base64"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_that_the_view_says_is_sent(language):
    """By its own words: a key in quotes, or the beginning of one."""
    texts = [
        base64.b64decode(data.partition(",")[2]).decode()
        for name, data in json.loads(Document().scripts[0])["imports"].items()
        if "vendor" not in name
        and not name.endswith("translated_sentences.js")  # of losses and parameters
    ]
    keys = {key for text in texts for key in re.findall(r'"([a-z_]+\.[a-z_.]+)"', text)}
    known = {key for key in keys if key in catalogue(language)}
    assert len(known) > 20
    assert known <= set(widget_document.sentences(language))
