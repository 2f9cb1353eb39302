"""The functions that pages call: POST /requests/<page>/<name>, with JSON in and out.

A page's `request_handlers.py` makes each of its functions with `served`; `routes` serves them.
"""

import contextlib
import functools
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import brotli
from anyio import CapacityLimiter
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.current_visitor import has_key
from lossprism.explorer.runtime.downloads import Download, address_of
from lossprism.explorer.runtime.jobs import Job, Jobs, Report
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import ANSWER_S
from lossprism.explorer.runtime.owner_consent import read_consent, with_consent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_size import check_answer
from lossprism.explorer.runtime.unsent_response_bytes import UNSENT_BYTES
from lossprism.explorer.runtime.validation import invalid_value
from lossprism.explorer.web.hosted_server_setup_and_cleanup import forget_visitor
from lossprism.explorer.web.middleware.accepted_compression import is_compressed
from lossprism.explorer.web.middleware.asgi_messages import arrived, body_of
from lossprism.explorer.web.middleware.exception_handler import problem_of
from lossprism.explorer.web.middleware.request_limits import PAGE_REQUESTS
from lossprism.explorer.web.middleware.request_threads import Pool
from lossprism.explorer.web.middleware.visitor_key import (
    as_current_visitor,
    current_headers,
    with_headers,
)

# What a hand on the page waits for has threads of its own, and so many; all else has these.
INTERACTIVE_FUNCTIONS = ("explore", "compare", "look", "cancel")
INTERACTIVE_THREADS, OTHER_THREADS = 40, 8
WORTH_COMPRESSING = 1024  # bytes

ServedFunction = Callable[[object], Json]
Made = TypeVar("Made")


def routes(pages: Mapping[str, Iterable[ServedFunction]]) -> list[Route]:
    """Return a route for each function of each page, by the folder of the page."""
    at_hand, others = (
        Pool(CapacityLimiter(INTERACTIVE_THREADS)),
        Pool(CapacityLimiter(OTHER_THREADS)),
    )
    return [
        _route(folder, function, at_hand if function.__name__ in INTERACTIVE_FUNCTIONS else others)
        for folder, functions in pages.items()
        for function in functions
    ]


def _route(folder: str, function: ServedFunction, pool: Pool) -> Route:
    ready = sent(function)

    async def answer(request: Request) -> Response:
        try:
            data = read_json(body_of(await arrived(request.receive)))
        except ValueError:
            raise RequestValidationError([]) from None
        with with_headers(request.headers):
            return await pool.run(ready, data)

    return Route(f"{PAGE_REQUESTS}{folder}/{function.__name__}", answer, methods=["POST"])


@dataclass(frozen=True)
class Refused:
    """The answer to a refused request."""

    error: Problem


@dataclass(frozen=True)
class Nothing:
    """Done, without a result."""


@dataclass(frozen=True)
class Look:
    """The requested job, null if none runs."""

    job: jobs.Progress | None


@dataclass(frozen=True)
class Cancelled:
    """Result of a cancellation: was there a job?"""

    cancelled: bool


def served(
    name: str,
    function: Callable[[Any], object],
    answers: object = None,
    takes: type = dict,
    keeps: bool = False,
) -> Callable[[object], object]:
    """Return a server function that turns a `Problem` into an answer the page can show.

    Its annotated return type is the type of its answers; `Refused` is one everywhere. A request of
    another type than it `takes` is refused. If it `keeps` data of a visitor, a hosted page requires
    their key: a browser that takes no cookies would find nothing of it again. The owner's consent
    is in "leave" (`explorer.runtime.owner_consent`). A request may name itself in "job"; it can
    then be followed and cancelled (`JOBS`). Any other error is a defect of ours: it is written to
    the terminal, and the page says so instead of falling silent.
    """

    def answer(request: object) -> object:
        try:
            if not isinstance(request, takes):
                raise invalid_value("request", request)
            with as_current_visitor(), _consent_in(request), _job_of(request):
                jobs.check()  # who has left while they waited for a thread is answered nothing
                if keeps and not has_key():
                    raise Problem("no_cookie")
                return function(_without_consent(request))
        except Problem as problem:
            return Refused(problem)
        except jobs.Cancelled:
            return Refused(Problem("cancelled", about="cancelled"))
        except Exception as error:
            return Refused(problem_of(error))

    answer.__name__ = name  # what the page calls it by
    if answers is None:
        answers = typing.get_type_hints(function, include_extras=True).get("return", object)
    answer.__annotations__ = {"request": object, "return": answers}
    return answer


def sent(function: Callable[[object], object]) -> Callable[[object], Response]:
    """Return the server function with its answer serialised: in a fifth of FastAPI's time, and
    compressed on a hosted page. Its bytes are counted until they are sent (`UNSENT_BYTES`)."""

    @functools.wraps(function)
    def answer(request: object) -> Response:
        found = function(request)
        try:
            UNSENT_BYTES.take(size := check_answer(found))
            return _counted(found, size)
        except Problem as problem:
            return Response(encoded(Refused(problem)), media_type="application/json")

    return answer


def _counted(answer: object, estimated: int) -> Response:
    """Return the answer as a response, whose bytes replace the estimate in the count."""
    try:
        body, headers = _written(answer)
    except BaseException:
        UNSENT_BYTES.release(estimated)
        raise
    UNSENT_BYTES.take(len(body), in_place_of=estimated)
    response = Response(body, media_type="application/json", headers=headers)
    UNSENT_BYTES.release_with(response, len(body))
    return response


def _written(answer: object) -> tuple[bytes, dict[str, str]]:
    body = encoded(answer)
    if len(body) > WORTH_COMPRESSING and is_compressed(current_headers()):
        return brotli.compress(body, quality=1), {"content-encoding": "br"}
    return body, {}


def _consent_in(request: object) -> contextlib.AbstractContextManager:
    """Read the owner's consent given on the page; its scenario may be somebody else's."""
    consent = request.get("leave", {}) if isinstance(request, dict) else {}
    return with_consent(read_consent(consent))


def _without_consent(request: object) -> Any:
    """Return the request without the consent, which a scenario must not have."""
    if not isinstance(request, dict):
        return request
    return {name: value for name, value in request.items() if name != "leave"}


def _job_of(request: object) -> contextlib.AbstractContextManager:
    name = request.get("job") if isinstance(request, dict) else None
    return jobs.job(name if isinstance(name, str) else None)


@dataclass(frozen=True)
class Working:
    """No answer yet: ask again."""

    working: jobs.Progress


def answer_when_done(job: Job, make: Callable[[Any], Made]) -> Made | Working:
    """Return `make` of a job's result, or the job's progress."""
    if not job.wait(ANSWER_S):
        return Working(job.progress)
    try:
        return make(job.result())
    except jobs.Cancelled:
        raise Problem("large_cancelled", about="cancelled") from None


def download_when_written(
    packed: Jobs, key: Hashable, work: Callable[[Report], Path]
) -> Download | Working:
    """Return the file that `work` writes, as a download: written once, and again if deleted
    meanwhile; or the progress."""
    job = started_once(packed, key, work, lambda path: path.exists())
    return answer_when_done(job, lambda path: Download(path.name, address_of(path)))


def started_once(
    started: Jobs, key: Hashable, work: Callable[[Report], Any], is_there: Callable[[Any], bool]
) -> Job:
    """Return the job of this key: run once, and again if its file was deleted meanwhile."""
    job = started.start(key, work)
    if job.wait(0) and not job.is_over and not _still(job, is_there):
        job.cancel()
        job = started.start(key, work)
    return job


def _still(job: Job, is_there: Callable[[Any], bool]) -> bool:
    try:
        return is_there(job.result())
    except Exception:  # `answer_when_done` reports it
        return True


def _look(name: object) -> Look:
    """Return the progress of the job of this name."""
    return Look(jobs.look(str(name)))


def _cancel(name: object) -> Cancelled:
    return Cancelled(jobs.cancel(str(name)))


def _forget(_request: object) -> Nothing:
    """Delete all data that a hosted page keeps of this visitor."""
    forget_visitor()
    return Nothing()


# For every page.
FORGET = served("forget", _forget)
# For every page that asks for long work (`PageEvents.work` of kit/page_topics_notices_and_jobs.js).
JOBS = [served("look", _look, takes=object), served("cancel", _cancel, takes=object)]
