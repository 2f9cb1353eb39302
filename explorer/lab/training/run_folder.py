"""Folder of one run: plan, state, log, and place in the queue of runs.

A run is its folder and the process that works in it. Nothing here loads torch, so that a queued
worker, or a command that asks for the status of a run, stays small.

    config.json  the resolved plan           train.jsonl, held_out.jsonl  pairs with the teacher's
                                                                          scores
    state.json   the state, replaced whole   log.jsonl                    one record per line
    control      a command for the worker    checkpoints/, model/         weights
    owner.json   the visitor of a hosted page, and the token of a shared run's link
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import os
import re
import time
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import platformdirs
import psutil

from lossprism.explorer.lab.training.process_identity import is_running, start_of
from lossprism.explorer.lab.training.run_file_reader import (
    LIVE,
    InvalidEntry,
    is_row,
    read_as,
    read_object,
    records_in,
)
from lossprism.explorer.lab.training.run_json_types import (
    Probe,
    RunConfig,
    RunOwner,
    RunRecord,
    RunStage,
    RunState,
    StepRecord,
    Summary,
)
from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.local_path import is_inside
from lossprism.explorer.runtime.problem import Problem

if TYPE_CHECKING:
    import numpy as np

Contents = TypeVar("Contents")

_NAME = re.compile(r"[\w-]{1,80}")
# A disk with fewer bytes free is full.
MIN_FREE_BYTES = 2**20
# What is read of the end of a log.
TAIL_BYTES = 20_000
# Vectors of the guide, and scores of the teacher, for the probe batch.
PROBE_GUIDE = "probe_guide.npy"
PROBE_TEACHER = "probe_teacher.npy"


_chosen: Path | None = None


def choose_root(folder: str | Path | None) -> None:
    """Store runs in this folder; None for the user's data directory."""
    global _chosen
    _chosen = Path(folder) if folder else None


def default_root() -> Path:
    """Return the folder of runs: the chosen one, or the user's data directory."""
    if _chosen:
        return _chosen
    return platformdirs.user_data_path("lossprism", appauthor=False) / "runs"


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())


def nan_as_null(scores: Iterable[float]) -> list[float | None]:
    """Return scores as JSON has them: null for NaN."""
    return [None if math.isnan(score) else score for score in scores]


def null_as_nan(scores: Iterable[float | None]) -> list[float]:
    """Return scores from JSON: NaN for null."""
    return [math.nan if score is None else float(score) for score in scores]


class RunFolder:
    """A run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def named(cls, root: Path, name: object) -> RunFolder:
        """Return the run of this name. Raises Problem for an unknown or malformed name."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise Problem("training_no_run", name=str(name)[:60])
        if not (root / name / "state.json").is_file():
            raise Problem("training_no_run", name=name)
        return cls(root / name)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def model(self) -> Path:
        return self.path / "model"

    @property
    def start(self) -> Path:
        """Untrained weights of an encoder from scratch."""
        return self.path / "start"

    @property
    def log(self) -> Path:
        return self.file("log.jsonl")

    @property
    def owner(self) -> str:
        """Visitor of a hosted page who began the run; "" for a local one."""
        return self._owner.visitor

    @property
    def is_mine(self) -> bool:
        """True if the visitor may change the run; locally, always."""
        return not deployment_policy().separates_visitors or self.owner == visitor()

    @property
    def token(self) -> str:
        """Token in the link of a shared run; "" for any other."""
        return self._owner.token

    @property
    def _owner(self) -> RunOwner:
        try:
            return self._read_if_there("owner.json", RunOwner) or RunOwner()
        except FileNotFoundError:
            return RunOwner()
        except Problem:  # of an unknown owner
            return RunOwner(visitor="?")

    def read(self, name: str) -> dict:
        """Read a file of the run.

        Raises Problem for a damaged file, and FileNotFoundError if the run was deleted.
        """
        try:
            content = read_object(self.file(name))
        except FileNotFoundError:
            if not self.path.is_dir():  # the run was deleted meanwhile
                raise
            content = None
        if content is None:
            raise self.damaged(name)
        return content

    def _read_as(self, name: str, kind: type[Contents]) -> Contents:
        try:
            return read_as(kind, self.read(name))
        except InvalidEntry:
            raise self.damaged(name) from None

    def _read_if_there(self, name: str, kind: type[Contents]) -> Contents | None:
        return self._read_as(name, kind) if (self.path / name).exists() else None

    @property
    def config(self) -> RunConfig:
        return self._read_as("config.json", RunConfig)

    @property
    def summary(self) -> Summary | None:
        """Results of the run; None before its end."""
        return self._read_if_there("summary.json", Summary)

    @property
    def probe(self) -> Probe | None:
        """Probe batch; None before it is chosen."""
        return self._read_if_there("probe.json", Probe)

    def file(self, name: str) -> Path:
        """Return the path of a file. Raises Problem for a link that leads out of the folder."""
        path = self.path / name
        if not is_inside(path, self.path):
            raise Problem("training_link_outside", name=self.name, file=name)
        return path

    def check_links(self) -> None:
        """Raise Problem for a link that leads out of the folder, through which reading or writing
        the run would reach other files."""
        for place, folders, files in os.walk(self.path):
            for name in (*folders, *files):
                path = Path(place, name)
                if path.is_symlink():
                    self.file(str(path.relative_to(self.path)))

    def read_arrays(self, name: str) -> dict[str, np.ndarray]:
        """Read the arrays of an .npz file of the run. Raises Problem where it is damaged."""
        import numpy as np  # a queued run should not load it

        try:
            arrays = np.load(self.file(name), allow_pickle=False)
            if not isinstance(arrays, np.lib.npyio.NpzFile):
                raise ValueError("one array in place of several")
            with arrays:
                return {key: arrays[key] for key in arrays.files}
        except FileNotFoundError:
            raise
        except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error):
            raise self.damaged(name) from None

    def damaged(self, file: str) -> Problem:
        return Problem("training_damaged", name=self.name, file=file)

    def write(self, name: str, value: object) -> None:
        """Replace a file of the run. Raises Problem for a folder of that name."""
        try:
            _write_text(self.path / name, json.dumps(plain(value), ensure_ascii=False, indent=1))
        except IsADirectoryError:
            raise self.damaged(name) from None

    # Pairs

    def write_pairs(
        self,
        name: str,
        pairs: Iterable[tuple[str, str, float]],
        teacher: Iterable[float] | None = None,
    ) -> None:
        rows: Iterable[tuple] = pairs
        if teacher is not None:
            rows = ((*pair, score) for pair, score in zip(pairs, nan_as_null(teacher), strict=True))
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        _write_text(self.path / name, "".join(f"{line}\n" for line in lines))

    def read_pairs(self, name: str) -> list[tuple[str, str, float]]:
        """Read the pairs of a file. Raises Problem where it is damaged."""
        return self.read_scored(name)[0]

    def read_scored(self, name: str) -> tuple[list[tuple[str, str, float]], list[float] | None]:
        """Read pairs (first, second, label) and a teacher's scores, NaN for a missing one; None
        without a teacher. Raises Problem for a damaged file."""
        rows = self._rows(name)
        pairs = [(first, second, label) for first, second, label, *_ in rows]
        if not any(len(row) > 3 for row in rows):
            return pairs, None
        try:
            return pairs, null_as_nan(row[3] if len(row) > 3 else None for row in rows)
        except (ValueError, TypeError):
            raise self.damaged(name) from None

    def _rows(self, name: str) -> list[tuple]:
        try:
            text = self.file(name).read_text(encoding="utf-8")
            # JSON escapes every line break of its own kind but not U+2028: split at \n only.
            rows = [tuple(read_json(line)) for line in text.split("\n") if line]
        except FileNotFoundError:
            raise
        except (OSError, ValueError, TypeError):
            raise self.damaged(name) from None
        if not all(map(is_row, rows)):
            raise self.damaged(name)
        return rows

    # State

    @property
    def state(self) -> RunState:
        return self._read_as("state.json", RunState)

    def set_stage(self, state: RunStage, **more: Any) -> None:
        """Write the stage and further fields of the state; other fields stay."""
        self.write("state.json", dataclasses.replace(self.state, **{"state": state, **more}))

    def take_ticket(self, process: int) -> None:
        """Join the queue with this process."""
        last = (run.ticket for run in all_runs(self.path.parent) if run.path != self.path)
        ticket = max(time.time_ns(), 1 + max(last, default=0))  # the clock may have been set back
        before = self._read_if_there("state.json", RunState)
        born, after_boot = start_of(process)
        queued = RunState(
            state="queued",
            ticket=ticket,
            process=process,
            born=born,
            after_boot=after_boot,
            steps=before and before.steps,
        )
        self.write("state.json", queued)

    def belongs_to(self, process: int) -> bool:
        return (self.path / "state.json").exists() and self.state.process == process

    @property
    def is_alive(self) -> bool:
        """True if the run's process lives, and its number was not reused."""
        return is_running(self.state)

    def end_process(self) -> None:
        """Kill the process that works on this run or waits in the queue."""
        if self.is_live():
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(self.state.process).kill()

    @property
    def stage(self) -> RunStage:
        """Stage of the state; "interrupted" if that is live and the process is gone."""
        stage = self.state.state
        if stage not in LIVE or self.is_alive:
            return stage
        stage = self.state.state  # it may have ended meanwhile
        return stage if stage not in LIVE else "interrupted"

    def runs_ahead(self) -> int:
        """Return the number of live runs with an earlier ticket."""
        ticket = self.state.ticket
        return sum(other.is_live(before=ticket) for other in all_runs(self.path.parent))

    def is_live(self, before: float = math.inf) -> bool:
        """True if the run works or waits, with a ticket earlier than `before`."""
        try:
            return self.state.ticket < before and self.stage in LIVE
        except (FileNotFoundError, Problem):  # it was just deleted, or is damaged
            return False

    @property
    def is_finished(self) -> bool:
        try:
            return self.state.state == "finished"
        except Problem:
            return False

    @property
    def ticket(self) -> int:
        """Time in nanoseconds that orders the queue; 0 if unknown."""
        try:
            return self.state.ticket
        except (FileNotFoundError, Problem):
            return 0

    # Control

    def send_command(self, word: str) -> None:
        """Write a command for the worker: "pause", "stop", or "" to go on."""
        _write_text(self.path / "control", word)

    def command(self) -> str:
        """Return the last command to the worker; "" for none that can be read."""
        try:
            return self.file("control").read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    # Log

    def records_from(self, offset: int) -> tuple[list[RunRecord], int]:
        """Return the records of whole lines from byte `offset` on, and the offset after them."""
        if not self.log.is_file():
            return [], 0
        with self._open_log() as file:
            file.seek(max(offset - 1, 0))
            if offset:
                offset = file.tell() + len(file.readline())
            data = file.read()
        data = data[: data.rfind(b"\n") + 1]
        return records_in(data.split(b"\n")), offset + len(data)

    def _open_log(self) -> BinaryIO:
        """Open the log for reading; an empty one if there is none, or a folder of that name."""
        try:
            return self.log.open("rb")
        except OSError:
            return io.BytesIO()

    def tail(self) -> list[RunRecord]:
        """Return the whole records of the last TAIL_BYTES bytes."""
        with self._open_log() as file:
            begin = max(file.seek(0, os.SEEK_END) - TAIL_BYTES, 0)
            file.seek(begin)
            lines = file.read().split(b"\n")
        # The first and the last line may be incomplete.
        return records_in(lines[bool(begin) : -1])

    def first_step(self) -> StepRecord | None:
        """Return the record of the first step; None before it."""
        with self._open_log() as file:
            whole = (line for line in file if line.endswith(b"\n"))
            records = (record for line in whole for record in records_in([line]))
            return next((one for one in records if isinstance(one, StepRecord)), None)

    def history(self) -> list[RunRecord]:
        """Return the records without those that a resumed run lost and computed again."""
        records: list[RunRecord] = []
        for record in self.records_from(0)[0]:
            if record.kind == "resumed":
                records = [one for one in records if one.step <= record.step]
            records.append(record)
        return records

    def mend_log(self) -> None:
        """Cut off the incomplete line that a crash may have left."""
        if self.log.is_file():
            whole = self.records_from(0)[1]
            with self.log.open("r+b") as file:
                file.truncate(whole)

    # Checkpoints

    def last_checkpoint(self) -> tuple[Path, int] | None:
        """Return the newest complete checkpoint and its step; None without one."""
        whole = [
            (int(path.name.rpartition("-")[2]), path)
            for path in self.checkpoints.glob("checkpoint-*")
            if (path / "whole").exists()
        ]
        step, path = max(whole, default=(0, None))
        return path and (path, step)


def all_runs(root: Path) -> list[RunFolder]:
    """Return every run of the root, unordered; hidden folders are being deleted."""
    return [RunFolder(path.parent) for path in root.glob("[!.]*/state.json")]
