"""Words of a formula whose letters its font lacks, such as Chinese ones: a node of ziamath that
keeps them as text, in a font of the reader."""

from typing import Any
from xml.etree import ElementTree

from ziafont.fonttypes import BBox
from ziamath.nodes.mnode import Mnode

from lossprism.explorer.export.figure.appearance import MATH
from lossprism.explorer.export.figure.text_layout import width_of

TAG = "words"  # ziamath finds the class by it
ABOVE, BELOW = 0.9, 0.2  # of a letter, as parts of its size


class Words(Mnode, tag=TAG):
    """A text of its element, as wide as its letters are about."""

    def __init__(self, element: ElementTree.Element, parent: Mnode, **more: Any) -> None:
        super().__init__(element, parent, **more)
        self.string = element.text or ""
        size = self.glyphsize
        self.bbox = BBox(0, width_of(self.string, size), -BELOW * size, ABOVE * size)

    def draw(self, x: float, y: float, svg: ElementTree.Element) -> tuple[float, float]:
        place = {"x": f"{x:.2f}", "y": f"{y:.2f}", "font-size": f"{self.glyphsize:.2f}"}
        text = ElementTree.SubElement(svg, "text", {**place, "font-family": MATH})
        text.text = self.string
        return x + self.bbox.xmax, y
