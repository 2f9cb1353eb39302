"""One palette: pages, scripts and figures read it, and no other file names a colour."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from lossprism.explorer.export.palette import DARK, LIGHT, PRINT, SHADES, channels
from lossprism.explorer.web import page_html, static_files

ROOT = Path(__file__).resolve().parents[3]
READ = (".py", ".js", ".css", ".html", ".tmpl")
# A value in quotes, or anywhere in a style; names of colours are tried in styles alone.
LITERAL = re.compile(
    r"""["'`]#[0-9a-f]{3,4}["'`]|["'`\s]#(?:[0-9a-f]{6}|[0-9a-f]{8})\b"""
    r"""|:[^;{}\n"']*#[0-9a-f]{3,8}\b|\b(?:rgb|hsl)a?\(\s*[\d.]""",
    re.IGNORECASE,
)
NAMED = re.compile(r":[^;{}]*\b(white|black|red|green|blue|gray|grey|orange|navy)\b(?!-)")


def literals(path: Path) -> list[str]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        hit = LITERAL.search(line) or (path.suffix == ".css" and NAMED.search(line))
        if hit:
            found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def test_no_other_file_names_a_colour():
    files = [path for room in ("explorer", "losses") for path in (ROOT / room).rglob("*.*")]
    read = [path for path in files if path.suffix in READ and "vendor" not in path.parts]
    assert len(read) > 400
    assert [message for path in read for message in literals(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        "color: #FFF;",
        'fill="#24262b"',
        "background: rgba(0, 0, 0, 0.1);",
        "border: 1px solid white;",
        'colour = "#a5b4fc"',
        "--lp-x: #112233aa;",
    ],
)
def test_a_colour_would_be_found(line):
    assert LITERAL.search(line) or NAMED.search(line)


@pytest.mark.parametrize(
    "line", ['"#1 a"', "white-space: nowrap;", "(big_vision #115)", "a#main {"]
)
def test_what_is_no_colour_is_not(line):
    assert not LITERAL.search(line)
    assert not NAMED.search(line)


@pytest.mark.parametrize(("at", "palette"), [(":root", LIGHT), ("body.dark", DARK)])
def test_the_page_has_the_colours_of_the_figures(at, palette):
    styles = static_files.FILES[static_files.PALETTE].decode()
    block = re.search(rf"{re.escape(at)} \{{(.*?)\}}", styles)[1]
    values = dict(re.findall(r"--lp-([\w-]+): ([^;}]+?) ?(?:;|$)", block))
    for name in SHADES["dark"]:
        value = getattr(palette, name)
        stops = [value] if isinstance(value, str) else value
        assert values[name.replace("_", "-")] == " ".join(stops)
    assert page_html.SHARED_STYLES.index(static_files.PALETTE) < page_html.SHARED_STYLES.index(
        "kit/styles/base_text.css"
    )


def test_every_theme_has_every_colour_that_changes_with_it():
    assert set(SHADES["dark"]) <= set(SHADES["light"]) >= set(SHADES["print"])
    assert set(SHADES["light"]) - set(SHADES["dark"]) == {"shadow"}


def test_a_palette_can_be_copied_and_names_what_it_lacks():
    assert copy.deepcopy(LIGHT) == LIGHT
    with pytest.raises(AttributeError, match="mauve"):
        _ = LIGHT.mauve


def grey(colour: str) -> float:
    """How light the colour is in a copy without colours (Rec. 709), from 0 to 1."""
    red, green, blue = channels(colour)
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


@pytest.mark.parametrize("ramp", ["diverging", "sequential", "mask"])
def test_in_print_the_grey_of_a_ramp_goes_one_way(ramp):
    greys = [grey(stop) for stop in getattr(PRINT, ramp)]
    assert greys in (sorted(greys), sorted(greys, reverse=True))
    assert abs(greys[0] - greys[-1]) > 0.45


def test_in_print_up_and_down_differ_in_grey():
    assert grey(PRINT.up) - grey(PRINT.down) > 0.2
    assert abs(grey(LIGHT.diverging[0]) - grey(LIGHT.diverging[-1])) < 0.1  # why print has its own


def luminance(colour: str) -> float:
    parts = [c / 255 for c in channels(colour)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK, PRINT])
@pytest.mark.parametrize("name", ["ink", "faint", "up", "down", "accent", "floor", "collapse"])
def test_words_are_read_on_the_sheet(palette, name):
    both = sorted([luminance(getattr(palette, name)), luminance(palette.sheet)])
    assert (both[1] + 0.05) / (both[0] + 0.05) >= 4
