"""A hosted page takes no work that it has no room for."""

from __future__ import annotations

import math
from types import SimpleNamespace

import psutil
import pytest

from lossprism.explorer.lab.large.batch import check_fits
from lossprism.explorer.runtime import device, memory_use, resource_checks
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.fair_queue import heavy_work_turn
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from tests.sentences import raises_problem


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setattr(memory_use, "CGROUP", memory_use.CGROUP / "nowhere")


def with_memory(monkeypatch, mib):
    monkeypatch.setattr(resource_checks, "free_memory", lambda: mib * MIB)


@pytest.mark.parametrize("wanted", ["cosines", "angles", "vectors"])
def test_what_is_refused_says_how_many_pairs_fit(hosted, monkeypatch, wanted, capfd):
    with_memory(monkeypatch, 10**6)
    monkeypatch.setenv("LOSSPRISM_REQUEST_MIB", "290")
    with pytest.raises(Problem) as refused:
        check_fits(10**6, 10**6, "cosent", wanted)
    fits = int(refused.value.values["fits"].replace("\u202f", ""))
    assert capfd.readouterr().err == "refused problem.request_memory\n"
    check_fits(fits, 10**6, "cosent", wanted)
    with raises_problem("request_memory"):
        check_fits(fits + 1, 10**6, "cosent", wanted)


def test_heavy_work_begins_only_where_memory_is_left(hosted, monkeypatch):
    with_memory(monkeypatch, 1500)
    with as_visitor(new_key()), heavy_work_turn():
        pass
    resource_checks.check_memory(10**6, 400)
    with raises_problem("low_memory"):
        resource_checks.check_memory(10**6, 600)
    with_memory(monkeypatch, 1000)
    with raises_problem("low_memory"), as_visitor(new_key()), heavy_work_turn():
        pass


def test_on_a_gpu_its_own_memory_has_to_be_left_too(hosted, monkeypatch):
    """A GPU that is not here, asked as torch asks it."""
    gpu = device.torch.device("cuda", 0)
    values = {"mem_get_info": (1000 * MIB, 80_000 * MIB)}
    values |= {"memory_reserved": 700 * MIB, "memory_allocated": 200 * MIB}
    for name, answer in values.items():
        monkeypatch.setattr(
            device.torch.cuda,
            name,
            lambda requested, answer=answer: answer if requested == gpu else 0,
        )
    with_memory(monkeypatch, 10**6)
    resource_checks.check_memory(beside_mib=1000)
    assert device.memory_left() == math.inf
    monkeypatch.setattr(device, "device", lambda: gpu)
    assert device.memory_left() == 1500 * MIB
    resource_checks.check_memory(beside_mib=400)
    with raises_problem("low_memory"):
        resource_checks.check_memory(beside_mib=500)


def test_matrices_that_do_not_fit_are_refused_with_the_pairs_that_would(hosted, monkeypatch):
    with_memory(monkeypatch, 10**6)
    monkeypatch.setenv("LOSSPRISM_REQUEST_MIB", "300")
    monkeypatch.setenv("LOSSPRISM_REQUEST_CELLS", "1000000")
    for check, given, key in (
        (resource_checks.check_matrices, 5000, "request_memory"),
        (resource_checks.check_cells, 41, "request_cells"),
    ):
        with pytest.raises(Problem, match=r"about .* pairs") as refused:
            check(512, given)
        fits = int(refused.value.values["fits"])
        check(fits, given)
        with raises_problem(key):
            check(fits + 1, given)


def test_nothing_is_kept_on_a_disk_that_is_nearly_full(hosted, monkeypatch, tmp_path):
    resource_checks.check_disk(tmp_path / "not" / "yet" / "there")
    usage = SimpleNamespace(free=1000 * MIB)
    monkeypatch.setattr(resource_checks.shutil, "disk_usage", lambda _: usage)
    with raises_problem("low_disk"):
        resource_checks.check_disk(tmp_path)


def test_at_home_all_may_be_tried(monkeypatch, tmp_path):
    monkeypatch.delenv(HOSTED, raising=False)
    monkeypatch.delenv("SPACE_ID", raising=False)
    with_memory(monkeypatch, 0)
    resource_checks.check_memory(10**9, 10**6)
    monkeypatch.setattr(resource_checks.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    resource_checks.check_disk(tmp_path)


def test_a_container_may_have_less_than_the_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(memory_use, "CGROUP", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8000))
    assert memory_use.free_memory() == 8000
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    (tmp_path / "memory.stat").write_text("anon 2000\ninactive_file 700\n")
    assert memory_use.free_memory() == 2700
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_use.free_memory() == 8000
