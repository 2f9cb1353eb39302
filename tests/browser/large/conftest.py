"""The Large batch page, opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Contexts, HandedOn, handing
from tests.browser.large.steering import PAGE, opened_page
from tests.browser.serving import Server
from tests.browser.ways import way_by_address

COMPLETE = f"location.hash && {PAGE}.details && !{PAGE}.isStale && !{PAGE}.working"


@pytest.fixture(scope="session")
def handed_on_large(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, way_by_address("large", opened_page, COMPLETE))


@pytest.fixture
def large(handed_on_large: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    with handing(handed_on_large, request) as page:
        yield page
