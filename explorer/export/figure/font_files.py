"""Font files of figures as SVG and PDF: one list with the fonts of each style, letter by letter.

IBM Plex, which Gradio brings, and KaTeX's fonts, which the page has, are always there; letters that
they lack, such as Chinese ones, are set in the first font of the system that has them. Formulas
bring their own outlines (`formula.py`), but for such letters in their words.
"""

import functools
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lossprism.explorer.locale import say

KATEX = Path(__file__).resolve().parents[2] / "web" / "kit" / "vendor" / "katex" / "fonts"
# By style: the files that come along. A system's fonts follow for every style.
BUNDLED = {
    "sans": ("IBMPlexSans-Regular.woff2",),
    "bold": ("IBMPlexSans-Bold.woff2", "IBMPlexSans-Regular.woff2"),
    "mono": ("IBMPlexMono-Regular.woff2", "IBMPlexSans-Regular.woff2"),
    "math": ("KaTeX_Main-Regular.woff2", "IBMPlexSans-Regular.woff2"),
}
# Files of a system with its number in a collection: many signs first, then Chinese letters. Those
# with an open licence may be part of an SVG, from which a font can be taken out again.
OPEN_LICENCE = {
    "DejaVuSans.ttf": 0,
    "LiberationSans-Regular.ttf": 0,
    "NotoSansCJK-Regular.ttc": 2,  # simplified Chinese
    "NotoSansCJKsc-Regular.otf": 0,
    "NotoSansSC-Regular.otf": 0,
    "wqy-microhei.ttc": 0,
}
SYSTEM_FONTS = {
    **OPEN_LICENCE,
    "arialuni.ttf": 0,
    "seguisym.ttf": 0,
    "Apple Symbols.ttf": 0,
    "PingFang.ttc": 0,
    "Hiragino Sans GB.ttc": 0,
    "msyh.ttc": 0,
    "simhei.ttf": 0,
}
FOLDERS = {
    "win32": (r"%WINDIR%\Fonts", r"%LOCALAPPDATA%\Microsoft\Windows\Fonts"),
    "darwin": ("/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts"),
}
UNIX = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
INVISIBLE = {"Cc", "Cf", "Zl", "Zp"}
MAX_QUOTED = 20  # letters that are named


def gradio_fonts() -> list[Path]:
    """Return the folder of the fonts that Gradio brings; nothing where Gradio is not installed."""
    gradio = find_spec("gradio")
    if gradio is None:
        return []
    return [Path(gradio.origin or "").parent / "templates/frontend/static/fonts"]


@functools.cache
def _font_paths() -> dict[str, Path]:
    """Return the existing files of `BUNDLED` and `SYSTEM_FONTS`."""
    rooms = [os.path.expandvars(room) for room in FOLDERS.get(sys.platform, UNIX)]
    folders = [KATEX, *gradio_fonts(), *(Path(room).expanduser() for room in rooms)]
    known = {name for names in BUNDLED.values() for name in names} | set(SYSTEM_FONTS)
    files: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name in known:
                files.setdefault(path.name, path)
    return files


def open_font(name: str) -> Any:
    """Return the font file of this name as a fontTools font."""
    from fontTools.ttLib import TTFont  # takes its time, and only a figure needs it

    return TTFont(_font_paths()[name], fontNumber=SYSTEM_FONTS.get(name, 0), lazy=True)


@functools.cache
def _letters_in(name: str) -> frozenset[int]:
    with open_font(name) as font:
        return frozenset(font.getBestCmap())


def font_of(cluster: str, style: str, of_system: Iterable[str] | None = None) -> str | None:
    """Return the name of the first font for this style that has these letters: a bundled one, or
    one `of_system` (any of `SYSTEM_FONTS`); None without one."""
    needed, others = set(map(ord, cluster)), SYSTEM_FONTS if of_system is None else of_system
    names = (name for name in (*BUNDLED[style], *others) if name in _font_paths())
    return next((name for name in names if needed <= _letters_in(name)), None)


@dataclass(frozen=True)
class FigureFile:
    """A PNG or PDF file, and the letters of the figure that no font of this computer has."""

    content: bytes
    undrawn: str

    def remark(self, language: str) -> str:
        """Return the remark on such letters, "" without any."""
        if not self.undrawn:
            return ""
        some = self.undrawn[:MAX_QUOTED] + "…" * (len(self.undrawn) > MAX_QUOTED)
        return say(language, "figure_text.undrawn", count=len(self.undrawn), letters=some)


class Fonts:
    """The fonts of one PDF (`fpdf.FPDF`); each is read when a letter needs it."""

    def __init__(self, pdf: Any) -> None:
        self.pdf = pdf
        self.added: set[str] = set()  # names of fonts that the file has
        self.undrawn: dict[str, None] = {}

    def runs(self, text: str, style: str) -> Iterator[tuple[str, str]]:
        """Split the text into pieces with the name of a font for each; letters that no font has are
        dropped and noted in `undrawn`."""
        seen = [letter for letter in text if unicodedata.category(letter) not in INVISIBLE]
        piece, before = "", ""
        for cluster in _clusters(seen):
            font = self._font_of(cluster, style)
            if font is None:
                self.undrawn |= dict.fromkeys(cluster)
            elif font == before:
                piece += cluster
            else:
                if piece:
                    yield before, piece
                piece, before = cluster, font
        if piece:
            yield before, piece

    def _font_of(self, cluster: str, style: str) -> str | None:
        name = font_of(cluster, style)
        if name is not None and name not in self.added:
            number = SYSTEM_FONTS.get(name, 0)
            self.pdf.add_font(name, fname=_font_paths()[name], collection_font_number=number)
            self.added.add(name)
        return name


def _clusters(letters: list[str]) -> Iterator[str]:
    """Yield each letter with its combining marks; any blank unchanged."""
    cluster = ""
    for letter in letters:
        if cluster and unicodedata.combining(letter):
            cluster += letter
            continue
        if cluster:
            yield cluster
        cluster = " " if unicodedata.category(letter) == "Zs" else letter
    if cluster:
        yield cluster
