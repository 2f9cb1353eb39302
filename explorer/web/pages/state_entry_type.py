"""The table of a page's state: each entry with its kind, range, choices and place in the address.

The browser keeps the page's state by the table (`kit/state_store.js`), writes it into the address
and the history (`kit/browser_history.js`, `kit/state_link.js`), and takes ranges and defaults of
its fields from it. Tables are made from the dataclasses that read the page's requests, so that each
default and range is stated once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lossprism.explorer.runtime.response_parent_classes import Sparse

Range = tuple[float, float]


Kind = Literal[
    "number", "whole", "text", "choice", "switch", "list", "parameters", "map", "losses", "object"
]


# What a change of the entry asks for: to compute anew, to draw anew, or nothing.
Effect = Literal["compute", "redraw", "nothing"]


@dataclass(frozen=True)
class Entry(Sparse):
    """An entry of a page's state.

    `name` is its path: "data.random.pairs". `low` and `high` bound a number, `choices` a choice.
    `link` is its name in the address, None if it is not there. A change of an entry with `history`
    begins a step of the browser's history. `when` names another entry and the value that it must
    have for this one to count. "parameters" are those of the chosen loss, by name; the `LossSpec`
    has their kinds and ranges. "losses" are several of them with their conventions and parameters,
    from `low` to `high` of them; in an address each is identified by its number.
    """

    name: str
    default: object
    kind: Kind
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    link: str | None = None
    history: bool = False
    affects: Effect = "compute"
    when: tuple[str, str] | None = None


def entries(
    value: Any,
    *,
    prefix: str = "",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    choices: Mapping[str, Iterable[str]] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    **common: Any,
) -> Iterator[Entry]:
    """Return an entry for each field of a dataclass instance, and of those inside it.

    `ranges`, `choices` and `kinds` are by the name of the field; `common` holds for all.
    """
    ranges, choices, kinds = ranges or {}, choices or {}, kinds or {}
    for field in dataclasses.fields(value):
        name = f"{prefix}{field.name}"
        found = default = getattr(value, field.name)
        kind = kinds.get(field.name)
        if dataclasses.is_dataclass(found) and not isinstance(found, type):
            if kind is None:
                tables = {"ranges": ranges, "choices": choices, "kinds": kinds}
                yield from entries(found, prefix=f"{name}.", **tables, **common)
                continue
            default = dataclasses.asdict(found)
        if kind in ("parameters", "map"):
            default = dict(default)
        low, high = ranges.get(field.name, (None, None))
        offered = tuple(choices.get(field.name, ()))
        yield Entry(name, default, kind or kind_of(default, offered), low, high, offered, **common)


def kind_of(default: object, choices: tuple[str, ...] = ()) -> Kind:
    """Return the kind of an entry by its default; a text with only some accepted values is a
    choice."""
    return "choice" if choices else _KIND_OF[type(default)]


_KIND_OF: dict[type, Kind] = {
    bool: "switch",
    int: "whole",
    float: "number",
    str: "text",
    tuple: "list",
    list: "list",
    dict: "object",
}


def table(all_entries: Iterable[Entry], **changes: Mapping[str, Any]) -> list[Entry]:
    """Return the table for the page. `changes`: fields to change by the name of an entry, with "__"
    for a dot."""
    rows = []
    for entry in all_entries:
        changed = changes.pop(entry.name.replace(".", "__"), {})
        rows.append(dataclasses.replace(entry, **changed))
    if changes:
        raise KeyError(f"no entry is called {', '.join(changes)}")
    return rows
