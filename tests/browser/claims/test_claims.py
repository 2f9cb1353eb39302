"""The page of claims, walked as a reader walks it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.claims.claim_checks_on_test_batches import verdicts
from lossprism.explorer.lab.claims.claim_lookup import claims, claims_about
from lossprism.explorer.locale import say
from tests.browser.conftest import Contexts, HandedOn, handing
from tests.browser.first_screen import words_and_controls
from tests.browser.serving import Server
from tests.browser.ways import led, way_by_address

pytestmark = pytest.mark.browser

PAGE = "window.lossprism.page('claims')"
DRAWN = "window.lossprism?.page('claims')?.drawn"
MOST_WORDS, CONTROLS = 90, range(8, 16)
TRAIN_S = 120
ROWS = (("A cat.", "A kitten.", "1"), ("A bird.", "The sun.", "0"), ("Rain.", "Snow.", "1"))


def opened(page: Page, address: str, link: str = "") -> Page:
    page.goto(f"{address}/learn/claims{link}", wait_until="domcontentloaded")
    page.wait_for_function(DRAWN)
    return page


@pytest.fixture(scope="session")
def handed_on_claims(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, way_by_address("claims", opened, DRAWN, "learn/claims"))


@pytest.fixture
def page(handed_on_claims: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of claims, opened."""
    with handing(handed_on_claims, request) as page:
        yield page


def at_place(page: Page, scenario: str) -> Page:
    return led(page, "claims", scenario, DRAWN)


def numbers(page: Page) -> Locator:
    return page.locator(".lp-claim-sides b")


def test_the_first_screen_holds_a_claim_its_verdict_and_its_curves(page: Page) -> None:
    for language in ("en", "zh"):
        expect(page.locator("h1")).to_have_text(say(language, "claims.S1-39.claim"))
        expect(page.locator(".lp-claim-verdict").first).to_have_text(
            say(language, "claims.verdict.holds")
        )
        expect(page.locator(".lp-plot svg").first).to_be_in_viewport()
        words, controls = words_and_controls(page)
        assert 0 < words <= MOST_WORDS
        assert controls in CONTROLS
        page.click("#lp-language")


def test_claims_are_walked_chosen_and_linked(page: Page) -> None:
    heading, names = page.locator("h1"), list(claims())
    place = names.index("S1-39")
    page.get_by_role("button", name=say("en", "claims.next")).click()
    expect(heading).to_have_text(say("en", f"claims.{names[place + 1]}.claim"))
    # What changes within a moment is one step of the history.
    page.wait_for_function(f"location.hash.includes('claim={names[place + 1]}')")
    page.select_option("#lp-claim", "S1-48")
    expect(page.locator(".lp-claim-fails").first).to_be_visible()
    expect(numbers(page).first).to_have_text("3.41598")
    page.wait_for_function("location.hash.includes('claim=S1-48')")
    page.reload()
    page.wait_for_function(DRAWN)
    expect(numbers(page).first).to_have_text("3.41598")
    page.go_back()  # another claim is a step of the history
    expect(heading).to_have_text(say("en", f"claims.{names[place + 1]}.claim"))
    page.locator(".lp-claims > div > details > summary").click()
    rows = page.locator(".lp-claim-list tr")
    expect(rows).to_have_count(len(names))
    expect(rows.nth(names.index("S1-32"))).to_contain_text(say("en", "claims.verdict.fails"))
    rows.nth(names.index("S2-mi")).get_by_role("link").click()
    expect(heading).to_have_text(say("en", "claims.S2-mi.claim"))
    condition = say("en", "claims.condition", condition=say("en", "claims.S2-mi.only_if"))
    expect(page.get_by_text(condition)).to_be_visible()


# Sides of which a part stands beyond the edge.
CUT_OFF = """() => [...document.querySelectorAll(".lp-claim-part .lp-scroll")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.innerText)"""


@pytest.mark.thorough
def test_every_claim_fits_a_phone_and_says_all_its_words(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(width=390, height=844, locale="zh-CN"), server.address)
    for name in claims():
        page.select_option("#lp-claim", name)
        page.wait_for_function(f"{DRAWN} && !{PAGE}.newest.flying")
        if verdicts(name):
            expect(page.locator(".lp-claim-part").first).to_be_visible()
        text = page.locator(".lp-claims").inner_text()
        assert "claims." not in text, name
        assert "undefined" not in text, name
        assert page.locator(".katex-error").count() == 0, name
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        assert page.evaluate(CUT_OFF) == [], name


def test_a_formula_on_explore_leads_to_its_claims_on_the_same_batch(
    new_page: Callable[..., Page], server: Server
) -> None:
    mine = Scenario(data=Data(source="table", rows=ROWS), parameters=(("scale", 5.0),))
    page = new_page()
    page.goto(f"{server.address}/#{mine.to_link()}", wait_until="domcontentloaded")
    page.wait_for_function("window.lossprism?.page()?.drawn")
    links = page.locator(".lp-references a[href*='learn/claims']")
    expect(links).to_have_count(len(claims_about("cosent")))
    page.locator(".lp-references summary").click()
    links.filter(has_text="S1-41").click()
    page.wait_for_function(DRAWN)
    assert page.evaluate(f"{PAGE}.store.state.scale") == 5
    expect(page.locator(".lp-claims")).to_contain_text(
        say("en", "claims.batch", pairs=len(ROWS), total=len(ROWS))
    )
    before = numbers(page).all_inner_texts()
    page.locator(".lp-claim .lp-slider .lp-number").fill("50")
    page.locator(".lp-claim .lp-slider .lp-number").press("Enter")
    expect(numbers(page).first).not_to_have_text(before[0])
    page.wait_for_function("location.hash.includes('scale=50')")
    page.locator(".lp-claim a.lp-link").click()
    page.wait_for_function("window.lossprism?.page()?.drawn")
    assert page.evaluate("window.lossprism.page().scenario.data.rows.length") == len(ROWS)

    # Of a loss with a temperature λ is 1/τ.
    warm = dataclasses.replace(mine, loss="info_nce", parameters=(("temperature", 0.07),))
    page.goto("about:blank")
    page.goto(f"{server.address}/#{warm.to_link()}", wait_until="domcontentloaded")
    link = links.filter(has_text="S1-7 ")
    expect(link).to_have_attribute("href", re.compile(r"claim=S1-7&scale=14\.2857&"))


def test_a_batch_without_a_comparison_has_its_remark(page: Page) -> None:
    alike = tuple((first, second, "1") for first, second, _ in ROWS)
    scenario = Scenario(data=Data(source="table", rows=alike), loss="info_nce").to_link()
    at_place(page, f"claim=S1-39&scene={scenario}")
    expect(page.get_by_text(say("en", "claims.nothing_here"))).to_be_visible()
    page.get_by_text(say("en", "claims.own"), exact=True).click()
    expect(page.locator(".lp-claim-part").first).to_be_visible()


def test_curves_are_saved_and_the_page_stands_alone_in_a_frame(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(), server.address, "?embed#claim=S1-19")
    expect(page.locator("#claims-header")).to_be_hidden()
    page.get_by_text(say("en", "ui.save_figure"), exact=True).click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.svg']").click()
    assert taken.value.suggested_filename == "lossprism-S1-19.svg"
    written = taken.value.path().read_text(encoding="utf-8")
    assert say("en", "claims.curve.curvature") in written


@pytest.mark.trains
def test_a_training_is_started_and_cancelled(page: Page) -> None:
    at_place(page, "claim=S1-33")
    status = page.locator(".lp-claim-training [role=status]")
    expect(status).to_have_text(say("en", "claims.train_about"))
    page.get_by_role("button", name=say("en", "claims.train")).click()
    cancel = page.get_by_role("button", name=say("en", "claims.stop"))
    expect(cancel).to_be_visible()
    page.wait_for_function("location.hash.includes('runs=')")
    # What was begun is still followed after the page was left.
    page.reload()
    page.wait_for_function(DRAWN)
    expect(cancel).to_be_visible()
    cancel.click()
    expect(status).to_have_text(say("en", "claims.train_about"), timeout=TRAIN_S * 1000)
