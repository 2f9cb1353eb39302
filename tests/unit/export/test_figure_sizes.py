"""Figures for slides and papers: their width, the size of their text, what stands around them."""

from __future__ import annotations

import re
from functools import partial
from xml.etree import ElementTree

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.figure.appearance import PALETTES, SIZES, look_in
from lossprism.explorer.export.figure.chart import chart_figure
from lossprism.explorer.export.figure.chart_sent_by_page import (
    Chart,
    Colour,
    Panel,
    PlotAxis,
    Trace,
)
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.text_layout import width_of
from lossprism.explorer.export.palette import PRINT
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.svg_of_opening_views import FIGURES as PAGES
from lossprism.losses import LOSSES
from tests.scenes import data_for

SVG = "{http://www.w3.org/2000/svg}"
PAPER = {"two_columns": 7.0, "one_column": 3.3}
FIGURES = (matrix_figure, bars_figure)
LARGE = Data(source="random", random=RandomBatch(pairs=80, dimension=8, seed=7))
SCENES = [Scenario(), Scenario(loss="info_nce"), Scenario(data=LARGE)]
FOUND = [explore(scene) for scene in SCENES]
EIGHT = Data(source="random", random=RandomBatch(pairs=8, dimension=8, seed=7))
LONG = PlotAxis(0.0, 1.0, title="the name of an axis that no column is wide enough for in one line")
CURVE = Trace("lines", [0.0, 1.0], [0.0, 1.0], Colour("side_1"), 2.0)


def drawn(found, figure, **look):
    return ElementTree.fromstring(figure(found, **look))


def points_of(tree):
    """The size of every text in points, at the width that the file says."""
    inches = float(tree.attrib["width"].removesuffix("in"))
    units = float(tree.attrib["viewBox"].split()[2])
    return [72 * inches / units * float(e.attrib["font-size"]) for e in tree.iter(f"{SVG}text")]


@pytest.mark.parametrize("size", PAPER)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("found", FOUND, ids=["few", "lists", "many"])
def test_on_paper_text_has_7_to_9_points_and_stays_on_the_page(found, figure, language, size):
    tree = drawn(found, figure, size=size, language=language)
    assert tree.attrib["width"] == f"{PAPER[size]:g}in"
    sizes = points_of(tree)
    assert len(sizes) > 8
    assert 7 <= min(sizes) <= max(sizes) <= 9
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    assert float(tree.attrib["height"].removesuffix("in")) == pytest.approx(
        PAPER[size] * height / width, abs=1e-3
    )
    for element in tree.iter(f"{SVG}rect"):
        of = element.attrib
        assert float(of["x"]) >= 0
        assert float(of["x"]) + float(of["width"]) <= width + 0.01
        assert float(of["y"]) + float(of["height"]) <= height + 0.01


DRAWN = {
    **{
        f"{figure.__name__} of {name}": partial(figure, found)
        for figure in FIGURES
        for name, found in zip(("few", "lists", "many"), FOUND, strict=True)
    },
    "eight queries": partial(matrix_figure, explore(Scenario(loss="info_nce", data=EIGHT))),
    **PAGES,
    "a chart with long names": partial(
        chart_figure,
        Chart("", [], [], [Panel("p " * 60, 240, 180, (LONG, LONG), [CURVE], [], [])], 1),
    ),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_no_text_is_cut_and_no_axis_shortened_by_dots(name, language, size):
    tree = ElementTree.fromstring(DRAWN[name](size=size, language=language))
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    axes = [e for e in tree.iter(f"{SVG}text") if e.attrib.get("class") == "axis"]
    assert axes or name in PAGES
    assert not any((e.text or "").endswith("…") for e in axes)
    for element in tree.iter(f"{SVG}text"):
        across, up = extent_of(element)
        assert -1 <= across[0] <= across[1] <= width + 1, element.text
        assert -1 <= up[0] <= up[1] <= height + 1, element.text


def extent_of(element):
    """The ends of a text across and down, by the same widths of letters as the figure's."""
    of = element.attrib
    place = float(of["x"]), float(of["y"])
    long = width_of("".join(element.itertext()), float(of["font-size"]))
    part = {"middle": 0.5, "end": 1.0}.get(of.get("text-anchor", ""), 0.0)
    before, after = part * long, (1 - part) * long
    if "rotate" in of.get("transform", ""):  # upwards
        return (place[0], place[0]), (place[1] - after, place[1] + before)
    return (place[0] - before, place[0] + after), (place[1], place[1])


@pytest.mark.thorough
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_fits_into_a_column(loss):
    found = explore(Scenario(loss=loss, data=data_for(loss, Scenario().data)))
    for size in PAPER:
        sizes = points_of(drawn(found, matrix_figure, size=size))
        assert 7 <= min(sizes) <= max(sizes) <= 9


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("figure", FIGURES)
def test_the_picture_only_has_no_title_formula_and_caption(figure, size):
    found = FOUND[0]
    whole = drawn(found, figure, size=size)
    bare = drawn(found, figure, size=size, picture_only=True)
    caption = whole.find(f"{SVG}desc").text.split(";")[0]
    sentences = {"".join(e.itertext()) for e in bare.iter(f"{SVG}text")}
    assert "CoSENT" not in sentences
    assert "LossPrism" not in sentences
    assert not any(one and caption.startswith(one) for one in sentences)
    marks = [[e.attrib.get("class") for e in tree.iter()] for tree in (whole, bare)]
    assert ["formula" in one for one in marks] == [True, False]
    assert {"cell", "bar"} & set(marks[0])
    assert marks[0].count("cell") == marks[1].count("cell")
    assert marks[0].count("bar") == marks[1].count("bar")
    heights = [float(tree.attrib["viewBox"].split()[3]) for tree in (bare, whole)]
    assert heights[0] < heights[1]


def test_the_palette_for_print_is_that_of_the_cells():
    svg = matrix_figure(FOUND[0], palette="print")
    fills = set(re.findall(r'class="cell"[^>]*fill="(#[0-9a-f]{6})"', svg))
    fills |= set(re.findall(r'fill="(#[0-9a-f]{6})"[^>]*class="cell"', svg))
    assert {PRINT.diverging[0], PRINT.diverging[-1]} & set(re.findall(r"#[0-9a-f]{6}", svg))
    assert matrix_figure(FOUND[0], palette="dark") == matrix_figure(FOUND[0], dark=True)
    assert matrix_figure(FOUND[0], palette="light", dark=True) == matrix_figure(FOUND[0])


def test_a_look_is_read_from_a_request_and_a_wrong_one_is_refused():
    request = {"language": "zh", "size": "one_column", "palette": "print", "picture_only": True}
    assert look_in(request) == {**request, "dark": False}
    assert look_in({})["size"] == "slide"
    for wrong in ({"size": "huge"}, {"palette": "mauve"}, {"size": 3}):
        with pytest.raises(Problem):
            look_in(wrong)
    assert set(PALETTES) == {"light", "dark", "print"}
