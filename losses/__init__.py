"""Ranking and contrastive losses, each written once as plain torch.

Every loss is a function of tensors: ``cosent(scores, labels, scale=20.0)``. `LOSSES` maps each
public name to its `LossSpec`: definition, formula, symbols, parameters, landmarks. A module of
this package that holds a `LossSpec` is registered by being there; nothing else lists it.
"""

from __future__ import annotations

import importlib
import pkgutil

from losses.spec import GROUPS, Convention, LossSpec, Parameter, Symbol, spec_of


def _collect() -> dict[str, LossSpec]:
    found: list[LossSpec] = []
    for module in pkgutil.iter_modules(__path__):
        if module.name in ("modules", "sentence_transformers"):  # they read LOSSES, so come after
            continue
        held = vars(importlib.import_module(f"{__name__}.{module.name}"))
        found += [value for value in held.values() if isinstance(value, LossSpec)]
    found.sort(key=lambda spec: (GROUPS.index(spec.group), spec.order))  # stable: file order
    return {spec.name: spec for spec in found}


LOSSES: dict[str, LossSpec] = _collect()

# The functions last, so that `losses.cosent` is the loss and not the file it stands in.
globals().update({name: spec.function for name, spec in LOSSES.items()})

# The losses of other libraries that are no setting of ours: `losses.nt_xent_of_classes`.
OTHERS = {
    convention.function.__name__: convention.function
    for spec in LOSSES.values()
    for convention in spec.conventions
    if convention.function
}
globals().update(OTHERS)

__all__ = ["GROUPS", "LOSSES", "Convention", "LossSpec", "Parameter", "Symbol", "spec_of"]
__all__ += [*LOSSES, *OTHERS]
