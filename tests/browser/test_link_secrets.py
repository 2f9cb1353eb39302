"""What a link carries of typed sentences: no path, token or address, which this browser keeps."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from playwright.sync_api import Page, expect

from explorer.core.scenario import Scenario
from explorer.locale import say

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
    (scene,) = parse_qs(page.url.partition("#")[2])["scene"]
    assert Scenario.from_link(scene).data.rows == SHARED


def test_who_copies_such_a_link_is_told_what_it_leaves_out(page: Page) -> None:
    typed(page)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', "
        "{ value: { writeText: async () => {} }, configurable: true })"
    )
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("body")).to_contain_text(say("en", "ui.link_without_secrets"))
