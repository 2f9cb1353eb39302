"""What the tests of the Fine-tune page do with it: choose, begin, wait, read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder
from tests.browser.conftest import PATIENCE_MS
from tests.browser.first_screen import words_and_controls
from tests.browser.serving import Server

MOST_WORDS, MOST_CONTROLS = 200, 15  # on a screen
PAGE = "window.lossprism.page('finetune')"
TRACE = f"{PAGE}.trace()"
PROBE = f"{PAGE}.probe"
ASKED = re.compile("/requests/finetune/")  # where the page puts its questions
TINY = {"encoder": SCRATCH, "steps": 12, "batch_size": 16, "evaluations": 4, "dimension": 32}
UNFOLD = "() => document.querySelectorAll('.lp details').forEach((fold) => { fold.open = true; })"
# Two trial steps of every plan that is chosen on the way load its encoder for nobody.
UNTIMED = f"""() => {{
  const {{ work }} = {PAGE};
  {PAGE}.work = async (server, name, request) =>
    name === "estimate" ? {{}} : work.call({PAGE}, server, name, request);
}}"""


TAKE_BACK = f"""() => {{
  const page = {PAGE};
  page.show([]);
  page.store.reset();
  page.checked = null;
  page.takeOver({{}});
}}"""


def arrive(page: Page, training_server: Server, place: str = "", timed: bool = False) -> Page:
    """The page at a place of the address, when it can be used; what would take how long is only
    tried out for those who look at it."""
    page.goto(f"{training_server.address}/finetune{place}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE}.checked")
    if not timed:
        page.evaluate(UNTIMED)
    return page


def arrived(page: Page, address: str) -> None:
    page.goto(f"{address}/finetune", wait_until="domcontentloaded")
    known_again(page)


def known_again(page: Page) -> None:
    """A page that was opened, or loaded again, can be used; nothing is tried out."""
    page.wait_for_function(f"window.lossprism && {PAGE}.checked && {PAGE}.arrived")
    page.evaluate(UNTIMED)


def taken_back(page: Page, _: str) -> None:
    """The page as it opens: no runs, and the usual plan."""
    page.evaluate(TAKE_BACK)
    page.wait_for_function(f"{PAGE}.checked && !{PAGE}.checks.flying")


def led(page: Page, names: str) -> Page:
    """The page that is open, led to runs by the address."""
    page.evaluate("names => { location.hash = names; }", names)
    page.wait_for_function(f"names => {PAGE}.shown.join() === names && {TRACE}?.about", arg=names)
    return page


@contextmanager
def visitor(browser: Browser, training_server: Server, place: str = "") -> Iterator[Page]:
    """The page of someone who comes, does one thing, and leaves."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield arrive(page, training_server, place)
    context.close()


def plan(page: Page, **chosen: object) -> None:
    """Choose what the sidebar offers, all at once; wait for what the server says of it. A folder
    of this computer, which nobody typed, is agreed to."""
    page.evaluate(f"{PAGE}.checked = null; {PAGE}.setPlan({json.dumps(chosen)})")
    page.wait_for_function(f"{PAGE}.checked || document.querySelector('.lp-question')")
    if page.locator(".lp-question").count():
        page.click(".lp-question [value=yes]")
    page.wait_for_function(f"{PAGE}.checked")


def begin(page: Page, **chosen: object) -> None:
    plan(page, **{**TINY, **chosen})
    page.click("#lp-finetune-start")


def wait_for(page: Page, *states: str) -> None:
    wanted = json.dumps(states)
    page.wait_for_function(f"{wanted}.includes({TRACE}?.about?.state)")


def read(page: Page, what: str) -> object:
    return page.evaluate(f"{TRACE}.{what}")


def read_of(page: Page, name: str, what: str) -> object:
    return page.evaluate(f"{PAGE}.trace('{name}').{what}")


NEW_YEAR = 1_767_225_600  # the time in the name of a made run


def made_run(
    folder: Path, name: str, plan: TrainingPlan, created: int = NEW_YEAR, **state: object
) -> RunFolder:
    """The folder of a run that has ended, without training one."""
    run = RunFolder(folder / "runs" / f"20260101-000000-{name}")
    run.path.mkdir(parents=True)
    about = {"plan": plan.to_json(), "created": created, "skipped": 0, "shared": 0}
    about["rules"] = {"threshold": 1.0, "label_range": [0.0, 2.0]}
    run.write("config.json", about)
    usual = {"state": "finished", "ticket": 1, "process": 1, "born": 0, "steps": plan.steps}
    run.write("state.json", {**usual, **state})
    return run


def pairs_file(columns: str, count: int) -> dict[str, object]:
    rows = "".join(f"{i},This {i},That {i},{i % 3},Other {i}\n" for i in range(count))
    content = f"{columns}\n{rows}".encode()
    return {"name": f"{count}.csv", "mimeType": "text/csv", "buffer": content}


def taken(page: Page, folder: Path, name: str) -> Path:
    """What a press on the button gives. A browser asks before a page saves many."""
    take = page.locator(".lp-finetune_takeaway")
    with page.expect_download() as waiting:
        take.get_by_role("button", name=name, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def settled(page: Page, state: str) -> None:
    """What the state has to show is there, unfolded."""
    if state != "empty":
        page.wait_for_function(f"{PROBE}.picture")
        expect(page.locator(".lp-gains-figure")).to_be_visible()
        expect(page.locator(".lp-finetune_run .lp-remark")).not_to_be_empty()
    page.evaluate(UNFOLD)


def is_short(page: Page) -> None:
    words, controls = words_and_controls(page)
    assert 0 < words <= MOST_WORDS
    assert 0 < controls <= MOST_CONTROLS
