"""Figures and charts as files for download: SVG, HTML, PDF."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lossprism.explorer.export.figure.appearance import Look, look_in
from lossprism.explorer.export.figure.chart import chart_figure
from lossprism.explorer.export.figure.chart_sent_by_page import read_chart
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.font_files import MAX_QUOTED
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.pdf import as_pdf
from lossprism.explorer.export.figure.png import as_png
from lossprism.explorer.runtime.downloads import Text
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import one_of


def save(drawn: str | bytes, out: Path) -> None:
    """Write a figure to a file. Raises Problem if it cannot be written."""
    try:
        out.write_bytes(drawn.encode("utf-8") if isinstance(drawn, str) else drawn)
    except OSError as error:
        raise Problem("figure_not_written", name=out, reason=error.strerror or error) from error


def figure_text(name: str, drawn: str, request: Mapping[str, Any]) -> Text:
    """Return a figure for download, as SVG, as a page of HTML with it, or as PDF: its `format`.

    Raises:
        Problem: if no font of this computer has a letter of the PDF.
    """
    kind = one_of(("svg", "html", "pdf"))(request.get("format") or "svg", "format")
    if kind == "svg":
        return Text(f"{name}.svg", "image/svg+xml", with_fonts(drawn))
    if kind == "html":
        return Text(f"{name}.html", "text/html", page_with(name, drawn, look_in(request)))
    content = as_pdf(drawn)
    if content.undrawn:
        raise Problem("figure_letters", letters=content.undrawn[:MAX_QUOTED])
    return Text(f"{name}.pdf", "application/pdf", base64.b64encode(content.content).decode())


def page_with(name: str, drawn: str, look: Look) -> str:
    """Return a page of HTML with a figure, as large as its window."""
    return PAGE.format(language=look.get("language", "en"), name=name) + with_fonts(drawn)


def chart_text(request: Json) -> Text:
    """Answer {chart, name, and the entries of `look_in` and `figure_text`} with a chart as a
    file."""
    name = re.sub(r"[^\w-]", "", str(request.get("name")))[:NAME_LETTERS]
    drawn = chart_figure(read_chart(request.get("chart")), **look_in(request))
    return figure_text(name or "chart", drawn, request)


NAME_LETTERS = 80
PAGE = (
    '<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{name}</title>'
    '<meta name="viewport" content="width=device-width">'
    "<style>body{{margin:0}}svg{{display:block;width:100%;height:100vh}}</style>"
)
MADE_OF_SVG = {".png": as_png, ".pdf": as_pdf}
FIGURES = {"matrix": matrix_figure, "bars": bars_figure}
