r"""Two aligned formulas set as one, in LaTeX made of their operations.

Each part is wrapped in \htmlData{ink=…, base=…, other=…}: its kind, and the step of either trace
that it belongs to. A quantity that is used in several places, a mask and a choice of places stand
under the name that their `Symbol` gives them; the former get a line of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor

from explorer.lab.compare.alignment import Alignment
from explorer.lab.compare.expressions import (
    CONSTANT,
    INPUT,
    MASKED,
    PARAMETER,
    SAME,
    Expression,
    Node,
)
from losses import Symbol

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
# Written as what they are taken from.
_SEEN_THROUGH = {SAME, "rows", "columns", "flatten", "transpose", "part", "diagonal"}
# Which of all: the name of the step says more than how it was picked.
_NAMED = {"at", "gather", "diagonal", "part", "nonzero", "argmax", "argmin", "chunk", "roll"}


def as_one_formula(
    sides: tuple[Expression, Expression], found: Alignment, kinds: Mapping[int, str]
) -> Iterator[str]:
    """The line of the loss, then one for each quantity that is used in several places."""
    page = _Page(sides, found, kinds)
    yield page.line(sides[0].root, sides[1].root)
    done = {id(side.root) for side in sides}
    while page.named:
        first, second = page.named.pop(0)
        one = first or second
        if one is not None and (first is None or second is None):
            two = page.partner.get(id(one))
            fits = two is not None and two.result is not None and one.result is not None
            first, second = (one, two if fits else None)
            if two is not None and page.of[id(one)] == 1 and fits:
                first, second = two, one
        held = [node for node in (first, second) if node is not None and id(node) not in done]
        done |= {id(node) for node in held}
        if len(held) == 2 and page.is_one(*held):
            if _is_made(held[0]):
                yield page.line(*held)
        else:
            yield from (page.line(node, None) for node in held if _is_made(node))


def as_two_formulas(sides: tuple[Expression, Expression]) -> Iterator[str]:
    """Each side by itself: the line of its loss, then one for each quantity of several places."""
    page = _Page(sides, Alignment(), {})
    done: set[int] = set()
    for side in sides:
        yield page.line(side.root, None)
        done.add(id(side.root))
        while page.named:
            node = next(one for one in page.named.pop(0) if one is not None)
            if id(node) not in done and _is_made(node):
                yield page.line(node, None)
            done.add(id(node))


class _Page:
    """Writes pairs of nodes that were laid on each other, and nodes of one side."""

    def __init__(
        self,
        sides: tuple[Expression, Expression],
        found: Alignment,
        kinds: Mapping[int, str],
    ) -> None:
        self.sides, self.met, self.kinds = sides, found.met, kinds
        self.partner = {id(one): two for one, two in found.pairs}
        self.partner |= {id(two): one for one, two in found.pairs}
        self.of: dict[int, int] = {}  # which side a node belongs to
        self.uses: Counter[int] = Counter()
        for side, expression in enumerate(sides):
            for node in expression.nodes:
                self.of[id(node)] = side
                self.uses.update({id(child) for _, child in node.slots})
        self.named: list[tuple[Node | None, Node | None]] = []

    def is_one(self, first: Node, second: Node) -> bool:
        return self.partner.get(id(first)) is second

    # ---- Names and inks

    def side(self, node: Node) -> Expression:
        return self.sides[self.of[id(node)]]

    def own_ink(self, node: Node) -> str:
        return ("base", "other")[self.of[id(node)]]

    def symbol(self, node: Node) -> Symbol | None:
        if node.result is None:
            return None
        side = self.side(node)
        return side.exploration.spec.symbols.get(side.steps[node.result].name)

    def name(self, node: Node) -> str:
        """The name of a step. A `Symbol` is a name, or a name and what it is; that of a mask or of
        places is what they are."""
        symbol = self.symbol(node)
        if symbol is None:
            return rf"\mathtt{{{_plain(self.side(node).steps[node.result or 0].name)}}}"
        return symbol.latex if _is_choice(node) else symbol.latex.partition(" = ")[0]

    def inked(self, node: Node, text: str, ink: str = "") -> str:
        """A part with its kind, or as one side's, and with the steps it belongs to."""
        two = self.partner.get(id(node))
        ink = ink or self.kinds.get(id(node)) or self.own_ink(node)
        both = (node, two) if self.of[id(node)] == 0 else (two, node)
        said = [f"ink={ink}"]
        for name, one in zip(("base", "other"), both, strict=True):
            if one is not None and ink in ("shared", "parameter", name):
                said.append(f"{name}={one.step if one.result is None else one.result}")
        return rf"\htmlData{{{', '.join(said)}}}{{{text}}}"

    def both_names(self, first: Node, second: Node, letters: Letters = ()) -> str:
        """One name for both, or both names."""
        names = [_lettered(self.name(node), letters) for node in (first, second)]
        if names[0] == names[1]:
            return self.inked(first, names[0], self.kinds.get(id(first), "shared"))
        inks = zip((first, second), names, ("base", "other"), strict=True)
        return r"\,".join(self.inked(node, name, ink) for node, name, ink in inks)

    def line(self, first: Node, second: Node | None) -> str:
        if second is None:
            ink = self.own_ink(first)
            return f"{self.inked(first, self.name(first), ink)} = {self.out(first, {}, (), ink)[0]}"
        left = self.both_names(first, second)
        return f"{left} = {self.pair(first, second, (), named=False)[0]}"

    # ---- Two sides

    def pair(
        self, first: Node, second: Node, letters: Letters, *, named: bool = True
    ) -> tuple[str, int]:
        """What stands in one place on both sides: one thing, one around the other, or both."""
        if self.of[id(first)] == 1:
            first, second = second, first
        how, inner = self.met.get((id(first), id(second)), ("instead", []))
        by_name = named and (self.by_name(first) or self.by_name(second))
        outer = second if how == "second" else first
        if how == "together" and self.is_one(first, second):
            if first.operation == PARAMETER:
                return self.two_parameters(first, second), WHOLE
            if first.is_leaf:
                return self.leaf(first, letters), WHOLE
            if by_name and first.result is not None and second.result is not None:
                self.named.append((first, second))
                return self.both_names(first, second, letters), _level_of_name(first)
            return self.out(first, dict(_by_ids(inner)), letters)
        if how in ("first", "second") and not (named and self.by_name(outer)):
            return self.out(outer, dict(_by_ids(inner)), letters, self.own_ink(outer))
        # What one side is given and the other makes has the name of a quantity on both.
        given = INPUT in (first.operation, second.operation)
        one, _ = self.alone(first, letters, "base", named=named, given=given)
        two, _ = self.alone(second, letters, "other", named=named, given=given)
        return rf"{one}\,{two}", SUM

    def two_parameters(self, first: Node, second: Node) -> str:
        names = [self.parameter_name(node) for node in (first, second)]
        if names[0] == names[1]:
            return self.inked(first, names[0])
        return r"\,".join(map(self.inked, (first, second), names))

    def parameter_name(self, node: Node) -> str:
        """The symbol of a parameter; of a temperature that divides, 1/τ."""
        facts = self.side(node).parameter(node.says)
        name = (facts and facts.symbol) or rf"\mathrm{{{_plain(node.says)}}}"
        cools = node.factor and facts is not None and facts.role == "temperature"
        return rf"\tfrac{{1}}{{{name}}}" if cools else name

    # ---- One side

    def by_name(self, node: Node) -> bool:
        """Whether a step stands in a formula under its name: a choice, or one used often."""
        if node.result is None or node.is_leaf:
            return False
        often = self.uses[id(node)] > 1 and not isinstance(node.value, int | float)
        return often or _is_choice(node) or node.operation in _NAMED or node.operation == "code"

    def alone(
        self, node: Node, letters: Letters, ink: str, *, named: bool = True, given: bool = False
    ) -> tuple[str, int]:
        """A part that only one side has in this place."""
        if node.is_leaf:
            return self.leaf(node, letters, ink), WHOLE
        if named and (self.by_name(node) or (given and self.symbol(node) is not None)):
            self.named.append((node, None) if self.of[id(node)] == 0 else (None, node))
            return self.inked(node, _lettered(self.name(node), letters), ink), _level_of_name(node)
        return self.out(node, {}, letters, ink)

    def leaf(self, node: Node, letters: Letters, ink: str = "") -> str:
        if node.operation == INPUT:
            return self.inked(node, _lettered(self.name(node), letters), ink)
        if node.operation == CONSTANT:
            return self.inked(node, _constant(node), ink)
        return self.inked(node, self.parameter_name(node), ink)

    # ---- Operations: of a node, with what its operands were laid on

    def out(
        self, node: Node, over: Mapping[int, Node], letters: Letters, ink: str = ""
    ) -> tuple[str, int]:
        """An operation with its operands; `over` has, by its id, what each was laid on."""
        letters = self.letters(node) or letters
        at = _At(self, node, over, letters, ink)
        if node.operation in _SEEN_THROUGH:
            narrow = {"rows": letters[:1], "columns": letters[1:]}.get(node.operation, letters)
            return _At(self, node, over, narrow, ink).part(node.slots[0][0])
        text, level = _write(at)
        return self.inked(node, text, ink), level

    def letters(self, node: Node) -> Letters:
        """What counts the cells of a matrix: as the nearest step below says that has a symbol."""
        left, seen = [node], set()
        while left:
            one = left.pop(0)
            symbol = self.symbol(one)
            if symbol is not None and isinstance(one.value, Tensor) and one.value.ndim >= 2:
                if symbol.indices:
                    return symbol.indices
                if len(symbol.axes) == 2:
                    return ("i", "d" if symbol.axes[1] == "dimension" else "j")
            if id(one) not in seen:
                seen.add(id(one))
                left += [child for _, child in one.slots]
        return ()


@dataclass(frozen=True, eq=False)
class _At:
    """One operation that is being written."""

    page: _Page
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


def _write(at: _At) -> tuple[str, int]:
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
            filled = "" if at.slots["other"].says in ("-inf", "0") else f",\\ {at.operand('other')}"
            return rf"{body}\ \text{{where}}\ {where}{filled}", RELATION
        case "code":
            return rf"\mathtt{{{_plain(at.node.says)}}}", WHOLE
    held = [at.operand(place) for place in at.slots]
    if operation in ("cat", "stack"):
        return r"\bigl[" + r";\, ".join(held) + r"\bigr]", WHOLE
    return rf"\operatorname{{{_plain(operation)}}}({', '.join(held)})", WHOLE


def _fenced(at: _At) -> tuple[str, int]:
    left, right = _FENCED[at.node.operation]
    shown = [
        place
        for place, child in at.slots.items()
        if place != "over" and not _is_option(child) and not _is_choice_of_words(child)
    ]
    apart = at.node.operation in _BY_ROWS_AND_COLUMNS and len(at.letters) == len(shown) == 2
    letters = [at.letters[n : n + 1] if apart else at.letters for n in range(len(shown))]
    held = [at.operand(place, letters=own) for place, own in zip(shown, letters, strict=True)]
    return left + ", ".join(held) + right, WHOLE


def _summed(at: _At) -> tuple[str, int]:
    """A sum, mean, maximum: what it runs over and where stands below its sign."""
    operation, page = at.node.operation, at.page
    two = page.partner.get(id(at.node)) if not at.ink else None
    ends = [(node, dict(node.slots)["over"]) for node in (at.node, two) if node and _runs(node)]
    ends.sort(key=lambda end: page.of[id(end[0])])
    said = [_counted(end, node, at.letters) for node, end in ends]
    if len(ends) == 2 and page.is_one(ends[0][1], ends[1][1]):
        below = [said[0]]
    else:
        inks = [at.ink or page.own_ink(node) for node, _ in ends]
        below = [
            page.inked(end, text, ink) for (_, end), text, ink in zip(ends, said, inks, strict=True)
        ]
    if "where" in at.slots:
        below.append(at.operand("where"))
    below.append(at.added("where"))
    under = r",\ ".join(one for one in below if one)
    body, where = _unmasked(at)
    under = ",\\ ".join(one for one in (under, where) if one)
    under = f"_{{{under}}}" if under else ""
    if operation != "logsumexp":
        text, level = body
        text = text if level >= PRODUCT else rf"\bigl({text}\bigr)"
        return rf"{_OVER[operation]}{under} {text}", PRODUCT
    one = rf"{at.operand('one')} + " if "one" in at.slots else at.added("one")
    one = f"{one} + " if one and not one.endswith("+ ") else one
    if not one:
        return rf"\log \sum{under} e^{{{body[0]}}}", PRODUCT
    return rf"\log\Bigl({one}\sum{under} e^{{{body[0]}}}\Bigr)", WHOLE


def _unmasked(at: _At) -> tuple[tuple[str, int], str]:
    """What is summed, and, if that is masked, where it is counted."""
    page, of = at.page, at.slots["of"]
    two = at.over.get(id(of))
    if two is None:
        if of.operation == MASKED and not page.by_name(of):
            ink = at.ink or page.own_ink(of)
            inner = _At(page, of, {}, at.letters, ink)
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
    inner = _At(page, outer, dict(_by_ids(inside)), at.letters, ink)
    text, level = inner.part("of")
    return (page.inked(outer, text, ink), level), inner.operand("where")


def _runs(node: Node) -> bool:
    return "over" in dict(node.slots)


def _by_ids(pairs: list[tuple[Node, Node]]) -> Iterator[tuple[int, Node]]:
    for one, other in pairs:
        yield id(one), other
        yield id(other), one


def _is_made(node: Node) -> bool:
    """Whether a line of its own says more than the name does."""
    return not node.is_leaf and node.operation not in {*_NAMED, "code"} and not _is_choice(node)


def _plain(text: str) -> str:
    return (
        text.replace("\\", "").replace("_", r"\_").translate({ord(c): None for c in "{}$#%&^~'\""})
    )


def _is_choice(node: Node) -> bool:
    """A mask, or places in another step."""
    return isinstance(node.value, Tensor) and not node.value.is_floating_point()


def _level_of_name(node: Node) -> int:
    mask = isinstance(node.value, Tensor) and node.value.dtype.is_floating_point
    return WHOLE if mask else RELATION


def _is_option(node: Node) -> bool:
    return node.operation == CONSTANT and node.value is None


def _is_choice_of_words(node: Node) -> bool:
    """Whether it is a parameter that chooses by name: "cosine"."""
    return node.operation == PARAMETER and isinstance(node.value, str)


def _counted(end: Node, node: Node, letters: Letters) -> str:
    """The letters that a sum runs over."""
    of = dict(node.slots)["of"]
    count = of.value.ndim if isinstance(of.value, Tensor) else 0
    mine = letters[-count:] if 1 < count <= len(letters) else ("i", "j")[:count]
    if end.says == "all":
        return " ".join(mine)
    numbers = [int(x) for x in re.findall(r"-?\d+", end.says)]
    return " ".join(mine[n] for n in numbers if -len(mine) <= n < len(mine))


def _lettered(name: str, letters: Letters) -> str:
    """A name that is counted by i, counted by another letter."""
    if len(letters) != 1 or letters[0] == "i":
        return name
    return re.sub(r"_(?:i\b|\{i\})", f"_{letters[0]}", name)


def _constant(node: Node) -> str:
    if node.value is None:
        return rf"\mathrm{{{_plain(node.says)}}}"
    return node.says.replace("-inf", r"-\infty").replace("inf", r"\infty")
