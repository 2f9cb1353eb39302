"""What the sphere asks for: films, as the page reads them."""

from __future__ import annotations

import base64
import time

import numpy as np
import pytest

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.sphere.film import MAX_MOVES
from lossprism.explorer.lab.sphere.presets import PRESETS
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.web.pages.sphere import request_handlers
from lossprism.explorer.web.pages.sphere.initial_page_data import page_data
from lossprism.explorer.web.pages.sphere.state_entries import sphere_table
from tests.unit.lab.sphere.films import films_of

ASK = {function.__name__: function for function in request_handlers.SERVED}
SMALL = {"points": 8, "classes": 2}


def request_film(sides=({"loss": "cosent"},), start=SMALL, **steps):
    return ASK["film"]({"sides": list(sides), "start": start, "steps": {"count": 20, **steps}})


def numbers(text: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(*shape)


@pytest.mark.parametrize("at", range(len(PRESETS)), ids=[one.name for one in PRESETS])
def test_a_preset_of_the_page_is_its_film(at: int) -> None:
    sent = plain(page_data().presets)[at]
    answer = ASK["film"]({name: sent[name] for name in ("sides", "start", "steps")})
    points, films = films_of(sent["name"])
    assert len(answer.films) == len(films)
    assert answer.names == list(points.batch.pairs.sentences)
    for one, found in zip(answer.films, films, strict=True):
        frames = numbers(one.points, *found.frames.shape)
        assert np.allclose(frames, found.frames.numpy(), atol=1e-6)
        assert np.allclose(numbers(one.curves["loss"], -1), found.loss.numpy(), rtol=1e-5)
    assert answer.frames == len(found.frames)


def test_the_state_begins_with_the_first_preset() -> None:
    state = {entry["name"]: entry["default"] for entry in plain(sphere_table())}
    first = plain(page_data().presets)[0]
    assert state["sides"] == first["sides"]
    for part in ("start", "steps"):
        by_name = {name: one for name, one in state.items() if name.startswith(f"{part}.")}
        assert {name.split(".")[1]: one for name, one in by_name.items()} == first[part]


def test_a_loss_that_cannot_be_filmed_leaves_the_other_one() -> None:
    both = request_film(({"loss": "gist"}, {"loss": "triplet"}))
    assert both.films[0].problem.key == "problem.sphere_guide"
    assert both.films[0].points is None
    assert both.films[1].problem is None
    assert numbers(both.films[1].points, 21, 8, 2).shape == (21, 8, 2)


def test_a_moved_point_is_sent_where_it_was_put() -> None:
    frames = numbers(request_film(moves=[5, 2, 900, 900]).films[0].points, 21, 8, 2)
    assert frames[5, 2] == pytest.approx([0, 1], abs=1e-6)
    assert frames[4, 2] != pytest.approx([0, 1], abs=1e-2)


def test_how_much_of_the_sentences_is_seen_is_sent() -> None:
    link = Scenario(data=Data(source="example", example="twins")).to_link()
    found = request_film(start={"kind": "sentences", "scene": link, "dimension": 3})
    assert 0 < found.variance_share < 1
    assert found.left_out == 0
    assert request_film().variance_share is None


@pytest.mark.parametrize(
    ("start", "steps"),
    [
        ({"points": 5}, {}),
        ({"points": 65}, {}),
        ({"dimension": 4}, {}),
        ({"kind": "cube"}, {}),
        ({"colour": 1}, {}),
        ({"spread": float("nan")}, {}),
        ({"kind": "sentences", "example": "none"}, {}),
        ({"kind": "sentences", "scene": "nonsense"}, {}),
        (SMALL, {"count": 10_000}),
        (SMALL, {"rate": 0}),
        (SMALL, {"optimiser": "adagrad"}),
        (SMALL, {"moves": [1, 2, 3]}),
        (SMALL, {"moves": [1, 8, 0, 0]}),  # there are points 0 to 7
        (SMALL, {"moves": [21, 0, 0, 0]}),
        (SMALL, {"moves": [1, 0, 3601, 0]}),
        (SMALL, {"moves": [1, 0, 0, 0] * (MAX_MOVES + 1)}),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(start, steps) -> None:
    answer = request_film(start=start, **steps)
    assert answer.error.key.startswith("problem.")
    assert answer.error.key != "problem.defect"


@pytest.mark.parametrize("sides", [(), ({"loss": "cosent"},) * 3, ("cosent",), ({"loss": "none"},)])
def test_so_is_what_is_no_loss(sides) -> None:
    answer = request_film(sides)
    error = answer.error if hasattr(answer, "error") else answer.films[0].problem
    assert error.key in ("problem.scenario_entry", "problem.unknown_loss_close")


def test_a_film_of_the_largest_size_is_computed_in_a_second() -> None:
    """In processor time, and the best of three, since other tests run beside."""
    sides = [{"loss": "info_nce", "parameters": {"temperature": 0.1}}]
    took = []
    for _ in range(3):
        began = time.process_time()
        ASK["film"]({"sides": sides, "start": {"points": 64, "classes": 32, "dimension": 3}})
        took.append(time.process_time() - began)
    assert min(took) < 1
