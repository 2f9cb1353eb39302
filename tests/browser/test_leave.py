"""A stranger's link is asked about before the hub is contacted or a folder read, by mouse and by
keyboard, in both languages."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Scenario
from lossprism.losses.sentence_transformers.saved_batch import write
from tests import hub
from tests.browser import axe
from tests.browser.doctor.test_number import PAGE as DOCTOR
from tests.browser.reading import PAGE
from tests.browser.serving import Server
from tests.tiny import static_model
from tests.unit.lab.training.conftest import corpus
from tests.unit.web.pages.test_doctor_run import batch

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

REQUESTED: list[str] = []  # of the hub, by anybody
ALLOW = {"en-US": "Allow", "zh-CN": "允许"}


@pytest.fixture(scope="module")
def server_with_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose hub has a model and a dataset of a stranger."""
    root = tmp_path_factory.mktemp("hub")
    static_model().save_pretrained(str(root / "model"))
    (root / "model" / "notes.txt").write_bytes(
        bytes(2**18)
    )  # so large that its size is asked about
    (root / "set").mkdir()
    with (root / "set" / "train.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("sentence1", "sentence2", "score"), *corpus().train])
    models = {f"stranger/model-{locale}": root / "model" for locale in ALLOW}  # none cached before
    shelf = models, {"stranger/set": root / "set"}
    with hub.serving(*shelf, REQUESTED) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", address)
        patch.setenv("HF_HOME", str(root / "home"))
        with Server(root) as running:
            yield running


def link_to(kind: str, folder: Path, locale: str) -> str:
    if kind == "folder":
        write(folder, batch(50))
        return f"/doctor#door=run&by=kept&batches={folder}"
    if kind == "set":
        rows = {"en-US": 50, "zh-CN": 60}[locale]  # as many as were not read before
        return f"/doctor#door=data&from=hub&hub=stranger/set&rows={rows}"
    scenario = {"source": "example", "example": "graded_english"}
    scenario["encoder"] = f"stranger/model-{locale}"
    return f"/#{Scenario.from_json({'data': scenario}).to_link()}"


READ = {
    "model": f"Boolean({PAGE}.picture)",
    "set": f"{DOCTOR}.data.examined !== null",
    "folder": f"{DOCTOR}.run.batches?.length === 1",
}


# The language is that of the words alone.
@pytest.mark.parametrize(
    ("kind", "locale"), [("model", "zh-CN"), ("set", "en-US"), ("folder", "en-US")]
)
def test_nothing_is_read_or_contacted_before_the_click_and_it_is_after(
    kind: str, locale: str, server_with_hub: Server, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    REQUESTED.clear()
    address = server_with_hub.address
    page = new_page(address=address, locale=locale)
    page.goto(address + link_to(kind, tmp_path, locale))
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(str(tmp_path) if kind == "folder" else f"stranger/{kind}")
    expect(dialog.get_by_role("button").first).to_be_focused()
    assert not page.evaluate(READ[kind])
    assert REQUESTED == []
    assert axe.violations(page, axe.script(), "dialog") == []

    # Declined by Escape, the page says what is missing, and asks no second time.
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".lp-problem:visible").first).to_contain_text(
        str(tmp_path) if kind == "folder" else "stranger/"
    )
    assert REQUESTED == []

    # Opened again, it is agreed to by the keyboard.
    page.reload()
    expect(dialog.get_by_role("button").first).to_be_focused()
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name=ALLOW[locale])).to_be_focused()
    page.keyboard.press("Enter")
    if kind == "model":
        expect(dialog).to_contain_text("1 MiB")
        dialog.get_by_role("button", name=ALLOW[locale]).click()
    page.wait_for_function(READ[kind])
    assert bool(REQUESTED) == (kind != "folder")
