"""The Learn page: ten lessons, each a question to predict, one lever and one picture."""

from dataclasses import dataclass

from lossprism.explorer.lab.learn import lesson_types
from lossprism.explorer.lab.learn.lessons import LECTURE, LESSONS
from lossprism.explorer.web.pages.learn import request_handlers
from lossprism.explorer.web.pages.learn.state_entries import learn_table
from lossprism.explorer.web.pages.state_entry_type import Entry

SERVED = request_handlers.SERVED
# The lessons have addresses of their own below that of the page.
BELOW = [lesson.name for lesson in LESSONS]


@dataclass(frozen=True)
class LearnAnswer:
    """A number to choose as a prediction, and how it is written."""

    value: float
    text: str


@dataclass(frozen=True, kw_only=True)
class LearnStep:
    """A step of a lesson: its numbers, what is predicted, and the places of its lever. Without
    `answers` a place of the `axis` is marked, which is right within `near`."""

    figures: list[str]
    answers: list[LearnAnswer]
    axis: list[float]
    near: float
    goal: int
    stops: int
    worded: bool


@dataclass(frozen=True)
class Lesson:
    """A lesson, how many minutes it takes, and the landscape that it leads on to, "" for none."""

    name: str
    minutes: int
    steps: list[LearnStep]
    landscape: str


@dataclass(frozen=True)
class LearnPageData:
    """Facts for the Learn page alone."""

    table: list[Entry]
    lessons: list[Lesson]
    lecture: list[str]


def page_data() -> LearnPageData:
    """Return the facts for this page."""
    return LearnPageData(learn_table(), [_lesson(one) for one in LESSONS], list(LECTURE))


def _lesson(one: lesson_types.Lesson) -> Lesson:
    steps = [_step(step) for step in one.steps]
    return Lesson(one.name, one.minutes, steps, one.landscape)


def _step(step: lesson_types.Step) -> LearnStep:
    prediction = step.prediction
    return LearnStep(
        figures=list(step.figures),
        answers=[LearnAnswer(one, step.written(prediction.of, one)) for one in prediction.answers],
        axis=[prediction.low, prediction.high],
        near=prediction.near,
        goal=step.lever.goal,
        stops=len(step.lever.stops),
        worded=step.lever.written == "word",
    )
