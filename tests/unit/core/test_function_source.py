"""Functions are read in one place, and each reader sees the same lines."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lossprism import explorer
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.function_source import FunctionSource, source_of, tree_of
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.core.trace import function_of
from lossprism.explorer.export.code import standalone_code
from lossprism.losses import LOSSES

HOME = Path(explorer.__file__).parent
READERS = {
    "core/function_source.py": "getsourcelines",
    "export/source_with_dependencies.py": "getsource(module)",
}


def test_nothing_else_reads_the_source_of_a_function():
    found = {
        path.relative_to(HOME).as_posix(): match[1]
        for path in HOME.rglob("*.py")
        for match in re.finditer(r"inspect\.(getsource\w*(?:\(\w+\))?)", path.read_text("utf-8"))
    }
    assert {name: used.removesuffix("(code)") for name, used in found.items()} == READERS


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "siglip", "info_nce+cosent", "lambda_loss"])
def test_trace_listing_and_code_show_the_same_lines(loss):
    data = Data(example="graded_lists") if loss == "lambda_loss" else Data()
    found = explore(Scenario(data=data, loss=loss))
    source = source_of(function_of(found.definition).__code__)
    assert found.trace.listing.startswith(source.text)
    assert found.trace.first_line == source.first_line
    assert source.text.rstrip() in standalone_code(found).text
    lines = found.trace.listing.splitlines()
    for step in found.trace.steps:
        first = lines[step.line - found.trace.first_line].strip()
        assert step.source.startswith(first)
        assert ast.unparse(tree_of(step.source)) == ast.unparse(ast.parse(step.source))


def test_a_statement_is_found_by_any_of_its_lines():
    source = FunctionSource(
        "def f():\n    x = (\n        1,\n    )\n    if x:\n        y = 'é'; z = 2\n", 10
    )
    assert [source.statement(line)[0] for line in (11, 12, 13)] == [11, 11, 11]
    assert source.statement(11)[1] == "x = (\n        1,\n    )"
    assert source.statement(15)[1] in ("y = 'é'", "z = 2")
    assert source.statement(99) == (99, "")
    assert source.definition is not None


def test_what_no_file_has_is_empty():
    made = {}
    exec("def f():\n    return 1\n", made)
    source = source_of(made["f"].__code__)
    assert (source.text, source.definition, source.statement(2)) == ("", None, (2, ""))
    assert tree_of("lambda x: (").body == []


def test_a_tree_is_read_once():
    code = LOSSES["cosent"].definition.__code__
    assert source_of(code).definition is source_of(code).definition
