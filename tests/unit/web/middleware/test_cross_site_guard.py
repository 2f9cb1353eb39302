"""The guard: whatever route the app has, the page of another site reaches none of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import pytest
from fastapi.testclient import TestClient
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute
from starlette.websockets import WebSocketDisconnect

from lossprism.explorer.web.middleware.cross_site_guard import (
    FRAMES,
    CrossSiteGuardMiddleware,
    frame_ancestors,
)
from lossprism.explorer.web.middleware.host_names_from_environment import HostNames, accepted_names

HERE = "127.0.0.1:7860"
PAGES = ["/", "/compare", "/doctor", "/large", "/finetune"]
# What a browser says of a request that the page of another site makes.
FOREIGN = {
    "a script": {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    "a script without an origin": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    "a page of another port": {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
    "an old browser": {"origin": "https://evil.example"},
    "another port by an old browser": {"origin": "http://127.0.0.1:9999"},
    "localhost by another name": {"origin": "http://localhost:7860"},
    "another scheme": {"origin": "https://127.0.0.1:7860"},
    "a file or a sandboxed frame": {"origin": "null"},
    "no origin at all": {"origin": "http://["},
    "a form": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "origin": "null"},
}
OWN = [
    {},  # curl, gradio_client, a client of MCP
    {"origin": f"http://{HERE}", "sec-fetch-site": "same-origin"},
    {"origin": f"http://{HERE}"},
    {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
]
REACHED = 299  # a status that no refusal has


class Reached:
    """An app that is reached: it answers everything, and Gradio's routes are known to it."""

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close"})
            return
        await HTMLResponse("<p>reached</p>", REACHED)(scope, receive, send)


def client(names: HostNames | None = None, root: str = "") -> TestClient:
    guarded = CrossSiteGuardMiddleware(
        Reached(), names or accepted_names("127.0.0.1", environment={}), PAGES, root
    )
    return TestClient(guarded, base_url=f"http://{HERE}")


@pytest.fixture(scope="module")
def routes(opened) -> list[tuple[str, str]]:
    """The method and the address of everything that the app answers."""
    found = list(addresses(opened[0].app.routes))
    paths = {path for _, path in found}
    assert {"/gradio_api/queue/join", "/requests/explore/explore", "/config", "/"} <= paths
    assert any("mcp" in path for path in paths)
    return found


@pytest.fixture(scope="module")
def asks() -> Iterator[TestClient]:
    """One client for requests of every route: each by itself would begin a thread of its own."""
    with client() as entered:
        yield entered


def addresses(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Also those of a router that FastAPI has included, which it keeps in one route."""
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            yield from addresses(included.routes)
            continue
        path = re.sub(r"\{[^}]*\}", "x", getattr(route, "path", ""))
        known = getattr(route, "methods", None) or ["GET", "POST", "DELETE"]
        yield from ((method, path or "/") for method in known)


def test_no_route_answers_the_page_of_another_site(routes, asks):
    for method, path in routes:
        for who, message in FOREIGN.items():
            answer = asks.request(method, path, headers=message)
            navigates = message.get("sec-fetch-mode") == "navigate"
            opened = navigates and method in ("GET", "HEAD") and (path.rstrip("/") or "/") in PAGES
            expected = REACHED if opened else 403
            assert answer.status_code == expected, (method, path, who)
            assert "access-control-allow-origin" not in answer.headers


def test_no_route_answers_to_a_name_that_a_stranger_pointed_here(routes, asks):
    for host in ("evil.example", "evil.example:7860", "127.0.0.1.evil.example", "192.168.0.7", ""):
        for method, path in routes:
            answer = asks.request(method, path, headers={"host": host})
            assert answer.status_code == 403, (method, path, host)


def test_our_own_pages_and_programs_reach_every_route(routes, asks):
    for method, path in routes:
        for message in OWN:
            assert asks.request(method, path, headers=message).status_code == REACHED


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("dest", ["document", "iframe"])
def test_another_site_may_open_a_page_and_frame_it(page, dest):
    values = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": dest,
    }
    assert client().get(page, headers=values).status_code == REACHED
    assert client().post(page, headers=values).status_code == 403


KINDS = [
    ("application/json", REACHED),
    ("application/json; charset=utf-8", REACHED),
    ("Application/JSON", REACHED),
    ("text/plain", 415),
    ("text/plain; application/json", 415),
    ("application/x-www-form-urlencoded", 415),
    ("multipart/form-data; boundary=x", 415),
    ("", 415),
]


@pytest.mark.parametrize(("kind", "status"), KINDS)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_only_json_is_read(kind, status, method):
    path = "/requests/explore/explore"
    values = {"content-type": kind} if kind else {}
    answer = client().request(method, path, headers=values, content=b'{"data": 1}')
    assert answer.status_code == status


def test_a_file_is_handed_in_as_a_form_where_files_are_taken():
    values = {"content-type": "multipart/form-data; boundary=x"}
    posted = client().post("/gradio_api/upload", headers=values, content=b"--x--")
    assert posted.status_code == REACHED
    below = client(root="/losses").post(
        "/losses/gradio_api/upload", headers=values, content=b"--x--"
    )
    assert below.status_code == REACHED


def test_a_socket_of_another_site_is_closed():
    asks = client()
    with (
        pytest.raises(WebSocketDisconnect),
        asks.websocket_connect("/x", headers={"host": HERE, "origin": "https://evil.example"}),
    ):
        pass
    with asks.websocket_connect("/x", headers={"host": HERE, "origin": f"http://{HERE}"}):
        pass


NAMED = [
    ("127.0.0.1", "", {}, ["localhost:1", "LOCALHOST.", "127.0.0.1", "[::1]:7860", "127.9.9.9"]),
    ("192.168.0.7", "", {}, ["192.168.0.7:7860"]),
    ("box.lan", "", {}, ["Box.LAN:80"]),
    ("0.0.0.0", "", {}, ["192.168.0.7:7860", "[fe80::1]:7860"]),
    ("127.0.0.1", "https://example.org/losses", {}, ["example.org", "example.org:443"]),
    ("127.0.0.1", "https://abc.gradio.live", {}, ["abc.gradio.live"]),
    ("0.0.0.0", "", {"SPACE_ID": "a/b", "SPACE_HOST": "a-b.hf.space"}, ["a-b.hf.space"]),
    ("0.0.0.0", "", {"SPACE_ID": "a/b"}, ["anything.example"]),
    ("127.0.0.1", "", {"COLAB_RELEASE_TAG": "r"}, ["x-colab.googleusercontent.com"]),
    ("127.0.0.1", "", {"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}, ["kkb.kaggle.net"]),
    ("127.0.0.1", "", {"JUPYTERHUB_SERVICE_PREFIX": "/user/a/"}, ["hub.example.org"]),
    ("127.0.0.1", "", {"CODESPACES": "true"}, ["a-7860.app.github.dev"]),
]


@pytest.mark.parametrize(("host", "address", "environment", "hosts"), NAMED)
def test_names_that_are_known(host, address, environment, hosts):
    names = accepted_names(host, address, environment)
    for one in hosts:
        assert names.know(one), one


UNNAMED = [
    ("127.0.0.1", "", {}, ["192.168.0.7", "example.org", "localhost.evil.example", "", "["]),
    ("0.0.0.0", "", {}, ["evil.example", "192.168.0.7.evil.example"]),
    ("127.0.0.1", "/losses", {}, ["example.org"]),
    ("127.0.0.1", "https://example.org", {}, ["evil.example", "x.example.org"]),
    ("0.0.0.0", "", {"SPACE_ID": "a/b", "SPACE_HOST": "a-b.hf.space"}, ["evil.example"]),
    ("127.0.0.1", "", {"COLAB_RELEASE_TAG": "r"}, ["googleusercontent.com.evil.example"]),
    ("127.0.0.1", "", {"COLAB_RELEASE_TAG": ""}, ["x-colab.googleusercontent.com"]),
]


@pytest.mark.parametrize(("host", "address", "environment", "hosts"), UNNAMED)
def test_names_that_are_not_known(host, address, environment, hosts):
    names = accepted_names(host, address, environment)
    for one in hosts:
        assert not names.know(one), one


def test_a_public_link_is_one_more_name():
    names = accepted_names("127.0.0.1", "", {}).also("https://0123.gradio.live")
    assert names.know("0123.gradio.live")
    assert names.know("127.0.0.1:7860")
    assert not names.know("9999.gradio.live")


def test_a_proxy_has_the_origin_of_the_address():
    names = accepted_names("127.0.0.1", "https://example.org:8443/losses", {})
    asks, path = client(names, "/losses"), "/losses/gradio_api/queue/join"
    for host in ("example.org", "example.org:8443", "127.0.0.1:7860"):
        values = {"host": host, "origin": "https://example.org:8443"}
        assert asks.post(path, headers=values, json={}).status_code == REACHED
        values["origin"] = "https://evil.example"
        assert asks.post(path, headers=values, json={}).status_code == 403


@pytest.mark.parametrize(("language", "word"), [("en", "--address"), ("zh-CN,zh;q=0.9", "主机名")])
def test_a_refusal_says_what_to_do_in_the_language_of_the_reader(language, word):
    values = {"host": "box.lan:7860", "accept-language": language}
    assert word in client().get("/", headers={**values, "accept": "text/html"}).text
    answer = client().get("/", headers=values).json()
    assert word in answer["detail"]
    assert json.dumps(answer["error"]["values"]) == '{"host": "box.lan:7860"}'


def test_who_may_show_a_page_in_a_frame(monkeypatch):
    policy = client().get("/").headers["content-security-policy"]
    assert policy == f"frame-ancestors {frame_ancestors()}"
    assert "http://localhost:*" in policy  # a notebook
    assert "*" not in policy.split()
    monkeypatch.setenv("COLAB_RELEASE_TAG", "r")
    assert frame_ancestors().startswith(policy.removeprefix("frame-ancestors "))
    assert "https://colab.research.google.com" in frame_ancestors().split()
    monkeypatch.setenv("SPACE_ID", "a/b")
    assert frame_ancestors() == "*"
    monkeypatch.setenv(FRAMES, "https://blog.example")
    assert client().get("/").headers["content-security-policy"].endswith(" https://blog.example")
