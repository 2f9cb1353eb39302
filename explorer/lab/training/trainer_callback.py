"""The trainer's callback: records steps, measures, saves checkpoints, and follows commands."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import Trainer, TrainerCallback

from lossprism.explorer.core.remarks import MAX_COLLAPSED_SPREAD
from lossprism.explorer.lab.training.held_out_metrics import HeldOut, keeps_random_state
from lossprism.explorer.lab.training.own_loss_training_failures import OwnNotFinite
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_json_types import (
    AlarmRecord,
    EvaluationRecord,
    EventRecord,
    ListFigures,
    RunRecord,
    StepRecord,
)
from lossprism.explorer.locale import Word, word
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.saved_arrays import save_array
from lossprism.losses.input_checks import NotFinite

if TYPE_CHECKING:
    from lossprism.explorer.lab.training.starting_model import Encoder

# Between writes of the log, and between reads of commands.
FLUSH_SECONDS, COMMAND_SECONDS = 0.1, 0.1
# Shared, since `json.dumps` would create one per record.
_ENCODER = json.JSONEncoder(allow_nan=False, default=vars)
# The trainer's loader fetches batches ahead of the one in use.
MAX_PREFETCHED = 3
SHOWN_PAIRS = 3


class Recorder(TrainerCallback):
    """Writer of the log of a run.

    `live` are the pairs of `held_out` that are measured during the run. `loss_at_collapse` returns
    (loss, value at collapse) of the probe batch from its scores and vectors; `lists_of` returns the
    figures of the live lists from their scores. The run ends after `time_limit` seconds.
    """

    def __init__(
        self,
        run: RunFolder,
        live: HeldOut,
        held_out: HeldOut,
        probe: int,
        every: int,
        checkpoint_seconds: float,
        time_limit: float,
        loss_at_collapse: Callable[[np.ndarray, np.ndarray | None], tuple],
        lists_of: Callable[[np.ndarray], ListFigures | None],
        learning: nn.Module,
    ) -> None:
        self.run, self.live, self.probe = run, live, probe
        self.held_out = held_out
        self.every, self.checkpoint_seconds = every, checkpoint_seconds
        self.time_limit = time_limit
        self.loss_at_collapse, self.lists_of = loss_at_collapse, lists_of
        self.learning = learning  # the loss, which may learn weights of its own
        self.batches: deque[list[dict]] = deque(maxlen=MAX_PREFETCHED)
        self.fetched = self.used = 0
        self.loss = self.norm = torch.tensor(math.nan)
        self.stopped_early = False
        self.collapsed_since: int | None = None
        self.flushed = self.command_read_at = 0.0
        self.unwritten: list[RunRecord] = []
        self.file = run.log.open("a", encoding="utf-8")

    def attach(self, trainer: Trainer) -> None:
        """Register for the loss, the norm of the gradient, and the fetched batches."""
        trainer.add_callback(self)
        self.learning.register_forward_hook(self._note_loss)
        clip, collate = trainer.accelerator.clip_grad_norm_, trainer.data_collator

        def clip_and_note(*arguments: object, **named: object) -> torch.Tensor:
            self.norm = clip(*arguments, **named)
            return self.norm

        def collate_and_keep(rows: list[dict]) -> dict:
            self.batches.append(rows)
            self.fetched += 1
            return collate(rows)

        # The library's trainers ask their collator which columns are labels.
        collate_and_keep.__dict__.update(vars(collate))
        trainer.accelerator.clip_grad_norm_ = clip_and_note
        trainer.data_collator = collate_and_keep

    def _note_loss(self, _loss: nn.Module, _inputs: tuple, value: torch.Tensor) -> None:
        self.used += 1
        self.loss = value.detach()

    @property
    def batch(self) -> list[dict]:
        """The rows of the batch in use."""
        return self.batches[-1 - (self.fetched - self.used)] if self.used else self.batches[0]

    # Events

    def on_train_begin(self, args, state, control, *, model, **_) -> None:
        before = [one for one in self.run.history() if isinstance(one, StepRecord)]
        self.started = time.perf_counter() - (before[-1].seconds if before else 0.0)
        self.began = self.saved = time.perf_counter()
        self.run.set_stage("training", steps=state.max_steps)
        if state.global_step == 0:
            self.measure(model, 0)

    def on_pre_optimizer_step(self, args, state, control, *, optimizer, **_) -> None:
        # Reading a value of an accelerator waits for all work before it: read once per step.
        self.noted = {
            "loss": float(self.loss),
            "gradient_norm": float(self.norm),
            "learning_rate": optimizer.param_groups[0]["lr"],
        }
        for name, figure in self.noted.items():
            if not math.isfinite(figure):
                raise NotFinite(f"{name} is {figure}")

    def on_step_end(self, args, state, control, *, model, **_) -> None:
        seconds = round(self.seconds, 4)
        self.write(StepRecord(step=state.global_step, **self.noted, seconds=seconds))
        if state.global_step % self.every == 0 or state.global_step == state.max_steps:
            self.measure(model, state.global_step)
        self._follow_commands(state, control)
        if self.stopped_early and state.global_step % self.every:  # the last state is measured, too
            self.measure(model, state.global_step)
        due = time.perf_counter() - self.saved >= self.checkpoint_seconds
        if due or self.stopped_early:  # at the end the model itself is saved
            control.should_save = True

    def on_save(self, args, state, control, **_) -> None:
        """Add the weights of the loss to the trainer's checkpoint."""
        folder = self.run.checkpoints / f"checkpoint-{state.global_step}"
        save_file(own_weights(self.learning), folder / "loss.safetensors")
        (folder / "whole").touch()
        self.write(EventRecord(kind="checkpoint", step=state.global_step))
        self.flush()
        self.saved = time.perf_counter()

    def _follow_commands(self, state, control) -> None:
        now = time.perf_counter()
        if now - self.command_read_at < COMMAND_SECONDS:
            return
        self.command_read_at = now
        word = self.run.command()
        if word == "pause":
            self._wait(state.global_step)
            word = self.run.command()
        if word == "stop" or self.time_is_up:
            self.stopped_early = state.global_step < state.max_steps
            control.should_training_stop = True

    def _wait(self, step: int) -> None:
        paused = time.perf_counter()
        self.write(EventRecord(kind="paused", step=step))
        self.flush()
        self.run.set_stage("paused")
        while self.run.command() == "pause" and not self.time_is_up:
            time.sleep(COMMAND_SECONDS)
        self.run.set_stage("training")
        self.write(EventRecord(kind="continued", step=step))
        lost = time.perf_counter() - paused
        self.started, self.saved = self.started + lost, self.saved + lost

    # Measuring

    @keeps_random_state()
    def measure(self, model: Encoder, step: int) -> None:
        began = time.perf_counter()
        figures, scores, vectors = self.live.figures(model)
        if not np.isfinite(scores).all():
            raise NotFinite("the model gives scores that are no numbers")
        if vectors is not None and self.probe:
            folder = self.run.path / "probe"
            folder.mkdir(exist_ok=True)
            count = int(max(*self.live.first[: self.probe], *self.live.second[: self.probe])) + 1
            save_array(folder / f"{step}.npy", vectors[:count].astype(np.float32))
        took = round(time.perf_counter() - began, 4)
        listed = [round(float(score), 6) for score in scores[: self.probe]]
        lists = self.lists_of(scores)
        self.write(EvaluationRecord(step=step, **figures, lists=lists, probe=listed, seconds=took))
        self._watch(model, step, scores, vectors)
        self.flush()

    def _watch(
        self, model: Encoder, step: int, scores: np.ndarray, vectors: np.ndarray | None
    ) -> None:
        """Record an alarm if all similarities of the live pairs, then of all held-out pairs, are
        equal. At step 0 there is none, since a new head scores all pairs alike."""
        low, high = self.live.ends(scores, vectors)
        if high - low < MAX_COLLAPSED_SPREAD and len(self.held_out.labels) > len(self.live.labels):
            every, encoded = self.held_out.scored(model)
            low, high = self.held_out.ends(every, None if encoded is None else encoded.numpy())
        if high - low >= MAX_COLLAPSED_SPREAD or len(scores) < 2:
            self.collapsed_since = None
            return
        if self.collapsed_since is None:
            self.collapsed_since = step
        if step == 0:
            return
        loss, collapse = self.loss_at_collapse(scores[: self.probe], vectors)
        since = self.collapsed_since
        self.write(
            AlarmRecord(step=step, since=since, low=low, high=high, loss=loss, collapse=collapse)
        )

    @property
    def time_is_up(self) -> bool:
        return time.perf_counter() - self.began > self.time_limit

    # The log

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def write(self, record: RunRecord) -> None:
        self.unwritten.append(record)
        if time.perf_counter() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the pending records; encoding them together is several times as fast."""
        self.file.writelines([f"{_ENCODER.encode(vars(record))}\n" for record in self.unwritten])
        self.file.flush()
        self.unwritten.clear()
        self.flushed = time.perf_counter()

    def not_finite_problem(self, step: int, kept: int, error: NotFinite, name: Word) -> Problem:
        """Return the problem of a run that NotFinite ended, with the pairs of its batch. `name` is
        the loss; `kept` is the step of the last checkpoint.

        A user's own function, or the first step, has an own sentence: there the learning rate is
        not the cause.
        """
        rows = self.batch if self.batches else []
        texts = [" | ".join(str(v) for k, v in row.items() if k != "label") for row in rows]
        shown = "; ".join(f"“{text[:80]}”" for text in texts[:SHOWN_PAIRS])
        more = max(len(texts) - SHOWN_PAIRS, 0)
        values = {"step": step, "pairs": shown, "more": more, "kept": kept}
        if isinstance(error, OwnNotFinite):
            what = word(f"finetune.none_of.{error.what}", error.what)
            return Problem("training_own_not_finite", about="loss", name=name, what=what, **values)
        key = "training_not_finite_at_once" if step == 1 else "training_not_finite"
        return Problem(key, **values)


def own_weights(loss: nn.Module) -> dict[str, torch.Tensor]:
    """Return the loss's own weights beside the model's: prototypes, a classifier, a queue."""
    weights = loss.state_dict()
    return {n: w.contiguous() for n, w in weights.items() if not n.startswith("model.")}


def load_own_weights(loss: nn.Module, checkpoint: Path) -> None:
    weights = load_file(checkpoint / "loss.safetensors")
    unknown = loss.load_state_dict(weights, strict=False).unexpected_keys  # the model has its own
    if unknown:
        raise ValueError(f"{checkpoint} holds {', '.join(unknown)}, which the loss does not have")
