"""A hosted page keeps few models and datasets of the hub, those that were used last."""

from __future__ import annotations

import os
import time

import pytest
from huggingface_hub import constants

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.sources import hub_cache_pruning
from lossprism.explorer.sources.hub_cache_pruning import (
    MARK_FILE,
    delete_expired,
    mark_used,
    prepare_download,
)

MIB = 2**20


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv(HOSTED, "1")
    return tmp_path


def fetched(kind: str, repo: str, mib: float = 0.1, ago: float = 0.0):
    """As the hub's client leaves it: a blob, and a link to it."""
    folder = prepare_download(kind, repo, int(mib * MIB))
    (folder / "blobs").mkdir(exist_ok=True)
    (folder / "blobs" / "a").write_bytes(bytes(int(mib * MIB)))
    (folder / "snapshots").mkdir(exist_ok=True)
    (folder / "snapshots" / "a").symlink_to(folder / "blobs" / "a")
    was(folder, ago)
    return folder


def was(folder, ago: float) -> None:
    os.utime(folder / MARK_FILE, (time.time() - ago,) * 2)


def there(root) -> set[str]:
    return {path.name for path in root.iterdir()}


@pytest.mark.parametrize("kind", hub_cache_pruning.KINDS)
def test_four_are_kept_and_the_oldest_unused_goes(root, kind):
    for number in range(4):
        fetched(kind, f"owner/{number}", ago=100 - number)
    other = fetched("dataset" if kind == "model" else "model", "owner/other", ago=1000)
    mark_used(kind, "owner/0")
    prepare_download(kind, "owner/new")
    names = {f"{kind}s--owner--{name}" for name in ("0", "2", "3", "new")}
    assert there(root) == names | {other.name}


def test_no_more_bytes_are_kept_than_the_budget_says_with_what_comes(root, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HUB_KEPT_MIB", "1")
    fetched("model", "owner/old", 0.4, ago=100)
    fetched("model", "owner/late", 0.4, ago=50)
    prepare_download("model", "owner/new", int(0.5 * MIB))  # 0.5 + 0.4, a link is no second file
    assert there(root) == {"models--owner--late", "models--owner--new"}
    fetched("model", "owner/huge", 3)  # what is used stays, whatever the rest
    assert there(root) == {"models--owner--huge"}


def test_what_was_there_before_neither_leaves_nor_counts(root, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HUB_KEPT", "1")
    for number in range(3):
        (root / f"models--mine--{number}" / "snapshots").mkdir(parents=True)
    prepare_download("model", "mine/0")
    mark_used("model", "mine/1")
    fetched("model", "owner/a", ago=10)
    fetched("model", "owner/b")
    delete_expired()
    assert there(root) == {*(f"models--mine--{n}" for n in range(3)), "models--owner--b"}
    assert not (root / "models--mine--0" / MARK_FILE).exists()


def test_what_a_killed_process_left_goes(root, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HUB_KEPT", "2")
    half = fetched("model", "owner/half")
    for name, ago in (("old", 7200), ("new", 10)):
        path = half / "blobs" / f"{name}.incomplete"
        path.write_bytes(b"half")
        os.utime(path, (time.time() - ago,) * 2)
    (root / f"{hub_cache_pruning._LEAVING}a" / "blobs").mkdir(parents=True)
    for number in range(3):  # begun, and then nothing came
        folder = root / f"models--owner--{number}"
        folder.mkdir()
        (folder / MARK_FILE).touch()
        was(folder, 100 + number)
    delete_expired()
    assert there(root) == {"models--owner--half", "models--owner--0"}
    assert {path.name for path in (half / "blobs").iterdir()} == {"a", "new.incomplete"}


def test_at_home_nothing_is_made_or_removed(root, monkeypatch):
    fetched("model", "owner/a", ago=10)
    monkeypatch.setenv("LOSSPRISM_HUB_KEPT", "1")
    fetched("model", "owner/b")
    monkeypatch.delenv(HOSTED)
    for number in range(9):
        (root / f"models--owner--{number}").mkdir()
    before = there(root)
    assert prepare_download("model", "owner/c", MIB) is None
    mark_used("model", "owner/b")
    delete_expired()
    assert there(root) == before
