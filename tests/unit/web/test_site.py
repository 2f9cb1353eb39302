"""Where the site is served, as whoever starts it says."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.web import site


@pytest.fixture
def addresses(monkeypatch):
    """The addresses that a site was launched at, in place of launching it."""
    found = []
    monkeypatch.setattr(site, "serve_on", lambda host: None)
    monkeypatch.setattr(
        site, "_launched", lambda first, host, port, address: found.append(address) or (None, "")
    )
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
