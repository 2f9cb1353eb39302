"""Vectors of one's own on the page: a file of arrays, as a user drops it."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, expect

import lossprism
from tests.browser.reading import PROBLEM, loss_shown, redrawn, upload
from tests.sentences import wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]


def test_vectors_of_ones_own_come_as_a_file(page: Page) -> None:
    """Two matrices, as CLIP gives them: no encoder runs, and an example keeps its own vectors."""
    images, texts = np.random.RandomState(0).randn(2, 6, 4).astype(np.float32)
    captions = [f"a photo of {some}" for some in ("cats", "dogs", "owls", "bees", "cows", "ants")]
    held = io.BytesIO()
    np.savez(held, image_embeds=images, text_embeds=texts, caption=np.array(captions))
    with redrawn(page):
        page.select_option("#lp-loss", "info_nce")
    with redrawn(page):
        upload(page, "clip.npz", held.getvalue())
    read = ["image", "caption", "none", "none", "image_embedding", "caption_embedding"]
    choices = page.locator("#main-controls .lp-columns select")
    assert [choice.input_value() for choice in choices.all()] == read
    found = lossprism.probe("info_nce", (torch.tensor(images), torch.tensor(texts)))
    assert loss_shown(page) == pytest.approx(found.value, rel=1e-3)
    expect(page.get_by_text(wording("ui.encoder_now", name="clip.npz"))).to_be_attached()
    with redrawn(page):
        choices.nth(4).select_option("none")
    expect(page.get_by_text(wording("ui.encoder_now", name="all-MiniLM-L6-v2"))).to_be_attached()
    expect(choices.nth(5)).to_have_value("none")  # those of one side alone are not taken
    with redrawn(page):
        choices.nth(4).select_option("image_embedding")
    with redrawn(page):
        choices.nth(5).select_option("caption_embedding")
    assert loss_shown(page) == pytest.approx(found.value, rel=1e-3)
    with redrawn(page):
        page.click("#lp-source-example")
        page.select_option("#lp-example", "graded_english")
    expect(page.locator(PROBLEM)).to_be_hidden()


INKS = ("red", "green", "blue", "black", "gold", "teal")


def with_pictures() -> bytes:
    """Two matrices, and a picture of each item of the first, as a data URL."""
    urls = []
    for ink in INKS:
        held = io.BytesIO()
        Image.new("RGB", (64, 64), ink).save(held, "PNG")
        urls.append(f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}")
    images, texts = np.random.RandomState(0).randn(2, len(INKS), 4).astype(np.float32)
    captions = np.array([f"something {ink}" for ink in INKS])
    held = io.BytesIO()
    np.savez(held, image_embeds=images, text_embeds=texts, image=np.array(urls), caption=captions)
    return held.getvalue()


INK_AT_MIDDLE = """(image) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  canvas.getContext("2d").drawImage(image, 0, 0);
  return [...canvas.getContext("2d").getImageData(30, 30, 1, 1).data.slice(0, 3)];
}"""


def test_pictures_stand_wherever_their_texts_do(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-loss", "info_nce")
    with redrawn(page):
        upload(page, "clip.npz", with_pictures())
    page.locator("details.lp-table > summary").first.click()
    for place in (".lp-row-ticks q", ".lp-card .lp-side", ".lp-sortable", ".lp-list", ".lp-table"):
        shown = page.locator(f"{place} img.lp-miniature")
        expect(shown.first).to_be_visible()
    label = page.locator(".lp-row-ticks q", has_text="image 1")
    expect(label).to_have_text("image 1")
    red, green, blue = label.locator("img").evaluate(INK_AT_MIDDLE)
    assert red > 200
    assert max(green, blue) < 60
    sources = page.locator("img.lp-miniature").evaluate_all("all => all.map(({ src }) => src)")
    assert {source.split(",")[0] for source in sources} == {"data:image/webp;base64"}
    assert page.locator("textarea").first.input_value() == "image 1"
