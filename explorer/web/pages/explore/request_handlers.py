"""Requests of the Explore page."""

import base64
import contextlib
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass

from lossprism.explorer.core import own_loss_from_python_file
from lossprism.explorer.core.batch import load_table, make_batch, source_pairs
from lossprism.explorer.core.explore import Exploration, explore, seconds_for
from lossprism.explorer.core.label_disagreement import contradictions
from lossprism.explorer.core.models_of_scenario import has_words
from lossprism.explorer.core.remarks import Statistics, statistics
from lossprism.explorer.core.resolved_scenario import registered, resolve
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.code import KINDS, Code, packed
from lossprism.explorer.export.csv import (
    corrected_csv,
    corrections_csv,
    matrix_csv,
    pairs_csv,
    suspects_csv,
    terms_csv,
)
from lossprism.explorer.export.exploration_and_slider_stop_in_worker import (
    Explored,
    explored_scenario,
)
from lossprism.explorer.export.figure.appearance import look_in
from lossprism.explorer.export.figure.figure_files import chart_text, figure_text
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.interactive_figure import interactive_figure
from lossprism.explorer.lab.parameter_sweep import POINTS, sweep
from lossprism.explorer.lab.saved_training_batches import newer_batch
from lossprism.explorer.lab.training.parameter_trial_plans import (
    MIN_RUNS,
    Offer,
    offer_of,
    trials,
)
from lossprism.explorer.lab.training.run_comparison import Started, start_all
from lossprism.explorer.lab.training.run_control import default_runs
from lossprism.explorer.lab.variation_over_batches import (
    BATCH_COUNT,
    batches_of_file,
    over_batches,
    random_batches,
)
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.downloads import Text
from lossprism.explorer.runtime.limits import SWEPT_CELLS, SWEPT_PAIRS
from lossprism.explorer.runtime.number_format import Real, json_numbers
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.runtime.validation import invalid_value, of_type, one_of
from lossprism.explorer.sources.encoders import locate
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.web.middleware.host_and_origin_of_request import host_is_this_computer
from lossprism.explorer.web.page_requests import JOBS, served
from lossprism.explorer.web.pages.explore.exploration_worker import work_in_turn
from lossprism.explorer.web.pages.explore.loss_facts import SERVED_LOSS, Loss, describe_loss
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import (
    OpenedScenario,
    SendRows,
    Unexplored,
    batch_key,
    held_rows,
    scenario_in,
    scenario_link,
    skipped_rows,
)
from lossprism.explorer.web.pages.explore.slider_preview import slider_preview
from lossprism.explorer.web.pages.explore.uploaded_file_batches import read_file, whole_file
from lossprism.losses import LOSSES


@dataclass(frozen=True)
class LoadedOwnFile:
    """The file of a loss of the user's own as it was read last, `read_at` seconds since 1970."""

    file: str
    digest: str
    read_at: float
    loss: Loss


@dataclass(frozen=True)
class OwnLossFile:
    """The file, and why the loss in it cannot be used."""

    own: LoadedOwnFile
    problem: Problem | None


@dataclass(frozen=True)
class OwnFileText:
    """The text of a file to be edited; the digest names the content."""

    text: str
    digest: str


@dataclass(frozen=True)
class OwnFileWritten:
    """The digest of what stands in the file now."""

    digest: str


@dataclass(frozen=True)
class NewerBatch:
    """The newest batch that a training wrote: its step, and the link of its scenario."""

    step: int
    scene: str


@dataclass(frozen=True)
class Swept:
    """The loss, its gradient and its active terms along the range of one parameter."""

    parameter: str
    logarithmic: bool
    values: tuple[float, ...]
    loss: list[Real]
    gradient: list[Real]
    active: list[Real] | None
    advised: tuple[float, float] | None
    within: tuple[tuple[float, float], ...] | None
    trials: Offer | None


@dataclass(frozen=True)
class Opinion:
    """Another model's view of a batch: the label that would fit each pair's place, [N]."""

    fitting: list[float]


@dataclass(frozen=True)
class FiguresOverBatches:
    """The figures of the strip over many batches: of each its name and a value for each batch."""

    figures: dict[str, list[Real]]


def _explore(request: Json) -> Explored | Unexplored | SendRows:
    """{scenario, known: key of the batch the page has, rows?: name of its rows} → the picture, and
    the batch where the page has another."""
    scenario = scenario_in(request)
    if scenario is None:
        return SendRows()
    rows, key = held_rows(request, scenario), batch_key(scenario.data, scenario.rules)
    # What does not change while a slider moves is sent once for each batch.
    is_new = request.get("known") != key
    try:
        explored = work_in_turn(explored_scenario, resolve(scenario), key, key if is_new else "")
    except Problem as problem:
        return Unexplored(rows=rows, error=problem, skipped=skipped_rows(scenario))
    if not is_new:
        return dataclasses.replace(explored, rows=rows)
    typed = scenario.data.source == "table"
    limited = typed and load_table(scenario.data.rows).limited
    return dataclasses.replace(explored, rows=rows, skipped=skipped_rows(scenario), limited=limited)


def _own(name: str) -> OwnLossFile:
    """The name of a loss of one's own → what its file holds now, read again if it changed, and why
    it cannot be used."""
    own = own_loss_from_python_file.own_loss(name)
    if own is None:
        raise invalid_value("name", name)
    with contextlib.suppress(Problem):  # reported below
        own_loss_from_python_file.reload_if_changed(name)
    file = LoadedOwnFile(own.path.name, own.digest, own.read_at, describe_loss(LOSSES[name]))
    return OwnLossFile(file, own.problem)


def _check_host() -> None:
    """Refuse the editor to a page that reached this computer by a name that is not its own."""
    if not host_is_this_computer():
        raise Problem("own_loss_not_here", about="loss")


def _own_text(name: str) -> OwnFileText:
    """The name of a loss of one's own → its file as it stands."""
    _check_host()
    _, text, digest = own_loss_from_python_file.read_text(name)
    return OwnFileText(text, digest)


def _own_write(request: Json) -> OwnFileWritten:
    """{name, text, digest: of the text that was changed} → the digest of what stands there now."""
    if not isinstance(request.get("text"), str):
        raise invalid_value("text", request.get("text"))
    _check_host()
    name = str(request.get("name"))
    own_loss_from_python_file.write(name, request["text"], str(request.get("digest")))
    return OwnFileWritten(own_loss_from_python_file.read_text(name)[2])


def _newer_batch(request: Json) -> NewerBatch | None:
    """{name: of a saved batch} → the newest one of its training, null where that is it."""
    if not deployment_policy().reads_local_paths:
        raise Problem("kept_hosted")
    newer = newer_batch(of_type(str)(request.get("name"), "name"))
    return None if newer is None else NewerBatch(newer.batch.step, newer.scenario.to_link())


def _statistics(request: Json) -> Statistics:
    """The scenario → correlation and Kolmogorov–Smirnov test of its batch, on demand."""
    scenario = Scenario.from_json(request)
    return statistics(make_batch(scenario.data, scenario.rules))


def _spread(request: Json) -> FiguresOverBatches:
    """{scenario, file?, columns?, header?, encoding?} → each figure of the strip over many batches
    like the scenario's: of a file drawn the same way, random ones of the next seeds."""
    scenario = Scenario.from_json(request.get("scenario"))
    with jobs.heavy_work_turn():
        figures = over_batches(scenario, _batches(scenario.data, request))
    return FiguresOverBatches({name: json_numbers(values) for name, values in figures.items()})


def _batches(data: Data, request: Json) -> list[Pairs]:
    if data.source == "random":
        return random_batches(data)
    pairs = whole_file(request, data)
    if pairs is None or not data.reading.draw.size:
        raise Problem("no_batches")
    return batches_of_file(pairs, data.reading.draw, BATCH_COUNT)


def _sweep(request: Json) -> Swept:
    """{scenario, parameter} → the curves of one parameter, on demand."""
    scenario = Scenario.from_json(request.get("scenario"))
    batch = make_batch(scenario.data, scenario.rules)
    points = POINTS if len(batch) <= SWEPT_PAIRS else POINTS // 2 + 1
    with jobs.heavy_work_turn_if(points * len(batch) ** 2 > SWEPT_CELLS):
        swept = sweep(scenario, str(request.get("parameter", "")), batch=batch, points=points)
    words = has_words(scenario.data)
    tried = offer_of(scenario, swept.parameter, default_runs().remaining_runs()) if words else None
    curves = {name: getattr(swept, name) for name in ("loss", "gradient", "active")}
    drawn = {name: curve and json_numbers(list(curve)) for name, curve in curves.items()}
    return as_answer(Swept, swept, trials=tried, **drawn)


def _trials(request: Json) -> Started:
    """{scenario, parameter, file?, columns?, header?, encoding?} → the names of the runs that were
    queued to try several values, on all pairs of the file where one is named."""
    scenario = Scenario.from_json(request.get("scenario"))
    whole, room = whole_file(request, scenario.data), default_runs().remaining_runs(MIN_RUNS)
    plans = trials(scenario, str(request.get("parameter", "")), room, whole)
    return Started(start_all(default_runs(), plans))


def _second_opinion(request: Json) -> Opinion:
    """{scenario, model} → the label that would fit each pair's place by another model's scores."""
    scenario, name = Scenario.from_json(request.get("scenario")), str(request.get("model")).strip()
    crosses = locate(name).scores_pairs
    models = {"cross_encoder": name} if crosses else {"encoder": name, "cross_encoder": ""}
    batch = make_batch(dataclasses.replace(scenario.data, **models), scenario.rules)
    contradicted = contradictions(batch.plain_labels, batch.plain_scores)
    return Opinion(contradicted.fitting.tolist())


def _open_link(text: str) -> OpenedScenario:
    """The scenario in a link, or in the text of a scenario file."""
    is_file = text.lstrip("\ufeff \t\r\n").startswith("{")
    scenario = Scenario.from_text(text) if is_file else Scenario.from_link(text)
    registered(scenario)  # a page has no formula and no parameters of a loss that there is not
    return OpenedScenario(scenario.sent())


def _take(request: Json) -> Text:
    """{what, scenario, language, dark} → a file's name, type and text; a ZIP as base64. A figure
    also takes {palette, size, picture_only, format}; what is of all pairs and not of a batch takes
    {file, columns, header, encoding} of their file."""
    what = one_of((*OF_ALL_PAIRS, *PICTURES, *TAKEAWAYS))(request.get("what"), "what")
    scenario = Scenario.from_json(request.get("scenario"))
    if what in OF_ALL_PAIRS:
        ending, make_of = OF_ALL_PAIRS[what]
        source = whole_file(request, scenario.data) or source_pairs(scenario.data)
        text = make_of(source, scenario.data.corrections)
        return Text(f"lossprism{ending}", "text/csv", text)
    look, name = look_in(request), f"lossprism-{scenario.loss}"
    resolved = resolve(scenario)
    with jobs.light_work_turn(
        2 * seconds_for(len(resolved.batch))
    ):  # to explore it, and to draw it
        if what in PICTURES:
            ending, draw = PICTURES[what]
            return figure_text(f"{name}{ending}", draw(explore(resolved), **look), request)
        ending, kind, make = TAKEAWAYS[what]
        text = make(explore(resolved), look.get("language"), look.get("dark"))
    return Text(f"{name}{ending}", kind, text)


def _code(kind: str) -> Callable[..., str]:
    def make(exploration: Exploration, *_: object) -> str:
        code: Code | None = KINDS[kind](exploration)
        return code.text if code else ""

    return make


def _packed(kind: str) -> Callable[..., str]:
    return lambda e, *_: base64.b64encode(packed(e, kind)).decode()


# What is taken of all pairs, by name: how its file ends, and what makes it.
OF_ALL_PAIRS = {
    "corrected_csv": ("-corrected.csv", corrected_csv),
    "changes_csv": ("-corrections.csv", corrections_csv),
}
PICTURES = {"matrix_svg": ("-matrix", matrix_figure), "bars_svg": ("-gradient", bars_figure)}
# What else can be taken away: how its file ends, its type, and what makes it.
TAKEAWAYS = {
    "matrix_html": (
        "-matrix.html",
        "text/html",
        lambda e, language, dark: interactive_figure(e, language=language, dark=dark),
    ),
    "matrix_csv": ("-matrix.csv", "text/csv", lambda e, *_: matrix_csv(e)),
    "terms_csv": ("-terms.csv", "text/csv", lambda e, *_: terms_csv(e)),
    "suspects_csv": ("-suspects.csv", "text/csv", lambda e, *_: suspects_csv(e)),
    "pairs_csv": ("-pairs.csv", "text/csv", lambda e, *_: pairs_csv(e)),
    **{f"code_{kind}": (".py", "text/x-python", _code(kind)) for kind in KINDS},
    **{f"code_{kind}_zip": ("-code.zip", "application/zip", _packed(kind)) for kind in KINDS},
    "scenario_json": (
        ".json",
        "application/json",
        lambda e, *_: json.dumps(e.scenario.shown().to_json(), ensure_ascii=False, indent=1),
    ),
}


TAKE = served("take", _take)
SERVED = [
    served("explore", _explore),
    served("read_file", read_file, keeps=True),
    served("link", scenario_link),
    served("open_link", _open_link, takes=str),
    served("own", _own, takes=str),
    served("own_text", _own_text, takes=str),
    served("own_write", _own_write),
    served("newer_batch", _newer_batch),
    served("statistics", _statistics),
    served("spread", _spread),
    served("slider_preview", slider_preview),
    served("sweep", _sweep),
    served("trials", _trials, keeps=True),
    served("second_opinion", _second_opinion),
    TAKE,
    served("chart", chart_text),
    SERVED_LOSS,
    *JOBS,
]
