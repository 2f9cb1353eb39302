"""Recorder of the next call of a loss in a training: its inputs, and the model's outputs for them.

A loss of sentence-transformers, or of its trainers' adapter, is called with tokens and calls the
model itself; a module of `losses.modules` is called with tensors.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses.modules import LossModule, PrototypeLoss
from lossprism.losses.sentence_transformers.candidate_lists import rows_in

HALF = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class TrainerCall:
    """A batch as a loss was called with it, and the model's outputs for it, without the graph.

    `columns` are the trainer's, `outputs` those of the model, call by call: the vectors of a
    bi-encoder [·, D], the scores of a cross-encoder [·]. `value` is the loss, converted to a number
    only after the step, since reading from an accelerator waits for all earlier work.
    """

    model: nn.Module
    columns: Sequence[Any]
    labels: Any
    outputs: tuple[Tensor, ...]
    value: Tensor
    crossed: bool

    @cached_property
    def number(self) -> float:
        return float(self.value)

    @property
    def rows(self) -> int:
        return rows_in(self.columns[0])

    @property
    def half(self) -> bool:
        return any(output.dtype in HALF for output in self.outputs)

    def vectors(self) -> list[Tensor]:
        """Return the vectors of each column [N, D], joined if the loss works in chunks.

        Raises ValueError unless there is one for each text.
        """
        vectors: list[Tensor] = []
        sizes = [rows_in(column) for column in self.columns]  # where rows are lists, they differ
        expected = sum(sizes)
        for output in self.outputs:  # what is shrunk comes again after these
            if sum(map(len, vectors)) < expected:
                vectors.append(output.float())
        joined = torch.cat(vectors)
        if len(joined) != expected:
            raise ValueError(f"the model gave {len(joined)} vectors for {expected} texts")
        return list(joined.split(sizes))

    def scores(self) -> Tensor:
        return torch.cat([output.float().flatten() for output in self.outputs])


@dataclass(frozen=True)
class TensorCall:
    """The tensors that a loss was called with, by the names of its arguments, without the graph."""

    inputs: Mapping[str, Tensor]


Call = TrainerCall | TensorCall


class LossRecorder:
    """Records the next call of any of these losses; `call` is that call and its loss.

    `model` is the one whose outputs a loss of a trainer computes with; None if there are only
    modules of `losses.modules`.
    """

    def __init__(self, losses: Iterable[nn.Module], model: nn.Module | None = None) -> None:
        self.model = model
        self.call: tuple[nn.Module, Call] | None = None
        self._outputs: list[Tensor] = []
        self._hooks: list[Any] = []
        for loss in losses:
            if isinstance(loss, LossModule):
                hook = loss.register_forward_hook(self._record_tensors, with_kwargs=True)
                self._hooks.append(hook)
            elif model is not None:
                self._hooks.append(loss.register_forward_pre_hook(self._begin))
                self._hooks.append(loss.register_forward_hook(self._record_columns))
        if model is not None:
            self._hooks.append(model.register_forward_hook(self._note_output))

    def stop(self) -> None:
        """Record no further call."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _begin(self, _: nn.Module, __: tuple) -> None:
        if self.call is None:
            self._outputs = []

    def _note_output(self, _: nn.Module, __: tuple, output: Any) -> None:
        if self.call is None and isinstance(output, Mapping):
            output_tensor = output.get("sentence_embedding", output.get("scores"))
            if isinstance(output_tensor, Tensor):
                self._outputs.append(output_tensor.detach())

    def _record_columns(self, loss: nn.Module, arguments: tuple, value: Any) -> None:
        if self.call is not None or not self._outputs or not arguments or self.model is None:
            return
        if isinstance(value, Mapping):  # its parts, of which the trainer takes the sum
            value = torch.stack([part.detach() for part in value.values()]).sum()
        columns, labels = list(arguments[0]), arguments[1] if len(arguments) > 1 else None
        crossed = not isinstance(columns[0], Mapping)
        outputs, self._outputs = tuple(self._outputs), []
        self.call = (
            loss,
            TrainerCall(self.model, columns, labels, outputs, value.detach(), crossed),
        )

    def _record_tensors(self, loss: LossModule, given: tuple, named: dict, _: Any) -> None:
        if self.call is None and loss.training:
            self.call = (loss, TensorCall(inputs_of(loss, given, named)))


def inputs_of(
    loss: LossModule, given: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Return the tensors of a call of the module by the names of the function's arguments."""
    if isinstance(loss, PrototypeLoss):
        named = {**named, "prototypes": loss.prototypes}
    bound = inspect.signature(loss.function).bind_partial(*given, **named).arguments
    return {name: one.detach() for name, one in bound.items() if isinstance(one, Tensor)}


def losses_in(trained: nn.Module) -> Iterator[nn.Module]:
    """Yield the modules of `losses.modules` in a model that computes its own loss."""
    yield from (one for one in trained.modules() if isinstance(one, LossModule))
