"""The Large batch page, opened."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.large.steering import opened_page
from tests.browser.serving import Server


@pytest.fixture
def large(new_page: Callable[..., Page], server: Server) -> Page:
    return opened_page(new_page(), server.address)
