"""Interactive figures: one self-contained HTML file, for a slide or a handout.

It holds the page's matrix as the same SVG that is taken away as a picture, and below it what the
cell under the pointer is about: its sentences, labels, similarities, value, weight and gradient.
These are data in it, compressed, and shown as text; the file itself forbids every request to
elsewhere, and every script but its own.
"""

import base64
import hashlib
import json
import zlib
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export.caption import title_of
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.export.drawing_data_types import Shown
from lossprism.explorer.export.figure.axis_labels import Axis
from lossprism.explorer.export.figure.cells import MAX_RECTANGLES, Cells, cells_of
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.svg_elements import Pen
from lossprism.explorer.export.figure.text_layout import clean
from lossprism.explorer.locale import catalogue, say
from lossprism.explorer.runtime.number_format import display_number, percent

SCRIPT = Path(__file__).resolve().with_name("interactive_figure.js")
STYLE = Path(__file__).resolve().with_name("interactive_figure.css")
# Up to this size cells are areas, with numbers where there is room; an image is smaller.
RECTANGLES = 16
# Beyond so many rows or columns values have three digits; beyond `MAX_RECTANGLES` only those of the
# facet in view are in the file, and rows are found by number.
MANY_ROWS, DIGITS, DIGITS_OF_MANY = 32, 4, 3
# Of the dimensions of vectors: 384 in a row, and none means anything alone.
DIGITS_OF_DIMENSIONS, STEPS_OF_DIMENSIONS = 2, 100
FACETS = ("value", "weight", "gradient")
FIRST_CODE = 32  # of the characters that stand for words of cells, as in interactive_figure.js


def interactive_figure(
    exploration: Exploration, *, language: str = "en", dark: bool = False
) -> str:
    """Return the step and facet that `scenario.view` chooses, as an HTML document."""
    matrix_picture, pen = picture(exploration), Pen.of(language=language, dark=dark)
    drawn = matrix_figure(exploration, most_rectangles=RECTANGLES, language=language, dark=dark)
    body, shown = f'<div id="figure">{with_fonts(drawn)}</div>', matrix_picture.shown
    if (
        matrix_picture.steps[matrix_picture.chosen].value is not None
        or shown.rows * shown.columns == 0
    ):
        return _document(exploration, pen, body)  # nothing to point at
    data = _data(exploration, shown, pen)
    written = json.dumps(data, ensure_ascii=False).encode()
    packed = base64.b64encode(zlib.compress(written, 9)).decode()
    hint, tap = escape(pen.say("interactive.hint")), escape(pen.say("interactive.hint.touch"))
    body = body.replace(">", f' role="application" aria-label="{hint}">', 1)
    hints = f'<p class="pointer">{hint}</p><p class="finger">{tap}</p>'
    body += f'<div id="card" role="status">{hints}</div>'
    body += f'<script type="text/plain" id="data">{packed}</script>'
    return _document(exploration, pen, body, SCRIPT.read_text(encoding="utf-8"))


def _data(e: Exploration, shown: Shown, pen: Pen) -> dict[str, object]:
    """Return what the script reads: the words of rows and columns, and those of cells by facet."""
    rows = Axis(e, shown.row_axis, shown.all_rows, pen.language)
    columns = Axis(e, shown.column_axis, shown.all_columns, pen.language)
    is_large = max(shown.rows, shown.columns) > MAX_RECTANGLES
    return {
        "step": shown.name,
        "rows": [_side(rows, place) for place in range(shown.rows)] if shown.rows > 1 else [[]],
        "columns": [_side(columns, place) for place in range(shown.columns)],
        "absent": pen.say("ui.takes_no_part"),
        "facets": _facets(e, shown, pen, is_large),
        "lookup": [_numbers(axis) for axis in (rows, columns)] if is_large else [],
    }


def _facets(e: Exploration, shown: Shown, pen: Pen, is_large: bool) -> list[dict[str, object]]:
    """Return the name of each facet, the one in view first, its words, and for each row a character
    per cell, which stands for a word by its place behind `FIRST_CODE`."""
    first = cells_of(e, shown, pen.palette).facet
    others = [one for one in FACETS if one != first and getattr(shown, one) is not None]
    facets = []
    for facet in (first, *([] if is_large else others)):
        cells = cells_of(e.seen(facet=facet), shown, pen.palette)
        digits = DIGITS if max(shown.rows, shown.columns) <= MANY_ROWS else DIGITS_OF_MANY
        if is_large and shown.column_axis.name.endswith("dimension"):
            written = _words(_rounded(cells), pen, DIGITS_OF_DIMENSIONS, about="≈ ")
        else:
            written = _words(cells, pen, digits)
        words, places, counts = np.unique(written, return_inverse=True, return_counts=True)
        by_count = np.argsort(-counts, kind="stable")  # one byte each for the most frequent
        codes = FIRST_CODE + np.argsort(by_count)[places].reshape(cells.values.shape)
        rows, name = ["".join(map(chr, row)) for row in codes], pen.say(cells.called)
        facets.append({"name": name, "words": words[by_count].tolist(), "cells": rows})
    return facets


def _rounded(cells: Cells) -> Cells:
    """Return the cells with values rounded to steps of the colours' range."""
    step = (cells.largest - cells.least) / STEPS_OF_DIMENSIONS
    return replace(cells, values=np.round(cells.values / step) * step) if step else cells


def _words(cells: Cells, pen: Pen, digits: int, about: str = "") -> np.ndarray:
    """Return the words of every cell; `about` stands before a number."""
    absent = pen.say("ui.takes_no_part")

    def word(value: float) -> str:
        if cells.two_tone:
            return pen.say("ui.yes" if value else "ui.no")
        return about + (percent(value) if cells.of_shares else display_number(value, digits))

    words = [[word(value) for value in row] for row in cells.values.tolist()]
    return np.where(cells.masked | cells.absent, absent, words)


def _numbers(axis: Axis) -> dict[str, object]:
    """Return the name of the items of an axis, and their numbers."""
    name = catalogue(axis.language).get(f"axis.one.{axis.name}", axis.name)
    return {"name": name, "numbers": [axis.number(place) for place in range(len(axis))]}


def _side(axis: Axis, place: int) -> list[str]:
    """Describe a row or column: its name, its sentences, its label."""
    known = catalogue(axis.language)
    name = known.get(f"axis.one.{axis.name}", axis.name)
    lines = [f"{name} {axis.number(place)}".strip()]
    pairs = axis.exploration.batch.pairs
    pair = axis.pairs[place] if place < len(axis.pairs) else -1
    sentence = axis.sentences[place] if place < len(axis.sentences) else -1
    if sentence >= 0:
        lines.append(pairs.sentences[sentence])
    elif pair >= 0:
        lines += [pairs.first[pair], pairs.second[pair]]
    if pair >= 0:
        values = {"label": axis.label(place), "score": display_number(float(axis.scores[pair]))}
        lines.append(say(axis.language, "ui.pair_facts", **values))
    return [clean(line) for line in lines]


def _document(e: Exploration, pen: Pen, body: str, script: str = "") -> str:
    palette = pen.palette
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    safe = f"default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data:; font-src data:"
    colours = "".join(
        f"--{name}:{getattr(palette, name)};" for name in ("sheet", "ink", "line", "accent")
    )
    return "\n".join(
        [
            "<!doctype html>",
            f"<html lang='{pen.language}'><head><meta charset='utf-8'>",
            f'<meta http-equiv="Content-Security-Policy" content="{safe}">',
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            f"<title>{escape(clean(title_of(e, pen.language)))}</title>",
            f"<style>:root{{{colours}}}\n{STYLE.read_text(encoding='utf-8')}</style></head><body>",
            f"<main>{body}</main>",
            f"<script type='module'>{script}</script>" if script else "",
            "</body></html>",
            "",
        ]
    )
