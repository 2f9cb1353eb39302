"""Scenarios that pages open with: what a figure or a preview of a bare address shows."""

from dataclasses import replace
from urllib.parse import urlsplit

from lossprism.explorer.core.scenario import OPENING, Data, Rules, Scenario
from lossprism.explorer.export.figure.files import OTHER_PAGES, QUOTED_LETTERS, path_pieces
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known
from lossprism.explorer.lab.doctor.number_explanation import explain_values
from lossprism.explorer.lab.learn.lesson import Lesson
from lossprism.explorer.lab.learn.lessons import BY_NAME, LESSONS, moments
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.practice import PRACTICE, practice_pairs
from lossprism.explorer.web.pages.compare import questions
from lossprism.explorer.web.pages.doctor.state_entries import EXAMPLES

PRACTISED = 24  # pairs of Fine-tune's data in its figure


def opening_scenario(address: str) -> Scenario | None:
    """Return the scenario that a page opens with, of its bare address, such as /compare or
    http://127.0.0.1:7860/learn/collapse; of several losses that of the first. None for anything
    else, such as a link.

    Raises Problem for a page that opens with no scenario of Explore (`opening_figures`).
    """
    page = page_at(address)
    if page is None:
        return None
    found = opening_scenarios(page)
    if not found:
        raise Problem("figure_page", name=address[:QUOTED_LETTERS])
    return found[0]


def page_at(address: str) -> str | None:
    """Return the path of the page of a bare address, such as "learn/sphere"; None for anything
    else."""
    pieces = path_pieces(address)
    if pieces is None or "#" in address or "scene=" in urlsplit(address).query:
        return None
    if {*pieces[-2:]}.isdisjoint(OTHER_PAGES):  # Explore may stand at any path of a server
        return ""
    return "/".join(pieces[-2:] if "learn" in pieces[-2:-1] else pieces[-1:])


def opening_scenarios(page: str) -> list[Scenario]:
    """Return the scenarios that the page at this path opens with, one for each loss; none of a page
    that shows no scenario of Explore."""
    if page == "compare":
        return _compared()
    if page == "doctor":
        return [_explained()]
    if page == "finetune":
        return [_practised()]
    lesson = page.removeprefix("learn/")
    if page == "learn":
        lesson = LESSONS[0].name
    if lesson in BY_NAME:
        return [_taught(BY_NAME[lesson])]
    return [] if page else [OPENING]


def _compared() -> list[Scenario]:
    question = questions.QUESTIONS[questions.OPENING[LANGUAGES[0]]]
    batch = Scenario(
        data=Data(example=question.example),
        rules=replace(Rules(), extra_negatives=question.extra_negatives),
        view=OPENING.view,
    )
    return [
        replace(
            batch,
            loss=side.loss,
            convention=side.convention,
            parameters=tuple(side.parameters.items()),
        )
        for side in question.sides
    ]


def _practised() -> Scenario:
    """Return the first practice pairs under the loss of the first plan, before any training."""
    name = next(iter(PRACTICE))
    pairs = practice_pairs(name)[:PRACTISED]
    rows = tuple((one, other, f"{label:g}") for one, other, label in pairs)
    data = Data(source="table", rows=rows, file=name)
    return Scenario(data=data, loss=TrainingPlan().loss, view=OPENING.view)


def _taught(lesson: Lesson) -> Scenario:
    """Return the scenario at the stop that the lesson's card shows, of its first step."""
    seen = moments(lesson.name, 0)[lesson.pictured_stop].seen
    shown = lesson.steps[0].scenario if seen is None else seen.scenario
    return replace(shown, view=OPENING.view)


def _explained() -> Scenario:
    """Return the batch on which the loss of Doctor's example has the number."""
    example = EXAMPLES[0]
    found = explain_values([example["value"]], Known(loss=example["loss"]))
    scenario = found.findings[0].likeliest.scenario()
    assert scenario is not None  # of so few pairs
    return scenario
