"""Requests of the Landscape page."""

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.figure.figure_files import chart_text
from lossprism.explorer.lab.landscape.landscapes_over_lever import (
    COSINE_RANGE,
    Cuts,
    Landscapes,
    cuts,
    landscapes,
)
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import of_type, within
from lossprism.explorer.web.page_requests import served
from lossprism.explorer.web.pages.compare.request_handlers import sides_in
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import scenario_of_link


def _landscapes(request: Json) -> Landscapes:
    """{sides, lever, example, scene: a link of Explore or ""} → the landscapes of the losses at
    each stop of the lever, with the comparisons of the batch."""
    scenario, lever = scenario_of_link(request), _lever_in(request)
    scenarios = [side.applied_to(scenario) for side in sides_in(request)]
    with jobs.heavy_work_turn():
        return landscapes(scenarios, lever, make_batch(scenario.data, scenario.rules))


def _cuts(request: Json) -> Cuts:
    """{sides, lever, negative} → the cuts of the losses through this score of the negative."""
    negative = within(*COSINE_RANGE)(request.get("negative"), "negative")
    scenarios = [side.applied_to(Scenario()) for side in sides_in(request)]
    with jobs.heavy_work_turn():
        return cuts(scenarios, _lever_in(request), negative)


def _lever_in(request: Json) -> str:
    return of_type(str)(request.get("lever", ""), "lever")


SERVED = [served("landscapes", _landscapes), served("cuts", _cuts), served("chart", chart_text)]
