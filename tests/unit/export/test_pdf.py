"""A figure as PDF: the same drawing, as lines, areas and text in embedded fonts."""

from __future__ import annotations

import re
import zlib

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.figure import font_files
from lossprism.explorer.export.figure.figure_files import figure_text
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.pdf import as_pdf
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.figure_of_scenario_or_page import write_figure
from tests.sentences import pattern_of, raises_problem

pytest.importorskip("fpdf")
LARGE = Data(source="random", random=RandomBatch(pairs=80, dimension=8, seed=7))
FOUND = explore(Scenario())


def streams(content: bytes) -> list[bytes]:
    found = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    unpacked = []
    for stream in found:
        try:
            unpacked.append(zlib.decompress(stream))
        except zlib.error:
            unpacked.append(stream)
    return unpacked


def page_of(content: bytes) -> bytes:
    return next(stream for stream in streams(content) if b" re f" in stream and b"BT" in stream)


@pytest.mark.parametrize("figure", [matrix_figure, bars_figure])
@pytest.mark.parametrize("size", ["slide", "two_columns", "one_column"])
def test_a_page_has_the_size_of_the_figure_in_points(figure, size):
    svg = figure(FOUND, size=size)
    content = as_pdf(svg).content
    wide, tall = map(float, re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content).groups())
    match = re.search(r'width="([\d.]+)(in)?" height="([\d.]+)', svg)
    points = 72 if match[2] else 0.75
    assert wide == pytest.approx(points * float(match[1]), abs=0.02)
    assert tall == pytest.approx(points * float(match[3]), abs=0.02)
    if size != "slide":
        assert wide == pytest.approx(72 * {"two_columns": 7, "one_column": 3.3}[size], abs=0.02)


def test_cells_are_areas_and_no_image():
    svg = matrix_figure(FOUND)
    content = as_pdf(svg).content
    cells = len(re.findall(r'class="cell"[^>]*fill="#', svg))
    assert page_of(content).count(b" re f") >= cells > 200
    assert b"/Subtype /Image" not in content
    masked = svg.count('class="masked"')
    assert page_of(content).count(b" l S") > masked  # each is hatched by more than a line


def test_a_large_matrix_is_an_image_with_vector_hatching():
    content = as_pdf(matrix_figure(explore(Scenario(data=LARGE)))).content
    assert b"/Subtype /Image" in content
    assert page_of(content).count(b" l S") > 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_font_is_embedded_and_only_what_is_written(language):
    file = as_pdf(matrix_figure(explore(Scenario(loss="info_nce")), language=language))
    named = set(re.findall(rb"/FontName /([\w+-]+)", file.content))
    assert any(b"Plex" in name for name in named)
    assert all(re.match(rb"[A-Z]{6}\+", name) for name in named)  # a subset
    assert len(re.findall(rb"/FontFile[23]? \d", file.content)) == len(named)
    assert not re.search(rb"/Type1\b", file.content)  # the reader's own
    assert len(file.content) < 300_000


def test_letters_that_no_font_has_are_named_and_the_page_refuses(monkeypatch, tmp_path):
    svg = matrix_figure(FOUND, language="zh")
    monkeypatch.setattr(font_files, "SYSTEM_FONTS", {})
    file = as_pdf(svg)
    assert "损" in file.undrawn
    assert pattern_of("figure_text.undrawn").search(file.remark("en"))
    with raises_problem("figure_letters") as refused:
        figure_text("f", svg, {"format": "pdf"})
    assert "损" in refused.value.values["letters"]
    assert "损" in write_figure(Scenario(), tmp_path / "f.pdf", language="zh")
    assert (tmp_path / "f.pdf").read_bytes().startswith(b"%PDF")


def test_marks_over_a_letter_stay_with_it():
    pieces = list(font_files._clusters(list("a\u0304b\u0302\u0323 c")))
    assert pieces == ["a\u0304", "b\u0302\u0323", " ", "c"]
