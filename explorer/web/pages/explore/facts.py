"""A loss as the pages are told of it."""

from __future__ import annotations

import dataclasses

from explorer.core.loss_lookup import losses_called
from explorer.locale import title_word
from explorer.runtime.wire import Json
from explorer.web.serving import served
from explorer.web.wire.facts import NamedLoss
from losses import LOSSES, LossSpec
from losses.combined.names import RECIPES, summands_of, takes_prefixes
from losses.combined.queued import QUEUED


def describe_losses() -> dict[str, Json]:
    """All losses by name, and the sums that are trained with."""
    listed = [*(name for name in LOSSES if LOSSES[name].group != "own"), *RECIPES]
    own = [name for name in LOSSES if LOSSES[name].group == "own"]
    return {name: describe_loss(LOSSES[name]) for name in [*listed, *own]}


def described(name: str) -> Json:
    """Any name of a loss, a sum as well → {loss: as the page needs it}."""
    return {"loss": describe_loss(losses_called(name)[0])}


def describe_loss(spec: LossSpec) -> Json:
    """A loss as the page needs it, in its own convention and in each of the others."""
    return {
        "title": spec.title,
        "word": title_word(spec) if spec.parts else None,
        "group": spec.group,
        "terms": spec.terms,
        "about": (spec.function.__doc__ or "").strip().partition("\n")[0],
        "references": spec.references,
        "learns_from_positives": spec.learns_from_positives,
        "takes_prefixes": takes_prefixes(spec),
        "takes_queue": spec.name in QUEUED,
        "summands": [
            {"loss": one.loss, "prefixes": list(one.prefixes), "queued": one.queued}
            for one in summands_of(spec.name, LOSSES)
        ],
        "former": spec.former_conventions,
        "conventions": {
            name: _describe_form(spec.under(name))
            for name in ("", *(convention.name for convention in spec.conventions))
        },
    }


def _describe_form(spec: LossSpec) -> Json:
    spec = spec.scored_as("dot" if spec.score == "dot" else "cosine")  # as those of sentences are
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
        "knows_owners": "negative_owners" in spec.reads.values(),
        "asks_guide": spec.reads_guide,
        "asks_teacher": spec.reads_teacher,
        "negatives_of_batch": spec.negatives_of_batch,
        "parameters": parameters,
    }


# For pages that open what a link names.
SERVED_LOSS = served("loss", described, NamedLoss, takes=str)
