"""An instrument: a component of the page that is drawn by a module of its own.

The HTML template is a constant, because Gradio compiles whatever stands in it as code; all data
reaches an instrument through the page's state and its server functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.runtime.wire import Json
from explorer.web.assets import BASE, MOUNT
from explorer.web.serving import sent
from explorer.web.stubs import no_stubs

# All JavaScript that Gradio runs: the page's own module does the rest.
_ON_LOAD = """import(new URL({mount}, document.baseURI)).then(
  ({{ mount }}) => mount(element, server, {what}));"""


@dataclass(frozen=True)
class PageState:
    """What instruments share: the facts of the page in `folder`, and a state called `name` that
    the module `maker` makes."""

    folder: str
    name: str
    maker: str


with no_stubs():  # a .pyi beside this file would be believed in its place

    class Instrument(gr.HTML):
        """The instrument `name`, drawn by the default export of `module`."""

        def __init__(
            self,
            name: str,
            module: str,
            state: PageState,
            *,
            server_functions: Sequence[Callable] = (),
            **keywords: Any,
        ) -> None:
            # Whatever stands quoted in the script is an event to Gradio, unless it is an attribute:
            # an event would be copied, with all that it holds, for each visitor of the page.
            self.name, self.module, self.state = name, module, state
            self.modules = (MOUNT, state.maker, module)
            what = {
                "folder": state.folder,
                "name": state.name,
                "state": state.maker,
                "module": module,
            }
            ready = [sent(one) for one in server_functions]
            self.calls = {one.__name__: one for one in ready}
            super().__init__(
                value=None,
                html_template=f'<div class="lp lp-{name}"></div>',
                js_on_load=_ON_LOAD.format(
                    mount=json.dumps(f"{BASE}/{MOUNT}"), what=json.dumps(what)
                ),
                apply_default_css=False,
                server_functions=ready or None,
                elem_id=f"{state.name}-{name}",
                elem_classes=["lp-instrument"],
                **keywords,
            )

        def api_info(self) -> Json:
            return {"type": "object"}
