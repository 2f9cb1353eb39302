"""What a browser fetches: never two versions beside each other."""

from __future__ import annotations

import io

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.web import site, static_files

FACTS = {"explore": {"losses": {"∞": "<b>"}}}


@pytest.fixture(scope="module")
def client():
    return TestClient(FastAPI(routes=static_files.file_routes(FACTS)))


def test_a_file_may_be_kept_for_good_as_its_path_names_its_version(client):
    found = client.get(f"/{static_files.BASE}/kit/page_startup.js")
    assert found.content == static_files.FILES["kit/page_startup.js"]
    assert found.headers["content-type"].startswith("text/javascript")
    assert "immutable" in found.headers["cache-control"]


def test_another_content_has_another_version(monkeypatch):
    changed = {
        **static_files.FILES,
        "kit/dom.js": static_files.FILES["kit/dom.js"] + b"\n",
    }
    renamed = {name.replace("dom.js", "domo.js"): one for name, one in static_files.FILES.items()}
    versions = {static_files.version(files) for files in (static_files.FILES, changed, renamed)}
    assert len(versions) == 3
    assert static_files.version(dict(static_files.FILES)) == static_files.VERSION


def test_another_version_is_never_served(client):
    assert client.get("/served/000000000000/kit/page_startup.js").status_code == 404


@pytest.mark.parametrize("name", ["mount.py", "page_data.py", "../site.py", "nothing.js"])
def test_what_is_no_file_of_the_browser_is_not_served(client, name):
    answer = client.get(f"/{static_files.BASE}/{name}")
    assert answer.status_code == 404
    assert answer.headers.get("cache-control") != static_files.CACHED_FOR_GOOD


def test_facts_are_requested_again(client):
    found = client.get(f"/{static_files.BASE}/data/explore.json")
    assert found.json() == FACTS["explore"]
    assert found.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_comes_in_what_all_pages_need_and_what_one_does(client, language):
    folders = {folder for _, folder, _ in site.PAGES} | {"missing"}
    later, beside_pages = {*static_files.LATER_TOPICS}, {"figure_text", "parity", "problem"}
    assert {"doctor", "compare", "problem"} < later < folders | beside_pages
    parts = [
        client.get(f"/{static_files.BASE}/words/{language}/{part}.json").json()
        for part in ("shared", *static_files.LATER_TOPICS)
    ]
    assert sum(map(len, parts)) == len(catalogue(language))
    assert {key: one for part in parts for key, one in part.items()} == catalogue(language)


def test_a_hosted_page_sends_its_files_compressed(client, monkeypatch):
    takes = {"accept-encoding": "gzip, br"}
    names = ["kit/page_startup.js", "kit/icon.svg", "words/zh/shared.json", "data/explore.json"]
    plainly = [client.get(f"/{static_files.BASE}/{name}", headers=takes) for name in names]
    monkeypatch.setenv(HOSTED, "1")
    packed = [client.get(f"/{static_files.BASE}/{name}", headers=takes) for name in names]
    assert [one.content for one in packed] == [one.content for one in plainly]
    encodings = [
        [one.headers.get("content-encoding") for one in some] for some in (plainly, packed)
    ]
    assert encodings == [[None] * 4, ["br"] * 4]
    assert {one.headers["vary"] for one in packed} == {"Accept-Encoding"}
    for name, headers in (
        ("kit/page_startup.js", {"accept-encoding": "gzip"}),
        ("kit/icon-192.png", takes),
    ):
        found = client.get(f"/{static_files.BASE}/{name}", headers=headers)
        assert "content-encoding" not in found.headers


def test_the_facts_of_a_page_are_its_own_and_what_all_share():
    known = site.page_data(Scenario())
    assert set(known) == {folder for _, folder, _ in site.PAGES}
    known = {page: plain(facts) for page, facts in known.items()}
    for page, facts in known.items():
        assert set(facts) & set(known) == {page}
    shared = [set(facts) - {page} for page, facts in known.items()]
    assert all(one == shared[0] for one in shared)
    assert shared[0] >= {"losses", "pages", "defaults"}


def test_a_system_learns_how_to_install_the_page(client):
    found = client.get("/manifest.json")
    assert found.headers["content-type"].startswith("application/manifest+json")
    answer = found.json()
    assert (answer["name"], answer["display"], answer["start_url"]) == (
        "LossPrism",
        "standalone",
        "./",
    )
    sizes = {icon["sizes"]: icon for icon in answer["icons"]}
    assert set(sizes) == {"any", "192x192", "512x512"}
    for message, icon in sizes.items():
        assert not icon["src"].startswith("/")  # below a path of the host's too
        drawn = client.get(f"/{icon['src']}")
        assert drawn.headers["content-type"] == icon["type"]
        if message == "any":
            assert drawn.content == static_files.ICON.read_bytes()
        else:
            with Image.open(io.BytesIO(drawn.content)) as image:
                assert f"{image.width}x{image.height}" == message
                assert image.format == "PNG"
