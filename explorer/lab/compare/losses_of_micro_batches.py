"""Parts of a batch: the inputs of a loss, cut along their axes.

A part has some of the pairs, or of the queries with their own keys and its share of the further
negatives, or the sentences of its pairs. Prototypes are the same for all. The axes are those of
`losses.inputs_that_losses_may_read.READABLE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.losses.inputs_that_losses_may_read import READABLE

KNOWN_AXES = {
    "pair", "query", "key", "view", "sentence", "class",
    "list", "row", "candidate", "given_triplet",
}  # fmt: skip


class BatchParts:
    """The inputs of a loss on a batch, behind an encoder, and their division into parts."""

    def __init__(self, e: Exploration) -> None:
        self.e, self.batch, self.spec = e, e.batch, e.spec
        self.by_positives = any(one.positives_only for one in self.spec.readings)
        batch = self.batch
        axes = [reading.axes[0] for reading in self.spec.readings]
        # The unit that is cut: a list of candidates, a row of margins, a given triplet, a positive
        # pair, a pair.
        cut_axes = ("list", "row", "given_triplet")
        self.unit = next((axis for axis in cut_axes if axis in axes), "pair")
        self.rows = len(batch.positives) if self.by_positives else len(batch)
        if self.unit == "list":
            self.rows = len(batch.lists)
        elif self.unit == "row":
            self.rows = len(batch.margins[0])
        elif self.unit == "given_triplet":
            self.rows = len(batch.triplets[0])
        vectors = batch.vectors
        if vectors is None or (batch.given is not None and not self.spec.reads_vectors):
            self.raw, self.weights = batch.scores.detach(), batch.scores.detach().new_ones(())
        else:
            self.raw = vectors.detach()
            self.weights = torch.eye(self.raw.shape[1]).to(self.raw)
        self.weights.requires_grad_()
        self.inputs = self.read(self.encoded(self.raw))

    def encoded(self, raw: Tensor) -> Tensor:
        return raw @ self.weights if raw.ndim == 2 else raw * self.weights

    def read(self, encoded: Tensor) -> dict[str, Tensor | None]:
        batch = self.batch
        vectors = encoded if encoded.ndim == 2 else batch.vectors
        if batch.given is not None:
            scores = encoded if encoded.ndim == 1 else batch.given
        else:
            scores = batch.scores_from(batch.needed_vectors if vectors is None else vectors)
        reads = self.spec.reads.items()
        return {name: batch.read(what, vectors, scores) for name, what in reads}

    def loss_of(self, inputs: dict[str, Tensor | None]) -> Tensor:
        called: dict[str, Any] = {**inputs, **self.e.parameters}
        return self.spec.definition(**called)

    def gradient(self, loss: Tensor, **more: Any) -> Tensor:
        if not loss.requires_grad:
            return torch.zeros_like(self.weights)
        (gradient,) = torch.autograd.grad(loss, self.weights, allow_unused=True, **more)
        return torch.zeros_like(self.weights) if gradient is None else gradient

    def loss_and_gradient(self, inputs: dict[str, Tensor | None]) -> tuple[float, Tensor]:
        loss = self.loss_of(inputs)
        return float(loss.detach()), self.gradient(loss, retain_graph=True)

    def of_size(self, size: int) -> list[range]:
        """Divide the rows in their order into parts of `size`; the last may have fewer."""
        return [range(at, min(at + size, self.rows)) for at in range(0, self.rows, size)]

    def on(self, devices: int) -> list[range]:
        """Divide the rows in their order as evenly as possible between devices."""
        ends = [self.rows * n // devices for n in range(devices + 1)]
        return [range(*pair) for pair in pairwise(ends)]

    def reads_axis(self, axis: str) -> bool:
        return any(axis in reading.axes for reading in self.spec.readings)

    def part(self, rows: Sequence[int] | Tensor) -> dict[str, Tensor | None]:
        """Return the inputs of the loss for these rows alone."""
        places = torch.as_tensor(list(rows) if isinstance(rows, range) else rows)
        places = places.to(self.raw.device)
        inputs: dict[str, Tensor | None] = {}
        for name, what in self.spec.reads.items():
            value = self.inputs[name]
            if value is not None:
                value = self._taken(value, what, places)
            inputs[name] = value
        return inputs

    def _taken(self, value: Tensor, what: str, rows: Tensor) -> Tensor:
        axes = READABLE[what].axes
        if what == "negative_owners":  # row of this part of each negative
            owners = value[self.negatives_of(rows)]
            hits = owners[:, None] == rows
            return torch.where(hits.any(dim=1), hits.int().argmax(dim=1), -1)
        if axes == ("query", "key"):
            return value[rows][:, rows]
        if axes[0] == "key" and "negative" in what:
            return value[self.negatives_of(rows)]
        if axes[0] in ("pair", "query", "key", self.unit):
            return value[rows]
        if axes[0] == "sentence":
            return value[self.sentences_of(rows)]
        if axes[0] == "level":
            return value[:, rows]
        return value  # prototypes belong to all

    def negatives_of(self, rows: Tensor) -> Tensor:
        """Positions of these rows' share of the further negatives, in their order."""
        count = len(self.batch.others)
        owner = torch.arange(count, device=rows.device) * self.rows // max(count, 1)
        return torch.isin(owner, rows).nonzero().flatten()

    def sentences_of(self, rows: Tensor) -> Tensor:
        both = torch.cat((self.batch.first[rows], self.batch.second[rows]))
        return both.unique()

    def axes(self) -> tuple[str, str]:
        """Name the rows and the columns of the comparisons of the loss."""
        symbol = self.spec.symbols.get(self.spec.terms)
        named = symbol.axes if symbol is not None else ()
        if len(named) >= 2 and set(named[-2:]) <= KNOWN_AXES:
            return named[-2], named[-1]
        if self.reads_axis("sentence"):
            return "sentence", "sentence"
        each_by_itself = self.unit in ("pair", "given_triplet")
        return (self.unit, self.unit if each_by_itself else "candidate")

    def present(self, axes: tuple[str, str]) -> Tensor:
        """Mask of the comparisons of the loss in one piece, bool [rows, columns]."""
        step = self.e.trace.last(self.spec.terms)
        shape = tuple(len(self.members(axis, [range(self.rows)])) for axis in axes)
        if step is not None and step.value.shape[-2:] == shape and step.value.ndim >= 2:
            mask = self.e.trace.mask_of(step)
            if mask is None:
                return torch.ones(shape, dtype=torch.bool)
            return mask.cpu().reshape(-1, *shape).any(dim=0)
        if step is not None and step.value.ndim == 1 and axes == (self.unit, self.unit):
            return torch.eye(*shape, dtype=torch.bool)  # each by itself
        return torch.ones(shape, dtype=torch.bool)

    def members(self, axis: str, parts: Sequence[Sequence[int]]) -> Tensor:
        """Membership of the items of an axis in the parts, bool [items, parts]."""
        batch: Batch = self.batch
        if axis == "candidate":  # of the rows they stand in
            table = self.batch.lists if self.unit == "list" else self.batch.margins[1]
            return torch.ones(table.shape[1], len(parts), dtype=torch.bool)
        if axis == "class":
            count = int(batch.classes.max()) + 1
            prototypes = self.inputs.get("prototypes")
            count = count if prototypes is None else len(prototypes)
            return torch.ones(count, len(parts), dtype=torch.bool)
        if axis == "sentence":
            members = torch.zeros(len(batch.classes), len(parts), dtype=torch.bool)
            for n, places in enumerate(parts):
                rows = torch.as_tensor(list(places), device=batch.first.device)
                members[self.sentences_of(rows).cpu(), n] = True
            return members
        own = torch.zeros(self.rows, len(parts), dtype=torch.bool)
        for n, places in enumerate(parts):
            own[list(places), n] = True
        if axis == "view":
            return own.repeat(2, 1)
        if axis == "key" and self.inputs.get("negatives") is not None:
            count = len(batch.others)
            more = torch.zeros(count, len(parts), dtype=torch.bool)
            for n, places in enumerate(parts):
                rows = torch.as_tensor(list(places), device=self.raw.device)
                more[self.negatives_of(rows).cpu(), n] = True
            return torch.cat((own, more))
        return own
