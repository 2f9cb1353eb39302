"""Negatives that hold the text of their query or of its own key: counted, and what they weigh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from explorer.core.batch import Batch
from explorer.core.trace import Step, Trace
from losses import LossSpec
from losses.combined.composed import chosen, handed
from losses.same_text import same_text
from losses.spec import Part


@dataclass(frozen=True)
class SameText:
    """Negatives that hold the very text of their query, or of its own key.

    Of all `negatives` of the `rows`, which `axis` names (queries, views), `of_anchor` hold the text
    of the one that looks and `of_positive`, apart from those, the text of its own key; so many
    `rows_with` have one. `left_out` says whether the loss leaves them out. `share_of_anchor` and
    `share_of_positive` are what these take of the weight of all negatives, Σ|∂L/∂term| over their
    cells (for a softmax loss the sum of their probabilities); 0 where they are left out, or where
    nothing weighs.
    `least` is what they alone hold the loss at: the negatives that are no farther than a row's own
    key, being the same sentence as it, or as the one that looks.
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
    """The negatives of the same text under each loss that has negatives of the batch, by its name:
    the loss itself, or those that it is the sum of. One on several prefixes has the same negatives
    on each, and weighs them on all."""
    if not spec.parts:
        alone = _blocks_of(batch, trace, spec)
        return {spec.name: _same_text_of(alone, _least(alone, spec, parameters))} if alone else {}
    found: dict[str, SameText] = {}
    for name in dict.fromkeys(part.spec.name for part in spec.parts):
        parts = [part for part in spec.parts if part.spec.name == name]
        every = [_blocks_of(batch, trace, part.spec, f"{part.label}_") for part in parts]
        if not all(every):
            continue
        least = sum(
            _weight(part, parameters) * _least(blocks, part.spec, chosen(part, parameters))
            for part, blocks in zip(parts, every, strict=True)
        )
        joined = {step: _joined([blocks[step] for blocks in every]) for step in every[0]}
        found[name] = _same_text_of(joined, least)
    return found


def held_by_copies(
    found: Mapping[str, SameText],
    spec: LossSpec,
    given: Mapping[str, Tensor],
    parameters: Mapping[str, Any],
) -> float | None:
    """Below what the copies hold a loss, read off what `same_text_in` found: of a sum, what they
    hold some of its losses at with the floors of the others. None where there are no copies, or
    where another loss has no floor that is known."""
    held = {name: one.least for name, one in found.items() if one.least}
    if not spec.parts or not held:
        return held.get(spec.name)
    alone: dict[str, float | None] = {}
    for part in spec.parts:
        known = {n: one for n, one in handed(part, given, parameters).items() if one is not None}
        floor = part.spec.floor and part.spec.floor(known, **chosen(part, parameters))
        so_far = alone.get(part.spec.name, 0.0)
        alone[part.spec.name] = (
            None if floor is None or so_far is None else so_far + _weight(part, parameters) * floor
        )
    total = 0.0
    for name, floor in alone.items():
        known = [one for one in (floor, held.get(name)) if one is not None]
        if not known:
            return None
        total += max(known)
    return total


def _weight(part: Part, parameters: Mapping[str, Any]) -> float:
    return float(parameters[part.weight]) if part.weight else 1.0


def _blocks_of(batch: Batch, trace: Trace, spec: LossSpec, before: str = "") -> dict[str, _Against]:
    """The steps of a loss in which its `negatives` stand, whose names have `before` in front in the
    trace. None where no such step was taken, one of them has cells for something else than two
    sentences, or only keys look for their queries."""
    left_out = spec.reads_texts and batch.rules.twins == "leave_out"
    blocks: dict[str, _Against] = {}
    for name in spec.negatives:
        step = trace.last(before + name)
        if step is None:
            continue
        block = _against(batch, step, spec.symbols[name].axes, left_out)
        if block is None:
            return {}
        blocks[name] = block
    return blocks if any(not block.mirrored for block in blocks.values()) else {}


def _least(blocks: Mapping[str, _Against], spec: LossSpec, parameters: Mapping[str, Any]) -> float:
    """What the copies among the negatives alone hold a loss at, where it says so."""
    if spec.with_copies is None or any(block.left_out for block in blocks.values()):
        return 0.0
    by_dots = parameters.get("similarity") == "dot"
    copies = {
        name: (block.copies_of_positive if by_dots else block.copies).sum(dim=1)
        for name, block in blocks.items()
    }
    return spec.with_copies(copies, **parameters)


def _joined(blocks: Sequence[_Against]) -> _Against:
    """One step on several prefixes: what is a negative on any of them, and weighs on all."""

    def on_any(cells: Callable[[_Against], Tensor]) -> Tensor:
        return torch.stack([cells(block) for block in blocks]).any(dim=0)

    return replace(
        blocks[0],
        negative=on_any(lambda block: block.negative),
        of_anchor=on_any(lambda block: block.of_anchor),
        of_positive=on_any(lambda block: block.of_positive),
        weights=torch.stack([block.weights for block in blocks]).sum(dim=0),
    )


def _same_text_of(blocks: Mapping[str, _Against], least: float) -> SameText:
    # What a key looks for among the queries is seen from its other side; each is counted once.
    found = [block for block in blocks.values() if not block.mirrored]
    weights = [block.weights for block in found]
    total = sum(float(weight.sum()) for weight in weights) or 1.0

    def share(cells: Callable[[_Against], Tensor]) -> float:
        held = (weight[cells(block)] for weight, block in zip(weights, found, strict=True))
        return sum(float(weight.sum()) for weight in held) / total

    def count(cells: Callable[[_Against], Tensor]) -> int:
        return sum(int(cells(block).sum()) for block in found)

    with_any = torch.stack([(block.of_anchor | block.of_positive).any(dim=1) for block in found])
    return SameText(
        rows=len(found[0].negative),
        negatives=count(lambda block: block.negative),
        of_anchor=count(lambda block: block.of_anchor),
        of_positive=count(lambda block: block.of_positive),
        rows_with=int(with_any.any(dim=0).sum()),
        share_of_anchor=share(lambda block: block.of_anchor),
        share_of_positive=share(lambda block: block.of_positive),
        left_out=found[0].left_out,
        least=least,
        axis=found[0].axis,
    )


@dataclass(frozen=True, eq=False)
class _Against:
    """Of the cells of one step [R, C] which are `negative`, hold the text of the one that looks
    (`of_anchor`) or else that of what it looks for (`of_positive`), and, as one sentence with
    either, cannot be farther than it (`copies`), or with what it looks for is just as near, also
    where the longer of two vectors is the nearer (`copies_of_positive`); the `weights` of the
    negatives. `axis` names the rows; `mirrored`: a key looks for its query; `left_out`: the loss
    leaves both out."""

    negative: Tensor
    of_anchor: Tensor
    of_positive: Tensor
    copies: Tensor
    copies_of_positive: Tensor
    weights: Tensor
    axis: str
    mirrored: bool
    left_out: bool


def _against(batch: Batch, step: Step, axes: tuple[str, ...], left_out: bool) -> _Against | None:
    if step.value.ndim != 2 or step.gradient is None:
        return None
    sides = [side[batch.positives] for side in (batch.first, batch.second)]
    rows, columns = step.value.shape
    place = torch.arange(rows, device=sides[0].device)
    negative = torch.ones(rows, columns, dtype=torch.bool, device=place.device)
    if axes == ("view", "view") and rows == columns == 2 * len(sides[0]):
        # Every view looks for its partner among all views.
        looking = candidates = torch.cat(sides)
        own = place.roll(len(sides[0]))
        wanted = looking[own]
        negative[place, own] = negative[place, place] = False
    elif rows <= len(sides[0]) and axes[0] in ("query", "key"):
        # Where the last pairs stand in a queue, the others ask.
        looking, wanted = (side[:rows] for side in (sides if axes[0] == "query" else sides[::-1]))
        others = batch.second[batch.others]
        among = {"query": sides[0], "key": torch.cat((sides[1], others)), "negative": others}
        candidates = among.get(axes[1], place[:0])[:columns]
        if len(candidates) < columns:
            return None
        if axes[1] != "negative":
            negative[place, place] = False
    else:
        return None
    anchors, positives, texts = (batch.texts[side] for side in (looking, wanted, candidates))
    of_same_text = same_text(anchors, positives, texts)
    # What a guide, a threshold or the rows' own hard negatives take out is no negative; what is
    # left out for its text is counted as one.
    negative &= ~step.value.isneginf() | (left_out & of_same_text)
    of_anchor = negative & (texts == anchors[:, None])
    copies = negative & same_text(looking, wanted, candidates) & step.value.isfinite()
    return _Against(
        negative=negative,
        of_anchor=of_anchor,
        of_positive=negative & of_same_text & ~of_anchor,
        copies=copies,
        copies_of_positive=copies & (candidates == wanted[:, None]),
        weights=step.gradient.abs().masked_fill(~negative, 0),
        axis=axes[0],
        mirrored=axes == ("key", "query"),
        left_out=left_out,
    )
