"""What a link carries of typed sentences: no path, token or address, which this browser keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import say
from tests.browser.doctor.test_number import opened
from tests.browser.serving import Server
from tests.sentences import wording

SECRET = "/home/alice/key.pem"
ROWS = [[f"the log says {SECRET}", "mail alice@example.org", "1"], ["a cat", "a dog", "0"]]
SHARED = (("the log says …", "mail …", "1"), ("a cat", "a dog", "0"))
FIRST = "window.lossprism.page()?.batch?.first?.[0]"
COMPARE = "window.lossprism.page('compare')"


def typed(page: Page) -> None:
    page.evaluate(f"window.lossprism.page().setRows({json.dumps(ROWS)})")
    page.wait_for_function(f"{FIRST} === {json.dumps(ROWS[0][0])}")
    page.wait_for_function("!window.lossprism.page().linking && window.lossprism.page().leavesOut")


def test_the_link_of_explore_and_of_compare_is_without_secrets(page: Page) -> None:
    typed(page)
    assert Scenario.from_link(page.url.partition("#")[2]).data.rows == SHARED
    page.reload(wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {FIRST} === {json.dumps(ROWS[0][0])}")
    page.locator("#lp-compare-with").evaluate("(one) => { one.closest('details').open = true; }")
    page.select_option("#lp-compare-with", "cosine_mse")
    page.wait_for_url("**/compare#*scene=*")
    page.wait_for_function(f"window.lossprism && {COMPARE}?.differing")
    assert page.evaluate(f"{COMPARE}.batch.first[0]") == ROWS[0][0]  # the same batch as before
    page.wait_for_function(f"{COMPARE}.leavesOut && !{COMPARE}.history.pending")
    (scenario,) = parse_qs(page.url.partition("#")[2])["scene"]
    assert Scenario.from_link(scenario).data.rows == SHARED


def test_copying_such_a_link_reports_what_it_leaves_out(page: Page) -> None:
    typed(page)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', "
        "{ value: { writeText: async () => {} }, configurable: true })"
    )
    page.get_by_role("button", name=say("en", "ui.copy_link")).click()
    expect(page.locator("body")).to_contain_text(say("en", "ui.link_without_secrets"))


def addresses_until_still(page: Page) -> list[str]:
    """Every address that the frame had, from now on until Explore shows a batch."""
    seen: list[str] = []
    page.on("framenavigated", lambda frame: seen.append(frame.url))
    return seen


def scenarios_in(address: str) -> list[Scenario]:
    fragment = urlsplit(address).fragment
    links = [fragment] if fragment.startswith("1.") else []
    links += [one for key in ("scene", "link") for one in parse_qs(fragment).get(key, ())]
    return [Scenario.from_link(one) for one in links if one.startswith("1.")]


def test_no_link_of_doctor_has_a_secret_and_explore_opens_the_whole_rows(
    server: Server, new_page: Callable[..., Page]
) -> None:
    page = opened(new_page(), server.address)
    page.get_by_role("tab", name=wording("doctor.check.data")).click()
    page.select_option("#lp-doctor-from", "typed")
    pairs = [f"how tall\t{SECRET}\t{grade}" for grade in (5, 0)]
    pairs += [f"mail {name}@example.org\tyes\t{place % 6}" for place, name in enumerate("abcdefgh")]
    page.fill("#lp-doctor-pasted", "\n".join(["sentence1\tsentence2\tscore", *pairs]))
    link = page.get_by_role("link", name=wording("doctor.open.rows")).first
    expect(link).to_be_visible()
    found = page.locator("a[href*='#']").evaluate_all("(all) => all.map((one) => one.href)")
    scenarios = [scenario for address in found for scenario in scenarios_in(address)]
    cells = {cell for scenario in scenarios for row in scenario.data.rows for cell in row}
    assert len(scenarios) > 2
    assert "…" in cells
    assert not [cell for cell in cells if SECRET in cell or "example.org" in cell]
    seen = addresses_until_still(page)
    link.click()
    page.wait_for_function(f"window.lossprism && {FIRST}")
    page.wait_for_function("!window.lossprism.page().linking")
    assert SECRET in page.evaluate("JSON.stringify(window.lossprism.page().scenario.data.rows)")
    rows = [
        cell
        for one in seen
        for scenario in scenarios_in(one)
        for row in scenario.data.rows
        for cell in row
    ]
    assert rows
    assert not [cell for cell in rows if SECRET in cell or "example.org" in cell]


def test_compare_leads_to_explore_without_secrets_in_the_address(page: Page) -> None:
    typed(page)
    page.locator("#lp-compare-with").evaluate("(one) => { one.closest('details').open = true; }")
    page.select_option("#lp-compare-with", "cosine_mse")
    page.wait_for_url("**/compare#*scene=*")
    page.wait_for_function(f"window.lossprism && {COMPARE}?.differing")
    seen = addresses_until_still(page)
    link = page.evaluate(f"{COMPARE}.exploreLink({COMPARE}.sides[1])")
    assert Scenario.from_link(link).data.rows == SHARED
    page.evaluate("(link) => { location.href = `./#${link}`; }", link)
    page.wait_for_function(f"window.lossprism && {FIRST} === {json.dumps(ROWS[0][0])}")
    assert all(scenario.data.rows == SHARED for one in seen for scenario in scenarios_in(one))
