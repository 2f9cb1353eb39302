"""Vectors of one's own on the page: a file of arrays, as a user drops it."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

import lossprism
from tests.browser.reading import PROBLEM, loss_shown, redrawn, upload

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
    expect(page.get_by_text("Cosines of clip.npz")).to_be_attached()
    with redrawn(page):
        choices.nth(4).select_option("none")
    expect(page.get_by_text("Cosines of all-MiniLM-L6-v2")).to_be_attached()
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
