"""Every CSV file that a page offers: a script reads each number in it as a number."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.web.site import PAGES
from tests.browser.reading import settle
from tests.browser.serving import Server
from tests.browser.test_everyone import COMPLETE, OPEN_ALL, open_all
from tests.plain_numbers import text_columns

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

# How many files a page offers as it opens; those of a run are read in the tests of Fine-tune.
OFFERED = {"": 5, "compare": 9, "large": 5}
# Whatever is text in any of them: sentences, names of rows and of losses, words of a verdict.
TEXT = re.compile(
    r"(row_|column_)?sentence[12]|row|column|(row|column|item)_text|item|figure|text|terms \(\w+\)"
    r"|loss|convention|parameters?|library|version|status|because|first|second|kind|base|other"
)
# Opens what is folded, and what comes with it, until there are so many files.
OFFERS = f"""(least) => {{
  ({OPEN_ALL})();
  return [...document.querySelectorAll("main button")]
    .filter((one) => one.checkVisibility() && /CSV\\)?$/.test(one.textContent)).length >= least;
}}"""


def test_every_number_of_every_page_is_read_as_a_number(
    new_page: Callable[..., Page], server: Server, subtests: pytest.Subtests
) -> None:
    page = new_page()
    for path, *_ in PAGES:
        with subtests.test(path=path):
            page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
            page.wait_for_function(COMPLETE[path])
            if not path:
                settle(page)
                open_all(page)
                page.click("#lp-source-random")
                page.click("#lp-spread")  # the figures of many batches are a file too
            page.wait_for_function(OFFERS, arg=OFFERED.get(path, 0))
            buttons = page.locator("main button:visible").filter(has_text=re.compile(r"CSV\)?$"))
            expect(buttons).to_have_count(OFFERED.get(path, 0))
            for button in buttons.all():
                with page.expect_download() as download:
                    button.click()
                table = pd.read_csv(download.value.path(), encoding="utf-8-sig")
                assert len(table)
                assert not [name for name in text_columns(table) if not TEXT.fullmatch(name)]
