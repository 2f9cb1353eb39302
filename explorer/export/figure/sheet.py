"""The sheet a picture is drawn on: the loss and its formula above, the caption below."""

from __future__ import annotations

from xml.sax.saxutils import escape

from explorer.export.caption import Legend
from explorer.export.figure.svg import (
    MARGIN,
    MONO,
    Pen,
    attributes,
    clean,
    fonts_of,
    formula_width,
    line,
    printable,
    px,
    rectangle,
    width_of,
    wrapped,
)


def head(
    told: Legend, pen: Pen, width: float, latex: str = "", step: str = ""
) -> tuple[list[str], float]:
    """The loss with its formula, then the step; and where what follows may begin."""
    room = width - 2 * MARGIN
    title = clean(told.title)
    size = min(25.0, 25.0 * room / max(width_of(title, 26), 1))
    y = MARGIN + 18
    out = [pen.text(MARGIN, y, title, size=size, weight=700, kind="title")]
    if told.formula:
        formula = pen.formula(r"\mathcal L = " + told.formula)
        left = room - width_of(title, size * 1.06) - 30
        if formula_width(formula, 17) <= left:
            out.append(pen.text(width - MARGIN, y, formula, size=17, anchor="end"))
        else:
            y += 29
            fitted = min(17.0, 17.0 * room / formula_width(formula, 17))
            out.append(pen.text(MARGIN, y, formula, size=fitted))
    if step:
        y += 31
        out.append(
            pen.text(
                width - MARGIN,
                y,
                step,
                size=12.5,
                fill=pen.palette.faint,
                anchor="end",
                font=MONO,
                kind="step",
            )
        )
        if latex:
            second = pen.formula(latex)
            space = room - width_of(step, 14.5) - 20
            fitted = min(17.0, 17.0 * space / formula_width(second, 17))
            out.append(pen.text(MARGIN, y, second, size=fitted))
    return out, y + 24


def document(told: Legend, pen: Pen, width: float, parts: list[str], y: float) -> str:
    """The whole document: what was drawn, with the caption under it."""
    palette = pen.palette
    y += 10
    parts = [*parts, line(MARGIN, y, width - MARGIN, y, palette.line)]
    y += 22
    for place, sentence in enumerate(told.caption):
        for text in wrapped(sentence, width - 2 * MARGIN - 80, 13):
            style = {"size": 13.0, "fill": palette.faint if place else palette.ink}
            parts.append(pen.text(MARGIN, y, text, weight=0 if place else 600, **style))
            y += 19
    end = {"size": 11.5, "fill": palette.faint, "anchor": "end"}
    parts.append(pen.text(width - MARGIN, y - 19, "LossPrism", **end))
    height = y - 19 + MARGIN - 6
    colour, opacity = palette.hatch[:7], f"{int(palette.hatch[7:], 16) / 255:.2f}"
    hatch = (
        '<pattern id="lp-hatch" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M-1.5 1.5L1.5 -1.5M0 6L6 0M4.5 7.5L7.5 4.5" '
        f'stroke="{colour}" stroke-opacity="{opacity}"/></pattern>'
    )
    head = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {px(width)} {px(height)}",
        "width": px(width),
        "height": px(height),
        "role": "img",
        "font-family": fonts_of(pen.language),
        "xml:lang": pen.language,
    }
    return "\n".join(
        [
            f"<svg{attributes(head)}>",
            f"<title>{escape(clean(told.title))}</title>",
            f"<desc>{escape(printable('; '.join(told.caption)))}</desc>",
            f"<defs>{hatch}</defs>",
            rectangle(0, 0, width, height, fill=palette.sheet),
            *parts,
            "</svg>",
            "",
        ]
    )
