"""Whether a request named this computer."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.web.hosts import KnowsHost, asked_for_here


def found_in_a_thread(_request) -> JSONResponse:
    return JSONResponse(asked_for_here())


async def found_in_the_loop(_request) -> JSONResponse:
    return JSONResponse(asked_for_here())


APPLICATION = Starlette(
    routes=[Route("/thread", found_in_a_thread), Route("/loop", found_in_the_loop)],
    middleware=[Middleware(KnowsHost)],
)


def answered(host: str) -> bool:
    """What an application below the middleware finds, in its loop and in a thread of it."""
    client = TestClient(APPLICATION)
    found = {client.get(path, headers={"host": host}).json() for path in ("/thread", "/loop")}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "localhost", "[::1]:7860"])
def test_names_of_this_computer(host):
    assert answered(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:7860",
        "127.0.0.1.evil.example",
        "192.168.0.7:7860",
        "localhost.evil.example",
        "[",
    ],
)
def test_other_names_are_not(host):
    assert not answered(host)


def test_without_a_request_it_is_this_computer():
    assert asked_for_here()
