"""The whole range of a lever in one answer, for a page that waits long for each."""

from dataclasses import dataclass

from lossprism.explorer.core.parameter_values import as_typed, chosen_numeric, spread
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.export.drawing_data_types import LeverStop
from lossprism.explorer.export.exploration_and_slider_stop_in_worker import stop_of_scenario
from lossprism.explorer.runtime.limits import MIN_STOPS, RANGE_CELLS, STOPS
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.web.pages.explore.exploration_worker import work_in_turn
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import (
    SendRows,
    batch_key,
    scenario_in,
)


@dataclass(frozen=True)
class SliderPreview:
    """The stops of a lever, by value; none if the matrix is too large to send so often."""

    stops: list[LeverStop]


def slider_preview(request: Json) -> SliderPreview | SendRows:
    """{scenario, parameter, rows?: name of its rows} → what is drawn while the lever moves, at
    several values over its range. Each takes its turn and its time as a question of its own."""
    scenario = scenario_in(request)
    if scenario is None:
        return SendRows()
    resolved, name = resolve(scenario), batch_key(scenario.data, scenario.rules)
    parameter = chosen_numeric(resolved.spec, str(request.get("parameter", "")))

    def stop(value: float) -> LeverStop:
        at = resolved.at(**{parameter.name: value})
        return work_in_turn(stop_of_scenario, at, name, parameter.name)

    least = stop(parameter.minimum)
    points = min(STOPS, RANGE_CELLS // max(1, least.cells.rows * least.cells.columns))
    if points < MIN_STOPS:
        return SliderPreview([])
    values = {as_typed(value, parameter) for value in spread(parameter, points)}
    return SliderPreview([least, *(stop(value) for value in sorted(values - {least.value}))])
