"""The Large batch page, opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Contexts, HandedOn, Way, back_by_address, handing
from tests.browser.large.steering import CHANNEL, opened_page
from tests.browser.serving import Server

COMPLETE = f"{CHANNEL}.details && !{CHANNEL}.working"


def opened(page: Page, address: str) -> None:
    opened_page(page, address)
    page.wait_for_function(f"{COMPLETE} && location.hash")


def back(page: Page, scene: str) -> None:
    back_by_address(page, "large", scene, COMPLETE)


@pytest.fixture(scope="session")
def handed_on_large(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, Way("large", "large", opened, back, whole=False))


@pytest.fixture
def large(handed_on_large: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    with handing(handed_on_large, request) as page:
        yield page
