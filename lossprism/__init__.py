"""LossPrism: what does this loss do to my batch?

``lossprism.losses`` holds the losses, ``lossprism.explorer`` the page and what it computes.
``lossprism.show(…)`` opens the page on pairs of a notebook, and ``lossprism.probe(loss, batch)``
measures a batch of a training loop. A checkout keeps the two packages at its top: there this one
finds them beside itself, and their bare names, `losses` and `explorer`, give the same modules.
"""

from __future__ import annotations

from pathlib import Path

from lossprism.version import VERSION as __version__

if not (Path(__file__).parent / "losses").is_dir():  # a checkout, not an installed wheel
    __path__.append(str(Path(__file__).parent.parent))
    from lossprism.bare_names import find_bare_names

    find_bare_names(first=True)


__all__ = ["__version__", "show"]


def __getattr__(name: str) -> object:
    if name == "show":  # only when asked for: it brings torch along
        from lossprism.explorer.notebook import show

        return show
    if name == "probe":
        from lossprism.losses.probe import probe

        return probe
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
