"""The hook of mkdocs: adds the pages that are made from the code, and the vendored KaTeX.

Build the site with ``python -m mkdocs build``; nothing is fetched and nothing generated is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from lossprism.explorer.locale import LANGUAGES, say
from lossprism.losses import GROUPS, LOSSES
from scripts.claim_pages import claims_page
from scripts.command_line import command_line_page
from scripts.loss_pages import loss_index, loss_page, title_in

ROOT = Path(__file__).resolve().parents[1]
KATEX = ROOT / "explorer" / "web" / "kit" / "vendor" / "katex"
FOLDERS = {"en": "losses/", "zh": "zh/losses/"}
CLAIMS = {"en": "claims.md", "zh": "zh/claims.md"}
LISTED = [spec for spec in LOSSES.values() if spec.group != "own"]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a page for each loss where the navigation names the folder of losses."""
    config.nav = _with_losses(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and KaTeX."""
    for place, text in generated_pages().items():
        files.append(File.generated(config, place, content=text))
    for path in KATEX.rglob("*"):
        if path.is_file() and path.suffix != ".ts":
            place = f"katex/{path.relative_to(KATEX).as_posix()}"
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_context(
    context: dict[str, Any], *, page: Page, config: MkDocsConfig, **_: Any
) -> dict[str, Any]:
    """Write what surrounds a page in its language."""
    config.theme["language"] = "zh" if page.file.src_uri.startswith("zh/") else "en"
    return context


def generated_pages() -> dict[str, str]:
    """Return each generated page in Markdown, by its place below docs."""
    pages = {"reference/command-line.md": command_line_page()}
    for language in LANGUAGES:
        folder = FOLDERS[language]
        pages[CLAIMS[language]] = claims_page(language)
        pages[f"{folder}index.md"] = loss_index(LISTED, language)
        pages |= {f"{folder}{spec.name}.md": loss_page(spec, language) for spec in LISTED}
    return pages


def _with_losses(entries: list) -> list:
    """The navigation with the pages of losses, at any depth."""
    found = []
    for entry in entries:
        ((title, inner),) = entry.items() if isinstance(entry, dict) else ((None, entry),)
        if inner in FOLDERS.values():
            inner = _navigation("zh" if inner == FOLDERS["zh"] else "en")
        elif isinstance(inner, list):
            inner = _with_losses(inner)
        found.append({title: inner} if title else inner)
    return found


def _navigation(language: str) -> list:
    """The index of the losses, then each group with its losses."""
    folder = FOLDERS[language]
    groups = [
        {
            say(language, f"group.{group}"): [
                {title_in(spec, language): f"{folder}{spec.name}.md"}
                for spec in LISTED
                if spec.group == group
            ]
        }
        for group in GROUPS
    ]
    return [f"{folder}index.md", *(group for group in groups if all(group.values()))]
