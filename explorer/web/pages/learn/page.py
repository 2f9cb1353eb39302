"""The Learn page: ten lessons, each a question to predict, one lever and one picture."""

from __future__ import annotations

from explorer.lab.learn.lesson import Lesson, Step
from explorer.lab.learn.lessons import LECTURE, LESSONS
from explorer.runtime.response_types import Json
from explorer.web.pages.learn import requests
from explorer.web.pages.learn.state import learn_table

SERVED = requests.SERVED
# The lessons have addresses of their own below that of the page.
BELOW = [lesson.name for lesson in LESSONS]


def page_data() -> Json:
    """Return the facts for this page."""
    return {
        "table": learn_table(),
        "lessons": [_lesson(one) for one in LESSONS],
        "lecture": list(LECTURE),
    }


def _lesson(lesson: Lesson) -> Json:
    steps = [_step(one) for one in lesson.steps]
    return {
        "name": lesson.name,
        "minutes": lesson.minutes,
        "steps": steps,
        "landscape": lesson.landscape,
    }


def _step(step: Step) -> Json:
    asked = step.prediction
    answers = [{"value": one, "text": step.written(asked.of, one)} for one in asked.answers]
    return {
        "figures": list(step.figures),
        "answers": answers,
        "axis": [asked.low, asked.high],
        "near": asked.near,
        "goal": step.lever.goal,
        "stops": len(step.lever.stops),
        "worded": step.lever.written == "word",
    }
