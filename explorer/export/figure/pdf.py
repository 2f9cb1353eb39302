"""Figures as PDF: the SVG's own drawing, as lines, areas and text in embedded fonts.

It supports only SVG written by `svg_elements.py`.
"""

import base64
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from lossprism.explorer.export.figure.appearance import UNITS_PER_INCH
from lossprism.explorer.export.figure.font_files import FigureFile, Fonts
from lossprism.explorer.export.palette import channels, ramp_table

POINTS_PER_INCH, PIXELS_PER_INCH = 72, 96
HATCH_GAP = 6  # units between two lines
RAMP_STRIPES = 64  # of a ramp
CELLS_OVERLAP = 0.35  # units: else a reader would see the page between two cells
NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")
PATH_STEP = re.compile("([mlqcz])([^mlqcz]*)")  # of an outline
SVG_TAG = "{http://www.w3.org/2000/svg}"


def as_pdf(svg: str) -> FigureFile:
    """Return the figure on a page of its own size; letters that no font has are left out."""
    from fpdf import FPDF  # takes its time, and only a PDF needs it

    tree = ElementTree.fromstring(svg)
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    units = UNITS_PER_INCH if tree.attrib["width"].endswith("in") else PIXELS_PER_INCH
    pdf = FPDF(unit=POINTS_PER_INCH / units, format=(width, height))
    pdf.set_auto_page_break(False)
    pdf.set_margin(0)
    pdf.set_title(tree.findtext(f"{SVG_TAG}title") or "")
    pdf.set_creator("LossPrism")
    pdf.add_page()
    sheet = _PageDrawing(pdf, tree)
    sheet.draw(tree)
    return FigureFile(bytes(pdf.output()), "".join(sheet.fonts.undrawn))


class _PageDrawing:
    """Draws elements on the page, in document order."""

    def __init__(self, pdf: Any, tree: ElementTree.Element) -> None:
        self.pdf, self.fonts, self.tree = pdf, Fonts(pdf), tree
        stroke = tree.find(f".//{SVG_TAG}pattern/{SVG_TAG}path")
        self.hatch = {} if stroke is None else stroke.attrib

    def draw(self, parent: Iterable[ElementTree.Element]) -> None:
        for element in parent:
            name = element.tag.removeprefix(SVG_TAG)
            if element.get("class") == "formula":
                self._formula(element)
            elif name == "g":
                self.draw(element)
            elif name == "text":
                self._text(element)
            elif name in ("rect", "line", "path", "circle", "image"):
                self._shape(name, element.attrib)

    def _shape(self, name: str, of: dict[str, str]) -> None:
        fill, stroke = of.get("fill", "none"), of.get("stroke", "none")
        if fill == "url(#lp-hatch)":
            self._hatch(of)
        elif fill == "url(#lp-ramp)":
            self._ramp(of)
        filled, drawn = fill.startswith("#"), stroke.startswith("#")
        if filled:
            self.pdf.set_fill_color(*channels(fill))
        if drawn:
            self.pdf.set_draw_color(*channels(stroke))
        opacity = float(of.get("opacity", 1))
        dash, gap, *_ = [*map(float, NUMBER.findall(of.get("stroke-dasharray", ""))), 0, 0]
        with self.pdf.local_context(fill_opacity=opacity, stroke_opacity=opacity):
            self.pdf.set_line_width(float(of.get("stroke-width", 1)))
            self.pdf.set_dash_pattern(dash, gap)
            style = {(True, True): "DF", (True, False): "F", (False, True): "D"}
            if how := style.get((filled, drawn)):
                self._outline(name, of, how)
        if name == "image" and of.get("class") != "masked":
            self._image(of)

    def _outline(self, name: str, of: dict[str, str], how: str) -> None:
        def numbers(*names: str) -> list[float]:
            return [float(of[name]) for name in names]

        if name == "rect":
            x, y, width, height = numbers("x", "y", "width", "height")
            more = CELLS_OVERLAP if of.get("class") == "cell" else 0.0
            self.pdf.rect(x, y, width + more, height + more, style=how)
        elif name == "line":
            self.pdf.line(*numbers("x1", "y1", "x2", "y2"))
        elif name == "circle":
            self.pdf.circle(*numbers("cx", "cy", "r"), style=how)
        else:
            for part in re.split("[Mm]", of["d"]):
                flat = list(map(float, NUMBER.findall(part)))
                points = list(zip(flat[::2], flat[1::2], strict=True))
                if points:
                    self.pdf.polyline(points, polygon=part.rstrip().endswith("Z"), style=how)

    def _formula(self, formula: ElementTree.Element) -> None:
        """Draw a formula: letters of one scale as one area, its lines, and its words."""
        fill = formula.attrib["fill"]
        left, top = map(float, NUMBER.findall(formula.attrib["transform"]))
        for element in formula:
            if element.tag == f"{SVG_TAG}g":
                self._letters(element, left, top, fill)
                continue
            x, y = float(element.attrib["x"]) + left, float(element.attrib["y"]) + top
            more = {**element.attrib, "x": str(x), "y": str(y), "fill": fill}
            placed = ElementTree.Element(element.tag, more)
            placed.text = element.text
            self.draw([placed])

    def _letters(self, group: ElementTree.Element, left: float, top: float, fill: str) -> None:
        scale = float(NUMBER.findall(group.attrib["transform"])[0])
        with self.pdf.new_path() as path:
            path.style.fill_color, path.style.stroke_color = fill, None
            path.style.paint_rule = "fill_nonzero"
            for use in group:
                x, y = (float(use.attrib[side]) * scale for side in "xy")
                self._letter(path, use.attrib["href"], left + x, top + y, scale)

    def _letter(self, path: Any, name: str, x: float, y: float, scale: float) -> None:
        """Add the outline of this name, with its origin at (x, y), to a path."""
        outline = self.tree.find(f".//{SVG_TAG}path[@id='{name[1:]}']")
        assert outline is not None
        here = start = np.array([x, y])
        for step, numbers in PATH_STEP.findall(outline.attrib["d"]):
            points = here + scale * np.reshape([*map(float, NUMBER.findall(numbers))], (-1, 2))
            corners = points.ravel().tolist()
            if step == "m":
                path.move_to(*corners)
                start = points[-1]
            elif step == "l":
                path.line_to(*corners)
            elif step == "q":
                path.quadratic_curve_to(*corners)
            elif step == "c":
                path.curve_to(*corners)
            else:
                path.close()
            here = points[-1] if len(points) else start

    def _hatch(self, of: dict[str, str]) -> None:
        """Draw lines from lower left to upper right, at a constant distance over the whole
        page."""
        self.pdf.set_draw_color(*channels(self.hatch["stroke"]))
        with self.pdf.local_context(stroke_opacity=float(self.hatch["stroke-opacity"])):
            self.pdf.set_line_width(1)
            for x, y, width, height in self._hatched(of):
                first = -(-(x + y) // HATCH_GAP) * HATCH_GAP
                for at in np.arange(first, x + y + width + height, HATCH_GAP):
                    left, right = max(x, at - y - height), min(x + width, at - y)
                    self.pdf.line(left, at - left, right, at - right)

    def _hatched(self, of: dict[str, str]) -> Iterator[tuple[float, float, float, float]]:
        """Yield the area itself, or, with a mask of cells, each run of them."""
        x, y, width, height = (float(of[name]) for name in ("x", "y", "width", "height"))
        if "mask" not in of:
            yield x, y, width, height
            return
        image = self.tree.find(f".//{SVG_TAG}mask/{SVG_TAG}image")
        assert image is not None
        cells = _grey_pixels(image.attrib) > 127
        wide, tall = width / cells.shape[1], height / cells.shape[0]
        for row, line in enumerate(cells):
            ends = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]])))
            for start, end in ends.reshape(-1, 2):
                yield x + start * wide, y + row * tall, (end - start) * wide, tall

    def _ramp(self, of: dict[str, str]) -> None:
        x, y, width, height = (float(of[name]) for name in ("x", "y", "width", "height"))
        stops = [stop.attrib["stop-color"] for stop in self.tree.iter(f"{SVG_TAG}stop")]
        colours = ramp_table(stops)[:: 256 // RAMP_STRIPES]
        for place, colour in enumerate(colours.tolist()):  # each reaches down: no gap is seen
            self.pdf.set_fill_color(*colour)
            top = height * place / RAMP_STRIPES
            self.pdf.rect(x, y + top, width, height - top, style="F")

    def _image(self, of: dict[str, str]) -> None:
        x, y, width, height = (float(of[name]) for name in ("x", "y", "width", "height"))
        self.pdf.image(io.BytesIO(_image_bytes(of)), x, y, width, height)

    def _text(self, element: ElementTree.Element) -> None:
        of = element.attrib
        size, placed, across = float(of["font-size"]) * self.pdf.k, [], 0.0
        for font, piece in self.fonts.runs(element.text or "", style_of(of)):
            self.pdf.set_font(font, size=size)
            placed.append((font, piece, across))
            across += self.pdf.get_string_width(piece)
        shift = {"middle": across / 2, "end": across}.get(of.get("text-anchor", ""), 0.0)
        x, y = float(of["x"]) - shift, float(of["y"])
        turn = float((NUMBER.findall(of.get("transform", "")) or [0])[0])
        self.pdf.set_text_color(*channels(of["fill"]))
        with self.pdf.rotation(-turn, float(of["x"]), y):
            for font, piece, right in placed:
                self.pdf.set_font(font, size=size)
                self.pdf.text(x + right, y, piece)


def style_of(of: dict[str, str]) -> str:
    """Return the style of a text, one of `font_files.BUNDLED`, by its element's attributes."""
    family = of.get("font-family", "")
    if "Mono" in family:
        return "mono"
    if "Math" in family:
        return "math"
    return "bold" if int(of.get("font-weight", 400)) >= 600 else "sans"


def _image_bytes(of: dict[str, str]) -> bytes:
    return base64.b64decode(of["href"].partition(",")[2])


def _grey_pixels(of: dict[str, str]) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(_image_bytes(of))).convert("L"))
