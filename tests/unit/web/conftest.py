"""The page served from a thread of this process."""

from __future__ import annotations

import contextlib
import io

import pytest
from gradio_client import Client

from explorer.core.scenario import Scenario
from explorer.lab.training import folder
from explorer.web import site
from tests.browser.serving import free_port


@pytest.fixture(scope="module")
def opened():
    """The blocks that are served, and their address."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        demo, found = site.open_page(Scenario(), "127.0.0.1", free_port())
    assert said.getvalue() == ""  # app.py's own line is the only one
    yield demo, found
    demo.close(verbose=False)


@pytest.fixture(scope="module")
def address(opened):
    return opened[1]


@pytest.fixture
def kept(tmp_path):
    folder.choose_root(tmp_path / "runs")
    yield tmp_path / "runs"
    folder.choose_root(None)


@pytest.fixture(scope="module")
def client(address):
    """What a program calls the endpoints with."""
    return Client(address, verbose=False, analytics_enabled=False)
