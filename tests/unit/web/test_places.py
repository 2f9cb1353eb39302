"""No answer of a hosted page says where on its machine anything stands."""

from __future__ import annotations

import errno
import json
import tempfile
from pathlib import Path

import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web import site
from lossprism.explorer.web.api.gradio_endpoint_wrapper import Refusal, endpoint
from lossprism.explorer.web.page_requests import served
from tests.downloads import file_of
from tests.expected import arguments_of, known_requests, requests_of
from tests.unit.web.test_visitors import MINE, ask, handed_in, pages, runs, trained
from tests.wire import by_name

__all__ = ["pages", "runs"]  # fixtures
ROOT = Path(__file__).parents[3]
# `tmp_path`, in which uploads, runs and downloads of the test stand, is below the last.
PLACES = [str(ROOT), str(Path.home()), f"{tempfile.gettempdir()}/"]
HERE = Path(tempfile.gettempdir()) / "a" / "b"
ERRORS = {
    "no permission": lambda: PermissionError(errno.EACCES, "denied", str(HERE)),
    "no file": lambda: FileNotFoundError(errno.ENOENT, "missing", str(ROOT / "app.py")),
    "full disk": lambda: OSError(errno.ENOSPC, "full", str(HERE)),
    "defect": lambda: ValueError(f"{ROOT}/app.py is broken"),
    "path and error": lambda: Problem(
        "training_no_folder", folder=HERE, reason=OSError(13, "no", str(ROOT))
    ),
    "text": lambda: Problem(
        "training_crashed", reason=f"no {ROOT}/x", file=str(Path.home() / "a.txt")
    ),
}


def places_in(answer: object) -> list[str]:
    message = json.dumps(answer, ensure_ascii=False, default=str).replace("\\\\", "\\")
    return [place for place in PLACES if place in message]


@pytest.mark.encoder
@pytest.mark.parametrize("page", ["explore", "compare", "doctor", "large", "finetune"])
def test_what_a_page_is_answered(page, pages, runs):
    known = known_requests(handed_in(pages), trained(runs))
    found = {}
    for name, function in pages[page].items():
        for request in requests_of(page, name, known):
            if places := places_in(ask(MINE, function, request)):
                found[name] = places
    assert not found


@pytest.mark.encoder
@pytest.mark.parametrize("what", ["kit", "model"])
def test_where_a_packed_run_is_taken(what, pages, runs):
    answer = ask(MINE, pages["finetune"]["take"], {"run": trained(runs), "what": what})
    assert file_of(answer).is_file()
    assert not places_in(answer)


@pytest.mark.encoder
@pytest.mark.parametrize("function", site.ENDPOINTS, ids=lambda function: function.__name__)
def test_what_a_program_is_answered(function, runs):
    arguments = arguments_of(function, trained(runs))
    if "key" in arguments:
        arguments["key"] = MINE
    try:
        answer = ask(MINE, endpoint(function), *arguments.values())
    except Refusal as refusal:
        answer = str(refusal)
    assert not places_in(answer)


@pytest.mark.parametrize("kind", ERRORS)
def test_what_goes_wrong(kind, runs):
    def fail(request: object) -> dict:
        raise ERRORS[kind]()

    answer = ask(MINE, by_name([served("fail", fail)])["fail"], {})
    assert "error" in answer
    with pytest.raises(Refusal) as refused:
        ask(MINE, endpoint(fail), {})
    assert not places_in([answer, str(refused.value)])
