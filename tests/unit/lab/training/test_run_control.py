"""Runs: stored, listed, reported and refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest

from lossprism.explorer.lab.training import process_identity, worker
from lossprism.explorer.lab.training import run_control as runs_module
from lossprism.explorer.lab.training import run_folder as folder
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_progress_and_plan_reader import progress
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.device import one_gpu
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.version import VERSION
from tests.sentences import pattern_of, raises_problem
from tests.unit.lab.training.conftest import corpus

PLAN = {"encoder": SCRATCH, "dimension": 8, "batch_size": 8, "evaluations": 4}


def test_runs_are_listed_the_newest_first(runs):
    """Also those that began within one second, whatever their losses are called."""
    names = []
    for loss in ("triplet", "cosent", "info_nce", "circle"):
        run = runs.prepare(TrainingPlan(**PLAN, loss=loss), corpus())
        run.take_ticket(os.getpid())
        names.append(run.name)
        assert run.config.version == VERSION
    assert [status.id for status in runs.listed()] == names[::-1]


def test_a_run_that_has_ended_has_all_its_records(runs, monkeypatch):
    """Whoever hears that a run has ended asks no more."""
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    run.take_ticket(os.getpid())
    run.set_stage("training")
    run.log.write_text('{"kind": "step", "step": 1, "seconds": 1}\n', encoding="utf-8")

    def ends_meanwhile(self, offset, own=RunFolder.records_from):
        found = own(self, offset)
        if self.state.state == "training":
            with self.log.open("a", encoding="utf-8") as log:
                log.write('{"kind": "step", "step": 2, "seconds": 2}\n')
            self.set_stage("finished")
        return found

    monkeypatch.setattr(RunFolder, "records_from", ends_meanwhile)
    first = runs.status(run.name)
    assert first.state == "training"
    rest = runs.status(run.name, first.offset)
    assert rest.state == "finished"
    assert [record.step for record in first.records + rest.records] == [1, 2]


def test_a_full_disk_ends_the_run_with_a_sentence(runs, monkeypatch):
    from lossprism.explorer.lab.training.trainer_callback import Recorder

    def full(self):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Recorder, "flush", full)
    run = runs.prepare(TrainingPlan(**PLAN, steps=5), corpus())
    run.take_ticket(os.getpid())
    assert worker.work(run) == 1
    status = runs.status(run.name)
    assert status.state == "failed"
    assert status.problem.key == "problem.training_disk_full"
    assert str(run.path) in status.problem.values["folder"]


def test_a_folder_that_is_no_encoder_is_refused_at_once(runs, tmp_path):
    (tmp_path / "notes.txt").write_text("no model", encoding="utf-8")
    with raises_problem("encoder_no_model"):
        runs.start(TrainingPlan(encoder=str(tmp_path)), corpus())
    assert runs.listed() == []


def test_a_root_that_cannot_be_written_is_reported(tmp_path):
    from lossprism.explorer.lab.training.run_control import Runs

    (tmp_path / "file").write_text("", encoding="utf-8")
    with raises_problem("training_no_folder"):
        Runs(tmp_path / "file" / "runs").start(TrainingPlan(**PLAN), corpus())


@pytest.mark.parametrize(
    ("device", "visible", "expected"),
    [
        (None, None, "0"),
        ("cuda", None, "0"),
        ("cuda:1", None, "1"),
        ("cuda:1", "4,6", "6"),
        ("cuda", "", None),
        ("cpu", None, None),
    ],
)
def test_a_run_sees_one_gpu(device, visible, expected):
    assert one_gpu(device, visible).get("CUDA_VISIBLE_DEVICES") == expected


@pytest.mark.parametrize("name", ["../x", "", "a/b", None, "nowhere"])
def test_names_from_strangers(name, runs):
    with raises_problem("training_no_run"):
        runs.status(name)


def test_a_crash_at_any_byte_of_the_log_loses_that_line_only(tmp_path):
    run = RunFolder(tmp_path)
    run.log.write_bytes(b'{"kind":"step","step":1}\n{"kind":"step","st')
    assert [r.step for r in run.history()] == [1]
    run.mend_log()
    with run.log.open("a") as file:
        file.write('{"kind":"step","step":2}\n')
    assert [r.step for r in run.history()] == [1, 2]


def test_records_beyond_a_resumed_step_do_not_count(tmp_path):
    run = RunFolder(tmp_path)
    records = [{"kind": "step", "step": step, "loss": step} for step in (1, 2, 3)]
    records += [{"kind": "resumed", "step": 1}, {"kind": "step", "step": 2, "loss": 9}]
    run.log.write_text("".join(f"{json.dumps(r)}\n" for r in records), encoding="utf-8")
    steps = [(r.step, r.loss) for r in run.history() if r.kind == "step"]
    assert steps == [(1, 1), (2, 9)]


def test_a_half_written_checkpoint_is_not_continued_from(tmp_path):
    run = RunFolder(tmp_path)
    for step, whole in ((5, True), (10, True), (15, False)):
        folder = run.checkpoints / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        if whole:
            (folder / "whole").touch()
    assert run.last_checkpoint()[1] == 10


def test_the_corpus_is_kept_to_the_letter(tmp_path):
    run = RunFolder(tmp_path)
    pairs = (("line\u2028break", 'tab\tand "quote"', 0.1), ("中文", "🙂\n", 3.0))
    run.write_pairs("train.jsonl", pairs)
    assert tuple(run.read_pairs("train.jsonl")) == pairs
    assert Corpus(pairs, ()).labels == [0.1, 3.0]


def test_any_offset_gives_whole_records(tmp_path):
    run = RunFolder(tmp_path)
    lines = [b'{"kind":"step","step":%d}\n' % step for step in (1, 2, 3)]
    run.log.write_bytes(b"".join(lines))
    size = run.log.stat().st_size
    for offset in range(size + 5):
        records, then = run.records_from(offset)
        steps = [record.step for record in records]
        assert steps == [1, 2, 3][-(-offset // len(lines[0])) :]
        assert run.records_from(then)[0] == []


# ---- What overlaps -------------------------------------------------------------------------------


def ended(runs, state="finished"):
    """A run that seems to have ended."""
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    run.take_ticket(os.getpid())
    run.set_stage(state)
    return run.name


def test_a_run_leaves_at_once(runs, monkeypatch):
    """Whoever reads it while its files are deleted finds no run, and no half of one."""
    name, seen = ended(runs), []

    def looked_at(path, own=shutil.rmtree, **how):
        for ask in (
            runs.status,
            runs.history,
            runs.folder,
            runs.stop,
            runs.delete,
        ):
            with raises_problem("training_no_run"):
                ask(name)
        seen.append((runs.listed(), runs.busy()))
        own(path, **how)

    monkeypatch.setattr(shutil, "rmtree", looked_at)
    runs.delete(name)
    assert seen == [([], False)] * 2  # its files, and what was packed of it
    assert list(runs.root.iterdir()) == []


def test_a_run_that_leaves_while_all_are_looked_at_is_passed_over(runs, monkeypatch):
    gone = RunFolder(runs.root / "20260101-000000-cosent-gone")
    monkeypatch.setattr(runs_module, "all_runs", lambda root: [gone])
    assert not runs.busy()
    assert runs.listed() == []


def test_two_who_resume_a_run_get_one_process(runs, monkeypatch):
    name, begun = ended(runs, "stopped"), []
    both = threading.Barrier(2)

    def spawn(self, run):
        begun.append(run.name)
        time.sleep(0.05)  # as a process takes to be there
        run.take_ticket(os.getpid())

    def resume():
        both.wait()
        runs.resume(name)

    monkeypatch.setattr(Runs, "_spawn", spawn)
    asking = [threading.Thread(target=resume) for _ in range(2)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert begun == [name]


def test_a_run_starts_while_another_process_comes_or_goes(runs, monkeypatch):
    known = {}

    def other():
        known["another"] = SimpleNamespace(poll=lambda: None)

    known["one"] = SimpleNamespace(poll=other)
    monkeypatch.setattr(runs_module, "_processes", known)
    process = SimpleNamespace(pid=os.getpid(), poll=lambda: None)
    monkeypatch.setattr(runs_module.subprocess, "Popen", lambda *given, **more: process)
    name = runs.start(TrainingPlan(**PLAN), corpus())
    assert runs.status(name).state == "queued"
    assert known.keys() == {"one", "another", runs.folder(name).path}


@pytest.mark.parametrize("apart", [1.5, -3.0, 3600.0, -86400.0])
def test_a_clock_that_is_set_ends_no_run(runs, apart, monkeypatch):
    """Linux moves the boot and the start of a process with its clock; other systems keep the start
    and may move the boot."""
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    run.take_ticket(os.getpid())
    born, booted = psutil.Process().create_time(), psutil.boot_time()
    for moved_start, moved_boot in ((apart, apart), (0.0, apart), (0.0, 0.0)):
        process = SimpleNamespace(create_time=lambda at=born + moved_start: at, status=str)
        monkeypatch.setattr(process_identity.psutil, "Process", lambda number, known=process: known)
        monkeypatch.setattr(process_identity.psutil, "boot_time", lambda at=booted + moved_boot: at)
        assert run.is_alive


def test_another_process_of_its_number_is_not_the_run(runs):
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    run.take_ticket(os.getpid())
    state = run.state
    assert run.is_alive
    for apart in (11.0, -3600.0):
        later = replace(state, born=state.born + apart, after_boot=state.after_boot + apart)
        run.write("state.json", later)
        assert not run.is_alive
    for apart, alive in ((1.5, True), (3600.0, False)):  # as earlier versions wrote it
        run.write("state.json", replace(state, after_boot=None, born=state.born + apart))
        assert run.is_alive == alive


def test_an_ended_process_is_not_the_run(runs):
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    run.take_ticket(os.getpid())
    none = next(number for number in range(2**22, 1, -1) if not psutil.pid_exists(number))
    run.write("state.json", replace(run.state, process=none))
    assert not run.is_alive


@pytest.mark.parametrize(("free", "key"), [(2**19, "disk_full"), (2**30, "crashed")])
def test_what_cannot_be_written_on_a_full_disk_says_so(runs, monkeypatch, free, key):
    """Torch tells of a file that it could not write, and not why."""
    run = runs.folder(ended(runs))
    monkeypatch.setattr(worker.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    problem = worker._problem(run, RuntimeError("file write failed"))
    assert problem.key == f"problem.training_{key}"


def test_a_problem_of_an_earlier_version_is_shown_in_full(runs):
    """It was written without what it is about."""
    name = ended(runs, "failed")
    problem = {"key": "problem.training_disk_full", "values": {"folder": "/runs", "free": 3}}
    run = runs.folder(name)
    run.write("state.json", {**vars(run.state), "problem": problem})
    assert runs.status(name).problem.to_json() == {**problem, "about": ""}


GARBAGE = (b"", b"\x00" * 64, b"\xff\xfe{", b"[]", b"{}", b'{"state": "training"', b"null")


@pytest.mark.parametrize("file", ["state.json", "config.json", "owner.json"])
@pytest.mark.parametrize("spoilt", GARBAGE)
def test_a_damaged_run_keeps_no_other_from_its_work(runs, file, spoilt, capsys):
    whole, broken = ended(runs), ended(runs)
    (runs.folder(broken).path / file).write_bytes(spoilt)
    seen = [status.id for status in runs.listed()]
    output = capsys.readouterr().err
    if file == "owner.json":  # at home nobody asks whose it is
        assert set(seen) == {whole, broken}
    else:
        assert seen == [whole]
        damaged = pattern_of("problem.training_damaged", file=file, name=broken)
        assert len(damaged.findall(output)) == 1
        with raises_problem("training_damaged", file=file, name=broken):
            runs.status(broken)
    assert not runs.busy()
    next_one = runs.prepare(TrainingPlan(**PLAN), corpus())
    next_one.take_ticket(os.getpid())
    assert next_one.runs_ahead() == 0


@pytest.mark.parametrize("file", ["state.json", "config.json", "owner.json"])
def test_a_damaged_run_of_a_hosted_page_leaves_in_its_time(runs, file, monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    key = new_key()
    with as_visitor(key):
        broken, whole = runs.folder(ended(runs)), ended(runs)
    (broken.path / file).write_bytes(b"\x00")
    with as_visitor(new_key()):
        assert runs.listed() == []
        with raises_problem("training_no_run"):
            runs.status(broken.name)
    runs.delete_expired()
    assert broken.path.exists()
    os.utime(broken.path / "state.json", (1e6, 1e6))
    runs.delete_expired()
    assert not broken.path.exists()
    with as_visitor(key):
        assert [status.id for status in runs.listed()] == [whole]


@pytest.mark.parametrize("spoilt", [b"", b"\x00" * 50, b"PK\x03\x04 and no more", b"1\n", b"{"])
def test_what_is_damaged_of_a_run_is_named(runs, spoilt):
    run = runs.folder(ended(runs))
    read = {"before.npz": run.read_arrays, "held_out.jsonl": run.read_pairs}
    for file, reading in read.items():
        (run.path / file).write_bytes(spoilt)
        if (file, spoilt) == ("held_out.jsonl", b""):
            continue  # no pairs
        with raises_problem("training_damaged", file=file, name=run.name):
            reading(file)


def test_spoilt_lines_of_a_log_are_left_out(runs):
    run = runs.folder(ended(runs))
    good = [{"kind": "step", "step": step} for step in (1, 2, 3)]
    lines = [json.dumps(record).encode() for record in good]
    lines[1:1] = [b"\x00\x00\xff", b"[]", b'{"kind": "st']
    run.log.write_bytes(b"".join(line + b"\n" for line in lines))
    found = run.records_from(0)[0]
    assert found == run.history() == run.tail()
    assert [record.step for record in found] == [1, 2, 3]


def test_a_clock_that_is_set_back_keeps_the_order_of_the_queue(runs, monkeypatch):
    first = runs.prepare(TrainingPlan(**PLAN), corpus())
    first.take_ticket(os.getpid())
    hour = 3600 * 10**9
    now = folder.time.time_ns
    monkeypatch.setattr(folder.time, "time_ns", lambda: now() - hour)
    second = runs.prepare(TrainingPlan(**PLAN), corpus())
    second.take_ticket(os.getpid())
    assert (first.runs_ahead(), second.runs_ahead()) == (0, 1)


def steps_of(run, count, each):
    lines = [{"kind": "step", "step": n, "seconds": each * n} for n in range(1, count + 1)]
    run.log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_the_time_of_a_step_is_the_mean_of_all_steps(runs):
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    lines, seconds = [], 3.0  # what came before the first step belongs to none
    for step in range(1, 1001):
        seconds += 0.1
        lines.append({"kind": "step", "step": step, "seconds": seconds})
        if step % 100 == 0:  # an evaluation, long in time and in the log
            seconds += 10
            lines.append({"kind": "evaluation", "step": step, "probe": [0.5] * 3000})
    paces = []
    for until in (450, 500, 501, 599, 650):
        kept = [line for line in lines if line["step"] <= until]
        run.log.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        now = progress(run)
        assert now.step == until
        paces.append(now.pace)
    # A tenth of a second a step and ten for each hundred of them are a fifth.
    assert 0.17 < min(paces) < max(paces) < 0.23


def test_a_queued_run_shows_the_work_before_it(runs):
    def queued(**how):
        run = runs.prepare(TrainingPlan(**{**PLAN, "steps": 60, **how}), corpus())
        run.take_ticket(os.getpid())
        return run

    first, second, third, last = queued(), queued(steps=20), queued(), queued()
    reported = lambda run: runs.status(run.name).queue_seconds  # noqa: E731
    assert reported(last) is None  # nobody has a pace yet
    first.set_stage("training")
    steps_of(first, 10, 0.5)
    assert reported(first) is None  # it waits for nobody
    assert reported(second) == pytest.approx(25)  # 50 steps of half a second
    assert reported(third) == pytest.approx(25 + 10)
    assert reported(last) == pytest.approx(25 + 10 + 30)
    first.set_stage("paused")
    assert reported(second) is None
    first.set_stage("finished")
    assert reported(second) == 0
    assert reported(third) == pytest.approx(10)  # at the pace of the one that has ended


def test_the_pace_of_another_kind_of_run_says_nothing_of_a_queued_one(runs):
    made = []
    for batch_size, steps in ((8, 60), (4, 60), (8, 60)):
        plan = TrainingPlan(**{**PLAN, "batch_size": batch_size, "steps": steps})
        made.append(runs.prepare(plan, corpus()))
        made[-1].take_ticket(os.getpid())
    made[0].set_stage("training")
    steps_of(made[0], 10, 0.5)
    assert runs.status(made[1].name).queue_seconds == pytest.approx(25)
    assert runs.status(made[2].name).queue_seconds is None


def test_polling_is_slower_far_back_in_the_queue(runs, monkeypatch):
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    places, slept = iter([worker.MAX_TURNS + 20, 3, 1, 0]), []
    monkeypatch.setattr(RunFolder, "belongs_to", lambda run, process: True)
    monkeypatch.setattr(RunFolder, "runs_ahead", lambda run: next(places))
    monkeypatch.setattr(worker.time, "sleep", slept.append)
    monkeypatch.setattr(worker.os, "nice", lambda by: 0)
    monkeypatch.setattr(worker, "work", lambda run, trial: 0)
    assert worker.main(str(run.path)) == 0
    assert slept == [worker.QUEUE_POLL_SECONDS] * (worker.MAX_TURNS + 3 + 1)


def test_one_who_waits_far_back_hears_at_once_that_it_is_to_stop(runs, monkeypatch):
    run = runs.prepare(TrainingPlan(**PLAN), corpus())
    run.take_ticket(os.getpid())
    monkeypatch.setattr(RunFolder, "runs_ahead", lambda run: 50)
    monkeypatch.setattr(worker.time, "sleep", lambda seconds: run.send_command("stop"))
    monkeypatch.setattr(worker.os, "nice", lambda by: 0)
    assert worker.main(str(run.path)) == 0
    assert run.state.state == "stopped"
