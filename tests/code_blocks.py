"""The code of the documents: blocks between ``` lines, each with its language.

Blocks of `python`, `console` and `sh` run in the tests; a block of `text` after one is its output,
in which "..." stands for anything. What does not run is in `EXEMPT`, with the reason: of these
lines the imports run, and the commands are parsed. `json` is parsed, and with the lines of `nginx`
nginx runs (`tests/browser/test_proxied.py`).
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
FENCED = re.compile(r"^ *```([^`\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def code_blocks(place: str) -> list[tuple[str, str]]:
    """Return (language, text) of each block of a document, in order."""
    return FENCED.findall((ROOT / place).read_text(encoding="utf-8"))


def python_blocks(place: str) -> list[str]:
    """Return the text of each block that is Python to run."""
    return [text for language, text in code_blocks(place) if language == "python"]


SERVES = "serves until it is stopped; tests/browser and tests/process start it"
TESTS = "is how the tests themselves are started"
INSTALLS = "installs: .ci/run does so with the test command of the README"
OWN_TRAINING = "is a line of a reader's own training; docs/tutorials/trainer.md runs one whole"
OWN_FOLDER = "reads a reader's own training; tests/unit/lab/doctor has folders of trainers"
# How a line of a command, or a block of Python, begins that does not run, and why.
EXEMPT = {
    "python3 -m venv": INSTALLS,
    "pip install $(grep torch==": "asks an index beside PyPI for PyTorch without CUDA",
    "py -m venv": "is for Windows",
    ".venv\\Scripts\\": "is for Windows",
    "python app.py --window": "opens a window; tests/process/test_window.py does",
    "python app.py --hosted": SERVES,
    "python app.py --loss": SERVES,
    "python -m mkdocs serve": "serves the site, which tests/release/test_documentation.py builds",
    "python -m tests": TESTS,
    "python -m pytest": TESTS,
    "python -m scripts.class_stubs": "writes to the repository what a test compares with it",
    "python -m scripts.publish": "publishes; tests/release/test_publish.py runs it",
    "docker": "needs docker; tests/test_container.py reads the Dockerfile",
    "python app.py doctor output/checkpoint-500": OWN_FOLDER,
    "python app.py doctor trainer_state.json": OWN_FOLDER,
    "python app.py compare RUN…": "reads a reader's own runs; tests/process/training compares some",
    "from gradio_client": "calls the running app; tests/unit/web/test_api_offered.py runs it",
    "from lossprism.losses.sentence_transformers": OWN_TRAINING,
    "frame = pandas.DataFrame": "abbreviates columns; tests/unit/notebook shows such a frame",
}


def reason_not_to_run(text: str) -> str:
    """Return why a line or a block does not run, "" for one that runs."""
    return next((why for start, why in EXEMPT.items() if text.startswith(start)), "")
