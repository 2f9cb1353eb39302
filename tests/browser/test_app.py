"""The page can be installed as an app, under its own name and icon."""

from __future__ import annotations

import urllib.request
import xml.etree.ElementTree as ElementTree

import pytest
from playwright.sync_api import Page

from explorer.web.assets import ICON
from tests.browser.reading import sound
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

# Playwright's contexts are private windows, from which nothing can ever be installed.
PRIVATE = "in-incognito"


def test_the_manifest_has_our_name_and_icon(page: Page, server: Server) -> None:
    manifest = page.evaluate(
        "fetch(document.querySelector('link[rel=manifest]').href).then((got) => got.json())"
    )
    assert manifest["name"] == "LossPrism"
    assert manifest["display"] == "standalone"
    assert manifest["icons"]
    for path in (*(icon["src"] for icon in manifest["icons"]), "favicon.ico"):
        with urllib.request.urlopen(f"{server.address}/{path.lstrip('/')}") as answer:
            assert answer.headers["Content-Type"].startswith("image/svg+xml")
            assert answer.read() == ICON.read_bytes()


def test_the_icon_is_a_square_drawing() -> None:
    root = ElementTree.fromstring(ICON.read_text(encoding="utf-8"))
    assert root.get("viewBox") == "0 0 512 512"
    assert not any(element.tag.endswith(("script", "image")) for element in root.iter())


def test_chromium_would_install_it(page: Page) -> None:
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].endswith("/manifest.json")
    assert manifest["errors"] == []
    found = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error for error in found if error["errorId"] != PRIVATE] == []
    sound(page)
