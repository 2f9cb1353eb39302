"""Where the pairs of the Large batch page come from."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from lossprism.explorer.sources.textbook import load_example
from lossprism.explorer.web.pages.large.request_handlers import FIRST_BATCH
from tests.browser.large.steering import PAGE, PROBLEM, UNDERWAY, figure, open_folds, redrawn
from tests.browser.reading import number, still, visit
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser


def upload(page: Page, name: str, text: str) -> None:
    page.click("#lp-large-source-file")
    page.set_input_files(
        "input#lp-large-file", {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    )


HOSTILE = "<img src=x onerror=alert(1)>"


def scored(count: int) -> str:
    stream = np.random.RandomState(0)
    rows = [
        f"{HOSTILE} {k},second {k},{k % 5},{0.1 * (k % 5) + stream.normal() / 5:.4f}"
        for k in range(count)
    ]
    return "\n".join(["sentence1,sentence2,label,similarity", *rows])


def test_a_file_with_similarities_needs_no_encoder(large: Page) -> None:
    upload(large, "scored.csv", scored(3000))
    large.wait_for_function(f"{PAGE}.answer.figures.pairs === 3000")
    expect(large.locator("#large-large_controls")).to_contain_text("scored.csv: 3\u202f000 pairs")
    large.wait_for_function(f"{PAGE}.details")
    large.fill("#lp-large-search", "second 2999")
    found = large.locator("#large-large_pairs tbody tr")
    expect(found).to_have_count(1)
    assert HOSTILE in found.inner_text()  # as text, and nothing ran
    assert large.locator("#large-large_pairs img").count() == 0


def test_columns_that_nothing_recognises_can_be_chosen(large: Page) -> None:
    upload(large, "known.csv", scored(2000))
    large.wait_for_function(f"{PAGE}.answer.figures.pairs === 2000")
    rows = "\n".join(f"one {k},two {k},{k % 4},{k % 7 / 7:.3f},{k}" for k in range(1200))
    upload(large, "odd.csv", f"left,right,human,machine,place\n{rows}")
    expect(large.locator(PROBLEM)).to_contain_text("“left”, “right”, “human”")
    controls = large.locator("#large-large_controls")
    expect(controls).to_contain_text(wording("ui.file_undecided", name="odd.csv"))
    # No answer is awaited between them: what was chosen before counts all the same.
    large.evaluate(
        """() => {
          const selects = document.querySelectorAll("#large-large_controls .lp-columns select");
          ["left", "right", "human", "machine"].forEach((column, role) => {
            selects[role].value = column;
            selects[role].dispatchEvent(new Event("change"));
          });
        }"""
    )
    for role, column in enumerate(("left", "right", "human", "machine")):
        expect(controls.locator(".lp-columns select").nth(role)).to_have_value(column)
    large.wait_for_function(f"{PAGE}.answer.figures.pairs === 1200")
    expect(controls).to_contain_text("odd.csv: 1\u202f200 pairs")
    expect(large.locator(PROBLEM)).to_be_hidden()


def test_choosing_a_source_that_was_there_before_returns_to_it(large: Page) -> None:
    upload(large, "scored.csv", scored(3000))
    large.wait_for_function(f"{PAGE}.answer.figures.pairs === 3000")
    with redrawn(large):
        large.click("#lp-large-source-random")
    assert large.evaluate(f"{PAGE}.answer.figures.pairs") == FIRST_BATCH.pairs
    large.click("#lp-large-source-explore")  # no link was opened yet, which is reported
    expect(large.locator("#large-large_controls")).to_contain_text(
        wording("large.still.explore", source=say("en", "source.random"))
    )
    with redrawn(large):
        large.click("#lp-large-source-file")
    assert large.evaluate(f"{PAGE}.answer.figures.pairs") == 3000


def test_a_good_file_takes_the_complaint_about_a_bad_one_away(large: Page) -> None:
    upload(large, "bad.csv", "sentence1,sentence2,label\nonly,one,row")
    expect(large.locator(PROBLEM)).to_be_visible()
    expect(large.locator(f"{PROBLEM} button")).to_have_count(0)  # it would end the same way
    large.evaluate(
        f"""() => {{ window.both = 0; {PAGE}.on("problem", () => {{
          const busy = !document.querySelector("{UNDERWAY}").hidden;
          if (busy && {PAGE}.problem) window.both += 1; }}); }}"""
    )
    upload(large, "good.csv", scored(2000))
    large.wait_for_function(f"{PAGE}.answer.figures.pairs === 2000")
    expect(large.locator(PROBLEM)).to_be_hidden()
    assert large.evaluate("window.both") == 0


# How many of the file's pairs are encoded, as the page says it.
ENCODED = """(() => {
  const text = document.querySelector(".lp-underway").innerText;
  const said = text.match(/([\\d\\u202f]+) of 4\\u202f000/);
  return said ? Number(said[1].replace("\\u202f", "")) : 0;
})()"""


def parts_on_disk(server: Server) -> dict[str, int]:
    """What the server keeps of encodings, and when each part was written."""
    found = (server.cache / "scores").glob("*.npy")
    return {path.name: path.stat().st_mtime_ns for path in found}


@pytest.mark.encoder
def test_encoding_can_be_stopped_and_goes_on(large: Page, server: Server) -> None:
    rows = [f"text {k},text {k + 1},{k % 4}" for k in range(4000)]
    upload(large, "long.csv", "\n".join(["sentence1,sentence2,score", *rows]))
    expect(large.locator(UNDERWAY)).to_contain_text("Encoding")
    large.wait_for_function(f"{ENCODED} > 0")
    large.click("#lp-stop")
    expect(large.locator(PROBLEM)).to_contain_text("Stopped")
    expect(large.locator(UNDERWAY)).to_be_hidden()
    kept = parts_on_disk(server)
    assert kept
    large.locator(f"{PROBLEM} button").click()
    large.wait_for_function(f"{ENCODED} > {256 * len(kept)}")
    large.click("#lp-stop")
    # Not from the beginning: what was encoded before was not written again.
    assert kept.items() <= parts_on_disk(server).items()


def test_the_batch_of_the_explore_page(new_page, server: Server) -> None:
    page = new_page()
    still(visit(page, server.address))
    loss = page.evaluate("window.lossprism.page().picture.figures.loss")
    page.locator(".lp-pages a", has_text=say("en", "page.large")).click()
    page.wait_for_function(f"window.lossprism && {PAGE}.details")
    open_folds(page)
    page.click("#lp-large-source-explore")
    page.get_by_role("button", name=wording("large.open_link")).click()
    page.wait_for_function(f"{PAGE}.answer.figures.pairs === 24")
    assert number(figure(page, "loss")) == pytest.approx(loss, rel=1e-4)


MAP = "window.lossprism?.page('sentence_map')"


def test_the_sentences_of_a_file_are_shown_on_a_map(large: Page) -> None:
    example = load_example("graded_english")
    rows = zip(example.first, example.second, example.labels, strict=True)
    text = "\n".join(["sentence1\tsentence2\tscore", *("\t".join(map(str, row)) for row in rows)])
    upload(large, "graded.tsv", text)
    large.wait_for_function(f"{PAGE}.answer.figures.pairs === {len(example.first)}")
    gradient = large.evaluate(f"{PAGE}.request.loss")
    large.click("#lp-large-on-map")
    large.wait_for_function(f"{MAP}?.drawn && document.querySelector('.lp-plot .main-svg')")
    assert gradient in large.url
    shown = large.evaluate(f"{MAP}.map.sentences")
    assert set(shown) == {*example.first, *example.second}
    expect(large.locator("#lp-batch option:checked")).to_have_text(wording("sentence_map.large"))
    large.select_option("#lp-batch", "graded_english")  # and back to an example
    large.wait_for_function(f"{MAP}.drawn && !location.hash.includes('large')")
    large.go_back()
    large.wait_for_function(f"{MAP}.batch === 'large' && {MAP}.drawn")
