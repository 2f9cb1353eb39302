"""What a person does to the page and sees on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

CANVAS = "#main-matrix .lp-stage canvas[tabindex]"
# In the first it is laid out, in the second what watches its size has followed.
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
PROBLEM = "#main-figures .lp-problem"
PAGE = "window.lossprism.page()"


# ---- Doing -------------------------------------------------------------------------------------


def visit(page: Page, address: str) -> Page:
    """Open the address and wait for its first picture."""
    page.goto(address, wait_until="domcontentloaded")
    _first_picture(page)
    return page


# Whoever looks for a control opens its fold.
OPEN_CONTROLS = """() => {
  for (const fold of document.querySelectorAll("#main-controls details")) fold.open = true;
}"""


def _first_picture(page: Page) -> None:
    # Asking in every frame would make frames of a page that has enough to do.
    page.wait_for_function(f"window.lossprism?.isComplete && {PAGE}.drawn >= 1")
    page.evaluate(OPEN_CONTROLS)
    settle(page)


SETTLED = "({ typing, waiting, busy, flying }) => !(typing || waiting || busy || flying)"


def settle(page: Page) -> None:
    """Wait until what was typed has been asked and no question is under way."""
    page.wait_for_function(f"({SETTLED})({PAGE})")


def still(page: Page) -> None:
    """Wait until the address has followed the scenario."""
    page.wait_for_function(f"({SETTLED})({PAGE}) && !{PAGE}.linking")


def reload(page: Page) -> None:
    page.reload(wait_until="domcontentloaded")
    _first_picture(page)


def drawn(page: Page) -> int:
    return page.evaluate(f"{PAGE}.drawn ?? 0")


@contextmanager
def redrawn(page: Page) -> Iterator[None]:
    """What is done inside leads to a new picture; afterwards it has been drawn."""
    before = drawn(page)
    yield
    page.wait_for_function(f"before => {PAGE}.drawn > before", arg=before)
    settle(page)


# The scripts of the page, and the names in its window, as they are now; called, as they were.
KEPT = f"""() => {{
  const scene = {PAGE}, {{ server, work }} = scene;
  const scripts = {{ ...server }}, names = Object.keys(window);
  return () => {{
    Object.assign(server, scripts);
    scene.work = work;
    const added = Object.keys(window).filter((one) => !names.includes(one));
    for (const one of added) delete window[one];
  }};
}}"""


@contextmanager
def replacing(page: Page) -> Iterator[None]:
    """Others may be put in the place of the page's scripts; afterwards its own are there again."""
    back = page.evaluate_handle(KEPT)
    yield
    back.evaluate("back => back()")


@contextmanager
def controls_in_sight(page: Page) -> Iterator[None]:
    """Open the drawer of the controls for a moment, where the screen is too narrow for them."""
    in_drawer = not page.locator("#main-controls").is_visible()
    if in_drawer:
        page.click("#lp-drawer")
    yield
    if in_drawer:
        page.click("#lp-drawer")


def choose(page: Page, loss: str, convention: str = "") -> None:
    with controls_in_sight(page):
        if page.locator("#lp-loss").input_value() != loss:
            with redrawn(page):
                page.select_option("#lp-loss", loss)
        if convention:
            with redrawn(page):
                page.select_option("#lp-convention", convention)


def slider(page: Page, name: str) -> tuple[Locator, Locator]:
    """The track and the number box of a parameter."""
    track = page.locator(f"input[type=range][data-parameter={name}]")
    return track, track.locator("xpath=..").locator("input.lp-number")


HEARD = """(summary) => ({
  open: new Promise((heard) => {
    summary.parentElement.addEventListener("toggle", () => heard(), { once: true });
  }),
})"""


def words(page: Page, key: str) -> str:
    """An entry of the catalogue, in the language of the page."""
    return page.evaluate(
        "async (key) => (await window.lossprism.kit('translated_sentences')).say(key)", key
    )


def button(page: Page, key: str, within: str = "body") -> Locator:
    """The button that is called by this entry of the catalogue."""
    return page.locator(within).get_by_role("button", name=words(page, key), exact=True)


def unfold(page: Page, key: str) -> None:
    """Open the fold whose title is this entry of the catalogue."""
    title = re.compile(rf"^\s*{re.escape(words(page, key))}")
    summary = page.locator("details > summary", has_text=title)
    if summary.evaluate("summary => summary.parentElement.open"):
        return
    # What is in it is made as it hears that it is open, a moment later.
    reports = summary.evaluate_handle(HEARD)
    summary.click()
    reports.evaluate("({ open }) => open")
    if key == "ui.pairs":
        page.wait_for_selector("#main-pairs tbody tr")


def unfold_all(page: Page) -> None:
    """Open every fold of the Explore page, and wait for what is only asked for then."""
    page.evaluate("for (const fold of document.querySelectorAll('.lp details')) fold.open = true")
    page.wait_for_selector("#main-pairs tbody tr")
    page.wait_for_selector("#main-sweep .main-svg", state="attached")
    expect(page.locator("#main-metrics .lp-statistics")).not_to_be_empty()
    settle(page)


def hover_cell(page: Page, row: int, column: int) -> None:
    page.mouse.move(*cell_centre(page, row, column))


def cell_centre(page: Page, row: int, column: int) -> tuple[float, float]:
    page.locator(CANVAS).scroll_into_view_if_needed()
    box, shown = page.locator(CANVAS).bounding_box(), shape(page)
    return (
        box["x"] + (column + 0.5) * box["width"] / shown[1],
        box["y"] + (row + 0.5) * box["height"] / shown[0],
    )


def clear_table(page: Page) -> None:
    """The table of pairs, opened and emptied."""
    page.click("#lp-source-table")
    page.click("#main-pairs [data-say='ui.clear_table']")
    expect(page.locator(PROBLEM)).to_be_visible()


def type_pair(page: Page, row: int, first: str, second: str, score: str) -> None:
    """Type into row 1, 2, …; rows that are missing are added with the button."""
    lines = page.locator("#main-pairs tbody tr")
    while lines.count() < row:
        page.click("#lp-add-row")
    cells = lines.nth(row - 1).locator("textarea, input")
    for place, text in enumerate((first, second, score)):
        cells.nth(place).fill(text)


def paste(page: Page, row: int, cell: int, text: str) -> None:
    """Paste from the clipboard into a cell, counted from 1."""
    page.locator("#main-pairs tbody tr").nth(row - 1).locator("textarea, input").nth(
        cell - 1
    ).evaluate(
        """(cell, text) => {
          const clipboard = new DataTransfer();
          clipboard.setData("text/plain", text);
          cell.focus();
          cell.dispatchEvent(new ClipboardEvent("paste", {
            clipboardData: clipboard, bubbles: true, cancelable: true }));
        }""",
        text,
    )


def upload(page: Page, name: str, content: bytes) -> None:
    page.click("#lp-source-file")
    page.set_input_files(
        "#lp-file", {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )


# Every control that can be seen: what a mouse could use, the keyboard must reach.
_CONTROLS = """() => {
  const all = ".lp :is(a[href], button, input, select, textarea, summary, [tabindex='0'])";
  const seen = [...document.querySelectorAll(all)].filter((one) =>
    one.tabIndex >= 0 && !one.disabled && one.checkVisibility());
  seen.forEach((one, i) => { one.dataset.control = i; });
  return seen.length;
}"""
_FOLLOW = """() => {
  const walked = [];
  document.addEventListener("focusin", ({ target: at }) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
    const ringed = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    walked.push({ control: at.dataset.control ?? null, tag: at.outerHTML.slice(0, 120),
      shown: ringed || boxShadow !== "none" });
  });
  return walked;
}"""
AT_ONCE = 20  # steps by the keyboard between two questions to the page


def walk_by_keyboard(page: Page) -> tuple[int, list[str], list[str]]:
    """Tab through the page: how many controls there are, which were missed, and which had the
    focus without showing it."""
    count = page.evaluate(_CONTROLS)
    page.evaluate("document.activeElement.blur()")
    follow = page.evaluate_handle(_FOLLOW)
    reached, unseen = set(), []
    for _ in range(0, count + 60, AT_ONCE):
        for _ in range(AT_ONCE):
            page.keyboard.press("Tab")
        walked = follow.evaluate("walked => walked.splice(0)")
        walked = [one for one in walked if one["control"] is not None]
        unseen += [one["tag"] for one in walked if not one["shown"]]
        before = len(reached)
        reached |= {one["control"] for one in walked}
        if len(reached) < before + len(walked):  # round once
            break
    missed = page.evaluate(
        """reached => [...document.querySelectorAll("[data-control]")]
          .filter((one) => !reached.includes(one.dataset.control))
          .map((one) => one.outerHTML.slice(0, 120))""",
        sorted(reached),
    )
    return count, missed, unseen


Places = list[tuple[float, float]]


def touch(page: Page, canvas: str, start: Places, end: Places) -> None:
    """Fingers from here to there, in shares of the canvas: one drags, two pinch."""
    page.locator(canvas).scroll_into_view_if_needed()
    # Touches that a busy page does not answer in time are taken back by the browser.
    page.evaluate("new Promise((done) => requestIdleCallback(() => done()))")
    box = page.locator(canvas).bounding_box()
    session = page.context.new_cdp_session(page)

    def send(what: str, *places: tuple[float, float]) -> None:
        points = [
            {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"], "id": finger}
            for finger, (x, y) in enumerate(places)
        ]
        session.send("Input.dispatchTouchEvent", {"type": f"touch{what}", "touchPoints": points})

    for count in range(1, len(start) + 1):
        send("Start", *start[:count])
    for share in (0.2, 0.4, 0.6, 0.8, 1):
        between = zip(start, end, strict=True)
        send("Move", *[(a + share * (c - a), b + share * (d - b)) for (a, b), (c, d) in between])
    send("End")


# ---- Seeing ------------------------------------------------------------------------------------


def number(text: str) -> float:
    """A number as the page writes it: a typographic minus, ∞."""
    return float(text.replace("\u202f", "").replace("−", "-").replace("∞", "inf").rstrip("%"))


def loss_shown(page: Page) -> float:
    return number(page.locator("#main-figures .lp-loss strong").inner_text())


def figure(page: Page, key: str) -> str:
    return page.locator(f"[data-figure={key}] strong").text_content()


def figure_note(page: Page, key: str) -> str:
    """The small print below a figure: "64 of 269"."""
    return page.locator(f"[data-figure={key}] small").first.text_content()


def table_rows(page: Page) -> list[list[str]]:
    """What stands in the cells of the table of pairs."""
    return page.evaluate(
        "() => Array.from(document.querySelectorAll('#main-pairs tbody tr'), (line) =>"
        " Array.from(line.querySelectorAll('textarea, input'), (cell) => cell.value))"
    )


def shape(page: Page) -> list[int]:
    return page.evaluate(f"[{PAGE}.picture.shown.rows, {PAGE}.picture.shown.columns]")


def pixels(page: Page) -> dict[str, object]:
    """The painted matrix: how many colours, how much of it is painted, and a fingerprint."""
    return page.evaluate(
        """(selector) => {
          const canvas = document.querySelector(selector);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const words = new Uint32Array(data.buffer);
          let mark = 7, painted = 0;
          const colours = new Set();
          for (const word of words) {
            mark = (Math.imul(mark, 31) + word) | 0;
            if (word >>> 24) { painted += 1; colours.add(word); }
          }
          return { colours: colours.size, painted: painted / words.length, mark };
        }""",
        CANVAS,
    )


def cell_colours(page: Page) -> list[list[str]]:
    """The colour in the middle of every cell, by row."""
    return page.evaluate(
        """([selector, rows, columns]) => {
          const canvas = document.querySelector(selector);
          const { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          const at = (r, c) => 4 * (Math.floor(((r + 0.5) * height) / rows) * width
            + Math.floor(((c + 0.5) * width) / columns));
          return Array.from({ length: rows }, (_, r) => Array.from({ length: columns },
            (_, c) => Array.from(data.slice(at(r, c), at(r, c) + 4)).join()));
        }""",
        [CANVAS, *shape(page)],
    )


def rows_lit(page: Page) -> dict[str, list[int]]:
    """Which rows (0, 1, …) of bars, terms and pairs are lit."""
    return page.evaluate(
        """() => {
          const lit = (selector) => Array.from(document.querySelectorAll(selector))
            .flatMap((line, i) => (line.classList.contains("lp-lit") ? [i] : []));
          return { bars: lit("#main-bars .lp-felt"), terms: lit("#main-terms tbody tr"),
            pairs: lit("#main-pairs tbody tr") };
        }"""
    )


def formulas(page: Page, selector: str) -> list[str]:
    """The LaTeX of every formula below the selector."""
    return page.locator(f"{selector} annotation").all_text_contents()


SHOWN = """() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  return [document.querySelector("#main-figures .lp-loss strong").innerText,
    count("#main-derivation .lp-step"), count("#main-derivation annotation"),
    count(".katex-error")];
}"""


def sound(page: Page) -> None:
    """A picture as it should be: no complaint, a finite loss, a painted matrix, formulas."""
    expect(page.locator(PROBLEM)).to_be_hidden()
    loss, steps, formulas, errors = page.evaluate(SHOWN)
    assert abs(number(loss)) < float("inf")
    seen = pixels(page)
    assert seen["colours"] > 1
    assert seen["painted"] > 0.03
    assert steps >= 2
    assert formulas > 0
    assert errors == 0
