"""What all pages look like: a sidebar with the head and the controls, and beside it the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import gradio as gr

from explorer.instruments.base import Instrument


@contextmanager
def framed(
    controls: str, *, channel: str = "main", server_functions: Sequence[Callable] = ()
) -> Iterator[None]:
    """Lay a page out inside the current `gr.Blocks`: what is made inside is its main column."""
    with gr.Row(elem_id="lp-page"):
        with gr.Column(elem_id="lp-side", scale=0, min_width=320):
            Instrument("header", channel=channel)
            Instrument(controls, channel=channel, server_functions=server_functions)
        with gr.Column(elem_id="lp-main"):
            yield
