"""The page can be installed as an app, under its own name and icon."""

from __future__ import annotations

import urllib.request
import xml.etree.ElementTree as ElementTree
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Page

from lossprism.explorer.web.static_files import BASE, HERE, ICON, PNG_ICONS
from tests.browser.reading import sound
from tests.browser.serving import Server

pytestmark = pytest.mark.browser


@pytest.fixture
def page(untouched: Page) -> Page:
    return untouched


# Playwright's contexts are private windows, from which nothing can ever be installed.
PRIVATE = "in-incognito"


def test_the_manifest_has_our_name_and_icon(page: Page, server: Server) -> None:
    manifest = page.evaluate(
        "fetch(document.querySelector('link[rel=manifest]').href).then((got) => got.json())"
    )
    assert manifest["name"] == "LossPrism"
    assert [icon["sizes"] for icon in manifest["icons"]] == ["any", "192x192", "512x512"]
    for path in (manifest["icons"][0]["src"], "favicon.ico"):
        with urllib.request.urlopen(f"{server.address}/{path}") as answer:
            assert answer.headers["Content-Type"].startswith("image/svg+xml")
            assert answer.read() == ICON.read_bytes()


def test_the_installed_app_has_a_menu_and_keeps_to_its_address(page: Page, server: Server) -> None:
    manifest = page.evaluate("fetch('manifest.json').then((got) => got.json())")
    assert (manifest["start_url"], manifest["scope"]) == ("./", "./")
    assert manifest["id"]
    assert manifest["description"]
    for shortcut in manifest["shortcuts"]:
        assert shortcut["name"]
        with urllib.request.urlopen(urljoin(f"{server.address}/", shortcut["url"])) as answer:
            assert answer.headers["Content-Type"].startswith("text/html")


def test_the_title_bar_has_the_colour_of_the_page(page: Page) -> None:
    colours = """() => [
      document.querySelector("meta[name=theme-color]").content,
      getComputedStyle(document.body).backgroundColor,
    ]"""
    seen = []
    for _ in range(2):
        bar, ground = page.evaluate(colours)
        assert bar == ground
        seen.append(bar)
        page.click("#lp-theme")
        page.wait_for_function(
            "before => document.querySelector('meta[name=theme-color]').content !== before", arg=bar
        )
    assert len(set(seen)) == 2


# The mean difference of a part of a colour between the drawing and its picture of this size.
APART = """async ([drawing, picture, size]) => {
  const pixels = async (href) => {
    const image = Object.assign(new Image(), { src: href });
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, size, size);
    return [image.naturalWidth, context.getImageData(0, 0, size, size).data];
  };
  const [[, drawn], [width, kept]] = [await pixels(drawing), await pixels(picture)];
  let sum = 0;
  drawn.forEach((one, at) => { sum += Math.abs(one - kept[at]); });
  return [width, sum / drawn.length];
}"""


def test_its_icons_for_systems_that_take_no_svg_are_the_same_drawing(page: Page) -> None:
    for size, name in PNG_ICONS.items():
        command_line = [f"{BASE}/{ICON.relative_to(HERE).as_posix()}", f"{BASE}/{name}", size]
        width, apart = page.evaluate(APART, command_line)
        assert width == size
        assert apart < 1  # of 255


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


# Frames asked for in the first second that is quiet, or in the last of ten.
IN_A_QUIET_SECOND = """async () => {
  const frame = window.requestAnimationFrame;
  let asked = 0;
  window.requestAnimationFrame = (callback) => {
    asked += 1;
    return frame(callback);
  };
  for (let second = 1; second <= 10; second += 1) {
    asked = 0;
    await new Promise((done) => setTimeout(done, 1000));
    if (asked <= 3) break;
  }
  window.requestAnimationFrame = frame;
  return asked;
}"""


def test_a_page_at_rest_asks_for_hardly_any_frames(page: Page) -> None:
    assert page.evaluate(IN_A_QUIET_SECOND) <= 3  # of some sixty
