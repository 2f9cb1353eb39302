"""Whether a request named this computer."""

from __future__ import annotations

import asyncio

import pytest

from explorer.web.hosts import KnowsHost, asked_for_here


def answered(host: str | None) -> bool:
    """What an application below the middleware finds."""
    found = []

    async def application(scope, receive, send):
        found.append(asked_for_here())

    headers = [] if host is None else [(b"host", host.encode())]
    asyncio.run(KnowsHost(application)({"type": "http", "headers": headers}, None, None))
    return found[0]


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "localhost", "[::1]:7860"])
def test_names_of_this_computer(host):
    assert answered(host)


@pytest.mark.parametrize(
    "host",
    ["evil.example:7860", "127.0.0.1.evil.example", "192.168.0.7:7860", "localhost.evil.example"],
)
def test_other_names_are_not(host):
    assert not answered(host)


def test_without_a_request_it_is_this_computer():
    assert answered(None)
    assert asked_for_here()
