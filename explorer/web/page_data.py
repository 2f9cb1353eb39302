"""The data that a page has when it opens: facts for every page, and the table of its state.

The facts of one page stand in its `initial_page_data.py`. The browser keeps the page's state by the
table (`kit/state_store.js`), writes it into the address and the history (`kit/browser_history.js`,
`kit/state_link.js`), and takes ranges and defaults of its fields from it. Tables are made from the
dataclasses that read the page's requests, so that each default and range is stated once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lossprism.explorer.core.scenario import SentScenario
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.response_field_types import Setting, Sparse
from lossprism.explorer.web.pages.explore.loss_facts import Loss

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


@dataclass(frozen=True)
class PageLink:
    """Path of a page, and its key in the catalogue."""

    path: str
    key: str


@dataclass(frozen=True)
class Limits:
    """Limits of Explore: pairs, bytes of a file, letters of a link, settings of a random batch."""

    pairs: int
    bytes: int
    encoder: str
    plain_encoders: list[str]
    random: dict[str, Range]
    link: int


@dataclass(frozen=True)
class Hosted:
    """A page that strangers share: its Space, "" for none, and how many hours it keeps things."""

    space: str
    uploads: float
    runs: float

    @classmethod
    def read(cls) -> Hosted | None:
        """Return the facts about this process, None on the user's own machine."""
        policy = deployment_policy()
        if not policy.separates_visitors:
            return None
        return cls(policy.space, uploads=budget("upload_hours"), runs=budget("run_hours"))


@dataclass(frozen=True)
class RelatedClass:
    """A class of a library that is no loss here, by its names: `key` is the sentence that says why,
    `loss` what to look at in its place; `shared`: a loss that is here is called so, too."""

    names: list[str]
    loss: str
    key: str
    shared: bool


@dataclass(frozen=True)
class ChosenLoss:
    """A loss with its convention and what differs from its defaults."""

    loss: str
    convention: str
    parameters: dict[str, Setting]


@dataclass(frozen=True)
class Example:
    """A textbook example."""

    note: str | None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts for every page; `counts` names the values that are grouped by thousands, `scenario` is
    the table of Explore's state, `defaults` its first values, `examples_in` the examples that open
    in place of others, by language; `hosted` is null at home; `version`
    is that of LossPrism. `groups` are those of losses, in order; `paired` the axes whose places are
    pairs, `by_pair` those named by a pair. `names` are the other names of losses, each with the
    loss and a convention, "" for ours."""

    version: str
    pages: list[PageLink]
    hosted: Hosted | None
    counts: list[str]
    losses: dict[str, Loss]
    groups: list[str]
    paired: list[str]
    by_pair: list[str]
    names: list[tuple[str, str, str]]
    related_classes: list[RelatedClass]
    defaults: SentScenario
    examples_in: dict[str, dict[str, str]]
    scenario: list[Entry]
    limits: Limits
