"""The page served from a thread of this process."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import sys

import pytest
from gradio_client import Client

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.training import run_folder
from lossprism.explorer.runtime import worker_process
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.limits import VECTOR_CACHE_BYTES
from lossprism.explorer.sources.encoders.encoder_output_cache import limit_cache
from lossprism.explorer.web import site
from lossprism.explorer.web.api import gradio_private
from tests.browser.serving import free_port


@pytest.fixture(scope="module")
def opened():
    """The site that is served, and its address."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        running, found = site.open_page(Scenario(), "127.0.0.1", free_port())
    assert output.getvalue() == ""  # app.py's own line is the only one
    yield running, found
    running.close()


@pytest.fixture(scope="module")
def hosted(tmp_path_factory):
    """A hosted site, and its address."""
    gc.freeze()  # what other tests keep need not be gone through at each collection below
    factory, interval = logging.getLogRecordFactory(), sys.getswitchinterval()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOSTED, "1")
        patch.setenv("LOSSPRISM_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("LOSSPRISM_REQUESTS_AT_ONCE", "100000")
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("gradio")))
        patch.setattr(gradio_private, "UNFETCHED", 16)  # so that they can be exceeded soon
        patch.setattr(gradio_private, "CALLS_S", 0.001)
        running, address = site.open_page(Scenario(), "127.0.0.1", free_port())
        yield running, address
        running.close()
        # Answers that nobody fetched count as long as they are there.
        running.app.get_blocks()._queue.pending_messages_per_session.clear()
        gc.collect()
    for worker in worker_process.WORKERS:
        worker.end()
    logging.setLogRecordFactory(factory)
    sys.setswitchinterval(interval)
    limit_cache(VECTOR_CACHE_BYTES)


@pytest.fixture(scope="module")
def address(opened):
    return opened[1]


@pytest.fixture
def kept(tmp_path):
    run_folder.choose_root(tmp_path / "runs")
    yield tmp_path / "runs"
    run_folder.choose_root(None)


@pytest.fixture(scope="module")
def client(address):
    """What a program calls the endpoints with."""
    return Client(address, verbose=False, analytics_enabled=False)
