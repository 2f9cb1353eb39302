"""Batches as a user brings them: typed, pasted, uploaded, drawn at random."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.reading import (
    PAGE,
    PROBLEM,
    button,
    choose,
    clear_table,
    drawn,
    figure_note,
    loss_shown,
    paste,
    redrawn,
    replacing,
    settle,
    shape,
    slider,
    sound,
    still,
    table_rows,
    type_pair,
    unfold,
    upload,
)
from tests.sentences import pattern_of, wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

PAIRS = [
    ["A man is eating food.", "A man eats something.", "4.2"],
    ["A plane is taking off.", "The cat sat on the mat.", "0"],
    ["Two dogs run in a field.", "Dogs are running outside.", "3.8"],
]
COUNT = "#main-pairs summary .lp-note"
SKIPPED = "#main-controls .lp-skipped li"

# ---- The table ---------------------------------------------------------------------------------


def test_typing_pairs(page: Page) -> None:
    # An empty table says what it needs.
    clear_table(page)
    expect(page.locator(PROBLEM)).not_to_be_empty()
    assert not page.locator(PROBLEM).inner_text().startswith("problem.")
    assert len(table_rows(page)) == 1
    for row, cells in enumerate(PAIRS, 1):
        with redrawn(page):
            type_pair(page, row, *cells)
        expect(page.locator(PROBLEM)).to_be_hidden()
    expect(page.locator(COUNT)).to_have_text("3 pairs")
    sound(page)
    three = loss_shown(page)
    assert figure_note(page, "violated") == "0 of 3"
    # A score that is none: its row is named, the others are used, and nothing typed is lost.
    with redrawn(page):
        type_pair(page, 2, PAIRS[1][0], PAIRS[1][1], "very low")
    expect(page.locator(COUNT)).to_have_text("2 pairs")
    expect(page.locator(SKIPPED).nth(1)).to_contain_text("Row 2")
    expect(page.locator(SKIPPED).nth(1)).to_contain_text("very low")
    expect(page.locator("#main-pairs tr.lp-bad-row")).to_have_count(1)
    # Only that cell is marked, and the reason stands at it.
    wrong = page.locator("#main-pairs .lp-bad")
    expect(wrong).to_have_count(1)
    assert wrong.input_value() == "very low"
    expect(wrong.locator("xpath=following-sibling::div")).to_contain_text("very low")
    assert table_rows(page) == [PAIRS[0], [*PAIRS[1][:2], "very low"], PAIRS[2]]
    assert figure_note(page, "violated") == "0 of 1"
    # Put right, it counts again; deleted, it is gone.
    with redrawn(page):
        type_pair(page, 2, *PAIRS[1])
    assert loss_shown(page) == pytest.approx(three, rel=1e-5)
    expect(page.locator("#main-controls .lp-skipped")).to_be_hidden()
    expect(page.locator("#main-pairs :is(.lp-bad, .lp-wrong)")).to_have_count(0)
    with redrawn(page):
        page.locator("#main-pairs tbody tr").nth(2).locator("button").click()
    expect(page.locator(COUNT)).to_have_text("2 pairs")
    assert table_rows(page) == PAIRS[:2]


def test_what_is_typed_is_not_lost_by_leaving_at_once(page: Page) -> None:
    clear_table(page)
    page.hover("#lp-source-example")  # so that the press follows at once
    # However long the press takes: what was typed is not computed, and the page does not move,
    # before it is over.
    problem = page.locator(PROBLEM)
    with redrawn(page):
        type_pair(page, 1, *PAIRS[0])
        page.mouse.down()
        page.wait_for_timeout(500)
        expect(problem).to_be_visible()
        page.mouse.up()
    expect(page.locator("#lp-source-example")).to_have_attribute("aria-selected", "true")
    expect(page.locator(COUNT)).to_have_text("24 pairs")
    with redrawn(page):
        page.click("#lp-source-table")
    assert table_rows(page) == PAIRS[:1]


def test_pasting_from_a_spreadsheet(page: Page) -> None:
    clear_table(page)
    cells = [
        ['She said "hello" to me.', "A greeting\nover two lines.", "3"],
        ['5" of snow fell.', "It snowed.", "4"],
        ["A tab\tinside.", "No tab.", "1"],
    ]
    text = (
        '"She said ""hello"" to me."\t"A greeting\nover two lines."\t3\r\n'
        '5" of snow fell.\tIt snowed.\t4\r\n'
        '"A tab\tinside."\tNo tab.\t1\r\n'
    )
    with redrawn(page):
        paste(page, 1, 1, text)
    assert table_rows(page) == cells
    expect(page.locator(COUNT)).to_have_text("3 pairs")
    # A column of scores pasted at one cell fills downwards and touches nothing else.
    with redrawn(page):
        paste(page, 1, 3, "1\n2\n3")
    assert table_rows(page) == [[*row[:2], score] for row, score in zip(cells, "123", strict=True)]


def test_an_example_becomes_rows_of_ones_own_and_two_columns_are_positives(page: Page) -> None:
    before = loss_shown(page)
    button(page, "ui.edit_copy").click()
    expect(page.locator("#lp-source-table")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#main-pairs tbody tr")).to_have_count(24)
    settle(page)
    # The same sentences through the encoder give the numbers that were shipped.
    assert loss_shown(page) == pytest.approx(before, rel=1e-3)
    # Sentences that are pasted over others do not keep the labels of those.
    paste(page, 1, 1, "How are you?\tFine.\nWhere is it?\tOver there.")
    expect(page.locator(SKIPPED).nth(1)).to_contain_text("score")
    assert table_rows(page)[:2] == [
        ["How are you?", "Fine.", ""],
        ["Where is it?", "Over there.", ""],
    ]
    clear_table(page)
    paste(page, 1, 1, "How are you?\tFine.\nWhere is it?\tOver there.\nWhy?\tBecause it is.")
    problem = page.locator(PROBLEM)
    expect(problem).to_contain_text("CoSENT compares pairs with different scores")
    expect(page.locator("#lp-source-panel")).to_contain_text(wording("ui.all_positives"))
    expect(page.locator("#lp-loss option[value=cosent]")).to_have_text(
        wording("ui.needs_scores", name="CoSENT")
    )
    with redrawn(page):
        problem.get_by_role("button", name=wording("ui.loss_over_positives")).click()
    expect(page.locator("#lp-loss")).to_have_value("info_nce")
    expect(problem).to_be_hidden()
    expect(page.locator(COUNT)).to_have_text("3 pairs")
    sound(page)
    # A column that may be a score is asked about, and may be none.
    content = b"question,answer,x,y\nWhat is it?,A cat.,1,2\nWho is it?,A dog.,2,3\n"
    upload(page, "faq.csv", content)
    expect(problem).to_contain_text(wording("problem.columns_not_recognised"))
    page.select_option("#main-controls select[name=first]", "question")
    page.select_option("#main-controls select[name=second]", "answer")
    with redrawn(page):
        page.select_option("#main-controls select[name=score]", label=say("en", "column.no_score"))
    expect(page.locator(COUNT)).to_have_text("2 pairs")
    expect(problem).to_be_hidden()


# ---- Files -------------------------------------------------------------------------------------


def frame() -> pd.DataFrame:
    rows = [*PAIRS, ['He said "stop".', "He shouted; twice, loudly.", "2.5"]]
    return pd.DataFrame(rows, columns=["sentence1", "sentence2", "score"]).astype({"score": float})


def parquet() -> bytes:
    out = io.BytesIO()
    frame().to_parquet(out)
    return out.getvalue()


# How each kind is read, tests/unit/sources/test_pairs_from_tables.py shows; here, how bytes travel.
KINDS = {
    "pairs.parquet": parquet(),
    # A mark of the byte order, and two characters at the end of a line.
    "excel.csv": b"\xef\xbb\xbf" + frame().to_csv(index=False, lineterminator="\r\n").encode(),
}


def test_files_of_bytes_and_of_text(page: Page, subtests: pytest.Subtests) -> None:
    unfold(page, "ui.pairs")
    for name, content in KINDS.items():
        with subtests.test(name=name):
            with redrawn(page):
                upload(page, name, content)
            expect(page.locator("#lp-source-panel")).to_contain_text(
                wording("ui.file_read", name=name, used=4, total=4)
            )
            expect(page.locator(COUNT)).to_have_text("4 pairs")
            sound(page)
            seen = [[first, second, float(score)] for first, second, score in table_rows(page)]
            assert seen == frame().to_numpy().tolist()
            with redrawn(page):  # back to other rows
                page.click("#lp-source-example")


def test_bad_rows_of_a_file_are_named_and_it_is_there_again_when_its_tab_is(page: Page) -> None:
    content = (
        "sentence1,sentence2,score\na one,a two,1\nb one,b two,high\nc one,,2\nd one,d two,3\n"
    )
    with redrawn(page):
        upload(page, "some-bad.csv", content.encode())
    element = page.locator(SKIPPED)
    expect(element).to_have_count(3)
    assert say("en", "ui.skipped", count=2) in element.nth(0).inner_text()
    # Row 1 is the first below the header.
    for place, row in ((1, 2), (2, 3)):
        assert pattern_of("ui.row_skipped", row=row).fullmatch(element.nth(place).inner_text())
    assert "high" in element.nth(1).inner_text()
    expect(page.locator(COUNT)).to_have_text("2 pairs")
    # Still reported after the picture has changed.
    with redrawn(page):
        slider(page, "scale")[1].fill("10")
    expect(element).to_have_count(3)
    # A file is there again when its tab is.
    with redrawn(page):
        upload(page, "pairs.csv", frame().to_csv(index=False).encode())
    of_the_file = loss_shown(page)
    with redrawn(page):
        page.click("#lp-source-example")
    assert loss_shown(page) != of_the_file
    with redrawn(page):
        page.click("#lp-source-file")
    assert loss_shown(page) == of_the_file
    expect(page.locator(COUNT)).to_have_text("4 pairs")


# And so for what is no table: test_what_is_no_table_is_refused_with_a_reason.
NOT_WHAT_THEY_SAY = {"picture.parquet": b"\x89PNG\r\n\x1a\n not a table", "empty.csv": b""}


def test_a_file_that_is_not_what_it_says(page: Page, subtests: pytest.Subtests) -> None:
    for place, (name, content) in enumerate(NOT_WHAT_THEY_SAY.items()):
        with subtests.test(name=name):
            before = loss_shown(page)
            upload(page, name, content)
            expect(page.locator(PROBLEM)).to_be_visible()
            text = page.locator(PROBLEM).inner_text()
            assert text.endswith((".", "。"))
            assert "problem." not in text
            assert not re.search(r"\{\w+\}", text)
            assert say("en", "problem.internal") not in text
            # The scenario stayed as it was, which is reported.
            assert loss_shown(page) == before
            assert say("en", "ui.still_shown") in text
            # The page works on: the next good file is taken.
            good = frame().assign(score=frame()["score"] + place)  # others each time
            with redrawn(page):
                upload(page, "good.csv", good.to_csv(index=False).encode())
            sound(page)


def test_choosing_other_columns_and_those_that_nothing_recognises(page: Page) -> None:
    rows = [
        {"text_a": "One dog.", "text_b": "A dog.", "score": 5.0, "machine": 1.0},
        {"text_a": "One cat.", "text_b": "A car.", "score": 1.0, "machine": 5.0},
        {"text_a": "It rains.", "text_b": "Rain falls.", "score": 4.0, "machine": 2.0},
    ]
    with redrawn(page):
        upload(page, "columns.jsonl", "\n".join(map(json.dumps, rows)).encode())
    choices = page.locator("#main-controls .lp-columns select")
    read = ["text_a", "text_b", "score", "none"]  # no teacher
    assert [choice.input_value() for choice in choices.all()] == read
    well_ordered = loss_shown(page)
    with redrawn(page):
        choices.nth(2).select_option("machine")
    unfold(page, "ui.pairs")
    assert [float(row[2]) for row in table_rows(page)] == [1, 5, 2]
    assert loss_shown(page) > well_ordered
    # Columns that nothing recognises.
    rows = "left side,right side,human,machine\na one,a two,1,9\nb one,b two,4,8\nc one,c two,2,7\n"
    note = page.locator("#lp-source-panel > .lp-note")
    with redrawn(page):
        upload(page, "known.csv", b"sentence1,sentence2,score\nx,y,1\nz,w,2\n")
    expect(note).to_contain_text("known.csv: 2 pairs")
    upload(page, "odd.csv", rows.encode())
    expect(page.locator(PROBLEM)).to_contain_text("left side")
    expect(choices).to_have_count(3)
    expect(note).to_have_text(
        wording("ui.file_undecided", name="odd.csv")
    )  # not the file from before
    choices.nth(0).select_option("left side")
    choices.nth(1).select_option("right side")
    with redrawn(page):
        choices.nth(2).select_option("human")
    expect(note).to_contain_text("odd.csv: 3 pairs")
    assert page.evaluate("window.lossprism.page().batch.labels") == [1, 4, 2]
    expect(page.locator(PROBLEM)).to_be_hidden()


# ---- Random batches ----------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_loss_and_512_pairs_are_the_most(page: Page) -> None:
    with redrawn(page):
        page.click("#lp-source-random")
    first = loss_shown(page)
    with redrawn(page):
        slider(page, "random-seed")[1].fill("7")
    seventh = loss_shown(page)
    assert seventh != first
    still(page)
    link = page.evaluate("location.hash")
    with redrawn(page):
        slider(page, "random-mislabelled")[1].fill("0.3")
    assert loss_shown(page) > seventh
    still(page)
    assert page.evaluate("location.hash") != link
    with redrawn(page):
        slider(page, "random-mislabelled")[1].fill("0.05")
    still(page)
    assert page.evaluate("location.hash") == link
    with redrawn(page):
        page.click("#lp-source-example")
    still(page)
    with redrawn(page):
        page.evaluate("link => { location.hash = link; }", link)
    assert loss_shown(page) == seventh
    assert slider(page, "random-seed")[1].input_value() == "7"
    # 512 pairs, and no more; the slider ends there.
    track, box = slider(page, "random-pairs")
    with redrawn(page):
        track.press("End")
    expect(box).to_have_value("512")
    with redrawn(page):
        box.fill("100")
    with redrawn(page):
        box.fill("512")
    sound(page)
    assert shape(page) == [512, 512]
    expect(page.locator(COUNT)).to_have_text("512 pairs")
    before = drawn(page)
    slider(page, "random-pairs")[1].fill("513")
    expect(slider(page, "random-pairs")[1]).to_have_class("lp-number lp-bad")
    assert drawn(page) == before


# ---- The rules ---------------------------------------------------------------------------------


def test_the_threshold_decides_what_is_positive(page: Page) -> None:
    choose(page, "info_nce")
    unfold(page, "ui.rules")
    labels = page.evaluate("window.lossprism.page().batch.labels")
    for threshold in (2, 4):
        with redrawn(page):
            page.fill("#lp-threshold", str(threshold))
        positives = sum(label >= threshold for label in labels)
        expect(page.locator(".lp-rules li").first).to_contain_text(f"{positives} of {len(labels)}")
        assert shape(page)[0] == positives
    at_four = loss_shown(page)
    page.fill("#lp-threshold", "99")
    expect(page.locator(PROBLEM)).to_contain_text("99")
    with redrawn(page):
        page.fill("#lp-threshold", "4")
    sound(page)
    assert loss_shown(page) == at_four


@pytest.mark.encoder
def test_rows_travel_once(page: Page) -> None:
    clear_table(page)
    with redrawn(page):
        type_pair(page, 1, "One sentence.", "Another one.", "1")
        type_pair(page, 2, "A third.", "And a fourth.", "0")
    settle(page)
    with replacing(page):
        page.evaluate(
            f"""() => {{
              const {{ server }} = {PAGE};
              const {{ explore }} = server;
              window.sent = [];
              server.explore = async (request) => {{
                window.sent.push([request.scenario.data.rows.length, "rows" in request]);
                const forgotten = window.forget && "rows" in request;
                window.forget = false;
                return forgotten ? {{ send_rows: true }} : explore(request);
              }};
            }}"""
        )
        for value in ("10", "30"):
            with redrawn(page):
                slider(page, "scale")[1].fill(value)
        assert page.evaluate("window.sent") == [[0, True], [0, True]]
        before = loss_shown(page)
        # A server that no longer has them receives them again.
        page.evaluate("window.sent = []; window.forget = true")
        with redrawn(page):
            slider(page, "scale")[1].fill("31")
        sent = page.evaluate("window.sent")
        assert sent[0] == [0, True]
        assert sent[1][0] >= 2
        assert not sent[1][1]
        assert loss_shown(page) != before
        # Other rows are reported, too.
        page.evaluate("window.sent = []")
        with redrawn(page):
            type_pair(page, 2, "A third, changed.", "And a fourth.", "0")
        assert page.evaluate("window.sent")[0][1] is False


def test_a_file_brings_a_guide(page: Page) -> None:
    """Columns of a file are offered; the report follows the choice."""
    texts = ["One dog.", "One cat.", "It rains."]
    rows = [
        {"question": text, "answer": f"{text} So it is.", "u": [1, place], "v": [1, place]}
        for place, text in enumerate(texts)
    ]
    rows.append({"question": "Why?", "answer": "Because.", "u": [1, 9], "v": None})
    columns = {"u": "guide_question", "v": "guide_answer"}
    named = [{columns.get(name, name): row[name] for name in row} for row in rows[:3]]
    element = page.get_by_text(wording("ui.guide_given"))
    choices = page.locator("#main-controls .lp-columns select")
    with redrawn(page):
        page.select_option("#lp-loss", "info_nce")
    with redrawn(page):
        upload(page, "guided.jsonl", "\n".join(map(json.dumps, named)).encode())
    read = ["question", "answer", "none", "none", "guide_question", "guide_answer"]
    assert [choice.input_value() for choice in choices.all()] == read
    expect(element).to_be_hidden()  # nobody asks it
    with redrawn(page):
        page.select_option("#lp-loss", "gist")
    expect(element).to_be_visible()
    choices.nth(4).select_option("none")
    expect(page.locator(PROBLEM)).to_contain_text("3 of 3 pairs lack them")
    with redrawn(page):
        button(page, "ui.without_guide", PROBLEM).click()
    expect(page.get_by_text(wording("ui.guide_own"))).to_be_visible()
    # Columns of any name, of which one lacks a vector.
    content = "\n".join(map(json.dumps, rows)).encode()
    upload(page, "vectors.jsonl", content)
    expect(page.locator(PROBLEM)).to_contain_text("“u”")
    choices.nth(0).select_option("question")
    choices.nth(1).select_option("answer")
    with redrawn(page):
        choices.nth(2).select_option("none")
    expect(choices).to_have_count(8)
    choices.nth(4).select_option("u")
    choices.nth(5).select_option("v")
    expect(page.locator(PROBLEM)).to_contain_text("1 of 4 pairs lacks them")
    expect(page.locator(PROBLEM)).to_contain_text("“Why?” with “Because.”")
