"""Take the pictures of the README and of the documentation from the app.

    python -m scripts.pictures             # all of them
    python -m scripts.pictures doctor lever

starts the app, opens its pages in Chromium and writes WebP files into docs/pictures: each page in
each language, a small one for the README, and the moving one of a lever on Explore.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from lossprism.explorer.locale import LANGUAGES

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")
SIZE = {"width": 1440, "height": 900}  # pixels
THUMBNAIL_WIDTH, MOVING_WIDTH = 480, 960
QUALITY, MOVING_QUALITY = 80, 60
FINETUNE = "window.lossprism.page('finetune')"
RUN = '{ encoder: "scratch", steps: 200 }'
PAGES = {"explore": "?motion=off", "compare": "compare", "doctor": "doctor", "large-batch": "large"}
SETTLE_MS = 1500  # after the last request, for what is drawn later
PATIENCE_MS = 120_000
MAX_MOVING_BYTES = 1_000_000
# The lever goes from the first share of its range to the last, and back to where it stood.
LEVER = "#main-lever input[type=range], #main-controls input[type=range]"
LEVER_SHARES = [step / 24 for step in range(4, 22)]
FRAME_MS, LAST_FRAME_MS = 90, 1800
MOVE_LEVER = """(lever, share) => {
  const [low, high] = [Number(lever.min), Number(lever.max)];
  lever.value = low + share * (high - low);
  lever.dispatchEvent(new Event("input", { bubbles: true }));
}"""
SHARE_OF_LEVER = "(lever) => (lever.value - lever.min) / (lever.max - lever.min)"


def main(*names: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    with app() as address, sync_playwright() as playwright:
        system = next(filter(None, map(shutil.which, CHROMIUM)), None)
        browser = playwright.chromium.launch(executable_path=system)
        for name in names or (*PAGES, "fine-tune", "lever"):
            if name == "lever":
                with page_in(browser, "en") as page:
                    open_page(page, f"{address}/{PAGES['explore']}")
                    save_moving(page, PICTURES / "lever.webp")
                continue
            place = trained(browser, address) if name == "fine-tune" else f"{address}/{PAGES[name]}"
            for language in LANGUAGES:
                with page_in(browser, language) as page:
                    open_page(page, place)
                    save(page, name, language)


@contextmanager
def app() -> Iterator[str]:
    """The address of an app of its own, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "app.py"), "--no-browser", "--data", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            found = re.search(r"http://\S+", process.stdout.readline())
            try:
                assert found, "the app did not start"
                yield found.group()
            finally:
                process.terminate()


@contextmanager
def page_in(browser: Browser, language: str) -> Iterator[Page]:
    """A page for a visitor who has been here before: nothing moves by itself."""
    context = browser.new_context(
        viewport=SIZE, locale=language, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(SETTLE_MS)


def trained(browser: Browser, address: str) -> str:
    """The address of a short run that has ended, of an encoder from scratch."""
    with page_in(browser, "en") as page:
        open_page(page, f"{address}/finetune")
        page.evaluate(f"{FINETUNE}.checked = null; {FINETUNE}.setPlan({RUN})")
        page.wait_for_function(f"{FINETUNE}.checked")
        page.click("#lp-finetune-start")
        page.wait_for_function(f"{FINETUNE}.trace()?.done")
        return page.url


def save(page: Page, name: str, language: str) -> None:
    """The picture of a page, in English a small one as well."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    suffix = "" if language == "en" else f"-{language}"
    picture.save(PICTURES / f"{name}{suffix}.webp", quality=QUALITY)
    if language == "en":
        narrow(picture, THUMBNAIL_WIDTH).save(PICTURES / f"{name}-small.webp", quality=QUALITY)


def save_moving(page: Page, path: Path) -> None:
    """The page while its first lever moves, as a WebP that repeats."""
    lever = page.locator(LEVER).first
    home = lever.evaluate(SHARE_OF_LEVER)
    frames = []
    for share in [*LEVER_SHARES, home]:
        lever.evaluate(MOVE_LEVER, share)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(200)
        frames.append(narrow(Image.open(io.BytesIO(page.screenshot())), MOVING_WIDTH))
    first, *others = frames
    shown = [FRAME_MS] * (len(frames) - 1) + [LAST_FRAME_MS]
    moving = {"save_all": True, "append_images": others, "duration": shown, "loop": 0}
    first.save(path, quality=MOVING_QUALITY, method=6, **moving)
    assert path.stat().st_size < MAX_MOVING_BYTES, path.stat().st_size


def narrow(picture: Image.Image, width: int) -> Image.Image:
    height = round(picture.height * width / picture.width)
    return picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main(*sys.argv[1:])
