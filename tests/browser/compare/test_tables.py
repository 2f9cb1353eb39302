"""The files of numbers that Compare gives: a script reads every number in them as a number."""

from __future__ import annotations

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.web.pages.compare.state_entries import VARIED
from tests.browser.compare.steering import STILL, led, unfolded
from tests.plain_numbers import text_columns

pytestmark = pytest.mark.browser

BUTTON = "[data-take='take.csv']:visible"
TEXT_COLUMNS = {
    *("loss", "convention", "parameters", "library", "version", "status", "because", "odd"),
    *("first", "second", "sentence1", "sentence2", "kind", "base", "other", "parameter"),
    *("change", "by", "way", "notices", "form", "type", "broken", "refused"),
}


def table_of(button: Locator) -> pd.DataFrame:
    with button.page.expect_download() as download:
        button.click()
    return pd.read_csv(download.value.path(), encoding="utf-8-sig")


@pytest.mark.thorough
def test_every_file_holds_plain_numbers(compare: Page) -> None:
    page = led(compare, "1=cosent&2=info_nce&3=margin_mse")
    unfolded(page, "parity", "vary")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_function(STILL)
    expect(page.locator(".lp-parity tbody tr").first).to_be_visible()
    buttons = page.locator(BUTTON)
    tables = [table_of(buttons.nth(place)) for place in range(buttons.count())]
    assert len(tables) >= 5
    for table in tables:
        assert len(table)
        names = text_columns(table) - TEXT_COLUMNS
        # A matrix's first column names its rows.
        assert names <= {table.columns[0]}, names
        assert all(name.endswith(")") for name in names), names


@pytest.mark.thorough
def test_every_experiment_gives_plain_numbers(compare: Page) -> None:
    for name in VARIED:
        page = led(compare, f"1=cosent&2=info_nce&vary={name}")
        section = unfolded(page, "vary").locator("#lp-vary-panel")
        expect(section.locator("tbody tr").first).to_be_visible()
        section.locator(".lp-save > summary").click()
        table = table_of(section.locator(BUTTON))
        assert len(table)
        assert text_columns(table) <= TEXT_COLUMNS, name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_losses_stand_at_full_precision(compare: Page, language: str) -> None:
    page = led(compare, "1=cosent&2=info_nce&2.temperature=0.01")
    if language == "zh":
        page.locator("#lp-language").click()
    numbers = page.locator("#compare-numbers")
    numbers.locator(".lp-save > summary").click()
    table = table_of(numbers.locator(BUTTON))
    assert text_columns(table) <= TEXT_COLUMNS
    for line, parameters in enumerate([{}, {"temperature": 0.01}]):
        loss = table.loss[line]
        alone = explore(Scenario(loss=loss, parameters=tuple(parameters.items())))
        assert table.value[line] == alone.loss
        assert table.gradient_norm[line] == alone.gradient_norm
        assert table.value_at_collapse[line] == alone.collapse
