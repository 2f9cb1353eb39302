"""``python -m tests --interpreters``: the quick tests under every Python that is promised.

For each of them that this machine has, a fresh virtual environment in a temporary folder, the
requirements installed into it, and ``python -m tests --fast`` with what trains (or what else is
given) run there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USUAL = ["--fast", "-m", "not draws"]


def promised() -> list[str]:
    """The versions that pyproject.toml names: 3.11, 3.12, …"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    low, high = re.findall(r"3\.(\d+)", project["requires-python"])
    return [f"3.{minor}" for minor in range(int(low), int(high))]


def present(version: str) -> str | None:
    """A Python of this version: on the path, or one of pyenv's; None where there is none."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for command in (f"python{version}", *map(str, pyenv)):
        asked = [command, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
        try:
            said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        except OSError:
            continue
        if said.strip() == version:
            return command
    return None


def tried(python: str, folder: Path, arguments: list[str]) -> bool:
    """Whether the requirements can be installed under this Python, and the tests pass there."""
    inside = folder / "bin" / "python"
    return all(
        subprocess.run([*map(str, command)], cwd=ROOT, check=False).returncode == 0
        for command in (
            (python, "-m", "venv", folder),
            (inside, "-m", "pip", "install", "--quiet", "-r", "requirements-dev.txt"),
            (inside, "-m", "tests", *arguments),
        )
    )


def outcomes(arguments: list[str]) -> Iterator[tuple[str, str]]:
    for version in promised():
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
