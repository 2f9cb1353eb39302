"""Definitions specialised to one set of options, without the branches that are not taken.

A definition may test whether an input is present (``if key_texts is not None``) or which option is
chosen (``if soft_margin``), and may take functions (``where``,
`losses.joined_mask_and_bias_rules`). In one call each test has one answer, and each function is
known. `specialised` answers the tests, inlines the functions, drops unused branches and
assignments, and returns a Python function with the remaining source. Every reader of source
(listing, trace, exported code, Compare) reads that one and knows nothing of options.
"""

import ast
import functools
import inspect
import itertools
import linecache
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeGuard

from torch import Tensor

from lossprism.explorer.core.function_source import source_of
from lossprism.explorer.core.specialised_source import (
    ArgumentValue,
    BoundFunction,
    JoinedRules,
    Source,
    Test,
    Writer,
    arguments_of,
    names_in,
)
from lossprism.explorer.runtime.python_parsing_lock import parsed
from lossprism.losses.combined.combined_loss_spec import part_inputs, parts_of, with_definitions
from lossprism.losses.combined.combined_loss_spec import part_values as options_of
from lossprism.losses.definition_chosen_by_options import chosen_definition
from lossprism.losses.joined_mask_and_bias_rules import Rules
from lossprism.losses.spec import Part

# Sets of answers, of which a definition has a few.
CACHED_FUNCTIONS = 1024
ANNOTATIONS = "from __future__ import annotations\n"
_FILE_NAME_START = "<specialised "
_serial = itertools.count(1)
_sum_of = functools.lru_cache(maxsize=CACHED_FUNCTIONS)(with_definitions)


def definition_at(
    definition: Callable[..., Tensor], arguments: Mapping[str, object]
) -> Callable[..., Tensor]:
    """Return the function that a definition runs for these inputs and parameters: for a composed
    one (`losses.definition_chosen_by_options`) the chosen one. `accepted` tells its arguments."""
    if parts := parts_of(definition):
        off = frozenset(name for name, value in arguments.items() if value is None)
        return _sum_of(definition, tuple(_part_at(part, arguments) for part in parts), off)
    variant, called = chosen_definition(definition, arguments)
    if _is_ours(variant):  # around it stands at most what makes the mask, which the batch has made
        variant = inspect.unwrap(variant)
    return specialised(variant, {**arguments, **called})


def _part_at(part: Part, arguments: Mapping[str, Any]) -> Callable[..., Tensor]:
    options = {**part_inputs(part, arguments, {}), **options_of(part, arguments)}
    return definition_at(part.spec.definition, options)


def specialised(
    function: Callable[..., Tensor], arguments: Mapping[str, object]
) -> Callable[..., Tensor]:
    """Return the function without branches that these arguments exclude.

    Args:
        function: a function at the top of a module of `losses`; any other, such as a user's own
            loss, is returned unchanged.
        arguments: its arguments by name. Missing ones have their default.

    Returns:
        The function itself if nothing can be dropped; else one of the same name that takes the
        arguments still used. `inspect` finds its source.
    """
    source = _source_of(function)
    if source is None:
        return function
    known = {**source.defaults, **arguments}
    answers = tuple(_answer(test, known) for test in source.tests)
    meanings = ((name, _argument_value(known.get(name))) for name in source.folded)
    return _with_answers(function, answers, tuple((n, m) for n, m in meanings if m is not None))


def _argument_value(value: object) -> ArgumentValue | None:
    if isinstance(value, tuple | str):
        return value
    return _rule(value) if callable(value) else None


def _rule(value: Any, *, within: bool = False) -> BoundFunction | JoinedRules:
    if isinstance(value, Rules):
        rules = tuple(_rule(rule, within=True) for rule in value.rules)
        return rules[0] if len(rules) == 1 else JoinedRules(value.operator, rules)
    if isinstance(value, functools.partial):
        return BoundFunction(value.func, tuple(value.keywords), within)
    return BoundFunction(value, (), within)


def accepted(function: Callable[..., object], arguments: Mapping[str, object]) -> dict[str, Any]:
    """Return those of the arguments that the function takes."""
    taken = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values()):
        return dict(arguments)
    return {name: value for name, value in arguments.items() if name in taken}


def is_specialised(function: Callable[..., object]) -> bool:
    """Return whether `specialised` wrote this function, so that no file has its source."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(_FILE_NAME_START)


@functools.cache
def _source_of(function: Callable[..., Tensor]) -> Source | None:
    """Read a function; None if it is no plain function of a file, or has nothing to decide."""
    if not _is_ours(function) or function.__closure__:
        return None
    text, tree = source_of(function.__code__).text, source_of(function.__code__).definition
    if tree is None or tree.decorator_list:
        return None
    nodes = list(ast.walk(tree))
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    fixed = {one.arg for one in arguments_of(tree)} - assigned
    asking = (node for node in nodes if isinstance(node, ast.If | ast.IfExp | ast.Assert))
    leaves = (leaf for node in asking for leaf in _leaves(node.test))
    tests = tuple(_test(leaf) for leaf in leaves if names_in(leaf) and names_in(leaf) <= fixed)
    defaults = {
        name: one.default
        for name, one in inspect.signature(function).parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    arguments = {one.arg for one in arguments_of(tree)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    picking = {call.args[0] for call in calls if _picks(function, call)}
    called = {call.func for call in calls}
    looked_up = {
        node.slice
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict)
    }
    named = {one.id for one in {*called, *picking, *looked_up} if isinstance(one, ast.Name)}
    folded = tuple(sorted(named & arguments))
    return Source(text, tree, defaults, tests, folded) if tests or folded else None


_LOSSES_PACKAGE = "lossprism.losses."


def _is_ours(function: object) -> TypeGuard[FunctionType]:
    return isinstance(function, FunctionType) and function.__module__.startswith(_LOSSES_PACKAGE)


def _picks(function: FunctionType, call: ast.Call) -> bool:
    """Return whether a call is to a function that only picks among values
    (`losses.definition_chosen_by_options`)."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return getattr(function.__globals__.get(name), "folds", False)


def _test(leaf: ast.expr) -> Test:
    operators = leaf.ops if isinstance(leaf, ast.Compare) else []
    of_presence = bool(operators) and all(isinstance(o, ast.Is | ast.IsNot) for o in operators)
    code = compile(ast.Expression(leaf), "<test>", "eval")
    return Test(leaf, frozenset(names_in(leaf)), of_presence, code)


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the names and comparisons of a test, joined by and, or, and not."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _leaves(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves(test.operand)
    elif isinstance(test, ast.Name | ast.Compare):
        yield test


def _answer(test: Test, known: Mapping[str, object]) -> bool | None:
    """Return the result of a test of arguments; None if it depends on the numbers of a tensor."""
    values = {name: known[name] for name in test.names}
    if not test.of_presence and any(isinstance(value, Tensor) for value in values.values()):
        return None
    return bool(eval(test.code, {"__builtins__": {}}, values))


@functools.lru_cache(maxsize=CACHED_FUNCTIONS)
def _with_answers(
    function: Callable[..., Tensor],
    answers: tuple[bool | None, ...],
    meanings: tuple[tuple[str, ArgumentValue], ...],
) -> Callable[..., Tensor]:
    source = _source_of(function)
    assert source is not None
    assert isinstance(function, FunctionType)
    by_test = {test.tree: answer for test, answer in zip(source.tests, answers, strict=True)}
    text = Writer(source, by_test, dict(meanings), function.__globals__).written()
    if text == source.text:
        return function
    place = f"{_FILE_NAME_START}{function.__name__} {next(_serial)}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    tree = parsed(ANNOTATIONS + text)
    ast.increment_lineno(tree, -1)
    namespace: dict[str, Any] = {}
    exec(compile(tree, place, "exec"), function.__globals__, namespace)
    result = namespace[function.__name__]
    result.__doc__ = function.__doc__
    return result
