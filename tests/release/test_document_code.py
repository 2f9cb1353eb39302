"""The code of the documentation runs and prints what stands below it."""

from __future__ import annotations

import contextlib
import doctest
import io
import shlex
import subprocess
from collections.abc import Iterator

import pytest

from lossprism.explorer.core.scenario import Scenario
from tests import warm
from tests.code_blocks import DOCUMENTS, ROOT, code_blocks, reason_not_to_run

RUN = ("python", "console", "sh")
# What a reader has in place of these names of the documents.
LINK = Scenario().to_link()
PAIRS = "sentence1\tsentence2\tscore\n" + "".join(
    f"A cat of {n} years sleeps.\tAn animal rests, number {n % 9}.\t{n % 6}\n" for n in range(40)
)
RUNNING = [
    place for place in DOCUMENTS if any(language in RUN for language, _ in code_blocks(place))
]
ALIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("document", RUNNING)
def test_its_code_prints_what_stands_below_it(document, tmp_path, monkeypatch):
    """One after the other, in one empty folder and with one set of names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    names: dict = {"__name__": "__main__"}
    for code, printed, expected in steps(code_blocks(document), names):
        if expected is not None:
            same = doctest.OutputChecker().check_output(expected, printed, ALIKE)
            assert same, f"{code}\nprinted\n{printed}\nand not\n{expected}"


def steps(blocks: list[tuple[str, str]], names: dict) -> Iterator[tuple[str, str, str | None]]:
    """Run each piece: (what ran, what it printed, what the document says that it prints)."""
    for place, (language, text) in enumerate(blocks):
        following = blocks[place + 1] if place + 1 < len(blocks) else ("", "")
        if language == "python":
            yield text, printed_by(text, names), following[1] if following[0] == "text" else None
        if language == "console":
            for piece in text.removeprefix("$ ").split("\n$ "):
                command, _, expected = piece.partition("\n")
                yield command, printed_by_command(command), expected or None
        if language == "sh":
            for line in text.splitlines():
                if not reason_not_to_run(line):
                    yield line, printed_by_command(line.replace("LINK", LINK)), None


def printed_by(code: str, names: dict) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<document>", "exec"), names)
    return printed.getvalue()


def printed_by_command(command: str) -> str:
    """The output of `python app.py …`, which starts from the folder that the blocks work in."""
    program, script, *words = shlex.split(command, comments=True)
    assert (program, script) == ("python", "app.py"), command
    line = [warm.python(), str(ROOT / "app.py"), *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # 1: Doctor found something severe
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def test_all_tutorials_run():
    """A tutorial without code that runs would be a promise nobody checks."""
    tutorials = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    named = {path.relative_to(ROOT).as_posix() for path in tutorials if path.stem != "index"}
    assert named <= set(RUNNING)
    assert {"docs/quick-start.md", "docs/zh/index.md"} <= set(RUNNING)
