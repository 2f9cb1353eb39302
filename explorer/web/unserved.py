"""Gradio without the applications that nobody is served by.

It makes one as a site is begun, one at the end of each page, and as it launches the one that it
serves: with seven of ours for nothing, a third of the time that ours takes to start.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradio.routes import App


@contextmanager
def no_apps() -> Iterator[None]:
    """Inside, Gradio makes no application: a site that is built there has none until it
    launches."""
    made = vars(App)["create_app"]

    def none(*_: Any, **__: Any) -> Any:
        return None

    App.create_app = none
    try:
        yield
    finally:
        App.create_app = made
