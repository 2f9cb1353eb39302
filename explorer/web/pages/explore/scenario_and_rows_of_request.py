"""The scenario in a request: its rows, which are sent once and then named, and facts about its
batch."""

import dataclasses
import functools
import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.batch import load_table
from lossprism.explorer.core.scenario import Data, Rules, Scenario, SentScenario
from lossprism.explorer.runtime.cache_folder import digest
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.limits import KEPT_BATCHES, TABLES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.runtime.validation import of_type, one_of
from lossprism.explorer.sources.guide_vectors_in_base64 import EncodedVector
from lossprism.explorer.sources.pairs_from_tables import SkippedRow
from lossprism.explorer.sources.textbook import EXAMPLES

# The rows, and a guide's vectors of their sentences.
Rows = tuple[tuple[tuple[str, str, str], ...], tuple[EncodedVector, ...]]

# The rows of the last questions by the digest of what is in them: a page sends its rows once and
# then names them, so that a moving slider does not carry ten thousand rows with every question.
# What is no longer held is asked for again.
_tables: Cache[Rows] = Cache(TABLES)


@dataclass(frozen=True)
class SendRows:
    """The rows of that name are not cached: send them again."""

    send_rows: Literal[True] = True


@dataclass(frozen=True, kw_only=True)
class Unexplored(Sparse):
    """A scenario that cannot be explored or compared, and its unusable rows."""

    rows: str | None = None
    error: Problem
    skipped: tuple[SkippedRow, ...]


@dataclass(frozen=True)
class Link:
    """The scenario as the end of an address."""

    link: str


@dataclass(frozen=True)
class OpenedScenario:
    """The scenario of a link or of a scenario file."""

    scenario: SentScenario


def scenario_of_link(request: Json) -> Scenario:
    """Return the scenario of the link `scene`, or else of the textbook `example`."""
    link = of_type(str)(request.get("scene", ""), "scene")
    if link:
        return Scenario.from_link(link)
    return Scenario(data=Data(example=one_of(tuple(EXAMPLES))(request.get("example"), "example")))


def scenario_in(request: Json) -> Scenario | None:
    """Return the scenario of {scenario, rows?: name of its rows}; None if rows of that name are not
    cached, and have to be sent. Raises Problem if it is invalid."""
    scenario = Scenario.from_json(request.get("scenario"))
    if "rows" not in request:
        return scenario
    cached = _tables.get((visitor(), str(request["rows"])))
    if cached is None:
        return None
    rows, guided = cached
    data = dataclasses.replace(scenario.data, rows=rows, guided=guided)
    return dataclasses.replace(scenario, data=data)


def held_rows(request: Json, scenario: Scenario) -> str | None:
    """Cache rows that came with the request, with a guide's vectors of their sentences; return
    their name, None without any."""
    rows, guided = scenario.data.rows, scenario.data.guided
    if not rows or "rows" in request:
        return None
    name = digest(cell for row in (*rows, *guided) for cell in row)
    _tables.put((visitor(), name), (rows, guided))
    return name


def scenario_link(request: Json) -> Link:
    """Return the text of the scenario's link, by which Explore opens it."""
    return Link(Scenario.from_json(request).shown().to_link())


@functools.lru_cache(maxsize=KEPT_BATCHES)
def batch_key(data: Data, rules: Rules) -> str:
    """Return a name that identifies data and rules."""
    text = json.dumps([dataclasses.asdict(data), dataclasses.asdict(rules)], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def skipped_rows(scenario: Scenario) -> tuple[SkippedRow, ...]:
    """Return the typed rows that cannot be used, each with the reason."""
    if scenario.data.source != "table":
        return ()
    return load_table(scenario.data.rows).skipped
