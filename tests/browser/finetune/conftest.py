"""The server of the Fine-tune page, pages of it, and runs that have ended."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_file_reader import LIVE
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from tests.browser import axe
from tests.browser.conftest import Contexts, HandedOn, forgotten, handing, watched
from tests.browser.finetune.steering import (
    PAGE,
    TINY,
    UNFOLD,
    arrive,
    arrived,
    plan,
    taken_back,
    visitor,
)
from tests.browser.serving import Server
from tests.browser.ways import Way
from tests.sentences import wording
from tests.tiny import save_bert


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("finetune")


@pytest.fixture(scope="session")
def training_server(folder: Path) -> Iterator[Server]:
    with Server(folder, "--runs", str(folder / "runs")) as running:
        yield running
    assert "Traceback" not in running.complaints, running.complaints


@pytest.fixture
def open_page(
    contexts: Contexts, training_server: Server, folder: Path
) -> Iterator[Callable[..., Page]]:
    """The Fine-tune page in a browser of its own, at a place of the address."""
    faults: list[str] = []
    with contexts.lent() as take:

        def start(
            place: str = "",
            width: int = 1440,
            locale: str = "en-US",
            timed: bool = False,
            after: Page | None = None,
        ) -> Page:
            """`after` a page of the same browser, which remembers what was done there."""
            context = after.context if after else take(locale)
            page = watched(context, training_server.address, faults, (width, 900))
            if not after:
                forgotten(page, training_server.address)
            return arrive(page, training_server, place, timed)

        yield start
    runs = Runs(folder / "runs")  # what a failed test left must not keep the others waiting
    for run in runs.listed():
        if run.state in LIVE:
            with contextlib.suppress(Problem):  # it has ended meanwhile
                runs.stop(run.id)
    assert not faults, faults


@pytest.fixture(scope="package")
def handed_on_finetune(contexts: Contexts, training_server: Server) -> Iterator[HandedOn]:
    way = Way("finetune", "finetune", arrived, taken_back, whole=False)
    yield (handed_on := HandedOn(contexts, training_server, way))
    if handed_on.page:  # it would ask on which runs there are
        handed_on.page.close()


@pytest.fixture
def finetune(handed_on_finetune: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The Fine-tune page as it opens; what another test chose in it was taken back."""
    with handing(handed_on_finetune, request) as page:
        yield page


@pytest.fixture(scope="session")
def four(browser: Browser, training_server: Server) -> list[str]:
    """The names of four short runs that were begun with one press: CoSENT under two seeds, then the
    regression of cosines."""
    with visitor(browser, training_server) as page:
        plan(page, **TINY)
        page.evaluate(UNFOLD)
        page.select_option("#lp-finetune-another", "cosine_mse")
        page.fill("#lp-finetune-seeds", "2")
        expect(page.locator("#lp-finetune-start")).to_have_text(
            wording("finetune.start_many", count=4)
        )
        page.click("#lp-finetune-start")
        page.wait_for_function(f"{PAGE}.shown.length === 4")
        # The table is drawn again as each run ends: it is whole when every loss has both seeds.
        final = page.get_by_role("table", name=say("en", "finetune.final")).locator("tbody tr")
        expect(final).to_have_count(2)
        for row in (0, 1):
            expect(final.nth(row).locator("td").last).to_have_text("2")
            expect(final.nth(row)).to_contain_text("±")
        names = page.evaluate(f"{PAGE}.shown")
        page.wait_for_function(f"{json.dumps(names)}.every((one) => {PAGE}.trace(one)?.done)")
        return names


@pytest.fixture(scope="session")
def finished(four: list[str]) -> str:
    """The name of a short run that has ended."""
    return four[0]


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a random transformer of two layers."""
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def axe_script() -> str:
    return axe.script()


@pytest.fixture(scope="session")
def beside(four: list[str]) -> str:
    """The names of two short runs that differ in their loss, as they stand in an address."""
    return f"{four[0]},{four[2]}"
