"""A callback that logs measurements of a training's batches, and saves some of them.

from lossprism.losses.sentence_transformers import PrismCallback
SentenceTransformerTrainer(…, loss=MultipleNegativesRankingLoss(model),
                           callbacks=[PrismCallback(every=50, folder="prism")]).train()
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import TrainerCallback

from lossprism.losses.sentence_transformers import saved_batch
from lossprism.losses.sentence_transformers.batch_metrics import Caught, Measured, measured
from lossprism.losses.sentence_transformers.candidate_lists import is_ragged, paired
from lossprism.losses.sentence_transformers.class_recognition import CALLBACK_RECORD
from lossprism.losses.sentence_transformers.matryoshka_wrappers import ON_LAYERS, inner_of
from lossprism.losses.sentence_transformers.training_loss import TrainingLoss

LOGGED = "prism_"
FIGURES = ("collapse", "floor", "effective_terms", "gradient_norm")
# Rows that make more pairs are not kept: no page shows a matrix of more.
MAX_SAVED_PAIRS = 512


class PrismCallback(TrainerCallback):
    """Measurements of batches, for any trainer of sentence-transformers with any of its losses or
    ours.

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
        for name, value, least in (("every", every, 1), ("most", most, 2)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}; it must be a whole number from {least} on")
        self.every, self.most, self.texts = every, most, texts
        self.folder = None if folder is None else Path(folder)
        self.trainer: Any = None
        self.hooks: list[Any] = []
        self.outputs: list[Tensor] = []
        self.caught: tuple[nn.Module, Caught] | None = None
        self.found: Measured | None = None
        self.said: set[str] = set()
        self.keeps_every = 1

    # Events

    def on_train_begin(self, args, state, control, **_) -> None:
        self.trainer = _trainer_of(self)
        if self.trainer is None:
            self._say("begin", "it is called by no trainer that has a loss, and logs nothing")

    def on_step_begin(self, args, state, control, **_) -> None:
        self._let_go()
        if self.trainer is None or not state.is_world_process_zero:
            return
        if state.global_step == 0 or (state.global_step + 1) % self.every == 0:
            self._guarded(self._listen)

    def on_pre_optimizer_step(self, args, state, control, **_) -> None:
        """Log before the loss's own weights change."""
        self._let_go()
        if self.caught is not None:
            self._guarded(self._measure)

    def on_step_end(self, args, state, control, **_) -> None:
        self._let_go()
        if self.found is not None:
            self._guarded(lambda: self._log_measured(state, control))
        self.caught = self.found = None

    def on_train_end(self, args, state, control, **_) -> None:
        self._let_go()
        self.trainer = None

    # The step that is looked at

    def _listen(self) -> None:
        """Record the next call of the loss, and the model's outputs within it."""
        self.outputs, self.caught, self.found = [], None, None
        for loss in _losses_of(self.trainer.loss):
            self.hooks.append(loss.register_forward_pre_hook(self._begin))
            self.hooks.append(loss.register_forward_hook(self._catch))
        self.hooks.append(self.trainer.model.register_forward_hook(self._note))

    def _begin(self, _: nn.Module, __: tuple) -> None:
        if self.caught is None:
            self.outputs = []

    def _note(self, _: nn.Module, __: tuple, output: Any) -> None:
        if self.caught is None and isinstance(output, Mapping):
            found = output.get("sentence_embedding", output.get("scores"))
            if isinstance(found, Tensor):
                self.outputs.append(found.detach())

    def _catch(self, loss: nn.Module, arguments: tuple, value: Any) -> None:
        if self.caught is not None or not self.outputs or not arguments:
            return
        if isinstance(value, Mapping):  # its parts, of which the trainer takes the sum
            value = torch.stack([part.detach() for part in value.values()]).sum()
        columns, labels = list(arguments[0]), arguments[1] if len(arguments) > 1 else None
        crossed = not isinstance(columns[0], Mapping)
        outputs, self.outputs = tuple(self.outputs), []
        detached = value.detach()
        self.caught = (loss, Caught(columns, labels, outputs, detached, crossed))

    def _let_go(self) -> None:
        for hook in self.hooks:
            hook.remove()
        self.hooks.clear()

    def _measure(self) -> None:
        assert self.caught is not None
        loss, caught = self.caught
        self.found = measured(loss, self.trainer.model, caught)
        if not self.found.loss:
            name = type(loss).__name__
            why = "is none that is known here with its value"
            if name in ON_LAYERS:
                why = "learns on layers of the model, whose vectors no batch shows"
            self._say(name, f"{name} {why}: of its batches only similarities are logged")

    def _log_measured(self, state: Any, control: Any) -> None:
        assert self.caught is not None
        assert self.found is not None
        loss, caught = self.caught
        self._log(_figures(self.found, caught.crossed), control)
        if self.found.loss:
            state.stateful_callbacks[CALLBACK_RECORD] = _loss_record(loss, caught, self.found)
        if self.folder is not None and self.found.examples is not None:
            self._keep(self.folder, state.global_step, loss, caught, self.found)

    def _log(self, figures: dict[str, float], control: Any) -> None:
        """Log through the trainer, so that all its reporters receive it."""
        due = control.should_log
        self.trainer.log(figures)
        control.should_log = (
            due  # to log is to have logged: the trainer's own line is still to come
        )

    # Batches

    def _keep(
        self, folder: Path, step: int, loss: nn.Module, caught: Caught, found: Measured
    ) -> None:
        place = step // self.every
        if place % self.keeps_every:
            return
        saved_batch.write(folder, self._batch(loss, caught, found, step))
        while (
            len(there := saved_batch.saved_batch_paths(folder)) > self.most
            and self.keeps_every <= place
        ):
            self.keeps_every *= 2
            for path in there:
                if (saved_batch.step_of(path) // self.every) % self.keeps_every:
                    path.unlink(missing_ok=True)

    def _batch(
        self, loss: nn.Module, caught: Caught, found: Measured, step: int
    ) -> saved_batch.SavedBatch:
        examples = found.examples
        assert examples is not None
        rows = min(caught.rows, MAX_SAVED_PAIRS // max(len(caught.columns) - 1, 1))
        texts = tuple(self._texts(caught)) if self.texts else None
        some = _first_rows(examples.labels, caught.rows, rows)
        scores = examples.pair_scores
        if caught.crossed and is_ragged(caught.columns):  # pair by pair
            rows, some = len(examples.labels), examples.labels
            texts = (
                None if texts is None else tuple(zip(*paired(list(caught.columns)), strict=True))
            )
        own = inner_of(loss) or loss
        rules = {
            "threshold": examples.bound,
            "label_range": list(examples.label_range),
            "extra_negatives": examples.extra_negatives,
            "twins": own.twins if isinstance(own, TrainingLoss) else "keep",
        }
        return saved_batch.SavedBatch(
            step=step,
            columns=tuple(column[:rows] for column in examples.columns),
            scores=None if scores is None else _first_rows(scores, caught.rows, rows),
            labels=some,
            texts=None if texts is None else tuple(column[:rows] for column in texts),
            called=type(loss).__name__,
            value=caught.number,
            rows=max(caught.rows, rows),
            loss=found.loss,
            convention=found.convention,
            parameters=found.parameters,
            rules=rules,
            found=_figures(found, caught.crossed),
        )

    def _texts(self, caught: Caught) -> Iterator[tuple[str, ...]]:
        for column in caught.columns:
            if not isinstance(column, Mapping):
                yield tuple(map(str, column))
            else:
                yield tuple(_decoded(self.trainer.model, column))

    # What goes wrong

    def _guarded(self, work: Any) -> None:
        try:
            work()
        except Exception as error:  # a training of hours is not to end for a figure beside it
            reason = str(error).strip() or type(error).__name__
            self._say("error", f"this went wrong, and the training goes on: {reason[:300]}")

    def _say(self, about: str, what: str) -> None:
        if about not in self.said:
            self.said.add(about)
            warnings.warn(f"PrismCallback: {what}", stacklevel=3)


def _figures(found: Measured, crossed: bool) -> dict[str, float]:
    kind = "score" if crossed else "cosine"
    told = {
        "loss": found.value,
        **{name: getattr(found, name) for name in FIGURES},
        f"positive_{kind}": found.positives,
        f"negative_{kind}": found.negatives,
    }
    return {
        f"{LOGGED}{name}": value
        for name, value in told.items()
        if value is not None and math.isfinite(value)
    }


def _loss_record(loss: nn.Module, caught: Caught, measured: Measured) -> dict[str, object]:
    """Return facts about the loss as plain JSON."""
    plain = {n: v for n, v in measured.parameters.items() if isinstance(v, int | float | str)}
    return {
        "called": type(loss).__name__,
        "loss": measured.loss,
        "convention": measured.convention,
        "parameters": plain,
        "columns": len(caught.columns),
    }


def _trainer_of(callback: TrainerCallback) -> Any:
    """Find the calling trainer, which passes a callback everything but itself."""
    frame = inspect.currentframe()
    while frame is not None:
        caller = frame.f_locals.get("self")
        handler = getattr(caller, "callback_handler", None)
        if callback in getattr(handler, "callbacks", ()) and hasattr(caller, "loss"):
            return caller
        frame = frame.f_back
    return None


def _losses_of(loss: Any) -> Iterator[nn.Module]:
    """Yield the loss for all data, or one for each data set."""
    found = loss.values() if isinstance(loss, Mapping) else (loss,)
    yield from (one for one in found if isinstance(one, nn.Module))


def _first_rows(of_pairs: Tensor, whole: int, rows: int) -> Tensor:
    """Return the pairs of the first rows, from pairs in column order."""
    if len(of_pairs) % whole:
        return of_pairs
    return of_pairs.view(-1, whole)[:, :rows].flatten()


def _decoded(model: Any, column: Mapping[str, Tensor]) -> Iterator[str]:
    """Return the texts of a column, decoded from its tokens."""
    tokens, tokenizer = column["input_ids"].cpu(), model.tokenizer
    decode = getattr(tokenizer, "decode")  # noqa: B009
    if tokens.ndim == 1:
        starts = column["offsets"].tolist()
        pieces = [
            tokens[start:stop].tolist()
            for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=True)
        ]
    else:
        mask = column.get("attention_mask")
        there = torch.ones_like(tokens) if mask is None else mask.cpu()
        pieces = [row[on.bool()].tolist() for row, on in zip(tokens, there, strict=True)]
    for piece in pieces:
        yield decode(piece, skip_special_tokens=True)
