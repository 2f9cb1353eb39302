"""Every loss as an `nn.Module`: ``CosentLoss(scale=20.0)(scores, labels)``.

A module holds the parameters of its loss and nothing else; tensors go into `forward`. The class
of each loss in `LOSSES` is made below: `info_nce` gives `InfoNceLoss`, and so on. Losses against
prototypes learn them: ``ArcfaceLoss(count, dimension, margin=0.3)``. `modules.pyi` has their
parameters for type checkers and editors.
"""

import re

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.generated_classes import made_class
from lossprism.losses.module_bases import LossModule, PrototypeLoss, QueuedLoss, Settled


def module_name(name: str) -> str:
    """Return the class name: `info_nce` → `InfoNceLoss`, `info_nce+angle` →
    `InfoNceAngleLoss`."""
    words = re.findall(r"[^\W_]+", name.removesuffix("_loss"))
    return "".join(word.capitalize() for word in words) + "Loss"


def loss_module(name: str) -> type[LossModule]:
    """Return the class for the loss of this name, also for one registered later, and for a sum:
    ``loss_module("info_nce+angle")(weight_of_angle=0.1)``. The name of a library's class selects
    the loss as that library computes it: ``loss_module("MultipleNegativesRankingLoss")()``."""
    return MODULES.get(name) or _module_of(LOSSES[name])


def _module_of(spec: LossSpec) -> type[LossModule]:
    base = PrototypeLoss if "prototypes" in spec.reads else LossModule
    base = QueuedLoss if any(part.length for part in spec.parts) else base
    attributes = {"spec": spec, "__module__": __name__}
    return made_class(module_name(spec.name), base, spec, "as a module", attributes)


MODULES: dict[str, type[LossModule]] = {name: _module_of(spec) for name, spec in LOSSES.items()}
globals().update({module.__name__: module for module in MODULES.values()})  # to import, to pickle

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # a class is made for each loss
    "MODULES",
    "LossModule",
    "PrototypeLoss",
    "QueuedLoss",
    "Settled",
    "loss_module",
    *(m.__name__ for m in MODULES.values()),
]
