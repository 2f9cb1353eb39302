"""Whatever is sent gets an answer: what was asked for or a sentence, soon, from little memory.

Each server function of each page and each endpoint is asked what it expects with one entry after
another odd (`tests.hostile`). One that is new is found by itself, and asked by the names that the
others know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from gradio.routes import ORJSONResponse

from lossprism.explorer.lab import variation_over_batches
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.runtime import downloads
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.practice_sentences import practice_pairs
from lossprism.explorer.web import hosted_server_setup_and_cleanup, site
from lossprism.explorer.web.api import endpoint_functions
from lossprism.explorer.web.api.gradio_endpoint_wrapper import Refusal, endpoint
from lossprism.explorer.web.pages.claims import request_handlers as claims_requests
from lossprism.explorer.web.pages.explore import request_handlers as explore_requests
from lossprism.explorer.web.pages.finetune import plan_check as finetune_check
from lossprism.explorer.web.pages.finetune import request_handlers as finetune_requests
from lossprism.explorer.web.pages.finetune import request_plan, time_estimate
from lossprism.explorer.web.pages.sentence_map import request_handlers as map_requests
from tests import wire
from tests.expected import FILE, FULL, SHARED, arguments_of, known_requests, requests_of
from tests.hostile import varied
from tests.unit.web.programs import REQUEST
from tests.unit.web.test_wire import SMALL, trained

pytestmark = [pytest.mark.encoder, pytest.mark.thorough]

SECONDS = 1.0  # of a processor
MIB = 200
TURNS = 8  # an entry inside another gets every eighth odd value, the next one those after them


def wrong(
    answer: Callable[[], object],
    capsys: pytest.CaptureFixture,
    before: float,
    written: Callable[[object], bytes],
) -> Iterator[str]:
    """What is wrong with what comes, how long it takes and how much memory since there was as much
    as `before`."""
    began = time.process_time()
    try:
        answer_ = answer()
        written(answer_)
        if "problem.internal" in str(answer_):
            lines = capsys.readouterr().err.strip().splitlines()
            places = [line for line in lines if "explorer/" in line or "losses/" in line]
            yield f"went wrong inside: {lines[-1]}{''.join(places[-1:])}"
    except Exception as error:
        yield f"raised {error!r:.300}"
    if (took := time.process_time() - began) > SECONDS:
        yield f"took {took:.1f} s"
    if (held := memory(b"VmHWM:") - before) > MIB:
        yield f"held {held:.0f} MiB"


def memory(what: bytes) -> float:
    """A figure of this process in MiB, 0 where the system tells none."""
    try:
        with open("/proc/self/status", "rb") as file:
            result = file.read()
    except OSError:
        return 0.0
    return int(result.partition(what)[2].split(maxsplit=1)[0]) / 1024


def peak_begins() -> float:
    """From here on VmHWM is the peak since now; how much there is now."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    return memory(b"VmRSS:")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A run that has ended. What is written stays in a folder of the test, and no run begins."""
    folder = tmp_path_factory.mktemp("fuzz")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made = Runs(folder / "runs", device="cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOSSPRISM_CACHE", str(folder / "cache"))
        patch.delenv("SPACE_ID", raising=False)
        patch.setattr(downloads, "FOLDER", folder / "downloads")
        patch.setattr(downloads, "PACKED_FOLDER", folder / "downloads" / "taken")
        patch.setattr(explore_requests, "default_runs", lambda: made)
        patch.setattr(finetune_requests, "runs", lambda: made)
        patch.setattr(finetune_check, "runs", lambda: made)
        patch.setattr(time_estimate, "runs", lambda: made)
        patch.setattr(claims_requests, "default_runs", lambda: made)
        patch.setattr(map_requests, "default_runs", lambda: made)
        patch.setattr(hosted_server_setup_and_cleanup, "default_runs", lambda: made)
        patch.setattr(endpoint_functions, "Runs", lambda **_: made)
        patch.setattr(made, "_spawn", lambda run, *_: run.take_ticket(os.getpid()))
        timed = dict.fromkeys((*time_estimate.PACE_FIELDS, "steps"), 1)
        patch.setattr(time_estimate, "estimate", lambda *_, **__: timed)
        patch.setattr(request_plan, "practice_pairs", lambda name: practice_pairs(name, 60))
        patch.setattr(explore_requests, "BATCH_COUNT", 3)
        patch.setattr(variation_over_batches.random_batches, "__defaults__", (3,))
        run = trained(made, {**SMALL, "parameters": {"scale": 20}})
        # What was checked is not written: thousands of runs would be.
        patch.setattr(made, "_begin", lambda *_: run)
        yield run
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def functions(here):
    return wire.served_functions()


@pytest.mark.parametrize("page", site.FACTS)
def test_what_a_page_may_be_sent(page, here, functions, capsys):
    assert page in functions
    file = functions["explore"]["read_file"](FILE)["file"]
    known = known_requests(file, here)
    found = []
    for name, function in functions[page].items():
        requests = requests_of(page, name, known)
        for begin, request in enumerate(requests):
            function(request)  # a model or a library may have to be loaded first
            before = peak_begins()
            whole = () if name in FULL else SHARED
            for what, odd in varied(request, whole, (max(len(requests), 2), TURNS), begin):
                found += [
                    f"{name}, {what}: {fault}"
                    for fault in wrong(lambda f=function, odd=odd: f(odd), capsys, before, encoded)
                ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("function", site.ENDPOINTS, ids=lambda function: function.__name__)
def test_what_a_program_may_send(function, here, capsys):
    expected = arguments_of(function, here)
    serve = endpoint(function)

    def ask(given: dict) -> object:
        try:
            return serve(*given.values(), REQUEST)
        except Refusal as refusal:
            inside = str(Problem("internal"))
            return {"problem.internal": 1} if inside in str(refusal) else {"error": str(refusal)}

    ask(expected)
    if function is endpoint_functions.explain_loss_value:
        ask({**expected, "loss": ""})  # the first of all losses computes what stays of each
    found, before = [], peak_begins()
    for what, odd in varied(expected, turns=(2, TURNS)):
        if isinstance(odd, dict) and odd.keys() == expected.keys():
            found += [
                f"{what}: {fault}"
                for fault in wrong(lambda odd=odd: ask(odd), capsys, before, ORJSONResponse._render)
            ]
    assert not found, "\n".join(found)
