"""Sources of figures: a scenario, or a page that shows none; and the file of a figure.

The command line, the API, previews of links and `write_figure` find it here.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.core.scenario_from_link_or_file import QUOTED_LETTERS, read_scenario
from lossprism.explorer.export.figure.appearance import Look, palette_of
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.figure_files import FIGURES, MADE_OF_SVG, page_with, save
from lossprism.explorer.export.interactive_figure import interactive_figure
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.pages import svg_of_opening_views
from lossprism.explorer.web.pages.opening_scenarios import opening_scenarios, page_at

PageFigure = Callable[..., str]  # draws what a page opens with as SVG, a function of a `Look`


def openings(page: str, language: str) -> list[Scenario] | list[PageFigure]:
    """Return what the page at this path opens with for a reader of a language: its scenarios, one
    for each loss, or the function that draws it; nothing for a page that does not exist."""
    draw = svg_of_opening_views.FIGURES.get(page)
    return opening_scenarios(page, language) if draw is None else [draw]


def opening(address: str, language: str = LANGUAGES[0]) -> Scenario | PageFigure | None:
    """Return what a page opens with, of its bare address, such as /compare or
    http://127.0.0.1:7860/learn/collapse; of several losses the first. None for anything else, such
    as a link.

    Raises Problem for a page that does not exist.
    """
    page = page_at(address)
    if page is None:
        return None
    found = openings(page, language)
    if not found:
        raise Problem("figure_page", name=address[:QUOTED_LETTERS])
    return found[0]


def svg_of(shown: Exploration | PageFigure, kind: str, look: Look) -> str:
    """Return the figure of a kind, "matrix" or "bars", or that of a page."""
    return FIGURES[kind](shown, **look) if isinstance(shown, Exploration) else shown(**look)


def html_of(shown: Exploration | PageFigure, kind: str, look: Look) -> str:
    """Return the page of HTML with a figure; one of a matrix tells of each cell."""
    if isinstance(shown, Exploration) and kind == "matrix":
        is_dark = palette_of(look) == "dark"
        return interactive_figure(shown, language=look.get("language", "en"), dark=is_dark)
    return page_with("LossPrism", svg_of(shown, kind, look), look)


def write_figure(
    source: Scenario | str | Path, out: str | Path, *, kind: str = "matrix", **look: Unpack[Look]
) -> str:
    """Write the figure of a scenario, "matrix" or "bars", or that of a page, to an .svg, .png, .pdf
    or .html file; one of a matrix as .html tells of each cell.

    `source` is a scenario, a link (the whole address or the piece after its #), the bare address of
    a page, or the path of a .json file that holds a scenario; `look` is as `Look` has it. Returns a
    remark on the file: a sentence if letters of a PNG or PDF are in no font of this computer, else
    "".

    Raises:
        Problem: if there is no such scenario or page, or the file cannot be written as asked.
    """
    if kind not in FIGURES:
        raise Problem("figure_kind", name=kind[:60], known=", ".join(FIGURES))
    out = Path(out)
    ending = out.suffix.lower()
    if ending not in (".svg", ".html", *MADE_OF_SVG):
        raise Problem("figure_format", name=out.name)
    language = look.get("language", "en")
    page = None if isinstance(source, Scenario) else opening(str(source), language)
    found = page or read_scenario(source)
    shown = explore(found) if isinstance(found, Scenario) else found
    if ending == ".html":
        save(html_of(shown, kind, look), out)
        return ""
    drawn = svg_of(shown, kind, look)
    if ending == ".svg":
        save(with_fonts(drawn), out)
        return ""
    file = MADE_OF_SVG[ending](drawn)
    save(file.content, out)
    return file.remark(language)
