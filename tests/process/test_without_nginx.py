"""A hosted app has its limits and its guard also where no nginx stands before it, as in a Space."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import httpx
import pytest

from tests.browser.serving import Server

ASK = "/requests/explore/open_link"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hosted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOSSPRISM_BODY_MIB", "0.001")
        patch.setenv("LOSSPRISM_BODY_SECONDS", "0.5")
        patch.setenv("LOSSPRISM_REQUESTS_AT_ONCE", "20")
        patch.setenv("LOSSPRISM_REQUESTS_A_SECOND", "0.001")
        with Server(folder, "--hosted", "--data", str(folder / "data")) as running:
            yield running


def visitor(server: Server) -> httpx.Client:
    """A client with a key of its own."""
    client = httpx.Client(base_url=server.address)
    assert client.get("/").status_code == 200
    return client


def problem_in(answer: httpx.Response) -> str:
    return answer.json()["error"]["key"]


def test_what_is_too_large_is_refused(server):
    answer = visitor(server).post(ASK, json="a" * 2000)
    assert (answer.status_code, problem_in(answer)) == (413, "problem.too_much")


def test_what_comes_too_slowly_is_refused(server):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    line.putrequest("POST", ASK)
    line.putheader("Content-Type", "application/json")
    line.putheader("Content-Length", "9")
    line.endheaders(b"1")
    answer = line.getresponse()
    assert answer.status == 408
    assert json.loads(answer.read())["error"]["key"] == "problem.too_slow"


def test_who_asks_too_often_is_refused_alone(server):
    mine = visitor(server)
    statuses = [mine.post(ASK, json="a link").status_code for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    assert visitor(server).post(ASK, json="a link").status_code == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "http://evil.example", "x-forwarded-host": "evil.example"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_no_other_site_acts_for_a_visitor(server, claims):
    """A proxy is believed in a Space alone."""
    answer = visitor(server).post(ASK, json="a link", headers=claims)
    assert answer.status_code == 403


def test_what_a_request_says_of_proxies_counts_for_nothing(server):
    claims = {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https"}
    answer = httpx.get(server.address, headers=claims)
    assert "evil.example" not in answer.text
    assert "Secure" not in answer.headers["set-cookie"]
