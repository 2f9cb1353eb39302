"""Requests of the Map page."""

import dataclasses
from dataclasses import dataclass

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.export.figure.figure_files import chart_text
from lossprism.explorer.lab.map.projections import METHODS
from lossprism.explorer.lab.map.sentence_map import (
    SentenceMap,
    cell_of_pairs,
    map_of_large_batch,
    map_of_run,
    map_of_scenario,
)
from lossprism.explorer.lab.training.run_control import default_runs
from lossprism.explorer.lab.training.run_file_reader import ENDED
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.jobs import result_within
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.response_field_types import Floats, Json
from lossprism.explorer.runtime.validation import integer, invalid_value, of_type, one_of, within
from lossprism.explorer.web.page_requests import JOBS, served
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import scenario_of_link
from lossprism.explorer.web.pages.large.request_handlers import read_query, start_opening
from lossprism.explorer.web.pages.sentence_map.state_entries import SEEDS

MAX_LISTED_RUNS = 50
SHOWN_LETTERS = 60  # of a request that cannot be read


@dataclass(frozen=True)
class MapFrame:
    """Points [S, 2], and the gradient of each pair [N]."""

    points: Floats
    gradient: Floats


@dataclass(frozen=True)
class MapAnswer:
    """A map: one frame of a batch, or those before and after a run, at these `steps`. A pair joins
    the sentences `first` and `second`. `shares` of the variance along both axes, or the
    `trustworthiness`; `changed` is by sentence, of so many `neighbours`, and empty for a batch."""

    sentences: list[str]
    first: list[int]
    second: list[int]
    frames: list[MapFrame]
    steps: list[int]
    shares: list[float]
    trustworthiness: float | None
    changed: list[int]
    neighbours: int


@dataclass(frozen=True)
class MapRun:
    """An ended run by its name and loss."""

    id: str
    loss: str


@dataclass(frozen=True)
class MapRuns:
    """Ended runs of this visitor, the newest first."""

    runs: list[MapRun]


@dataclass(frozen=True)
class PairsOnExplore:
    """The link of a scenario of Explore in which pairs are marked and their heaviest cell is
    pinned."""

    scene: str


def _map(request: Json) -> MapAnswer:
    """{example, scene: a link of Explore or "", run: a name or "", large: what the Large page asks
    for, as JSON, or "", method, seed} → the map."""
    method = one_of(METHODS)(request.get("method"), "method")
    seed = within(*SEEDS)(request.get("seed", 0), "seed")
    run = of_type(str)(request.get("run", ""), "run")
    if large := of_type(str)(request.get("large", ""), "large"):
        session = result_within(lambda: start_opening(read_query(_parsed(large))), jobs.step)
        with jobs.heavy_work_turn():
            return _answer(map_of_large_batch(session, method, seed))
    scenario = None if run else scenario_of_link(request)
    with jobs.heavy_work_turn():
        if scenario is None:
            return _answer(map_of_run(default_runs(), run, method, seed))
        return _answer(map_of_scenario(scenario, method, seed))


def _parsed(large: str) -> Json:
    try:
        return of_type(dict)(read_json(large), "large")
    except ValueError:
        raise invalid_value("large", large[:SHOWN_LETTERS]) from None


def _answer(sentence_map: SentenceMap) -> MapAnswer:
    projection = sentence_map.projection
    return MapAnswer(
        sentences=list(sentence_map.sentences),
        first=sentence_map.first.tolist(),
        second=sentence_map.second.tolist(),
        frames=[MapFrame(packed(one.points), packed(one.gradient)) for one in sentence_map.frames],
        steps=list(sentence_map.steps),
        shares=list(projection.shares or ()),
        trustworthiness=projection.trustworthiness,
        changed=[] if sentence_map.changed is None else sentence_map.changed.tolist(),
        neighbours=sentence_map.neighbours,
    )


def _runs(_request: Json) -> MapRuns:
    """{} → the ended runs of bi-encoders."""
    ended = [one for one in default_runs().listed() if one.state in ENDED and one.kind == "bi"]
    return MapRuns([MapRun(one.id, one.loss) for one in ended[:MAX_LISTED_RUNS]])


def _on_explore(request: Json) -> PairsOnExplore:
    """{example, scene, pairs} → that scenario on Explore, with these pairs marked and their
    heaviest cell pinned."""
    scenario = scenario_of_link(request)
    pairs = [integer(one, "pairs") for one in of_type(list)(request.get("pairs"), "pairs")]
    with jobs.heavy_work_turn():
        found = explore(resolve(scenario))
        if unknown := [one for one in pairs if not 0 <= one < len(found.batch)]:
            raise invalid_value("pairs", unknown[0])
        view = dataclasses.replace(
            scenario.view, step=None, pinned=cell_of_pairs(found, pairs), marked=tuple(pairs)
        )
    return PairsOnExplore(dataclasses.replace(scenario, view=view).to_link())


SERVED = [
    served("map", _map),
    served("runs", _runs),
    served("on_explore", _on_explore),
    served("chart", chart_text),
    *JOBS,
]
