"""An SVG brings its fonts, with every letter that they have, by the names that it asks for."""

from __future__ import annotations

import base64
import functools
import io
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.figure import embedded_fonts
from lossprism.explorer.export.figure.appearance import FONTS, MATH, MONO
from lossprism.explorer.export.figure.chart import chart_figure
from lossprism.explorer.export.figure.chart_sent_by_page import read_chart
from lossprism.explorer.export.figure.embedded_fonts import FACES, with_fonts
from lossprism.explorer.export.figure.font_files import OPEN_LICENCE, font_of
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.pdf import SVG_TAG, style_of
from lossprism.explorer.web.pages.figure_of_scenario_or_page import write_figure
from tests.scenes import CHART

FACE = re.compile(
    r'@font-face\{font-family:"([^"]+)";font-weight:(\d+);'
    r'(?:unicode-range:([^;]+);)?src:url\(data:font/woff2;base64,([^)]+)\) format\("woff2"\)\}'
)


CHINESE = Scenario(data=Data(example="graded_chinese"))
FIGURES: dict[str, Callable[[], str]] = {
    "matrix": lambda: matrix_figure(explore(Scenario())),
    "small": lambda: matrix_figure(explore(Scenario()), size="one_column", picture_only=True),
    "chinese": lambda: matrix_figure(explore(CHINESE), language="zh"),
    "bars": lambda: bars_figure(explore(Scenario())),
    "chart": lambda: chart_figure(read_chart(CHART["chart"])),
}


@functools.cache
def figure(name: str) -> str:
    return FIGURES[name]()


@pytest.mark.thorough
@pytest.mark.parametrize("name", FIGURES)
def test_every_letter_that_a_font_has_is_embedded(name: str) -> None:
    drawn = figure(name)
    faces: dict[tuple[str, int], set[int]] = {}
    for family, weight, ranges, font in FACE.findall(with_fonts(drawn)):
        own = set(TTFont(io.BytesIO(base64.b64decode(font))).getBestCmap())
        if ranges:  # only these letters are taken from this font
            assert {int(one.removeprefix("U+"), 16) for one in ranges.split(",")} == own
        faces.setdefault((family, int(weight)), set()).update(own)
    texts = list(ElementTree.fromstring(drawn).iter(f"{SVG_TAG}text"))
    assert texts or name == "small"
    for text in texts:
        style = style_of(text.attrib)
        has = {ord(letter) for letter in text.text or "" if font_of(letter, style, OPEN_LICENCE)}
        assert has <= faces[FACES[style]]


def test_chinese_letters_come_from_a_font_of_the_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    if font_of("损", "sans", OPEN_LICENCE) is None:
        pytest.skip("this computer has no font with Chinese letters, such as Noto Sans CJK SC")
    drawn = figure("chinese")
    assert "unicode-range:" in with_fonts(drawn)
    assert len(with_fonts(drawn)) < len(drawn) + 150_000
    monkeypatch.setattr(embedded_fonts, "OPEN_LICENCE", {})
    embedded_fonts._face.cache_clear()
    assert "U+635F" not in with_fonts(drawn)
    embedded_fonts._face.cache_clear()


def test_an_embedded_font_is_the_first_of_its_list() -> None:
    first = {chosen.partition(",")[0] for chosen in (FONTS, MATH, MONO)}
    assert {family for family, _ in FACES.values()} == first


def test_fonts_are_all_that_is_added_and_they_are_small() -> None:
    drawn = figure("matrix")
    assert re.sub("<style>.*?</style>", "", with_fonts(drawn)) == drawn
    assert len(with_fonts(drawn)) < len(drawn) + 60_000


def test_the_command_writes_fonts_into_an_svg(tmp_path) -> None:
    write_figure(Scenario(), tmp_path / "figure.svg")
    assert len(FACE.findall((tmp_path / "figure.svg").read_text(encoding="utf-8"))) >= 3
