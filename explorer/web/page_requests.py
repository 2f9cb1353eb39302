"""The requests of the pages: POST /requests/<page>/<name>, with JSON in and out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from anyio import CapacityLimiter
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lossprism.explorer.runtime.response_types import Json
from lossprism.explorer.web.hosting import with_headers
from lossprism.explorer.web.middleware.asgi import arrived, body_of
from lossprism.explorer.web.middleware.request_limits import PAGE_REQUESTS
from lossprism.explorer.web.middleware.request_threads import Pool
from lossprism.explorer.web.server_functions import sent

# What a hand on the page waits for has threads of its own, and so many; all else has these.
AT_HAND = ("explore", "compare", "look", "cancel")
PLACES_AT_HAND, PLACES = 40, 8

ServedFunction = Callable[[object], Json]


def routes(pages: Mapping[str, Iterable[ServedFunction]]) -> list[Route]:
    """Return a route for each function of each page, by the folder of the page."""
    at_hand, others = Pool(CapacityLimiter(PLACES_AT_HAND)), Pool(CapacityLimiter(PLACES))
    return [
        _route(folder, function, at_hand if function.__name__ in AT_HAND else others)
        for folder, functions in pages.items()
        for function in functions
    ]


def _route(folder: str, function: ServedFunction, pool: Pool) -> Route:
    ready = sent(function)

    async def answer(request: Request) -> Response:
        try:
            data = json.loads(body_of(await arrived(request.receive)))
        except (ValueError, RecursionError):
            raise RequestValidationError([]) from None
        with with_headers(request.headers):
            return await pool.run(ready, data)

    return Route(f"{PAGE_REQUESTS}{folder}/{function.__name__}", answer, methods=["POST"])
