"""What the Learn page asks for: measured steps, the same loss on one's own batch, figures."""

from __future__ import annotations

import dataclasses

import pytest

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.learn.lesson_types import with_parameters
from lossprism.explorer.lab.learn.lessons import LESSONS, moments
from lossprism.explorer.runtime.number_format import json_number
from lossprism.explorer.web.pages.learn import request_handlers
from lossprism.explorer.web.pages.learn.initial_page_data import page_data

ASK = {function.__name__: function for function in request_handlers.SERVED}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_step_comes_measured_at_each_stop_with_its_answer(lesson) -> None:
    answer = ASK["measured"]({"lesson": lesson.name, "step": 1})
    step, found = lesson.steps[0], moments(lesson.name, 0)
    assert [stop.text == "" for stop in answer.stops] == [
        step.lever.written == "word" for _ in step.lever.stops
    ]
    for stop, moment in zip(answer.stops, found, strict=True):
        by_name = {name: one.value for name, one in stop.numbers.items()}
        assert by_name == {name: json_number(float(one)) for name, one in moment.numbers.items()}
    requested = step.prediction
    assert answer.answer.value == pytest.approx(found[step.lever.goal].numbers[requested.of])
    assert not requested.answers or answer.right in requested.answers


def test_the_page_knows_every_lesson_before_it_asks() -> None:
    known = page_data().lessons
    assert [one.name for one in known] == [one.name for one in LESSONS]
    assert all(one.steps[0].goal < one.steps[0].stops for one in known)


def test_the_loss_of_a_lesson_is_seen_on_the_batch_that_was_left_on_explore() -> None:
    rows = (("A cat.", "A dog.", "1"), ("A bird.", "The sun.", "0"))
    mine = Scenario(data=Data(source="table", rows=rows), loss="triplet")
    request = {"lesson": "temperature", "step": 1, "scene": mine.to_link()}
    found = Scenario.from_link(ASK["on_my_batch"](request).scene)
    assert (found.loss, found.data) == ("info_nce", mine.data)
    assert dict(found.parameters) == {"temperature": 1.0}
    own = ASK["on_my_batch"]({**request, "at": 4, "scene": ""})
    step = LESSONS[1].steps[0]
    assert Scenario.from_link(own.scene) == with_parameters(step.scenario, temperature=0.05)


@pytest.mark.parametrize(
    ("lesson", "at", "shows"),
    [
        ("duplicate", 1, ("What is the fee for returning", "loss 0.182", "81%", "twice")),
        ("accumulation", 2, ("Pairs in a micro-batch 2", "loss 0.00426")),
        ("coverage", 2, ("CoSENT", "24")),
    ],
)
def test_a_matrix_is_taken_as_a_figure_with_what_was_measured(lesson, at, shows) -> None:
    answer = ASK["take"]({"lesson": lesson, "step": 1, "at": at, "language": "en"})
    assert answer.name == f"lossprism-{lesson}.svg"
    assert answer.text.startswith("<svg")
    assert [one for one in shows if one not in answer.text] == []


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("measured", {"lesson": "nothing", "step": 1}),
        ("measured", {"lesson": "duplicate", "step": 2}),
        ("measured", {"lesson": "duplicate", "step": "1"}),
        ("on_my_batch", {"lesson": "duplicate", "step": 1, "scene": "1.damaged"}),
        ("take", {"lesson": "duplicate", "step": 1, "at": 2}),
        ("take", {"lesson": "collapse", "step": 1, "at": 0}),  # a chart
    ],
)
def test_what_there_is_not_is_refused(name, request_) -> None:
    answer = ASK[name](request_)
    assert "error" in {field.name for field in dataclasses.fields(answer)}
