"""A loss as the pages are told of it."""

from __future__ import annotations

import dataclasses

from explorer.runtime.wire import Json
from losses import LossSpec


def describe_loss(spec: LossSpec) -> Json:
    """A loss as the page needs it, in its own convention and in each of the others."""
    return {
        "title": spec.title,
        "group": spec.group,
        "terms": spec.terms,
        "about": (spec.function.__doc__ or "").strip().partition("\n")[0],
        "references": spec.references,
        "learns_from_positives": spec.learns_from_positives,
        "conventions": {
            name: _describe_form(spec.under(name))
            for name in ("", *(convention.name for convention in spec.conventions))
        },
    }


def _describe_form(spec: LossSpec) -> Json:
    parameters = [
        {**dataclasses.asdict(parameter), "kind": parameter.kind} for parameter in spec.parameters
    ]
    return {
        "formula": spec.formula,
        "variants": dict(spec.variants),
        "collapse": spec.collapse_formula if spec.collapse else "",
        "floor": spec.floor_formula if spec.floor else "",
        "note": spec.note,
        "counted": spec.counted if spec.reads_texts else "",
        "negatives_of_batch": spec.negatives_of_batch,
        "parameters": parameters,
    }
