"""Requests of the Learn page."""

import dataclasses
from dataclasses import dataclass

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.figure.appearance import look_in
from lossprism.explorer.export.figure.figure_files import chart_text, figure_text
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.lab.learn.lesson_types import (
    Chart,
    Lesson,
    Matrix,
    Moment,
    Number,
    Step,
    write,
)
from lossprism.explorer.lab.learn.lessons import BY_NAME, LESSONS, moments
from lossprism.explorer.locale import say
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.downloads import Text
from lossprism.explorer.runtime.number_format import json_number
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import integer, invalid_value
from lossprism.explorer.web.page_requests import served


@dataclass(frozen=True)
class Stop:
    """A stop of the lever: how it is written, what is measured there, and the pictures of it."""

    text: str
    numbers: dict[str, Number]
    pictures: list[Matrix | Chart]


@dataclass(frozen=True)
class MeasuredStep:
    """A step of a lesson, measured at each stop of its lever; `answer` is the number that was to be
    predicted, and `right` the one of the offered answers that it is."""

    stops: list[Stop]
    answer: Number
    right: float


@dataclass(frozen=True)
class Card:
    """A lesson on the first page, with the picture at the goal of its lever."""

    name: str
    pictures: list[Matrix | Chart]


@dataclass(frozen=True)
class Cards:
    """All lessons."""

    cards: list[Card]


@dataclass(frozen=True)
class ScenarioLink:
    """A scenario of Explore as a link has it."""

    scene: str


def _lesson_in(request: Json) -> tuple[Lesson, int]:
    """The lesson and the place of its step."""
    name, step = request.get("lesson"), integer(request.get("step", 1), "step")
    if not isinstance(name, str) or name not in BY_NAME:
        raise invalid_value("lesson", name)
    if not 1 <= step <= len(BY_NAME[name].steps):
        raise invalid_value("step", step)
    return BY_NAME[name], step - 1


def _moment_in(request: Json) -> Moment:
    """The contents of a stop of the lever."""
    lesson, place = _lesson_in(request)
    at = integer(request.get("at", 0), "at")
    with jobs.heavy_work_turn():
        moments_of_lesson = moments(lesson.name, place)
    if not 0 <= at < len(moments_of_lesson):
        raise invalid_value("at", at)
    return moments_of_lesson[at]


def _measured(request: Json) -> MeasuredStep:
    """{lesson, step} → the step at each stop of its lever."""
    lesson, place = _lesson_in(request)
    with jobs.heavy_work_turn():
        moments_of_lesson = moments(lesson.name, place)
    step = lesson.steps[place]
    lever, prediction = step.lever, step.prediction
    stops = [
        Stop(
            text="" if lever.written == "word" else write(stop, lever.written),
            numbers={name: _number(step, name, one) for name, one in moment.numbers.items()},
            pictures=list(moment.pictures),
        )
        for stop, moment in zip(lever.stops, moments_of_lesson, strict=True)
    ]
    value = moments_of_lesson[lever.goal].numbers[prediction.of]
    return MeasuredStep(stops, _number(step, prediction.of, value), prediction.answered_by(value))


def _number(step: Step, name: str, value: float) -> Number:
    return Number(json_number(float(value)), step.written(name, value))


def _cards(_request: Json) -> Cards:
    """{} → every lesson with its picture."""
    with jobs.heavy_work_turn():
        return Cards(
            [
                Card(one.name, list(moments(one.name, 0)[one.pictured_stop].pictures))
                for one in LESSONS
            ]
        )


def _on_my_batch(request: Json) -> ScenarioLink:
    """{lesson, step, at, scene: a link of Explore or ""} → the loss at a stop of the lever on the
    batch of that scenario, or without one on its own."""
    lesson, place = _lesson_in(request)
    seen, link = _moment_in(request).seen, str(request.get("scene", ""))
    scenario = lesson.steps[place].scenario if seen is None else seen.scenario
    if link:
        mine = Scenario.from_link(link)
        scenario = dataclasses.replace(scenario, data=mine.data, rules=mine.rules)
    return ScenarioLink(scenario.to_link())


def _take(request: Json) -> Text:
    """{lesson, step, at, and what `look_in` and `figure_text` read} → the matrix at a stop of the
    lever as a figure."""
    lesson, place = _lesson_in(request)
    moment = _moment_in(request)
    seen, pictures = moment.seen, moment.pictures
    drawn = next((one for one in pictures if isinstance(one, Matrix)), None)
    if seen is None or drawn is None:
        raise invalid_value("lesson", lesson.name)
    look = look_in(request)
    origin = _sentence(look.get("language", "en"), lesson, place, request.get("at", 0))
    with jobs.heavy_work_turn():
        viewed = seen.seen(facet=drawn.facet)
        figure = matrix_figure(viewed, origin=origin, shown=drawn.shown, **look)
    return figure_text(f"lossprism-{lesson.name}", figure, request)


def _sentence(language: str, lesson: Lesson, place: int, at: int) -> str:
    """The lesson, its lever and its numbers at a stop, in a line."""
    step, numbers = lesson.steps[place], moments(lesson.name, place)[at].numbers
    key, stop = f"learn.{lesson.name}.{place + 1}", step.lever.stops[at]
    written = step.lever.written
    word = say(language, f"{key}.stop.{at + 1}") if written == "word" else write(stop, written)
    figures = [
        f"{say(language, f'learn.figure.{name}')} {step.written(name, numbers[name])}"
        for name in step.figures
    ]
    title = say(language, f"learn.{lesson.name}.title")
    return " · ".join([title, f"{say(language, f'{key}.lever')} {word}", *figures])


SERVED = [
    served("measured", _measured),
    served("cards", _cards),
    served("on_my_batch", _on_my_batch),
    served("take", _take),
    served("chart", chart_text),
]
