"""A hosted app by itself, over HTTP: of all that a stranger may send, a part, another one with
another seed. All of it is a part of ``python -m benchmarks hosting``."""

from __future__ import annotations

import random

import pytest

from benchmarks.hosting import malformed_requests
from lossprism.explorer.web.site import ENDPOINTS
from tests import wire
from tests.browser.serving import Server

SEED, CALLS = 13, 60

pytestmark = [pytest.mark.encoder, pytest.mark.trains]


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hosted")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in malformed_requests.ENVIRONMENT.items():
            patch.setenv(name, value)
        with Server(folder, "--hosted", "--data", str(folder / "data")) as running:
            yield malformed_requests.Stranger(running.address, running.process.pid)
    assert "Traceback" not in running.complaints, running.complaints


def test_every_part_of_the_health_report_is_queried(stranger):
    served = {(page, name) for page, all_ in wire.served_functions().items() for name in all_}
    assert set(stranger.paths) == served
    assert set(stranger.endpoints) == {function.__name__ for function in ENDPOINTS}
    assert set(stranger.tools) == set(stranger.endpoints)
    called = {call.name for call in stranger.calls() if call.odd}
    assert len(called) == len(served) + len(stranger.endpoints) + len(stranger.tools)


@pytest.mark.thorough
def test_an_answer_or_a_sentence_soon_and_from_little_memory(stranger):
    calls = list(stranger.calls())
    expected = {call.name: call for call in calls if not call.odd}
    drawn = random.Random(SEED).sample([call for call in calls if call.odd], CALLS)
    found = stranger.tries(one for call in drawn for one in (expected[call.name], call))
    assert found.too_much == []
    assert found.calls == 2 * CALLS
    assert found.sentences > CALLS / 4
