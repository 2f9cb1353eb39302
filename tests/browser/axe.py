"""axe-core from npm, fetched once into the user's cache, and what it finds on a page."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import Page

VERSION = "4.14.1"
FETCH_S = 120
SEVERE = ("serious", "critical")


def script() -> str:
    """The text of axe.min.js; the test is skipped, with the reason, where npm cannot give it."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kept = caches / "lossprism-tests" / f"axe-core-{VERSION}.min.js"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        fetched = kept.with_suffix(f".{os.getpid()}")
        fetched.write_bytes(_from_npm())
        fetched.replace(kept)
    return kept.read_text(encoding="utf-8")


def _from_npm() -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: accessibility was not tested with axe-core")
    with tempfile.TemporaryDirectory() as folder:
        fetched = subprocess.run(
            [npm, "pack", f"axe-core@{VERSION}", "--silent"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=FETCH_S,
            check=False,
        )
        archives = list(Path(folder).glob("*.tgz"))
        if fetched.returncode or not archives:
            pytest.skip(f"npm gave no axe-core: {fetched.stderr.strip()[-200:]}")
        with tarfile.open(archives[0]) as archive:
            return archive.extractfile("package/axe.min.js").read()


def violations(page: Page, axe: str, *within: str) -> list[str]:
    """Every serious or critical violation: the rule, the element and what is wrong with it.

    `within` are selectors of the parts to look at; without any it is the whole page. On a dark page
    only colours are looked at: all else is as on the light one. Of a table's rows, the first eight.
    Style sheets are read at the first look at a page.
    """
    anew = not page.evaluate("Boolean(window.axe)")
    if anew:
        page.add_script_tag(content=axe)
    found = page.evaluate(
        """([include, severe, preload]) => {
          const colours = { runOnly: ["color-contrast", "link-in-text-block"] };
          const dark = document.body.classList.contains("dark");
          const exclude = [["tbody tr:nth-child(n+9)"]];
          const slight = axe._audit.rules.filter(({ impact }) => !severe.includes(impact));
          const rules = Object.fromEntries(slight.map(({ id }) => [id, { enabled: false }]));
          const how = { resultTypes: ["violations"], preload, ...(dark ? colours : { rules }) };
          return axe.run({ include, exclude }, how);
        }""",
        [[[part] for part in within or ("html",)], SEVERE, anew],
    )
    return [
        f"{rule['id']} ({rule['impact']}): {' '.join(map(str, node['target']))} – "
        + "; ".join(check["message"] for check in (*node["any"], *node["all"], *node["none"]))
        for rule in found["violations"]
        if rule["impact"] in SEVERE
        for node in rule["nodes"]
    ]
