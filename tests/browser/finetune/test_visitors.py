"""A hosted page and two browsers: what one began the other sees by its link alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from playwright.sync_api import Browser, Page, expect

from explorer.lab.training.plan import SCRATCH
from tests.browser.finetune.steering import CHANNEL, TRACE, begin, read, visitor, wait_for
from tests.browser.serving import Server

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("hosted")
    with Server(folder, "--hosted", "--runs", str(folder / "runs")) as running:
        yield running
    assert "Traceback" not in running.complaints, running.complaints


def listed(page: Page) -> list[str]:
    """The runs that the page is told of, asked anew."""
    page.evaluate(f"{CHANNEL}.listed = 0; {CHANNEL}.arrived = false; {CHANNEL}.tick()")
    page.wait_for_function(f"{CHANNEL}.arrived")
    return page.evaluate(f"{CHANNEL}.runs.map(({{ id }}) => id)")


def test_visitors_see_their_own_runs_and_the_link_of_another(
    browser: Browser, hosted: Server
) -> None:
    with visitor(browser, hosted) as mine, visitor(browser, hosted) as other:
        begin(mine, steps=4, evaluations=1)
        wait_for(mine, "finished")
        name = read(mine, "about.id")
        assert listed(mine) == [name]
        assert listed(other) == []
        other.goto("about:blank")
        other.goto(f"{hosted.address}/finetune#{name}")
        expect(other.locator("body")).to_contain_text(f"There is no run called “{name}”")
        mine.context.grant_permissions(["clipboard-read", "clipboard-write"])
        mine.get_by_role("button", name="Copy link").click()
        expect(mine.get_by_role("button", name="Copied")).to_be_visible()
        link = mine.evaluate("navigator.clipboard.readText()")
        assert link.startswith(f"{hosted.address}/finetune#{name}~")
        other.goto("about:blank")
        other.goto(link)
        other.wait_for_function(f"window.lossprism && {TRACE}?.about?.state === 'finished'")
        assert listed(other) == []
        refused = other.evaluate(
            f"{CHANNEL}.server.steer({{ run: {TRACE}.about.id, what: 'delete' }})"
        )
        assert refused["error"]["key"] == "problem.training_read_only"
        mine.get_by_role("button", name="Take back the link").click()
        expect(mine.get_by_role("button", name="Take back the link")).to_be_hidden()
        other.reload()
        expect(other.locator("body")).to_contain_text(f"There is no run called “{name}”")
        mine.once("dialog", lambda dialog: dialog.accept())
        with mine.expect_navigation():
            mine.click("#lp-forget")
        mine.wait_for_function(f"window.lossprism && {CHANNEL}.checked")
        assert listed(mine) == []
        assert not list((Path(hosted.arguments[-1])).glob("*"))


def test_a_program_that_keeps_cookies_finds_its_runs_again(hosted: Server) -> None:
    texts = [f"text {i}" for i in range(24)]
    given = {"sentences1": texts, "sentences2": texts[::-1], "scores": [i % 3 for i in range(24)]}
    options = {"steps": 2, "dimension": 8, "batch_size": 4, "evaluations": 1}
    mine, another = (Client(hosted.address, verbose=False) for _ in range(2))
    started = mine.predict(
        "cosent", **given, encoder=SCRATCH, options=options, api_name="/start_training"
    )
    assert mine.predict(started["id"], api_name="/training_status")["id"] == started["id"]
    with pytest.raises(AppError, match="no run called"):
        another.predict(started["id"], api_name="/training_status")


def test_a_program_without_cookies_is_told_its_key(hosted: Server) -> None:
    texts = [f"text {i}" for i in range(24)]
    scores = [i % 3 for i in range(24)]
    options = {"steps": 2, "dimension": 8, "batch_size": 4, "evaluations": 1}

    def call(name: str, *given: object) -> dict:
        url = f"{hosted.address}/gradio_api/run/{name}"
        return httpx.post(url, json={"data": given}, timeout=60).json()["data"][0]

    began = call(
        *("start_training", "cosent", texts, texts[::-1], scores, None, SCRATCH, options, ""),
        *("", "", None, "", None),
    )
    assert call("training_status", began["id"], 0, began["key"])["id"] == began["id"]
