"""The secret by which a hosted page recognises keys that it issued.

It is stored in the cache folder, so that visitors keep their data over a restart, and passed in the
environment to processes started later. A host with several machines sets the variable.
"""

import contextlib
import os
import secrets
from pathlib import Path

from lossprism.explorer.runtime.cache_folder import cache_folder

KEY_SECRET = "LOSSPRISM_KEY_SECRET"


def key_secret() -> bytes:
    """Return the secret of this page, created if missing."""
    if not os.environ.get(KEY_SECRET):
        os.environ[KEY_SECRET] = _stored()
    return os.environ[KEY_SECRET].encode()


def _stored() -> str:
    """Return the secret in the cache folder; if the disk takes no file, one until the page
    ends."""
    secret = secrets.token_hex(32)
    try:
        path = cache_folder("keys") / "secret"
        if not path.exists():
            _create(path, secret)
        return path.read_text() or secret
    except OSError:
        return secret


def _create(path: Path, text: str) -> None:
    """Write a file that only the owner can read; of two simultaneous writers the first wins."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(6)}.part")
    with open(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink()
