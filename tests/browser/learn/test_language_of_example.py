"""What the pages below Learn open with, for readers of another language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.serving import Server

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("path", "name"), [("map", "sentence_map"), ("landscape", "landscape")])
def test_without_an_address_the_example_is_in_the_readers_language(
    new_page: Callable[..., Page], server: Server, path: str, name: str
) -> None:
    page = new_page(locale="zh-CN")
    state = f"window.lossprism?.page('{name}')"

    def example_of(link: str) -> str:
        page.goto("about:blank")
        page.goto(f"{server.address}/learn/{path}{link}", wait_until="domcontentloaded")
        page.wait_for_function(f"{state}?.drawn")
        return page.evaluate(f"{state}.store.state.example")

    assert example_of("") == "graded_chinese_multilingual"
    # English was chosen here: the address says it, so that it opens as it was left.
    page.evaluate(f"{state}.set({{ example: 'graded_english' }})")
    page.wait_for_function("location.hash === '#example=graded_english'")
    assert example_of("#example=graded_english") == "graded_english"
    # An English reader left it out of the address.
    assert example_of("#search=cat&negative=0.2") == "graded_english"
