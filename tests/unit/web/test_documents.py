"""A page has a head of its own; on a hosted app it is laid out once for all, and never in place of
another."""

from __future__ import annotations

import itertools

import pytest
from fastapi import FastAPI, HTTPException, Request
from fastapi.middleware import Middleware
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.testclient import TestClient

from explorer.front.address import KnowsAddress
from explorer.runtime.promise import HOSTED
from explorer.web.documents import KEPT_PAGES, AnswersPages, with_head
from explorer.web.hosting import KnowsVisitor

BASE, HEAD = '<head><base href="./" />', '<link rel="modulepreload" href="é.js">'
GRADIO = """
  <meta property="og:title" content="Gradio" />
  <meta
    name="twitter:card" content="large" />
  <meta name="viewport" content="width=device-width" />"""


@pytest.fixture
def application(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setenv(HOSTED, "1")
    heads = dict.fromkeys(["/", "/large", "/json", "/broken"], HEAD)
    kept = [Middleware(KnowsVisitor), Middleware(AnswersPages, heads)]
    made, times = FastAPI(middleware=kept), itertools.count()

    @made.get("/")
    @made.get("/large")
    @made.get("/other")
    def page(request: Request) -> HTMLResponse:
        said = f"<p>{request.url.path} of {request.headers['host']} é {next(times)}"
        return HTMLResponse(BASE + GRADIO + "</head>" + said + " " * 5000)

    @made.get("/json")
    def json() -> JSONResponse:
        return JSONResponse(next(times))

    @made.get("/broken")
    def broken() -> None:
        raise HTTPException(503)

    return made


def asked(application, path="/", **headers) -> str:
    answer = TestClient(application, headers=headers).get(path)
    assert answer.status_code == 200
    return answer.text.partition("</head>")[2].strip()


@pytest.mark.parametrize("encoding", ["identity", "br", "gzip, br;q=0.8", "gzip, br; q=0"])
def test_a_page_is_laid_out_once(application, encoding):
    headers = {"Accept-Encoding": encoding}
    first = asked(application, **headers)
    assert first == "<p>/ of testserver é 0"
    assert asked(application, "/?lang=zh", **headers) == first
    assert asked(application, "/?deep_link=a", **headers) == first  # there are none
    answer = TestClient(application, headers=headers).get("/")
    packed = "br" in encoding and "q=0" not in encoding.split("; ")
    assert packed == (answer.headers.get("content-encoding") == "br")
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("hosted", ["1", None])
@pytest.mark.parametrize("path", ["/", "/large"])
def test_a_page_has_its_own_head_where_addresses_begin_to_count(
    application, monkeypatch, path, hosted
):
    if hosted is None:
        monkeypatch.delenv(HOSTED)
    head = TestClient(application).get(path).text.partition("</head>")[0]
    assert head.startswith(BASE + HEAD)
    assert "og:" not in head
    assert "twitter" not in head
    assert 'name="viewport"' in head
    assert HEAD not in TestClient(application).get("/other").text


def test_what_stands_below_the_head_is_the_pages_own():
    said = b'<base href="./"></head><meta property="og:title" content="mine">'
    assert with_head(said, "H") == said.replace(b'"./">', b'"./">H')
    with pytest.raises(ValueError, match="no <base>"):
        with_head(b"<html></html>", "H")


def test_each_who_opens_it_has_a_key_of_their_own(application):
    cookies = {TestClient(application).get("/").headers["set-cookie"] for _ in range(3)}
    assert len(cookies) == 3


def test_another_page_another_name_and_what_is_ones_own_are_others(application):
    found = [
        asked(application),
        asked(application, "/large"),
        asked(application, host="other.example"),
        asked(application, **{"X-Forwarded-Host": "third.example"}),
        asked(application, "/other"),
        asked(application, "/other"),
    ]
    assert len(set(found)) == len(found)


def test_below_a_path(application):
    application.user_middleware.insert(0, Middleware(KnowsAddress, "https://example.org/losses"))
    assert asked(application, "/large") == asked(application, "/losses/large")
    assert asked(application, "/") != asked(application, "/large")


def test_what_is_no_page_is_not_kept(application):
    client = TestClient(application)
    assert client.get("/json").json() != client.get("/json").json()
    assert client.get("/broken").status_code == client.get("/broken").status_code == 503
    assert client.post("/").status_code == 405


def test_names_that_somebody_makes_up_fill_no_memory(application):
    for number in range(KEPT_PAGES + 5):
        asked(application, host=f"{number}.example")
    (kept,) = _kept(application)
    assert len(kept._kept) == KEPT_PAGES


def _kept(application):
    at = application.middleware_stack
    while at is not None:
        if isinstance(at, AnswersPages):
            yield at
        at = getattr(at, "app", None)


def test_at_home_it_is_as_it_was(application, monkeypatch):
    monkeypatch.delenv(HOSTED)
    assert asked(application) != asked(application)
