"""Files that others read while they are written are whole at every moment."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.folder_files_and_their_age import age_of


def test_a_write_that_fails_leaves_the_old_and_nothing_beside(tmp_path):
    path = tmp_path / "figures"
    path.write_bytes(b"old")

    def fail():
        with atomic_write(path) as file:
            file.write(b"half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_not_there_before_it_is_whole(tmp_path):
    path = tmp_path / "figures"
    with atomic_write(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"half"


def test_a_reader_beside_many_writers_always_finds_one_of_them_whole(tmp_path):
    path, count, size = tmp_path / "after.npz", 4, 50_000

    def write(value):
        for _ in range(10):
            with atomic_write(path) as file:
                np.savez(file, scores=np.full(size, value))

    write(0.0)
    writers = [threading.Thread(target=write, args=(float(value),)) for value in range(count)]
    for writer in writers:
        writer.start()
    read = 0
    while read < 5 or any(writer.is_alive() for writer in writers):
        with np.load(path) as held:
            scores = held["scores"]
        assert scores.shape == (size,)
        assert scores.min() == scores.max()
        read += 1
    assert [found.name for found in tmp_path.iterdir()] == ["after.npz"]


def test_what_comes_from_the_future_is_counted_from_now_on(tmp_path):
    """The clock was set back by a day."""
    path = tmp_path / "figures"
    path.write_bytes(b"")
    later = time.time() + 86_400
    os.utime(path, (later, later))
    assert age_of(path, later) == 0
    now = path.stat().st_mtime
    assert abs(now - time.time()) < 60
    assert age_of(path, now - 100) >= 100
    assert path.stat().st_mtime == now
    assert age_of(tmp_path / "gone", later) == 0
