"""The Compare page, opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.compare.steering import CHANNEL, STILL, opened_page
from tests.browser.conftest import Contexts, HandedOn, Way, back_by_address, handing
from tests.browser.serving import Server

COMPLETE = f"{STILL} && {CHANNEL}.differing"


def opened(page: Page, address: str) -> None:
    opened_page(page, address)
    page.wait_for_function(f"{COMPLETE} && location.hash")


def back(page: Page, scene: str) -> None:
    back_by_address(page, "compare", scene, COMPLETE)


@pytest.fixture(scope="session")
def handed_on_compare(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, Way("compare", "compare", opened, back, whole=False))


@pytest.fixture
def compare(handed_on_compare: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    with handing(handed_on_compare, request) as page:
        yield page
