"""Pairing of the operations of two formulas.

Both graphs are read as trees from the loss down. Two nodes are either one operation, whose operands
are paired place by place, or one of them is wrapped around the other's partner (a mean over queries
that only one of the losses takes), or they have nothing in common. Dynamic programming over all
pairs of nodes finds the pairing with most in common. The order of the sides does not matter: both
orders are derived from one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lossprism.explorer.lab.compare.operation_graph import (
    CONSTANT,
    INPUT,
    PARAMETER,
    SAME,
    Expression,
    Node,
)
from lossprism.losses import Parameter

# Worth of a pair: the subject of a formula counts more than its arithmetic.
INPUT_WORTH, PARAMETER_WORTH, OPERATION_WORTH, CONSTANT_WORTH, NAME_WORTH = 3.0, 2.0, 1.0, 0.25, 0.5
ARITHMETIC_WORTH = 0.4
WRAPPING_COST = 0.1
COMMUTATIVE = {"add", "multiply", "and", "or", "equal", "unequal"}
ARITHMETIC = {
    *COMMUTATIVE,
    "subtract",
    "divide",
    "negative",
    "rows",
    "columns",
    "not",
    "at",
    "part",
}
Way = Literal["together", "first", "second", "instead"]
Inner = list[tuple[Node, Node]]


@dataclass(eq=False)
class Alignment:
    """Pairs of nodes of two formulas.

    `pairs` are one operation, `instead` stand in one place and are not one operation; each node is
    in at most one of them. `met` tells for two nodes that were laid on each other, by their ids,
    how ("first": the first is wrapped around the second) and which of their parts were laid on each
    other.
    """

    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    instead: list[tuple[Node, Node]] = field(default_factory=list)
    met: dict[tuple[int, int], tuple[Way, Inner]] = field(default_factory=dict)

    def turned(self) -> Alignment:
        """Return the alignment with its sides exchanged."""
        way: dict[Way, Way] = {"first": "second", "second": "first"}
        return Alignment(
            _swapped(self.pairs),
            _swapped(self.instead),
            {
                (other, one): (way.get(how, how), _swapped(inner))
                for (one, other), (how, inner) in self.met.items()
            },
        )


def _swapped(pairs: Inner) -> Inner:
    return [(other, one) for one, other in pairs]


def align(base: Expression, other: Expression) -> Alignment:
    """Pair the operations of two formulas; `align(b, a)` is `align(a, b)` with its sides turned."""
    if _order(base) <= _order(other):
        return _Aligner(base, other).run()
    return _Aligner(other, base).run().turned()


def _order(expression: Expression) -> tuple[str, ...]:
    e = expression.exploration
    shapes = [str(tuple(step.value.shape)) for step in expression.steps]
    return (e.spec.name, e.trace.listing, repr(sorted(e.parameters.items())), *shapes)


def same_parameter(
    one: Node, other: Node, of_one: Parameter | None, of_other: Parameter | None
) -> bool:
    """True if two parameters have one place: one name or role, or both scale."""
    if one.says == other.says or (one.factor and other.factor):
        return True
    if of_one is None or of_other is None:
        return False
    return bool(of_one.role) and of_one.role == of_other.role


class _Aligner:
    def __init__(self, first: Expression, second: Expression) -> None:
        self.first, self.second = first, second
        self.worth: dict[tuple[int, int], float] = {}
        self.found = Alignment()
        self.taken: set[int] = set()
        self.shapes: dict[int, int] = {}
        self.numbers: dict[object, int] = {}
        nodes = [node for side in (first, second) for node in side.nodes]
        self.uses = Counter(id(child) for node in nodes for _, child in node.slots)

    def run(self) -> Alignment:
        self._walk(self.first.root, self.second.root)
        self._walk_rest()
        instead = [
            (one, other)
            for one, other in self.found.instead
            if id(one) not in self.taken and id(other) not in self.taken
        ]
        self.found.instead = list(_once(instead))
        return self.found

    def _walk_rest(self) -> None:
        """Pair equal nodes that the walk from the loss did not reach, or that have two places."""
        free: dict[int, list[Node]] = {}
        for node in self.second.nodes:
            if id(node) not in self.taken:
                free.setdefault(self._shape(node), []).append(node)
        for node in self.first.nodes:
            fitting = free.get(self._shape(node), [])
            fitting = [one for one in fitting if id(one) not in self.taken]
            if id(node) not in self.taken and fitting and node.operation != CONSTANT:
                self._walk(node, fitting[0])

    def _shape(self, node: Node) -> int:
        """A number for all that a node is made of: equal for what is the same formula."""
        if id(node) not in self.shapes:
            value = repr(node.value) if node.operation == PARAMETER else ""
            inner = tuple((place, self._shape(child)) for place, child in node.slots)
            made_of = (*node.key, value, inner)
            self.shapes[id(node)] = self.numbers.setdefault(made_of, len(self.numbers))
        return self.shapes[id(node)]

    def _worth(self, one: Node, other: Node) -> float:
        key = (id(one), id(other))
        if key not in self.worth:
            self.worth[key] = max(value for value, _, _ in self._ways(one, other))
        return self.worth[key]

    def _ways(self, one: Node, other: Node) -> Iterator[tuple[float, Way, Inner]]:
        """The ways to lay two nodes on each other, each with what it is worth: the first of equal
        ones is taken."""
        for inner in self._operands(one, other):
            # What is used in several places counts once in all.
            worth = sum(
                self._worth(first, second) / max(self.uses[id(first)], self.uses[id(second)])
                for first, second in inner
            )
            yield self._match(one, other) + worth, "together", inner
        yield 0.0, "instead", []
        for _, child in one.slots:
            worth = self._worth(child, other) / self.uses[id(child)]
            yield worth - WRAPPING_COST, "first", [(child, other)]
        for _, child in other.slots:
            worth = self._worth(one, child) / self.uses[id(child)]
            yield worth - WRAPPING_COST, "second", [(one, child)]

    def _operands(self, one: Node, other: Node) -> list[Inner]:
        """The ways in which operands pair, none where the two nodes are not one operation."""
        if not self._may_match(one, other):
            return []
        mine, theirs = dict(one.slots), dict(other.slots)
        ways = [[(mine[place], theirs[place]) for place in mine if place in theirs]]
        if one.operation in COMMUTATIVE and len(ways[0]) == 2:
            (left, right), (left_too, right_too) = mine.values(), theirs.values()
            ways.append([(left, right_too), (right, left_too)])
        return ways

    def _may_match(self, one: Node, other: Node) -> bool:
        if one.operation == other.operation == PARAMETER:
            of = (self.first.parameter(one.says), self.second.parameter(other.says))
            return same_parameter(one, other, *of)
        return one.key == other.key

    def _match(self, one: Node, other: Node) -> float:
        if one.operation == INPUT:
            return INPUT_WORTH
        if one.operation == PARAMETER:
            return (
                PARAMETER_WORTH + 0.5 * (one.says == other.says) + 0.5 * (one.value == other.value)
            )
        if one.operation == CONSTANT:
            return CONSTANT_WORTH
        both = one.result is not None and other.result is not None
        named = both and (
            self.first.steps[one.result or 0].name == self.second.steps[other.result or 0].name
        )
        alike = NAME_WORTH * named + NAME_WORTH * (both and self._shape(one) == self._shape(other))
        if one.operation == SAME:
            return alike
        return (ARITHMETIC_WORTH if one.operation in ARITHMETIC else OPERATION_WORTH) + alike

    def _walk(self, one: Node, other: Node) -> None:
        key = (id(one), id(other))
        if key in self.found.met:
            return
        how, inner = self._best(one, other)
        self.found.met[key] = how, inner
        if how == "instead":
            self.found.instead.append((one, other))
        elif how == "together" and not set(key) & self.taken:
            self.taken |= set(key)
            self.found.pairs.append((one, other))
        for first, second in inner:
            self._walk(first, second)

    def _best(self, one: Node, other: Node) -> tuple[Way, Inner]:
        if self._shape(one) == self._shape(other):
            return "together", self._operands(one, other)[0]
        _, how, inner = max(self._ways(one, other), key=lambda way: way[0])
        return how, inner


def _once(pairs: Inner) -> Iterator[tuple[Node, Node]]:
    seen: set[int] = set()
    for one, other in pairs:
        if not {id(one), id(other)} & seen:
            seen |= {id(one), id(other)}
            yield one, other
