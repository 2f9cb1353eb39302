"""The page of another site, in a real browser, beside an app at home: it may show ours, and does
nothing with it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from playwright.sync_api import Browser, Page, Response, expect

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.notebook.embedded_page import EmbeddedPage
from tests.browser.serving import Server
from tests.sentences import wording

# What a page can try without being asked first, and what a browser would ask for it.
EXPLORES = "/requests/explore/explore"
TRIES = """async address => {
    const tried = {};
    const told = async (name, options, path) => {
        try {
            const answer = await fetch(address + path, options);
            tried[name] = answer.type === "opaque" ? "sent" : await answer.text();
        } catch (error) {
            tried[name] = "refused";
        }
    };
    const body = JSON.stringify({ data: [], session_hash: "x", fn_name: "start" });
    const kind = (name) => ({ "content-type": name });
    const plain = { method: "POST", mode: "no-cors", body, headers: kind("text/plain") };
    const path = "/gradio_api/call/start_training";
    await told("text/plain", plain, path);
    await told("no kind", { method: "POST", mode: "no-cors", body: new Blob([body]) }, path);
    await told("JSON", { method: "POST", body, headers: kind("application/json") }, path);
    await told("reads", {}, "/gradio_api/info");
    await told("reads the page", {}, "/");
    tried.events = await new Promise((resolve) => {
        const source = new EventSource(`${address}/gradio_api/queue/data?session_hash=x`);
        source.onopen = () => resolve("heard");
        source.onerror = () => resolve("refused");
    });
    const form = document.createElement("form");
    Object.assign(form, { action: address + path, method: "post", enctype: "text/plain" });
    form.target = "shown";
    form.append(Object.assign(document.createElement("input"), { name: body, value: "" }));
    const frame = Object.assign(document.createElement("iframe"), { name: "shown" });
    document.body.append(frame, form);
    form.submit();
    await new Promise((resolve) => { frame.onload = resolve; });
    return tried;
}"""


@pytest.fixture
def stranger() -> Iterator[str]:
    """A site of another port of this computer, whose page is empty."""

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Stranger</title><body>")

        def log_message(self, *_: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}"
    site.shutdown()
    site.server_close()


def runs_of(server: Server) -> list[Path]:
    return [found for found in server.cache.parent.rglob("plan.json") if found.is_file()]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_page_of_another_site_reads_and_starts_nothing(
    browser: Browser, server: Server, stranger: str, name: str
):
    before = runs_of(server)
    page = browser.new_page()
    page.goto(stranger.replace("127.0.0.1", name))
    statuses: dict[str, int] = {}
    page.on("response", lambda answer: statuses.update({answer.url: answer.status}))
    tried = page.evaluate(TRIES, server.address)
    assert {key: tried[key] for key in ("JSON", "reads", "reads the page", "events")} == {
        "JSON": "refused",
        "reads": "refused",
        "reads the page": "refused",
        "events": "refused",
    }
    answered = {url: status for url, status in statuses.items() if url.startswith(server.address)}
    assert answered
    assert set(answered.values()) == {403}
    assert runs_of(server) == before
    page.close()


def test_the_page_is_shown_in_a_frame_of_a_notebook(
    browser: Browser, server: Server, stranger: str
):
    page: Page = browser.new_page()
    page.goto(stranger.replace("127.0.0.1", "localhost"))
    page.evaluate(
        "address => document.body.append(Object.assign("
        "document.createElement('iframe'), { src: address, width: 1200, height: 900 }))",
        server.address,
    )
    page.frame_locator("iframe").locator("canvas").first.wait_for()
    page.close()


def test_the_page_in_the_cell_of_a_notebook_asks_before_a_model_is_fetched(
    browser: Browser, server: Server, stranger: str
):
    rows = (("A cat.", "A dog.", "1"), ("A bird.", "The sun.", "0"))
    scenario = Scenario(data=Data("table", rows=rows, encoder="stranger/model"))
    shown = EmbeddedPage(f"{server.address}/#{scenario.to_link()}")
    page = browser.new_page()
    page.goto(stranger.replace("127.0.0.1", "localhost"))
    answers: list[Response] = []
    page.on("response", lambda one: answers.append(one) if EXPLORES in one.url else None)
    with page.expect_response(lambda one: EXPLORES in one.url):
        page.evaluate("html => { document.body.innerHTML = html; }", shown._repr_html_())
    question = page.frame_locator("iframe").get_by_role("dialog")
    expect(question).to_contain_text("stranger/model")
    question.get_by_role("button").first.click()  # declines
    expect(question).to_have_count(0)
    expect(page.frame_locator("iframe").locator("body")).to_contain_text(
        wording("problem.model_leave")
    )
    assert {one.json()["error"]["about"] for one in answers} == {"leave"}
    page.close()


def test_programs_are_answered_as_before(server: Server):
    health = httpx.get(f"{server.address}/healthz")
    assert health.json()["alive"]
    begun = httpx.post(f"{server.address}/gradio_api/call/list_losses", json={"data": []})
    assert begun.json()["event_id"]
    assert "cosent" in json.dumps(
        Client(server.address, verbose=False).predict(api_name="/list_losses")
    )
    rebound = httpx.get(server.address, headers={"host": "evil.example"})
    assert rebound.status_code == 403


def test_a_server_of_a_network_answers_other_sites_nothing(
    browser: Browser, own_server: Callable[..., Server], stranger: str
):
    """At 0.0.0.0 it is called by numbers that are not this computer's own names."""
    server = own_server("--host", "0.0.0.0")
    values = {"origin": "https://evil.example"}
    answer = httpx.get(f"{server.address}/gradio_api/info", headers={**values, "host": "10.0.0.7"})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
    request = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    ahead = httpx.options(
        f"{server.address}/gradio_api/call/x", headers={**request, "host": "10.0.0.7"}
    )
    assert "access-control-allow-origin" not in ahead.headers
