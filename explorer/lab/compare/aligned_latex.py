r"""Two aligned formulas set as one, in LaTeX made of their operations.

Each part is wrapped in \htmlData{ink=…, base=…, other=…}: its kind, and the step of either trace
that it belongs to. A quantity that is used in several places, a mask and a choice of places stand
under the name of their `Symbol`; the former get a line of their own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from torch import Tensor

from lossprism.explorer.lab.compare.operation_alignment import Alignment
from lossprism.explorer.lab.compare.operation_graph import (
    CONSTANT,
    INPUT,
    PARAMETER,
    SAME,
    Expression,
    Node,
)
from lossprism.explorer.lab.compare.operation_latex import (
    RELATION,
    SUM,
    WHOLE,
    At,
    Letters,
    by_ids,
    plain_text,
    write,
)
from lossprism.losses import Symbol

# Written as their operand.
_SEEN_THROUGH = {SAME, "rows", "columns", "flatten", "transpose", "part", "diagonal"}
# Choices: the name of the step says more than the choice.
_NAMED = {"at", "gather", "diagonal", "part", "nonzero", "argmax", "argmin", "chunk", "roll"}


def as_one_formula(
    sides: tuple[Expression, Expression], alignment: Alignment, kinds: Mapping[int, str]
) -> Iterator[str]:
    """Yield the line of the loss, then one for each quantity that is used in several places."""
    page = Writer(sides, alignment, kinds)
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
        nodes = [node for node in (first, second) if node is not None and id(node) not in done]
        done |= {id(node) for node in nodes}
        if len(nodes) == 2 and page.is_one(*nodes):
            if _is_made(nodes[0]):
                yield page.line(*nodes)
        else:
            yield from (page.line(node, None) for node in nodes if _is_made(node))


def as_two_formulas(sides: tuple[Expression, Expression]) -> Iterator[str]:
    """Yield each side by itself: the line of its loss, then one for each quantity of several
    places."""
    page = Writer(sides, Alignment(), {})
    done: set[int] = set()
    for side in sides:
        yield page.line(side.root, None)
        done.add(id(side.root))
        while page.named:
            node = next(one for one in page.named.pop(0) if one is not None)
            if id(node) not in done and _is_made(node):
                yield page.line(node, None)
            done.add(id(node))


class Writer:
    """Writer of pairs of nodes that were laid on each other, and of nodes of one side."""

    def __init__(
        self, sides: tuple[Expression, Expression], alignment: Alignment, kinds: Mapping[int, str]
    ) -> None:
        self.sides, self.met, self.kinds = sides, alignment.met, kinds
        self.partner = dict(by_ids(alignment.pairs))
        self.of: dict[int, int] = {}  # side of a node
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

    def name(self, node: Node, letters: Letters = ()) -> str:
        """The name of a step, counted by the letter, where there is one; that of a mask or of
        places is what they are."""
        symbol = self.symbol(node)
        if symbol is None:
            return rf"\mathtt{{{plain_text(self.side(node).steps[node.result or 0].name)}}}"
        if _is_choice(node):
            return symbol.written
        return symbol.counted_by(letters[0]) if len(letters) == 1 else symbol.latex

    def inked(self, node: Node, text: str, ink: str = "") -> str:
        """Mark a part with its kind, or as one side's, and with the steps it belongs to."""
        two = self.partner.get(id(node))
        ink = ink or self.kinds.get(id(node)) or self.own_ink(node)
        both = (node, two) if self.of[id(node)] == 0 else (two, node)
        data = [f"ink={ink}"]
        for name, one in zip(("base", "other"), both, strict=True):
            if one is not None and ink in ("shared", "parameter", name):
                data.append(f"{name}={one.step if one.result is None else one.result}")
        return rf"\htmlData{{{', '.join(data)}}}{{{text}}}"

    def both_names(self, first: Node, second: Node, letters: Letters = ()) -> str:
        """Write one name for both, or both names."""
        names = [self.name(node, letters) for node in (first, second)]
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
        """Write two nodes of one place: one thing, one around the other, or both."""
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
            return self.out(first, dict(by_ids(inner)), letters)
        if how in ("first", "second") and not (named and self.by_name(outer)):
            return self.out(outer, dict(by_ids(inner)), letters, self.own_ink(outer))
        named_alike = named and self.by_name(first) and self.by_name(second)
        if named_alike and self.name(first, letters) == self.name(second, letters):
            return self.both_names(first, second, letters), _level_of_name(first)
        # An input of one side that the other computes has the name of a quantity on both.
        is_input = INPUT in (first.operation, second.operation)
        one, _ = self.alone(first, letters, "base", named=named, is_input=is_input)
        two, _ = self.alone(second, letters, "other", named=named, is_input=is_input)
        return rf"{one}\,{two}", SUM

    def two_parameters(self, first: Node, second: Node) -> str:
        names = [self.parameter_name(node) for node in (first, second)]
        if names[0] == names[1]:
            return self.inked(first, names[0])
        return r"\,".join(map(self.inked, (first, second), names))

    def parameter_name(self, node: Node) -> str:
        """The symbol of a parameter; of a temperature that divides, 1/τ."""
        facts = self.side(node).parameter(node.says)
        name = (facts and facts.symbol) or rf"\mathrm{{{plain_text(node.says)}}}"
        cools = node.factor and facts is not None and facts.role == "temperature"
        return rf"\tfrac{{1}}{{{name}}}" if cools else name

    # ---- One side

    def by_name(self, node: Node) -> bool:
        """True if a step stands in a formula under its name: a choice, or one used often."""
        if node.result is None or node.is_leaf:
            return False
        often = self.uses[id(node)] > 1 and not isinstance(node.value, int | float)
        return often or _is_choice(node) or node.operation in _NAMED or node.operation == "code"

    def alone(
        self, node: Node, letters: Letters, ink: str, *, named: bool = True, is_input: bool = False
    ) -> tuple[str, int]:
        """Write a part that only one side has in this place."""
        if node.is_leaf:
            return self.leaf(node, letters, ink), WHOLE
        if named and (self.by_name(node) or (is_input and self.symbol(node) is not None)):
            self.named.append((node, None) if self.of[id(node)] == 0 else (None, node))
            return self.inked(node, self.name(node, letters), ink), _level_of_name(node)
        return self.out(node, {}, letters, ink)

    def leaf(self, node: Node, letters: Letters, ink: str = "") -> str:
        if node.operation == INPUT:
            return self.inked(node, self.name(node, letters), ink)
        if node.operation == CONSTANT:
            return self.inked(node, _constant(node), ink)
        return self.inked(node, self.parameter_name(node), ink)

    # ---- Operations: a node, with the partners of its operands

    def out(
        self, node: Node, over: Mapping[int, Node], letters: Letters, ink: str = ""
    ) -> tuple[str, int]:
        """An operation with its operands; `over` has, by its id, what each was laid on."""
        letters = self.letters(node) or letters
        at = At(self, node, over, letters, ink)
        if node.operation in _SEEN_THROUGH:
            narrow = {"rows": letters[:1], "columns": letters[1:]}.get(node.operation, letters)
            return At(self, node, over, narrow, ink).part(node.slots[0][0])
        text, level = write(at)
        return self.inked(node, text, ink), level

    def letters(self, node: Node) -> Letters:
        """Return the indices of a matrix, by the nearest step below that has a symbol."""
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


def _is_made(node: Node) -> bool:
    """True if a line of its own says more than the name does."""
    return not node.is_leaf and node.operation not in {*_NAMED, "code"} and not _is_choice(node)


def _is_choice(node: Node) -> bool:
    """A mask, or places in another step."""
    return isinstance(node.value, Tensor) and not node.value.is_floating_point()


def _level_of_name(node: Node) -> int:
    mask = isinstance(node.value, Tensor) and node.value.dtype.is_floating_point
    return WHOLE if mask else RELATION


def _constant(node: Node) -> str:
    if node.value is None:
        return rf"\mathrm{{{plain_text(node.says)}}}"
    return node.says.replace("inf", r"\infty")
