"""Paths on other computers are recognised by their form, before any access."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.core.scenario_from_link_or_file import read_scenario
from lossprism.explorer.lab.doctor.dataset_reader import content_of
from lossprism.explorer.lab.doctor.logs.run_reader import is_run, read_run
from lossprism.explorer.lab.saved_training_batches import files_in
from lossprism.explorer.lab.training.pair_sources import held_out_of, pairs_of
from lossprism.explorer.lab.training.plan import TrainingData
from lossprism.explorer.runtime.local_path import is_inside, is_network_path, local_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import encode, locate
from lossprism.explorer.sources.hub_datasets import repository_and_subset
from lossprism.explorer.sources.pairs_from_tables import read_file

NETWORK = [
    r"\\host\share",
    "//host/share",
    r"\/host/share",
    r"/\host\share",
    r"\\?\UNC\host\share",
    "//?/UNC/host/share",
    r"\??\UNC\host\share",
    r"\\.\UNC\host\share",
    "  //host/share",
    "//host@SSL/DavWWWRoot",
    "file://host/share",
    "FILE:////host/share",
]
LOCAL = [
    "/tmp",
    "~/models",
    "./a",
    "..",
    r"C:\models",
    "C:/models",
    "owner/name",
    "a//b",
    "",
    "file:///tmp/a",
]
DOORS = {
    "encoder": lambda name: encode(["a"], name),
    "kept batch": lambda name: encode(["a"], f"{name}.safetensors"),
    "model": locate,
    "own loss": lambda name: add_own_loss(f"{name}/loss.py:mine"),
    "log": read_run,
    "is a log": is_run,
    "kept batches": files_in,
    "scene file": lambda name: read_scenario(f"{name}/scene.json"),
    "dataset": repository_and_subset,
    "table": read_file,
    "table of Doctor": content_of,
    "data of a training": lambda name: pairs_of(TrainingData(source="file", file=name)),
    "held-out data": lambda name: held_out_of(TrainingData(held_out_file=name)),
}


def refused_as(door, names=NETWORK):
    """The names that a door takes, or refuses for anything but another computer."""
    wrong = []
    for name in names:
        try:
            door(name)
            wrong.append((name, "taken"))
        except Problem as problem:
            if problem.key != "problem.network_path":
                wrong.append((name, problem.key))
    return wrong


def test_a_path_is_recognised_by_its_form():
    assert [name for name in NETWORK if not is_network_path(name)] == []
    assert refused_as(local_path) == []
    assert [name for name in LOCAL if is_network_path(name)] == []
    moved = [name for name in LOCAL if local_path(name) != Path(os.path.expanduser(name))]
    assert moved == []


@pytest.mark.parametrize("door", DOORS)
def test_no_door_looks_at_one_on_another_computer(door, monkeypatch):
    looked = []

    def look(path, *more, **how):
        looked.append(os.fspath(path))
        raise FileNotFoundError(path)

    with monkeypatch.context() as patch:
        for call in ("stat", "lstat", "scandir", "listdir", "open"):
            patch.setattr(os, call, look)
        patch.setattr(os.path, "isdir", look)
        patch.setattr(os.path, "exists", look)
        wrong = refused_as(DOORS[door])
    assert (wrong, looked) == ([], [])


def test_a_scenario_may_name_one_and_nothing_happens():
    scenario = Scenario(data=Data(encoder=NETWORK[0], guide=NETWORK[1]))
    assert Scenario.from_link(scenario.to_link()) == scenario


def test_inside_follows_links(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    assert is_inside(tmp_path / "in" / "a", tmp_path / "in")
    assert not is_inside(tmp_path / "in" / "out" / "a", tmp_path / "in")
    assert not is_inside(tmp_path / "in" / ".." / "a", tmp_path / "in")
