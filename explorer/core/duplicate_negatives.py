"""Negatives with the text of their query or of its own key: their number and weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.trace import Step, Trace
from lossprism.losses import LossSpec
from lossprism.losses.combined.combined_loss_spec import part_inputs, part_values
from lossprism.losses.duplicate_text_masks import same_text
from lossprism.losses.spec import Part


@dataclass(frozen=True)
class SameText:
    """Negatives with the text of their query, or of its own key.

    Of all `negatives` of the `rows`, named by `axis` (queries, views), `of_anchor` have the row's
    own text and, apart from those, `of_positive` the text of its key; `rows_with` rows have one.
    `left_out` says whether the loss excludes them. `share_of_anchor` and `share_of_positive` are
    their shares of the weight of all negatives, Σ|∂L/∂term| over their cells (for a softmax loss
    the sum of their probabilities); 0 if excluded, or if all weights are 0. `least` is the minimum
    that they cause alone: duplicates of the row's key or anchor cannot be farther than the key.
    """

    rows: int
    negatives: int
    of_anchor: int
    of_positive: int
    rows_with: int
    share_of_anchor: float
    share_of_positive: float
    left_out: bool
    least: float = 0.0
    axis: str = "query"


def same_text_in(
    batch: Batch, trace: Trace, spec: LossSpec, parameters: Mapping[str, Any]
) -> dict[str, SameText]:
    """Find the negatives of the same text for each loss with negatives from the batch, by its name.

    A sum has an entry for each of its losses; a loss on several prefixes adds up the weights.
    """
    if not spec.parts:
        alone = _by_step(batch, trace, spec)
        return {spec.name: _same_text_of(alone, _minimum(alone, spec, parameters))} if alone else {}
    by_step: dict[str, SameText] = {}
    for name in dict.fromkeys(part.spec.name for part in spec.parts):
        parts = [part for part in spec.parts if part.spec.name == name]
        every = [_by_step(batch, trace, part.spec, f"{part.label}_") for part in parts]
        if not all(every):
            continue
        least = sum(
            _weight(part, parameters) * _minimum(blocks, part.spec, part_values(part, parameters))
            for part, blocks in zip(parts, every, strict=True)
        )
        joined = {step: _over_prefixes([blocks[step] for blocks in every]) for step in every[0]}
        by_step[name] = _same_text_of(joined, least)
    return by_step


def minimum_with_duplicates(
    found: Mapping[str, SameText],
    spec: LossSpec,
    inputs: Mapping[str, Tensor],
    parameters: Mapping[str, Any],
) -> float | None:
    """Return the minimum that duplicates cause, given the result of `same_text_in`.

    For a sum, losses without duplicates count with their own minimum. None without duplicates, or
    if another loss has no known minimum.
    """
    minima = {name: one.least for name, one in found.items() if one.least}
    if not spec.parts or not minima:
        return minima.get(spec.name)
    alone: dict[str, float | None] = {}
    for part in spec.parts:
        bounds = {
            n: one for n, one in part_inputs(part, inputs, parameters).items() if one is not None
        }
        minimum = part.spec.floor and part.spec.floor(bounds, **part_values(part, parameters))
        so_far = alone.get(part.spec.name, 0.0)
        alone[part.spec.name] = (
            None
            if minimum is None or so_far is None
            else so_far + _weight(part, parameters) * minimum
        )
    total = 0.0
    for name, minimum in alone.items():
        bounds = [one for one in (minimum, minima.get(name)) if one is not None]
        if not bounds:
            return None
        total += max(bounds)
    return total


def _weight(part: Part, parameters: Mapping[str, Any]) -> float:
    return float(parameters[part.weight]) if part.weight else 1.0


def _by_step(batch: Batch, trace: Trace, spec: LossSpec, prefix: str = "") -> dict[str, _Negatives]:
    """Return the negatives of each step of a loss that holds some, named with this `prefix`
    in the trace.

    Empty if no such step was taken, one has cells for something other than two sentences, or only
    keys look for their queries.
    """
    left_out = spec.reads_texts and batch.rules.twins == "leave_out"
    blocks: dict[str, _Negatives] = {}
    for name in spec.negatives:
        step = trace.last(prefix + name)
        if step is None:
            continue
        block = _negatives_in(batch, step, spec.symbols[name].axes, left_out)
        if block is None:
            return {}
        blocks[name] = block
    return blocks if any(not block.mirrored for block in blocks.values()) else {}


def _minimum(
    blocks: Mapping[str, _Negatives], spec: LossSpec, parameters: Mapping[str, Any]
) -> float:
    """Return the minimum that duplicates among the negatives cause alone, 0 if none is known."""
    if spec.with_copies is None or any(block.left_out for block in blocks.values()):
        return 0.0
    by_dots = parameters.get("similarity") == "dot"
    copies = {
        name: (block.copies_of_positive if by_dots else block.copies).sum(dim=1)
        for name, block in blocks.items()
    }
    return spec.with_copies(copies, **parameters)


def _over_prefixes(blocks: Sequence[_Negatives]) -> _Negatives:
    """Merge one step on several prefixes: negatives on any of them, weights summed."""

    def on_any(cells: Callable[[_Negatives], Tensor]) -> Tensor:
        return torch.stack([cells(block) for block in blocks]).any(dim=0)

    return replace(
        blocks[0],
        negative=on_any(lambda block: block.negative),
        of_anchor=on_any(lambda block: block.of_anchor),
        of_positive=on_any(lambda block: block.of_positive),
        weights=torch.stack([block.weights for block in blocks]).sum(dim=0),
    )


def _same_text_of(blocks: Mapping[str, _Negatives], least: float) -> SameText:
    # What a key looks for among the queries is seen from its other side; each is counted once.
    counted = [block for block in blocks.values() if not block.mirrored]
    weights = [block.weights for block in counted]
    total = sum(float(weight.sum()) for weight in weights) or 1.0

    def share(cells: Callable[[_Negatives], Tensor]) -> float:
        shares = (weight[cells(block)] for weight, block in zip(weights, counted, strict=True))
        return sum(float(weight.sum()) for weight in shares) / total

    def count(cells: Callable[[_Negatives], Tensor]) -> int:
        return sum(int(cells(block).sum()) for block in counted)

    with_any = torch.stack([(block.of_anchor | block.of_positive).any(dim=1) for block in counted])
    return SameText(
        rows=len(counted[0].negative),
        negatives=count(lambda block: block.negative),
        of_anchor=count(lambda block: block.of_anchor),
        of_positive=count(lambda block: block.of_positive),
        rows_with=int(with_any.any(dim=0).sum()),
        share_of_anchor=share(lambda block: block.of_anchor),
        share_of_positive=share(lambda block: block.of_positive),
        left_out=counted[0].left_out,
        least=least,
        axis=counted[0].axis,
    )


@dataclass(frozen=True, eq=False)
class _Negatives:
    """Masks [R, C] of one step: `negative` cells, those with the row's own text (`of_anchor`) or
    else the text of its target (`of_positive`), and duplicates that cannot be farther than the
    target (`copies`), or are exactly as near even by dot products (`copies_of_positive`).

    `weights` are those of the negatives. `axis` names the rows; `mirrored`: a key looks for its
    query; `left_out`: the loss excludes both.
    """

    negative: Tensor
    of_anchor: Tensor
    of_positive: Tensor
    copies: Tensor
    copies_of_positive: Tensor
    weights: Tensor
    axis: str
    mirrored: bool
    left_out: bool


def _negatives_in(
    batch: Batch, step: Step, axes: tuple[str, ...], left_out: bool
) -> _Negatives | None:
    if step.value.ndim != 2 or step.gradient is None:
        return None
    sides = [side[batch.positives] for side in (batch.first, batch.second)]
    rows, columns = step.value.shape
    place = torch.arange(rows, device=sides[0].device)
    negative = torch.ones(rows, columns, dtype=torch.bool, device=place.device)
    if axes == ("view", "view") and rows == columns == 2 * len(sides[0]):
        # Every view looks for its partner among all views.
        anchor_places = candidates = torch.cat(sides)
        own = place.roll(len(sides[0]))
        targets = anchor_places[own]
        negative[place, own] = negative[place, place] = False
    elif rows <= len(sides[0]) and axes[0] in ("query", "key"):
        # Where the last pairs stand in a queue, the others ask.
        anchor_places, targets = (
            side[:rows] for side in (sides if axes[0] == "query" else sides[::-1])
        )
        others = batch.second[batch.others]
        among = {"query": sides[0], "key": torch.cat((sides[1], others)), "negative": others}
        candidates = among.get(axes[1], place[:0])[:columns]
        if len(candidates) < columns:
            return None
        if axes[1] != "negative":
            negative[place, place] = False
    else:
        return None
    anchors, positives, texts = (batch.texts[side] for side in (anchor_places, targets, candidates))
    of_same_text = same_text(anchors, positives, texts)
    # What a guide, a threshold or the rows' own hard negatives take out is no negative; what is
    # left out for its text is counted as one.
    negative &= ~step.value.isneginf() | (left_out & of_same_text)
    of_anchor = negative & (texts == anchors[:, None])
    copies = negative & same_text(anchor_places, targets, candidates) & step.value.isfinite()
    return _Negatives(
        negative=negative,
        of_anchor=of_anchor,
        of_positive=negative & of_same_text & ~of_anchor,
        copies=copies,
        copies_of_positive=copies & (candidates == targets[:, None]),
        weights=step.gradient.abs().masked_fill(~negative, 0),
        axis=axes[0],
        mirrored=axes == ("key", "query"),
        left_out=left_out,
    )
