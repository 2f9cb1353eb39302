"""Explore opens on the weights of the terms: the pictures, words and controls of its first
screen."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.sources.textbook import load_example
from tests.browser.axe import script, violations
from tests.browser.reading import CANVAS, PAGE, choose, redrawn, reload, settle, slider, still
from tests.browser.serving import Server
from tests.sentences import pattern_of, wording

pytestmark = pytest.mark.browser

LEVER = "#main-lever input[type=range]"
CARD = "#main-cell .lp-card"
# Words and controls on the screen, beside navigation, formulas and the batch's own sentences.
COUNTED = """() => {
  const shown = (one) => {
    const { top, bottom, left, right, width, height } = one.getBoundingClientRect();
    return width > 1 && height > 1 && top < innerHeight && bottom > 0 && left < innerWidth
      && right > 0;
  };
  const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && shown(one);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walker.nextNode()) {
    const { currentNode: text } = walker, { parentElement: owner } = text;
    if (owner.closest("script, style, option, nav, .katex, [data-batch-text]")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (!seen(owner) || !shown(range)) continue;
    words += text.textContent.split(/\\s+/).filter((word) => /\\p{L}|\\d/u.test(word)).length;
  }
  const all = "button, input, select, textarea, a[href], summary";
  const controls = [...document.querySelectorAll(all)]
    .filter((one) => !one.closest("nav") && seen(one));
  return [words, controls.length];
}"""
HEAVIEST = f"""() => {{
  const {{ weight, columns }} = {PAGE}.picture.shown;
  const weights = lossprism.floats(weight);
  const at = weights.indexOf(Math.max(...weights));
  return [Math.floor(at / columns), at % columns, weights[at]];
}}"""
PIXELS = f"""() => {{
  const canvas = document.querySelector("{CANVAS}");
  const {{ data }} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return [...new Uint32Array(data.buffer)];
}}"""


def test_the_heaviest_cell_is_marked_and_shown_with_its_sentences(untouched: Page) -> None:
    page = untouched
    expect(page.locator("#main-matrix [role=tab][aria-selected=true]")).to_have_text("Weight")
    row, column, weight = page.evaluate(HEAVIEST)
    shown = page.evaluate(f"{PAGE}.picture.shown")
    pairs = [shown["row_axis"]["pairs"][row], shown["column_axis"]["pairs"][column]]
    example = load_example("graded_english")
    card = page.locator(CARD)
    for pair in pairs:
        expect(card).to_contain_text(example.first[pair])
        expect(card).to_contain_text(example.second[pair])
        expect(card).to_contain_text(f"label {example.labels[pair]:g}")
    expect(card).to_contain_text(f"weight {100 * weight:.0f}%")
    expect(card.locator("[data-at]")).to_have_count(3)
    mark = page.locator("#main-matrix .lp-pin").bounding_box()
    box = page.locator(CANVAS).bounding_box()
    across = (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"] * shown["columns"]
    down = (mark["y"] + mark["height"] / 2 - box["y"]) / box["height"] * shown["rows"]
    assert (int(down), int(across)) == (row, column)


def test_the_lever_changes_what_is_seen(page: Page) -> None:
    """tests/unit/core/test_parameters_off.py has the same of the weights of other losses."""
    choose(page, "info_nce")
    name = page.locator(LEVER).get_attribute("data-parameter")
    box = slider(page, name)[1]
    seen = []
    for end in ("min", "max"):
        with redrawn(page):
            box.fill(box.get_attribute(end))
        seen.append(page.evaluate(PIXELS))
    changed = sum(low != high for low, high in zip(*seen, strict=True)) / len(seen[0])
    assert changed >= 0.2


def test_values_keep_their_range_where_it_is_fixed(page: Page) -> None:
    with redrawn(page):
        page.locator("#main-matrix .lp-tab", has_text="Value").click()

    def after(scale: str) -> list[int]:
        with redrawn(page):
            slider(page, "scale")[1].fill(scale)
        return page.evaluate(PIXELS)

    assert after("10") == after("30")  # each on its own range
    page.locator("#main-matrix [data-say='ui.keep_range']").click()
    first, second = after("20"), after("10")
    assert sum(a != b for a, b in zip(first, second, strict=True)) >= 0.2 * len(first)
    ends = page.locator("#main-matrix .lp-legend-side").inner_text()
    reload(page)  # the address has the range
    assert page.locator("#main-matrix .lp-legend-side").inner_text() == ends
    assert page.evaluate(PIXELS) == second
    page.locator("#main-matrix [data-say='ui.keep_range']").click()
    expect(page.locator("#main-matrix .lp-legend-side")).not_to_have_text(ends)


def test_rows_have_their_sentences_label_and_score(page: Page) -> None:
    message = page.locator("#main-matrix .lp-row-ticks span").evaluate_all(
        "all => all.slice(1).map((one) => [...one.children].map((part) => part.textContent))"
    )
    example = load_example("graded_english")
    shown = page.evaluate(f"{PAGE}.picture.shown.row_axis.pairs")
    scores = page.evaluate(f"Array.from(lossprism.floats({PAGE}.picture.pairs.score))")
    assert len(message) == len(shown) == 24
    for pair, (number, first, second, label, score) in zip(shown, message, strict=True):
        assert number == str(pair + 1)
        assert (first, second) == (example.first[pair], example.second[pair])
        assert float(label) == pytest.approx(float(example.labels[pair]))
        assert float(score.replace("−", "-")) == pytest.approx(scores[pair], abs=0.0051)


def test_a_screen_reader_hears_the_cell_that_is_walked_to(page: Page) -> None:
    page.locator(CANVAS).focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    row, column = page.evaluate(f"{PAGE}.pointed.cell")
    example = load_example("graded_english")
    spoken = page.locator("#main-matrix [aria-live]").inner_text()
    for pair in (row, column):
        assert f"pair {pair + 1}. {example.first[pair]}. {example.second[pair]}" in spoken
        assert pattern_of("ui.pair_facts", label=f"{example.labels[pair]:g}").search(spoken)
    assert "weight" in spoken


def test_the_first_screen_is_short(untouched: Page) -> None:
    page = untouched
    page.evaluate(
        "document.querySelectorAll('.lp details').forEach((one) => { one.open = false; })"
    )
    words, controls = page.evaluate(COUNTED)
    assert words <= 200
    assert controls <= 15
    assert page.locator("h1").count() == 1
    assert page.locator("main nav, main #main-controls, main #main-header").count() == 0
    expect(page.locator("#main-figures .lp-verdict")).not_to_be_empty()


TOPS = "elements => elements.map((one) => one.getBoundingClientRect().top)"


@pytest.mark.parametrize(
    ("width", "height", "projected"),
    [(390, 844, False), (720, 450, False), (1024, 768, False), (1440, 900, True)],
)
def test_heading_picture_and_lever_share_a_screen(
    page: Page, width: int, height: int, projected: bool
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    if projected:
        page.click("#lp-present")
    page.wait_for_function(
        """([height, parts]) => parts.every((part) => {
          const { top, bottom } = document.querySelector(part).getBoundingClientRect();
          return top >= 0 && bottom <= height;
        })""",
        arg=[height, ["h1", "#main-figures .lp-loss strong", CANVAS, LEVER]],
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width > 900 and not projected:
        return
    if not projected:  # the names of the pages on one line, as are the heading and the loss
        tops = page.locator(".lp-pages a").evaluate_all(TOPS)
        assert max(tops) == min(tops)
        heading, loss = page.locator("h1, #main-figures .lp-loss").evaluate_all(TOPS)
        assert abs(heading - loss) < 20
    expect(page.locator("#main-controls")).to_be_hidden()  # in the drawer
    page.click("#lp-drawer")
    expect(page.locator("#lp-loss")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#main-controls")).to_be_hidden()


def test_the_keyboard_reaches_the_picture_soon(page: Page) -> None:
    reached = "canvas => document.activeElement === document.querySelector(canvas)"
    skip = page.locator(".lp-skip")
    skip.focus()
    expect(skip).to_be_in_viewport()
    stops = 1
    while not page.evaluate(reached, CANVAS):
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= 15
    skip.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(reached, CANVAS)
    assert page.evaluate("location.hash").startswith("#1.")  # the address still names the scenario


def test_a_formula_is_one_stop_whose_parts_the_arrows_walk(page: Page) -> None:
    parts = page.locator(f"{CARD} [data-at]")
    assert parts.evaluate_all("all => all.filter((one) => one.tabIndex === 0).length") == 1
    parts.first.focus()
    page.keyboard.press("ArrowRight")
    expect(parts.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(parts.first).to_be_focused()


ANIMATIONS = """() => {
  const animate = Element.prototype.animate;
  window.animated = [];
  Element.prototype.animate = function (frames, how) {
    if (this.classList.contains("lp-before"))
      window.animated.push([Object.keys(frames)[0], how.duration]);
    return animate.call(this, frames, how);
  };
}"""


def test_steps_lead_over_and_the_mask_falls(untouched: Page) -> None:
    page = untouched

    def go(step: str) -> None:
        with redrawn(page):
            page.evaluate(f"name => {PAGE}.goTo({PAGE}.stepNamed(name))", step)

    page.evaluate(ANIMATIONS)
    go("differences")
    go("terms")
    assert page.evaluate("animated") == [["opacity", 250], ["clipPath", 250]]
    expect(page.locator("#main-matrix .lp-before")).to_have_count(0)
    with redrawn(page):
        slider(page, "scale")[1].fill("30")
    page.emulate_media(reduced_motion="reduce")
    go("differences")
    assert page.evaluate("animated.length") == 2  # neither a lever nor who wants no motion
    page.emulate_media(reduced_motion="null")


def test_the_title_says_what_is_open(page: Page, new_page: Callable[..., Page], server: Server):
    expect(page).to_have_title("CoSENT at λ = 20 · LossPrism")
    with redrawn(page):
        slider(page, "scale")[1].fill("50")
    expect(page).to_have_title("CoSENT at λ = 50 · LossPrism")
    choose(page, "info_nce")
    expect(page).to_have_title("InfoNCE at τ = 0.05 · LossPrism")
    page.click("#lp-language")
    expect(page).to_have_title("InfoNCE（τ = 0.05） · LossPrism")
    other = new_page()
    other.goto(f"{server.address}/compare")
    expect(other).to_have_title(re.compile(r"^InfoNCE · .+ vs InfoNCE · .+ · LossPrism$"))
    other.goto(f"{server.address}/finetune")
    expect(other).to_have_title("Fine-tune · LossPrism")


def test_the_other_settings_open_where_one_differs(page: Page) -> None:
    fold = page.locator(
        "#main-controls details", has=page.locator("> summary", has_text="More settings")
    )
    expect(fold).to_be_hidden()  # CoSENT has its scale alone
    choose(page, "info_nce")
    expect(fold.locator("> summary")).to_have_text(wording("ui.more_settings", count=10))
    fold.evaluate("fold => { fold.open = false; }")
    with redrawn(page):
        page.evaluate(f"{PAGE}.set({{ parameters: {{ symmetric: true }} }})")
    expect(fold).to_have_attribute("open", "")


# test_everyone.py has the other two in every run of the tests.
@pytest.mark.thorough
@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1440, "dark")])
def test_axe_finds_nothing(page: Page, width: int, theme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    if theme == "dark":
        page.click("#lp-theme")
    assert violations(page, script()) == []


# ---- The lever that moves by itself --------------------------------------------------------------

NOTED = """window.scales = [];
setInterval(() => {
  const scale = window.lossprism?.page()?.scenario.parameters.scale ?? 20;
  if (scales.at(-1)?.[0] !== scale) scales.push([scale, performance.now()]);
}, 5);"""


BACK_AGAIN = "scales.length > 1 && scales.at(-1)[0] === scales[0][0]"


def scales_at_first(
    page: Page, address: str, act: str = "", moves: bool = True
) -> list[list[float]]:
    """The values of λ that a page shows by itself, and when, for whoever has not been here."""
    page.add_init_script("localStorage.removeItem('lossprism.lever_seen');" + NOTED)
    page.goto(address, wait_until="commit")
    if act:
        page.wait_for_function("scales.length > 1")
        page.keyboard.press(act)
    page.wait_for_function(f"window.lossprism && {PAGE}?.drawn >= 1")
    if moves:  # on a busy machine for longer than usual
        page.wait_for_function(BACK_AGAIN)
    page.wait_for_timeout(2000)
    settle(page)
    return page.evaluate("scales")


def test_the_lever_moves_once_for_a_newcomer(new_page: Callable[..., Page], server: Server) -> None:
    page = new_page()
    moved = scales_at_first(page, server.address)
    values = [value for value, _ in moved]
    assert values[0] == values[-1] == 20
    assert values[1] < 1
    assert values[1:] == sorted(values[1:])
    assert len(values) > 5
    assert moved[-1][1] - moved[1][1] < 1500
    still(page)
    link = page.evaluate("location.hash")
    assert page.evaluate(f"{PAGE}.scenario.parameters") == {}
    # Not again: nor for whoever opens a link, has switched it off, or acts meanwhile.
    page.evaluate("localStorage.setItem('lossprism.lever_seen', 'yes')")
    for address in (f"{server.address}/{link}", f"{server.address}/?motion=off"):
        scales = scales_at_first(new_page(), address, moves=False)
        assert [value for value, _ in scales] == [20]
    stopped = scales_at_first(new_page(), server.address, act="Escape")
    assert stopped[-1][0] == 20
    assert stopped[-1][1] - stopped[1][1] < 1000


def test_under_reduced_motion_two_stills_are_shown(
    new_page: Callable[..., Page], server: Server
) -> None:
    moved = scales_at_first(new_page(reduced_motion="reduce"), server.address)
    assert [value for value, _ in moved] == [20, 0.1, 20]
