"""Who asks: at home one person, on a hosted page strangers, each told from the others by a key.

A visitor is known here by the digest of their key, so that neither a file nor a folder's name
tells the key. Whoever answers a request says whose it is (`as_visitor`); what belongs to somebody
is kept under `visitor()`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.key_secret import key_secret

_KEY = re.compile(r"[0-9a-f]{64}")
_asking: ContextVar[str | None] = ContextVar("asking", default=None)
_has_key: ContextVar[bool] = ContextVar("has_key", default=True)


def new_key() -> str:
    """A key that nobody can guess: 128 random bits, and as many of their signature."""
    drawn = secrets.token_hex(16)
    return drawn + _signature(drawn)


def is_key(text: object) -> bool:
    """Whether the text has the form of a key and, on a hosted page, was issued by it."""
    if not isinstance(text, str) or _KEY.fullmatch(text) is None:
        return False
    return not deployment_policy().knows_visitors or hmac.compare_digest(
        text[32:], _signature(text[:32])
    )


def _signature(drawn: str) -> str:
    return hmac.digest(key_secret(), drawn.encode(), "sha256").hex()[:32]


@contextmanager
def as_visitor(key: str, is_new: bool = False) -> Iterator[None]:
    """What is done inside is done for whoever has this key; of a new one they do not know yet."""
    before, had = _asking.set(key), _has_key.set(not is_new)
    try:
        yield
    finally:
        _asking.reset(before)
        _has_key.reset(had)


def is_among_strangers() -> bool:
    """Whether the running code answers a visitor of a hosted page: not at home, and not in the
    process of a training, which others do not wait for."""
    return deployment_policy().knows_visitors and _asking.get() is not None


def has_key() -> bool:
    """Whether whoever asks came with their key, and was not given it for this request."""
    return _has_key.get()


def own_key() -> str:
    """The key of whoever asks; at home, where nobody is told from another, "".

    Raises RuntimeError on a hosted page where nobody asks: nothing is kept there for nobody.
    """
    if not deployment_policy().knows_visitors:
        return ""
    if (key := _asking.get()) is None:
        raise RuntimeError("nobody asks")
    return key


def visitor() -> str:
    """The name of whoever asks, by which what is theirs is kept; as `own_key`."""
    key = own_key()
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest() if key else ""
