"""The Map and the Sphere, opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Contexts, HandedOn, handing
from tests.browser.learn import steering
from tests.browser.serving import Server
from tests.browser.ways import way_by_address


@pytest.fixture(scope="session")
def handed_on_map(contexts: Contexts, server: Server) -> HandedOn:
    way = way_by_address("sentence_map", steering.open_map, steering.MAP_DRAWN, "learn/map")
    return HandedOn(contexts, server, way)


@pytest.fixture
def sentence_map(handed_on_map: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    with handing(handed_on_map, request) as page:
        yield page


@pytest.fixture(scope="session")
def handed_on_sphere(contexts: Contexts, server: Server) -> HandedOn:
    way = way_by_address("sphere", steering.open_sphere, steering.FILMED, "learn/sphere")
    return HandedOn(contexts, server, way)


@pytest.fixture
def sphere(handed_on_sphere: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    with handing(handed_on_sphere, request) as page:
        yield page
