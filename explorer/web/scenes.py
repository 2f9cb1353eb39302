"""The scene in a request: its rows, which travel once and then go by a name, and what is told of
its batch."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from explorer.core.batch import load_table
from explorer.core.scenario import Data, Rules, Scenario, SentScenario
from explorer.runtime.cache import Cache, digest
from explorer.runtime.limits import KEPT_BATCHES, TABLES
from explorer.runtime.problem import Problem
from explorer.runtime.visitors import visitor
from explorer.runtime.wire import Json, Sparse
from explorer.sources.guides import Guided
from explorer.sources.tables import SkippedRow

# The rows, and a guide's vectors of their sentences.
Rows = tuple[tuple[tuple[str, str, str], ...], tuple[Guided, ...]]

# The rows of the last questions by the digest of what is in them: a page sends its rows once and
# then names them, so that a moving slider does not carry ten thousand rows with every question.
# What is no longer held is asked for again.
_tables: Cache[Rows] = Cache(TABLES)


@dataclass(frozen=True)
class SendRows:
    """The rows of that name are not held: they are to be sent again."""

    send_rows: Literal[True] = True


@dataclass(frozen=True, kw_only=True)
class Unexplored(Sparse):
    """A scene that cannot be explored or compared, and which of its rows cannot be used."""

    rows: str | None = None
    error: Problem
    skipped: tuple[SkippedRow, ...]


@dataclass(frozen=True)
class Link:
    """The scene as the end of an address."""

    link: str


@dataclass(frozen=True)
class OpenedScene:
    """The scene of a link or of a scene file."""

    scenario: SentScenario


def scene_in(request: Json) -> Scenario | None:
    """The scene of {scenario, rows?: name of its rows}; None where rows of that name are not held,
    and have to be sent. Raises Problem for what is no scene."""
    scenario = Scenario.from_json(request.get("scenario"))
    if "rows" not in request:
        return scenario
    held = _tables.get((visitor(), str(request["rows"])))
    if held is None:
        return None
    rows, guided = held
    data = dataclasses.replace(scenario.data, rows=rows, guided=guided)
    return dataclasses.replace(scenario, data=data)


def held_rows(request: Json, scenario: Scenario) -> str | None:
    """The name by which rows that came with the request are known from now on, with the vectors
    that a guide gave their sentences; None where none came."""
    rows, guided = scenario.data.rows, scenario.data.guided
    if not rows or "rows" in request:
        return None
    name = digest(cell for row in (*rows, *guided) for cell in row)
    _tables.put((visitor(), name), (rows, guided))
    return name


def scene_link(request: Json) -> Link:
    """The scene → the text of its link, by which Explore opens it."""
    return Link(Scenario.from_json(request).shown().to_link())


@functools.lru_cache(maxsize=KEPT_BATCHES)
def batch_key(data: Data, rules: Rules) -> str:
    """A name that no other data or rules have."""
    text = json.dumps([dataclasses.asdict(data), dataclasses.asdict(rules)], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def skipped_rows(scenario: Scenario) -> tuple[SkippedRow, ...]:
    """The rows that were typed and cannot be used, each with why."""
    if scenario.data.source != "table":
        return ()
    return load_table(scenario.data.rows).skipped
