"""Least-recently-used caches: one in memory, and one in a folder of the user's.

A pure function of a few hashable arguments uses `functools.lru_cache` instead.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

import platformdirs
from cachetools import LRUCache

from lossprism.explorer.runtime.concurrent_files import files_in
from lossprism.explorer.runtime.limits import CACHE_FOLDER_BYTES

Value = TypeVar("Value")
KINDS = ("files", "scores", "arriving")


class Cache(Generic[Value]):
    """A thread-safe LRU cache of at most `most` entries, or of a total of `size_of`."""

    def __init__(self, most: int, size_of: Callable[[Value], int] | None = None) -> None:
        self._entries: LRUCache = LRUCache(most, getsizeof=size_of)
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        return int(self._entries.currsize)

    @property
    def max_size(self) -> int:
        return int(self._entries.maxsize)

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key, which becomes the most recently used; None if missing."""
        with self._lock:
            return self._entries.get(key)

    def put(self, key: Hashable, value: Value) -> Value:
        """Store a value, unless it alone exceeds the limit."""
        with self._lock:
            if self._entries.getsizeof(value) <= self._entries.maxsize:
                self._entries[key] = value
        return value

    def limit(self, most: int) -> None:
        """Set the limit, and shrink to it."""
        with self._lock:
            before, self._entries = self._entries, LRUCache(most, self._entries.getsizeof)
            while before:
                key, value = before.popitem()  # the one that would leave first
                if self._entries.getsizeof(value) <= most:
                    self._entries[key] = value

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries


# ---- On disk ---------------------------------------------------------------------------------


def cache_folder(kind: str) -> Path:
    """Return the folder of this kind, created if missing: in LOSSPRISM_CACHE, or the system's
    place.

    Everything in it is named by its content and written atomically, so existing files are complete.
    """
    usual = platformdirs.user_cache_path("lossprism", appauthor=False, opinion=False)
    folder = Path(os.environ.get("LOSSPRISM_CACHE") or usual) / kind
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(parts: Iterable[str]) -> str:
    """Return a name for these texts in this order."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "little"))
        hashed.update(encoded)
    return hashed.hexdigest()


def prune(most: int = CACHE_FOLDER_BYTES) -> None:
    """Delete the least recently used files until at most `most` bytes remain."""
    kept = (entry for kind in KINDS for entry in files_in(cache_folder(kind)))
    by_age = sorted((about.st_mtime, about.st_size, path) for path, about in kept)
    excess = sum(size for _, size, _ in by_age) - most
    for _, size, path in by_age:
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
