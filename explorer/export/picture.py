"""From an exploration to plain arrays that an instrument draws, small enough to send often."""

from __future__ import annotations

from dataclasses import asdict

import torch
from torch import Tensor

from explorer.core.batch import Batch
from explorer.core.explore import Exploration
from explorer.core.live import Numbers, live_formula, numbers_of, references
from explorer.core.parts import PartSeen, parts_of
from explorer.core.remarks import band_applies
from explorer.core.trace import Step
from explorer.export.layout import Layout
from explorer.export.thumbnails import thumbnails
from explorer.locale import part_word
from explorer.runtime.limits import SHOWN_ROWS
from explorer.runtime.numbers import json_number
from explorer.runtime.problem import Problem
from explorer.runtime.wire import Json, packed
from explorer.sources.cells import shortened
from losses import Symbol
from losses.combined.composed import chosen
from losses.readings import READABLE


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


def shown(exploration: Exploration) -> Json:
    """The step in view in full: a part of `picture`."""
    steps = exploration.trace.tensors
    chosen = _chosen_step(exploration, steps, exploration.scenario.view.step)
    return _shown(exploration, Layout(exploration), steps, chosen)


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
        "inference": batch.pairs.inference,
        "places": batch.pairs.places,
        "threshold": batch.threshold,
        "label_range": batch.label_range,
        "positives": len(batch.positives),
        "negatives": len(batch.others),
        "owned": int((batch.negative_owners >= 0).sum()),
        "classes": int(batch.classes.max()) + 1,
        "dimension": 0 if batch.vectors is None else batch.vectors.shape[1],
        "orthogonal": batch.orthogonal,
        "given": batch.given is not None,
        "guided": batch.guide is not None,
        "taught": batch.teacher is not None or batch.teacher_vectors is not None,
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
        "latex": symbol.written,
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
        "latex": symbol.written,
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
