"""The code of the documents: blocks between ``` lines, each with its language.

Blocks of `python` and `console` run in the tests; a block of `text` after one is its output, in
which "..." stands for anything. Blocks of `py` and `sh` need what a test has not, as a network or a
reader's own files: of these the imports run, and the commands are parsed.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What a reader is shown of the repository.
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))),
]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_blocks(place: str) -> list[tuple[str, str]]:
    """Return (language, text) of each block of a document, in order."""
    return FENCED.findall((ROOT / place).read_text(encoding="utf-8"))


def python_blocks(place: str) -> list[str]:
    """Return the text of each block that is Python to run."""
    return [text for language, text in code_blocks(place) if language == "python"]
