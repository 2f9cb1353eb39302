"""Visitors: a single one on the user's own machine, strangers on a hosted page, identified by a
key.

A visitor is known by the digest of their key, so that no file or folder name reveals the key. The
code that answers a request sets its visitor (`as_visitor`); a visitor's data are stored under
`visitor()`.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lossprism.explorer.runtime.deployment_policy import deployment_policy

_asking: ContextVar[str | None] = ContextVar("asking", default=None)
_has_key: ContextVar[bool] = ContextVar("has_key", default=True)


@contextmanager
def as_visitor(key: str, is_new: bool = False) -> Iterator[None]:
    """Run the body for the visitor with this key; `is_new` if they do not know it yet."""
    before, had = _asking.set(key), _has_key.set(not is_new)
    try:
        yield
    finally:
        _asking.reset(before)
        _has_key.reset(had)


def is_among_strangers() -> bool:
    """Return whether the running code answers a visitor of a hosted page: not on the user's own
    machine, and not in the process of a training, for which others do not wait."""
    return deployment_policy().separates_visitors and _asking.get() is not None


def has_key() -> bool:
    """Return whether the visitor came with their key, rather than getting it in this request."""
    return _has_key.get()


def own_key() -> str:
    """Return the key of the visitor; "" on the user's own machine, where visitors are not
    distinguished.

    Raises RuntimeError on a hosted page outside a request: no data without an owner.
    """
    if not deployment_policy().separates_visitors:
        return ""
    if (key := _asking.get()) is None:
        raise RuntimeError("nobody asks")
    return key


def visitor() -> str:
    """Return the name under which the visitor's data are stored; raises as `own_key`."""
    key = own_key()
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest() if key else ""
