"""Arrays in files: whole, or not there; and a full disk is reported as one."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from lossprism.explorer.runtime import saved_arrays

FULL = Path("/dev/full")


def test_what_was_saved_is_loaded_again(tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    saved_arrays.save_array(tmp_path / "a.npy", values)
    assert np.array_equal(saved_arrays.load_array(tmp_path / "a.npy"), values)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_what_is_not_there_any_more_is_nothing(tmp_path):
    assert saved_arrays.load_array(tmp_path / "a.npy") is None


@pytest.mark.parametrize("spoilt", [b"", b"\x00" * 40, b"\x93NUMPY\x01\x00", None])
def test_what_a_disk_has_spoilt_is_nothing(tmp_path, spoilt):
    path = tmp_path / "a.npy"
    saved_arrays.save_array(path, np.arange(12))
    path.write_bytes(path.read_bytes()[:-8] if spoilt is None else spoilt)
    assert saved_arrays.load_array(path) is None


@pytest.mark.skipif(not FULL.exists(), reason="the system has no disk that is always full")
@pytest.mark.parametrize("count", [10, 100_000])
def test_a_full_disk_is_named_in_the_problem(tmp_path, monkeypatch, count):
    monkeypatch.setattr(saved_arrays, "atomic_write", lambda path: FULL.open("wb"))
    with pytest.raises(OSError, match="space") as raised:
        saved_arrays.save_array(tmp_path / "a.npy", np.zeros(count))
    assert raised.value.errno == errno.ENOSPC
