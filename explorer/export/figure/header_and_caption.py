"""The document around a figure: the loss and its formula above, the caption below."""

from xml.sax.saxutils import escape

from lossprism.explorer.export.caption import FigureText
from lossprism.explorer.export.figure.appearance import FONTS, MONO
from lossprism.explorer.export.figure.formula import definitions_of
from lossprism.explorer.export.figure.svg_elements import Pen, attributes, line, rectangle
from lossprism.explorer.export.figure.text_layout import (
    clean,
    clipped,
    printable,
    px,
    width_of,
    wrapped,
)

# Units: the size of a formula, what is above it, between its lines, and below the base line of a
# letter.
FORMULA, ABOVE_FORMULA, LINE_GAP, DESCENT = 17.0, 14.0, 6.0, 4.0


def header(
    legend: FigureText, pen: Pen, width: float, latex: str = "", step: str = ""
) -> tuple[list[str], float]:
    """Draw the loss with its formula, then the step; return the end."""
    if pen.picture_only:
        return [], pen.margin
    room = width - 2 * pen.margin
    title = clean(legend.title)
    size = pen.fit(min(25.0, 25.0 * room / max(width_of(title, 26), 1)))
    y = pen.margin + 18
    title = clipped(title, room, size)
    out, end = [], y
    if legend.formula:
        latex_of_loss = rf"\mathcal L = {legend.formula}"
        formula = pen.formula(latex_of_loss, FORMULA)
        if formula.width <= room - width_of(title, size * 1.06) - 30:
            y = max(y, pen.margin + formula.above)
            out.append(formula.at(width - pen.margin - formula.width, y, pen.palette.ink))
            end = y + max(formula.below - DESCENT, 0)
        else:
            out, _, end = _formula(pen, latex_of_loss, room, y)
    out.insert(0, pen.text(pen.margin, y, title, size=size, weight=700, kind="title"))
    if step:
        base = end + 31
        if latex:
            space = room - width_of(step, 14.5) - 20
            drawn, base, end = _formula(pen, latex, space, end)
            out += drawn
        style = {"size": 12.5, "fill": pen.palette.faint, "anchor": "end", "font": MONO}
        out.append(pen.text(width - pen.margin, base, step, kind="step", **style))
        end = max(base, end)
    return out, end + 24


def _formula(pen: Pen, latex: str, room: float, y: float) -> tuple[list[str], float, float]:
    """Draw a formula below the base line `y`, in several lines if it needs more than the room;
    return the base lines of its first and last line, the last lower by what hangs deeper than a
    letter."""
    lines = pen.formula_lines(latex, FORMULA, room)
    out, bases = [], []
    y += ABOVE_FORMULA
    for one in lines:
        y += one.above
        bases.append(y)
        out.append(one.at(pen.margin, y, pen.palette.ink))
        y += one.below + LINE_GAP
    return out, bases[0], max(bases[-1], y - LINE_GAP - DESCENT)


def document(legend: FigureText, pen: Pen, width: float, parts: list[str], y: float) -> str:
    """Return the complete document: the drawing, with the caption below."""
    height = y + max(pen.margin - 6, 0)
    if not pen.picture_only:
        parts, height = _with_caption(legend, pen, width, parts, y)
    palette, inches = pen.palette, pen.size.inches
    colour, opacity = palette.hatch[:7], f"{int(palette.hatch[7:], 16) / 255:.2f}"
    hatch = (
        '<pattern id="lp-hatch" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M-1.5 1.5L1.5 -1.5M0 6L6 0M4.5 7.5L7.5 4.5" '
        f'stroke="{colour}" stroke-opacity="{opacity}"/></pattern>'
    )
    head = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {px(width)} {px(height)}",
        "width": f"{inches:g}in" if inches else px(width),
        "height": f"{inches * height / width:.4f}in" if inches else px(height),
        "role": "img",
        "font-family": FONTS,
        "xml:lang": pen.language,
    }
    return "\n".join(
        [
            f"<svg{attributes(head)}>",
            f"<title>{escape(clean(legend.title))}</title>",
            f"<desc>{escape(printable('; '.join(legend.caption)))}</desc>",
            f"<defs>{hatch}{definitions_of(''.join(parts))}</defs>",
            rectangle(0, 0, width, height, fill=palette.sheet),
            *parts,
            "</svg>",
            "",
        ]
    )


def _with_caption(
    legend: FigureText, pen: Pen, width: float, parts: list[str], y: float
) -> tuple[list[str], float]:
    """Return the parts with the caption below `y`, and the total height."""
    palette = pen.palette
    y += 10
    parts = [*parts, line(pen.margin, y, width - pen.margin, y, palette.line)]
    y += 22
    for place, sentence in enumerate(legend.caption):
        for text in wrapped(sentence, width - 2 * pen.margin - 80, pen.fit(13)):
            style = {"size": 13.0, "fill": palette.faint if place else palette.ink}
            parts.append(pen.text(pen.margin, y, text, weight=0 if place else 600, **style))
            y += 19
    end = {"size": 11.5, "fill": palette.faint, "anchor": "end"}
    parts.append(pen.text(width - pen.margin, y - 19, "LossPrism", **end))
    return parts, y - 19 + max(pen.margin - 6, 6)
