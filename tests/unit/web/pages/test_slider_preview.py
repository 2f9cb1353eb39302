"""The range of a lever: the cells of each stop are within half a step of a byte of the answer's."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from lossprism.explorer.core.parameter_values import as_typed
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import MIN_STOPS, RANGE_CELLS, STOPS
from lossprism.explorer.web.pages.explore.request_handlers import SERVED
from lossprism.losses import LOSSES
from tests.wire import by_name

SERVER = by_name(SERVED)


def scenario_of(loss: str, facet: str = "value", pairs: int = 9) -> dict:
    data = {"source": "random", "random": {"pairs": pairs}}
    return {"loss": loss, "data": data, "view": {"facet": facet}}


def stops_of(scenario: dict, parameter: str) -> list[dict]:
    return SERVER["slider_preview"]({"scenario": scenario, "parameter": parameter})["stops"]


def cells_of(stop: dict, facet: str) -> np.ndarray:
    cells = stop["cells"]
    codes = np.frombuffer(base64.b64decode(cells["data"]), np.uint8)
    found = cells["low"] + codes * ((cells["high"] - cells["low"]) / 253 or 1)
    found = np.where(codes == 254, np.nan, np.where(codes == 255, -np.inf, found))
    return found**3 if facet == "weight" else found


def exact_of(scenario: dict, parameter: str, value: float) -> dict:
    at = {**scenario, "parameters": {parameter: value}}
    return SERVER["explore"]({"scenario": at, "known": ""})["picture"]


@pytest.mark.parametrize("facet", ["value", "mask", "weight", "gradient"])
@pytest.mark.parametrize(
    ("loss", "parameter"),
    [
        ("cosent", "scale"),
        ("info_nce", "temperature"),
        ("triplet", "margin"),
        ("supcon", "temperature"),
    ],
)
def test_a_stop_has_the_cells_of_the_answer_at_its_value(loss, parameter, facet):
    scenario = scenario_of(loss, facet)
    stops = stops_of(scenario, parameter)
    assert len(stops) > 50
    for stop in stops[:: len(stops) // 4]:
        exact = exact_of(scenario, parameter, stop["value"])
        shown = exact["shown"]
        has = facet if shown[facet] else "value"
        kind = np.uint8 if has == "mask" else "<f4"
        wanted = np.frombuffer(base64.b64decode(shown[has]), kind).astype(float)
        found = cells_of(stop, has)
        assert (stop["cells"]["rows"], stop["cells"]["columns"]) == (
            shown["rows"],
            shown["columns"],
        )
        assert (np.isneginf(found) == np.isneginf(wanted)).all()
        finite = np.isfinite(wanted)
        if has == "weight":  # coloured by their cube roots
            found, wanted = np.cbrt(found), np.cbrt(wanted)
        half = (stop["cells"]["high"] - stop["cells"]["low"]) / 253 / 2
        assert np.abs(found[finite] - wanted[finite]).max() <= half * 1.01 + 1e-6
        assert stop["mask"] == (shown["mask"] if shown["hatched"] else None)


def test_the_stops_go_from_end_to_end_in_the_slider_s_numbers():
    (scale,) = (one for one in LOSSES["cosent"].parameters if one.name == "scale")
    values = [stop["value"] for stop in stops_of(scenario_of("cosent"), "scale")]
    assert len(values) == STOPS
    assert (values[0], values[-1]) == (scale.minimum, scale.maximum)
    assert values == sorted({float(f"{value:.3g}") for value in values})


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "triplet", "supcon", "circle", "angle"])
def test_an_answer_names_the_value_that_was_asked_for(loss):
    # By that the page knows that its picture is of the value where the slider stands.
    for parameter in LOSSES[loss].parameters:
        if parameter.kind != "number":
            continue
        value = as_typed(0.7 * parameter.minimum + 0.3 * parameter.maximum, parameter)
        picture = exact_of(scenario_of(loss), parameter.name, value)
        assert picture["parameters"][parameter.name] == value


def test_a_range_is_limited_by_its_cells_and_each_stop_takes_its_turn(monkeypatch):
    taken, in_order = [], jobs.light_work_turn
    monkeypatch.setattr(jobs, "light_work_turn", lambda *of: taken.append(of) or in_order(*of))
    assert (
        len(stops_of(scenario_of("cosent", pairs=160), "scale"))
        == RANGE_CELLS // 160**2
        >= MIN_STOPS
    )
    assert len(taken) == RANGE_CELLS // 160**2
    taken.clear()
    assert stops_of(scenario_of("cosent", pairs=400), "scale") == []
    assert len(taken) == 1


def test_a_range_of_no_parameter_is_refused():
    answer = SERVER["slider_preview"]({"scenario": scenario_of("cosent"), "parameter": "margin"})
    assert answer["error"]["key"] == "problem.unknown_parameter"
