"""The LaTeX of one operation of two aligned formulas, made of that of its operands."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from lossprism.explorer.lab.compare.operation_alignment import Inner, Way
from lossprism.explorer.lab.compare.operation_graph import CONSTANT, MASKED, PARAMETER, Node

Letters = tuple[str, ...]
# How tightly a part holds together: a relation, a sum, a product, a part that needs no brackets.
RELATION, SUM, PRODUCT, WHOLE = range(4)
_SIGNS = {
    "add": (SUM, " + "),
    "subtract": (SUM, " - "),
    "multiply": (PRODUCT, r" \cdot "),
    "matrix_product": (PRODUCT, " "),
    "and": (RELATION, r" \land "),
    "or": (RELATION, r" \lor "),
    "less": (RELATION, " < "),
    "at_most": (RELATION, r" \le "),
    "equal": (RELATION, " = "),
    "unequal": (RELATION, r" \ne "),
}
_OVER = {
    "sum": r"\sum",
    "mean": r"\operatorname{mean}",
    "max": r"\max",
    "min": r"\min",
    "logsumexp": r"\log \sum",
    "any": r"\exists",
    "all": r"\forall",
}
_FENCED = {
    "abs": (r"\bigl|", r"\bigr|"),
    "norm": (r"\bigl\lVert", r"\bigr\rVert"),
    "relu": (r"\bigl[", r"\bigr]_+"),
    "softplus": (r"\log\bigl(1 + e^{", r"}\bigr)"),
    "exp": ("e^{", "}"),
    "log": (r"\log\bigl(", r"\bigr)"),
    "cos": (r"\cos\bigl(", r"\bigr)"),
    "sin": (r"\sin\bigl(", r"\bigr)"),
    "sine": (r"\sin\arccos\bigl(", r"\bigr)"),
    "cosine": (r"\cos\bigl(", r"\bigr)"),
    "cosine_matrix": (r"\cos\bigl(", r"\bigr)"),
    "similarity_matrix": (r"\mathrm{sim}\bigl(", r"\bigr)"),
    "dot_matrix": (r"\bigl\langle", r"\bigr\rangle"),
    "distance_matrix": (r"d\bigl(", r"\bigr)"),
    "distance": (r"d\bigl(", r"\bigr)"),
    "log_softmax": (r"\log\,\mathrm{softmax}\bigl(", r"\bigr)"),
    "log2": (r"\log_2\bigl(", r"\bigr)"),
    "sqrt": (r"\sqrt{", "}"),
    "clamp_min": (r"\max\bigl(", r"\bigr)"),
    "clamp_max": (r"\min\bigl(", r"\bigr)"),
    "detach": (r"\mathrm{sg}\bigl(", r"\bigr)"),
}
_BY_ROWS_AND_COLUMNS = {"cosine_matrix", "similarity_matrix", "dot_matrix", "distance_matrix"}


class FormulaWriter(Protocol):
    """The part of the formula that an operation needs: its operands and their marks."""

    of: dict[int, int]
    partner: dict[int, Node]
    met: dict[tuple[int, int], tuple[Way, Inner]]

    def pair(self, first: Node, second: Node, letters: Letters) -> tuple[str, int]: ...

    def alone(self, node: Node, letters: Letters, ink: str) -> tuple[str, int]: ...

    def is_one(self, first: Node, second: Node) -> bool: ...

    def by_name(self, node: Node) -> bool: ...

    def own_ink(self, node: Node) -> str: ...

    def inked(self, node: Node, text: str, ink: str = "") -> str: ...


@dataclass(frozen=True, eq=False)
class At:
    """An operation that is being written."""

    page: FormulaWriter
    node: Node
    over: Mapping[int, Node]
    letters: Letters
    ink: str

    @property
    def slots(self) -> dict[str, Node]:
        return dict(self.node.slots)

    def part(self, place: str, letters: Letters | None = None) -> tuple[str, int]:
        child = self.slots[place]
        two = self.over.get(id(child))
        at = self.letters if letters is None else letters
        if two is not None:
            return self.page.pair(child, two, at)
        return self.page.alone(child, at, self.ink or self.page.own_ink(child))

    def operand(self, place: str, level: int = RELATION, letters: Letters | None = None) -> str:
        """An operand, in brackets where it would come apart."""
        text, own = self.part(place, letters)
        return text if own >= level else rf"\bigl({text}\bigr)"

    def added(self, place: str) -> str:
        """An operand that only the other side of this one operation has."""
        two = self.page.partner.get(id(self.node)) if not self.ink else None
        slot = dict(two.slots).get(place) if two is not None else None
        if slot is None or place in self.slots:
            return ""
        return self.page.alone(slot, self.letters, self.page.own_ink(slot))[0]


def write(at: At) -> tuple[str, int]:
    operation = at.node.operation
    if operation in _SIGNS:
        level, sign = _SIGNS[operation]
        right = min(level + 1, WHOLE) if operation == "subtract" else level
        return at.operand("left", level) + sign + at.operand("right", right), level
    if operation in _OVER:
        return _summed(at)
    if operation in _FENCED:
        return _fenced(at)
    match operation:
        case "divide":
            return rf"\frac{{{at.operand('left')}}}{{{at.operand('right')}}}", WHOLE
        case "power":
            return f"{at.operand('left', WHOLE)}^{{{at.operand('right')}}}", WHOLE
        case "square":
            return f"{at.operand('0', WHOLE)}^2", WHOLE
        case "negative":
            return f"-{at.operand('of', PRODUCT)}", PRODUCT
        case "not":
            return rf"\lnot {at.operand('of', WHOLE)}", PRODUCT
        case "count":
            return rf"\#{at.operand('of', WHOLE)}", WHOLE
        case "scaled":
            return rf"{at.operand('by')}\,{at.operand('of', PRODUCT)}", PRODUCT
        case "masked":
            body, where = at.operand("of"), at.operand("where")
            filled = "" if _is_left_out(at.slots["other"]) else f",\\ {at.operand('other')}"
            return rf"{body}\ \text{{where}}\ {where}{filled}", RELATION
        case "eye":
            return rf"\mathbf{{1}}_{{{' = '.join(at.letters[:2] or ('i', 'j'))}}}", WHOLE
        case "expm1":
            return rf"e^{{{at.operand('0')}}} - 1", SUM
        case "log_add_exp":
            return rf"\log\bigl(e^{{{at.operand('0')}}} + e^{{{at.operand('1')}}}\bigr)", WHOLE
        case "at":
            inner = iter(at.operand(place) for place in at.slots if place != "of")
            index = re.sub("·", lambda _: next(inner), at.node.says)
            return rf"{at.operand('of', WHOLE)}\bigl[{index}\bigr]", WHOLE
        case "code":
            return rf"\mathtt{{{plain_text(at.node.says)}}}", WHOLE
    operands = [at.operand(place) for place in at.slots]
    if operation in ("cat", "stack"):
        return r"\bigl[" + r";\, ".join(operands) + r"\bigr]", WHOLE
    return rf"\operatorname{{{plain_text(operation)}}}({', '.join(operands)})", WHOLE


def _fenced(at: At) -> tuple[str, int]:
    left, right = _FENCED[at.node.operation]
    shown = [
        place
        for place, child in at.slots.items()
        if place != "over" and not _is_option(child) and not _is_choice_of_words(child)
    ]
    crossed = at.node.operation in _BY_ROWS_AND_COLUMNS and len(at.letters) == len(shown) == 2
    letters = [at.letters[n : n + 1] if crossed else at.letters for n in range(len(shown))]
    operands = [at.operand(place, letters=own) for place, own in zip(shown, letters, strict=True)]
    return left + ", ".join(operands) + right, WHOLE


def _summed(at: At) -> tuple[str, int]:
    """Write a sum, mean or maximum, with its range and its mask below the sign."""
    operation, page = at.node.operation, at.page
    two = page.partner.get(id(at.node)) if not at.ink else None
    ends = [(node, dict(node.slots)["over"]) for node in (at.node, two) if node and _runs(node)]
    ends.sort(key=lambda end: page.of[id(end[0])])
    ranges = [_counted(end, node, at.letters) for node, end in ends]
    if len(ends) == 2 and page.is_one(ends[0][1], ends[1][1]):
        below = [ranges[0]]
    else:
        inks = [at.ink or page.own_ink(node) for node, _ in ends]
        below = [
            page.inked(end, text, ink)
            for (_, end), text, ink in zip(ends, ranges, inks, strict=True)
        ]
    if "where" in at.slots:
        below.append(at.operand("where"))
    below.append(at.added("where"))
    body, where = _unmasked(at)
    under = r",\ ".join(filter(None, (*below, where)))
    under = f"_{{{under}}}" if under else ""
    if operation != "logsumexp":
        text, level = body
        text = text if level >= PRODUCT else rf"\bigl({text}\bigr)"
        return rf"{_OVER[operation]}{under} {text}", PRODUCT
    one = at.operand("one") if "one" in at.slots else at.added("one")
    if not one:
        return rf"\log \sum{under} e^{{{body[0]}}}", PRODUCT
    return rf"\log\Bigl({one} + \sum{under} e^{{{body[0]}}}\Bigr)", WHOLE


def _unmasked(at: At) -> tuple[tuple[str, int], str]:
    """Return the summand, and, if it is masked, the mask."""
    page, of = at.page, at.slots["of"]
    two = at.over.get(id(of))
    if two is None:
        if of.operation == MASKED and not page.by_name(of):
            ink = at.ink or page.own_ink(of)
            inner = At(page, of, {}, at.letters, ink)
            text, level = inner.part("of")
            return (page.inked(of, text, ink), level), inner.operand("where")
        return at.part("of"), ""
    first, second = (of, two) if page.of[id(of)] == 0 else (two, of)
    how, inside = page.met.get((id(first), id(second)), ("instead", []))
    one = how == "together" and page.is_one(first, second)
    outer = second if how == "second" else first
    named = page.by_name(first) or page.by_name(second)
    if outer.operation != MASKED or named or not (one or how in ("first", "second")):
        return at.part("of"), ""
    ink = "" if one else page.own_ink(outer)
    inner = At(page, outer, dict(by_ids(inside)), at.letters, ink)
    text, level = inner.part("of")
    return (page.inked(outer, text, ink), level), inner.operand("where")


def _runs(node: Node) -> bool:
    return "over" in dict(node.slots)


def by_ids(pairs: list[tuple[Node, Node]]) -> Iterator[tuple[int, Node]]:
    for one, other in pairs:
        yield id(one), other
        yield id(other), one


def plain_text(text: str) -> str:
    return (
        text.replace("\\", "").replace("_", r"\_").translate({ord(c): None for c in "{}$#%&^~'\""})
    )


def _is_left_out(filling: Node) -> bool:
    """True if the filling takes no part: 0 in a sum, −∞ in an exponent."""
    return filling.operation == CONSTANT and filling.value in (0, -math.inf)


def _is_option(node: Node) -> bool:
    return node.operation == CONSTANT and node.value is None


def _is_choice_of_words(node: Node) -> bool:
    """True for a parameter that chooses by name: "cosine"."""
    return node.operation == PARAMETER and isinstance(node.value, str)


def _counted(end: Node, node: Node, letters: Letters) -> str:
    """The letters that a sum runs over."""
    of = dict(node.slots)["of"]
    count = of.value.ndim if isinstance(of.value, Tensor) else 0
    mine = letters[-count:] if 1 < count <= len(letters) else ("i", "j")[:count]
    if end.dimensions is None:
        return " ".join(mine)
    return " ".join(mine[n] for n in end.dimensions if -len(mine) <= n < len(mine))
