"""One server and one browser for all browser tests, and pages that tolerate no fault."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from tests.__main__ import CHROMIUM
from tests.browser.reading import TWO_FRAMES, redrawn, still, visit
from tests.browser.serving import Server
from tests.browser.ways import Way

# Chromium's own services must not look like requests of ours.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
# The pages of a user have one process, which has compiled the scripts when the first is open.
ARGUMENTS += ["--renderer-process-limit=1"]

# For a machine that has other things to do. A test that passes never waits as long; whoever mends
# one that fails sets PATIENCE_MS to less.
PATIENCE_MS = int(os.environ.get("PATIENCE_MS", 300_000))
expect.set_options(timeout=PATIENCE_MS)
# What is waited for is asked so often: in every frame, as is usual, it takes a core from whoever
# computes it.
ASKED_MS = 50

LAST_LINES = 20
FAILED: pytest.StashKey[bool] = pytest.StashKey()

Kind = tuple[str, str]  # the language of a context, and what else it was made with
USUAL = (1440, 900)
VIEWPORT = {"width": USUAL[0], "height": USUAL[1]}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`app.py`; it must not have printed a single traceback."""
    with Server(tmp_path_factory.mktemp("server")) as running:
        yield running
    assert "Traceback" not in running.complaints, running.complaints


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # A Chromium of the system, else the one that Playwright itself downloaded.
        system = next(filter(None, map(shutil.which, CHROMIUM)), None)
        try:
            opened = playwright.chromium.launch(executable_path=system, args=ARGUMENTS)
        except Error as error:
            pytest.fail(
                "The browser tests need Chromium: `playwright install chromium`, or Debian's "
                f"package `chromium-headless-shell`. Starting it failed: {error}",
                pytrace=False,
            )
        yield opened
        opened.close()


# The lever moves by itself for whoever is here for the first time: see test_spotlight.py.
SEEN_THE_LEVER = "if (origin !== 'null') localStorage.setItem('lossprism.lever_seen', 'yes')"


def watched(
    context: BrowserContext, address: str, faults: list[str], size: tuple[int, int] = USUAL
) -> Page:
    """A page that notes every console error, uncaught error, failed answer, and other host."""
    page = context.new_page()
    page.add_init_script(SEEN_THE_LEVER)
    if size != USUAL:
        page.set_viewport_size({"width": size[0], "height": size[1]})
    page.set_default_timeout(PATIENCE_MS)
    page.wait_for_function = partial(page.wait_for_function, polling=ASKED_MS)

    def requested(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            faults.append(f"asked another host: {request.url}")

    def answered(response: Response) -> None:
        if response.status >= 400:
            faults.append(f"{response.status} from {response.url}")

    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
    page.on("request", requested)
    page.on("response", answered)
    return page


class Contexts:
    """Browser contexts lent out again and again: they have the scripts in their cache already, and
    a page that stays open keeps the process that has compiled them, so that pages open in half the
    time. Nothing else of what was there before is left in them. Each page has a size of its own."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser = browser
        self._stays = f"{server.address}/theme.css"
        self._free: defaultdict[Kind, list[BrowserContext]] = defaultdict(list)

    @contextmanager
    def lent(self) -> Iterator[Callable[..., BrowserContext]]:
        """Contexts of users who do not know each other, until the test is over."""
        taken: list[tuple[Kind, BrowserContext]] = []

        def take(locale: str, **more: object) -> BrowserContext:
            kind = locale, repr(sorted(more.items()))
            context = self._free[kind].pop() if self._free[kind] else self.made(locale, **more)
            taken.append((kind, context))
            return context

        yield take
        for kind, context in taken:
            if context in self.browser.contexts:  # else the test has closed it
                for page in context.pages[1:]:
                    page.close()
                context.clear_cookies()
                self._free[kind].append(context)

    def made(self, locale: str, **more: object) -> BrowserContext:
        context = self.browser.new_context(viewport=VIEWPORT, locale=locale, **more)
        context.new_page().goto(self._stays)
        return context


def forgotten(page: Page, address: str) -> Page:
    """The page of someone of whom nothing is stored from before."""
    kept = {"origin": address, "storageTypes": "local_storage"}
    page.context.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
    return page


@pytest.fixture(scope="session")
def contexts(browser: Browser, server: Server) -> Contexts:
    return Contexts(browser, server)


@pytest.fixture
def new_page(
    browser: Browser, contexts: Contexts, server: Server, own_server: Callable[..., Server]
) -> Iterator[Callable[..., Page]]:
    """Pages in contexts of their own, as of users who do not know each other.

    They are closed before a server of the test's own is stopped: its end is no fault of theirs.
    """
    own, faults = [], []
    with contexts.lent() as take:

        def start(
            width: int = 1440, height: int = 900, locale: str = "en-US", address: str = "", **more
        ) -> Page:
            size = (width, height)
            if not address:
                page = watched(take(locale, **more), server.address, faults, size)
                return forgotten(page, server.address)
            own.append(browser.new_context(viewport=VIEWPORT, locale=locale, **more))
            return watched(own[-1], address, faults, size)

        yield start
    for context in own:
        context.close()
    assert not faults, faults


# Notes at which changes of the scenario there is more to take back than the scene: the sidebar
# knows what was typed, read and encoded.
NOTED = """() => {
  const scene = window.lossprism.page();
  const own = ({ source, rows, file, encoder, cross_encoder, corrections }) =>
    JSON.stringify([source, rows, file, encoder, cross_encoder, corrections]);
  const usual = own(scene.scenario.data);
  window.touched = false;
  scene.on("scenario", () => { window.touched ||= own(scene.scenario.data) !== usual; });
  scene.on("problem", () => { window.touched ||= scene.problem !== null; });
}"""
# Everything that can be put back is: language and looks, what is pointed at, where it is scrolled
# to.
PUT_BACK = """([name, whole]) => {
  const scene = window.lossprism.page(name);
  if (whole && (window.touched || scene.problem)) return false;
  const press = (button) => document.querySelector(button).click();
  const { body, documentElement: root } = document;
  if (body.classList.contains("lp-presenting")) press("#lp-leave");
  if (body.classList.contains("dark")) press("#lp-theme");
  if (!root.lang.startsWith("en")) press("#lp-language");
  document.activeElement?.blur();
  scene.point?.();
  scrollTo(0, 0);
  return true;
}"""
# And so is the scenario.
SCENE_BACK = """() => {
  const scene = window.lossprism.page();
  const { scenario } = scene, { defaults } = window.lossprism.pageData;
  scene.store.reset(defaults);
  if (JSON.stringify(scenario) !== JSON.stringify(scene.scenario)) scene.show(defaults);
}"""
# Where it does not matter what the page has seen: the scenario, with nothing left to complain of.
SCENE_ANEW = """() => {
  const scene = window.lossprism.page();
  scene.store.reset(window.lossprism.pageData.defaults);
  scene.show(window.lossprism.pageData.defaults);
  const changed = ".lp-button[data-say='ui.as_table'][aria-pressed=true], "
    + "#main-matrix [data-say='ui.whole_matrix']:not([hidden])";
  document.querySelectorAll(changed).forEach((button) => button.click());
}"""
SPEAKS_ENGLISH = "document.documentElement.lang.startsWith('en')"
FORGET = """(kept) => {
  const others = Object.keys(localStorage).filter((one) => !kept.includes(one));
  for (const one of others) localStorage.removeItem(one);
}"""
# Of the scenario that there was, which can have others.
FOLD = """(open) => {
  document.querySelectorAll(".lp details").forEach((fold, at) => { fold.open = open[at]; });
}"""
OPEN_FOLDS = "[...document.querySelectorAll('.lp details')].map((fold) => fold.open)"
# The scripts in whose place others could have been put. What has looked at the page may stay in it.
SCRIPTS = """(name) => {
  const { server, work } = window.lossprism.page(name);
  return [Object.keys(window).filter((one) => !["touched", "axe"].includes(one)).join(),
    Object.values(server).join(), String(work)];
}"""
# What there is to see, hear and choose, and the scripts in whose place others could have been put.
SEEN = """(name) => {
  const { server, work, ...scene } = window.lossprism.page(name);
  const parts = [...document.querySelectorAll(".lp")];
  const inside = parts.flatMap((part) => [...part.querySelectorAll("*")])
    .filter((one) => !one.closest("tr[hidden]"));  // rows that a table keeps for later
  const text = parts.map((part) => {
    const copy = part.cloneNode(true);
    for (const row of copy.querySelectorAll("tr[hidden]")) row.remove();
    // In one order, whatever was set first.
    for (const canvas of copy.querySelectorAll("canvas")) {
      const sizes = ["width", "height"].map((name) => [name, canvas.getAttribute(name)]);
      for (const [name, size] of sizes) {
        canvas.removeAttribute(name);
        if (size !== null) canvas.setAttribute(name, size);
      }
    }
    return copy.outerHTML
      .replace(/ (data-drawn|style|title)="[^"]*"| class=""|<strong>[^<]* ms<.strong>/g, "");
  });
  const values = inside.map(({ value, checked, scrollTop, scrollLeft, hidden, style }) =>
    [value, checked, scrollTop, scrollLeft, hidden || style?.cssText]);
  const canvases = inside.flatMap((one) =>
    one instanceof HTMLCanvasElement ? [one.toDataURL()] : []);
  return [document.documentElement.lang, document.body.className, innerWidth, innerHeight,
    Object.keys(window).join(), Object.values(server).join(), String(work),
    Object.keys(localStorage).join(), JSON.stringify(scene.pointed ?? null),
    ...text, JSON.stringify(values), ...canvases];
}"""


def explore_opened(page: Page, address: str) -> None:
    still(visit(page, address))
    page.evaluate(NOTED)


def explore_back(page: Page, _: str) -> None:
    page.evaluate(SCENE_BACK)
    still(page)


def explore_anew(page: Page, _: str) -> None:
    with redrawn(page):
        page.evaluate(SCENE_ANEW)
    still(page)


# Chromium remembers fifty scenarios of a page: a test that counts its own finds room for them.
HISTORY = 35


class HandedOn:
    """A page of tests that do not know each other, opened once: it goes on to the next one if all
    is as it was when it was opened, and is opened anew if it is not."""

    def __init__(self, contexts: Contexts, server: Server, way: Way) -> None:
        self.contexts, self.address, self.way = contexts, server.address, way
        self.faults: list[str] = []
        self.page: Page | None = None
        self._context: BrowserContext | None = None

    def given(self) -> Page:
        if self.page is None:
            self.page = self._opened()
        return self.page

    def _opened(self) -> Page:
        if self._context not in self.contexts.browser.contexts:
            self._context = self.contexts.made("en-US")
        self._context.clear_cookies()
        page = watched(self._context, self.address, self.faults)
        self.way.opened(forgotten(page, self.address), self.address)
        self._folds = page.evaluate(OPEN_FOLDS)
        self._kept = page.evaluate("Object.keys(localStorage)")
        self._scene = page.evaluate("location.hash")
        self._seen = page.evaluate(SEEN if self.way.whole else SCRIPTS, self.way.name)
        return page

    def taken_back(self, whole: bool) -> None:
        """After a test: `whole` unless it failed."""
        page = self.page
        if page is None:
            return
        try:
            if not (whole and self._as_it_was(page)):
                self.page = None
                page.close()
        except Error:  # closed, crashed, or somewhere else
            self.page = None

    def _as_it_was(self, page: Page) -> bool:
        if page.url.partition("#")[0] != f"{self.address}/{self.way.path}":
            return False
        if page.evaluate("history.length") > HISTORY:
            return False
        if page.viewport_size != VIEWPORT:
            page.set_viewport_size(VIEWPORT)
            page.evaluate(TWO_FRAMES)
        page.mouse.move(0, 0)
        if not self.way.whole and page.evaluate(SCRIPTS, self.way.name) != self._seen:
            return False
        if not page.evaluate(PUT_BACK, [self.way.name, self.way.whole]):
            return False
        page.wait_for_function(SPEAKS_ENGLISH)
        page.evaluate(FORGET, self._kept)
        self.way.back(page, self._scene)
        page.evaluate(FOLD, self._folds)
        if not self.way.whole:
            complains = page.evaluate("name => window.lossprism.page(name).problem", self.way.name)
            return not complains and page.evaluate("location.hash") == self._scene
        for wait in (0, 50, 150, 300):  # for what comes after the first picture
            page.wait_for_timeout(wait)
            if page.evaluate(SEEN, self.way.name) == self._seen:
                return True
        return False


@contextmanager
def handing(handed_on: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page for a test, which is taken back after it."""
    handed_on.faults.clear()
    yield handed_on.given()
    faults = [*handed_on.faults]
    handed_on.taken_back(not faults and FAILED not in request.node.stash)
    assert not faults, faults


@pytest.fixture(scope="session")
def handed_on(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, Way("", "main", explore_opened, explore_anew, whole=False))


@pytest.fixture
def page(handed_on: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The Explore page at its first scenario. Rows, files and encoders from before may stand in its
    sidebar, and details of a cell or a step, as for a reader who goes on."""
    with handing(handed_on, request) as page:
        yield page


@pytest.fixture(scope="session")
def handed_on_whole(contexts: Contexts, server: Server) -> HandedOn:
    return HandedOn(contexts, server, Way("", "main", explore_opened, explore_back))


@pytest.fixture
def untouched(handed_on_whole: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The Explore page as it opens, and nothing remembered from before."""
    with handing(handed_on_whole, request) as page:
        yield page


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """A server that the test may stop: `own_server("--loss", …, python=sys.executable)`."""
    started = []

    def start(*arguments: str, port: int | None = None, python: str = "") -> Server:
        started.append(Server(tmp_path, *arguments, port=port, python=python).__enter__())
        return started[-1]

    yield start
    for running in started:
        running.stop()


# ---- What a failed test leaves -----------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Iterator[pytest.TestReport]:
    """With a failure: a screenshot of every page, messages of pages and servers."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    browser = getattr(item, "funcargs", {}).get("browser")
    if report.failed and report.when == "call" and browser:
        folder = Path(tempfile.mkdtemp(prefix="lossprism-failed-"))
        pages = [page for context in browser.contexts for page in context.pages]
        for place, page in enumerate(pages):
            report.sections.append((f"page {page.url[:200]}", _seen(page, folder / f"{place}.png")))
        for server in Server.running:
            lines = server.complaints.splitlines()[-LAST_LINES:]
            report.sections.append((f"server {server.address}", "\n".join(lines) or "nothing"))
    return report


def _seen(page: Page, picture: Path) -> str:
    try:
        page.screenshot(path=picture, timeout=10_000)
        text = [f"{message.type}: {message.text[:500]}" for message in page.console_messages()]
        text += [f"uncaught: {error}" for error in page.page_errors()]
    except Error as error:  # a page that hangs or crashed is not the fault that was found
        return f"cannot be seen: {error}"
    return "\n".join([f"screenshot: {picture}", *text[-LAST_LINES:]])
