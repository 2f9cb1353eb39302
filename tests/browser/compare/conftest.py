"""The Compare page, opened."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.compare.steering import opened_page
from tests.browser.serving import Server


@pytest.fixture
def compare(new_page: Callable[..., Page], server: Server) -> Page:
    return opened_page(new_page(), server.address)
