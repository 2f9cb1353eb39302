"""The HTML of the pages: its head names all that a page loads, and nothing of a request."""

from __future__ import annotations

import itertools
import re

import brotli
import pytest
from fastapi import FastAPI
from fastapi.middleware import Middleware
from fastapi.testclient import TestClient

from lossprism.explorer.core.scenario import OPENING
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.web import page_html, site, static_files
from lossprism.explorer.web.middleware.public_address import PublicAddressMiddleware

NAMES = ("a", "b")
FOLDERS = [folder for _, folder, _ in site.PAGES]


def client(root: str = "") -> TestClient:
    listed = (
        page_html.page_routes(paths, folder, NAMES)
        for folder, paths in site.paths_of_pages().items()
    )
    routes = [*itertools.chain.from_iterable(listed)]
    return TestClient(
        FastAPI(routes=routes, middleware=[Middleware(PublicAddressMiddleware, root)])
    )


def page(folder: str) -> str:
    return page_html.document(folder, NAMES, "./").decode()


FIRST_BYTES = 245_000  # compressed, without fonts, heads and answers: Explore has 205,000


def loaded(html: str, kind: str) -> list[str]:
    return re.findall(rf'<link rel="{kind}" href="{static_files.BASE}/([^"]+)"', html)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_asks_for_all_that_it_needs_at_once(folder):
    html = page(folder)
    parts = re.findall(r'data-part="([^"]+)"', html)
    assert loaded(html, "stylesheet") == page_html.styles(folder)
    assert set(loaded(html, "modulepreload")) == set(
        page_html.imported(["kit/page_startup.js", f"pages/{folder}/state.js", *parts])
    )
    later = set(re.findall(r'data-later-part="([^"]+)"', html))
    assert later <= set(static_files.FILES)
    assert not later & set(loaded(html, "modulepreload"))
    assert {*loaded(html, "stylesheet"), *loaded(html, "modulepreload")} <= set(static_files.FILES)
    assert 'data-functions="a b"' in html


@pytest.fixture(scope="module")
def facts():
    return site.page_data(OPENING)


@pytest.mark.parametrize("folder", FOLDERS)
def test_little_is_fetched_before_the_first_picture(folder, facts):
    html = page(folder)
    names = [*loaded(html, "stylesheet"), *loaded(html, "modulepreload")]
    parts = {"shared", folder} & {"shared", *static_files.LATER_TOPICS}
    paths = [f"words/en/{part}.json" for part in parts]
    sent = [
        html.encode(),
        encoded(facts[folder]),
        *(static_files.FILES[name] for name in names + paths),
    ]
    assert sum(map(len, map(static_files.packed_file, sent))) < FIRST_BYTES


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_loads_its_own_modules_and_no_other_pages(folder):
    modules = loaded(page(folder), "modulepreload")
    assert any(name.startswith(f"pages/{folder}/") for name in modules)
    assert all(name.startswith(("kit/", f"pages/{folder}/")) for name in modules)


def test_every_module_belongs_to_a_page():
    pages = [page(folder) for folder in FOLDERS]
    later = {name for html in pages for name in re.findall(r'data-later-part="([^"]+)"', html)}
    modules = {name for html in pages for name in loaded(html, "modulepreload")}
    modules |= set(page_html.imported(later))
    written = {name for name in static_files.FILES if name.endswith(".js")}
    # Two stand in the page itself, the third is fetched with the first chart, the fourth with its
    # fold.
    assert written - modules == {
        "kit/initial_theme.js",
        "kit/initial_language.js",
        "kit/vendor/plotly.min.js",
        "pages/explore/variation_over_batches.js",
        "widget/frame.js",
        "widget/view.js",
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_comes_from_another_host(folder):
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page(folder))
    assert addresses
    assert not [one for one in addresses if "//" in one or one.startswith("/")]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("/", "/"),
        ("/compare", "/compare"),
        ("/?lang=zh&__theme=dark", "/?lang=zh"),
        ("/large?x=%3Cb%3E", "/large"),
    ],
)
def test_a_page_is_the_same_whatever_but_a_language_stands_behind_its_path(path, same, method):
    one = client()
    answer = one.request(method, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.content == one.request(method, same).content


@pytest.mark.parametrize(("root", "base"), [("", "./"), ("/losses", "/losses/")])
def test_addresses_count_from_the_first_page(root, base):
    for path in ("/", "/compare", ""):  # the last is led to the first
        assert f'<base href="{base}">' in client(root).get(root + path).text
    for path in [one for paths in site.paths_of_pages().values() for one in paths if "/" in one]:
        below = client(root).get(f"{root}/{path}").text
        assert f'<base href="{base if root else "../"}">' in below
        led = client(root).get(f"{root}/{path}/", follow_redirects=False)
        assert (led.status_code, led.headers["location"]) == (301, f"{root}/{path}")
    assert client(root).get(f"{root}/learn/nothing").status_code == 404
    led = client(root).get(f"{root}/compare/", follow_redirects=False)
    assert (led.status_code, led.headers["location"]) == (301, f"{root}/compare")


@pytest.mark.parametrize("hosted", [True, False])
@pytest.mark.parametrize("accepted", ["identity", "br", "gzip, br;q=0.8", "gzip, br; q=0"])
def test_a_page_that_goes_a_long_way_is_compressed(monkeypatch, hosted, accepted):
    monkeypatch.delenv("SPACE_ID", raising=False)
    if hosted:
        monkeypatch.setenv(HOSTED, "1")
    packed = hosted and "br" in accepted and "q=0" not in accepted.split("; ")
    with client().stream("GET", "/", headers={"accept-encoding": accepted}) as answer:
        body = b"".join(answer.iter_raw())
    assert (answer.headers.get("content-encoding") == "br") == packed
    html = brotli.decompress(body) if packed else body
    assert html == page_html.document("explore", NAMES, "./", base="http://testserver/")
    assert answer.headers["vary"] == "Accept-Encoding"


def test_each_page_has_a_title_of_its_own():
    titles = [re.search("<title>(.*) · LossPrism</title>", page(folder))[1] for folder in FOLDERS]
    assert len(set(titles)) == len(FOLDERS)
    for folder, title in zip(FOLDERS, titles, strict=True):
        assert f'<meta property="og:title" content="{title} · LossPrism">' in page(folder)
