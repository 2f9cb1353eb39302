"""``python -m tests --interpreters``: the quick tests under every Python that is promised.

For each of them that this machine has, a fresh virtual environment in a temporary folder, the
requirements installed into it, and ``python -m tests --fast`` with what trains (or what else is
given) run there. ``python -m tests.interpreters --without-torch``, for CI, installs a few small
packages: it compiles all files, asks for the version, and runs tests that need no torch.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USUAL = ["--fast", "-m", "not draws"]
WITHOUT_TORCH = "--without-torch"
SOURCES = ("app.py", "lossprism", "losses", "explorer", "tests", "benchmarks", "scripts")
PACKAGES = (
    *("cachetools", "chardet", "hypothesis", "numpy", "orjson", "platformdirs", "psutil"),
    *("pyarrow", "pytest", "pytest-xdist"),
)
TORCHLESS_TESTS = (
    "tests/test_structure.py",
    "tests/unit/runtime/test_number_format.py",
    "tests/unit/runtime/test_python_parsing_lock.py",
    "tests/unit/runtime/test_redaction.py",
    "tests/unit/runtime/test_validation.py",
    "tests/unit/scripts/test_command_line.py",
    "tests/unit/sources/test_character_encodings.py",
    "tests/unit/sources/test_nested_forms.py",
    "tests/unit/sources/test_label_column_notation_detection.py",
    "tests/unit/sources/test_pairs_without_labels.py",
)


def promised() -> list[str]:
    """The versions that pyproject.toml names: 3.11, 3.12, …"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    low, high = re.findall(r"3\.(\d+)", project["requires-python"])
    return [f"3.{minor}" for minor in range(int(low), int(high))]


def present(version: str) -> str | None:
    """A Python of this version: on the path, or one of pyenv's; None where there is none."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for command in (f"python{version}", *map(str, pyenv)):
        command_line = [command, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
        try:
            output = subprocess.run(
                command_line, capture_output=True, text=True, check=False
            ).stdout
        except OSError:
            continue
        if output.strip() == version:
            return command
    return None


def tried(python: str, folder: Path, arguments: list[str]) -> bool:
    """Whether the requirements can be installed under this Python, and the tests pass there."""
    inside = folder / "bin" / "python"
    wanted = torchless_commands() if arguments == [WITHOUT_TORCH] else usual_commands(arguments)
    commands = [(python, "-m", "venv", folder), *((inside, *words) for words in wanted)]
    # Compiled files of several Pythons stay out of the checkout.
    apart = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    return all(
        subprocess.run([*map(str, command)], cwd=ROOT, env=apart, check=False).returncode == 0
        for command in commands
    )


def usual_commands(arguments: list[str]) -> list[tuple[str, ...]]:
    """What Python runs to install all requirements and run the tests."""
    return [
        ("-m", "pip", "install", "--quiet", "-r", "requirements-dev.txt"),
        ("-m", "tests", *arguments),
    ]


def torchless_commands() -> list[tuple[str, ...]]:
    """What Python runs to try the parts that need no torch."""
    lines = re.findall(
        r"^[a-z][\w-]*.*", (ROOT / "requirements-dev.txt").read_text("utf-8"), re.MULTILINE
    )
    lines += (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    small = [one for one in lines if re.match(r"[\w-]+", one)[0] in PACKAGES]
    tests = ("--quiet", "--noconftest", "-p", "no:cacheprovider", *TORCHLESS_TESTS)
    return [
        ("-m", "pip", "install", "--quiet", *small),
        ("-m", "compileall", "-q", "-f", *SOURCES),
        ("app.py", "--version"),
        ("-m", "pytest", *tests),
    ]


def outcomes(arguments: list[str]) -> Iterator[tuple[str, str]]:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    for version in promised():
        if version == here and arguments == [WITHOUT_TORCH]:  # which runs all tests
            continue
        python = present(version)
        if python is None:
            yield version, "not on this machine"
            continue
        print(f"\nPython {version}: {python}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            yield version, "passed" if tried(python, Path(folder), arguments) else "FAILED"


def main(*arguments: str) -> int:
    found = list(outcomes(list(arguments) or USUAL))
    print("\n".join(["", *(f"Python {version}: {outcome}" for version, outcome in found)]))
    return int(any(outcome == "FAILED" for _, outcome in found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
