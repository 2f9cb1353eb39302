"""Scenarios that figures are of, and what is drawn as files."""

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lossprism.explorer.core.scenario import LINK_VERSION, OPENING, Scenario
from lossprism.explorer.export.figure.appearance import Look, look_in
from lossprism.explorer.export.figure.chart import chart_figure
from lossprism.explorer.export.figure.chart_data import read_chart
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.font_files import QUOTED
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.pdf import as_pdf
from lossprism.explorer.export.figure.png import rasterised
from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime.downloads import Text
from lossprism.explorer.runtime.limits import SCENARIO_BYTES
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_types import Json
from lossprism.explorer.runtime.validation import one_of


def save(drawn: str | bytes, out: Path) -> None:
    """Write a figure to a file. Raises Problem if it cannot be written."""
    try:
        out.write_bytes(drawn.encode("utf-8") if isinstance(drawn, str) else drawn)
    except OSError as error:
        raise Problem("figure_not_written", name=out, reason=error.strerror or error) from error


def read_scenario(source: Scenario | str | Path) -> Scenario:
    """The scenario that a link, an address with a link, or a .json file holds; that Explore opens
    with, of an address without a link (`http://127.0.0.1:7860/`)."""
    if isinstance(source, Scenario):
        return source
    text = str(source).strip()
    address, _, link = text.partition("#")
    if not link and address.lower().endswith(".json"):
        return _scenario_in(local_path(address))
    pieces = path_pieces(address)
    is_other = not {*(pieces or ())[-2:]}.isdisjoint(OTHER_PAGES)  # "learn/collapse" has two
    if is_other and not link.startswith(f"{LINK_VERSION}."):
        raise Problem("figure_page", name=text[:QUOTED_LETTERS])
    is_bare = pieces is not None and not link and "scene=" not in urlsplit(address).query
    return OPENING if is_bare else Scenario.from_link(text)


def path_pieces(address: str) -> list[str] | None:
    """Return the pieces of the path of an address, None for what is no address of a page.

    Explore may stand at any path of a server (`https://huggingface.co/spaces/somebody/losses`).
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") and not re.fullmatch(r"(/learn)?/\w*", parts.path):
        return None
    return parts.path.strip("/").split("/")


def _scenario_in(path: Path) -> Scenario:
    try:
        most = SCENARIO_BYTES
        if path.stat().st_size > most:
            raise Problem("scenario_file", name=path.name, reason=f"> {grouped(most)} bytes")
        chosen = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Problem("file_unreadable", name=path) from error
    except ValueError as error:
        raise Problem("scenario_file", name=path.name, reason=error) from error
    return Scenario.from_json(chosen)


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
        raise Problem("figure_letters", letters=content.undrawn[:QUOTED])
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


NAME_LETTERS, QUOTED_LETTERS = 80, 60
PAGE = (
    '<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{name}</title>'
    '<meta name="viewport" content="width=device-width">'
    "<style>body{{margin:0}}svg{{display:block;width:100%;height:100vh}}</style>"
)
# Pages whose links are not of a scenario that a figure can show, by their paths.
OTHER_PAGES = ("compare", "doctor", "large", "finetune", "learn")
MADE_OF_SVG = {".png": rasterised, ".pdf": as_pdf}
FIGURES = {"matrix": matrix_figure, "bars": bars_figure}
