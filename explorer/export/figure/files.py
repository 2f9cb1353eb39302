"""Figures as files: of a scenario, a link, or a .json file that holds a scenario."""

from __future__ import annotations

import json
from pathlib import Path

from explorer.core.explore import explore
from explorer.core.scenario import Scenario
from explorer.export.figure.bars import bars_figure
from explorer.export.figure.matrix import matrix_figure
from explorer.export.figure.pixels import rasterised
from explorer.locale import grouped
from explorer.runtime.limits import SCENARIO_BYTES
from explorer.runtime.local_path import local_path
from explorer.runtime.problem import Problem


def write_figure(
    source: Scenario | str | Path,
    out: str | Path,
    *,
    kind: str = "matrix",
    language: str = "en",
    dark: bool = False,
) -> str:
    """Explore a scenario and write its figure, "matrix" or "bars", to an .svg or .png file.

    `source` is a scenario, a link (the whole address or the piece after its #), or the path of
    a .json file that holds a scenario. Returns what is to be said of the file: a sentence where
    letters of a PNG are in no font of this computer, else "".

    Raises:
        Problem: if there is no such scenario, or the file cannot be written as asked.
    """
    out = Path(out)
    if out.suffix.lower() not in (".svg", ".png"):
        raise Problem("figure_format", name=out.name)
    if kind not in FIGURES:
        raise Problem("figure_kind", name=kind[:60], known=", ".join(FIGURES))
    drawn = FIGURES[kind](explore(read_scenario(source)), language=language, dark=dark)
    if out.suffix.lower() == ".svg":
        save(drawn, out)
        return ""
    found = rasterised(drawn)
    save(found.png, out)
    return found.said(language)


def save(drawn: str | bytes, out: Path) -> None:
    """Write a figure to a file. Raises Problem if it cannot be written."""
    try:
        out.write_bytes(drawn.encode("utf-8") if isinstance(drawn, str) else drawn)
    except OSError as error:
        raise Problem("figure_not_written", name=out, reason=error.strerror or error) from error


def read_scenario(source: Scenario | str | Path) -> Scenario:
    """The scenario that a link, an address with a link, or a .json file holds."""
    if isinstance(source, Scenario):
        return source
    text = str(source).strip()
    if "#" not in text and text.lower().endswith(".json"):
        return _scenario_in(local_path(text))
    return Scenario.from_link(text.rpartition("#")[2])


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


FIGURES = {"matrix": matrix_figure, "bars": bars_figure}
