"""A page is where whoever runs it says, whatever a request says of proxies."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Request
from fastapi.middleware import Middleware
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.testclient import TestClient
from gradio.route_utils import get_root_url

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.web.middleware.public_address import PublicAddressMiddleware, read_address
from lossprism.explorer.web.middleware.visitor_key import VisitorKeyMiddleware

PUBLIC = "https://example.org/losses"
CLAIMS = {
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "1.2.3.4",
    "X-Gradio-Server": "http://evil.example",
    "Forwarded": "host=evil.example",
}


def client_of(address: str) -> TestClient:
    kept = [Middleware(PublicAddressMiddleware, address), Middleware(VisitorKeyMiddleware)]
    app = FastAPI(middleware=kept)
    app.root_path = address  # as Gradio does it

    @app.get("/where")
    def where(request: Request) -> JSONResponse:
        names = [name for name in CLAIMS if name.lower() in request.headers]
        root = get_root_url(request, "/where", address)
        return JSONResponse({"root": root, "url": str(request.url), "said": names})

    @app.get("/moved")
    def moved(to: str) -> RedirectResponse:
        return RedirectResponse(to)

    return TestClient(app, base_url="http://inside:7860", follow_redirects=False)


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setenv(HOSTED, "1")
    return monkeypatch


def test_a_hosted_page_takes_nobodys_word_for_where_it_is(hosted):
    answer = client_of("").get("/where", headers=CLAIMS).json()
    assert answer == {"root": "http://inside:7860", "url": "http://inside:7860/where", "said": []}
    answer = client_of(PUBLIC).get("/where", headers=CLAIMS).json()
    assert answer["root"] == PUBLIC
    assert answer["said"] == []


def test_the_proxy_of_the_hub_is_believed_and_at_home_ones_own(hosted):
    hosted.setenv("SPACE_ID", "somebody/lossprism")
    answer = client_of("").get("/where", headers=CLAIMS).json()
    assert answer["root"] == "https://evil.example"
    assert answer["said"] == list(CLAIMS)
    hosted.delenv("SPACE_ID")
    hosted.delenv(HOSTED)
    assert client_of("").get("/where", headers=CLAIMS).json()["said"] == list(CLAIMS)


@pytest.mark.parametrize("path", ["/where", "/losses/where"])
def test_a_proxy_may_leave_the_path_out_or_not(hosted, path):
    answer = client_of(PUBLIC).get(path).json()
    assert answer["url"] == "https://inside:7860/losses/where"


def test_a_path_alone_is_below_the_requested_name(hosted):
    answer = client_of("/losses").get("/where", headers=CLAIMS).json()
    assert answer["root"] == "http://inside:7860/losses"


@pytest.mark.parametrize(
    ("to", "leads"),
    [
        ("/large", "/losses/large"),
        ("/losses/large", "/losses/large"),
        ("/lossesx", "/losses/lossesx"),
        ("//elsewhere.example/", "//elsewhere.example/"),
        ("https://elsewhere.example/large", "https://elsewhere.example/large"),
    ],
)
def test_redirections_stay_below_the_path(hosted, to, leads):
    assert client_of(PUBLIC).get("/moved", params={"to": to}).headers["location"] == leads
    assert client_of("").get("/moved", params={"to": to}).headers["location"] == to


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (PUBLIC, {"Path=/losses", "SameSite=Lax", "Secure"}),
        ("http://example.org", {"Path=/", "SameSite=Lax"}),
        ("/losses", {"Path=/losses", "SameSite=Lax"}),
    ],
)
def test_the_key_goes_to_this_page_alone(hosted, address, message):
    cookie = client_of(address).get("/where", headers=CLAIMS).headers["set-cookie"]
    assert {*cookie.split("; ")[2:]} == {"HttpOnly", *message}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", ""),
        ("/", ""),
        (" https://example.org/losses/ ", PUBLIC),
        ("http://[::1]:8080/a/b", "http://[::1]:8080/a/b"),
        ("/losses/", "/losses"),
    ],
)
def test_addresses_are_read(typed, meant):
    assert read_address(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [
        *("example.org", "losses", "ftp://example.org", "//example.org", "https://", "https://:80"),
        *("https://example.org:port", "https://[::1", "/losses?a=b", "/losses#a", "/a b", "/a\nb"),
        *("https://user@example.org", "/löss", "/a\\b"),
    ],
)
def test_what_is_no_address_is_reported(typed):
    with pytest.raises(
        ValueError, match="accepted are a whole address, such as https://"
    ) as message:
        read_address(typed)
    assert repr(typed) in str(message.value)
