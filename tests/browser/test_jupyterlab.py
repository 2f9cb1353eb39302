"""A notebook in JupyterLab behind a hub's proxy: what a cell shows, and what a saved one shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import nbformat
import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from tests import warm
from tests.browser.serving import ROOT, START_S, free_port

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

HUB = "/user/me/"  # where a hub shows the notebooks of a user; jupyter-server-proxy adds the ports
CELLS = (
    """import lossprism
pairs = [
    ("A man eats pasta.", "Someone has a meal.", 1.0),
    ("A girl plays the violin.", "A child makes music.", 0.8),
    ("Two dogs run.", "A cat sleeps.", 0.2),
    ("It rains in Rome.", "The stock market fell.", 0.0),
]
lossprism.show(pairs, loss="cosent", height=640)""",
    'matrix = lossprism.widget(pairs, loss="cosent", scale=20)\nmatrix',
    'matrix.scale = 50\nmatrix.facet = "gradient"\nprint(f"loss {matrix.exploration.loss:.4g}")',
    'print("selected", matrix.selected)',
    """import numpy, pandas
from PIL import Image
frame = pandas.DataFrame({
    "image": [Image.new("RGB", (64, 64), ink) for ink in ("red", "green", "blue")],
    "caption": ["something red", "something green", "something blue"],
    "image_embedding": list(numpy.eye(3)),
    "caption_embedding": list(numpy.eye(3) + 0.1),
})
lossprism.widget(frame, loss="info_nce")""",
    'print("done")',
)
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"autoStartDefaultKernel": True},
    "docmanager-extension/plugin": {"autosave": False},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("jupyterlab")
    warm.write_kernel(made)
    for name, values in SETTINGS.items():
        path = made / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    (made / "work").mkdir()
    return made


def write_notebook(path: Path, *cells: str) -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = list(map(nbformat.v4.new_code_cell, cells))
    notebook.metadata["kernelspec"] = {"name": "warm", "display_name": "warm"}
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[str]:
    """The address of JupyterLab, which runs with a configuration of its own."""
    port = free_port()
    places = {
        name: str(folder / name.lower()) for name in ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR")
    }
    environment = {
        **os.environ,
        **{f"JUPYTER_{name}": place for name, place in places.items()},
        "JUPYTER_PATH": str(folder),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERHUB_SERVICE_PREFIX": HUB,
        "LOSSPRISM_CACHE": str(folder / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    options = {
        "ServerApp.base_url": HUB,
        "ServerApp.root_dir": folder / "work",
        "ServerApp.password": "",
        "IdentityProvider.token": "",
        "LabApp.extension_manager": "readonly",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}{HUB}"
    try:
        wait_for(f"{address}api", folder / "log")
        yield address
    finally:
        process.terminate()  # it ends its kernels, and they their servers
        process.wait()


def wait_for(address: str, log: Path) -> None:
    end = monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(address):
                return
        except urllib.error.URLError:
            assert monotonic() < end, log.read_text()
            sleep(0.2)


def opened(browser: Browser, lab: str, name: str, **look: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 2200}, **look)
    page.goto(f"{lab}lab/tree/{name}?reset")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    return page


def output(page: Page, cell: int) -> Locator:
    return page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea-output")


def run_all(page: Page) -> None:
    expect(page.get_by_role("button", name="warm | Idle")).to_be_visible()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def matrix_in(page: Page) -> FrameLocator:
    return page.frame_locator("iframe[srcdoc]").first


@pytest.fixture(scope="module")
def ran(browser: Browser, lab: str, folder: Path) -> Iterator[Page]:
    """The notebook with all of its cells run."""
    write_notebook(folder / "work" / "pairs.ipynb", *CELLS)
    page = opened(browser, lab, "pairs.ipynb")
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    run_all(page)
    expect(output(page, 3)).to_have_text("selected None")
    expect(output(page, 5)).to_have_text("done")
    yield page
    assert not faults
    page.close()


def test_a_cell_shows_the_figure_and_below_it_the_page(ran: Page):
    figure = output(ran, 0).locator("img")
    expect(figure).to_have_attribute("alt", "CoSENT")
    assert figure.evaluate("image => image.naturalWidth") > 600
    frame = output(ran, 0).locator("iframe")
    expect(frame).to_have_attribute("height", "640")
    assert frame.evaluate("frame => frame.src").startswith(ran.url.split("lab/")[0] + "proxy/")
    live = frame.content_frame.locator("#main-cell, .lp-stage canvas").first
    expect(live).to_be_visible()
    assert figure.bounding_box()["y"] < frame.bounding_box()["y"]


def test_what_python_sets_moves_the_matrix_and_what_is_clicked_is_read_back(ran: Page):
    text = output(ran, 2).inner_text().removeprefix("loss ").strip()
    matrix = matrix_in(ran)
    expect(matrix.locator(".lp > .lp-note").first).to_have_text(f"CoSENT · Loss {text}")
    expect(matrix.get_by_role("tab", name="Gradient")).to_have_attribute("aria-selected", "true")
    canvas = matrix.locator(".lp-stage > canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 3 / 8, "y": box["height"] / 8})  # row 1, column 2
    expect(matrix.locator(".lp-card")).to_contain_text("pinned")
    ran.locator(".jp-Notebook .jp-Cell").nth(3).locator(".jp-InputArea").click()
    ran.keyboard.press("Control+Enter")
    expect(output(ran, 3)).to_have_text("selected (3, 2)")  # by their places, not their order


def test_the_view_of_a_widget_shows_its_words_and_no_keys(ran: Page):
    matrix = matrix_in(ran)
    text = matrix.locator("body").inner_text()
    for key in ("ui.", "facet.", "legend.", "order.", "axis.", "figure."):
        assert key not in text
    matrix.get_by_role("tab", name="Weight").click()
    cell = ran.locator(".jp-Notebook .jp-Cell").nth(2)
    expect(matrix.get_by_role("tab", name="Weight")).to_have_attribute("aria-selected", "true")
    expect(cell).to_be_visible()
    high = ran.locator("iframe[srcdoc]").first.evaluate(
        "frame => [frame.offsetHeight, frame.contentDocument.documentElement.offsetHeight]"
    )
    assert high[0] == high[1] > 300  # as tall as what is in it


def test_pictures_stand_at_the_rows_of_a_widget_also_in_a_narrow_one(ran: Page):
    frame = ran.locator("iframe[srcdoc]").nth(1)
    matrix = frame.content_frame
    label = matrix.locator(".lp-row-ticks span", has_text="image 2")
    picture, number = (label.locator(part).bounding_box() for part in ("img", "b"))
    middles = [box["y"] + box["height"] / 2 for box in (picture, number)]
    assert abs(middles[0] - middles[1]) < picture["height"] / 2  # on one line
    size = ran.viewport_size
    ran.set_viewport_size({"width": 740, "height": size["height"]})  # beside the list of files
    expect(matrix.locator(".lp-row-ticks.lp-worded")).to_have_count(0)  # no room for words
    expect(matrix.locator(".lp-card img")).to_be_visible()
    wide = frame.evaluate("one => [one.clientWidth, one.contentDocument.body.scrollWidth]")
    ran.set_viewport_size(size)
    assert 340 < wide[0] <= 390
    assert wide[1] <= wide[0]


def test_a_saved_notebook_shows_the_figure_even_where_it_is_not_trusted(
    ran: Page, browser: Browser, lab: str, folder: Path
):
    saved = folder / "work" / "pairs.ipynb"
    ran.get_by_role("menuitem", name="File", exact=True).click()
    with ran.expect_response(lambda one: one.request.method == "PUT" and "pairs" in one.url):
        ran.get_by_text("Save Notebook", exact=True).click()
    notebook = nbformat.read(saved, as_version=4)
    notebook.cells[0].source += "  # somebody else's"
    nbformat.write(notebook, folder / "work" / "stranger.ipynb")
    page = opened(browser, lab, "stranger.ipynb")
    figure = output(page, 0).locator("img")
    figure.wait_for()
    assert figure.evaluate("image => image.naturalWidth") > 600
    assert output(page, 0).locator("iframe").count() == 0  # Jupyter takes it out
    page.close()


def test_a_saved_notebook_shows_the_figure_alone_where_no_page_answers(
    ran: Page, browser: Browser, lab: str, folder: Path
):
    """In a notebook that Jupyter trusts, whose kernel has ended."""
    saved = folder / "work" / "pairs.ipynb"
    notebook = nbformat.read(saved, as_version=4)
    (shown,) = (one for one in notebook.cells[0].outputs if "text/html" in one.get("data", {}))
    page = browser.new_page()
    for is_there in (True, False):
        address = "data:text/html,<script>parent.postMessage('lossprism','*')</script>"
        source = address if is_there else "http://127.0.0.1:1/"
        cell = re.sub(r'<iframe src="[^"]*"', f'<iframe src="{source}"', shown.data["text/html"])
        page.set_content(cell)
        expect(page.locator("img")).to_be_visible()
        frame = page.locator("iframe")
        expect(frame).to_have_css("height", "640px" if is_there else "0px")
    page.close()
