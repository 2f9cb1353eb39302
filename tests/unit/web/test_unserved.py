"""Gradio makes no application that nobody is served by, and afterwards all of them again."""

from __future__ import annotations

import gradio as gr

from explorer.web.unserved import no_apps
from tests import wire


def test_a_site_has_none_until_it_launches():
    assert wire.site().app is None


def test_other_blocks_have_theirs():
    with no_apps(), gr.Blocks() as inside:
        pass
    with gr.Blocks() as after:
        pass
    assert inside.app is None
    assert after.app.get_blocks() is after
