"""The source of a function with its tests answered and its rules inlined (`specialised`)."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from lossprism.explorer.core.function_source import source_of
from lossprism.explorer.runtime.python_parsing_lock import parsed

# The longest line of code in this project; a longer signature has one argument a line.
LINE_LENGTH = 100
# Of an argument that is there, this is left out.
OPTIONAL = " | None"


@dataclass(frozen=True)
class Test:
    """A test that arguments decide, the names in it, and whether it only asks which are present."""

    tree: ast.expr
    names: frozenset[str]
    of_presence: bool
    code: CodeType


@dataclass(frozen=True)
class Source:
    """A function's text and tree, its defaults, the tests that its arguments decide, and the names
    of arguments that it calls or passes to a function that picks by them."""

    text: str
    tree: ast.FunctionDef
    defaults: Mapping[str, object]
    tests: tuple[Test, ...]
    folded: tuple[str, ...]


@dataclass(frozen=True)
class BoundFunction:
    """A function of the definition's module, and the settings bound to it."""

    function: Callable[..., Any]
    settings: tuple[str, ...] = ()
    is_rule: bool = False


@dataclass(frozen=True)
class JoinedRules:
    """Rules joined by an operator."""

    operator: str
    rules: tuple[BoundFunction | JoinedRules, ...]


# What an argument stands for: a function, rules, or constants to pick by.
ArgumentValue = BoundFunction | JoinedRules | tuple[str, ...] | str


def arguments_of(tree: ast.FunctionDef) -> list[ast.arg]:
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@functools.cache
def _returned(function: Callable[..., Any]) -> tuple[str, ast.expr] | None:
    """Return the only expression of a function that consists of a return, as text and tree; else
    None."""
    tree = source_of(function.__code__).definition
    match tree and tree.body:
        case [ast.Expr(value=ast.Constant()), ast.Return(value=ast.expr() as value)]:
            text = ast.unparse(value)
            expression = parsed(text).body[0]
            assert isinstance(expression, ast.Expr)
            return text, expression.value
    return None


class Writer:
    """Writer of the shortened source of a function, which keeps layout and comments.

    Args:
        source: the function.
        answers: the result of each of its tests; None for one that stays.
        meanings: the value of each argument by name.
        known: the names at the top of the function's module.
    """

    def __init__(
        self,
        source: Source,
        answers: Mapping[ast.expr, bool | None],
        meanings: Mapping[str, ArgumentValue],
        known: Mapping[str, Any],
    ) -> None:
        self._source, self._answers = source, answers
        self._meanings, self._known = meanings, known
        self._lines = source.text.splitlines()
        self._present = {
            ast.unparse(test.left)
            for test, answer in answers.items()
            if isinstance(test, ast.Compare) and answer is isinstance(test.ops[0], ast.IsNot)
        }
        self._own = {one.arg for one in arguments_of(source.tree)}
        stored = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name))
        self._stored = Counter(n.id for n in stored if isinstance(n.ctx, ast.Store))
        self._renamed: dict[str, str] = {}  # what is another name of the same
        self._settings: dict[str, str] = {}  # of rules, with their types

    def written(self) -> str:
        tree = self._source.tree
        kept = _without_unused_assignments(list(self._statements(tree.body)))
        body = "\n".join(kept)
        return f"{self._signature(body)}\n{textwrap.indent(body, '    ')}\n"

    def _statements(self, body: Sequence[ast.stmt]) -> Iterator[str]:
        """Yield the text of each statement that runs, with the comments above it."""
        for statement in body:
            match statement:
                case ast.If(test=test) if (taken := self._decided(test)) is not None:
                    yield from self._statements(statement.body if taken else statement.orelse)
                case ast.Assert(test=test) if self._decided(test):
                    pass
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp() as choice) if (
                    (other := self._unchanged_name(choice))
                    and self._stored[name] == 1
                    and name not in self._own
                ):
                    self._renamed[name] = other
                case _:
                    yield self._text(statement)

    def _decided(self, test: ast.expr) -> bool | None:
        """Return the result of a whole test; None if its answers leave it open."""
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

    def _unchanged_name(self, choice: ast.IfExp) -> str | None:
        """Return the name x of a decided `x if test else f(x)` that yields x: an option that is
        off."""
        taken = self._decided(choice.test)
        chosen, other = choice.body, choice.orelse
        if not taken:
            chosen, other = other, chosen
        off = taken is not None and isinstance(chosen, ast.Name) and chosen.id in names_in(other)
        return chosen.id if off and isinstance(chosen, ast.Name) else None

    def _text(self, statement: ast.stmt) -> str:
        first = last = statement.lineno - 1
        while self._lines[first - 1].lstrip().startswith("#"):
            first -= 1
        comments = [line.strip() for line in self._lines[first:last]]
        whole = (statement.lineno, 0, statement.end_lineno or 0, statement.end_col_offset or 0)
        text = textwrap.dedent(self._rewritten(statement, whole))
        if isinstance(statement, ast.Assign) and len(text) + 4 > LINE_LENGTH:
            text = _wrapped_assignment(text)
        return "\n".join([*comments, text])

    def _rewritten(self, tree: ast.AST, span: tuple[int, int, int, int]) -> str:
        """Return the text of a span of the source with the decided expressions replaced."""
        pieces, (line, column, end_line, end_column) = [], span
        for node, text in self._edits(tree):
            pieces.append(self._between(line, column, node.lineno, node.col_offset))
            pieces.append(text)
            _, _, line, column = _span(node)
        pieces.append(self._between(line, column, end_line, end_column))
        return "".join(pieces)

    def _edits(self, tree: ast.AST) -> list[tuple[ast.expr, str]]:
        """Yield the outermost expressions to replace, in the order of the text."""
        edits, left = [], [(tree, tree)]
        while left:
            node, parent = left.pop()
            text = self._replacement(node, parent) if isinstance(node, ast.expr) else None
            if isinstance(node, ast.expr) and text is not None:
                edits.append((node, text))
            else:
                left += [(child, node) for child in ast.iter_child_nodes(node)]
        return sorted(edits, key=lambda edit: _span(edit[0]))

    def _replacement(self, node: ast.expr, parent: ast.AST) -> str | None:
        """Return the replacement of an expression inside another; None to keep it."""
        match node:
            case ast.IfExp(test=test) if (taken := self._decided(test)) is not None:
                chosen = node.body if taken else node.orelse
                return self._rewritten(chosen, _span(chosen))
            case ast.Name(id=name, ctx=ast.Load()) if name in self._renamed:
                return self._renamed[name]
            case ast.Call(func=ast.Name(id=name)) if name in self._meanings:
                alone = isinstance(parent, ast.Assign)
                text = self._applied(self._meanings[name], node, inline=alone)
                operand = isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Attribute)
                joined = isinstance(self._meanings[name], JoinedRules)
                return f"({text})" if joined and operand else text
            case ast.Call(
                func=ast.Name(id=name), args=[ast.Name(id=by), ast.Tuple(elts=values)]
            ) if by in self._meanings:
                texts = [self._rewritten(one, _span(one)) for one in values]
                picked = self._known[name](self._meanings[by], texts)
                return f"({', '.join(picked)}{',' * (len(picked) == 1)})"
            case ast.Subscript(value=ast.Dict(keys=keys, values=values), slice=ast.Name(id=by)) if (
                by in self._meanings
            ):
                named = {getattr(k, "value", None): v for k, v in zip(keys, values, strict=True)}
                picked = named[self._meanings[by]]
                return self._rewritten(picked, _span(picked))
        return None

    def _applied(self, meaning: ArgumentValue, call: ast.Call, *, inline: bool) -> str:
        """Return a call of an argument's function with its bound settings; if `inline`, the
        expression that a one-line rule returns."""
        if isinstance(meaning, JoinedRules):
            texts = (self._applied(one, call, inline=inline) for one in meaning.rules)
            inner = (
                f"({text})" if isinstance(one, JoinedRules) else text
                for one, text in zip(meaning.rules, texts, strict=True)
            )
            return f" {meaning.operator} ".join(inner)
        assert isinstance(meaning, BoundFunction)
        function = meaning.function
        texts = [self._rewritten(one, _span(one)) for one in call.args]
        beside = {k.arg: self._rewritten(k.value, _span(k.value)) for k in call.keywords}
        parameters = inspect.signature(function, eval_str=True).parameters
        for name, parameter in list(parameters.items())[len(texts) :]:
            if name in meaning.settings:
                type_ = inspect.formatannotation(parameter.annotation).removeprefix("torch.")
                self._settings[name] = type_.removesuffix(OPTIONAL)
                beside[name] = name
            if name in beside:
                texts.append(beside[name])
        if inline and meaning.is_rule and (short := self._inlined(function, texts)):
            return short
        assert self._known.get(function.__name__) is function, function
        return f"{function.__name__}({', '.join(texts)})"

    def _inlined(self, function: Callable[..., Any], texts: Sequence[str]) -> str | None:
        """Return the expression of a one-line rule; None for a longer one, or if it uses something
        that the definition's module has not imported."""
        returned = _returned(function)
        if returned is None or not all(text.isidentifier() for text in texts):
            return None
        text, expression = returned
        arguments = dict(zip(inspect.signature(function).parameters, texts, strict=False))
        names = [node for node in ast.walk(expression) if isinstance(node, ast.Name)]
        for name in {one.id for one in names} - arguments.keys():
            own = getattr(function, "__globals__", {}).get(name)
            if own is None or self._known.get(name) is not own:
                return None
        edits = [(one.col_offset, one.end_col_offset or 0, arguments.get(one.id)) for one in names]
        for start, end, new in sorted(edits, reverse=True):
            text = text if new is None else f"{text[:start]}{new}{text[end:]}"
        return text if isinstance(expression, ast.UnaryOp | ast.Call) else f"({text})"

    def _between(self, line: int, column: int, end_line: int, end_column: int) -> str:
        """Return the text between two places; columns count bytes, as in syntax trees."""
        lines = [text.encode() for text in self._lines[line - 1 : end_line]]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return b"\n".join(lines).decode()

    def _signature(self, body: str) -> str:
        tree, read = self._source.tree, names_in(parsed(body))
        places = tree.args.posonlyargs + tree.args.args
        defaults = [None] * (len(places) - len(tree.args.defaults)) + tree.args.defaults
        by_place = [
            self._argument(one, default)
            for one, default in zip(places, defaults, strict=True)
            if one.arg in read
        ]
        by_name = [
            self._argument(one, default)
            for one, default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
            if one.arg in read
        ]
        by_name += [
            f"{name}: {of_type}"
            for name, of_type in self._settings.items()
            if name in read and name not in self._own
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


def _wrapped_assignment(text: str) -> str:
    """Break a long assignment, one argument or operand a line."""
    (statement,) = parsed(text).body
    assert isinstance(statement, ast.Assign)
    target = text.partition(" = ")[0]
    written = functools.partial(ast.get_source_segment, text)
    match statement.value:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            inside = [f"{written(one)}," for one in (*arguments, *keywords)]
            opened = f"{written(function)}("
        case ast.BinOp(op=operator) as value:
            sign = {ast.BitAnd: "&", ast.BitOr: "|"}.get(type(operator), "+")
            operands = [value.right]
            while isinstance(value.left, ast.BinOp) and isinstance(value.left.op, type(operator)):
                value = value.left
                operands.append(value.right)
            first, *others = [written(one) for one in (value.left, *reversed(operands))]
            inside, opened = [str(first), *(f"{sign} {one}" for one in others)], "("
        case _:
            return text
    lines = "".join(f"    {line}\n" for line in inside)
    return f"{target} = {opened}\n{lines})"


def _span(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _without_unused_assignments(statements: Sequence[str]) -> list[str]:
    """Drop assignments to names that no later statement reads."""
    kept: list[str] = []
    read: set[str] = set()
    for text in reversed(statements):
        (statement,) = parsed(text).body
        if isinstance(statement, ast.Assign):
            targets = set().union(*(names_in(target) for target in statement.targets))
            plain = all(isinstance(t, ast.Name | ast.Tuple) for t in statement.targets)
            if plain and not targets & read:
                continue
        kept.append(text)
        read |= names_in(statement)
    return kept[::-1]
