"""The check of a dataset, as a stranger walks it: from a set that is here to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import say
from tests.browser.doctor.test_number import opened
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

MAIN = "#doctor-data"
ABOUT = f"{MAIN} .lp-about >> nth=0"
PASTED = (
    "how tall\t8848 m\t5\nhow tall\t8848 m\t0\nhow old\tten\t4\nHOW old\tten\t4\n<b>x</b>\tso\t3\n"
)


def finding(page: Page, name: str) -> Locator:
    return page.locator(f"{MAIN} [data-finding={name}]")


def href(link: Locator) -> str:
    return str(link.get_attribute("href"))


def test_a_stranger_brings_data(
    new_page: Callable[..., Page], server: Server, tmp_path: Path
) -> None:
    page = opened(new_page(), server.address)
    # It opens on a set that is here, with something the matter with it.
    page.get_by_role("tab", name=wording("doctor.check.data")).click()
    twins = finding(page, "twins")
    verdict, *_ = say("en", "doctor.data.twins", count=7).split(":")
    expect(twins).to_contain_text(verdict)
    expect(twins.locator("tbody tr")).to_have_count(5)
    expect(page.locator("#doctor-number")).to_be_hidden()
    # An encoder tells which answers would do for another question, too.
    page.get_by_text(wording("doctor.encoder")).click()
    page.click("#lp-doctor-encode")
    expect(finding(page, "false_negatives")).to_contain_text("It is closed on Mondays")
    expect(page.locator(f"{MAIN} .lp-encoded")).to_contain_text(wording("doctor.sharpnesses"))
    # Its hard negatives are a file to take away.
    page.fill("#lp-doctor-mine-negatives", "2")
    expect(page.locator(f"{MAIN} .lp-mining code")).to_contain_text("num_negatives=2")
    with page.expect_download() as mined:
        page.get_by_role("button", name=wording("doctor.take_mined")).click()
    assert mined.value.suggested_filename == "twins-hard-negatives.tsv"
    triplets = Path(mined.value.path()).read_text().splitlines()
    assert triplets[0] == "anchor\tpositive\tnegative"
    assert len(triplets) > 10
    page.get_by_role("button", name="Without", exact=True).click()
    expect(finding(page, "false_negatives")).to_have_count(0)
    # Loss and batch are moved, and the findings follow.
    page.fill("input[aria-label='Batch size'].lp-number", "8")
    expect(page.locator(ABOUT)).to_contain_text(wording("finetune.batch_of", count=8))
    page.select_option("#lp-doctor-for", "cosent")
    expect(twins).to_have_count(0)
    expect(page.locator(f"{MAIN} .lp-looked li").first).to_be_visible()
    page.wait_for_function("location.hash === '#door=data&for=cosent&n=8'")

    # A pasted table: the worst first, its rows as text, the whole of it in a short link.
    page.select_option("#lp-doctor-from", "typed")
    expect(finding(page, "twins")).to_have_count(0)
    page.fill("#lp-doctor-pasted", PASTED)
    expect(finding(page, "conflicting_labels").locator("tbody")).to_contain_text("8848 m")
    assert page.locator(f"{MAIN} .lp-finding").first.get_attribute("data-finding") == (
        "conflicting_labels"
    )
    page.select_option("#lp-doctor-for", "cosine_mse")
    reach = finding(page, "labels_out_of_reach")
    expect(reach.locator("code")).to_contain_text('{"score": row["score"] / 5}')
    expect(reach.locator("tbody")).to_contain_text("<b>x</b>")
    page.wait_for_function("location.hash.includes('cosine_mse') && location.hash.includes('&t=')")
    assert len(page.url) < 250
    page.reload(wait_until="domcontentloaded")
    expect(reach.locator("code")).to_contain_text('{"score": row["score"] / 5}')
    assert page.input_value("#lp-doctor-pasted") == PASTED
    # Another column is chosen.
    page.select_option("select[name=score]", "none")
    expect(finding(page, "no_labels")).to_contain_text(wording("doctor.data.no_labels"))
    expect(page.locator("select[name=score]")).to_have_value("none")

    # Texts with their classes.
    page.fill("#lp-doctor-pasted", "text\tclass\none\ta\ntwo\ta\ntwo\tb\n")
    expect(finding(page, "texts_in_classes").locator("tbody")).to_contain_text("two")
    expect(page.locator(f"{MAIN} .lp-looked")).to_contain_text("Largest: a (2)")
    expect(page.locator(f"{MAIN} .lp-clean")).to_contain_text("1 of 3 texts")
    page.get_by_text(wording("doctor.clean"), exact=True).click()
    with page.expect_download() as taken:
        page.get_by_role("button", name=wording("doctor.take_kept")).click()
    assert Path(taken.value.path()).read_text() == "text\tclass\none\ta\n"
    link = (
        page.locator(f"{MAIN} .lp-suited")
        .get_by_role("link", name=wording("doctor.open.explore"))
        .first
    )
    scenario = Scenario.from_link(href(link).removeprefix("./#"))
    assert (scenario.loss, scenario.data.rows[0]) == ("softmax", ("one", "two", "1"))
    page.get_by_text(wording("doctor.encoder")).click()
    page.click("#lp-doctor-encode")
    refused = page.locator(f"{MAIN} .lp-problem")
    expect(refused).to_contain_text(wording("problem.classes_no_pairs"))
    page.get_by_role("button", name="Without", exact=True).click()
    expect(refused).to_be_hidden()
    # They can be taken for pairs, and other columns for texts and classes.
    page.select_option("select[name=kind]", "pairs")
    expect(page.locator(ABOUT)).to_contain_text("3 pairs")
    expect(page.locator("select[name=second]")).to_have_value("class")
    page.select_option("select[name=kind]", "classes")
    expect(finding(page, "texts_in_classes")).to_have_count(1)
    page.select_option("select[name=class]", "text")
    expect(page.locator(f"{MAIN} .lp-problem")).to_contain_text(
        wording("problem.column_chosen_twice")
    )
    # A file: read, and what stays of it is taken away.
    page.select_option("#lp-doctor-from", "file")
    path = tmp_path / "mine.csv"
    rows = "".join(f"question {place},answer {place},{place % 4}\n" for place in range(400))
    path.write_text(f"query,answer,score\n{rows}question 3,answer 3,3\n")
    page.set_input_files("#lp-doctor-file", path)
    expect(finding(page, "copies")).to_contain_text("1 row repeats an earlier row")
    expect(page.locator(ABOUT)).to_contain_text("401 pairs")
    if not page.get_by_role("button", name=wording("doctor.take_kept")).is_visible():
        page.get_by_text(wording("doctor.clean"), exact=True).click()
    with page.expect_download() as taken:
        page.get_by_role("button", name=wording("doctor.take_kept")).click()
    assert taken.value.suggested_filename == "mine-clean.tsv"
    assert len(Path(taken.value.path()).read_text().splitlines()) == 401
    # The language turns the sentences of the server, too.
    page.click("#lp-language")
    expect(finding(page, "copies")).to_contain_text("重复")
    page.click("#lp-language")
    expect(finding(page, "copies")).to_contain_text("repeats")

    # Which loss: beside another in Compare, on these rows in Fine-tune, and Back leads here again.
    suited = page.locator(f"{MAIN} .lp-suited .lp-finding")
    first = suited.first
    name = first.locator("small").inner_text()
    compare = page.get_by_role("link", name=say("en", "doctor.compare_first"), include_hidden=True)
    beside = parse_qs(urlsplit(href(compare)).fragment)
    scenario = Scenario.from_link(beside["scene"][0])
    assert beside["1"] == [name] == [scenario.loss] != beside["2"]
    assert scenario.data.rows
    shown = finding(page, "copies").get_by_role(
        "link", name=wording("doctor.open.rows"), include_hidden=True
    )
    copies = href(shown)
    rows = Scenario.from_link(copies.removeprefix("./#")).data.rows
    assert [row[0] for row in rows].count("question 3") == 2
    first.get_by_role("link", name=wording("doctor.open.finetune")).click()
    page.wait_for_function("window.lossprism?.page('finetune')?.checked")
    plan = page.evaluate("window.lossprism.page('finetune').plan")
    assert (plan["loss"], plan["data"]["source"]) == (name, "file")
    assert plan["data"]["name"] == "mine.csv"
    page.go_back(wait_until="domcontentloaded")
    expect(finding(page, "copies")).to_contain_text("repeats")
