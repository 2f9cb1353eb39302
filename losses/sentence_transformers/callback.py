"""A callback that logs measurements of a training's batches, and saves some of them.

from lossprism.losses.sentence_transformers import PrismCallback
SentenceTransformerTrainer(…, loss=MultipleNegativesRankingLoss(model),
                           callbacks=[PrismCallback(every=50, folder="prism")]).train()
"""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from transformers import TrainerCallback

from lossprism.losses.sentence_transformers.batch_measurement_record import Measured, Texts
from lossprism.losses.sentence_transformers.candidate_lists import is_ragged, paired
from lossprism.losses.sentence_transformers.duplicate_texts import rows_of_tokens
from lossprism.losses.sentence_transformers.library_loss_recognition import CALLBACK_RECORD
from lossprism.losses.sentence_transformers.loss_call_recorder import (
    Call,
    TensorCall,
    TrainerCall,
    losses_in,
)
from lossprism.losses.sentence_transformers.matryoshka_loss_recognition import ON_LAYERS
from lossprism.losses.sentence_transformers.step_probe import StepProbe

PREFIX = "prism_"


class PrismCallback(TrainerCallback):
    """Measurements of batches, for any trainer of sentence-transformers with any of its losses or
    ours, and for a plain trainer of transformers whose model has a module of `losses.modules`.

    At the first step and every `every` steps, it logs to the trainer's reporters for that step's
    batch: ``prism_loss``, ``prism_collapse`` (the loss if all embeddings were equal),
    ``prism_floor`` (the least that any reach), ``prism_effective_terms`` (the exponential of the
    entropy of the terms' weights), ``prism_gradient_norm`` (√Σ‖∂L/∂u‖² over the sentence vectors;
    over the scores, of a cross-encoder), and the mean similarity of positive and of negative pairs:
    ``prism_positive_cosine``, ``prism_negative_cosine`` (``…_score`` of a cross-encoder). The loss
    itself is in ``trainer_state.json``, where Doctor reads it. Values that a loss lacks, or that
    are unknown, are left out: for a loss that is neither ours nor in the registry, or whose value
    differs from ours, only similarities are logged. The library's ``MatryoshkaLoss`` is our
    ``matryoshka(…)``: its effective terms have their weights on all prefixes together, and its
    gradient is that by its longest prefix.

    The first process measures its own batch; of accumulated batches it measures the first.

    Args:
        every: steps between measurements.
        folder: the folder for saved batches (`losses.sentence_transformers.saved_batch`), to open
            with ``python app.py --open FOLDER``; None saves none.
        texts: whether to save their texts as well, as the model reads them.
        most: maximum number of saved batches. Beyond it, every second one is deleted, and from then
            on half as many are saved: they stay spread over the whole training.

    An error in here, a full disk included, never ends the training; it is reported once.
    """

    def __init__(
        self,
        every: int = 50,
        folder: str | Path | None = None,
        *,
        texts: bool = False,
        most: int = 50,
    ) -> None:
        self.steps = StepProbe(every, folder, most)
        self.texts = texts
        self.trainer: Any = None

    # Events

    def on_train_begin(self, args, state, control, **_) -> None:
        self.trainer = _trainer_of(self)
        if self.trainer is None or not _losses_of(self.trainer):
            self.trainer = None
            self.steps.say("begin", "neither trainer nor model has a loss; nothing is logged")

    def on_step_begin(self, args, state, control, **_) -> None:
        if self.trainer is not None and state.is_world_process_zero:
            losses = _losses_of(self.trainer)
            self.steps.begin_step(state.global_step + 1, losses, self.trainer.model)

    def on_pre_optimizer_step(self, args, state, control, **_) -> None:
        """Measure before the loss's own weights change."""
        self.steps.measure()

    def on_step_end(self, args, state, control, **_) -> None:
        if self.steps.measured is not None:
            self.steps.guarded(lambda: self._log_measured(state, control))
        self.steps.end_step()

    def on_train_end(self, args, state, control, **_) -> None:
        self.steps.end_step()
        self.trainer = None

    # The measured step

    def _log_measured(self, state: Any, control: Any) -> None:
        measured, recorded = self.steps.measured, self.steps.recorded
        assert measured is not None
        assert recorded is not None
        call = recorded[1]
        self._log({f"{PREFIX}{name}": value for name, value in measured.figures.items()}, control)
        if measured.loss:
            state.stateful_callbacks[CALLBACK_RECORD] = _loss_record(call, measured)
        else:
            why = "is none that is known here with its value"
            if measured.called in ON_LAYERS:
                why = "learns on layers of the model, whose vectors no batch shows"
            warned = f"{measured.called} {why}: of its batches only similarities are logged"
            self.steps.say(measured.called, warned)
        self.steps.save(measured, state.global_step, _texts(call) if self.texts else None)

    def _log(self, figures: dict[str, float], control: Any) -> None:
        """Log through the trainer, so that all its reporters receive it."""
        due = control.should_log
        self.trainer.log(figures)
        control.should_log = (
            due  # to log is to have logged: the trainer's own line is still to come
        )


def _texts(call: Call) -> Texts | None:
    """Return the texts of the columns, pair by pair where lists differ in length; None for a loss
    that was called with tensors."""
    if isinstance(call, TensorCall):
        return None
    if call.crossed and is_ragged(call.columns):
        return tuple(zip(*paired(list(call.columns)), strict=True))
    return tuple(
        tuple(_decoded(call.model, column))
        if isinstance(column, Mapping)
        else tuple(map(str, column))
        for column in call.columns
    )


def _loss_record(call: Call, measured: Measured) -> dict[str, object]:
    """Return facts about the loss as plain JSON."""
    plain = {n: v for n, v in measured.parameters.items() if isinstance(v, int | float | str)}
    return {
        "called": measured.called,
        "loss": measured.loss,
        "convention": measured.convention,
        "parameters": plain,
        "columns": len(call.columns if isinstance(call, TrainerCall) else call.inputs),
    }


def _trainer_of(callback: TrainerCallback) -> Any:
    """Find the calling trainer, which passes a callback everything but itself."""
    frame = inspect.currentframe()
    while frame is not None:
        caller = frame.f_locals.get("self")
        handler = getattr(caller, "callback_handler", None)
        if callback in getattr(handler, "callbacks", ()) and hasattr(caller, "model"):
            return caller
        frame = frame.f_back
    return None


def _losses_of(trainer: Any) -> list[nn.Module]:
    """Return the loss for all data, or one for each dataset; for a plain trainer of transformers
    those in its model, which computes the loss itself."""
    loss = getattr(trainer, "loss", None)
    if loss is None:
        return [*losses_in(trainer.model)]
    losses = loss.values() if isinstance(loss, Mapping) else (loss,)
    return [one for one in losses if isinstance(one, nn.Module)]


def _decoded(model: Any, column: Mapping[str, Tensor]) -> Iterator[str]:
    """Return the texts of a column, decoded from its tokens."""
    decode = getattr(model.tokenizer, "decode")  # noqa: B009
    with_prompt = {name: one for name, one in column.items() if name != "prompt_length"}
    for tokens in rows_of_tokens(with_prompt):
        yield decode(tokens, skip_special_tokens=True)
