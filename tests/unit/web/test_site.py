"""Where the site is served, as whoever starts it says, and how its pages are laid out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lossprism.explorer.core.scenario import OPENING, Scenario
from lossprism.explorer.runtime import limits
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.sources.encoders import encoder_output_cache, safe_model_loading
from lossprism.explorer.web import site
from lossprism.explorer.web.api.endpoint_functions import compute_loss


@pytest.fixture
def addresses(monkeypatch):
    """The addresses that a site was launched at, in place of launching it."""
    found = []
    monkeypatch.setattr(site, "set_page_host", lambda host: None)

    def launched(first, host, port, address, share):
        found.append(address)
        return None, ""

    monkeypatch.setattr(site, "_launched", launched)
    monkeypatch.setenv("GRADIO_ROOT_PATH", "/spaces/lossprism/")
    return found


def test_the_address_is_the_environments_where_none_is_given(addresses):
    site.open_page(Scenario(), "127.0.0.1", None)
    site.open_page(Scenario(), "127.0.0.1", None, "https://example.org/losses")
    assert addresses == ["/spaces/lossprism", "https://example.org/losses"]


@pytest.mark.parametrize("loss", [None, "siglip", "MultipleNegativesRankingLoss"])
def test_the_page_opens_on_the_weights_and_links_keep_what_they_showed(loss):
    opening = site.first_scenario(None, loss)
    assert opening.view.facet == "weight"
    assert Scenario.from_link(opening.to_link()) == opening
    # A link of before names only what differs from the defaults, which are still the values.
    assert Scenario.from_link("1.eNqrrgUAAXUA-Q").view.facet == "value"


@pytest.mark.parametrize(
    "body", Path(site.__file__).parent.glob("pages/*/page.html"), ids=lambda path: path.parent.name
)
def test_each_page_has_one_main_element_with_its_content_alone(body):
    _before, *mains = body.read_text(encoding="utf-8").split("<main")
    assert len(mains) == 1
    content, closed, _after = mains[0].partition("</main>")
    assert closed
    assert "kit/header.js" not in content
    assert "<aside" not in content


@pytest.mark.encoder
def test_the_first_sentences_find_the_encoder_loaded(monkeypatch):
    # Not emptied, as batches that other tests keep have their rows.
    monkeypatch.setattr(safe_model_loading, "_models", Cache(limits.LOADED_MODELS))
    monkeypatch.setattr(
        encoder_output_cache,
        "_cache",
        Cache(limits.VECTOR_CACHE_BYTES, encoder_output_cache._row_bytes),
    )
    order = []
    monkeypatch.setattr(site, "wait_until_idle", lambda most: order.append("idle"))
    opened = safe_model_loading.open_model
    monkeypatch.setattr(
        safe_model_loading,
        "open_model",
        lambda *of, **how: order.append("encoder") or opened(*of, **how),
    )
    site._warm(OPENING).result()
    assert order == ["idle", "encoder"]
    assert compute_loss("info_nce", ["a cat", "a dog"], ["one cat", "a hound"])["loss"] > 0
    assert order == ["idle", "encoder"]


def test_a_class_of_the_whole_page_is_that_of_no_element() -> None:
    """A rule for the element would hold for the page: one without the pointer took it from all."""
    texts = {".css": "", ".js": ""}
    for path in Path(site.__file__).parent.rglob("*.*"):
        if path.suffix in texts and "vendor" not in path.parts:
            texts[path.suffix] += path.read_text(encoding="utf-8")
    of_body = {
        *re.findall(r"body\.(lp-[\w-]+)", texts[".css"]),
        *re.findall(r'body\.classList\.\w+\("([\w-]+)', texts[".js"]),
    }
    tags = re.findall(r'\bh\(\s*"\w+\.([\w.-]+)"', texts[".js"])
    of_elements = {name for tag in tags for name in tag.split(".")}
    assert "lp-unanswered" in of_body
    assert "lp-underway" in of_elements
    assert of_body & of_elements == set()
