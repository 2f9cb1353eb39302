"""The formula of a trace as operations: a graph of each step's operands.

A step of a trace knows its statement. Read as Python, statement by statement, these make one graph
from the inputs to the loss: a node for every operation, a leaf for every input, parameter and
constant. Two spellings of the same thing become one operation: a division by a temperature and a
product with a scale, a mask and its negation, ``clamp(min=0)`` and ``relu()``. Branches that were
not taken leave no step, and so are not in it.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.function_source import tree_of
from lossprism.explorer.core.trace import Step, function_of
from lossprism.explorer.runtime.validation import is_number
from lossprism.losses import Parameter

INPUT, PARAMETER, CONSTANT = "input", "parameter", "constant"
SCALED, MASKED, SAME = "scaled", "masked", "same"
# Operations over all or some dimensions, by the names they have in torch and here.
REDUCTIONS: Mapping[str, str] = {
    **{name: name for name in ("sum", "mean", "max", "min", "any", "all", "norm", "logsumexp")},
    **{"amax": "max", "amin": "min", "log_sum_exp": "logsumexp", "log1p_sum_exp": "logsumexp"},
}
# Python's own functions of several numbers.
BOUNDED = {"max": "clamp_min", "min": "clamp_max"}
BUILTIN = set(dir(builtins))
# Calls that change the storage of numbers, not their values.
VALUE_PRESERVING = {"to", "float", "double", "long", "clone", "contiguous", "type_as"}
OWN_NAMES = {
    *(INPUT, PARAMETER, CONSTANT, SCALED, MASKED, SAME, "negative", "not", "count", "rows"),
    *("columns", "at", "part", "code", "transpose", "add", "subtract", "multiply", "divide"),
    "power",
}
ABOUT_STORAGE = {"device", "dtype", "as_tuple"}
_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.MatMult: "matrix_product",
}
_COMPARED: Mapping[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("less", False),
    ast.Gt: ("less", True),
    ast.LtE: ("at_most", False),
    ast.GtE: ("at_most", True),
    ast.Eq: ("equal", False),
    ast.NotEq: ("unequal", False),
}


@dataclass(eq=False)
class Node:
    """An operation, or one leaf.

    `operation` is its name, or one of INPUT, PARAMETER and CONSTANT; `says` identifies a leaf: the
    reading of the input (`losses.inputs_that_losses_may_read.READABLE`), the parameter's name, the
    constant's text. `slots` are its operands by their place. `step` is the place of the step in
    whose statement it stands, inputs counted first; `result` the step whose value it is, None for
    part of one. `value` is None where the trace does not have all its operands. `factor`: a
    parameter that multiplies, or, as a temperature, divides. `dimensions` are those of the leaf
    that an operation runs over; None is all of them.
    """

    operation: str
    step: int
    says: str = ""
    slots: tuple[tuple[str, Node], ...] = ()
    result: int | None = None
    value: Any = None
    factor: bool = False
    dimensions: tuple[int, ...] | None = None

    @property
    def is_leaf(self) -> bool:
        return self.operation in (INPUT, PARAMETER, CONSTANT)

    @property
    def key(self) -> tuple[str, str]:
        return self.operation, self.says


@dataclass(frozen=True, eq=False)
class Expression:
    """The nodes of a trace, `results` with one for each step, inputs first; `root` is the loss."""

    exploration: Exploration
    results: tuple[Node, ...]

    @property
    def root(self) -> Node:
        return self.results[-1]

    @property
    def steps(self) -> list[Step]:
        return self.exploration.trace.tensors

    @functools.cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node once: from the loss down, then those that the loss does not depend on."""
        nodes: dict[int, Node] = {}
        left = [*reversed(self.results), self.root]
        while left:
            node = left.pop()
            if id(node) not in nodes:
                nodes[id(node)] = node
                left += [child for _, child in reversed(node.slots)]
        return tuple(nodes.values())

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.exploration.spec.parameters if p.name == name), None)


def expression_of(exploration: Exploration) -> Expression:
    """Read the statements of a trace as one graph of operations."""
    reader = _Reader(exploration)
    return Expression(exploration, tuple(reader.read()))


class _Reader:
    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        function = function_of(exploration.definition)
        defaults = {
            name: argument.default
            for name, argument in inspect.signature(function).parameters.items()
            if argument.default is not inspect.Parameter.empty
        }
        chosen: dict[str, Any] = dict(exploration.parameters)
        # What is known by name at the statement that is read.
        self.globals = function.__globals__
        self.known: dict[str, Any] = {**defaults, **chosen}
        self.parameters = chosen
        self.roles = {one.name: one.role for one in exploration.spec.parameters}
        self.tree, self.line = tree_of(exploration.trace.listing), 0
        self.made: dict[str, Node] = {}
        self.used: dict[str, Node] = {}
        self.unpacked: tuple[tuple[int, str], Node] = ((-1, ""), Node(CONSTANT, 0))
        self.place = 0

    def read(self) -> Iterator[Node]:
        trace, reads = self.exploration.trace, self.exploration.spec.reads
        for step in trace.inputs:
            what = reads.get(step.name, step.name)
            yield self._keep(step, Node(INPUT, self.place, what))
        for step in trace.steps:
            self.line = step.line - trace.first_line + 1
            yield self._keep(step, self._of_statement(step))

    def _keep(self, step: Step, node: Node) -> Node:
        if node.result is not None or node.operation in (PARAMETER, CONSTANT):
            node = Node(SAME, self.place, slots=(("of", node),))
        node.result, node.value = self.place, step.value
        self.made[step.name] = node
        self.known[step.name] = step.value
        self.place += 1
        return node

    def _of_statement(self, step: Step) -> Node:
        statement = next(iter(tree_of(step.source).body), None)
        match statement:
            case (
                ast.Assign(targets=[ast.Name()], value=value)
                | ast.Return(value=ast.expr() as value)
            ):
                return self._node(value)
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                return self._node(value)
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value):
                return self._node(ast.BinOp(ast.Name(target.id, ast.Load()), operator, value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                whole = self._whole(step, value)
                part = [ast.unparse(name) for name in names].index(step.name)
                return Node("part", self.place, str(part), (("of", whole),))
            case ast.Expr(value=ast.Call() as value):
                return self._node(value)
        return self._unread(statement, step.source)

    def _whole(self, step: Step, value: ast.expr) -> Node:
        """Read the common value of several unpacked steps once."""
        key = step.line, step.source
        if self.unpacked[0] != key:
            self.unpacked = key, self._node(value)
        return self.unpacked[1]

    def _unread(self, tree: ast.AST | None, text: str) -> Node:
        """Make a node of an unknown expression: its text, and the steps that are named in it."""
        names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)] if tree else []
        named = [name for name in dict.fromkeys(names) if name in self.made]
        return Node("code", self.place, text, tuple((name, self.made[name]) for name in named))

    def _node(self, tree: ast.expr) -> Node:
        node = self._read(tree)
        if not node.is_leaf and node.result is None and node.value is None:
            node.value = self._value(tree)
        return node

    def _value(self, tree: ast.expr) -> Any:
        """Evaluate part of a statement; None where it depends on names that are no steps."""
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        inner = any(isinstance(n, ast.comprehension | ast.Lambda) for n in ast.walk(tree))
        known = {**self.globals, **self.known}
        if inner or not names <= known.keys() | BUILTIN:
            return None
        # The definition has just been run: this is a part of it, once more.
        code = compile(ast.fix_missing_locations(ast.Expression(tree)), "<step>", "eval")
        with torch.no_grad():
            return eval(code, self.globals, self.known)

    def _read(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Name(id=name):
                return self._named(name)
            case ast.Constant(value=value):
                return self._constant(value)
            case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=operand):
                return self._negated(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._node(operand)
                if inner.operation == CONSTANT and isinstance(inner.value, int | float):
                    return self._constant(-inner.value)
                return Node("negative", self.place, slots=(("of", inner),))
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
                return self._binary(_BINARY[type(operator)], self._node(left), self._node(right))
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARED:
                name, turned = _COMPARED[type(sign)]
                sides = (self._node(left), self._node(right))
                first, second = reversed(sides) if turned else sides
                return Node(name, self.place, slots=(("left", first), ("right", second)))
            case ast.IfExp(test=test, body=body, orelse=other):
                taken = self._value(test)
                if isinstance(taken, bool):
                    return self._node(body if taken else other)
            case ast.Subscript():
                return self._picked(tree)
            case ast.Attribute(value=value, attr=attr):
                if attr == "T":
                    return Node("transpose", self.place, slots=(("of", self._node(value)),))
                return self._constant(self._value(tree), ast.unparse(tree))
            case ast.ListComp(elt=element, generators=[_]):
                return self._node(element)
            case ast.Call():
                return self._called(tree)
        return self._unread(tree, ast.unparse(tree))

    def _named(self, name: str) -> Node:
        if name in self.made:
            return self.made[name]
        if self._is_local(name):
            number = self._assigned(name)
            return self._collected(name) if number is None else self._node(number)
        if name not in self.parameters:
            return self._constant({**self.globals, **self.known}.get(name), name)
        if name not in self.used:
            self.used[name] = Node(PARAMETER, self.place, name, value=self.parameters[name])
        return self.used[name]

    def _assigned(self, name: str) -> ast.expr | None:
        """Return what a name that is no step stands for, such as a plain number or a function; None
        for a list or dict."""
        assigned: ast.expr | None = None
        for target, value in self._assignments():
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            written = [ast.unparse(one) for one in names]
            if name in written and self._was_run(value):
                place = ast.Constant(written.index(name))
                assigned = value if names == [target] else ast.Subscript(value, place, ast.Load())
        return None if isinstance(assigned, ast.List | ast.Dict | ast.ListComp) else assigned

    def _assignments(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Yield the target and the value of each assignment before the line that is read."""
        for statement in ast.walk(self.tree):
            if isinstance(statement, ast.Assign) and statement.lineno < self.line:
                yield statement.targets[0], statement.value

    def _is_unknown(self, name: str) -> bool:
        """True for a name that is no tensor, parameter or global."""
        return not any(name in known for known in (self.made, self.known, self.globals))

    def _is_local(self, name: str) -> bool:
        """True for a name that only the definition has: a list, a dict, a plain number, a
        function."""
        return self._is_unknown(name) and name not in BUILTIN

    def _collected(self, name: str, key: object = None) -> Node:
        """Return the node of a list or dict: the one thing put into it (under this key) so far, or
        all of them together."""
        values = [self._node(value) for value in self._put_into(name, key)]
        if len(values) == 1:
            return values[0]
        return Node("collected", self.place, slots=tuple(_numbered(values)))

    def _put_into(self, name: str, key: object) -> Iterator[ast.expr]:
        for target, value in self._assignments():
            pairs: list[tuple[object, ast.expr]] = []
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) == name:
                pairs = [(getattr(target.slice, "value", None), value)]
            elif ast.unparse(target) == name and isinstance(value, ast.Dict):
                keys = [getattr(one, "value", None) for one in value.keys]
                pairs = list(zip(keys, value.values, strict=True))
            elif ast.unparse(target) == name and isinstance(value, ast.List):
                pairs = [(None, one) for one in value.elts]
            yield from (one for at, one in pairs if key in (None, at) and self._was_run(one))

    def _was_run(self, value: ast.expr) -> bool:
        """True if all names of an expression exist: its branch was taken."""
        names = [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]
        return not any(map(self._is_local, names))

    def _constant(self, value: object, text: str = "") -> Node:
        if is_number(value):
            return Node(CONSTANT, self.place, f"{float(value):g}", value=value)
        return Node(CONSTANT, self.place, text or repr(value))

    def _negated(self, operand: ast.expr) -> Node:
        inner = self._node(operand)
        if inner.operation == "not" and inner.result is None:
            return inner.slots[0][1]
        return Node("not", self.place, slots=(("of", inner),))

    def _binary(self, name: str, left: Node, right: Node) -> Node:
        of = {"multiply": ((left, right), (right, left)), "divide": ((right, left),)}
        for by, scaled in of.get(name, ()):
            cools = self.roles.get(by.says) == "temperature"
            number = by.operation == PARAMETER and isinstance(by.value, float)
            if number and scaled.operation != PARAMETER and cools == (name == "divide"):
                by.factor = True
                return Node(SCALED, self.place, slots=(("by", by), ("of", scaled)))
        return Node(name, self.place, slots=(("left", left), ("right", right)))

    def _picked(self, tree: ast.Subscript) -> Node:
        if isinstance(tree.value, ast.Name) and self._is_unknown(tree.value.id):
            return self._collected(tree.value.id, getattr(tree.slice, "value", None))
        of = self._node(tree.value)
        index = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        indices = [ast.unparse(one) for one in index]
        if indices == [":", "None"]:
            return Node("rows", self.place, slots=(("of", of),))
        if indices == ["None", ":"]:
            return Node("columns", self.place, slots=(("of", of),))
        if of.operation == CONSTANT:
            return self._constant(self._value(tree), ast.unparse(tree))
        plain = [one for one in index if isinstance(one, ast.Constant | ast.Slice)]
        text = ", ".join(ast.unparse(one) if one in plain else "·" for one in index)
        at = [self._node(one) for one in index if one not in plain]
        return Node("at", self.place, text, (("of", of), *_numbered(at, "at")))

    def _called(self, tree: ast.Call) -> Node:
        name, own = ast.unparse(tree.func), []
        if isinstance(tree.func, ast.Attribute):
            name = tree.func.attr
            own = [] if self._is_module(tree.func.value) else [tree.func.value]
        name = name.removesuffix("_")
        arguments = [*own, *_spread(tree.args)]
        named = {k.arg: k.value for k in tree.keywords if k.arg and k.arg not in ABOUT_STORAGE}
        if isinstance(tree.func, ast.Name) and self._is_local(name):
            function = self._assigned(name)
            name = getattr(function and self._value(function), "__name__", name)
        if name in VALUE_PRESERVING and arguments:
            return self._node(arguments[0])
        if name in BOUNDED and not own and len(arguments) > 1:
            return self._of(BOUNDED[name], **dict(_numbered(list(map(self._node, arguments)))))
        if name == "isneginf":
            nothing = self._constant(-math.inf)
            return self._of("equal", left=self._node(arguments[0]), right=nothing)
        if name == "masked_fill":
            of, where, filling = arguments
            outside = self._negated(where)
            if outside.value is None and outside.result is None:
                outside.value = self._value(ast.UnaryOp(ast.Invert(), where))
            return self._of(MASKED, of=self._node(of), where=outside, other=self._node(filling))
        if name in ("clamp", "clamp_min") and (list(named) or ["min"]) == ["min"] and arguments:
            least = self._node(named["min"] if named else arguments[1])
            if least.operation == CONSTANT and least.value == 0:
                return self._of("relu", of=self._node(arguments[0]))
        if name == "relu" and arguments:
            return self._of("relu", of=self._node(arguments[0]))
        if name == "mean_of":
            return self._of("mean", of=self._node(arguments[0]), where=self._node(arguments[1]))
        if name in REDUCTIONS and arguments:
            over = named.pop("dim", arguments[1] if len(arguments) > 1 else None)
            of = self._node(arguments[0])
            single = isinstance(of.value, Tensor) and of.value.numel() == 1
            if single and REDUCTIONS[name] in ("sum", "mean", "max", "min"):
                return of
            # Over its one dimension is over all of a vector.
            if isinstance(of.value, Tensor) and of.value.ndim == 1:
                over = None
            one = {"one": self._constant(1)} if name == "log1p_sum_exp" else {}
            return self._of(REDUCTIONS[name], of=of, over=self._over(over), **one)
        if name == "len":
            return self._of("count", of=self._node(arguments[0]))
        if name in ("stack", "cat") and len(arguments) == 1:
            return self._node(arguments[0])
        if name in OWN_NAMES:
            name = f"{name}_of"  # a function of that name is not the operation
        slots = _numbered(list(map(self._node, arguments)))
        slots += [(key, self._node(value)) for key, value in named.items()]
        return Node(name, self.place, slots=tuple(slots))

    def _over(self, tree: ast.expr | None) -> Node:
        """Return the dimensions that an operation runs over."""
        if tree is None:
            return self._constant(None, "all")
        node, value = self._constant(None, ast.unparse(tree)), self._value(tree)
        dimensions = value if isinstance(value, tuple | list) else (value,)
        node.dimensions = tuple(one for one in dimensions if isinstance(one, int))
        return node

    def _of(self, name: str, **slots: Node) -> Node:
        return Node(name, self.place, slots=tuple(slots.items()))

    def _is_module(self, tree: ast.expr) -> bool:
        return isinstance(tree, ast.Name) and isinstance(self.globals.get(tree.id), ModuleType)


def _spread(arguments: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """The arguments, a tuple or a list of tensors as its members."""
    for one in arguments:
        if isinstance(one, ast.Tuple | ast.List):
            yield from one.elts
        elif not isinstance(one, ast.Starred):
            yield one


def _numbered(nodes: list[Node], name: str = "") -> list[tuple[str, Node]]:
    return [(f"{name}{place}", node) for place, node in enumerate(nodes)]
