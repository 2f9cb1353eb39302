"""Formulas set as mathematics: LaTeX as outlines of the letters of STIX Two Math, by ziamath.

A formula has each letter's outline once, in a `<path>` of the figure's `<defs>`.
"""

from __future__ import annotations

import copy
import functools
import math
import re
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from lossprism.explorer.export.figure.appearance import MONO
from lossprism.explorer.export.figure.text_layout import printable, px, width_of

if TYPE_CHECKING:
    from ziamath.drawable import Drawable
    from ziamath.nodes.mnode import Mnode

Element = ElementTree.Element
LETTERS = 2000  # of a formula; ours have at most 300
CACHED_FORMULAS = 256  # typeset formulas
TRIAL_SIZE = 17.0
MIN_SIZE = 5.0  # of a formula that has no room: what cannot be read needs none
MATHML = "http://www.w3.org/1998/Math/MathML"
OUTLINE_UNITS = 100  # of an outline, to a unit of ziamath's
# Signs before which a minus is no difference, and before which a line may end.
RELATIONS = frozenset("=<>≤≥≠∈∉:")
THIN_SPACE = "0.167em"  # of a product
OPENING, SUMS, BARS = frozenset("([{,"), frozenset("+−±∓"), frozenset("|‖")
_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_STEP = re.compile(r"([MLQCZ])([^MLQCZ]*)")
# Outlines by their names in the figure, filled as formulas need them.
_OUTLINES: dict[str, str] = {}
# ziamath switches features of its one font while it sets a text.
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Formula:
    """A typeset formula as SVG elements, from x = 0 on its base line at y = 0, with its `width` and
    what it needs `above` and `below` the line, in units of the figure."""

    width: float
    above: float
    below: float
    elements: str

    def at(self, x: float, y: float, fill: str) -> str:
        """Return it as an element of a figure, from x on the base line y."""
        place = f"translate({px(x)} {px(y)})"
        return f'<g class="formula" fill="{fill}" transform="{place}">{self.elements}</g>'


def typeset(latex: str, size: float, word: Callable[[str], str] = str) -> Formula:
    r"""Set a formula at this font size; `word` translates the content of \text{…}.

    What is no LaTeX, as the formula of a user's own loss may be, is shown as it is written.
    """
    return _lines(_translated(latex, word), size, math.inf)[0]


def typeset_lines(
    latex: str, size: float, room: float, word: Callable[[str], str] = str
) -> list[Formula]:
    """Set a formula in lines of this width, broken before relations, sums and spaces on the base
    line; smaller than this size only if a piece without such a place is wider."""
    latex = _translated(latex, word)
    lines = _lines(latex, size, room)
    while (widest := max(line.width for line in lines)) > room and size > MIN_SIZE:
        size *= min(room / widest, 0.99)
        lines = _lines(latex, size, room)
    return list(lines)


def definitions_of(drawn: str) -> str:
    """Return the outlines that formulas in these elements refer to."""
    names = dict.fromkeys(re.findall(r'href="#(m\w+)"', drawn))
    return "".join(f'<path id="{name}" d="{_OUTLINES[name]}"/>' for name in names)


def _translated(latex: str, word: Callable[[str], str]) -> str:
    return _TEXT.sub(lambda found: rf"\text{{{word(found[1])}}}", latex[:LETTERS])


@functools.lru_cache(maxsize=CACHED_FORMULAS)
def _lines(latex: str, size: float, room: float) -> tuple[Formula, ...]:
    row = _row(latex)
    whole = _as_written(latex, size) if row is None else _drawn(row, size)
    if row is None or whole.width <= room:
        return (whole,)
    return tuple(_drawn(_stacked(line, size, room), size) for line in _broken(row, size, room))


def _broken(
    row: list[Element], size: float, room: float, begun: bool = False
) -> list[list[Element]]:
    """Return the elements of each line, as many pieces as fit into the room, and at least one."""
    lines: list[list[Element]] = []
    for piece in _pieces(row, begun):
        if lines and _drawn([*lines[-1], *piece], size).width <= room:
            lines[-1] += piece
        else:
            lines.append(piece[1:] if lines and piece[0].tag == "mspace" else piece)
    return lines


def _stacked(line: list[Element], size: float, room: float) -> list[Element]:
    """Return a line whose fractions have sums in several lines where it is wider than the room."""
    excess = _drawn(line, size).width - room
    if excess <= 0:
        return line
    line = copy.deepcopy(line)
    for fraction in (one for element in line for one in element.iter("mfrac")):
        inside = _drawn([fraction], size).width - excess
        for place, part in enumerate(fraction):
            row = list(part) if part.tag == "mrow" else [part]
            if _drawn(row, size).width > inside:
                fraction[place] = _table(_broken(row, size, inside, begun=True))
    return line


def _table(lines: list[list[Element]]) -> Element:
    """Return the lines below each other."""
    table = ElementTree.Element("mtable", {"columnalign": "left"})
    for line in lines:
        cell = ElementTree.SubElement(ElementTree.SubElement(table, "mtr"), "mtd")
        ElementTree.SubElement(cell, "mrow").extend(line)
    return table


def _pieces(row: list[Element], is_begun: bool) -> Iterator[list[Element]]:
    """Split a row of elements before each place where a line may begin; the first relation of each
    equation stays with what it defines, unless the row has `is_begun` behind one."""
    piece: list[Element] = []
    for element in row:
        sign = element.text or ""
        relates = element.tag == "mo" and sign in RELATIONS
        sums = element.tag == "mo" and sign in SUMS and element.get("form") != "prefix"
        spaced = element.tag == "mspace" and element.get("width") != THIN_SPACE
        if piece and (spaced or (is_begun and (relates or sums))):
            yield piece
            piece = []
        is_begun = not spaced and (is_begun or relates)
        piece.append(element)
    yield piece


@functools.lru_cache(maxsize=CACHED_FORMULAS)
def _row(latex: str) -> list[Element] | None:
    """Return the elements of the formula in MathML, prepared for ziamath; None for what it cannot
    set."""
    try:
        row = _prepared(latex)
        return row if _drawn(row, TRIAL_SIZE).elements else None
    except Exception:  # ziamath and latex2mathml raise all kinds, AssertionError among them
        return None


def _prepared(latex: str) -> list[Element]:
    from ziamath.escapes import unescape
    from ziamath.tex import tex2mml
    from ziamath.zmath import Math  # takes half a second, and only a formula needs it

    plain = unescape(tex2mml(latex)).replace(f' xmlns="{MATHML}"', "")
    row = ElementTree.fromstring(plain)[0]
    has = Math("<math><mi>x</mi></math>").font.glyphindex
    for parent in row.iter():
        before: Element | None = None
        for element in parent:
            text = element.text or ""
            if not all(map(has, text)):
                element.tag = "words"
            if text in SUMS and element.tag == "mo" and _starts_term(before):
                element.set("form", "prefix")
            if text in BARS and element.tag == "mo":
                element.attrib.setdefault("stretchy", "false")  # as in TeX, without \left
            before = element
    return list(row)


def _starts_term(before: Element | None) -> bool:
    """Return whether a term begins behind this element."""
    return before is None or (before.tag == "mo" and (before.text or "") in RELATIONS | OPENING)


def _drawn(row: list[Element], size: float) -> Formula:
    from ziamath.zmath import Math

    import lossprism.explorer.export.figure.formula_words_missing_from_font  # noqa: F401  ziamath now knows its node

    root = ElementTree.Element("math", {"display": "block"})
    ElementTree.SubElement(root, "mrow").extend(copy.deepcopy(row))
    with _LOCK:
        node = Math(root, size=size).node
    box = node.bbox
    elements = "".join(_elements(node, -box.xmin))
    return Formula(box.xmax - box.xmin, max(box.ymax, 0.0), max(-box.ymin, 0.0), elements)


def _elements(node: Mnode, right: float) -> Iterator[str]:
    """Yield the parts of a formula, moved to the right: letters by their size, each a reference to
    its outline; then lines and words."""
    from ziamath.drawable import Glyph

    letters: dict[str, list[str]] = {}
    others = ElementTree.Element("svg")
    for leaf, x, y in _leaves(node, right, 0.0):
        if not isinstance(leaf, Glyph):
            leaf.draw(x, y, others)
            continue
        path = leaf.glyph.svgpath()
        if path is None:  # a space
            continue
        outline = _outline(" ".join(one.get("d", "") for one in path.iter()))
        name = f"m{zlib.crc32(outline.encode()):x}"
        _OUTLINES[name] = outline
        scale = leaf.size / leaf.glyph.DFLT_SIZE_PT / OUTLINE_UNITS
        place = f'x="{x / scale:.0f}" y="{y / scale:.0f}"'
        letters.setdefault(f"{scale:.5g}", []).append(f'<use href="#{name}" {place}/>')
    for scaled, uses in letters.items():
        yield f'<g transform="scale({scaled})">{"".join(uses)}</g>'
    for element in others:
        element.attrib.pop("fill", None)  # that of the formula
        yield ElementTree.tostring(element, encoding="unicode")


def _leaves(node: Mnode, x: float, y: float) -> Iterator[tuple[Drawable, float, float]]:
    """Yield the letters, lines and words of a node with their places."""
    from ziamath.nodes.mnode import Mnode

    for part, (right, down) in zip(node.nodes, node.nodexy, strict=True):
        if isinstance(part, Mnode) and part.nodes:
            yield from _leaves(part, x + right, y + down)
        else:
            yield part, x + right, y + down


def _outline(d: str) -> str:
    """Return the same path in whole, relative numbers, `OUTLINE_UNITS` to one of `d`."""
    out = []
    here = start = (0, 0)
    for step, numbers in _STEP.findall(d):
        flat = [round(OUTLINE_UNITS * float(one)) for one in numbers.split()]
        points = list(zip(flat[::2], flat[1::2], strict=True))
        if step == "L" and points == [here]:
            continue
        moved = [side - at for point in points for side, at in zip(point, here, strict=True)]
        out.append(step.lower() + " ".join(map(str, moved)).replace(" -", "-"))
        here = points[-1] if points else start
        start = here if step == "M" else start
    return "".join(out)


def _as_written(latex: str, size: float) -> Formula:
    text = {"y": "0", "font-size": px(size), "font-family": MONO}
    element = ElementTree.Element("text", text)
    element.text = printable(latex)
    elements = ElementTree.tostring(element, encoding="unicode")
    return Formula(width_of(latex, size), size, size / 4, elements)
