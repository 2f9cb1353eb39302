"""The keys of a hosted page stay known over a restart, and to the processes that it starts."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.visitor_key_signing import (
    KEY_SECRET,
    _stored,
    is_key,
    key_secret,
    new_key,
)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    monkeypatch.setenv(KEY_SECRET, "")
    return tmp_path


def test_a_restart_knows_the_keys_of_before(folder, monkeypatch):
    key = new_key()
    monkeypatch.setenv(KEY_SECRET, "")  # a new process
    assert is_key(key)
    secret = folder / "keys" / "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert [*secret.parent.iterdir()] == [secret]
    secret.unlink()
    monkeypatch.setenv(KEY_SECRET, "")
    assert not is_key(key)


def test_of_many_who_begin_at_once_all_have_one_secret(folder):
    with ThreadPoolExecutor(8) as pool:
        found = {*pool.map(lambda _: _stored(), range(32))}
    assert len(found) == 1


def test_a_disk_that_takes_nothing_leaves_one_secret_until_the_end(folder, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(folder / "file"))
    (folder / "file").write_text("no folder")
    assert is_key(new_key())
    assert key_secret() == key_secret()


def test_another_page_has_other_keys(folder, monkeypatch):
    key = new_key()
    monkeypatch.setenv(KEY_SECRET, "another")
    assert not is_key(key)
    monkeypatch.delenv(HOSTED)
    assert is_key(key)  # locally, visitors are not distinguished
