"""Keys that a hosted page issues to its visitors, and the secret by which it recognises them.

The secret is stored in the cache folder, so that visitors keep their data over a restart, and
passed in the environment to processes started later. A host with several machines sets the
variable.
"""

import contextlib
import hmac
import os
import re
import secrets
from pathlib import Path

from lossprism.explorer.runtime.cache_folder import cache_folder
from lossprism.explorer.runtime.deployment_policy import deployment_policy

KEY_SECRET = "LOSSPRISM_KEY_SECRET"
_KEY = re.compile(r"[0-9a-f]{64}")


def new_key() -> str:
    """Return an unguessable key: 128 random bits, and as many of their signature."""
    drawn = secrets.token_hex(16)
    return drawn + _signature(drawn)


def is_key(text: object) -> bool:
    """Return whether the text has the form of a key and, on a hosted page, was issued by it."""
    if not isinstance(text, str) or _KEY.fullmatch(text) is None:
        return False
    return not deployment_policy().separates_visitors or hmac.compare_digest(
        text[32:], _signature(text[:32])
    )


def _signature(drawn: str) -> str:
    return hmac.digest(key_secret(), drawn.encode(), "sha256").hex()[:32]


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
