"""Formulas of figures: set as mathematics, as ziamath draws them, in lines that fit."""

from __future__ import annotations

import functools
import io
import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.pens.boundsPen import BoundsPen
from fontTools.svgLib.path import parse_path
from PIL import Image
from resvg_py import svg_to_bytes

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.caption import FigureText
from lossprism.explorer.export.figure.appearance import SIZES
from lossprism.explorer.export.figure.formula import definitions_of, typeset, typeset_lines
from lossprism.explorer.export.figure.header_and_caption import header
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pdf import as_pdf
from lossprism.explorer.export.figure.png import as_png
from lossprism.explorer.export.figure.svg_elements import Pen
from lossprism.losses import LOSSES
from tests.unit.export.test_pdf import streams

SVG = "{http://www.w3.org/2000/svg}"
INFO_NCE = rf"\mathcal L = {LOSSES['info_nce'].formula}"
SIZE = 20.0
EM = 1200  # units of an outline


@functools.cache
def formulas():
    """All that are shown of any loss, convention or step."""
    found = {}
    for spec in LOSSES.values():
        for form in (spec, *(spec.under(one.name) for one in spec.conventions)):
            for latex in (form.formula, *(symbol.written for symbol in form.symbols.values())):
                found[latex] = None
    return [latex for latex in found if latex]


def figure_of(formula, width=700, height=120, at=(10, 60)):
    drawn = formula.at(*at, "#000000")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="{width}" height="{height}" fill="#ffffff"/>'
        f"<defs>{definitions_of(drawn)}</defs>{drawn}</svg>"
    )


def ink(svg):
    """Grey pixels, 0 white and 1 black."""
    image = Image.open(io.BytesIO(svg_to_bytes(svg_string=svg, zoom=2))).convert("L")
    return 1 - np.asarray(image) / 255


def letters(formula):
    """Name, place, and scale of each letter."""
    return letters_in(ElementTree.fromstring(f"<g>{formula.elements}</g>"))


def letters_in(group):
    for part in group.iter():
        if part.get("transform", "").startswith("scale"):
            scale = float(part.get("transform")[6:-1])
            for use in part:
                yield (
                    use.get("href"),
                    scale * float(use.get("x")),
                    scale * float(use.get("y")),
                    scale,
                )


@pytest.mark.thorough
def test_every_formula_is_set_and_none_shown_as_it_is_written():
    for latex in formulas():
        found = typeset(latex, SIZE)
        assert "<text" not in found.elements, latex
        assert found.width > 4
        assert found.above + found.below > 5


@pytest.mark.thorough
def test_every_formula_fits_into_a_column_of_a_journal():
    room = 3.3 * 108 - 8
    for latex in formulas():
        lines = typeset_lines(rf"\mathcal L = {latex}", 10.6, room)
        assert max(line.width for line in lines) <= room + 0.01, latex


@pytest.mark.parametrize(
    "latex",
    [
        *(LOSSES[name].formula for name in ("info_nce", "gist", "debiased", "orthogonal")),
        r"\left\lVert \frac{a}{b} \right\rVert + \Bigl| c \Bigr|",  # bars of several pieces
    ],
)
def test_a_formula_is_what_ziamath_draws(latex, monkeypatch):
    import ziafont
    from ziamath import Latex

    monkeypatch.setattr(ziafont.config, "svg2", False)  # its symbols of one sign share a name
    latex = latex.replace("-", "")  # its sides are ours
    ours = typeset(latex, SIZE)
    tree = ElementTree.Element("svg")
    math = Latex(latex, size=SIZE)
    box = math.node.bbox
    math.drawon(tree, 10 - box.xmin, 60)
    theirs = ElementTree.tostring(tree, encoding="unicode").removeprefix("<svg>")
    both = [ink(figure_of(ours)), ink(figure_of(ours).split("<defs>")[0] + theirs)]
    assert both[0].sum() == pytest.approx(both[1].sum(), rel=0.02)
    assert np.abs(both[0] - both[1]).sum() < 0.1 * both[1].sum()
    assert ours.width == pytest.approx(box.xmax - box.xmin)


def test_a_fraction_has_its_line_between_its_parts():
    found = typeset(r"\frac{a}{b}", SIZE)
    line = ElementTree.fromstring(f"<g>{found.elements}</g>").find("rect")
    (_, _, top, size), (_, _, bottom, _) = letters(found)
    assert top < float(line.get("y")) < bottom - 0.4 * SIZE
    assert float(line.get("width")) >= 0.6 * found.width
    assert size == pytest.approx(SIZE / 1200, rel=1e-3)  # of an outline, which has 12 units


def test_an_index_is_small_and_low_and_an_exponent_high():
    (_, _, base, size), (_, _, low, small), (_, _, high, same) = letters(typeset("a_b^c", SIZE))
    assert small == same < 0.8 * size
    assert high < base < low


def test_a_sign_is_close_and_a_difference_spaced():
    def gap(latex):
        places = [x for _, x, _, _ in sorted(letters(typeset(latex, SIZE)), key=lambda one: one[1])]
        return places[-1] - places[-2]

    sign, difference = gap("x = -a"), gap("x - a")
    assert difference > sign + 0.1 * SIZE
    assert gap("x(-a") == pytest.approx(sign, abs=0.02)


def test_bars_grow_with_left_alone():
    (bar, *_), (plain, *_), (tall, *_) = (
        next(letters(typeset(latex, SIZE)))
        for latex in (
            r"\lVert",
            r"\lVert \frac{a}{b} \rVert",
            r"\left\lVert \frac{a}{b} \right\rVert",
        )
    )
    assert bar == plain != tall


def test_words_are_translated_and_stay_text_where_the_font_lacks_their_letters():
    latex = r"d_i\ \text{where}\ y_i"
    chinese = typeset(latex, SIZE, Pen.of(language="zh").word)
    text = ElementTree.fromstring(f"<g>{chinese.elements}</g>").find("text")
    assert text.text == "其中"
    assert float(text.get("font-size")) == SIZE
    outside = [
        x
        for name, x, _, _ in letters(chinese)
        if not float(text.get("x")) <= x < float(text.get("x")) + 2 * SIZE
    ]
    assert len(outside) == 4  # nothing stands on the words
    assert "<text" not in typeset(latex, SIZE, Pen.of(language="en").word).elements
    assert typeset(latex, SIZE, Pen.of(language="en").word).width > typeset("d_iy_i", SIZE).width


@pytest.mark.parametrize(
    "latex",
    ["", "}}{_^", r"\frac", r"\frac1", "_", "^{", "a & b", r"\\", r"\ ", "half \ud800", "\0", "%"],
)
def test_what_is_no_latex_is_shown_as_it_is_written(latex):
    found = typeset(latex, SIZE)
    text = ElementTree.fromstring(f"<g>{found.elements}</g>").find("text")
    assert text is not None
    assert (text.text or "") == latex.replace("\ud800", "\ufffd").replace("\0", "")
    assert len(typeset_lines(latex, SIZE, 1.0)) == 1


def test_no_word_of_a_formula_is_markup():
    for latex in (r"\text{</g><script>alert(1)</script>}", r"<img src=x>", r"\text{损<b>失}"):
        found = typeset(latex, SIZE)
        tags = {
            element.tag for element in ElementTree.fromstring(f"<g>{found.elements}</g>").iter()
        }
        assert tags <= {"g", "use", "rect", "text"}


@pytest.mark.parametrize("room", [120, 200, 350])
def test_lines_hold_the_whole_formula_and_begin_with_a_relation_a_sum_or_another_equation(room):
    latex = r"a = b + c \, c - d,\quad e = f + g = -h"
    lines = typeset_lines(latex, SIZE, room)
    count = lambda found: sorted(name for name, *_ in letters(found))  # noqa: E731
    assert sorted(itertools.chain.from_iterable(map(count, lines))) == count(typeset(latex, SIZE))
    assert all(line.width <= room for line in lines)
    assert (len(lines) > 1) == (typeset(latex, SIZE).width > room)
    first = {next(letters(one))[0] for one in (typeset(sign, SIZE) for sign in "=+-e")}
    for line in lines[1:]:
        names = sorted(letters(line), key=lambda one: one[1])
        assert names[0][0] in first


def test_a_wide_fraction_has_its_sums_in_lines():
    latex = r"a = \frac{a + b + c + d + e + f}{g + h}"
    (whole,), (line,) = typeset_lines(latex, SIZE, 900), typeset_lines(latex, SIZE, 100)
    assert line.width <= 100 < whole.width
    kinds = [sorted((name, scale) for name, _, _, scale in letters(one)) for one in (whole, line)]
    assert kinds[0] == kinds[1]  # all of it, no letter smaller
    assert line.above > whole.above + 0.8 * SIZE  # above the bar
    assert line.below == pytest.approx(whole.below)  # below it there is room


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_formulas_of_every_loss_have_seven_points(size, language):
    pen = Pen.of(size=size, language=language)
    width = pen.width(0)
    points = 72 * (pen.size.inches or width / 96) / width
    for name, spec in LOSSES.items():
        for form in (spec, *(spec.under(one.name) for one in spec.conventions)):
            parts, _ = header(FigureText(name, form.formula, []), pen, width)
            lines = [part for part in parts if 'class="formula"' in part]
            assert lines
            for line in lines:
                usual = max(scale for *_, scale in letters_in(ElementTree.fromstring(line)))
                assert usual * EM * points >= 7, name


def test_a_piece_that_cannot_be_broken_is_smaller():
    latex = r"\sqrt{a + b + c + d + e + f}"
    (line,) = typeset_lines(latex, SIZE, 100)
    assert 95 < line.width <= 100 < typeset(latex, SIZE).width


@pytest.mark.parametrize("size", ["slide", "two_columns", "one_column"])
@pytest.mark.parametrize("loss", ["info_nce", "gist", "debiased"])
def test_a_figure_has_each_outline_once_and_its_formulas_on_the_page(loss, size):
    svg = matrix_figure(explore(Scenario(loss=loss)), size=size)
    tree = ElementTree.fromstring(svg)
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    used = {use.get("href")[1:] for use in tree.iter(f"{SVG}use")}
    assert used == {one for one in ids if re.fullmatch(r"m[0-9a-f]+", one)}
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    groups = [one for one in tree.iter() if one.get("class") == "formula"]
    assert groups
    for left, top, right, bottom in map(functools.partial(box_of, tree), groups):
        assert 0 <= left < right <= width + 0.5
        assert 0 <= top < bottom <= height


def box_of(tree, group):
    """The bounds of a formula's letters in a figure."""
    x, y = map(float, re.findall(r"-?[\d.]+", group.get("transform")))
    outlines = {one.get("id"): one.get("d") for one in tree.iter(f"{SVG}path")}
    corners = []
    for name, right, down, scale in letters_in(group):
        pen = BoundsPen(None)
        parse_path(outlines[name[1:]], pen)
        left, top, far, low = (scale * side for side in pen.bounds)
        corners.append((x + right + left, y + down + top, x + right + far, y + down + low))
    sides = list(zip(*corners, strict=True))
    return min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3])


def test_png_and_pdf_have_the_formula():
    svg = matrix_figure(explore(Scenario(loss="info_nce")))
    (left, top), *_ = (
        map(float, re.findall(r"[\d.]+", one))
        for one in re.findall(r'class="formula"[^>]*transform="translate\(([^)]*)\)', svg)
    )
    image = np.asarray(Image.open(io.BytesIO(as_png(svg).content)).convert("L"))
    letter = image[int(2 * top - 24) : int(2 * top), int(2 * left) : int(2 * left + 24)]  # the ℒ
    assert 30 < (letter < 128).sum() < 300
    content = as_pdf(svg).content
    curves = sum(len(re.findall(rb" c\b", one)) for one in streams(content))
    assert curves > 500  # quadratic curves of letters as cubic ones
