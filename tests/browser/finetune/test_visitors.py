"""A hosted page and two browsers: what one began the other sees by its link alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lossprism.explorer.locale import say
from tests.browser.finetune.steering import PAGE, TRACE, begin, read, visitor, wait_for
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("hosted")
    with Server(folder, "--hosted", "--runs", str(folder / "runs")) as running:
        yield running
    assert "Traceback" not in running.complaints, running.complaints


def listed(page: Page) -> list[str]:
    """Request the runs that the page receives."""
    page.evaluate(f"{PAGE}.listed = 0; {PAGE}.arrived = false; {PAGE}.tick()")
    page.wait_for_function(f"{PAGE}.arrived")
    return page.evaluate(f"{PAGE}.runs.map(({{ id }}) => id)")


def test_visitors_see_their_own_runs_and_the_link_of_another(
    browser: Browser, hosted: Server
) -> None:
    with visitor(browser, hosted) as mine:
        begin(mine, steps=4, evaluations=1)
        wait_for(mine, "finished")
        name = read(mine, "about.id")
        assert listed(mine) == [name]
        with visitor(browser, hosted, f"#{name}") as other:
            _seen_by_its_link_alone(mine, other, hosted, name)
        mine.click("#lp-forget")
        with mine.expect_navigation():
            mine.get_by_role("dialog").get_by_text(wording("ui.forget_mine")).click()
        mine.wait_for_function(f"window.lossprism && {PAGE}.checked")
        assert listed(mine) == []
        assert not list((Path(hosted.arguments[-1])).glob("*"))


def _seen_by_its_link_alone(mine: Page, other: Page, hosted: Server, name: str) -> None:
    expect(other.locator("body")).to_contain_text(wording("problem.training_no_run", name=name))
    assert listed(other) == []
    mine.context.grant_permissions(["clipboard-read", "clipboard-write"])
    mine.get_by_role("button", name=say("en", "ui.copy_link")).click()
    expect(mine.get_by_role("button", name="Copied")).to_be_visible()
    link = mine.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{hosted.address}/finetune#{name}~")
    other.goto(link)  # another place of the page that is open
    other.wait_for_function(f"{TRACE}?.about?.state === 'finished'")
    assert listed(other) == []
    refused = other.evaluate(f"{PAGE}.server.steer({{ run: {TRACE}.about.id, what: 'delete' }})")
    assert refused["error"]["key"] == "problem.training_read_only"
    mine.get_by_role("button", name=wording("finetune.unshare")).click()
    expect(mine.get_by_role("button", name=wording("finetune.unshare"))).to_be_hidden()
    other.reload()
    expect(other.locator("body")).to_contain_text(wording("problem.training_no_run", name=name))
