"""The state of the Large batch page, entry by entry, with the names it has in the address."""

import dataclasses

from lossprism.explorer.core.scenario import TWINS
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.runtime.limits import LARGE_PAIRS
from lossprism.explorer.sources import random_batch
from lossprism.explorer.web.pages.large.request_handlers import KINDS, Source
from lossprism.explorer.web.pages.state_entry_type import Entry, entries, table

_RANGES = {**random_batch.RANGES, "pairs": (2, LARGE_PAIRS)}


def large_table() -> list[Entry]:
    """Another loss, other data or another part of the map are a step of the browser's history;
    what else is chosen is not."""
    step = {"history": True}
    kept = {"affects": "nothing"}
    source = entries(
        Source(),
        prefix="source.",
        ranges=_RANGES,
        choices={"kind": KINDS, "labels": random_batch.LABELS},
        kinds={"columns": "map", "header": "switch", "corrections": "list"},
    )
    found = [
        Entry("loss", "cosent", "choice", choices=tuple(offered()), link="loss"),
        Entry("parameters", {}, "parameters", link="p"),
        Entry("twins", "keep", "choice", choices=TWINS, link="twins"),
        *(_placed(entry) for entry in source),
        Entry("rules.threshold", None, "number", link="threshold"),
        Entry("rules.label_range", None, "list", link="label_range"),
        Entry("window", None, "list", link="window"),
        Entry("cell", None, "list", link="cell"),
    ]
    return table(
        found,
        loss=step,
        source__kind={**step, "link": "source"},
        source__file=step,
        source__link=step,
        source__random__pairs=step,
        source__columns={"link": "c"},
        source__corrections={"link": None},
        source__encoder=step,
        window=step,
        cell=kept,
    )


def _placed(entry: Entry) -> Entry:
    """Return the entry with its name in the address, and the kind of source that it belongs to."""
    short = entry.name.rpartition(".")[2]
    if entry.name.startswith("source.random."):
        kind = "random"
    elif short == "link":
        kind = "explore"
    else:
        return dataclasses.replace(
            entry, link=short, when=None if short == "kind" else ("source.kind", "file")
        )
    return dataclasses.replace(entry, link=short, when=("source.kind", kind))
