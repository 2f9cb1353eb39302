"""The Large batch page: up to a million pairs, seen block by block."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import gradio as gr

from explorer.lab.large.methods import method_of, offered, parameters_of, wanted_by
from explorer.lab.large.opened import most_pairs
from explorer.locale import LANGUAGES, Word, catalogue, title_word
from explorer.runtime.limits import LARGE_FILE_BYTES
from explorer.runtime.wire import Json
from explorer.sources.encoders import EMBEDDED
from explorer.web.frame import framed
from explorer.web.instrument import Instrument, PageState
from explorer.web.pages.large import requests, taking
from explorer.web.pages.large.state import large_table
from losses import LOSSES

STATE = PageState("large", "large", "pages/large/state.js")


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    with framed("large_controls", "pages/large/controls.js", STATE):
        _instrument("scene", *requests.SERVED, *taking.SERVED)
        _instrument("figures")
        with gr.Row(elem_id="lp-large"):
            with gr.Column(elem_id="lp-large-map"):
                _instrument("map")
            with gr.Column(elem_id="lp-large-beside"):
                _instrument("histogram")
        _instrument("terms")
        _instrument("suspects")
        _instrument("pairs")
        _instrument("takeaway")


def _instrument(name: str, *functions: Callable) -> None:
    Instrument(f"large_{name}", f"pages/large/{name}.js", STATE, server_functions=functions)


def page_data() -> Json:
    """What the instruments of this page know from the start."""
    return {
        "losses": {
            name: {
                "most": most_pairs(name),
                "most_drawn": most_pairs(name, drawn=True),
                "wanted": wanted_by(name),
                "family": method_of(name).family,
                "reads_texts": LOSSES[name].reads_texts,
                "parameters": [
                    {**dataclasses.asdict(parameter), "kind": parameter.kind}
                    for parameter in parameters_of(name)
                ],
            }
            for name in offered()
        },
        "not_here": _not_here(),
        "table": large_table(),
        "bytes": LARGE_FILE_BYTES,
        "encoder": EMBEDDED,
    }


def _not_here() -> dict[str, list[Word]]:
    """Why the other losses are not on this page, and which: a sentence under ``large.not_here.`` of
    its own, or that of losses that judge each pair by itself, or that of all others."""
    words = catalogue(LANGUAGES[0])
    why: dict[str, list[Word]] = {}
    for name, spec in LOSSES.items():
        if name not in offered():
            terms = spec.symbols.get(spec.terms)
            shared = "single" if terms and terms.axes == ("pair",) else "others"
            reason = name if f"large.not_here.{name}" in words else shared
            why.setdefault(reason, []).append(title_word(spec))
    return why
