"""Whatever a text of the user's is, in all that is taken away it is a text, and none of it runs."""

from __future__ import annotations

import ast
import base64
import csv
import dataclasses
import functools
import io
import json
import re
import zipfile
import zlib
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.csv import corrected_csv, corrections_csv
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.interactive_figure import interactive_figure
from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_session import open_batch
from lossprism.explorer.lab.large.text_buffer import TextBuffer
from lossprism.explorer.notebook.embedded_page import UNFOLD, EmbeddedPage
from lossprism.explorer.sources.cells import read_sentence
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.web.pages.explore.request_handlers import PICTURES, TAKEAWAYS
from lossprism.explorer.web.pages.large import remark_and_download_requests
from lossprism.explorer.web.pages.large.request_handlers import LargeQuery, Source
from tests.hostile import HALF, TEXTS

NAMES = (*TEXTS, f"half {HALF} pwned", "../../pwned/<b>.csv")
PLAIN = tuple(f"Harmless sentence {place}." for place in range(len(TEXTS)))
LOSSES = ("cosent", "info_nce", "triplet")  # items are pairs, sentences, and three of them
SVGS = ("matrix_svg", "bars_svg")
TABLES = ("matrix_csv", "terms_csv", "suspects_csv", "pairs_csv")
CODES = tuple(what for what in TAKEAWAYS if what.startswith("code_") and "zip" not in what)
ZIPS = tuple(what for what in TAKEAWAYS if what.endswith("_zip"))


def test_every_takeaway_is_tried():
    html = "matrix_html"
    assert {*SVGS, *TABLES, *CODES, *ZIPS, html, "scenario_json"} == {*TAKEAWAYS, *PICTURES}


@functools.cache
def explored(texts: tuple[str, ...], loss: str = "cosent", name: str = "pairs.csv") -> Exploration:
    """Pairs of these sentences in a file of this name, as an encoder of this name has them."""
    first = tuple(read_sentence(text, "sentence1") for text in texts)
    second = tuple(f"{text} again" for text in first)
    labels = tuple(float(place % 3) for place in range(len(texts)))
    pairs = Pairs(first, second, labels)
    vectors = np.random.RandomState(0).standard_normal((2 * len(texts), 8)).astype(np.float32)
    data = Data(source="table", rows=pairs.rows, file=name, encoder=name)
    scenario = Scenario(data, loss=loss, view=View())
    return explore(scenario, batch_of_vectors(pairs, vectors, scenario.rules))


def taken(what: str, exploration: Exploration) -> str:
    if what in PICTURES:
        return PICTURES[what][1](exploration)
    return TAKEAWAYS[what][2](exploration, "en", False)


# ---- Pictures


def kinds(svg: str) -> set[tuple[str, tuple[str, ...]]]:
    """The elements of a figure, each with the names of its attributes."""
    found = set()
    for one in ElementTree.fromstring(svg).iter():
        found.add((one.tag, tuple(sorted(one.attrib))))
        for name, value in one.attrib.items():
            assert "pwned" not in value
            assert not name.lower().startswith("on")
            if name.rpartition("}")[2] == "href":
                assert value.startswith(("data:image/png;base64,", "#"))
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("what", SVGS)
def test_figures(what, loss):
    harmless, hostile = (taken(what, explored(texts, loss)) for texts in (PLAIN, TEXTS))
    assert kinds(hostile) == kinds(harmless)
    assert not re.search("[\u202a-\u202e\u2066\u2067\x00-\x08]", hostile)
    if what == "matrix_svg":
        return  # it has numbers beside it and no sentences
    assert "pwned" in hostile


@pytest.mark.thorough
def test_names_in_figures():
    harmless = kinds(matrix_figure(explored(PLAIN)))
    plain = explored(PLAIN)
    for name in NAMES[::2]:
        data = dataclasses.replace(plain.scenario.data, file=name, encoder=name)
        scenario = dataclasses.replace(plain.scenario, data=data)
        drawn = matrix_figure(dataclasses.replace(plain, scenario=scenario), origin="")
        assert kinds(drawn) == harmless
        assert "pwned" in drawn
        drawn.encode()
        assert kinds(matrix_figure(plain, origin=name)) == harmless


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["map_svg", "histogram_svg"])
def test_figures_of_a_large_batch(what):
    labels = np.arange(len(TEXTS)) % 3.0
    scores = np.linspace(-0.9, 0.9, len(TEXTS))
    batch = in_order(labels, scores, TextBuffer(PLAIN), TextBuffer(PLAIN))
    opened = open_batch(batch, "cosent", {"scale": 20.0}, lambda *_: None)
    found = {}
    for name in ("pairs.csv", *NAMES[1::3]):
        named = dataclasses.replace(opened, batch=dataclasses.replace(batch, encoder=name))
        query = LargeQuery(Source("file", name=name), "cosent", (("scale", 20.0),), None, None)
        drawn = remark_and_download_requests._figure(query, named, what, {}, "figure").text
        found[name] = kinds(drawn)
        assert found[name] == found["pairs.csv"]
        assert ("pwned" in drawn) == (name != "pairs.csv")


# ---- HTML


class Tags(HTMLParser):
    """The tags of a document with the names of their attributes, and what stands in its scripts."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[str] = []
        self.words = ""
        self.feed(document)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        assert not [one for one in attrs if one[0].startswith("on") or "pwned" in str(one)]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.lasttag == "script" and self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words += data


@pytest.mark.parametrize("loss", LOSSES)
def test_the_figure_to_point_at(loss):
    harmless = Tags(interactive_figure(explored(PLAIN, loss)))
    document = interactive_figure(explored(TEXTS, loss))
    hostile = Tags(document)
    assert frame_of(hostile.tags) == frame_of(harmless.tags)
    packed, *programs = hostile.scripts
    assert programs == harmless.scripts[1:]
    held = zlib.decompress(base64.b64decode(packed)).decode()
    assert "<img src=x onerror=pwned()>" in json.dumps(json.loads(held), ensure_ascii=False)
    assert "default-src 'none'" in document


def frame_of(tags: list[tuple[str, tuple[str, ...]]]) -> list[tuple[str, tuple[str, ...]]]:
    """The tags without those of the drawing, which has as many as it needs (`test_figures`)."""
    drawing = ("rect", "text", "path", "line", "use", "g", "image", "stop")
    return [one for one in tags if one[0] not in drawing]


def test_names_in_the_figure_to_point_at():
    harmless = Tags(interactive_figure(explored(PLAIN[:4]))).tags
    for name in NAMES[::5]:
        found = Tags(interactive_figure(explored(PLAIN[:4], name=name)))
        assert frame_of(found.tags) == frame_of(harmless)
        assert "pwned" in found.words
        assert "pwned" not in "".join(found.scripts)


@pytest.mark.parametrize("text", TEXTS)
def test_a_cell_of_a_notebook(text):
    page = EmbeddedPage(f"http://127.0.0.1/#{text}", (text,), "<svg/>", text)
    found = Tags(page._repr_html_().replace("pwned", "x"))
    attributes = ("src", "width", "height", "style", "id", "allow")
    assert found.tags == [
        ("p", ()),
        ("img", ("src", "alt", "style")),
        ("iframe", attributes),
        ("script", ()),
    ]
    before, after = UNFOLD.removeprefix("<script>").removesuffix("</script>").split("%s")
    (script,) = found.scripts
    assert re.fullmatch(f"{re.escape(before)}lossprism-[0-9a-f]+{re.escape(after)}", script)


# ---- Tables

FORMULA = re.compile("[\\s\ufeff\u200b-\u200f\u202a-\u202e\u2060-\u2069]*[=+\\-@＝＋－＠]|[\t\r\n]")


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def runs_nothing(rows: list[list[str]]) -> None:
    for row in rows:
        for cell in row:
            try:
                float(cell)
            except ValueError:
                assert not FORMULA.match(cell), cell
            assert "\0" not in cell


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("what", TABLES)
def test_tables(what, loss):
    harmless, hostile = (cells(taken(what, explored(texts, loss))) for texts in (PLAIN, TEXTS))
    assert [len(row) for row in hostile] == [len(row) for row in harmless]
    runs_nothing(hostile)


def test_tables_of_corrections():
    source = explored(TEXTS).batch.pairs
    every = [(a, b, "=pwned" if a == b else "1") for a, b, _ in source.rows]
    for made in (corrected_csv, corrections_csv):
        rows = cells(made(source, every))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert len(rows) == len(TEXTS) + 1
        runs_nothing(rows)


# ---- Programs


def program(text: str) -> str:
    """What a program does, whatever the values are that stand in it."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            assert "pwned" not in str(node.value)
            node.value = 0 if isinstance(node.value, int | float) else node.value
    return ast.dump(tree)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("what", CODES)
def test_programs(what, loss):
    harmless, hostile = (
        taken(what, explored(texts, loss, name))
        for texts, name in ((PLAIN, "a"), (TEXTS, TEXTS[1]))
    )
    if what == "code_trainer":  # it trains on the sentences, which stand in it as values
        harmless, hostile = map(without_words, (harmless, hostile))
    assert "pwned" not in hostile
    assert hostile == harmless


def without_words(text: str) -> str:
    """What a program does, whatever texts stand in it as values: nothing else in it is of them."""
    tree = ast.parse(text)
    assert all(line.isprintable() for line in text.split("\n"))  # no mark turns its letters round
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    comments = [line for line in text.splitlines() if line.startswith("#")]
    return "\n".join([*comments, ast.dump(tree)])


def unpacked(text: str) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(text))) as whole:
        return {name: whole.read(name).decode() for name in whole.namelist()}


@pytest.mark.parametrize("what", ZIPS)
def test_packed_programs(what):
    loss = "info_nce"  # of which sentence-transformers has an equivalent
    harmless, hostile = (unpacked(taken(what, explored(texts, loss))) for texts in (PLAIN, TEXTS))
    assert hostile.keys() == harmless.keys()
    assert {"loss.py", "pairs.csv"} <= hostile.keys()
    assert program(hostile["loss.py"]) == program(harmless["loss.py"])
    for name, text in hostile.items():
        assert re.fullmatch(r"\w+\.(py|csv)", name)
        if name.endswith(".csv"):
            runs_nothing(cells(text))
            assert len(cells(text)) == len(cells(harmless[name]))


def test_a_scenario_file_is_read_back():
    text = taken("scenario_json", explored(TEXTS))
    again = Scenario.from_text(text)
    assert again == explored(TEXTS).scenario
    assert Scenario.from_link(again.to_link()) == again


@pytest.mark.parametrize("take", [*SVGS, "matrix_html", "matrix_csv", "code_alone"])
def test_no_step_of_a_loss_has_a_text_in_it(take):
    """Each intermediate of a loss over sentences, as it is shown."""
    base = explored(TEXTS[:6], "info_nce")
    for step in range(len(base.trace.inputs) + len(base.trace.steps)):
        view = dataclasses.replace(base.scenario.view, step=step)
        scenario = dataclasses.replace(base.scenario, view=view)
        text = taken(take, dataclasses.replace(base, scenario=scenario))
        if take in SVGS:
            kinds(text)
        elif take == "matrix_html":
            Tags(text)
        elif take == "matrix_csv":
            runs_nothing(cells(text))
        else:
            program(text)
