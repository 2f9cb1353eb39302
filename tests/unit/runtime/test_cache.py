"""What is used least recently leaves first, in memory and on disk."""

from __future__ import annotations

import os

import numpy as np
import pytest

from lossprism.explorer.runtime import cache
from lossprism.explorer.runtime.cache import Cache


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))


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


@pytest.mark.parametrize("own", [True, False])
def test_the_folder_is_the_chosen_one_or_the_systems_cache(own, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
    if not own:
        monkeypatch.delenv("LOSSPRISM_CACHE")
        monkeypatch.setattr("sys.platform", "linux")
    found = cache.cache_folder("scores")
    assert found == tmp_path / ("cache" if own else "system/lossprism") / "scores"
    assert found.is_dir()


def test_texts_in_another_order_or_cut_elsewhere_have_another_name():
    names = {cache.digest(parts) for parts in (["a", "bc"], ["ab", "c"], ["bc", "a"], ["abc"])}
    assert len(names) == 4


def test_what_was_not_used_for_longest_leaves_first():
    for place, name in enumerate("abc"):
        path = cache.cache_folder("files") / name
        path.write_bytes(b"x" * 100)
        os.utime(path, (place, place))
    cache.prune(most=250)
    assert sorted(path.name for path in cache.cache_folder("files").iterdir()) == ["b", "c"]


def test_what_leaves_while_the_folder_is_cleared_is_passed_over(monkeypatch):
    for name in "abc":
        (cache.cache_folder("files") / name).write_bytes(b"x" * 100)

    def listed(folder, own=os.walk, **options):
        for place, folders, names in list(own(folder, **options)):
            if "b" in names:
                (folder / "b").unlink()
            yield place, folders, names

    monkeypatch.setattr(os, "walk", listed)
    cache.prune(most=150)
    assert len(list(cache.cache_folder("files").iterdir())) == 1
