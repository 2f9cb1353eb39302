"""A hosted page takes no work that it has no room for."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from explorer.lab.large.batch import must_fit
from explorer.runtime import memory, room
from explorer.runtime.limits import MIB
from explorer.runtime.problem import Problem
from explorer.runtime.turns import in_turn
from explorer.runtime.visitors import HOSTED, as_visitor, new_key


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setattr(memory, "CGROUP", memory.CGROUP / "nowhere")


def with_memory(monkeypatch, mib):
    monkeypatch.setattr(room, "left", lambda: mib * MIB)


@pytest.mark.parametrize("wanted", ["cosines", "angles", "vectors"])
def test_what_is_refused_says_how_many_pairs_fit(hosted, monkeypatch, wanted):
    with_memory(monkeypatch, 10**6)
    monkeypatch.setenv("LOSSPRISM_REQUEST_MIB", "290")
    with pytest.raises(Problem) as refused:
        must_fit(10**6, 10**6, "cosent", wanted)
    fits = int(refused.value.values["fits"].replace("\u202f", ""))
    must_fit(fits, 10**6, "cosent", wanted)
    with pytest.raises(Problem, match="would take about"):
        must_fit(fits + 1, 10**6, "cosent", wanted)


def test_heavy_work_begins_only_where_memory_is_left(hosted, monkeypatch):
    with_memory(monkeypatch, 1500)
    with as_visitor(new_key()), in_turn():
        pass
    room.check_memory(10**6, 400)
    with pytest.raises(Problem, match="hardly any memory"):
        room.check_memory(10**6, 600)
    with_memory(monkeypatch, 1000)
    with pytest.raises(Problem, match="hardly any memory"), as_visitor(new_key()), in_turn():
        pass


def test_nothing_is_kept_on_a_disk_that_is_nearly_full(hosted, monkeypatch, tmp_path):
    room.check_disk(tmp_path / "not" / "yet" / "there")
    usage = SimpleNamespace(free=1000 * MIB)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(Problem, match="disk of its machine"):
        room.check_disk(tmp_path)


def test_at_home_all_may_be_tried(monkeypatch, tmp_path):
    monkeypatch.delenv(HOSTED, raising=False)
    monkeypatch.delenv("SPACE_ID", raising=False)
    with_memory(monkeypatch, 0)
    room.check_memory(10**9, 10**6)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    room.check_disk(tmp_path)


def test_a_container_may_have_less_than_the_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8000))
    assert memory.left() == 8000
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    (tmp_path / "memory.stat").write_text("anon 2000\ninactive_file 700\n")
    assert memory.left() == 2700
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.left() == 8000
