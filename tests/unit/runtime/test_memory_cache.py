"""What is used least recently leaves first."""

from __future__ import annotations

import numpy as np

from lossprism.explorer.runtime.memory_cache import Cache


def test_cache_stays_within_its_bytes_and_drops_the_least_used():
    row = np.zeros(1000, dtype=np.float32)
    cache = Cache(3 * 4300, size_of=lambda kept: kept.nbytes + 250)
    for key in "abc":
        cache.put(key, row)
    cache.get("a")
    cache.put("d", row)
    assert [cache.get(key) is not None for key in "abcd"] == [True, False, True, True]
    for key in range(1000):
        cache.put(key, row)
        assert cache.size <= cache.max_size
    cache.put("giant", np.zeros(10_000, dtype=np.float32))
    assert [cache.get(key) is not None for key in ("giant", 997, 998, 999)] == [False, *[True] * 3]


def test_a_value_put_again_is_counted_once():
    kept = Cache(10, size_of=len)
    kept.put("a", "12345")
    assert kept.put("a", "123") == "123"
    assert (kept.size, len(kept), kept.get("a"), kept.get("b")) == (3, 1, "123", None)


def test_one_that_is_made_smaller_keeps_what_was_used_last():
    kept = Cache(10, size_of=len)
    for key in "abc":
        kept.put(key, "123")
    kept.get("a")
    kept.limit(6)
    assert (kept.max_size, kept.size, [key in kept for key in "abc"]) == (6, 6, [True, False, True])
    kept.put("d", "1")
    assert "c" not in kept
