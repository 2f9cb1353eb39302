"""From an exploration to plain arrays that an instrument draws, small enough to send often."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from explorer.core.batch import Batch
from explorer.core.explore import Exploration
from explorer.core.live import Numbers, live_formula, numbers_of, references
from explorer.core.parts import PartSeen, parts_of
from explorer.core.remarks import band_applies
from explorer.core.trace import Step
from explorer.locale import part_word
from explorer.runtime.limits import KEPT_BATCHES, SHOWN_ROWS
from explorer.runtime.numbers import json_number
from explorer.runtime.problem import Problem
from explorer.runtime.wire import Json, packed
from explorer.sources.cells import shortened
from losses import Symbol
from losses.combined.composed import chosen
from losses.spec import READABLE

THUMBNAIL = 56
STACKED = 256 * 256  # cells of a matrix that is drawn together with others
# Axes whose places are pairs, and those that a pair gives its name to.
PAIRED = ("pair", "level_pair", "list_candidate", "candidate")
NAMED_BY_PAIR = (*PAIRED, "query", "key", "view")
MASKED, NOT_A_NUMBER = 255, 254
# What stands in rows where a step has several matrices, by what they are and their rows.
ROWS_OF_SEVERAL = ("level_pair", "list_candidate")
# Axes whose places have no label and no similarity to be sorted by.
UNSORTED = ("", "index", "dimension", "level", "class", "list", "candidate", "list_candidate")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A step's value laid out in rows and columns, with what the axes count."""

    value: Tensor
    rows: str
    columns: str

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.value.shape
        return rows, columns


def picture(exploration: Exploration) -> Json:
    """Everything the Explore page draws, as JSON: numbers, text, and packed arrays."""
    view = exploration.scenario.view
    steps = exploration.trace.tensors
    chosen = _chosen_step(exploration, steps, view.step)
    layout = Layout(exploration)
    return {
        "figures": _figures(exploration),
        "steps": _steps(exploration, layout, steps),
        "inputs": len(exploration.trace.inputs),
        "chosen": chosen,
        "shown": _shown(exploration, layout, steps, chosen),
        "listing": exploration.trace.listing,
        "first_line": exploration.trace.first_line,
        "pairs": _pairs(exploration),
        "parts": _parts(exploration),
        "heaviest": _terms(exploration, layout),
        "suspects": [
            {"pair": s.pair, "rate": s.rate, "fitting": s.fitting} for s in exploration.suspects
        ],
        "disagreement": exploration.disagreement and asdict(exploration.disagreement),
        "parameters": exploration.parameters,
    }


def one_step(exploration: Exploration, step: int | None) -> Json:
    """What is drawn of one step alone, the terms where none is named: a part of `picture` that is
    small enough to be sent of several losses at a time."""
    steps = exploration.trace.tensors
    chosen = _chosen_step(exploration, steps, step)
    return {
        "figures": _figures(exploration),
        "steps": [_described(exploration, one) for one in steps],
        "inputs": len(exploration.trace.inputs),
        "chosen": chosen,
        "shown": _shown(exploration, Layout(exploration), steps, chosen),
        "pairs": _pairs(exploration),
    }


def looking_at(
    exploration: Exploration, step: str = "", facet: str = ""
) -> tuple[Exploration, str]:
    """The same with this step, by its name, and this facet in view, "" for those of the scene; and
    the name of the step that is then shown.

    Raises:
        Problem: if the loss has no step of the name.
    """
    steps, view = exploration.trace.tensors, exploration.scenario.view
    chosen = _chosen_step(exploration, steps, view.step)
    if step:
        places = {one.name: place for place, one in enumerate(steps)}
        if step not in places:
            raise Problem("no_such_step", name=shortened(step), known=", ".join(places))
        chosen = places[step]
    return exploration.seen(step=chosen, facet=facet or view.facet), steps[chosen].name


def _pairs(e: Exploration) -> Json:
    return {
        "score": packed(e.batch.scores),
        "gradient": packed(e.pair_gradient),
        "score_gradient": _beside(e),
        "positive": packed(e.batch.positive, torch.uint8),
    }


def _parts(e: Exploration) -> Json | None:
    found = parts_of(e)
    if found is None:
        return None
    return {
        "parts": [_part(e, one, k) for k, one in enumerate(found.parts, 1)],
        "cosines": [[json_number(x) for x in row] for row in found.cosines.tolist()],
        "opposed": [
            {"pair": one.pair, "pulls": [json_number(pull) for pull in one.pulls]}
            for one in found.opposed
        ],
        "opposed_count": found.opposed_count,
        "undone": found.undone,
        "energies": [
            {
                "dimensions": one.dimensions,
                "share": json_number(one.share),
                "alone": json_number(one.alone),
            }
            for one in found.energies
        ],
    }


def _part(e: Exploration, seen: PartSeen, number: int) -> Json:
    part, weights = seen.part, seen.weights
    formula = part.spec.formula_at(**chosen(part, e.parameters))
    return {
        "label": part.label,
        "name": part_word(part),
        "weight": part.weight,
        "formula": rf"\mathcal L_{{{number}}} = {formula}",
        "value": json_number(seen.value),
        "collapse": json_number(seen.collapse),
        "floor": json_number(seen.floor),
        "norm": json_number(seen.norm),
        "share": seen.share,
        "equal": seen.equal,
        "terms": weights.terms if weights else None,
        "active": weights.active if weights else None,
        "effective": json_number(weights.effective) if weights else None,
    }


def _beside(e: Exploration) -> str | None:
    """∂L/∂s of each pair, where the gradient of a pair is another one."""
    return None if not e.is_projected or e.score_gradient is None else packed(e.score_gradient)


def describe_batch(batch: Batch) -> Json:
    """What does not change while a slider moves: the sentences, the labels, the rules."""
    return {
        "first": list(batch.pairs.first),
        "second": list(batch.pairs.second),
        "sentences": list(batch.pairs.sentences),
        "labels": [float(label) for label in batch.pairs.labels],
        "labelled": batch.pairs.labelled,
        "places": batch.pairs.places,
        "threshold": batch.threshold,
        "label_range": batch.label_range,
        "positives": len(batch.positives),
        "negatives": len(batch.others),
        "classes": int(batch.classes.max()) + 1,
        "dimension": 0 if batch.vectors is None else batch.vectors.shape[1],
        "orthogonal": batch.orthogonal,
        "given": batch.given is not None,
        "guided": batch.guide is not None,
        "taught": batch.teacher is not None,
    }


def _figures(e: Exploration) -> Json:
    weights, places = e.weights, e.places
    return {
        "loss": json_number(e.loss),
        "collapse": json_number(e.collapse),
        "floor": json_number(e.floor),
        "floor_is_bound": e.floor_is_bound,
        "ordered": e.order.ordered,
        "violated": e.order.violated,
        "spearman": json_number(e.order.spearman),
        "places": places and {**asdict(places), "reciprocal": json_number(places.reciprocal)},
        "terms": weights.terms if weights else None,
        "active": weights.active if weights else None,
        "carried": weights.carried if weights else None,
        "beside": e.trace.beside,
        "by_threshold": e.spec.by_threshold,
        "effective": json_number(weights.effective) if weights else None,
        "gradient_norm": json_number(e.gradient_norm),
        "gradient_of": e.gradient_of,
        "projected": e.is_projected,
        "banded": band_applies(e),
        "device": e.device,
        "milliseconds": e.milliseconds,
    }


@dataclass(frozen=True, eq=False)
class _Laid:
    """By an axis and its length, what a layout has found: the permutation of its places, the pair
    and the sentence behind each, and these as lists."""

    permutations: dict[tuple[str, int], Tensor | None] = field(default_factory=dict)
    items: dict[tuple[str, int], tuple[Tensor, Tensor]] = field(default_factory=dict)
    listed: dict[tuple[str, int], tuple[list[int], list[int]]] = field(default_factory=dict)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _laid_out(batch: Batch, order: str) -> _Laid:
    """What is found of a batch in this order, kept for the next picture of it."""
    return _Laid()


class Layout:
    """Rows, columns, axes and display order of the steps of one exploration."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.batch = exploration.batch
        self.order = exploration.scenario.view.order
        self._axes: dict[tuple[str, torch.Size], tuple[str, ...]] = {}
        self._own, self._of_batch = _Laid(), _laid_out(self.batch, self.order)

    def _laid(self, axis: str) -> _Laid:
        """What was found of this axis; whose triplets are those of a batch, a step says."""
        return self._own if axis == "triplet" else self._of_batch

    def grid(self, step: Step) -> Sheet:
        """A step as a matrix: a vector is one row, leading dimensions are stacked."""
        value = step.value
        axes = self.axes(step)
        if value.ndim < 2:
            return Sheet(value.reshape(1, -1), "", axes[0] if axes else "")
        rows = axes[-2]
        if value.ndim > 2:
            stacked = "_".join(axes[-3:-1])
            rows = stacked if stacked in ROWS_OF_SEVERAL else "level_pair"
        return Sheet(value.reshape(-1, value.shape[-1]), rows, axes[-1])

    def axes(self, step: Step) -> tuple[str, ...]:
        """Axis names as the loss's symbol declares them, else guessed from the lengths."""
        key = (step.name, step.value.shape)
        if key not in self._axes:
            self._axes[key] = self._named(step)
        return self._axes[key]

    def _named(self, step: Step) -> tuple[str, ...]:
        symbol = self.exploration.spec.symbols.get(step.name)
        if symbol and len(symbol.axes) == step.value.ndim:
            return symbol.axes
        known = {
            len(self.batch): "pair",
            len(self.batch.classes): "sentence",
            len(self.batch.positives): "query",
        }
        return tuple(known.get(length, "index") for length in step.value.shape)

    def items(self, axis: str, length: int) -> tuple[Tensor, Tensor]:
        """Pair and sentence behind each row or column, −1 for none; on the CPU."""
        key, known = (axis, length), self._laid(axis).items
        if key not in known:
            pairs, sentences = self._behind(axis, length)
            known[key] = pairs.cpu(), sentences.cpu()
        return known[key]

    def _plain_items(self, axis: str, length: int) -> tuple[list[int], list[int]]:
        """The same as lists, for single places: each read off a tensor takes microseconds."""
        key, known = (axis, length), self._laid(axis).listed
        if key not in known:
            pairs, sentences = self.items(axis, length)
            known[key] = pairs.tolist(), sentences.tolist()
        return known[key]

    def _behind(self, axis: str, length: int) -> tuple[Tensor, Tensor]:
        if axis == "level_pair":
            pairs = torch.arange(len(self.batch)).repeat(length // len(self.batch))
            return pairs, torch.full((length,), -1)
        if axis == "triplet":
            anchor = self.exploration.trace.last("anchor")
            if anchor is not None and len(anchor.value) == length:
                return self.batch._first_pair_of[anchor.value], anchor.value
        found = self.batch.axis(axis, length)
        return found or (torch.full((length,), -1), torch.full((length,), -1))

    def behind(self, step: Step, cell: tuple[int, ...], dimension: int) -> tuple[int, int]:
        """Pair and sentence behind a cell along one of its dimensions, −1 for none."""
        axes, place = self.axes(step), cell[dimension]
        if axes[dimension] == "candidate" and axes[0] in ("list", "row"):
            of_lists = self.batch.lists if axes[0] == "list" else self.batch.margins[1]
            return int(of_lists[cell[0], place]), -1
        axis, length = axes[dimension], step.value.shape[dimension]
        if length <= SHOWN_ROWS:
            pairs, sentences = self._plain_items(axis, length)
        else:
            pairs, sentences = self.items(axis, length)
        return (int(pairs[place]), int(sentences[place])) if place < len(pairs) else (-1, -1)

    def permutation(self, axis: str, length: int) -> Tensor | None:
        """Which item stands at each place; None for entry order."""
        key, known = (axis, length), self._laid(axis).permutations
        if key not in known:
            known[key] = self._sorted(axis, length)
        return known[key]

    def _sorted(self, axis: str, length: int) -> Tensor | None:
        if self.order == "entry" or axis in UNSORTED:
            return None
        if axis == "level_pair":  # each level by itself
            within = self._sorted("pair", len(self.batch))
            if within is None:
                return None
            starts = torch.arange(0, length, len(self.batch), device=within.device)
            return (starts[:, None] + within).flatten()
        pairs = self.items(axis, length)[0].to(self.batch.labels.device)
        if bool((pairs < 0).any()):
            return None
        by = self.batch.labels if self.order == "label" else self.batch.scores
        # Ties by label are broken by score, so that the eye finds the violations at the seams.
        first = self.batch.scores[pairs].argsort(stable=True)
        return first[by[pairs][first].argsort(stable=True)]

    def arranged(self, grid: Sheet, matrix: Tensor) -> Tensor:
        rows = self.permutation(grid.rows, matrix.shape[0])
        columns = self.permutation(grid.columns, matrix.shape[1])
        matrix = matrix if rows is None else matrix.index_select(0, rows)
        return matrix if columns is None else matrix.index_select(1, columns)


def _chosen_step(e: Exploration, steps: list[Step], place: int | None) -> int:
    """The step the user looks at, or else the terms, of a sum those of its first part, or else the
    widest matrix."""
    if place is not None and 0 <= place < len(steps):
        return place
    terms = f"{e.spec.parts[0].label}_terms" if e.spec.parts else "terms"
    for index in reversed(range(len(steps))):
        if steps[index].name == terms and steps[index].value.ndim:
            return index
    return max(range(len(steps)), key=lambda index: steps[index].value.numel())


def _steps(e: Exploration, layout: Layout, steps: list[Step]) -> list[Json]:
    """What the page says of each step, with a thumbnail of all that is more than a number."""
    said = [_described(e, step) for step in steps]
    sheets = {}
    for place, step in enumerate(steps):
        if step.value.ndim and step.value.numel():
            grid = layout.grid(step)
            sheets[place] = layout.arranged(grid, grid.value), is_signed(e, step)
    for place, drawn in zip(sheets, thumbnails(list(sheets.values())), strict=True):
        said[place]["thumbnail"] = drawn
    return said


def _described(e: Exploration, step: Step) -> Json:
    symbol = e.spec.symbols.get(step.name, Symbol(""))
    said: Json = {
        "name": step.name,
        "line": step.line,
        "source": step.source,
        "latex": symbol.latex,
        "shape": list(step.value.shape),
        "gradient": step.gradient is not None,
    }
    for part in e.spec.parts:
        if step.part == part.label:
            said["of"] = {"label": part.label, "loss": part.spec.name, "name": part_word(part)}
    if step.value.ndim == 0:
        said["value"] = json_number(float(step.value))
    return said


def is_signed(e: Exploration, step: Step) -> bool:
    """Whether 0 is the middle of the step's scale.

    What the quantity means decides, and not the values that happen to occur, so that its
    colours do not turn into others while a slider moves. Labels mean what the user says.
    """
    if not step.value.is_floating_point():
        return False
    what = e.spec.reads.get(step.name)
    if step in e.trace.inputs and what and READABLE[what].made_of == "labels":
        return bool((step.value < 0).any())
    return e.spec.symbols.get(step.name, Symbol("")).signed


def thumbnails(matrices: Sequence[tuple[Tensor, bool]]) -> list[Json]:
    """Each matrix, signed or not, as at most 56×56 bytes: 0..253 from `low` to `high`, 254 NaN,
    255 masked. Small ones of one shape are drawn in one go."""
    alike: dict[object, list[int]] = {}
    for place, (matrix, _) in enumerate(matrices):
        small = matrix.numel() <= STACKED
        alike.setdefault(matrix.shape if small else place, []).append(place)
    drawn: dict[int, Json] = {}
    for places in alike.values():
        stack = torch.stack([matrices[place][0].float() for place in places])
        for place, (shades, low, high) in zip(
            places, _shaded(stack, [matrices[place][1] for place in places]), strict=True
        ):
            drawn[place] = {
                "rows": shades.shape[0],
                "columns": shades.shape[1],
                "low": low,
                "high": high,
                "signed": matrices[place][1],
                "boolean": matrices[place][0].dtype == torch.bool,
                "data": packed(shades, torch.uint8),
            }
    return [drawn[place] for place in range(len(matrices))]


def _shaded(stack: Tensor, signed: list[bool]) -> list[tuple[Tensor, float, float]]:
    """Of matrices [M, R, C]: the bytes of each, and what its darkest and lightest stand for."""
    rows, columns = stack.shape[1:]
    size = min(rows, THUMBNAIL), min(columns, THUMBNAIL)
    lows, highs = stack.amin((1, 2)).tolist(), stack.amax((1, 2)).tolist()
    # NaN, which is the least and the largest of all that it stands among, and +∞ are no numbers.
    broken = any(math.isnan(high) or high == math.inf for high in highs)
    masked = [place for place, low in enumerate(lows) if broken or low == -math.inf]
    absent = _absent_of(stack, size, masked, broken) if masked else None
    if absent is not None:
        stack, present, _ = absent
        lows = stack.where(present, math.inf).amin((1, 2)).tolist()
        highs = stack.where(present, -math.inf).amax((1, 2)).tolist()
    elif size != (rows, columns):
        stack = adaptive_avg_pool2d(stack, size)
        lows, highs = stack.amin((1, 2)).tolist(), stack.amax((1, 2)).tolist()
    ranges = [_range(low, high, both) for low, high, both in zip(lows, highs, signed, strict=True)]
    low, span = torch.tensor(
        [(low, (high - low) or 1.0) for low, high in ranges], dtype=stack.dtype, device=stack.device
    ).T[:, :, None, None]
    shades = (stack - low).div_(span).mul_(253).round_().clamp_(0, 253)
    if absent is not None:
        _, present, spoilt = absent
        shades = shades.where(present, MASKED)
        shades = shades if spoilt is None else shades.masked_fill_(spoilt, NOT_A_NUMBER)
    bytes_ = shades.to("cpu", torch.uint8)
    return [(one, *range_) for one, range_ in zip(bytes_, ranges, strict=True)]


def _absent_of(
    stack: Tensor, size: tuple[int, int], masked: list[int], broken: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Matrices, some of them `masked`, at this size with 0 where nothing is; which cells are there;
    and, where any is `broken`, which are no numbers. Of several that make one, those that are there
    have a say, and one that is no number spoils it."""
    present = stack != -math.inf
    spoilt = stack.isnan() | stack.isposinf() if broken else None
    if spoilt is not None:
        present &= ~spoilt
    stack = stack.where(present, 0)
    if size != stack.shape[1:]:
        share = stack.new_ones(len(stack), *size)
        share[masked] = adaptive_avg_pool2d(present[masked].float(), size)
        present = share > 0
        if spoilt is not None:
            spoilt = adaptive_avg_pool2d(spoilt.float(), size) > 0
            present &= ~spoilt
        stack = adaptive_avg_pool2d(stack, size) / share.clamp_min(1e-9)
        stack = stack.where(present, 0)
    return stack, present, spoilt


def value_range(values: Tensor, signed: bool) -> tuple[float, float]:
    """Least and largest, or as far to both sides of 0; `values` are finite."""
    if not values.numel():
        return _range(math.inf, -math.inf, signed)
    return _range(float(values.min()), float(values.max()), signed)


def _range(low: float, high: float, signed: bool) -> tuple[float, float]:
    if low > high:  # of nothing
        low = high = 0.0
    if signed:
        reach = max(-low, high) or 1.0
        return -reach, reach
    return low, high


def _shown(e: Exploration, layout: Layout, steps: list[Step], place: int) -> Json:
    """The chosen step in full: value, gradient, weight and mask, as laid out."""
    step = steps[place]
    grid = layout.grid(step)
    rows, columns = (min(length, SHOWN_ROWS) for length in grid.shape)

    def laid_out(tensor: Tensor) -> Tensor:
        return layout.arranged(grid, tensor.reshape(grid.shape))[:rows, :columns]

    mask = e.trace.mask_of(step)
    weights = e.weights.shares if e.weights is not None else None
    if weights is not None and weights.shape != step.value.shape:
        weights = None
    symbol = e.spec.symbols.get(step.name, Symbol(""))
    live = live_formula(symbol.live, e.parameters)
    return {
        "step": place,
        "name": step.name,
        "latex": symbol.latex,
        "live": live,
        "boolean": step.value.dtype == torch.bool,
        "signed": is_signed(e, step),
        "rows": rows,
        "columns": columns,
        "all_rows": grid.shape[0],
        "all_columns": grid.shape[1],
        "row_axis": _axis(layout, grid.rows, grid.shape[0], rows),
        "column_axis": _axis(layout, grid.columns, grid.shape[1], columns),
        "value": packed(laid_out(step.value)),
        "gradient": None if step.gradient is None else packed(laid_out(step.gradient)),
        "beside": e.trace.beside and step.name == e.spec.terms,
        "weight": None if weights is None else packed(laid_out(weights)),
        "mask": None if mask is None else packed(laid_out(mask), torch.uint8),
        "hatched": e.trace.mask_of(step, earlier=True) is not None,
        "numbers": _numbers(e, layout, steps, place, live),
    }


def _axis(layout: Layout, name: str, length: int, shown: int) -> Json:
    pairs, sentences = layout.items(name, length)
    order = layout.permutation(name, length)
    places = torch.arange(length) if order is None else order.cpu()
    return {
        "name": name,
        "items": places[:shown].tolist(),
        "pairs": pairs[places][:shown].tolist() if len(pairs) == length else [],
        "sentences": sentences[places][:shown].tolist() if len(sentences) == length else [],
    }


def _numbers(e: Exploration, layout: Layout, steps: list[Step], place: int, live: str) -> Json:
    """What stands for each reference of the step's live formula, in the cells that are shown."""
    known = {**e.parameters, **{before.name: before.value for before in steps[:place]}}
    index = _places(layout, steps[place])
    return {
        reference: _packed_numbers(e, layout, numbers_of(reference, index, known))
        for reference in references(live)
    }


def _places(layout: Layout, step: Step) -> dict[str, Tensor]:
    """Level l, row r and column c of each cell as it is shown; of a vector r, of a number none."""
    grid = layout.grid(step)

    def display_number(axis: str, length: int) -> Tensor:
        order = layout.permutation(axis, length)
        return (torch.arange(length) if order is None else order.cpu())[:SHOWN_ROWS]

    columns = display_number(grid.columns, grid.shape[1])[None, :]
    if step.value.ndim < 2:
        return {"r": columns} if step.value.ndim else {}
    rows = display_number(grid.rows, grid.shape[0])[:, None]
    if step.value.ndim == 2:
        return {"r": rows, "c": columns}
    height = step.value.shape[-2]  # levels are stacked
    return {"l": rows // height, "r": rows % height, "c": columns}


def _packed_numbers(e: Exploration, layout: Layout, found: Numbers) -> Json:
    rows, columns, parts = found.values.shape
    said: Json = {"of": found.of, "at": found.at, "rows": rows, "columns": columns, "parts": parts}
    said["values"] = packed(found.values)
    if over := found.over:
        said |= {
            "kind": over.kind,
            "pairs": packed(_pairs_behind(e, layout, found.of, over.places), torch.int32),
            "present": packed(over.places >= 0, torch.uint8),
            "left": packed(over.left, torch.int32),
            "rest": packed(over.rest),
        }
    return said


def _pairs_behind(e: Exploration, layout: Layout, name: str, places: Tensor) -> Tensor:
    """The pair of the column that each written term of a sum came from, −1 for none."""
    step = e.trace.last(name)
    if step is None or not step.value.ndim:
        return torch.full_like(places, -1)
    width = step.value.shape[-1]
    pairs = layout.items(layout.axes(step)[-1], width)[0]
    if len(pairs) != width:
        return torch.full_like(places, -1)
    return pairs[places % width].masked_fill(places < 0, -1)


def _terms(e: Exploration, layout: Layout) -> list[Json]:
    """The heavy terms with the items that their cells stand for."""
    if not e.heaviest:
        return []
    step = e.trace.named(e.spec.terms)
    axes = layout.axes(step)
    return [
        {
            "items": [
                dict(zip(("axis", "item", "pair", "sentence"), told, strict=True))
                for told in (
                    (axis, place, *layout.behind(step, term.cell, dimension))
                    for dimension, (axis, place) in enumerate(zip(axes, term.cell, strict=True))
                )
            ],
            "value": json_number(term.value),
            "share": term.share,
            "so_far": term.so_far,
        }
        for term in e.heaviest
    ]
