"""Requests of the page of claims."""

from collections.abc import Iterable
from dataclasses import dataclass

from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.figure.figure_files import chart_text
from lossprism.explorer.lab.claims.batches import claim_batch
from lossprism.explorer.lab.claims.claim import Chart, Check, Claim, Sample, Side
from lossprism.explorer.lab.claims.claim_checks_on_test_batches import checks_of, verdicts
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.claims.training_claims import TRAININGS, ended, judged
from lossprism.explorer.lab.claims.verdict import PartVerdict, part_verdicts
from lossprism.explorer.lab.training.run_comparison import Started, start_all
from lossprism.explorer.lab.training.run_control import default_runs
from lossprism.explorer.lab.training.run_file_reader import ENDED, LIVE
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import NAMED_RUNS
from lossprism.explorer.runtime.number_format import Real, json_numbers
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.runtime.validation import of_type, one_of, texts, within
from lossprism.explorer.web.page_requests import JOBS, Nothing, served
from lossprism.explorer.web.pages.claims.state_entries import SCALES


@dataclass(frozen=True)
class NamedNumber:
    """A side of a comparison: its LaTeX and its number as text."""

    latex: str
    text: str


@dataclass(frozen=True)
class ClaimComparison:
    """Both sides of a statement with the relation of their numbers, and whether it holds;
    `asserted` is False where it says nothing, `decided` where the numbers do not tell, `within`
    outside of its condition."""

    part: str
    left: NamedNumber
    relation: str
    right: NamedNumber
    holds: bool
    within: bool
    asserted: bool
    decided: bool


@dataclass(frozen=True)
class ClaimCurve:
    """A curve by the key of its name, or `bars` from 0."""

    name: str
    x: list[Real]
    y: list[Real]
    bars: bool


@dataclass(frozen=True)
class ClaimChart:
    """Curves over one axis; `band` bounds the values of y that the claim asks for."""

    x: str
    y: str
    curves: list[ClaimCurve]
    logarithmic_x: bool
    logarithmic_y: bool
    band: tuple[float, float] | None


@dataclass(frozen=True)
class ClaimResult:
    """A claim on one batch, or on its runs: verdicts by statement, both sides, other numbers, and
    what the runs were judged on."""

    parts: tuple[PartVerdict, ...]
    comparisons: list[ClaimComparison]
    facts: list[NamedNumber]
    chart: ClaimChart | None
    sample: Sample | None


@dataclass(frozen=True)
class ClaimResults:
    """A claim on the source's own numbers and, if it is about batches, on the batch `here`, of
    `pairs` of its `total` pairs. `tried` are the verdicts over all batches that it is tried on;
    `scene` opens the batch on Explore."""

    own: ClaimResult
    here: ClaimResult | None
    tried: tuple[PartVerdict, ...]
    pairs: int
    total: int
    scene: str


@dataclass(frozen=True)
class ListedVerdicts:
    """The verdict on each claim, by its name."""

    verdicts: dict[str, str]


@dataclass(frozen=True)
class FollowedRuns:
    """Runs that measure a claim: how many have ended, of so many; the step of the one under way,
    None while none trains; the problem of one that failed; and the claim, once all have ended."""

    done: int
    count: int
    step: int | None
    steps: int | None
    problem: Problem | None
    found: ClaimResult | None


def _claim_in(request: Json, names: Iterable[str]) -> Claim:
    """Return the claim of the request, one of these names."""
    return claims()[one_of(tuple(names))(request.get("claim"), "claim")]


def _scenario_in(request: Json) -> Scenario:
    link = of_type(str)(request.get("scene") or "", "scene")
    return Scenario.from_link(link) if link else Scenario()


def _row(request: Json) -> ClaimResults:
    """{claim, scale, scene: a link of Explore or ""} → the claim on the source's numbers, and on
    the batch of that scenario."""
    claim = _claim_in(request, claims())
    scale = within(*SCALES)(request.get("scale", 20.0), "scale")
    scenario = _scenario_in(request)
    with jobs.heavy_work_turn():
        own, tried = checks_of(claim.name)[0], verdicts(claim.name)
        here, pairs, total = None, 0, 0
        if claim.needs != "nothing":
            batch = resolve(scenario).batch
            found = claim_batch(batch, scale)
            if claim.needs == "vectors" and found.vectors is None:
                raise Problem("no_vectors")
            pairs, total = len(found), len(batch)
            here = _executed(claim, claim.check(found))
    return ClaimResults(_executed(claim, own), here, tried, pairs, total, scenario.to_link())


def _executed(claim: Claim, check: Check) -> ClaimResult:
    return ClaimResult(
        parts=part_verdicts(claim, [check]),
        comparisons=[
            as_answer(
                ClaimComparison,
                one,
                left=_written(one.left),
                relation=one.found_relation,
                right=_written(one.right),
            )
            for one in check.comparisons
        ],
        facts=[_written(one) for one in check.facts],
        chart=None if check.chart is None else _drawn(check.chart),
        sample=check.sample,
    )


def _written(side: Side) -> NamedNumber:
    return NamedNumber(side.latex, side.written)


def _drawn(chart: Chart) -> ClaimChart:
    curves = [
        ClaimCurve(one.name, json_numbers(list(one.x)), json_numbers(list(one.y)), one.bars)
        for one in chart.curves
    ]
    return as_answer(ClaimChart, chart, curves=curves)


def _verdicts(_request: Json) -> ListedVerdicts:
    """{} → the verdict on each claim itself, over all batches that it is tried on."""
    found = {}
    with jobs.heavy_work_turn():
        for name in claims():
            jobs.check()
            parts = verdicts(name)
            found[name] = parts[0].verdict if parts else "nothing"
    return ListedVerdicts(found)


def _train(request: Json) -> Started:
    """{claim, scene} → the names of the queued runs that measure the claim on that scenario's
    pairs."""
    claim = _claim_in(request, TRAININGS)
    plans = TRAININGS[claim.name].plans(_scenario_in(request), default_runs().remaining_runs())
    return Started(start_all(default_runs(), plans))


def _runs_in(request: Json) -> tuple[str, ...]:
    names = texts(request.get("runs") or (), "runs")
    if not 0 < len(names) <= NAMED_RUNS:
        raise Problem("training_runs_named", most=NAMED_RUNS)
    return tuple(names)


def _follow(request: Json) -> FollowedRuns:
    """{claim, runs} → how far these runs are, and the claim on them once all have ended."""
    claim, names = _claim_in(request, TRAININGS), _runs_in(request)
    runs = default_runs()
    known = [runs.status(name) for name in names]
    live = [one for one in known if one.state in LIVE]
    under_way = next((one for one in live if one.state == "training"), None)
    failed = next((one.problem for one in known if one.problem), None)
    followed = None
    if not live and ended(runs, names):
        with jobs.heavy_work_turn():
            followed = _executed(claim, judged(claim.name, runs, names))
    return FollowedRuns(
        done=sum(one.state in ENDED for one in known),
        count=len(known),
        step=under_way.step if under_way else None,
        steps=under_way.steps if under_way else None,
        problem=failed,
        found=followed,
    )


def _stop(request: Json) -> Nothing:
    """{runs} → stops those that have not ended."""
    runs = default_runs()
    for name in _runs_in(request):
        if runs.status(name).state in LIVE:
            runs.stop(name)
    return Nothing()


SERVED = [
    served("row", _row),
    served("verdicts", _verdicts),
    served("train", _train, keeps=True),
    served("follow", _follow),
    served("stop", _stop),
    served("chart", chart_text),
    *JOBS,
]
