"""Fonts embedded in an SVG, so that it looks the same where they are not installed.

Fonts are cut to the letters of the figure. Letters that the bundled ones lack, such as Chinese
ones, come from a font of this computer with an open licence; without one, from the reader's own.
"""

import base64
import functools
import io
from xml.etree import ElementTree

from lossprism.explorer.export.figure.font_files import BUNDLED, OPEN_LICENCE, font_of, open_font
from lossprism.explorer.export.figure.pdf import SVG_TAG, style_of

# By style of text: how the figure's lists of fonts name the first file of `font_files.BUNDLED`.
FACES = {
    "sans": ("IBM Plex Sans", 400),
    "bold": ("IBM Plex Sans", 600),
    "mono": ("IBM Plex Mono", 400),
    "math": ("KaTeX_Main", 400),
}
CACHED_FACES = 64  # cut fonts: those of a figure that is drawn again with other colours


def with_fonts(svg: str) -> str:
    """Return the figure with the fonts of its texts."""
    letters: dict[str, set[str]] = {}
    for text in ElementTree.fromstring(svg).iter(f"{SVG_TAG}text"):
        letters.setdefault(style_of(text.attrib), set()).update(text.text or "")
    rules = "".join(_face(style, "".join(sorted(letters[style]))) for style in sorted(letters))
    return svg.replace("<defs>", f"<defs><style>{rules}</style>", 1)


@functools.lru_cache(maxsize=CACHED_FACES)
def _face(style: str, letters: str) -> str:
    """Return the CSS rules with these letters of a style's fonts."""
    family, weight = FACES[style]
    by_font: dict[str, str] = {}
    for letter in letters:
        name = font_of(letter, style, OPEN_LICENCE)
        if name is not None:
            by_font[name] = by_font.get(name, "") + letter
    rules = []
    for name, drawn in by_font.items():
        content = base64.b64encode(_subset(name, drawn)).decode()
        ranges = ",".join(f"U+{ord(letter):X}" for letter in drawn)
        range_of_others = "" if name == BUNDLED[style][0] else f"unicode-range:{ranges};"
        rules.append(
            f'@font-face{{font-family:"{family}";font-weight:{weight};'
            f'{range_of_others}src:url(data:font/woff2;base64,{content}) format("woff2")}}'
        )
    return "".join(rules)


def _subset(name: str, letters: str) -> bytes:
    """Return a font file with only the glyphs of these letters."""
    from fontTools import subset  # takes its time, and only a figure needs it

    options = subset.Options(hinting=False)
    options.drop_tables += ["FFTM"]  # the times of FontForge, which it cannot cut and warns of
    cutter, out = subset.Subsetter(options), io.BytesIO()
    cutter.populate(text=letters)
    with open_font(name) as font:
        cutter.subset(font)
        font.flavor = "woff2"
        font.save(out)
    return out.getvalue()
