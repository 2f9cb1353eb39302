"""Compare's questions: each answered by the batch that is shown, with its picture in sight."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import compare as compared
from lossprism.explorer.lab.compare.loss_question_answers import answer
from lossprism.explorer.locale import say
from lossprism.explorer.web.pages.compare.questions import QUESTIONS
from tests.browser.compare.steering import (
    PAGE,
    STILL,
    STRIPS,
    TWO_LOSSES,
    led,
    linked,
    opened_page,
    redrawn,
    unfolded,
    values,
)
from tests.browser.first_screen import words_and_controls
from tests.browser.serving import Server
from tests.sentences import pattern_of, wording

pytestmark = pytest.mark.browser


def test_questions_fill_the_page(compare: Page) -> None:
    with redrawn(compare):
        compare.click("#lp-questions-libraries")
    unfolded(compare)
    # RankNet's four numbers.
    four = [161.5, 6.729, 0.60036, 0.86613]
    assert values(compare) == pytest.approx(four, rel=1e-3)
    expect(compare.locator(".lp-judged")).to_contain_text("0.0416667 times")


ANSWER = ".lp-answer"


def answer_to(question: str, data: Data, language: str = "en") -> str:
    """The answer to a question of this batch."""
    chosen_question = QUESTIONS[question]
    scenario = Scenario(data=data, rules=Rules(extra_negatives=chosen_question.extra_negatives))
    sides = [
        Side(one.loss, one.convention, tuple(one.parameters.items()))
        for one in chosen_question.sides
    ]
    return answer(question, compared(scenario, sides)).written(language)


def test_any_batch_answers_a_question(compare: Page) -> None:
    question, english = "ranking_or_contrast", Data(example="graded_english")
    with redrawn(compare):
        compare.click(f"#lp-questions-{question}")
    message = compare.locator(ANSWER)
    expect(message).to_have_text(answer_to(question, english))
    unfolded(compare)
    with redrawn(compare):
        compare.select_option("#lp-compare-example", "hard_negatives")
    other = answer_to(question, Data(example="hard_negatives"))
    assert other != answer_to(question, english)
    expect(message).to_have_text(other)
    expect(compare.locator(f"{ANSWER} + p")).to_have_text(
        wording("compare.caption", where=say("en", "example.hard_negatives.title"), count=24)
    )
    assert f"q={question}" in linked(compare)
    # A batch of the reader's own stays for other questions, and leads back to the example of each.
    with redrawn(compare):
        compare.click("#lp-compare-source-random")
    random = Data(source="random")
    expect(message).to_have_text(answer_to(question, random))
    with redrawn(compare):
        compare.click("#lp-questions-libraries")
    expect(message).to_have_text(answer_to("libraries", random))
    with redrawn(compare):
        compare.get_by_role(
            "button",
            name=wording(
                "compare.ask_of_example", example=say("en", "example.graded_english.title")
            ),
        ).click()
    expect(message).to_have_text(answer_to("libraries", english))
    with redrawn(compare):
        compare.click("#lp-questions-margins")
    unfolded(compare)
    with redrawn(compare):
        compare.select_option("#lp-compare-example", "graded_english")
    expect(message).to_have_text(answer_to("margins", english))
    assert pattern_of("compare.answer.none").match(message.inner_text())


def test_other_losses_or_another_experiment_are_no_question(compare: Page) -> None:
    chosen = compare.locator("[id^=lp-questions-][aria-selected=true]")
    with redrawn(compare):
        compare.click("#lp-questions-only_the_order")
    expect(chosen).to_have_id("lp-questions-only_the_order")
    compare.evaluate(f"{PAGE}.set({{ by: 0.5 }})")
    expect(compare.locator(ANSWER)).to_have_count(0)
    compare.evaluate(f"{PAGE}.set({{ by: 0.2 }})")
    expect(compare.locator(ANSWER)).not_to_be_empty()
    with redrawn(compare):
        compare.evaluate(f"{PAGE}.add({{ loss: 'triplet', convention: '', parameters: {{}} }})")
    expect(chosen).to_have_count(0)
    expect(compare.locator(ANSWER)).to_have_count(0)


def test_a_chinese_page_opens_on_chinese_pairs(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page(locale="zh-CN")
    page.goto(f"{server.address}/compare", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE} && {STILL}")
    chinese = Data(example="graded_chinese_multilingual")
    expect(page.locator(ANSWER)).to_have_text(answer_to("libraries", chinese, "zh"))
    link = linked(page)
    # What was linked before keeps its batch in either language.
    led(page, TWO_LOSSES)
    assert page.evaluate(f"{PAGE}.store.state.data.example") == "graded_english"
    english = opened_page(new_page(), server.address, link)
    assert english.evaluate(f"{PAGE}.store.state.data.example") == chinese.example
    expect(english.locator(ANSWER)).to_have_text(answer_to("libraries", chinese))


# Whatever may answer: bars, matrices, charts, and a table with its bars.
PICTURE = ".lp-answering :is(.lp-strips svg, canvas, .main-svg, .lp-ratio)"


@pytest.mark.thorough
def test_the_picture_stands_under_each_answer(compare: Page) -> None:
    """In sight on a laptop, everything else folded, and as much again after a reload."""
    names = compare.evaluate("Object.keys(window.lossprism.pageData.compare.questions)")
    for name in names:
        compare.locator(f"#lp-questions-{name}").scroll_into_view_if_needed()
        with redrawn(compare):
            compare.click(f"#lp-questions-{name}")
        picture = compare.locator(PICTURE).first
        expect(picture).to_be_visible()
        assert picture.bounding_box()["y"] < 700, name
        assert compare.locator(".lp-compare > details[open]").count() == 0, name
        assert compare.locator("#compare-main [data-refused]").count() == 0, name
    linked(compare)
    compare.reload(wait_until="domcontentloaded")
    expect(compare.locator("[role=tab][aria-selected=true]").first).to_have_id(
        f"lp-questions-{names[-1]}"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_each_question_has_few_words_and_controls(
    new_page: Callable[..., Page], server: Server, locale: str
) -> None:
    page = new_page(locale=locale)
    page.goto(f"{server.address}/compare", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE} && {STILL}")
    for name in page.evaluate("Object.keys(window.lossprism.pageData.compare.questions)"):
        with redrawn(page):
            page.evaluate("name => document.getElementById(`lp-questions-${name}`).click()", name)
        expect(page.locator(PICTURE).first).to_be_visible()
        words, controls = words_and_controls(page)
        assert 0 < words <= 200, (name, words)
        assert 0 < controls <= 15, (name, controls)


def test_the_page_opens_on_a_question_with_few_words(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page()
    page.goto(f"{server.address}/compare", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE}?.differing")
    expect(page.locator(f"{STRIPS} path")).to_have_count(3)
    assert "q=temperature" in linked(page)
    words, controls = words_and_controls(page)
    assert 0 < words <= 200
    assert 0 < controls <= 15
    # The skip link, the header, the questions, and then the picture.
    page.evaluate("document.activeElement?.blur(); window.scrollTo(0, 0)")
    reached = "document.activeElement?.closest('.lp-strips') !== null"
    for _stop in range(15):
        page.keyboard.press("Tab")
        if page.evaluate(reached):
            break
    assert page.evaluate(reached)
