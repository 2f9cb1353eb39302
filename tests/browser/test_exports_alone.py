"""What is taken away of hostile texts, opened by itself in Chromium: none of it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, BrowserContext

from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_session import open_batch
from lossprism.explorer.lab.large.text_buffer import TextBuffer
from lossprism.explorer.lab.training.model_card import section
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.web.pages.large import remark_and_download_requests
from lossprism.explorer.web.pages.large.request_handlers import LargeQuery, Source
from tests.hostile import TEXTS
from tests.unit.export.test_hostile_texts import LOSSES, SVGS, explored, taken
from tests.unit.lab.training.test_model_card import SUMMARY

pytestmark = pytest.mark.browser

NAME = "".join(TEXTS[:6])
# What the texts call.
STRUCK = "window.struck = 0; window.pwned = () => { window.struck += 1; };"


def exports() -> Iterator[tuple[str, str]]:
    for loss in LOSSES[:2]:  # items are pairs, and sentences
        for what in SVGS:
            yield f"{loss}-{what}.svg", taken(what, explored(TEXTS, loss, NAME))
    # Of pairs one is opened in test_interactive.py.
    yield "to-point-at.html", taken("matrix_html", explored(TEXTS, "info_nce", NAME))
    labels, scores = np.arange(len(TEXTS)) % 3.0, np.linspace(-0.9, 0.9, len(TEXTS))
    batch = in_order(labels, scores, TextBuffer(TEXTS), TextBuffer(TEXTS))
    opened = open_batch(
        dataclasses.replace(batch, encoder=NAME), "cosent", {"scale": 20.0}, lambda *_: None
    )
    query = LargeQuery(Source("file", name=NAME), "cosent", (("scale", 20.0),), None, None)
    for what in ("map_svg", "histogram_svg"):
        yield (
            f"{what}.svg",
            remark_and_download_requests._figure(query, opened, what, {}, "figure").text,
        )
    yield "card.html", "<!doctype html><meta charset=utf-8>" + "<hr>".join(map(card, TEXTS))


def card(name: str) -> str:
    """Of a model that was trained with a file and from an encoder of this name, by a reader of
    Markdown that leaves markup in it as it is."""
    plan = TrainingPlan(encoder=name, data=TrainingData(source="file", file="x", name=name))
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return reader.render(section(plan, SUMMARY, []))


def seen(context: BrowserContext, path: Path) -> list[str]:
    """What a file did beyond being shown."""
    page = context.new_page()
    page.add_init_script(STRUCK)
    found: list[str] = []
    page.on("dialog", lambda dialog: (found.append(dialog.type), dialog.dismiss()))
    page.on("popup", lambda other: found.append(f"opened {other.url}"))
    page.on("pageerror", lambda error: found.append(str(error)))

    # A card has its figures beside it, which are not there here.
    beside = ("data:", "blob:", f"{path.parent.as_uri()}/")
    page.on(
        "request",
        lambda request: request.url.startswith(beside) or found.append(request.url),
    )
    page.goto(path.as_uri())
    page.evaluate("for (const one of document.querySelectorAll('a')) one.click?.()")
    if struck := page.evaluate("window.struck"):
        found.append(f"ran {struck} times")
    links = "[...document.querySelectorAll('[href], [src]')].map((one) =>"
    links += " [one.getAttribute('href'), one.getAttribute('src')].join(' ')).join(' ')"
    if "pwned" in (led := page.evaluate(links)):
        found.append(f"leads to {led}")
    page.close()
    return found


def test_nothing_of_it_runs(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context()
    context.new_page()  # stays open, and with it the process that the others are in
    for name, text in exports():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert seen(context, path) == [], name
        assert "pwned" in text, name  # it is there, as text
    # So that it would be seen: the same texts as a page that takes them for markup.
    for text in (TEXTS[0], TEXTS[1], TEXTS[3], TEXTS[4]):
        path = tmp_path / "careless.html"
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{text}", encoding="utf-8")
        assert seen(context, path), text
    context.close()
