"""The cells of a matrix: numbers, colours and marks, and what is drawn of them."""

from __future__ import annotations

import base64

import numpy as np
import torch

from explorer.core.explore import Exploration
from explorer.export.figure.svg import (
    Palette,
    Pen,
    attributes,
    channels,
    cross,
    ink_on,
    png,
    px,
    ramp_table,
    rectangle,
    width_of,
)
from explorer.export.picture import value_range
from explorer.runtime.numbers import display_number, percent

# Beyond this many rows or columns the cells are one embedded image, not a rectangle each.
MOST_RECTANGLES = 64
# A cell this wide has its number written into it.
ROOM_FOR_A_NUMBER = 42.0


class Cells:
    """The chosen facet of the chosen step as numbers, colours and marks."""

    def __init__(self, exploration: Exploration, shown: dict, palette: Palette) -> None:
        self.palette = palette
        self.rows, self.columns = shown["rows"], shown["columns"]
        self.boolean = shown["boolean"]
        wanted = exploration.scenario.view.facet
        self.facet = wanted if wanted == "value" or shown[wanted] is not None else "value"
        mask = None if shown["mask"] is None else self._unpacked(shown["mask"], np.uint8)
        self.two_tone = self.facet == "mask" or self.boolean
        self.values = (
            mask.astype(np.float32)
            if self.facet == "mask" and mask is not None
            else self._unpacked(shown[self.facet], np.float32)
        )
        hatched = mask is not None and shown["hatched"] and not self.two_tone
        self.masked = mask == 0 if hatched else np.zeros(self.values.shape, dtype=bool)
        self.absent = np.isneginf(self.values)
        self.broken = np.isnan(self.values) | np.isposinf(self.values)
        # As on the page: the meaning of a quantity chooses its colours, not its values.
        signed = self.facet == "gradient" or (self.facet == "value" and shown["signed"])
        self.least, self.largest = (0.0, 1.0) if self.two_tone else self._range(signed)
        self.ramp = "mask" if self.two_tone else "diverging" if signed else "sequential"
        self.stops = getattr(palette, self.ramp)

    def _unpacked(self, text: str, kind: type) -> np.ndarray:
        flat = np.frombuffer(base64.b64decode(text), dtype=kind)
        return flat.reshape(self.rows, self.columns)

    def _range(self, signed: bool) -> tuple[float, float]:
        finite = torch.from_numpy(self.values[np.isfinite(self.values)])
        least, largest = value_range(finite, signed)
        return (0.0 if self.facet == "weight" else least), largest

    def colours(self) -> np.ndarray:
        """[rows, columns, 4] bytes: the ramp, the colour of broken cells, clear where absent."""
        factor = 255 / (self.largest - self.least) if self.largest > self.least else 0.0
        finite = np.where(np.isfinite(self.values), self.values.astype(np.float64), self.least)
        shade = (finite - self.least) * factor + 0.5
        painted = ramp_table(self.stops)[shade.clip(0, 255).astype(int)]
        painted[self.broken] = channels(self.palette.broken)
        alpha = np.where(self.absent, 0, 255)[..., None]
        return np.concatenate([painted, alpha], axis=2).astype(np.uint8)

    def number(self, row: int, column: int) -> str:
        value = float(self.values[row, column])
        return percent(value) if self.facet == "weight" else display_number(value, 3)


def drawn_cells(pen: Pen, cells: Cells, x: float, y: float, w: float, h: float) -> list[str]:
    if max(cells.rows, cells.columns) > MOST_RECTANGLES:
        return _cells_as_image(cells, x, y, w, h)
    colours = cells.colours()
    wide, tall = w / cells.columns, h / cells.rows
    painted, hatched, marks, numbers = [], [], [], []
    for row, column in np.ndindex(cells.rows, cells.columns):
        left, top = x + column * wide, y + row * tall
        *rgb, alpha = (int(part) for part in colours[row, column])
        colour = "#{:02x}{:02x}{:02x}".format(*rgb) if alpha else "none"
        painted.append(rectangle(left, top, wide, tall, class_="cell", fill=colour))
        masked = cells.masked[row, column]
        if masked:
            hatched.append(rectangle(left, top, wide, tall, class_="masked", fill="url(#lp-hatch)"))
        ink = pen.palette.ink if not alpha else ink_on(rgb)
        broken = cells.broken[row, column]
        roomy = wide >= ROOM_FOR_A_NUMBER and tall >= 20
        if roomy and not masked and not cells.two_tone:
            said, size = cells.number(row, column), min(14.0, wide / 4)
            size *= min(1.0, (wide - 4) / width_of(said, size))
            kind = "broken" if broken else "cell-number"
            middle = left + wide / 2, top + tall / 2 + size * 0.35
            numbers.append(pen.text(*middle, said, size=size, fill=ink, anchor="middle", kind=kind))
        elif broken:
            marks.append(cross(left, top, wide, tall, ink))
    crisp = '<g shape-rendering="crispEdges">'
    return [crisp, *painted, *hatched, "</g>", *marks, *numbers]


def _cells_as_image(cells: Cells, x: float, y: float, w: float, h: float) -> list[str]:
    """Colours as one image; the hatch shows through a second one, so that it stays fine."""

    def image(pixels: np.ndarray, kind: str) -> str:
        said = {
            "class": kind,
            "x": px(x),
            "y": px(y),
            "width": px(w),
            "height": px(h),
            "preserveAspectRatio": "none",
            "style": "image-rendering:pixelated",
            "image-rendering": "optimizeSpeed",
            "href": "data:image/png;base64," + base64.b64encode(png(pixels)).decode(),
        }
        return f"<image{attributes(said)}/>"

    out = [image(cells.colours(), "cells")]
    if cells.masked.any():
        out.append('<mask id="lp-masked">')
        out.append(image(np.where(cells.masked, 255, 0).astype(np.uint8), "masked"))
        out.append("</mask>")
        out.append(rectangle(x, y, w, h, fill="url(#lp-hatch)", mask="url(#lp-masked)"))
    return out
