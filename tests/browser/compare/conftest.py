"""The Compare page, opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.compare.steering import PAGE, STILL, opened_page, unfolded
from tests.browser.conftest import Contexts, HandedOn, handing
from tests.browser.serving import Server
from tests.browser.ways import way_by_address

COMPLETE = f"location.hash && {STILL} && ({PAGE}.differing || {PAGE}.notDiffering)"


@pytest.fixture(scope="session")
def handed_on_compare(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, way_by_address("compare", opened_page, COMPLETE))


@pytest.fixture
def compare(handed_on_compare: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    with handing(handed_on_compare, request) as page:
        yield unfolded(page)
