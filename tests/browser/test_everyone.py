"""For everyone: what axe-core finds, the keyboard alone, every width, less motion."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.web.site import PAGES
from lossprism.version import VERSION
from tests.browser import axe
from tests.browser.reading import (
    PROBLEM,
    TWO_FRAMES,
    button,
    choose,
    clear_table,
    controls_in_sight,
    redrawn,
    settle,
    unfold_all,
    upload,
    visit,
    walk_by_keyboard,
)
from tests.browser.serving import Server

pytestmark = pytest.mark.browser


# What follows the loss and the step.
OF_A_STEP = ("#main-derivation", "#main-matrix", "#main-takeaway")
# At which the page is seen with each source of pairs; at the narrowest and the widest it is seen in
# both languages with what is widest in it.
WIDTHS = {"en": (768, 1440), "zh": (1024, 390)}
# Of which the formulas are the longest, and the matrices of every kind: half in each language.
WIDEST = {
    "en": ("arcface", "multitask_cosent", "nt_xent"),
    "zh": ("angle", "hierarchical_cosent", "triplet"),
}
# Whether something was closed: every fold and drawer is opened, and what is out of sight is drawn.
OPEN_ALL = """() => {
  const folds = [...document.querySelectorAll(".lp details:not([open])")];
  for (const fold of folds) fold.open = true;
  const buttons = [...document.querySelectorAll("button[aria-expanded=false]")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }));
  for (const button of buttons) button.click();
  for (const part of document.querySelectorAll("[id^=compare-]"))
    part.style.contentVisibility = "visible";
  return folds.length + buttons.length > 0;
}"""
# What the pages have once all is there that they ask for by themselves.
COMPLETE = {
    "": "window.lossprism?.page().drawn",
    "compare": "window.lossprism?.page('compare')?.differing",
    "doctor": "window.lossprism?.page('doctor')?.drawn",
    "large": "window.lossprism?.page('large').details"
    " && document.querySelector('#large-large_pairs tbody tr')",
    "finetune": "window.lossprism?.page('finetune').checked",
    "learn": "window.lossprism?.page('learn')?.drawn",
    "learn/landscape": "window.lossprism?.page('landscape')?.drawn"
    " && document.querySelectorAll('.lp-plot .main-svg').length > 3",
    "learn/temperature": "window.lossprism?.page('learn')?.drawn",
    "learn/map": "window.lossprism?.page('sentence_map')?.drawn"
    " && document.querySelector('.lp-plot .main-svg')",
    "learn/sphere": "window.lossprism?.page('sphere')?.drawn",
    "learn/claims": "window.lossprism?.page('claims')?.verdicts['S4-range']",
}
# Where each check of Doctor shows what it has found; the rest is looked at with the first.
CHECKS = {
    "value=0.693": "#doctor-number",
    "door=data": "#doctor-data",
    "door=run": "#doctor-run",
}
CONTROLS_OF_DOCTOR = ("#doctor-question", "#doctor-controls")


@pytest.fixture(scope="session")
def axe_script() -> str:
    return axe.script()


def open_all(page: Page) -> None:
    """Open folds, those in them, and drawers."""
    while page.evaluate(OPEN_ALL):
        page.evaluate(TWO_FRAMES)


def signs_have_names(page: Page) -> None:
    """A button that shows a sign has a name in words."""
    signs = page.locator(".lp button").filter(has_text=re.compile("^[^\\w一-鿿]+$"))
    named = signs.evaluate_all(
        "all => all.map((one) => Boolean(one.title || one.getAttribute('aria-label')))"
    )
    assert len(named) > 2
    assert all(named)


# With what each theme is looked at: the sources, and the loss of which a step is chosen.
LOOKED_AT = {"light": (("table", "file"), "info_nce"), "dark": (("random",), "triplet")}


def test_axe_finds_nothing_serious_and_no_width_scrolls_sideways(
    page: Page, axe_script: str
) -> None:
    seen(page, axe_script, 1440, "en", "light")


@pytest.mark.thorough
def test_nor_on_a_telephone_in_the_dark_and_in_chinese(page: Page, axe_script: str) -> None:
    page.click("#lp-theme")
    page.click("#lp-language")
    expect(page.locator("#lp-language")).to_have_text("English")
    page.click("#main-matrix [data-say='ui.as_table']")
    seen(page, axe_script, 390, "zh", "dark")


def seen(page: Page, axe_script: str, width: int, language: str, theme: str) -> None:
    """Of every source and of the widest losses, on a screen of this width and others."""
    page.set_viewport_size({"width": width, "height": 900})
    sources, loss = LOOKED_AT[theme]
    assert page.evaluate("document.body.classList.contains('dark')") == (theme == "dark")
    # What shows beyond the end of the page has its ground.
    ground = "(name) => getComputedStyle(document.querySelector(name)).backgroundColor"
    grounds = {"light": "rgb(251, 250, 248)", "dark": "rgb(20, 21, 24)"}
    assert page.evaluate(ground, "body") == grounds[theme]
    unfold_all(page)
    signs_have_names(page)
    assert axe.violations(page, axe_script) == []
    for source in ("table", "file", "random", "example"):
        with controls_in_sight(page):
            page.click(f"#lp-source-{source}")
            settle(page)
            if source in sources:
                # The rest is as it was.
                changed = ("#lp-source-panel", "#main-pairs")
                assert axe.violations(page, axe_script, *changed) == [], source
        no_horizontal_scroll(page, WIDTHS[language], source)
        page.set_viewport_size({"width": width, "height": 900})
    page.click("#main-matrix [data-say='ui.as_table']")
    page.click("#main-takeaway [data-say='take.ours']")
    expect(page.locator("#main-takeaway .lp-code")).to_contain_text("print")
    choose(page, loss)
    page.locator("#main-derivation .lp-step").nth(2).click()
    settle(page)
    assert axe.violations(page, axe_script, *OF_A_STEP) == []
    for widest in WIDEST[language]:
        choose(page, widest)
        no_horizontal_scroll(page, (1440, 390), widest)


def no_horizontal_scroll(page: Page, widths: tuple[int, ...], state: str) -> None:
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(TWO_FRAMES)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, state)


def test_axe_finds_nothing_serious_in_what_goes_wrong(page: Page, axe_script: str) -> None:
    with redrawn(page):
        upload(page, "bad.csv", b"sentence1,sentence2,score\na,b,1\nc,d,high\ne,f,0\n")
    names = ("#main-controls", "#main-figures", "#main-pairs")  # the rest is looked at below
    assert axe.violations(page, axe_script, *names) == []
    clear_table(page)
    page.locator("#lp-encoder").evaluate("box => box.closest('details').open = true")
    page.fill("#lp-encoder", "/no/such/folder")
    button(page, "ui.use_encoder").click()
    page.locator("#main-pairs textarea").first.fill("a sentence")
    expect(page.locator(PROBLEM)).to_be_visible()
    assert axe.violations(page, axe_script) == []


OTHERS = (
    ("compare", ""),
    ("doctor", "value=0.693"),
    ("doctor", "door=data"),
    ("doctor", "door=run"),
    ("large", ""),
    ("finetune", ""),
    ("learn", ""),
    ("learn/landscape", ""),
    ("learn/map", "pair=0"),
    ("learn/temperature", "at=4&guess=1.5&shown=true"),
    ("learn/sphere", "at=40"),
    ("learn/claims", "claim=S1-39"),
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("locale", "width"), [("en-US", 1440), ("zh-CN", 1440), ("en-US", 390), ("zh-CN", 390)]
)
def test_axe_finds_nothing_serious_on_the_other_pages_with_everything_open(
    new_page: Callable[..., Page],
    server: Server,
    axe_script: str,
    subtests: pytest.Subtests,
    locale: str,
    width: int,
) -> None:
    page = new_page(width=width, locale=locale)
    for path, scenario in OTHERS:
        with subtests.test(path=path, scene=scenario):
            address = f"{server.address}/{path}?__theme=light#{scenario}"
            page.goto(address, wait_until="domcontentloaded")
            page.wait_for_function(COMPLETE[path])
            within = ()
            if path == "doctor":
                expect(page.locator(f"{CHECKS[scenario]} .lp-finding").first).to_be_visible()
                within = (
                    ()
                    if scenario == next(iter(CHECKS))
                    else (*CONTROLS_OF_DOCTOR, CHECKS[scenario])
                )
            open_all(page)
            signs_have_names(page)
            for theme in ("light", "dark"):
                dark = page.evaluate("document.body.classList.contains('dark')")
                assert dark == (theme == "dark")
                assert axe.violations(page, axe_script, *within) == [], theme
                page.evaluate("document.getElementById('lp-theme').click()")  # beside a drawer


# ---- The keyboard ------------------------------------------------------------------------------


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(page: Page) -> None:
    unfold_all(page)
    count, missed, unseen = walk_by_keyboard(page)
    assert count > 150  # the pairs are open too
    assert missed == []
    assert unseen == []


MOST_STOPS = 15
# What each page is looked at for.
PICTURES = {
    "": ".lp-stage canvas",
    "compare": "main svg[tabindex]",
    "doctor": ".lp-finding a",
    "large": "main canvas",
    "finetune": "#lp-finetune-quick",
    "learn": "main a",
    "learn/landscape": "main .lp-plot-box",
    "learn/temperature": "main canvas",
    "learn/map": "main .lp-plot-box",
    "learn/sphere": "main canvas",
    "learn/claims": "main .lp-plot-box",
}


# Of Explore, tests/browser/test_spotlight.py has the same in every run of the tests.
@pytest.mark.thorough
def test_the_picture_of_every_page_is_few_stops_of_the_keyboard_away(
    new_page: Callable[..., Page], server: Server, subtests: pytest.Subtests
) -> None:
    page = new_page(width=1440, height=900)
    for path, picture in PICTURES.items():
        with subtests.test(path=path):
            page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
            page.wait_for_function(COMPLETE[path])
            page.evaluate("document.activeElement.blur()")
            reached = f"() => document.activeElement.matches({picture!r})"
            stops = 0
            while not page.evaluate(reached):
                page.keyboard.press("Tab")
                stops += 1
                assert stops <= MOST_STOPS


def test_the_buttons_of_the_head_are_one_stop_and_the_arrow_keys_walk_along_them(
    page: Page,
) -> None:
    page.locator("#lp-language").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#lp-theme")).to_be_focused()


def test_tabs_and_tables_work_by_keys(page: Page) -> None:
    page.focus("#lp-source-example")
    for expected in ("table", "file", "random", "example"):
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#lp-source-{expected}")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#lp-source-random")).to_be_focused()
    with redrawn(page):
        page.keyboard.press("Enter")
    expect(page.locator("#lp-source-random")).to_have_attribute("aria-selected", "true")
    panel = page.locator("#lp-source-random").get_attribute("aria-controls")
    expect(page.locator(f"#{panel}")).to_be_visible()


# ---- The screen --------------------------------------------------------------------------------


FINGER = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
FINGERTIP = 32
# Words inside a line of code, which is itself to be tapped, and boxes inside their labels.
CONTROLS = ".lp :is(a, button, select, summary, input, label.lp-check)"
SMALL = f"""(least) => [...document.querySelectorAll("{CONTROLS}")]
  .filter((one) => one.checkVisibility({{ visibilityProperty: true }}))
  .filter((one) => !one.matches(".lp-ref, [type=checkbox]"))
  .filter((one) => one.getBoundingClientRect().height < least - 0.1)
  .map((one) => one.outerHTML.slice(0, 90))"""


TOPS_OF_BUTTONS = """() => [...new Set([...document.querySelectorAll(".lp-brand button")]
  .map((one) => Math.round(one.getBoundingClientRect().top / 4)))]"""


def test_the_buttons_of_the_header_are_on_one_line_of_a_telephone_and_when_zoomed(
    new_page: Callable[..., Page], server: Server
) -> None:
    for page in (new_page(**FINGER, locale="zh-CN"), new_page(width=720, height=450)):
        for path in ("", "doctor", "learn"):
            page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
            expect(page.locator("#lp-language")).to_be_visible()
            assert len(page.evaluate(TOPS_OF_BUTTONS)) == 1, path


# By how many pixels a page is taller than its window and its content, and the lines of folds that
# touch what is above them.
SPARE = """() => {
  const lowest = [...document.querySelectorAll("#lp-main > *")]
    .map((one) => one.getBoundingClientRect().bottom + scrollY + 40);
  return document.documentElement.scrollHeight - Math.ceil(Math.max(innerHeight, ...lowest));
}"""
TOUCHING = """() => [...document.querySelectorAll("details:is(.lp-fold, .lp-more)")]
  .filter((one) => one.checkVisibility() && parseFloat(getComputedStyle(one).borderTopWidth))
  .filter((one) => {
    const above = one.previousElementSibling;
    if (!above?.checkVisibility() || above.matches("details, summary")) return false;
    return one.getBoundingClientRect().top < above.getBoundingClientRect().bottom + 8;
  })
  .map((one) => one.textContent.slice(0, 40))"""


@pytest.mark.thorough
def test_a_short_page_does_not_scroll_and_no_line_touches_what_is_above_it(
    new_page: Callable[..., Page], server: Server, subtests: pytest.Subtests
) -> None:
    page = new_page(width=1440, height=900)
    for path, complete in COMPLETE.items():
        with subtests.test(path=path):
            page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
            page.wait_for_function(complete)
            assert page.evaluate(SPARE) <= 0
            assert page.evaluate(TOUCHING) == []


def test_the_points_of_the_sphere_are_seen_at_200_percent(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page(width=720, height=450)
    page.goto(f"{server.address}/learn/sphere", wait_until="domcontentloaded")
    page.wait_for_function(COMPLETE["learn/sphere"])
    ball = page.locator(".lp-ball").first.bounding_box()
    assert ball is not None
    assert ball["width"] >= 150
    played = page.locator(".lp-transport").bounding_box()
    assert played is not None
    assert ball["y"] + ball["height"] <= played["y"] <= played["y"] + played["height"] <= 450


def test_the_version_stands_beside_the_name(page: Page) -> None:
    expect(page.locator("nav").get_by_text(VERSION, exact=True)).to_be_visible()


# Of Explore, the next test has the same in every run of the tests.
@pytest.mark.thorough
def test_a_fingertip_hits_every_control(
    new_page: Callable[..., Page], server: Server, subtests: pytest.Subtests
) -> None:
    page = new_page(**FINGER)
    for path in [path for path, *_ in PAGES if path]:
        with subtests.test(path=path):
            page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
            page.wait_for_function(COMPLETE[path])
            open_all(page)
            assert page.evaluate(SMALL, FINGERTIP) == []


def test_on_a_telephone_explore_speaks_of_fingers_and_is_read_typed_and_hit_with_them(
    untouched: Page, new_page: Callable[..., Page], server: Server
) -> None:
    by_pointer = re.compile(r"\b(point at|click|drag)\b", re.IGNORECASE)
    by_finger = re.compile(r"\b(tap|fingers?)\b", re.IGNORECASE)
    telephone = visit(new_page(**FINGER), server.address)
    for one, message, never in (
        (untouched, by_pointer, by_finger),
        (telephone, by_finger, by_pointer),
    ):
        expect(one.locator(".lp-hint").first).to_have_text(message)
        assert not never.search(one.locator("body").inner_text())
    page = telephone
    unfold_all(page)
    line = page.locator("#main-pairs tbody tr").first
    for box in line.locator("textarea").all():
        assert box.bounding_box()["width"] > 0.75 * FINGER["width"]
    for control in page.locator("#main-takeaway button:visible").all():
        place = control.bounding_box()
        assert place["x"] + place["width"] <= FINGER["width"]
    for source in ("table", "file", "random", "example"):
        with controls_in_sight(page):
            page.tap(f"#lp-source-{source}")
            assert page.evaluate(SMALL, FINGERTIP) == [], source
