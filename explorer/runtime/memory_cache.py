"""A least-recently-used cache in memory, by number of entries or by bytes.

A pure function of a few hashable arguments uses `functools.lru_cache` instead.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")


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
