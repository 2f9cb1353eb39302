"""LossPrism: what does this loss do to my batch?

``lossprism.losses`` holds the losses, ``lossprism.explorer`` the page and what it computes.
In a notebook, ``lossprism.show(…)`` opens the page on pairs and ``lossprism.widget(…)`` is the
matrix as a widget; ``lossprism.probe(loss, batch)`` measures a batch of a training loop. A checkout
keeps the two packages at its top: there this one finds them beside itself, and their bare names,
`losses` and `explorer`, give the same modules.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lossprism.version import VERSION as __version__

if not (Path(__file__).parent / "losses").is_dir():  # a checkout, not an installed wheel
    __path__.append(str(Path(__file__).parent.parent))
    from lossprism.bare_names import find_bare_names

    find_bare_names(first=True)

if TYPE_CHECKING:
    from lossprism.explorer.notebook import show, widget
    from lossprism.losses.loss_on_one_batch import probe

__all__ = ["__version__", "probe", "show", "widget"]
# Loaded when they are first used, since they bring torch along.
_MODULES = {
    "probe": "lossprism.losses.loss_on_one_batch",
    "show": "lossprism.explorer.notebook",
    "widget": "lossprism.explorer.notebook",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
