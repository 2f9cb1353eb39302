"""LossPrism's explorer. ``explorer.show(…)`` opens the page on given pairs in a notebook."""

from __future__ import annotations


def __getattr__(name: str) -> object:
    if name == "show":  # only when asked for: it brings torch along
        from explorer.notebook import show

        return show
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
