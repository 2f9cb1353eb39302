"""LossPrism's explorer: the page and what it computes. ``lossprism.show(…)`` opens it."""

import sys
from importlib import import_module


def __getattr__(name: str) -> object:
    if name == "show":  # only when asked for: it brings torch along
        from lossprism.explorer.notebook import show

        return show
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "explorer":  # imported by its bare name, first of all: `lossprism.bare_names`
    sys.modules[__name__] = import_module("lossprism.explorer")
