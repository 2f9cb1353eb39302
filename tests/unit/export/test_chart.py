"""Charts of pages as figures: what stands where, at every size, and what is refused."""

from __future__ import annotations

import copy
import json
import re
from xml.etree import ElementTree

import pytest

from lossprism.explorer.export.figure.chart import chart_figure
from lossprism.explorer.export.figure.chart_sent_by_page import colour_of, read_chart
from lossprism.explorer.export.figure.figure_files import chart_text
from lossprism.explorer.export.palette import DARK, LIGHT, PRINT
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import raises_problem

SVG = "{http://www.w3.org/2000/svg}"
LINE = {
    "type": "scatter",
    "mode": "lines",
    "x": [0, 1, 2, 3],
    "y": [1, 10, None, 100],
    "line": {"color": LIGHT.side_1, "width": 2, "dash": "dash"},
}
LAYOUT = {
    "xaxis": {"range": [0, 3], "title": {"text": "step"}},
    "yaxis": {"type": "log", "range": [0, 2]},
    "shapes": [
        {
            **{"xref": "x", "x0": 1, "x1": 2, "yref": "paper", "y0": 0, "y1": 1},
            **{"fillcolor": LIGHT.floor, "opacity": 0.2},
        }
    ],
}
PLOT = {"wide": 420, "tall": 180, "title": "Loss", "data": [LINE], "layout": LAYOUT}
SHAPES = {
    **{"wide": 300, "tall": 100},
    "shapes": [
        {"tag": "rect", "x": 10, "y": 20, "width": 30, "height": 40, "fill": LIGHT.up},
        {"tag": "text", "x": 5, "y": 9, "text": "A <b>", "fill": LIGHT.ink, "font-size": 13},
        {"tag": "circle", "cx": 50, "cy": 60, "r": 4, "fill": "rgb(1, 2, 3)"},
    ],
}
CHART = {
    "title": "A sweep",
    "caption": ["Where it comes from."],
    "legend": [{"name": "A", "colour": LIGHT.side_1, "dashes": "5 3"}],
    "panels": [PLOT, SHAPES],
    "across": 2,
}


def drawn(chart=CHART, **look):
    return ElementTree.fromstring(chart_figure(read_chart(chart), **look))


def of_class(tree, kind):
    return [element for element in tree.iter() if element.get("class") == kind]


def points(path):
    return [tuple(map(float, pair)) for pair in re.findall(r"([-\d.]+) ([-\d.]+)", path.get("d"))]


def test_a_curve_stands_where_its_values_are_and_ends_where_there_is_none():
    first, last = of_class(drawn(), "curve")  # parted by the missing value
    (x0, y0), (x1, y1) = points(first)
    ((x3, y3),) = points(last)
    assert x1 - x0 == pytest.approx((x3 - x0) / 3, abs=0.02)
    assert y0 - y1 == pytest.approx(y1 - y3, abs=0.02)  # 1, 10 and 100 on a logarithmic axis
    assert y0 > y1 > y3
    assert first.get("stroke") == LIGHT.side_1
    assert first.get("stroke-dasharray") == "5 3"


def test_points_words_and_named_ticks_stand_at_their_values():
    marks = {**LINE, "mode": "markers", "marker": {"color": LIGHT.up, "size": 8}}
    chart = with_entry(("panels", 0, "data"), [{**LINE, "text": ["", "ten", "", ""]}, marks])
    axis = {"range": [0, 3], "tickvals": [0, 3], "ticktext": ["first", "last"]}
    chart["panels"][0]["layout"] = {**LAYOUT, "xaxis": axis}
    tree = drawn(chart)
    line, point = (points(curve) for curve in of_class(tree, "curve"))
    dots = [one for one in tree.iter(f"{SVG}circle") if one.get("r") == "4"][:3]
    places = [(float(one.get("cx")), float(one.get("cy"))) for one in dots]
    assert places == [*line, *point]
    at = {one.text: float(one.get("x")) for one in tree.iter(f"{SVG}text")}
    assert (at["first"], at["ten"], at["last"]) == (line[0][0], line[1][0] + 6, point[0][0])


def test_a_band_lies_between_its_values():
    tree = drawn()
    band = next(e for e in tree.iter(f"{SVG}rect") if e.get("fill") == LIGHT.floor)
    (x0, _), (x1, _) = points(of_class(tree, "curve")[0])
    assert float(band.get("x")) == pytest.approx(x1, abs=0.02)
    assert float(band.get("width")) == pytest.approx(x1 - x0, abs=0.02)
    assert band.get("opacity") == "0.2"


@pytest.mark.parametrize(("palette", "colours"), [("dark", DARK), ("print", PRINT), ("", LIGHT)])
def test_another_palette_has_its_own_colour_of_the_same_name(palette, colours):
    tree = drawn(palette=palette)
    assert of_class(tree, "curve")[0].get("stroke") == colours.side_1
    assert any(e.get("fill") == colours.up for e in tree.iter(f"{SVG}rect"))
    assert any(e.get("fill") == "#010203" for e in tree.iter(f"{SVG}circle"))


@pytest.mark.parametrize(("size", "inches"), [("two_columns", 7), ("one_column", 3.3)])
def test_on_paper_all_text_has_7_to_9_points(size, inches):
    tree = drawn(size=size)
    _, _, width, height = map(float, tree.get("viewBox").split())
    sizes = [72 * inches / width * float(e.get("font-size")) for e in tree.iter(f"{SVG}text")]
    assert 7 <= min(sizes) <= max(sizes) <= 9
    for path in of_class(tree, "curve"):
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points(path))
    tops = [float(e.get("y")) for e in tree.iter(f"{SVG}text") if e.text in ("Loss", "A <b>")]
    assert (tops[1] - tops[0] > 100) == (size == "one_column")  # below each other, or beside


def test_the_picture_only_has_no_title_and_no_caption():
    text = ["".join(e.itertext()) for e in drawn(picture_only=True).iter(f"{SVG}text")]
    assert "A sweep" not in text
    assert "Where it comes from." not in text
    assert {"Loss", "A", "step"} <= set(text)


def test_text_of_a_reader_is_text():
    svg = chart_figure(read_chart(CHART))
    assert "<b>" not in svg
    assert "A &lt;b&gt;" in svg


def test_bars_stand_on_their_base():
    bars = {
        **{"type": "bar", "x": [0.5, 1.5], "y": [1, 0.5], "width": [1, 1], "base": 1},
        "marker": {"color": LIGHT.down},
    }
    layout = {"xaxis": {"range": [0, 2]}, "yaxis": {"range": [0, 3]}}
    tree = drawn({"title": "", "panels": [{**PLOT, "data": [bars], "layout": layout}]})
    first, second = of_class(tree, "bar")
    assert float(first.get("height")) == pytest.approx(2 * float(second.get("height")), abs=0.02)
    feet = [float(bar.get("y")) + float(bar.get("height")) for bar in (first, second)]
    assert feet[0] == pytest.approx(feet[1], abs=0.02)


def with_entry(place, value):
    changed = copy.deepcopy(CHART)
    *way, last = place
    at = changed
    for step in way:
        at = at[step]
    at[last] = value
    return changed


@pytest.mark.parametrize("value", [{"a": 1}, float("inf"), True, "javascript:x"])
@pytest.mark.parametrize(
    "place",
    [
        ("panels",),
        ("panels", 0, "wide"),
        ("panels", 0, "data"),
        ("panels", 0, "data", 0, "x"),
        ("panels", 0, "data", 0, "line", "color"),
        ("panels", 0, "layout", "xaxis"),
        ("panels", 0, "layout", "yaxis", "range"),
        ("panels", 0, "layout", "shapes", 0, "x0"),
        ("panels", 1, "shapes", 0, "tag"),
        ("panels", 1, "shapes", 0, "fill"),
        ("panels", 1, "shapes", 0, "width"),
        ("legend", 0, "colour"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(place, value):
    with pytest.raises(Problem, match="chart"):
        read_chart(with_entry(place, value))


def test_the_powers_of_a_logarithmic_axis_are_numbers():
    place = ("panels", 0, "layout", "yaxis", "range")
    assert "1e−300" in chart_figure(read_chart(with_entry(place, [-300, 300])))
    with raises_problem("scenario_entry", where="chart.panels[1].layout.yaxis.range"):
        read_chart(with_entry(place, [0, 400]))


def test_an_image_is_a_png_in_the_request_and_no_address():
    shape = {"tag": "image", "x": 0, "y": 0, "width": 9, "height": 9}
    good = with_entry(("panels", 1, "shapes", 0), {**shape, "href": "data:image/png;base64,AAAA"})
    assert "AAAA" in chart_figure(read_chart(good))
    for address in ("https://example.org/a.png", "file:///etc/passwd", 'data:image/png;base64,A"x'):
        with pytest.raises(Problem):
            read_chart(with_entry(("panels", 1, "shapes", 0), {**shape, "href": address}))


def test_a_page_gets_a_file_named_as_it_asks():
    found = chart_text({"chart": CHART, "name": "../loss prism-x"})
    assert (found.name, found.type) == ("lossprism-x.svg", "image/svg+xml")
    assert json.dumps(CHART)  # what a browser can send
    assert colour_of("rgba(67,56,202,0.5)", "").name in ("accent", "row")
