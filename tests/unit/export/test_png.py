"""A figure as PNG: its own drawing, with its words, or a sentence that says which are missing."""

from __future__ import annotations

import functools
import io
import re

import numpy as np
import pytest
import resvg_py
from PIL import Image

from lossprism.explorer.export.figure import png as pixels
from lossprism.explorer.export.figure.appearance import MONO
from lossprism.explorer.export.figure.font_files import MAX_QUOTED, FigureFile
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.palette import LIGHT, channels
from lossprism.explorer.web.pages.figure_of_scenario_or_page import write_figure
from tests.sentences import pattern_of
from tests.unit.export.test_figure import SMALL, Scenario, explore

FOUND = explore(Scenario(data=SMALL))


def opened(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def without_fonts(monkeypatch):
    bare = functools.partial(resvg_py.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr("resvg_py.svg_to_bytes", bare)
    pixels._generic.cache_clear()
    monkeypatch.setattr(pixels, "_generic", pixels._generic.__wrapped__)


@pytest.mark.parametrize("draw", [matrix_figure, bars_figure])
def test_it_is_the_drawing_at_two_pixels_a_unit(draw):
    svg = draw(FOUND, language="zh", dark=False)
    seen = opened(pixels.as_png(svg).content)
    width, height = (float(side) for side in re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
    assert seen.shape[:2] == pytest.approx((2 * height, 2 * width), abs=1)
    kind = "cell" if draw is matrix_figure else "bar"
    filled = re.findall(rf'<rect[^>]*class="{kind}"[^>]*>', svg)
    filled = filled or re.findall(r'<rect x="[^>]*fill="#[0-9a-f]{6}"[^>]*>', svg)
    tried = 0
    for rect in filled[:40]:
        message = dict(re.findall(r'(\w+)="([^"]*)"', rect))
        x, y, w, h = (float(message[name]) for name in ("x", "y", "width", "height"))
        if min(w, h) > 4 and message["fill"].startswith("#"):
            middle = seen[int(2 * y + h), int(2 * x + w)]
            assert np.abs(middle - channels(message["fill"])).max() <= 1
            tried += 1
    assert tried > 3


def test_its_words_are_drawn_or_reported_as_missing():
    """Of both languages, wherever the tests run: there is ink where the letter has a font."""
    for letter in "Aλ损":
        cell = pixels._cells([(letter, "sans-serif")], pixels._generic())
        assert pixels._blank(cell).item() <= (pixels.undrawn(letter) == letter)
    title = opened(pixels.as_png(matrix_figure(FOUND)).content)[30:110, 50:300]
    has_ink = bool((np.abs(title - channels(LIGHT.sheet)).max(axis=2) > 100).any())
    assert has_ink == (pixels.undrawn("CoSENT") == "")


def test_letters_that_no_font_has_are_named_once(monkeypatch):
    assert pixels.undrawn("\ufdd0\U0010fff0 \u2068\U0010fff0\u0301") == "\ufdd0\U0010fff0"
    without_fonts(monkeypatch)
    found = pixels.as_png(matrix_figure(FOUND, language="zh"))
    assert {"C", "损", "失"} <= set(found.undrawn)
    assert len(found.undrawn) == len(set(found.undrawn)) > MAX_QUOTED
    assert f"{len(found.undrawn)} letters" in found.remark("en")
    assert "…" in found.remark("zh")
    assert FigureFile(b"", "").remark("en") == ""


def test_a_generic_family_is_one_that_there_is():
    """Else an SVG whose families are all absent would be drawn without its words."""
    written = [("x", name) for name in ("serif", "sans-serif", MONO)]
    blank = pixels._blank(pixels._cells(written, pixels._generic()))
    assert blank.tolist() == [pixels.undrawn("x") == "x"] * len(written)


def test_no_picture_is_without_end(monkeypatch):
    monkeypatch.setattr(pixels, "MAX_PIXELS", 10_000)
    seen = opened(pixels.as_png(matrix_figure(FOUND)).content)
    assert 9_000 < seen.shape[0] * seen.shape[1] < 10_300


def test_it_is_written_to_a_file(tmp_path, monkeypatch):
    link = Scenario(data=SMALL).to_link()
    out = tmp_path / "figure.PNG"
    assert write_figure(link, out, language="zh", dark=True) == pixels.as_png(
        matrix_figure(FOUND, language="zh", dark=True)
    ).remark("zh")
    assert Image.open(out).format == "PNG"
    without_fonts(monkeypatch)
    assert pattern_of("figure_text.undrawn").search(write_figure(link, out))
