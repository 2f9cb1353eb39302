"""Starting, watching and steering runs: what the page, the command line and the API call."""

import contextlib
import dataclasses
import functools
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lossprism.explorer.core.own_loss_from_python_file import check_consent
from lossprism.explorer.lab.training import data, quota, starting_model, teacher_scores
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.queue_wait import seconds_before
from lossprism.explorer.lab.training.run_file_reader import ENDED, LIVE
from lossprism.explorer.lab.training.run_folder import (
    PROBE_GUIDE,
    PROBE_TEACHER,
    RunFolder,
    all_runs,
    default_root,
)
from lossprism.explorer.lab.training.run_json_types import (
    EvaluationRecord,
    FollowedRun,
    Probe,
    RecordedRules,
    RunConfig,
    RunOwner,
    RunRecord,
    RunStage,
    RunStatus,
    StepRecord,
)
from lossprism.explorer.lab.training.run_progress_and_plan_reader import (
    died,
    loading,
    progress,
    recorded_plan,
)
from lossprism.explorer.lab.training.trainer_rows import examples
from lossprism.explorer.locale import word
from lossprism.explorer.runtime import device, downloads
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.folder_files_and_their_age import age_of
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.runtime.saved_arrays import load_array
from lossprism.explorer.sources.encoders import check_download
from lossprism.version import VERSION

PACKAGE_FOLDER = Path(__file__).resolve().parents[3]
# Between the name of a shared run and the token of its link.
TOKEN_SEPARATOR = "~"
WORKER = "lossprism.explorer.lab.training.worker"
MAX_NAME_LETTERS = 40  # of a loss's name in that of its run
# At step 0, and on all held-out pairs before and after.
MORE_EVALUATIONS = 3


# The children of this process, to notice when one has ended.
_processes: dict[Path, subprocess.Popen] = {}
# Held from a look at a run's state to the action on it.
_acting = threading.Lock()


class Runs:
    """The runs of one folder. Every method may be called from any thread or process.

    On a hosted page these are the visitor's own, and of others the shared ones (`share`), to be
    read only: a run that a visitor may not read does not exist for them.
    """

    def __init__(self, root: str | Path | None = None, device: str | None = None) -> None:
        self.root = Path(root) if root else default_root()
        self.device = device

    # Doing

    def start(self, plan: TrainingPlan, corpus: data.Corpus | None = None) -> str:
        """Queue a run and return its name. A `corpus` takes the place of the plan's data.

        Raises Problem where the data, the loss and the encoder do not go together, and where a
        Space that is shared could not bear it.
        """
        corpus = data.under_teacher(plan, corpus or checked_corpus(plan))
        if reason := quota.refusal(plan, corpus):
            raise logged(reason)
        with _acting:
            quota.check_queue(self.root, 1)
            return self._begin(plan, corpus)

    def remaining_runs(self, least: int = 0) -> int | None:
        """Number of further runs that may be queued; None where all may. Raises Problem if fewer
        than `least`."""
        if least:
            quota.check_queue(self.root, least)
        return quota.remaining_runs(self.root)

    def _begin(self, plan: TrainingPlan, corpus: data.Corpus, *options: str) -> str:
        run = self.prepare(plan, corpus)
        try:
            self._spawn(run, *options)
        except OSError as error:
            shutil.rmtree(run.path, ignore_errors=True)
            raise Problem("training_no_folder", folder=self.root, reason=error) from error
        return run.name

    def prepare(self, plan: TrainingPlan, corpus: data.Corpus) -> RunFolder:
        """Create the folder of a run with everything that its process needs."""
        starting_model.check(plan)
        for name in starting_model.models_of(plan):
            check_download(name)
        corpus = data.under_teacher(plan, corpus)
        run = RunFolder(self._new_folder(plan))
        try:
            run.write_pairs("train.jsonl", corpus.train, corpus.teacher)
            run.write_pairs("held_out.jsonl", corpus.held_out, corpus.held_out_teacher)
            config = RunConfig(
                plan=plan.to_json(),
                device=self.device,
                created=time.time(),
                version=VERSION,
                skipped=corpus.skipped,
                shared=corpus.shared,
                rules=RecordedRules(*data.rules_for(plan, corpus)),
                labelled=corpus.labelled,
                triplets=corpus.triplets,
            )
            run.write("config.json", config)
            run.write("owner.json", RunOwner(visitor()))
        except OSError as error:
            shutil.rmtree(run.path, ignore_errors=True)
            raise Problem("training_no_folder", folder=self.root, reason=error) from error
        return run

    def _new_folder(self, plan: TrainingPlan) -> Path:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        loss = re.sub(r"\W+", "-", plan.loss).strip("-")[
            :MAX_NAME_LETTERS
        ]  # a sum has signs in its name
        path = self.root / f"{stamp}-{loss}-{secrets.token_hex(6)}"
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise Problem("training_no_folder", folder=self.root, reason=error) from error
        return path

    def _spawn(self, run: RunFolder, *options: str) -> None:
        """Start the run's own process: it outlives the page, and its memory ends with it."""
        for process in list(_processes.values()):  # others come and go meanwhile
            process.poll()  # a process that ended is a zombie until it is polled
        run.send_command("")
        command = [sys.executable, "-m", WORKER, str(run.path), *options]
        paths = [str(PACKAGE_FOLDER), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        environment |= device.one_gpu(self.device, os.environ.get("CUDA_VISIBLE_DEVICES"))
        with (run.path / "worker.txt").open("ab") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=out, env=environment, start_new_session=True
            )
        _processes[run.path] = process
        run.take_ticket(process.pid)

    def pause(self, name: str) -> None:
        """Pause a run after its current step; the process stays in memory."""
        run = self._run_in_stage(name, ("loading", "training", "paused"))
        run.send_command("pause")

    def resume(self, name: str, own_loss: str = "") -> None:
        """Continue a paused run at once, or queue one that ended early from its last checkpoint.

        `own_loss` repeats the file.py:function of the run's config.json as permission to execute
        it, since the folder may be another person's. Raises Problem if it differs, and for a link
        that leads out of the folder.
        """
        run = self._own(name)
        with _acting:
            stage = self._stage(run)
            if stage in LIVE:
                run.send_command("")
            elif stage == "finished":
                raise Problem("training_finished", name=name)
            elif run.state.time_is_up and run.state.problem:
                raise run.state.problem
            else:
                run.check_links()
                self._check_consent(run, own_loss)
                quota.check_queue(self.root, 1)
                self._spawn(run)

    def _check_consent(self, run: RunFolder, own_loss: str) -> None:
        """Raise Problem without permission for its own loss, or to fetch its models."""
        plan = recorded_plan(run, run.config.plan)
        check_consent(plan.own_loss, own_loss)
        for name in (plan.encoder, plan.guide, plan.teacher_model):
            if name not in ("", SCRATCH):
                check_download(name)

    def stop(self, name: str) -> None:
        """End a run after its current step and keep its model so far."""
        self._run_in_stage(name, LIVE).send_command("stop")

    def delete(self, name: str) -> None:
        """Remove a run that has ended, with its model."""
        with _acting:
            run = self._run_in_stage(name, ENDED)
            gone = self._aside(run)
        downloads.forget_run(run.name)
        shutil.rmtree(gone)

    def share(self, name: str) -> str:
        """Return the name by which others may read the run, and do nothing else."""
        run = self._own(name)
        with _acting:
            if not run.token:
                run.write("owner.json", RunOwner(run.owner, secrets.token_hex(16)))
        return f"{run.name}{TOKEN_SEPARATOR}{run.token}"

    def unshare(self, name: str) -> None:
        """Revoke the link of a run and its packed downloads; sharing again creates a new link."""
        run = self._own(name)
        with _acting:
            if run.token:
                run.write("owner.json", RunOwner(run.owner))
        downloads.forget_run(run.name)

    def forget_visitor(self) -> None:
        """Remove every run of the visitor of a hosted page who asks, also one under way."""
        for run in all_runs(self.root):
            if run.owner and run.owner == visitor():
                self._end(run)

    def delete_expired(self) -> None:
        """Remove the runs of a hosted page that ended too long ago."""
        for run in all_runs(self.root):
            with contextlib.suppress(FileNotFoundError):  # it was deleted while we looked
                state = run.path / "state.json"
                age = age_of(state, state.stat().st_mtime)
                if run.owner and not run.is_live():
                    if age >= 3600 * budget("run_hours"):
                        self._end(run)
                    elif run.is_finished:  # it is not resumed
                        shutil.rmtree(run.checkpoints, ignore_errors=True)
        self._delete_oldest()
        for gone in self.root.glob(".deleted-*"):  # by a process that was killed meanwhile
            shutil.rmtree(gone, ignore_errors=True)

    def _delete_oldest(self) -> None:
        """Remove those that ended longest ago where there are more than a hosted page keeps."""
        ended = [run for run in all_runs(self.root) if run.owner and not run.is_live()]
        ended.sort(key=lambda run: run.ticket, reverse=True)
        for run in ended[int(budget("runs_kept")) :]:
            self._end(run)

    def _end(self, run: RunFolder) -> None:
        """Remove a run, under way or not; none if it is gone already."""
        with contextlib.suppress(FileNotFoundError):
            with _acting:
                run.end_process()
                gone = self._aside(run)
            downloads.forget_run(run.name)
            shutil.rmtree(gone, ignore_errors=True)

    def _aside(self, run: RunFolder) -> Path:
        """Move the run away atomically: a concurrent reader finds all of it or no run."""
        return run.path.rename(self.root / f".deleted-{run.name}")

    def busy(self) -> bool:
        """True if any run is under way or waits for its turn."""
        return any(run.is_live() for run in all_runs(self.root))

    def wait(self, name: str, seconds: float = float("inf"), every: float = 0.2) -> FollowedRun:
        """Return its status once it has ended, or when the time is up."""
        end = time.monotonic() + seconds
        while self._stage(self.folder(name)) in LIVE and time.monotonic() < end:
            time.sleep(every)
        return self.status(name)

    # Watching

    def status(self, name: str, offset: int = 0) -> FollowedRun:
        """Return the status of a run, and the records of its log since `offset`."""
        run = self.folder(name)
        with _there(run):
            about = self._about(run)  # first: one that has ended by then has all its records
        records, offset = run.records_from(offset)
        return FollowedRun(**{**vars(about), "id": name}, records=records, offset=offset)

    def listed(self) -> list[RunStatus]:
        """Return the status of every run, the newest first."""
        statuses = []
        for run in all_runs(self.root):
            if not run.is_mine:
                continue
            try:
                statuses.append(self._about(run))
            except FileNotFoundError:  # it was deleted while we looked
                continue
            except Problem as damaged:  # the others are listed all the same
                print(damaged, file=sys.stderr, flush=True)
        return sorted(statuses, key=lambda status: status.created, reverse=True)

    def history(self, name: str) -> list[RunRecord]:
        """Return the records that count: those that a resumed run dropped are left out."""
        return self.folder(name).history()

    def probe(self, name: str) -> Probe | None:
        """The probe batch; None while it is not chosen yet."""
        return self.folder(name).probe

    def probe_vectors(self, name: str, step: int) -> np.ndarray | None:
        """The vectors of the probe sentences at a recorded step; None for a cross-encoder."""
        return load_array(self.folder(name).file(f"probe/{int(step)}.npy"))

    def probe_guide(self, name: str) -> np.ndarray | None:
        """Return the guide's vectors of the probe sentences; None for a run without one."""
        return load_array(self.folder(name).file(PROBE_GUIDE))

    def probe_teacher(self, name: str) -> np.ndarray | None:
        """The vectors of the probe sentences that a run learns; None for one that learns none."""
        return load_array(self.folder(name).file(PROBE_TEACHER))

    def plan(self, name: str) -> TrainingPlan:
        return TrainingPlan.from_run(self.folder(name).config.plan)

    def folder(self, name: object) -> RunFolder:
        """Return the run of this name, if the visitor may read it."""
        plain, _, token = str(name).partition(TOKEN_SEPARATOR)
        run = RunFolder.named(self.root, plain)
        sent, known = (one.encode("utf-8", "replace") for one in (token, run.token))
        shared = bool(known) and secrets.compare_digest(sent, known)
        if not run.is_mine and not shared:
            raise Problem("training_no_run", name=plain)
        return run

    def _about(self, run: RunFolder) -> RunStatus:
        config = run.config
        stage, state, now = self._stage(run), run.state, progress(run)
        plan = recorded_plan(run, config.plan)
        is_queued, ended = stage == "queued", stage in ENDED
        return RunStatus(
            id=run.name,
            loss=plan.loss,
            encoder=plan.encoder,
            kind=plan.kind,
            plan=plan,
            created=config.created,
            state=stage,
            shared=run.is_mine and bool(run.token),
            loading=loading(state) if stage == "loading" else None,
            queue_position=None if ended else run.runs_ahead() if is_queued else 0,
            queue_seconds=seconds_before(run) if is_queued else None,
            step=now.step,
            steps=state.steps,
            seconds=now.seconds,
            seconds_left=None if ended else now.seconds_left(state.steps, now.pace),
            problem=state.problem or died(run, stage),
            summary=run.summary,
        )

    def _stage(self, run: RunFolder) -> RunStage:
        process = _processes.get(run.path)
        if process:
            process.poll()  # else a child that has ended would stay as a zombie
        with _there(run):
            return run.stage

    def _own(self, name: object) -> RunFolder:
        """Return the run of this name, if the visitor may change it."""
        run = self.folder(name)
        if not run.is_mine:
            raise Problem("training_read_only", name=run.name)
        return run

    def _run_in_stage(self, name: str, states: tuple[str, ...]) -> RunFolder:
        run = self._own(name)
        stage = self._stage(run)
        if stage not in states:
            state = word(f"finetune.state.{stage}", stage)
            raise Problem("training_wrong_state", name=name, state=state)
        return run


@functools.cache
def default_runs() -> Runs:
    """Return the runs of the chosen folder (`run_folder.choose_root`), on the chosen device."""
    return Runs(device=str(device.device()))


@contextlib.contextmanager
def _there(run: RunFolder) -> Iterator[None]:
    """Raise the problem of an unknown run if the run is deleted meanwhile."""
    try:
        yield
    except FileNotFoundError:
        raise Problem("training_no_run", name=run.name) from None


def estimate(
    plan: TrainingPlan, device: str | None = None, is_needed: Callable[[], bool] = lambda: True
) -> dict[str, float] | None:
    """Estimate the time of a run, from two trial steps and one evaluation in a process of its own.

    Returns seconds (all of it), seconds_to_load, seconds_per_step, seconds_per_evaluation and
    steps; None once `is_needed`, which is called all the while, returns False.
    """
    corpus = checked_corpus(plan)
    if reason := quota.refusal(plan, corpus):
        raise logged(reason)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        runs = Runs(folder, device)
        name = runs._begin(dataclasses.replace(plan, evaluations=1), corpus, "--trial")
        try:
            while (status := runs.wait(name, seconds=0.0)).state in LIVE:
                if not is_needed():
                    return None
                time.sleep(0.1)
        finally:
            process = _processes.pop(runs.folder(name).path)
            process.kill()
            process.wait()
        teaching_left = teacher_scores.seconds_left_out(runs.folder(name))
    whole = time.monotonic() - began
    if status.problem:
        raise status.problem
    steps = [one for one in status.records if isinstance(one, StepRecord)]
    measured = [one.seconds for one in status.records if isinstance(one, EvaluationRecord)]
    each, evaluation = steps[-1].seconds - steps[0].seconds, min(measured)
    total = plan.steps_for(examples(plan, corpus.material))
    loading = max(whole - steps[-1].seconds - measured[-1], 0.0) + teaching_left
    return {
        "seconds_to_load": loading,
        "seconds_per_step": each,
        "seconds_per_evaluation": evaluation,
        "steps": total,
        "seconds": loading + total * each + (plan.evaluations + MORE_EVALUATIONS) * evaluation,
    }
