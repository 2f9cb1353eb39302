"""A run folder from a stranger: nothing of it is run, nothing outside it is read or packed, and no
odd file hides the other runs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lossprism.explorer.lab.training import run_downloads
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import raises_problem
from tests.unit.lab.training.conftest import SUMMARY, corpus

PLAN = {"encoder": SCRATCH, "dimension": 8, "batch_size": 8, "evaluations": 4}
STEP = {"kind": "step", "step": 1, "loss": 0.5, "seconds": 1.0}
# What may stand in place of a value, or of a whole file.
ODD = [None, True, "x", -1, 1e999, float("nan"), 10**30, [], [[1]], {}, {"a": {"b": []}}]
NESTED = "[" * 100_000
NOT_READABLE = [b"", b"{", b"\x00\xff\xfe", NESTED.encode(), b'{"plan": ' + NESTED.encode()]


@pytest.fixture
def stopped(runs):
    """Two runs that have ended early, with a log and a summary: the odd one, and the other."""

    def made():
        run = runs.prepare(TrainingPlan(**PLAN), corpus())
        run.take_ticket(os.getpid())
        run.set_stage("stopped")
        run.log.write_text(json.dumps(STEP) + "\n", encoding="utf-8")
        run.write("summary.json", SUMMARY)
        return run

    return made(), made()


def looked_at(runs, run):
    """Everything that a page asks of a run; a Problem is an answer, and nothing else is."""
    calls = [runs.status, runs.history, runs.probe, runs.plan, runs.share]
    calls += [lambda name: runs.probe_vectors(name, 1), runs.probe_guide, runs.probe_teacher]
    calls += [lambda name: run_downloads.run_csv(runs, name)]
    for ask in calls:
        with contextlib.suppress(Problem):
            ask(run.name)


def entries(held, at=()):
    """The place of every entry of nested objects."""
    for name, value in held.items():
        yield (*at, name)
        if isinstance(value, dict):
            yield from entries(value, (*at, name))


def with_entry(held, place, value):
    first, *rest = place
    return {**held, first: with_entry(held[first], rest, value) if rest else value}


@pytest.mark.parametrize("file", ["state.json", "config.json", "owner.json", "summary.json"])
def test_an_odd_value_in_any_entry_hides_no_other_run(file, runs, stopped):
    odd, other = stopped
    held = json.loads((odd.path / file).read_text(encoding="utf-8"))
    for turn, place in enumerate(entries(held)):
        for value in ODD[turn % 3 :: 3]:  # every value in every third entry
            spoilt = json.dumps(with_entry(held, place, value))
            (odd.path / file).write_text(spoilt, encoding="utf-8")
            assert other.name in [one.id for one in runs.listed()], (place, value)
            assert not runs.busy() or file == "state.json"
            looked_at(runs, odd)


@pytest.mark.parametrize("value", ODD)
def test_an_odd_value_in_a_line_of_the_log_loses_that_line_at_most(value, runs, stopped):
    odd, other = stopped
    for name in STEP:
        lines = [json.dumps({**STEP, name: value}), json.dumps({**STEP, "step": 2}), ""]
        odd.log.write_text("\n".join(lines), encoding="utf-8")
        assert {one.id for one in runs.listed()} == {odd.name, other.name}
        assert runs.status(odd.name).step in (2, 10**30)
        looked_at(runs, odd)


@pytest.mark.parametrize(
    "file",
    [
        *("state.json", "config.json", "owner.json", "summary.json", "log.jsonl", "control"),
        *("train.jsonl", "held_out.jsonl", "probe.json", "probe_guide.npy", "probe/1.npy"),
    ],
)
def test_no_file_that_is_none_hides_another_run(file, runs, stopped):
    odd, other = stopped
    path = odd.path / file
    path.parent.mkdir(exist_ok=True)
    for content in NOT_READABLE:
        path.write_bytes(content)
        assert other.name in [one.id for one in runs.listed()]
        looked_at(runs, odd)
    path.unlink(missing_ok=True)
    assert other.name in [one.id for one in runs.listed()]
    looked_at(runs, odd)
    path.unlink(missing_ok=True)  # a share wrote it anew
    path.mkdir()
    assert other.name in [one.id for one in runs.listed()]
    looked_at(runs, odd)


@pytest.mark.parametrize(
    "row", ['["a"]', '["a", "b", "c"]', "[1, 2, 3]", '{"a": 1}', '["a","b",null]']
)
def test_a_row_that_is_no_pair_is_reported(row, stopped):
    odd, _ = stopped
    (odd.path / "train.jsonl").write_text(row, encoding="utf-8")
    with raises_problem("training_damaged", file="train.jsonl"):
        odd.read_pairs("train.jsonl")


def test_arrays_with_objects_are_not_unpickled(stopped, tmp_path):
    odd, _ = stopped
    mark = tmp_path / "ran"

    class Runs_code:
        def __reduce__(self):
            return (Path.touch, (mark,))

    np.save(odd.path / "probe_guide.npy", np.array([Runs_code()], dtype=object), allow_pickle=True)
    np.savez(odd.path / "after.npz", scores=np.array([Runs_code()], dtype=object))
    assert Runs(odd.path.parent).probe_guide(odd.name) is None
    with raises_problem("training_damaged", file="after.npz"):
        odd.read_arrays("after.npz")
    assert not mark.exists()


# ---- A loss of somebody's own --------------------------------------------------------------------


@pytest.fixture
def foreign(stopped, tmp_path):
    """A run whose config.json names a Python file that leaves a mark when it is run."""
    run, _ = stopped
    file = tmp_path / "secret.py"
    mark = tmp_path / "ran"
    file.write_text(f"open({str(mark)!r}, 'w')\ndef mine(scores, labels): ...", encoding="utf-8")
    config = run.read("config.json")
    place = f"{file}:mine"
    run.write("config.json", {**config, "plan": {**config["plan"], "own_loss": place}})
    return run, place, mark


def test_resume_asks_before_it_runs_a_file_that_the_folder_names(runs, foreign, monkeypatch):
    run, place, mark = foreign
    begun = []
    monkeypatch.setattr(Runs, "_spawn", lambda self, run: begun.append(run.name))
    for leave in ("", f"{place}x", "mine"):
        with pytest.raises(Problem) as requested:
            runs.resume(run.name, own_loss=leave)
        assert requested.value.about == "leave"
        assert place in str(requested.value)
    assert not begun
    runs.resume(run.name, own_loss=place)
    assert begun == [run.name]
    assert not mark.exists()  # the process of the run runs it


def test_packing_asks_before_it_packs_a_file_that_the_folder_names(runs, foreign, tmp_path):
    run, _, _ = foreign
    out = tmp_path / "kit.zip"
    with pytest.raises(Problem) as requested:
        run_downloads.script_zip(runs, run.name, out)
    assert requested.value.about == "leave"
    assert not out.exists()


@pytest.mark.parametrize(
    "at", ["log.jsonl", "train.jsonl", "worker.txt", "model/vocab.txt", "checkpoints", "start/x"]
)
def test_a_link_out_of_the_folder_is_neither_followed_nor_packed(at, runs, stopped, tmp_path):
    run, _ = stopped
    (run.path / "model").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir() if at == "checkpoints" else outside.write_text("secret", encoding="utf-8")
    path = run.path / at
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(outside)
    for act in (
        lambda: runs.resume(run.name),
        lambda: run_downloads.model_zip(runs, run.name, tmp_path / "m.zip"),
        lambda: run_downloads.script_zip(runs, run.name, tmp_path / "s.zip"),
    ):
        with raises_problem("training_link_outside"):
            act()
    assert not list(tmp_path.glob("*.zip"))


def test_a_link_within_the_folder_is_packed(runs, stopped, tmp_path):
    run, _ = stopped
    (run.path / "model").mkdir()
    (run.path / "model" / "a").write_text("here", encoding="utf-8")
    (run.path / "model" / "b").symlink_to("a")
    with zipfile.ZipFile(run_downloads.model_zip(runs, run.name, tmp_path / "m.zip")) as packed:
        assert len(packed.namelist()) == 2
    shutil.rmtree(run.path)
