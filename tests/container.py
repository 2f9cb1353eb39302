"""What the Dockerfile says, read without Docker."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def instructions() -> list[tuple[str, str]]:
    """Each instruction's name, and the rest of its line, with those that go on joined."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if line and not line.startswith("#"))
    joined = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined)]


def only(name: str) -> str:
    """What follows the one instruction of this name."""
    (found,) = (rest for one, rest in instructions() if one == name)
    return found


def command() -> list[str]:
    """The command that the container runs: a shell's, and after it that of the app."""
    return json.loads(only("ENTRYPOINT"))


def app_command() -> list[str]:
    """The command of the app, which the shell becomes once nginx has started."""
    return command()[4:]


def health_command() -> list[str]:
    return json.loads(only("HEALTHCHECK").partition("CMD ")[2])


def environment() -> dict[str, str]:
    return dict(one.split("=", 1) for one in only("ENV").split())
