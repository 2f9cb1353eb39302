"""Data as they come: nothing, too little, too much, all the same, and not what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from lossprism.explorer.locale import say
from tests.browser.reading import (
    CANVAS,
    PAGE,
    PROBLEM,
    choose,
    clear_table,
    loss_shown,
    paste,
    redrawn,
    sound,
    still,
    table_rows,
    type_pair,
    upload,
    visit,
)
from tests.sentences import pattern_of, wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

COUNT = "#main-pairs summary .lp-note"
REMARKS = "#lp-main"
NOTE = "#lp-source-panel"
SKIPPED = "#main-controls .lp-skipped li"

FAMILIES = ("cosent", "info_nce", "supcon", "triplet", "contrastive", "arcface")


def typed(page: Page, *rows: tuple[str, str, str]) -> None:
    clear_table(page)
    with redrawn(page):
        paste(page, 1, 1, "\n".join("\t".join(row) for row in rows))
    page.wait_for_function(f"{PAGE}.batch.labels.length === {len(rows)}")


def table(rows: list[str]) -> bytes:
    return "\n".join(["sentence1,sentence2,score", *rows]).encode()


# Rows, what is remarked of them, and the loss of CoSENT if it is known. What the other losses give
# for labels and sentences all alike, tests/unit shows: here it is how they are drawn.
ALIKE = {
    "one pair": ([("A cat sleeps.", "A cat is asleep.", "1")], "remark.one_pair", 0),
    "all scores": (
        [("a cat", "a dog", "3"), ("the sun", "the moon", "3"), ("one", "two", "3")],
        "remark.labels_equal",
        0,
    ),
    "all sentences": (
        [("the same", "the same", "3"), ("the same", "the same", "1")],
        "remark.collapsed",
        None,
    ),
}


def test_one_pair_and_all_of_them_alike(page: Page, subtests: pytest.Subtests) -> None:
    for case, (rows, remark, loss) in ALIKE.items():
        with subtests.test(case=case):
            choose(page, "cosent")
            typed(page, *rows)
            count = "1 pair" if len(rows) == 1 else f"{len(rows)} pairs"
            expect(page.locator(COUNT)).to_have_text(count)
            expect(page.locator(REMARKS)).to_contain_text(wording(remark))
            assert loss is None or loss_shown(page) == loss
            for family in FAMILIES if len(rows) == 1 else FAMILIES[1:3]:
                choose(page, family)
                expect(page.locator(PROBLEM)).to_be_hidden()
                assert len(rows) > 1 or page.locator(CANVAS).is_visible()


def test_no_pair_at_all_and_scores_that_are_no_numbers_are_reported(page: Page) -> None:
    upload(page, "nothing.csv", table([]))
    expect(page.locator(PROBLEM)).to_be_visible()
    assert page.locator(PROBLEM).inner_text().endswith(".")
    upload(page, "only-bad.csv", table(["a,b,nan", "c,,1"]))
    expect(page.locator(PROBLEM)).to_contain_text(say("en", "problem.no_pairs"))
    expect(page.locator(SKIPPED)).to_have_count(3)
    # Scores that are no finite numbers.
    rows = ["a one,a two,nan", "b one,b two,1", "c one,c two,inf", "d one,d two,0", "e,f,-NaN"]
    with redrawn(page):
        upload(page, "nan.csv", table(rows))
    expect(page.locator(COUNT)).to_have_text("2 pairs")
    text = page.locator(SKIPPED).all_inner_texts()
    assert text[0] == say("en", "ui.skipped", count=3)
    for row, line in zip((1, 3, 5), text[1:], strict=True):
        reason = pattern_of("ui.row_skipped", row=row).fullmatch(line)["reason"]
        assert pattern_of("problem.score_not_finite").fullmatch(reason)
    sound(page)


def test_ten_thousand_rows_of_a_file(page: Page) -> None:
    rows = [f"first {i % 40} here,second {i % 60} there,{i % 5}" for i in range(10_000)]
    with redrawn(page):
        upload(page, "many.csv", table(rows))
    expect(page.locator(NOTE)).to_contain_text("10\u202f000 rows")
    expect(page.locator(COUNT)).to_have_text("64 pairs")
    sound(page)
    drawn = loss_shown(page)
    with redrawn(page):
        page.get_by_role("spinbutton", name="Seed").fill("1")
    assert loss_shown(page) != drawn
    with redrawn(page):
        page.get_by_role("spinbutton", name=wording("sampler.size")).fill("512")
    expect(page.locator(COUNT)).to_have_text("512 pairs")
    sound(page)


def test_more_rows_in_the_table_than_are_used(page: Page) -> None:
    rows = [(f"first {i % 40} here", f"second {i % 60} there", str(i % 5)) for i in range(2100)]
    clear_table(page)
    with redrawn(page):
        paste(page, 1, 1, "\n".join("\t".join(row) for row in rows))
    expect(page.locator(COUNT)).to_have_text("512 pairs")
    limited = say("en", "ui.table_limited", count=2100, most=512)
    expect(page.locator(NOTE)).to_contain_text(limited)
    assert page.evaluate(f"{PAGE}.scenario.data.rows.length") == len(rows)
    sound(page)
    # A row is changed, none is lost, also of those that are not laid out.
    with redrawn(page):
        type_pair(page, 2, "changed", "too", "4")
    kept = page.evaluate(f"{PAGE}.scenario.data.rows")
    assert kept[1] == ["changed", "too", "4"]
    assert [tuple(row) for row in kept[2:]] == rows[2:]
    sound(page)


def test_a_large_file(page: Page, tmp_path: Path) -> None:
    """Beyond 64 MB a sentence says what to do, and nothing is sent; 36 MB, more than one
    request may have, are read."""
    before = loss_shown(page)
    page.click("#lp-source-file")
    sent = []

    def requested(request: Request) -> None:
        sent.append(len(request.post_data_buffer or b""))

    page.on("request", requested)
    page.set_input_files("#lp-file", file_of(65, tmp_path))
    expect(page.locator(PROBLEM)).to_contain_text(wording("problem.file_too_large", most=64))
    assert max(sent, default=0) < 2**20
    page.remove_listener("request", requested)
    assert loss_shown(page) == before
    with redrawn(page):
        page.set_input_files("#lp-file", file_of(36, tmp_path))
    expect(page.locator(COUNT)).to_have_text("64 pairs")
    rows = page.evaluate(f"{PAGE}.scenario.data.reading.total")
    assert rows == 1 + 36 * 2**20 // len(LINE)


LINE = ",".join(["word " * 200, "other " * 200, "1"]) + "\n"


def file_of(size: int, folder: Path) -> Path:
    """A file of pairs of so many MB."""
    path = folder / f"large-{size}.csv"
    with path.open("w") as file:
        file.write("sentence1,sentence2,score\nthe first,one of all,0\n")
        file.writelines(LINE for _ in range(size * 2**20 // len(LINE)))
    assert abs(path.stat().st_size / 2**20 - size) < 1
    return path


def test_left_out_rows_of_a_file_are_reported_to_readers_of_its_link(
    page: Page, new_page: Callable[..., Page]
) -> None:
    rows = ["a one,a two,1", "b one,b two,high", "c one,,2", "d one,d two,3"]
    with redrawn(page):
        upload(page, "some-bad.csv", table(rows))
    still(page)
    other = visit(new_page(locale="zh-CN"), page.url)
    expect(other.locator(NOTE)).to_contain_text("some-bad.csv")
    expect(other.locator("#lp-source-file")).to_have_attribute("aria-selected", "true")
    element = other.locator(SKIPPED)
    expect(element).to_have_count(3)
    expect(element.nth(1)).to_contain_text("第 2 行")
    expect(element.nth(1)).to_contain_text("high")
    other.click("#lp-language")
    expect(element.nth(0)).to_contain_text(wording("ui.skipped", count=2))
    expect(other.locator(NOTE)).to_contain_text(wording("ui.file_read", used=2, total=4))
    # Once the rows are one's own, the file is no longer spoken of.
    with redrawn(other):
        other.click("#lp-source-table")
    expect(other.locator("#main-controls .lp-skipped")).to_be_hidden()
    assert [row[0] for row in table_rows(other)] == ["a one", "d one"]


NAMES = ("<img src=x onerror=window.pwned=1>.csv", "n" * 5000 + ".csv", "\u202evsc.gnp.csv")


def test_names_of_files(page: Page, subtests: pytest.Subtests) -> None:
    page.click("#lp-source-file")
    for place, name in enumerate(NAMES):
        with subtests.test(name=name[:30]):
            with redrawn(page):
                page.evaluate(
                    """([name, content]) => {
                      const files = new DataTransfer();
                      files.items.add(new File([content], name));
                      document.querySelector(".lp-drop").dispatchEvent(new DragEvent("drop", {
                        dataTransfer: files, bubbles: true, cancelable: true }));
                    }""",
                    [name, table([f"a {place},b,1", "c,d,0"]).decode()],
                )
            expect(page.locator(NOTE)).to_contain_text(name[:20])
            assert len(page.locator(NOTE).inner_text()) < 1000
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate("window.pwned") is None
            sound(page)
