"""The Explore page: one loss on one batch, taken apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import gradio as gr

from explorer.core.scenario import Scenario
from explorer.lab.batches import COUNT
from explorer.locale import COUNTS
from explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, LINK_LETTERS
from explorer.runtime.wire import Json
from explorer.sources import batches, random_batch, textbook
from explorer.sources.encoders import EMBEDDED
from explorer.web.frame import framed
from explorer.web.instrument import Instrument, PageState
from explorer.web.pages.explore.requests import (
    SERVED,
    SERVED_FIGURES,
    SERVED_SWEEP,
    SERVED_TAKEAWAY,
    SERVED_TERMS,
)
from explorer.web.pages.explore.state import scenario_table
from losses import LOSSES, LossSpec

STATE = PageState("explore", "main", "pages/explore/state.js")


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    with framed("controls", "pages/explore/controls.js", STATE, server_functions=SERVED):
        _instrument("figures", *SERVED_FIGURES)
        _instrument("sweep", *SERVED_SWEEP)
        with gr.Row(elem_id="lp-middle"):
            with gr.Column(elem_id="lp-left"):
                _instrument("derivation")
            with gr.Column(elem_id="lp-right"):
                _instrument("matrix")
        with gr.Row(elem_id="lp-lower"):
            with gr.Column():
                _instrument("bars")
            with gr.Column():
                _instrument("terms", *SERVED_TERMS)
        _instrument("pairs")
        _instrument("takeaway", *SERVED_TAKEAWAY)
        Instrument("progress", "kit/progress.js", STATE)


def _instrument(name: str, *functions: Callable) -> None:
    Instrument(name, f"pages/explore/{name}.js", STATE, server_functions=functions)


def page_data() -> dict[str, object]:
    """What the instruments of this page know from the start, beside what all pages do."""
    return {
        "examples": {name: {"note": example.note} for name, example in textbook.EXAMPLES.items()},
        "samplers": batches.SAMPLERS,
        "ranges": batches.RANGES,
        "spread": COUNT,
    }


def shared_data(first: Scenario) -> dict[str, object]:
    """What the instruments of every page know from the start: losses, limits, the first scene."""
    return {
        "counts": sorted(COUNTS),
        "losses": {name: describe_loss(spec) for name, spec in LOSSES.items()},
        "defaults": first.to_json(),
        "scenario": scenario_table(),
        "limits": {
            "pairs": EXPLORED_PAIRS,
            "bytes": FILE_BYTES,
            "encoder": EMBEDDED,
            "random": random_batch.RANGES,
            "link": LINK_LETTERS,
        },
    }


def describe_loss(spec: LossSpec) -> Json:
    """A loss as the page needs it, in its own convention and in each of the others."""
    return {
        "title": spec.title,
        "group": spec.group,
        "terms": spec.terms,
        "about": (spec.function.__doc__ or "").strip().partition("\n")[0],
        "references": spec.references,
        "learns_from_positives": spec.learns_from_positives,
        "conventions": {
            name: _describe_form(spec.under(name))
            for name in ("", *(convention.name for convention in spec.conventions))
        },
    }


def _describe_form(spec: LossSpec) -> Json:
    parameters = [
        {**dataclasses.asdict(parameter), "kind": parameter.kind} for parameter in spec.parameters
    ]
    return {
        "formula": spec.formula,
        "variants": dict(spec.variants),
        "collapse": spec.collapse_formula if spec.collapse else "",
        "floor": spec.floor_formula if spec.floor else "",
        "note": spec.note,
        "counted": spec.counted if spec.reads_texts else "",
        "negatives_of_batch": spec.negatives_of_batch,
        "parameters": parameters,
    }
