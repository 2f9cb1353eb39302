"""Code of the documents that does not run in a test parses, and what it names is there."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import re
import shlex

import pytest

from lossprism.explorer.cli import argument_parser
from tests.code_blocks import DOCUMENTS, EXEMPT, ROOT, code_blocks, reason_not_to_run

BLOCKS = [(place, *block) for place in DOCUMENTS for block in code_blocks(place)]
# Indented commands.
INDENTED = [
    (place, line.strip())
    for place in DOCUMENTS
    for line in (ROOT / place).read_text(encoding="utf-8").splitlines()
    if re.match(r"    (python|pip|docker|\. )", line)
]
LINES = INDENTED + [
    (place, line)
    for place, language, text in BLOCKS
    if language in ("sh", "console", "powershell")
    for line in text.splitlines()
    if language != "console" or line.startswith("$ ")
]
# A line has one or several commands; of these, those of ours.
APP = [
    (place, shlex.split(found, comments=True))
    for place, line in LINES
    for found in re.findall(r"(?:python app\.py|(?:^|\$ )lossprism)\b([^&|]*)", line)
]
MODULES = sorted(
    {(place, name) for place, line in LINES for name in re.findall(r"-m ([\w.]+)", line)}
)


def test_the_languages_of_blocks_are_those_that_something_checks():
    known = {"python", "console", "text", "py", "sh", "powershell", "json", "nginx"}
    assert {(place, language) for place, language, _ in BLOCKS if language not in known} == set()
    assert len(APP) > 15
    assert len(MODULES) > 5


def test_code_that_does_not_run_says_why():
    """Blocks of `sh` and `python` run, in tests/release/test_document_code.py, and indented lines
    and `py` do not."""
    does_not = [line for _, line in INDENTED]
    does_not += [text for _, language, text in BLOCKS if language == "py"]
    for _, language, text in BLOCKS:
        does_not += text.splitlines() if language == "powershell" else []
    assert [text for text in does_not if not reason_not_to_run(text)] == []
    runs = [text.splitlines() for _, language, text in BLOCKS if language == "sh"]
    lines = [*does_not, *itertools.chain.from_iterable(runs)]
    assert [start for start in EXEMPT if not any(line.startswith(start) for line in lines)] == []


@pytest.mark.parametrize(("place", "words"), APP, ids=lambda one: " ".join(one) or "-")
def test_commands_are_ones_that_the_app_takes(place, words):
    if "--help" in words:
        with pytest.raises(SystemExit) as ended:
            argument_parser().parse_args(words)
        assert ended.value.code == 0
    else:
        argument_parser().parse_args(words)


@pytest.mark.parametrize(("place", "name"), MODULES)
def test_modules_that_are_run_are_there(place, name):
    assert importlib.util.find_spec(name), place


@pytest.mark.parametrize(
    ("place", "text"), [(place, text) for place, language, text in BLOCKS if language == "py"]
)
def test_code_that_needs_more_than_a_test_has_parses_and_its_imports_run(place, text):
    parsed = ast.parse(text.replace("…", "..."))
    imports = [one for one in parsed.body if isinstance(one, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), place, "exec"), {})


def test_configurations_in_json_are_json():
    found = [json.loads(text) for _, language, text in BLOCKS if language == "json"]
    assert len(found) > 1
