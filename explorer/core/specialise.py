"""A definition as it runs under one set of options: without the branches that are not taken.

A definition may ask whether an input is there (``if key_texts is not None``) or which option is
chosen (``if soft_margin``). For one call all of these tests have one answer. `specialised` answers
them, drops the branches and assignments that nothing reads any more, and returns a Python function
with the source that is left. Whoever reads source (the listing, the trace's line numbers, the code
to take away, Compare's expressions) reads that of this function and needs to know nothing of
options.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from torch import Tensor

from explorer.runtime.parsing import parsed

# The longest line of code in this project; a longer signature has one argument a line.
LINE_LENGTH = 100
# Sets of answers, of which a definition has a few.
CACHED_FUNCTIONS = 1024
# Of an argument that is there, this is left out.
OPTIONAL = " | None"
ANNOTATIONS = "from __future__ import annotations\n"
_PLACE = "<specialised "
_serial = itertools.count(1)


@dataclass(frozen=True)
class _Test:
    """A test that arguments decide, the names in it, and whether it asks only which are there."""

    tree: ast.expr
    names: frozenset[str]
    of_presence: bool
    code: CodeType


@dataclass(frozen=True)
class _Source:
    """A function's text and tree, its defaults, and the tests in it that its arguments decide."""

    text: str
    tree: ast.FunctionDef
    defaults: Mapping[str, object]
    tests: tuple[_Test, ...]


def specialised(
    function: Callable[..., Tensor], arguments: Mapping[str, object]
) -> Callable[..., Tensor]:
    """Return the function without what these arguments leave out.

    Args:
        function: a function at the top of a module of `losses`; anything else, such as a loss of
            the user's own, is returned as it is.
        arguments: by name what it will be called with. Missing ones have their default.

    Returns:
        The function itself where nothing can be left out; else one of the same name that takes
        the arguments that are still read. `inspect` finds its source as that of any other.
    """
    source = _source_of(function)
    if source is None:
        return function
    known = {**source.defaults, **arguments}
    return _with_answers(function, tuple(_answer(test, known) for test in source.tests))


def accepted(function: Callable[..., object], arguments: Mapping[str, object]) -> dict[str, Any]:
    """Return those of the arguments that the function takes."""
    taken = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values()):
        return dict(arguments)
    return {name: value for name, value in arguments.items() if name in taken}


def is_specialised(function: Callable[..., object]) -> bool:
    """Whether `specialised` wrote this function, so that no file has its source."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(_PLACE)


@functools.cache
def _source_of(function: Callable[..., Tensor]) -> _Source | None:
    """Read a function; None where it is no plain function of a file, or has nothing to decide."""
    ours = isinstance(function, FunctionType) and function.__module__.startswith("losses.")
    if not ours or function.__closure__:
        return None
    try:
        text = inspect.getsource(function)
    except OSError:  # a sum of losses, built by exec, has no file
        return None
    tree = parsed(text).body[0]
    if not isinstance(tree, ast.FunctionDef) or tree.decorator_list:
        return None
    nodes = list(ast.walk(tree))
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    fixed = {one.arg for one in _arguments(tree)} - assigned
    asking = (node for node in nodes if isinstance(node, ast.If | ast.IfExp | ast.Assert))
    leaves = (leaf for node in asking for leaf in _leaves(node.test))
    tests = tuple(_test(leaf) for leaf in leaves if _names(leaf) and _names(leaf) <= fixed)
    defaults = {
        name: one.default
        for name, one in inspect.signature(function).parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    return _Source(text, tree, defaults, tests) if tests else None


def _test(leaf: ast.expr) -> _Test:
    operators = leaf.ops if isinstance(leaf, ast.Compare) else []
    of_presence = bool(operators) and all(isinstance(o, ast.Is | ast.IsNot) for o in operators)
    code = compile(ast.Expression(leaf), "<test>", "eval")
    return _Test(leaf, frozenset(_names(leaf)), of_presence, code)


def _arguments(tree: ast.FunctionDef) -> list[ast.arg]:
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the names and comparisons of a test, which and, or, and not hold together."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _leaves(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves(test.operand)
    elif isinstance(test, ast.Name | ast.Compare):
        yield test


def _answer(test: _Test, known: Mapping[str, object]) -> bool | None:
    """Whether a test of arguments holds; None where the numbers of a tensor say so."""
    held = {name: known[name] for name in test.names}
    if not test.of_presence and any(isinstance(value, Tensor) for value in held.values()):
        return None
    return bool(eval(test.code, {"__builtins__": {}}, held))


@functools.lru_cache(maxsize=CACHED_FUNCTIONS)
def _with_answers(
    function: Callable[..., Tensor], answers: tuple[bool | None, ...]
) -> Callable[..., Tensor]:
    source = _source_of(function)
    assert source is not None
    assert isinstance(function, FunctionType)
    by_test = {test.tree: answer for test, answer in zip(source.tests, answers, strict=True)}
    text = _Writer(source, by_test).written()
    if text == source.text:
        return function
    place = f"{_PLACE}{function.__name__} {next(_serial)}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    tree = parsed(ANNOTATIONS + text)
    ast.increment_lineno(tree, -1)
    made: dict[str, Any] = {}
    exec(compile(tree, place, "exec"), function.__globals__, made)
    result = made[function.__name__]
    result.__doc__ = function.__doc__
    return result


class _Writer:
    """Write what is left of a function as it stood there, with its comments."""

    def __init__(self, source: _Source, answers: Mapping[ast.expr, bool | None]) -> None:
        self._source, self._answers = source, answers
        self._lines = source.text.splitlines()
        self._present = {
            ast.unparse(test.left)
            for test, answer in answers.items()
            if isinstance(test, ast.Compare) and answer is isinstance(test.ops[0], ast.IsNot)
        }

    def written(self) -> str:
        tree = self._source.tree
        kept = _read_later(list(self._statements(tree.body)))
        body = "\n".join(kept)
        return f"{self._signature(body)}\n{textwrap.indent(body, '    ')}\n"

    def _statements(self, body: Sequence[ast.stmt]) -> Iterator[str]:
        """Yield the text of each statement that is run, with the comments above it."""
        for statement in body:
            match statement:
                case ast.If(test=test) if (taken := self._decided(test)) is not None:
                    yield from self._statements(statement.body if taken else statement.orelse)
                case ast.Assert(test=test) if self._decided(test):
                    pass
                case _:
                    yield self._text(statement)

    def _decided(self, test: ast.expr) -> bool | None:
        """What a whole test comes to, None where its answers leave that open."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                answer = self._decided(operand)
                return None if answer is None else not answer
            case ast.BoolOp(op=operator, values=values):
                ends = isinstance(operator, ast.Or)  # the answer after which none is asked
                answers = [self._decided(value) for value in values]
                if ends in answers:
                    return ends
                return None if None in answers else not ends
        return self._answers.get(test)

    def _text(self, statement: ast.stmt) -> str:
        first = last = statement.lineno - 1
        while self._lines[first - 1].lstrip().startswith("#"):
            first -= 1
        comments = [line.strip() for line in self._lines[first:last]]
        whole = (statement.lineno, 0, statement.end_lineno or 0, statement.end_col_offset or 0)
        text = textwrap.dedent(self._with_choices(statement, whole))
        return "\n".join([*comments, text])

    def _with_choices(self, tree: ast.AST, span: tuple[int, int, int, int]) -> str:
        """The text of a span of the source, with each decided `a if test else b` as a or b."""
        pieces, (line, column, end_line, end_column) = [], span
        for choice in _outermost_choices(tree):
            taken = self._decided(choice.test)
            if taken is not None:
                chosen = choice.body if taken else choice.orelse
                pieces.append(self._between(line, column, choice.lineno, choice.col_offset))
                pieces.append(self._with_choices(chosen, _span(chosen)))
                _, _, line, column = _span(choice)
        pieces.append(self._between(line, column, end_line, end_column))
        return "".join(pieces)

    def _between(self, line: int, column: int, end_line: int, end_column: int) -> str:
        """The text from one place to another; columns count bytes, as in syntax trees."""
        lines = [text.encode() for text in self._lines[line - 1 : end_line]]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return b"\n".join(lines).decode()

    def _signature(self, body: str) -> str:
        tree, read = self._source.tree, _names(parsed(body))
        places = tree.args.posonlyargs + tree.args.args
        given = [None] * (len(places) - len(tree.args.defaults)) + tree.args.defaults
        by_place = [
            self._argument(one, default)
            for one, default in zip(places, given, strict=True)
            if one.arg in read
        ]
        by_name = [
            self._argument(one, default)
            for one, default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
            if one.arg in read
        ]
        arguments = [*by_place, *(["*", *by_name] if by_name else [])]
        returned = f" -> {self._between(*_span(tree.returns))}" if tree.returns else ""
        in_one = ", ".join(arguments)
        if len(line := f"def {tree.name}({in_one}){returned}:") <= LINE_LENGTH:
            return line
        if len(in_one) + 4 > LINE_LENGTH:
            in_one = ",\n    ".join(arguments) + ","
        return f"def {tree.name}(\n    {in_one}\n){returned}:"

    def _argument(self, argument: ast.arg, default: ast.expr | None) -> str:
        of_type = argument.annotation and f": {self._between(*_span(argument.annotation))}"
        if of_type and argument.arg in self._present and of_type.endswith(OPTIONAL):
            return f"{argument.arg}{of_type.removesuffix(OPTIONAL)}"
        if default is None:
            return f"{argument.arg}{of_type or ''}"
        equals = " = " if of_type else "="
        return f"{argument.arg}{of_type or ''}{equals}{self._between(*_span(default))}"


def _outermost_choices(tree: ast.AST) -> list[ast.IfExp]:
    """Every `a if test else b` that stands in no other one, in the order of the text."""
    found, left = [], [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.IfExp):
            found.append(node)
        else:
            left += ast.iter_child_nodes(node)
    return sorted(found, key=lambda choice: (choice.lineno, choice.col_offset))


def _span(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _read_later(statements: Sequence[str]) -> list[str]:
    """Leave out assignments to names that no later statement reads."""
    kept: list[str] = []
    read: set[str] = set()
    for text in reversed(statements):
        (statement,) = parsed(text).body
        if isinstance(statement, ast.Assign):
            targets = set().union(*(_names(target) for target in statement.targets))
            plain = all(isinstance(t, ast.Name | ast.Tuple) for t in statement.targets)
            if plain and not targets & read:
                continue
        kept.append(text)
        read |= _names(statement)
    return kept[::-1]
