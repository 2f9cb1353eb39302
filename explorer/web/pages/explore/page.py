"""The Explore page: one loss on one batch, taken apart."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr

from explorer.core import own_loss
from explorer.core.akin import AKIN
from explorer.core.named import other_names
from explorer.core.scenario import Scenario
from explorer.export.layout import NAMED_BY_PAIR, PAIRED
from explorer.lab.over_batches import COUNT
from explorer.lab.training.trials import MOST_PAIRS
from explorer.locale import COUNTS
from explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, LINK_LETTERS
from explorer.sources import batches, random_batch, textbook
from explorer.sources.encoders import EMBEDDED
from explorer.sources.plain_encoders import ALIKE, APART
from explorer.web.frame import framed
from explorer.web.instrument import Instrument, PageState
from explorer.web.pages.explore.facts import describe_losses
from explorer.web.pages.explore.requests import (
    SERVED,
    SERVED_FIGURES,
    SERVED_OWN,
    SERVED_SWEEP,
    SERVED_TAKEAWAY,
    SERVED_TERMS,
)
from explorer.web.pages.explore.state import scenario_table
from losses import GROUPS, LOSSES

STATE = PageState("explore", "main", "pages/explore/state.js")


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    with framed("controls", "pages/explore/controls.js", STATE, server_functions=SERVED):
        _instrument("figures", *SERVED_FIGURES)
        _instrument("parts")
        _instrument("own", *SERVED_OWN)
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
        "tried": MOST_PAIRS,
        "own": [name for name in LOSSES if own_loss.own_loss(name)],
        "editable": own_loss.may_edit(),
    }


def shared_data(first: Scenario) -> dict[str, object]:
    """What the instruments of every page know from the start: losses, limits, the first scene."""
    return {
        "counts": sorted(COUNTS),
        "losses": describe_losses(),
        "groups": list(GROUPS),
        "paired": list(PAIRED),
        "by_pair": list(NAMED_BY_PAIR),
        "names": other_names(),
        "akin": [
            {
                "names": [one.name, *one.others],
                "loss": one.loss,
                "key": one.said().key,
                "shared": one.is_shared,
            }
            for one in AKIN
        ],
        "defaults": first.to_json(),
        "scenario": scenario_table(),
        "limits": {
            "pairs": EXPLORED_PAIRS,
            "bytes": FILE_BYTES,
            "encoder": EMBEDDED,
            "plain_encoders": [APART, ALIKE],
            "random": random_batch.RANGES,
            "link": LINK_LETTERS,
        },
    }
