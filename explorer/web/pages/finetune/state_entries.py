"""The state of the Fine-tune page: the plan, what stands beside it, what is shown."""

from collections.abc import Iterator, Mapping
from typing import Any

from lossprism.explorer.lab.training.plan import DUPLICATE_RULES, RANGES, SCHEDULES, TrainingPlan
from lossprism.explorer.runtime.limits import SEEDS
from lossprism.explorer.sources.drawn_batches import SAMPLERS
from lossprism.explorer.sources.practice_sentences import PRACTICE
from lossprism.explorer.web.pages.finetune.request_plan import (
    COMMON_DATA_FIELDS,
    SOURCE_DATA_FIELDS,
)
from lossprism.explorer.web.pages.state_entry_type import Entry, Kind, kind_of

# Enough to see something on few pairs, and soon over on many.
FIRST_STEPS = 60
_KINDS: dict[str, Kind] = {
    "parameters": "parameters",
    "columns": "list",
    "threshold": "number",
    "label_range": "list",
}
_CHOICES = {
    "schedule": tuple(SCHEDULES),
    "twins": DUPLICATE_RULES,
    "sampler": ("", *SAMPLERS),
    "practice": tuple(PRACTICE),
}


def first_plan() -> dict[str, Any]:
    """Return the first plan of a visitor."""
    plan = TrainingPlan().to_json()
    first = {name: value for name, value in plan.items() if name != "own_loss"}
    kept = {
        name: plan["data"][name]
        for name in (*COMMON_DATA_FIELDS, *sum(SOURCE_DATA_FIELDS.values(), ()))
    }
    first["steps"] = FIRST_STEPS
    first["data"] = {"source": "practice", "practice": next(iter(PRACTICE)), "link": "", **kept}
    return first


def finetune_table() -> list[Entry]:
    """A change of the plan has it checked; the address names the runs that are shown."""
    plan = first_plan()
    kept: dict[str, Any] = {"affects": "nothing"}
    beside = {"before": [], "after": [], "model": "", "ready": plan["data"]["practice"]}
    return [
        *_entries("plan.", plan),
        *_entries("beside.", beside, **kept),
        Entry("beside.seeds", 1, "whole", *SEEDS, **kept),
        Entry("shown", [], "list", link="", affects="redraw"),
        Entry("at", None, "whole", affects="redraw"),
    ]


def _entries(prefix: str, values: Mapping[str, Any], **common: Any) -> Iterator[Entry]:
    for name, value in values.items():
        if name == "data":
            yield from _entries(f"{prefix}data.", value, **common)
            continue
        low, high = RANGES.get(name, (None, None))
        kind = _KINDS.get(name) or kind_of(value, _CHOICES.get(name, ()))
        yield Entry(f"{prefix}{name}", value, kind, low, high, _CHOICES.get(name, ()), **common)
