"""Doctor: a typed number gets its possible meanings, with pictures and links."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.reading import loss_shown
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

PAGE = "window.lossprism.page('doctor')"
MAIN = "#doctor-number"
FINDINGS = f"{MAIN} .lp-finding"


def opened(page: Page, address: str, scenario: str = "") -> Page:
    page.goto(f"{address}/doctor{scenario and '#'}{scenario}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE}?.drawn > 0")
    return page


@pytest.fixture
def doctor(new_page: Callable[..., Page], server: Server) -> Page:
    return opened(new_page(), server.address)


def test_a_number_that_is_typed_is_explained(doctor: Page) -> None:
    # Before anything is typed an example is solved and marked as one; the link does not name it.
    example = doctor.get_by_text("Example: 5.545 under SigLIP")
    expect(example).to_be_visible()
    expect(doctor.locator(FINDINGS).first).to_contain_text("SigLIP is 5.54518")
    assert "#" not in doctor.url
    assert doctor.title() == "Doctor: 5.545 · LossPrism"
    doctor.fill("#lp-doctor-value", "5.545")
    expect(example).to_be_hidden()
    # What to do about it is said at once.
    expect(doctor.locator(f"{FINDINGS} .lp-finding-do").first).to_be_visible()
    # The number stays in sight when it is entered.
    doctor.press("#lp-doctor-value", "Enter")
    value = doctor.locator("#lp-doctor-value")
    expect(value).to_have_value("5.545")
    assert value.evaluate("(field) => field.scrollTop") == 0
    doctor.fill("#lp-doctor-loss", "siglip")
    first = doctor.locator(FINDINGS).first
    verdict = say("en", "doctor.collapse", loss="SigLIP", value="5.54518").partition("{")[0]
    expect(first).to_contain_text(f"{verdict} (batch 8, all pairs")
    # The link is short enough for an issue, and brings it back, in the other language too.
    doctor.wait_for_function("location.hash.includes('siglip')")
    assert doctor.url.endswith("/doctor#value=5.545&loss=siglip")
    doctor.click("#lp-language")
    expect(first).to_contain_text("坍缩")
    doctor.click("#lp-language")
    doctor.reload(wait_until="domcontentloaded")
    expect(first).to_contain_text(verdict)
    assert doctor.locator("#lp-doctor-loss").input_value() == "siglip"
    # The scenario shows the number.
    first.get_by_role("link", name=wording("doctor.open.loss")).click()
    doctor.wait_for_function("window.lossprism?.page()?.drawn > 0")
    assert loss_shown(doctor) == pytest.approx(5.545, abs=5e-4)


def test_no_match_is_reported_and_examples_are_one_click_away(doctor: Page) -> None:
    doctor.fill("#lp-doctor-value", "123.456789")
    doctor.fill("#lp-doctor-loss", "cosine_mse")
    about = doctor.locator(f"{MAIN} .lp-about")
    expect(about).to_contain_text(wording("doctor.none", value="123.456789"))
    doctor.fill("#lp-doctor-batch", "many")
    expect(doctor.locator(f"{MAIN} .lp-problem")).to_contain_text("batch is “many”")
    doctor.fill("#lp-doctor-batch", "")
    expect(doctor.locator(f"{MAIN} .lp-problem")).to_be_hidden()
    heading = doctor.locator(f"{MAIN} h1")
    doctor.get_by_text(wording("doctor.examples")).click()
    buttons = doctor.locator(".lp-doctor-tries button")
    count = buttons.count()
    assert count > 4
    for place in (0, count - 2, count - 1):
        buttons.nth(place).click()
        value = buttons.nth(place).inner_text().split(" ")[0]
        expect(doctor.locator("#lp-doctor-value")).to_have_value(value)
        expect(heading).to_contain_text(value)
        doctor.wait_for_function("v => location.hash.includes(`value=${v}`)", arg=value)
    # Back leads back.
    doctor.go_back()
    previous = buttons.nth(count - 2).inner_text().split(" ")[0]
    expect(doctor.locator("#lp-doctor-value")).to_have_value(previous)
    # Losses with one number are compared there.
    doctor.evaluate("location.hash = 'value=2.0794'")
    expect(heading).to_contain_text("2.0794")
    doctor.locator(FINDINGS).first.get_by_role("link", name=wording("doctor.compare")).click()
    doctor.wait_for_function("window.lossprism?.page('compare')?.drawn > 0")
    rows = doctor.locator(".lp-compared tbody tr")
    assert rows.count() > 1
    assert "2.079" in rows.first.inner_text()


def test_as_many_answers_are_counted_as_are_shown_and_folded(doctor: Page) -> None:
    doctor.fill("#lp-doctor-value", "0.693")
    about = doctor.locator(f"{MAIN} .lp-about")
    expect(about).to_have_text(wording("doctor.may_be"))
    # A sign such as that of DPO is one of them, the last one.
    cards = doctor.locator(FINDINGS)
    expect(cards.last).to_contain_text("DPO")
    expect(about).to_have_text(say("en", "doctor.may_be", count=cards.count()))
    expect(
        doctor.get_by_text(say("en", "doctor.other_answers", count=cards.count() - 1))
    ).to_be_visible()
    expect(cards.first).to_contain_text("Binary cross-entropy is 0.693147")
