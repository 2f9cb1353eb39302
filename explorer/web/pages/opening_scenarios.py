"""Scenarios that pages open with: what a figure or a preview of a bare address shows."""

from dataclasses import replace
from urllib.parse import urlsplit

from lossprism.explorer.core.scenario import OPENING, Data, Rules, Scenario
from lossprism.explorer.core.scenario_from_link_or_file import OTHER_PAGES, path_pieces
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain_values
from lossprism.explorer.lab.learn.lesson_types import Lesson
from lossprism.explorer.lab.learn.lessons import BY_NAME, LESSONS, moments
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.sources.practice_sentences import PRACTICE, practice_pairs
from lossprism.explorer.sources.textbook import IN_LANGUAGE
from lossprism.explorer.web.pages.compare import questions
from lossprism.explorer.web.pages.doctor.state_entries import EXAMPLES

MAX_PRACTICE_PAIRS = 24  # pairs of Fine-tune's data in its figure


def page_at(address: str) -> str | None:
    """Return the path of the page of a bare address, such as "learn/sphere"; None for anything
    else."""
    pieces = path_pieces(address)
    if pieces is None or "#" in address or "scene=" in urlsplit(address).query:
        return None
    if {*pieces[-2:]}.isdisjoint(OTHER_PAGES):  # Explore may stand at any path of a server
        return ""
    return "/".join(pieces[-2:] if "learn" in pieces[-2:-1] else pieces[-1:])


def opening_scenarios(page: str, language: str = LANGUAGES[0]) -> list[Scenario]:
    """Return the scenarios that the page at this path opens with for a reader of a language, one
    for each loss; none of a page that shows no scenario of Explore."""
    if page == "":
        return [_in_language(OPENING, language)]
    if page == "compare":
        return [_in_language(one, language) for one in _compare_scenarios(language)]
    if page == "doctor":
        return [_doctor_scenario()]
    if page == "finetune":
        return [_practice_scenario(language)]
    lesson = page.removeprefix("learn/")
    if page == "learn":
        lesson = LESSONS[0].name
    return [_lesson_scenario(BY_NAME[lesson])] if lesson in BY_NAME else []


def _in_language(scenario: Scenario, language: str) -> Scenario:
    """Return the scenario on the example that stands in place of its own in a language."""
    example = _example_in(language, scenario.data.example)
    return replace(scenario, data=replace(scenario.data, example=example))


def _example_in(language: str, example: str) -> str:
    return IN_LANGUAGE.get(language, {}).get(example, example)


def _compare_scenarios(language: str) -> list[Scenario]:
    question = questions.QUESTIONS[questions.OPENING[language]]
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


def _practice_scenario(language: str) -> Scenario:
    """Return the first practice pairs under the loss of the first plan, before any training."""
    name = _example_in(language, next(iter(PRACTICE)))
    pairs = practice_pairs(name)[:MAX_PRACTICE_PAIRS]
    rows = tuple((one, other, f"{label:g}") for one, other, label in pairs)
    data = Data(source="table", rows=rows, file=name)
    return Scenario(data=data, loss=TrainingPlan().loss, view=OPENING.view)


def _lesson_scenario(lesson: Lesson) -> Scenario:
    """Return the scenario at the stop that the lesson's card shows, of its first step."""
    seen = moments(lesson.name, 0)[lesson.pictured_stop].seen
    shown = lesson.steps[0].scenario if seen is None else seen.scenario
    return replace(shown, view=OPENING.view)


def _doctor_scenario() -> Scenario:
    """Return the batch on which the loss of Doctor's example has the number."""
    example = EXAMPLES[0]
    explanation = explain_values([example["value"]], Known(loss=example["loss"]))
    scenario = explanation.findings[0].likeliest.scenario()
    assert scenario is not None  # of so few pairs
    return scenario
