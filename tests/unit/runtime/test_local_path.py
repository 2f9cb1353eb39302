"""Paths on other computers are told by their form, before anything looks at them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from explorer.core.own_loss import add_own_loss
from explorer.core.scenario import Data, Scenario
from explorer.export.figure.files import read_scenario
from explorer.lab.doctor.dataset_reader import content_of
from explorer.lab.doctor.logs.run_reader import is_run, read_run
from explorer.lab.saved_batches import files_in
from explorer.lab.training.pair_sources import held_out_of, pairs_of
from explorer.lab.training.plan import TrainingData
from explorer.runtime.local_path import is_inside, is_network_path, local_path
from explorer.runtime.problem import Problem
from explorer.sources.encoders import encode, locate
from explorer.sources.hub_datasets import named
from explorer.sources.tables import read_file

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
    "data set": named,
    "table": read_file,
    "table of Doctor": content_of,
    "data of a training": lambda name: pairs_of(TrainingData(source="file", file=name)),
    "held-out data": lambda name: held_out_of(TrainingData(held_out_file=name)),
}


@pytest.mark.parametrize("name", NETWORK)
def test_a_path_on_another_computer_is_told_by_its_form(name):
    assert is_network_path(name)
    with pytest.raises(Problem, match="another computer"):
        local_path(name)


@pytest.mark.parametrize("name", LOCAL)
def test_a_path_of_this_computer_passes(name):
    assert not is_network_path(name)
    assert local_path(name) == Path(os.path.expanduser(name))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", NETWORK)
def test_no_door_looks_at_it(door, name, monkeypatch):
    looked = []

    def look(path, *more, **how):
        looked.append(os.fspath(path))
        raise FileNotFoundError(path)

    for call in ("stat", "lstat", "scandir", "listdir", "open"):
        monkeypatch.setattr(os, call, look)
    monkeypatch.setattr(os.path, "isdir", look)
    monkeypatch.setattr(os.path, "exists", look)
    with pytest.raises(Problem, match="another computer"):
        DOORS[door](name)
    assert looked == []


def test_a_scene_may_name_one_and_nothing_happens():
    scenario = Scenario(data=Data(encoder=NETWORK[0], guide=NETWORK[1]))
    assert Scenario.from_link(scenario.to_link()) == scenario


def test_inside_follows_links(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    assert is_inside(tmp_path / "in" / "a", tmp_path / "in")
    assert not is_inside(tmp_path / "in" / "out" / "a", tmp_path / "in")
    assert not is_inside(tmp_path / "in" / ".." / "a", tmp_path / "in")
