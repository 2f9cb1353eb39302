"""The secret by which a hosted page knows the keys that it issued.

It stays in the cache folder, so that visitors keep what is theirs over a restart, and goes to the
processes that are started in the environment. Whoever hosts several machines sets the variable.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from explorer.runtime.cache import cache_folder

KEY_SECRET = "LOSSPRISM_KEY_SECRET"


def key_secret() -> bytes:
    """The secret of this page, made where there is none."""
    if not os.environ.get(KEY_SECRET):
        os.environ[KEY_SECRET] = _stored()
    return os.environ[KEY_SECRET].encode()


def _stored() -> str:
    """The secret in the cache folder; on a disk that takes no file, one until the page ends."""
    made = secrets.token_hex(32)
    try:
        path = cache_folder("keys") / "secret"
        if not path.exists():
            _create(path, made)
        return path.read_text() or made
    except OSError:
        return made


def _create(path: Path, text: str) -> None:
    """Write a file that the owner alone reads; of two who create it at a time the first wins."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(6)}.part")
    with open(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink()
