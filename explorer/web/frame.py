"""What all pages look like: a sidebar with the head and the controls, and beside it the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import gradio as gr

from explorer.web.hosting import forget_mine
from explorer.web.instrument import Instrument, PageState
from explorer.web.serving import served
from explorer.web.wire import shared


def _forget(_request: object) -> dict:
    """Nothing → nothing: what a hosted page keeps of this visitor is removed."""
    forget_mine()
    return {}


FORGET = served("forget", _forget, shared.Nothing)


@contextmanager
def framed(
    controls: str, module: str, state: PageState, *, server_functions: Sequence[Callable] = ()
) -> Iterator[None]:
    """Lay a page out inside the current `gr.Blocks`: what is made inside is its main column.

    `controls` and its `module` are the instrument in the sidebar.
    """
    with gr.Row(elem_id="lp-page"):
        with gr.Column(elem_id="lp-side", scale=0, min_width=320):
            Instrument("header", "kit/header.js", state, server_functions=[FORGET])
            Instrument(controls, module, state, server_functions=server_functions)
        with gr.Column(elem_id="lp-main"):
            yield
