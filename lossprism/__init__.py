"""LossPrism: what does this loss do to my batch?

``lossprism.losses`` holds the losses, ``lossprism.explorer`` the page and what it computes.
In a notebook, ``lossprism.show(…)`` opens the page on pairs and ``lossprism.widget(…)`` is the
matrix as a widget; ``lossprism.probe(loss, batch)`` measures a batch of a training loop. A checkout
keeps the two packages at its top: there this one finds them beside itself, and their bare names,
`losses` and `explorer`, give the same modules.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lossprism.version import VERSION as __version__

if not (Path(__file__).parent / "losses").is_dir():  # a checkout, not an installed wheel
    __path__.append(str(Path(__file__).parent.parent))
    from lossprism.bare_names import find_bare_names

    find_bare_names(first=True)


__all__ = ["__version__", "show", "widget"]


def __getattr__(name: str) -> object:
    if name in ("show", "widget"):  # only when asked for: they bring torch along
        return getattr(import_module("lossprism.explorer.notebook"), name)
    if name == "probe":
        from lossprism.losses.probe import probe

        return probe
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
