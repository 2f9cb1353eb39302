"""What the documents name is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.middleware.refusals import refusal
from lossprism.explorer.web.pages.learn.initial_page_data import BELOW
from lossprism.losses import LOSSES, SHIPPED
from lossprism.losses.combined.vector_queue import REFERENCES
from lossprism.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("benchmarks/**/*.md")),
    *sorted(ROOT.glob("losses/**/*.md")),
]
CHANGELOG_LINES = 60  # the detail stands in docs/changes.md
AREAS = ("explorer/", "losses/", "tests/", "benchmarks/", "docs/")


@pytest.fixture(params=DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def document(request):
    return request.param, request.param.read_text(encoding="utf-8")


# Those of the site are checked as it is built (`tests/release/test_documentation.py`).
BESIDE_THE_SITE = [path for path in DOCUMENTS if not path.is_relative_to(ROOT / "docs")]


@pytest.mark.parametrize("path", BESIDE_THE_SITE, ids=lambda path: path.name)
def test_its_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    broken = [
        target
        for target in targets
        if not target.startswith(("http://", "https://", "#"))
        and not (path.parent / target.partition("#")[0]).exists()
    ]
    assert not broken


def test_the_files_it_names_are_there(document):
    _, text = document
    named = re.findall(r"`((?:\.{0,2}/)?[\w./-]+)`", text)
    # In a room of the explorer a file may be named from there: `core/batch.py`.
    missing = [
        name
        for name in named
        if not name.startswith("/")
        and (name.startswith(AREAS) or re.search(r"\w/\w[\w/]*\.\w+$", name))
        and not any((ROOT / base / name).exists() for base in ("", "explorer", "explorer/web"))
    ]
    assert not missing


def test_the_lessons_that_an_address_names_are_there(document):
    _, text = document
    lists = re.findall(r"learn#list=([\w,]+)", text)
    assert {name for one in lists for name in one.split(",")} <= set(BELOW)


def test_every_reference_of_a_loss_has_an_address():
    text = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    listed = {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")}
    references = {one for spec in LOSSES.values() for one in (*spec.references, *REFERENCES)}
    names = {re.sub(r",? eq\. .*", "", one) for one in references}
    assert names <= listed


def test_the_paper_of_every_loss_is_listed():
    """By the losses that cite it, with the address of the table above."""
    sources = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    papers = r"^\| (.+?) \| .+? \| \[.+?\]\((https://(?:arxiv|doi)\S+)\) \|"
    addresses = dict(re.findall(papers, sources, re.MULTILINE))
    listed = sources.partition("## Papers by loss")[2]
    rows = [line for line in listed.splitlines() if line.startswith("| `")]
    for name, spec in LOSSES.items():
        for reference in spec.references:
            address = addresses.get(reference.partition(",")[0])
            if address:
                assert any(f"`{name}`" in row and f"({address})" in row for row in rows), reference
    assert len(addresses) > 10
    for spec in SHIPPED:
        assert any(f"`{spec.name}`" in row.split("|")[1] for row in rows), spec.name


def test_the_version_has_an_entry_in_the_changelog():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {VERSION}\n" in changes
    assert len(changes.splitlines()) <= CHANGELOG_LINES


def test_nginx_answers_in_the_words_of_the_app():
    bodies = re.findall(r"return 200 '(.+)';", (ROOT / "docs" / "nginx.conf").read_text("utf-8"))
    assert len(bodies) == 3
    for body in map(json.loads, bodies):
        error = body["error"]
        key = error["key"].removeprefix("problem.")
        assert body == refusal(Problem(key, about=error["about"], **error["values"]))
