"""The cache folder: where it is, names by content, and what leaves it first."""

from __future__ import annotations

import os

import pytest

from lossprism.explorer.runtime.cache_folder import cache_folder, digest, prune


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("own", [True, False])
def test_the_folder_is_the_chosen_one_or_the_systems_cache(own, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
    if not own:
        monkeypatch.delenv("LOSSPRISM_CACHE")
        monkeypatch.setattr("sys.platform", "linux")
    found = cache_folder("scores")
    assert found == tmp_path / ("cache" if own else "system/lossprism") / "scores"
    assert found.is_dir()


def test_texts_in_another_order_or_cut_elsewhere_have_another_name():
    names = {digest(parts) for parts in (["a", "bc"], ["ab", "c"], ["bc", "a"], ["abc"])}
    assert len(names) == 4


def test_what_was_not_used_for_longest_leaves_first():
    for place, name in enumerate("abc"):
        path = cache_folder("files") / name
        path.write_bytes(b"x" * 100)
        os.utime(path, (place, place))
    prune(most=250)
    assert sorted(path.name for path in cache_folder("files").iterdir()) == ["b", "c"]


def test_what_leaves_while_the_folder_is_cleared_is_passed_over(monkeypatch):
    for name in "abc":
        (cache_folder("files") / name).write_bytes(b"x" * 100)

    def listed(folder, own=os.walk, **options):
        for place, folders, names in list(own(folder, **options)):
            if "b" in names:
                (folder / "b").unlink()
            yield place, folders, names

    monkeypatch.setattr(os, "walk", listed)
    prune(most=150)
    assert len(list(cache_folder("files").iterdir())) == 1
