"""Whether a request named this computer."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.middleware import Middleware
from fastapi.testclient import TestClient

from lossprism.explorer.web.middleware.host_and_origin_of_request import (
    HostMiddleware,
    host_is_this_computer,
)

APPLICATION = FastAPI(middleware=[Middleware(HostMiddleware)])


@APPLICATION.get("/thread")
def found_in_a_thread() -> bool:
    return host_is_this_computer()


@APPLICATION.get("/loop")
async def found_in_the_loop() -> bool:
    return host_is_this_computer()


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
    assert host_is_this_computer()
