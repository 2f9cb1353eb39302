"""Explorations as plain arrays to draw, small enough to send often."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.live_formulas import Numbers, live_formula, numbers_of, references
from lossprism.explorer.core.loss_sum_gradients import PartSeen, parts_of
from lossprism.explorer.core.pair_gradients import gradient_share
from lossprism.explorer.core.remarks import Remark, band_applies
from lossprism.explorer.core.trace import Step
from lossprism.explorer.export import drawing_data_types as data
from lossprism.explorer.export.matrix_thumbnails import thumbnails
from lossprism.explorer.export.rows_and_columns_of_step_matrix import Layout
from lossprism.explorer.locale import part_word
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.limits import SHOWN_ROWS
from lossprism.explorer.runtime.number_format import json_number, json_numbers
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.sources.cells import shortened
from lossprism.losses import Symbol
from lossprism.losses.combined.combined_loss_spec import part_values
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.loss_parameter import ParameterValue


def picture(exploration: Exploration, remarks: Sequence[Remark] = ()) -> data.Picture:
    """Return everything the Explore page draws: numbers, text, and packed arrays."""
    steps = exploration.trace.tensors
    chosen = _chosen_step(exploration, steps, exploration.scenario.view.step)
    layout = Layout(exploration)
    return data.Picture(
        figures=_figures(exploration),
        steps=_steps(exploration, layout, steps),
        inputs=len(exploration.trace.inputs),
        chosen=chosen,
        shown=_shown(exploration, layout, steps, chosen),
        listing=exploration.trace.listing,
        first_line=exploration.trace.first_line,
        pairs=_pairs(exploration),
        parts=_parts(exploration),
        heaviest=_terms(exploration, layout),
        suspects=exploration.suspects,
        disagreement=exploration.disagreement,
        parameters=sent_parameters(exploration.parameters),
        remarks=list(remarks),
    )


def sent_parameters(parameters: Mapping[str, ParameterValue]) -> dict[str, Setting]:
    return {n: list(one) if isinstance(one, tuple) else one for n, one in parameters.items()}


def one_step(exploration: Exploration, step: int | None) -> data.Looked:
    """Return the drawing data of one step alone, by default the terms: a part of `picture` small
    enough to send for several losses at a time."""
    steps = exploration.trace.tensors
    chosen = _chosen_step(exploration, steps, step)
    return data.Looked(
        figures=_figures(exploration),
        steps=[_step_data(exploration, one) for one in steps],
        inputs=len(exploration.trace.inputs),
        chosen=chosen,
        shown=_shown(exploration, Layout(exploration), steps, chosen),
        pairs=_pairs(exploration),
    )


def looking_at(
    exploration: Exploration, step: str = "", facet: str = ""
) -> tuple[Exploration, str]:
    """Return the exploration with this step, by name, and this facet in view, "" for the
    scenario's; and the name of the shown step.

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


def _pairs(e: Exploration) -> data.PairArrays:
    separate = e.score_gradient if e.is_projected else None
    return data.PairArrays(
        score=packed(e.batch.scores),
        gradient=packed(e.pair_gradient),
        score_gradient=None if separate is None else packed(separate),
        positive=packed(e.batch.positive, torch.uint8),
    )


def _parts(e: Exploration) -> data.Parts | None:
    parts = parts_of(e)
    if parts is None:
        return None
    return as_answer(
        data.Parts,
        parts,
        parts=[_part(e, one, k) for k, one in enumerate(parts.parts, 1)],
        cosines=json_numbers(parts.cosines.tolist()),
        opposed=[data.Opposed(one.pair, json_numbers(list(one.pulls))) for one in parts.opposed],
        energies=[as_answer(data.Energy, one) for one in parts.energies],
    )


def _part(e: Exploration, seen: PartSeen, number: int) -> data.PartSeen:
    part, weights = seen.part, seen.weights
    formula = part.spec.formula_at(**part_values(part, e.parameters))
    return as_answer(
        data.PartSeen,
        seen,
        label=part.label,
        name=part_word(part),
        weight=part.weight,
        formula=rf"\mathcal L_{{{number}}} = {formula}",
        terms=weights.terms if weights else None,
        active=weights.active if weights else None,
        effective=json_number(weights.effective) if weights else None,
    )


def describe_batch(batch: Batch) -> dict[str, Any]:
    """Return the fields of `BatchData`, beside its key."""
    return {
        "first": batch.pairs.first,
        "second": batch.pairs.second,
        "sentences": batch.pairs.sentences,
        "pictures": dict(batch.pictures),
        "labels": tuple(map(float, batch.pairs.labels)),
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


def _figures(e: Exploration) -> data.Figures:
    weights = e.weights
    return as_answer(
        data.Figures,
        e,
        ordered=e.order.ordered,
        violated=e.order.violated,
        spearman=json_number(e.order.spearman),
        terms=weights.terms if weights else None,
        active=weights.active if weights else None,
        carried=weights.carried if weights else None,
        beside=e.trace.beside,
        by_threshold=e.spec.by_threshold,
        effective=json_number(weights.effective) if weights else None,
        marked_share=_marked_share(e),
        projected=e.is_projected,
        banded=band_applies(e),
    )


def _marked_share(e: Exploration) -> data.Real | None:
    marked = {pair for pair in e.scenario.view.marked if 0 <= pair < len(e.batch)}
    return json_number(gradient_share(e.pair_gradient, marked)) if marked else None


def _chosen_step(e: Exploration, steps: list[Step], place: int | None) -> int:
    """Return the chosen step, or else the terms, in a sum those of its first part, or else the
    widest matrix."""
    if place is not None and 0 <= place < len(steps):
        return place
    terms = f"{e.spec.parts[0].label}_terms" if e.spec.parts else "terms"
    for index in reversed(range(len(steps))):
        if steps[index].name == terms and steps[index].value.ndim:
            return index
    return max(range(len(steps)), key=lambda index: steps[index].value.numel())


def _steps(e: Exploration, layout: Layout, steps: list[Step]) -> list[data.Step]:
    """Describe each step, with a thumbnail unless it is a number."""
    described = [_step_data(e, step) for step in steps]
    sheets = {}
    for place, step in enumerate(steps):
        if step.value.ndim and step.value.numel():
            grid = layout.grid(step)
            sheets[place] = layout.arranged(grid, grid.value), is_signed(e, step)
    for place, drawn in zip(sheets, thumbnails(list(sheets.values())), strict=True):
        described[place] = replace(described[place], thumbnail=drawn)
    return described


def _step_data(e: Exploration, step: Step) -> data.Step:
    symbol = e.spec.symbols.get(step.name, Symbol(""))
    of = next((part for part in e.spec.parts if step.part == part.label), None)
    return data.Step(
        name=step.name,
        line=step.line,
        source=step.source,
        latex=symbol.written,
        shape=list(step.value.shape),
        gradient=step.gradient is not None,
        of=of and data.StepOf(of.label, of.spec.name, part_word(of)),
        value=json_number(float(step.value)) if step.value.ndim == 0 else None,
    )


def is_signed(e: Exploration, step: Step) -> bool:
    """Return whether 0 is the middle of the step's scale.

    The meaning of the quantity decides, not the values that happen to occur, so that its colours do
    not change while a slider moves. The user decides for labels.
    """
    if not step.value.is_floating_point():
        return False
    what = e.spec.reads.get(step.name)
    if step in e.trace.inputs and what and READABLE[what].made_of == "labels":
        return bool((step.value < 0).any())
    return e.spec.symbols.get(step.name, Symbol("")).signed


def _shown(e: Exploration, layout: Layout, steps: list[Step], place: int) -> data.Shown:
    """Return the chosen step in full: value, gradient, weight and mask, as laid out."""
    step = steps[place]
    grid = layout.grid(step)
    facets = _facets(e, layout, step)
    rows, columns = facets["value"].shape
    symbol = e.spec.symbols.get(step.name, Symbol(""))
    live = live_formula(symbol.live, e.parameters)
    return data.Shown(
        step=place,
        name=step.name,
        latex=symbol.written,
        live=live,
        boolean=step.value.dtype == torch.bool,
        signed=is_signed(e, step),
        rows=rows,
        columns=columns,
        all_rows=grid.shape[0],
        all_columns=grid.shape[1],
        row_axis=_axis(layout, grid.rows, grid.shape[0], rows),
        column_axis=_axis(layout, grid.columns, grid.shape[1], columns),
        value=packed(facets["value"]),
        gradient=packed(facets["gradient"]) if "gradient" in facets else None,
        beside=e.trace.beside and step.name == e.spec.terms,
        weight=packed(facets["weight"]) if "weight" in facets else None,
        mask=packed(facets["mask"], torch.uint8) if "mask" in facets else None,
        hatched=e.trace.mask_of(step, earlier=True) is not None,
        numbers=_numbers(e, layout, steps, place, live),
    )


def _facets(e: Exploration, layout: Layout, step: Step) -> dict[str, Tensor]:
    """Return the facets of a step by their names, as laid out."""
    shares = e.weights.shares if e.weights is not None else None
    facets = {
        "value": step.value,
        "gradient": step.gradient,
        "weight": None if shares is None or shares.shape != step.value.shape else shares,
        "mask": e.trace.mask_of(step),
    }
    grid = layout.grid(step)
    rows, columns = (min(length, SHOWN_ROWS) for length in grid.shape)
    return {
        name: layout.arranged(grid, one.reshape(grid.shape))[:rows, :columns]
        for name, one in facets.items()
        if one is not None
    }


def lever_stop(e: Exploration, value: float) -> data.LeverStop:
    """Return what is drawn of an exploration while its lever, now at `value`, moves."""
    steps = e.trace.tensors
    step = steps[_chosen_step(e, steps, e.scenario.view.step)]
    facets = _facets(e, Layout(e), step)
    facet = e.scenario.view.facet if e.scenario.view.facet in facets else "value"
    drawn = facets[facet]
    is_hatched = e.trace.mask_of(step, earlier=True) is not None
    signed = facet == "gradient" or (facet == "value" and is_signed(e, step))
    if facet == "weight":
        drawn = drawn.sign() * drawn.abs() ** (1 / 3)
    return data.LeverStop(
        value=value,
        cells=thumbnails([(drawn, signed)], SHOWN_ROWS)[0],
        mask=packed(facets["mask"], torch.uint8) if is_hatched else None,
    )


def _axis(layout: Layout, name: str, length: int, shown: int) -> data.Axis:
    pairs, sentences = layout.items(name, length)
    order = layout.permutation(name, length)
    places = torch.arange(length) if order is None else order.cpu()
    return data.Axis(
        name,
        items=places[:shown].tolist(),
        pairs=pairs[places][:shown].tolist() if len(pairs) == length else [],
        sentences=sentences[places][:shown].tolist() if len(sentences) == length else [],
    )


def _numbers(
    e: Exploration, layout: Layout, steps: list[Step], place: int, live: str
) -> dict[str, data.Numbers]:
    """Return the numbers for each reference of the step's live formula, in the shown cells."""
    known = {**e.parameters, **{before.name: before.value for before in steps[:place]}}
    index = _places(layout, steps[place])
    return {
        reference: _packed_numbers(e, layout, numbers_of(reference, index, known))
        for reference in references(live)
    }


def _places(layout: Layout, step: Step) -> dict[str, Tensor]:
    """Return level l, row r and column c of each shown cell; r for a vector, nothing for a
    number."""
    grid = layout.grid(step)

    def shown_items(axis: str, length: int) -> Tensor:
        order = layout.permutation(axis, length)
        return (torch.arange(length) if order is None else order.cpu())[:SHOWN_ROWS]

    columns = shown_items(grid.columns, grid.shape[1])[None, :]
    if step.value.ndim < 2:
        return {"r": columns} if step.value.ndim else {}
    rows = shown_items(grid.rows, grid.shape[0])[:, None]
    if step.value.ndim == 2:
        return {"r": rows, "c": columns}
    height = step.value.shape[-2]  # levels are stacked
    return {"l": rows // height, "r": rows % height, "c": columns}


def _packed_numbers(e: Exploration, layout: Layout, evaluated: Numbers) -> data.Numbers:
    rows, columns, parts = evaluated.values.shape
    numbers = data.Numbers(
        evaluated.of, evaluated.at, rows, columns, parts, packed(evaluated.values)
    )
    over = evaluated.over
    if over is None:
        return numbers
    return replace(
        numbers,
        kind=over.kind,
        pairs=packed(_pairs_behind(e, layout, evaluated.of, over.places), torch.int32),
        present=packed(over.places >= 0, torch.uint8),
        left=packed(over.left, torch.int32),
        rest=packed(over.rest),
    )


def _pairs_behind(e: Exploration, layout: Layout, name: str, places: Tensor) -> Tensor:
    """Return the pair of the column of each written term of a sum, −1 for none."""
    step = e.trace.last(name)
    if step is None or not step.value.ndim:
        return torch.full_like(places, -1)
    width = step.value.shape[-1]
    pairs = layout.items(layout.axes(step)[-1], width)[0]
    if len(pairs) != width:
        return torch.full_like(places, -1)
    return pairs[places % width].masked_fill(places < 0, -1)


def _terms(e: Exploration, layout: Layout) -> list[data.Term]:
    """Return the heavy terms with the items of their cells."""
    if not e.heaviest:
        return []
    step = e.trace.named(e.spec.terms)
    axes = layout.axes(step)

    def items(cell: tuple[int, ...]) -> list[data.Item]:
        of = enumerate(zip(axes, cell, strict=True))
        return [data.Item(axis, n, *layout.behind(step, cell, place)) for place, (axis, n) in of]

    return [as_answer(data.Term, term, items=items(term.cell)) for term in e.heaviest]
