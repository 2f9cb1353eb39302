"""The documentation builds as a site without a warning, without a network, from the code."""

from __future__ import annotations

import re
import subprocess

import pytest

from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.web.api.endpoint_functions import ENDPOINTS
from lossprism.losses import LOSSES
from tests import warm
from tests.code_blocks import ROOT

# Refuses every connection, then builds.
BUILD = """
import socket, sys
def refused(self, address, *_):
    raise AssertionError(f"connects to {address}")
socket.socket.connect = socket.socket.connect_ex = refused
from mkdocs.__main__ import cli
cli(["build", "--strict", "--site-dir", sys.argv[1]])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    line = [warm.python(), "-c", BUILD, str(folder)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.html")
    } | {path.relative_to(folder).as_posix(): "" for path in folder.rglob("katex/fonts/*")}


def test_no_page_fetches_anything_from_another_host(site):
    fetched = re.compile(
        r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(?:https?:)?//[^\">]*"
    )
    for place, text in site.items():
        assert not [one for one in fetched.findall(text) if 'rel="canonical"' not in one], place


def test_every_loss_has_a_page_in_each_language(site):
    for language, folder in zip(LANGUAGES, ("losses", "zh/losses"), strict=True):
        for name, spec in LOSSES.items():
            page = site[f"{folder}/{name}.html"]
            assert f'lang="{language}"' in page[:500]
            assert page.count('class="arithmatex"') >= 1 + len(spec.variants), name
            assert f'href="{name}.html"' in site[f"{folder}/index.html"]


def test_the_arguments_of_a_loss_come_from_its_docstring(site):
    described = re.search(r"negatives: (\[N, K, D\], .*)", LOSSES["info_nce"].function.__doc__)
    assert described[1] in site["losses/info_nce.html"]
    assert "LossSpec" in site["reference/losses.html"]


def test_every_call_of_programs_is_explained(site):
    guide = (ROOT / "docs" / "how-to" / "programs.md").read_text(encoding="utf-8")
    for call in ENDPOINTS:
        assert f"`{call.__name__}`" in guide
        assert f'id="{call.__module__}.{call.__name__}"' in site["reference/calls.html"]


def test_formulas_are_set_with_the_copy_of_the_app(site):
    assert "katex/katex.min.js" in site["index.html"]
    assert "katex/fonts/KaTeX_Main-Regular.woff2" in site
