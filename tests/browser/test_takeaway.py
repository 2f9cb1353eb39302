"""What a user takes away: pictures, tables, code, the scenario; and the statistics on demand."""

from __future__ import annotations

import csv
import io
import json
import os
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import warm
from tests.browser.reading import PAGE, choose, loss_shown, redrawn, settle, unfold
from tests.sentences import wording
from tests.unit.export.test_interactive_figure import data_in

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
BOX = "#main-takeaway"


@pytest.fixture
def box(page: Page) -> Page:
    unfold(page, "ui.take_away")
    return page


def taken(page: Page, line: int, key: str) -> tuple[str, bytes]:
    """The name and content of what the button of this line downloads."""
    button = page.locator(f"{BOX} .lp-row").nth(line).locator(f"[data-say='{key}']")
    with page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_pictures_as_svg_and_png(box: Page) -> None:
    name, svg = taken(box, 0, "take.svg")
    assert name == "lossprism-cosent-matrix.svg"
    drawn = ElementTree.fromstring(svg)
    assert "CoSENT" in "".join(drawn.itertext())
    wide, tall = float(drawn.get("width")), float(drawn.get("height"))
    for key, ratio in (("take.png2", 2), ("take.png4", 4)):
        name, png = taken(box, 0, key)
        assert name.endswith(f"@{ratio}x.png")
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert (width, height) == (
            pytest.approx(ratio * wide, abs=ratio),
            pytest.approx(ratio * tall, abs=ratio),
        )
    name, svg = taken(box, 1, "take.svg")
    assert name == "lossprism-cosent-gradient.svg"
    ElementTree.fromstring(svg)


def test_the_matrix_to_point_at(box: Page) -> None:
    name, page = taken(box, 0, "take.html")
    assert name == "lossprism-cosent-matrix.html"
    assert page.startswith(b"<!doctype html>")
    sentences = {line for side in data_in(page.decode())["rows"] for line in side}
    assert "A cat is sleeping on the windowsill." in sentences


def test_tables_as_csv(box: Page) -> None:
    for line, key in ((0, "take.csv"), (1, "take.csv"), (2, "take.terms"), (2, "take.suspects")):
        name, content = taken(box, line, key)
        assert name.endswith(".csv")
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


def test_the_code_gives_the_number_again(box: Page, tmp_path: Path) -> None:
    for key, library in (
        ("take.alone", "def cosent_definition"),
        ("take.ours", "from lossprism.losses"),
        ("take.twin", "sentence_transformers"),
    ):
        box.click(f"{BOX} [data-say='{key}']")
        expect(box.locator(f"{BOX} .lp-code")).to_contain_text(library)
        with box.expect_download() as packed:
            box.click(f"{BOX} [data-say='take.code_zip']")
        with zipfile.ZipFile(packed.value.path()) as opened:
            opened.extractall(tmp_path / key)
        done = subprocess.run(
            [warm.python(), "loss.py"],
            cwd=tmp_path / key,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(done.stdout.split()[-1]) == pytest.approx(loss_shown(box), rel=1e-5)


def test_a_loss_without_an_embedding_form_raises(box: Page) -> None:
    choose(box, "max_violation")
    box.click(f"{BOX} [data-say='take.twin']")
    expect(box.locator(f"{BOX} .lp-code")).to_contain_text(wording("take.no_twin"))


def test_a_scenario_goes_into_a_file_and_comes_back(box: Page) -> None:
    choose(box, "siglip")
    name, content = taken(box, 4, "take.file")
    assert name == "lossprism-siglip.json"
    assert json.loads(content)["loss"] == "siglip"
    before = loss_shown(box)
    choose(box, "cosent")
    with redrawn(box):
        box.set_input_files(
            f"{BOX} input[type=file]",
            {"name": name, "mimeType": "application/json", "buffer": content},
        )
    assert loss_shown(box) == before
    assert box.evaluate(f"{PAGE}.scenario.loss") == "siglip"
    box.set_input_files(
        f"{BOX} input[type=file]",
        {"name": "no.json", "mimeType": "application/json", "buffer": b"{ not a scene"},
    )
    expect(box.locator("#main-figures .lp-problem")).to_contain_text(
        wording("problem.scene_file_damaged")
    )
    assert loss_shown(box) == before


def test_statistics_come_on_request(page: Page) -> None:
    """Before, the page has none: see test_opens_with_a_picture."""
    details = page.locator("#main-metrics .lp-more")
    unfold(page, "ui.more_metrics")
    expect(details).to_contain_text(wording("ui.pearson_is"))
    expect(details).to_contain_text("Kolmogorov–Smirnov")


def test_remarks_appear_and_follow_the_slider(page: Page) -> None:
    remarks = page.locator("#lp-main :is(.lp-verdict, .lp-remarks li)")
    expect(remarks.first).to_contain_text(wording("remark.above_collapse_not_below"))
    with redrawn(page):
        page.evaluate(f"{PAGE}.setParameter('scale', 0.5)")
    settle(page)
    expect(page.locator("#lp-main")).not_to_contain_text("above the band")


def test_a_drag_looks_closer_and_the_button_goes_back(page: Page) -> None:
    canvas = page.locator("#main-matrix .lp-stage canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    ticks = page.locator("#main-matrix .lp-row-ticks b:not(:empty)")
    assert ticks.count() == 24
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.1)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.4, steps=4)
    page.mouse.up()
    expect(ticks).to_have_count(8)
    assert page.evaluate(f"{PAGE}.scenario.view.pinned") is None
    page.click("#main-matrix [data-say='ui.whole_matrix']")
    expect(ticks).to_have_count(24)


def test_the_matrix_can_be_read_as_a_table(page: Page) -> None:
    with redrawn(page):
        page.locator("#main-matrix .lp-tab", has_text="Value").click()
    page.click("#main-matrix [data-say='ui.as_table']")
    rows = page.locator("#main-matrix .lp-cells tbody tr")
    expect(rows).to_have_count(24)
    cells = rows.first.locator("td").all_inner_texts()
    assert len(cells) == 24
    assert "·" in cells  # masked
