"""Labels and similarities of a whole file compared, corrected on the page, and taken away."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.large.steering import PAGE
from tests.browser.large.test_sources import upload
from tests.sentences import wording

pytestmark = pytest.mark.browser

PART = "#large-large_suspects"
LONG = "the children who play in the yard are watched by an old man in the background " * 3


def judged_file() -> str:
    source = np.random.default_rng(0)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["sentence1", "sentence2", "score", "similarity"])
    for row in range(1500):
        label = row % 6
        score = label / 5 + source.normal() / 20
        writer.writerow([f"{row} {LONG}", f"{LONG} {row}", 5 - label if row < 3 else label, score])
    return out.getvalue()


def rows_of(page: Page, within: str, name: str) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        page.locator(within).get_by_role("button", name=name).click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def judged(page: Page, count: int) -> None:
    page.wait_for_function(
        f"""count => window.lossprism
            && {PAGE}.judged?.pairs === count && !{PAGE}.working""",
        arg=count,
    )


def test_a_suspect_of_a_file_is_read_corrected_and_all_of_it_taken_away(large: Page) -> None:
    upload(large, "judged.csv", judged_file())
    judged(large, 1500)
    part = large.locator(PART)
    expect(part).to_contain_text(wording("ui.suspects_expected"))
    expect(large.locator("#lp-large-figure-spearman strong")).to_contain_text("0.9")
    words = part.locator("tbody tr:visible .lp-two span").first
    expect(words).to_contain_text(LONG.strip())
    assert words.evaluate("line => line.scrollWidth <= line.clientWidth + 1")  # not cut
    part.get_by_role("button", name=say("en", "ui.correct_out")).first.click()
    judged(large, 1499)
    part.get_by_role("button", name="Use").first.click()
    expect(part).to_contain_text(wording("ui.corrections", count=2))
    large.wait_for_function(f"{PAGE}.answered.source.corrections.length === 2 && !{PAGE}.working")
    changed = rows_of(large, PART, wording("ui.take_corrections"))
    assert sorted(bool(row["corrected"]) for row in changed) == [False, True]
    assert {int(row["row"]) for row in changed} <= {1, 2, 3, 4}
    assert len(rows_of(large, PART, say("en", "ui.take_corrected"))) == 1499
    large.click("#lp-large-take summary")
    every = rows_of(large, "#lp-large-take", "All pairs")
    assert len(every) == 1499
    assert {"gradient", "similarity", "contradicted_share"} <= set(every[0])
    with large.expect_download() as waiting:
        large.locator("#lp-large-take").get_by_role("button", name="PNG 2×").first.click()
    assert waiting.value.suggested_filename == "lossprism-cosent-map@2x.png"
    large.reload()
    judged(large, 1499)
    expect(part).to_contain_text(wording("ui.corrections", count=2))
