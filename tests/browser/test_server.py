"""Late answers, a server that goes away, and `python app.py` in a terminal."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from lossprism.explorer.core.scenario import Data, Scenario
from tests import warm
from tests.browser.reading import (
    PAGE,
    PROBLEM,
    clear_table,
    drawn,
    loss_shown,
    redrawn,
    replacing,
    settle,
    slider,
    sound,
    still,
    table_rows,
    type_pair,
    upload,
    visit,
)
from tests.browser.serving import ROOT, START_S, Server, command
from tests.sentences import wording

pytestmark = pytest.mark.browser


def test_a_late_answer_never_overwrites_a_newer_one(page: Page) -> None:
    box = slider(page, "scale")[1]
    with redrawn(page):
        box.fill("10")
    at_ten, before = loss_shown(page), drawn(page)
    with replacing(page):
        page.evaluate(
            """() => {
              const { server } = window.lossprism.page();
              const explore = server.explore;
              window.answers = 0;
              let asked = 0;
              server.explore = async (request) => {
                const first = (asked += 1) === 1;
                const answer = await explore(structuredClone(request));
                if (first) await new Promise((done) => { window.answerFirst = done; });
                window.answers += 1;
                return answer;
              };
            }"""
        )
        box.fill("30")
        page.wait_for_function("window.answerFirst !== undefined")
        box.fill("10")
        page.wait_for_function("window.answers === 1")
        page.evaluate("window.answerFirst()")
        page.wait_for_function("window.answers === 2")
        settle(page)
        assert drawn(page) == before + 1
        assert loss_shown(page) == at_ten


def test_a_file_read_late_never_takes_the_place_of_a_newer_one(page: Page) -> None:
    with replacing(page):
        page.evaluate(
            """() => {
              const page = window.lossprism.page();
              const work = page.work.bind(page);
              let asked = 0;
              page.work = async (server, name, request) => {
                const first = name === "read_file" && (asked += 1) === 1;
                const answer = await work(server, name, request);
                if (first) await new Promise((done) => { window.answerFirst = done; });
                return answer;
              };
            }"""
        )
        upload(page, "old.csv", b"sentence1,sentence2,score\na,b,1\nc,d,0\ne,f,2\n")
        page.wait_for_function("window.answerFirst !== undefined")
        with redrawn(page):
            upload(page, "new.csv", b"sentence1,sentence2,score\ng,h,1\ni,j,0\n")
        page.evaluate("window.answerFirst()")
        settle(page)
        assert page.evaluate(f"{PAGE}.scenario.data.file") == "new.csv"
        expect(page.locator("#main-pairs summary .lp-note")).to_have_text("2 pairs")


def test_control_c_under_an_open_page(browser: Browser, own_server: Callable[..., Server]) -> None:
    server = own_server()
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
    # An encoder that asks for no model, which each server would load.
    scenario = Scenario(data=Data(encoder="all apart"))
    page = visit(context.new_page(), f"{server.address}/#{scenario.to_link()}")
    clear_table(page)
    with redrawn(page):
        type_pair(page, 1, "One sentence.", "Another one.", "1")
        type_pair(page, 2, "A third.", "And a fourth.", "0")
    before = loss_shown(page)
    assert server.said.count("\n") == 1  # one clear line with the address
    assert server.stop() == 0
    assert "LossPrism has stopped." in server.said
    assert "Traceback" not in server.complaints
    type_pair(page, 2, "And a fourth.", "And a fourth.", "0")
    expect(page.locator(PROBLEM)).to_contain_text(wording("ui.server_gone"))
    assert loss_shown(page) == before
    typed = [["One sentence.", "Another one.", "1"], ["And a fourth.", "And a fourth.", "0"]]
    assert table_rows(page) == typed
    # What needs the server says so too, and nothing goes wrong besides.
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    upload(page, "pairs.csv", b"sentence1,sentence2,score\na,b,1\n")
    page.click("#lp-source-table")
    expect(page.locator(PROBLEM)).to_contain_text(wording("ui.server_gone"))
    # As the sentence promises: started again, the page goes on by itself where it was.
    own_server(port=server.port)
    expect(page.locator(PROBLEM)).to_be_hidden()
    settle(page)
    sound(page)
    assert loss_shown(page) != before
    assert table_rows(page) == typed
    assert faults == []
    with redrawn(page):
        slider(page, "scale")[1].fill("5")
    sound(page)
    assert table_rows(page) == typed
    # And it is in the address again.
    still(page)
    found = Scenario.from_link(page.evaluate("location.hash.slice(1)"))
    assert [list(row) for row in found.data.rows] == typed
    context.close()


# tests/unit/core/test_own_loss_from_python_file.py has the messages of other wrong paths.
def test_a_wrong_loss_is_one_clear_line() -> None:
    started = command("--loss", "no_such_file.py:loss", python=warm.python())
    done = subprocess.run(
        started, cwd=ROOT, capture_output=True, text=True, timeout=START_S, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    loading, line = done.stderr.splitlines()
    assert loading == "Loading torch and Gradio …"
    assert "no_such_file.py" in line
