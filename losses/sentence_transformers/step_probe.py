"""Probe of every so many steps of a training, for the callback of any trainer."""

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from torch import nn

from lossprism.losses.loss_on_one_batch import probe
from lossprism.losses.sentence_transformers import saved_batch
from lossprism.losses.sentence_transformers.batch_measurement_record import Measured, Texts
from lossprism.losses.sentence_transformers.loss_call_recorder import Call, LossRecorder

REASON_LETTERS = 300


class StepProbe:
    """Records a batch at the first step and every `every` steps, measures it, and saves it.

    `folder`, `most`: the folder for saved batches, and their maximum number; None saves none. An
    error in here, a full disk included, is reported once and never ends the training.
    """

    def __init__(self, every: int, folder: str | Path | None, most: int) -> None:
        for name, value, least in (("every", every, 1), ("most", most, 2)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}; it must be a whole number from {least} on")
        self.every, self.most = every, most
        self.folder = None if folder is None else Path(folder)
        self.measured: Measured | None = None
        self._recorder: LossRecorder | None = None
        self._keeps_every = 1
        self._said: set[str] = set()

    @property
    def recorded(self) -> tuple[nn.Module, Call] | None:
        """The loss that was called, and its call."""
        return None if self._recorder is None else self._recorder.call

    def begin_step(self, step: int, losses: Iterable[nn.Module], model: nn.Module) -> None:
        """Record the next call of a loss if this step, counted from 1, is one to measure."""
        self.end_step()
        if step == 1 or step % self.every == 0:
            self.guarded(lambda: self._listen(losses, model))

    def _listen(self, losses: Iterable[nn.Module], model: nn.Module) -> None:
        self._recorder = LossRecorder(losses, model)

    def stop_recording(self) -> None:
        if self._recorder is not None:
            self._recorder.stop()

    def measure(self) -> None:
        """Measure the recorded call, if there is one."""
        self.stop_recording()
        if self.recorded is not None:
            self.guarded(self._measure)

    def _measure(self) -> None:
        assert self.recorded is not None
        self.measured = probe(*self.recorded)

    def end_step(self) -> None:
        self.stop_recording()
        self._recorder = self.measured = None

    def save(self, measured: Measured, step: int, texts: Texts | None = None) -> None:
        """Save a batch, and of too many every second one."""
        folder, place = self.folder, step // self.every
        if folder is None or measured.examples is None or place % self._keeps_every:
            return
        measured.save(folder, step, texts)
        while (
            len(there := saved_batch.saved_batch_paths(folder)) > self.most
            and self._keeps_every <= place
        ):
            self._keeps_every *= 2
            for path in there:
                if (saved_batch.step_of(path) // self.every) % self._keeps_every:
                    path.unlink(missing_ok=True)

    def guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # a training of hours is not to end for a figure beside it
            reason = str(error).strip() or type(error).__name__
            self.say(
                "error", f"this went wrong, and the training goes on: {reason[:REASON_LETTERS]}"
            )

    def say(self, about: str, what: str) -> None:
        """Warn once about each thing."""
        if about not in self._said:
            self._said.add(about)
            warnings.warn(f"PrismCallback: {what}", stacklevel=3)
