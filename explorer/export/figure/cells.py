"""Cells of a matrix: numbers, colours and marks, and their drawing."""

import base64
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export.drawing_data_types import Shown
from lossprism.explorer.export.figure.svg_elements import Pen, attributes, cross, png, rectangle
from lossprism.explorer.export.figure.text_layout import px, width_of
from lossprism.explorer.export.matrix_thumbnails import value_range
from lossprism.explorer.export.palette import Palette, channels, ink_on, ramp_table
from lossprism.explorer.runtime.number_format import display_number, percent

# Beyond this many rows or columns the cells are one embedded image, not a rectangle each.
MAX_RECTANGLES = 64
# A cell this wide has its number written into it.
ROOM_FOR_A_NUMBER = 42.0


@dataclass(frozen=True, eq=False)
class Cells:
    """A matrix as numbers, colours and marks: `values` [rows, columns] from `least` to `largest` of
    a `ramp` ("sequential", "diverging", "mask"), hatched where `masked`.

    `facet` is the part of a step that the values show, and `called` the key of its name; `two_tone`
    values are yes or no, `of_shares` are written in percent. The colour of a value is that of its
    root of degree `root`: 3 for weights, so that a hundredth of all differs from nothing.
    """

    palette: Palette
    values: np.ndarray
    masked: np.ndarray
    ramp: str
    least: float
    largest: float
    called: str
    facet: str = "value"
    two_tone: bool = False
    of_shares: bool = False
    root: int = 1

    @property
    def rows(self) -> int:
        return self.values.shape[0]

    @property
    def columns(self) -> int:
        return self.values.shape[1]

    @cached_property
    def absent(self) -> np.ndarray:
        return np.isneginf(self.values)

    @cached_property
    def broken(self) -> np.ndarray:
        return np.isnan(self.values) | np.isposinf(self.values)

    @property
    def stops(self) -> tuple[str, ...]:
        return getattr(self.palette, self.ramp)

    def value_at(self, part: float) -> float:
        """Return the value whose colour is at this part, from 0 to 1, of the ramp."""
        return self.least + part**self.root * (self.largest - self.least)

    def colours(self) -> np.ndarray:
        """[rows, columns, 4] bytes: the ramp, the colour of broken cells, clear where absent."""
        reach = 1 / (self.largest - self.least) if self.largest > self.least else 0.0
        finite = np.where(np.isfinite(self.values), self.values.astype(np.float64), self.least)
        part = (finite - self.least) * reach
        shade = 255 * (np.cbrt(part) if self.root == 3 else part) + 0.5
        painted = ramp_table(self.stops)[shade.clip(0, 255).astype(int)]
        painted[self.broken] = channels(self.palette.broken)
        alpha = np.where(self.absent, 0, 255)[..., None]
        return np.concatenate([painted, alpha], axis=2).astype(np.uint8)

    def number(self, row: int, column: int) -> str:
        value = float(self.values[row, column])
        return percent(value) if self.of_shares else display_number(value, 3)


def cells_of(exploration: Exploration, shown: Shown, palette: Palette) -> Cells:
    """Return the chosen facet of the chosen step, from `shown` of the picture."""

    def unpacked(text: str, kind: type) -> np.ndarray:
        flat = np.frombuffer(base64.b64decode(text), dtype=kind)
        return flat.reshape(shown.rows, shown.columns)

    wanted = exploration.scenario.view.facet
    facet = wanted if wanted == "value" or getattr(shown, wanted) is not None else "value"
    mask = None if shown.mask is None else unpacked(shown.mask, np.uint8)
    two_tone = facet == "mask" or shown.boolean
    if facet == "mask" and mask is not None:
        values = mask.astype(np.float32)
    else:
        values = unpacked(getattr(shown, facet), np.float32)
    hatched = mask is not None and shown.hatched and not two_tone
    masked = mask == 0 if hatched else np.zeros(values.shape, dtype=bool)
    # As on the page: the meaning of a quantity chooses its colours, not its values.
    signed = facet == "gradient" or (facet == "value" and shown.signed)
    is_weight = facet == "weight" and not two_tone
    least, largest = 0.0, 1.0
    if not (two_tone or is_weight):
        chosen = exploration.scenario.view.colour_range
        ends = values[np.isfinite(values)] if chosen is None else np.array(chosen)
        least, largest = value_range(torch.from_numpy(ends), signed)
    ramp = "mask" if two_tone else "diverging" if signed else "sequential"
    called = f"facet.{facet}"
    scale = (palette, values, masked, ramp, least, largest)
    return Cells(*scale, called, facet, two_tone, is_weight, 3 if is_weight else 1)


def drawn_cells(
    pen: Pen, cells: Cells, box: tuple[float, float, float, float], most: int | None = None
) -> list[str]:
    """Draw the cells into a box (x, y, width, height): a rectangle each, or, beyond so many rows or
    columns (by default `MAX_RECTANGLES`), one image of all."""
    x, y, w, h = box
    if max(cells.rows, cells.columns) > (MAX_RECTANGLES if most is None else most):
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
            number, size = cells.number(row, column), min(14.0, wide / 4)
            size *= min(1.0, (wide - 4) / width_of(number, size))
            kind = "broken" if broken else "cell-number"
            middle = left + wide / 2, top + tall / 2 + size * 0.35
            if broken or size >= pen.size.smallest:
                style = {"size": size, "fill": ink, "anchor": "middle", "kind": kind}
                numbers.append(pen.text(*middle, number, **style))
        elif broken:
            marks.append(cross(left, top, wide, tall, ink))
    crisp = '<g shape-rendering="crispEdges">'
    return [crisp, *painted, *hatched, "</g>", *marks, *numbers]


def _cells_as_image(cells: Cells, x: float, y: float, w: float, h: float) -> list[str]:
    """Draw colours as one image; the hatch shows through a second one, so that it stays fine."""

    def image(pixels: np.ndarray, kind: str) -> str:
        image = {
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
        return f"<image{attributes(image)}/>"

    out = [image(cells.colours(), "cells")]
    if cells.masked.any():
        out.append('<mask id="lp-masked">')
        out.append(image(np.where(cells.masked, 255, 0).astype(np.uint8), "masked"))
        out.append("</mask>")
        out.append(rectangle(x, y, w, h, fill="url(#lp-hatch)", mask="url(#lp-masked)"))
    return out
