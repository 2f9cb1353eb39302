"""What a shared link shows: a title, a sentence, a picture; and of whose scenarios."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from html import escape, unescape

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image

from lossprism.explorer.core.scenario import OPENING, Data, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.learn.lessons import BY_NAME
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web import page_html, site
from lossprism.explorer.web.pages import link_previews

OTHER = Scenario(
    data=Data(source="random", random=RandomBatch(pairs=8)),
    loss="info_nce",
    parameters=(("temperature", 0.1),),
)
OWN = Data(source="table", rows=(("<script>alert(1)</script>", "b", "1"), ("c", "d", "0")))
NOT_SHARED = [
    replace(OPENING, data=OWN),
    replace(OPENING, data=Data(encoder="somebody/model")),
    replace(OPENING, data=Data(cross_encoder="somebody/model")),
    replace(OPENING, data=Data(guide="somebody/model")),
    replace(OPENING, loss="somebody_s_own"),
]


@pytest.fixture(scope="module")
def client():
    listed = [(paths, page) for page, paths in site.paths_of_pages().items()]
    routes = [one for paths, page in listed for one in page_html.page_routes(paths, page, ())]
    return TestClient(FastAPI(routes=[*routes, link_previews.ROUTE]))


def tags_in(html):
    return dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', html))


def picture(client, address):
    answer = client.get(address)
    assert answer.headers["content-type"] == "image/png"
    return Image.open(io.BytesIO(answer.content)).convert("RGB")


def test_each_page_has_a_title_and_a_sentence_of_its_own():
    found = [link_previews.tags(folder, path, "", "") for path, folder, _ in site.PAGES]
    assert (
        len({one["title"] for one in found}) == len({one["about"] for one in found}) == len(found)
    )


@pytest.mark.thorough
def test_a_page_has_a_picture_of_what_it_opens_with_in_each_language(client):
    pictures = {}
    folders = {path: folder for path, folder, _ in site.PAGES}
    folders |= dict.fromkeys(("learn/temperature", "learn/margin"), "learn")
    for (path, folder), language in itertools.product(folders.items(), LANGUAGES):
        html = client.get(f"/{path}", params={"lang": language}).text
        assert f'<html lang="{language}">' in html
        found = tags_in(html)
        assert found["title"].endswith(" · LossPrism")
        assert unescape(found["description"]) == say(language, f"page.about.{folder}")
        drawn = picture(client, found["image"].replace("&amp;", "&"))
        assert drawn.size == (1200, 630)
        assert len(drawn.getcolors(10**6)) > 50
        pictures[path, language] = drawn.tobytes()
    assert len(set(pictures.values())) == len(pictures)


def test_a_lesson_has_a_title_of_its_own(client):
    titles = {tags_in(client.get(f"/learn/{name}").text)["title"] for name in BY_NAME}
    assert titles == {f"{escape(say('en', f'learn.{name}.title'))} · LossPrism" for name in BY_NAME}


def test_a_scenario_that_its_link_describes_has_a_picture_of_its_own(client):
    link = OTHER.to_link()
    found = tags_in(client.get("/", params={"scene": link}).text)
    assert found["title"] == "InfoNCE · LossPrism"
    assert "0.1" in found["description"]
    own = picture(client, found["image"].replace("&amp;", "&"))
    assert own.size == (1200, 630)
    assert own.tobytes() != picture(client, "/preview.png").tobytes()


def test_a_comparison_is_titled_by_its_losses_and_pictured_by_the_first_two(client):
    link = f"q=temperature&1=info_nce&1.temperature=0.1&2=siglip&3=cosent&scene={OTHER.to_link()}"
    found = tags_in(client.get("/compare", params={"scene": link}).text)
    info_nce, *others = (
        say("en", f"loss.{name}.title") for name in ("info_nce", "siglip", "cosent")
    )
    info_nce = f"{info_nce} · {say('en', 'parameter.temperature')} = 0.1"
    assert found["title"] == f"{say('en', 'ui.versus').join([info_nce, *others])} · LossPrism"
    both = picture(client, found["image"].replace("&amp;", "&"))
    assert both.size == (1200, 630)
    left, right = (both.crop((x, 0, x + 600, 630)) for x in (0, 600))
    assert min(len(half.getcolors(10**6)) for half in (left, right)) > 50
    assert left.tobytes() != right.tobytes()


def test_a_loss_that_a_link_names_by_its_class_is_read_as_the_page_reads_it():
    named = Side("CoSENTLoss")
    assert named.convention
    (scenario, _) = link_previews.shared_scenarios("compare", "1=CoSENTLoss&2=siglip")
    assert (scenario.loss, scenario.convention) == (named.loss, named.convention)


@pytest.mark.parametrize(
    "link",
    [
        f"1=cosent&2=siglip&scene={replace(OPENING, data=OWN).to_link()}",
        "1=somebody_s_own&2=cosent",
        "1=info_nce&1.temprature=0.1&2=cosent",
        "1=info_nce&1@=<script>&2=cosent",
        "q=<script>alert(1)</script>",
        "scene=1.abc",
    ],
)
def test_any_other_comparison_has_the_title_of_the_page(client, link):
    assert tags_in(client.get("/compare", params={"scene": link}).text) == tags_in(
        client.get("/compare").text
    )


def test_a_link_in_chinese_has_its_words_and_picture_in_chinese(client):
    link = OTHER.to_link()
    english = tags_in(client.get("/", params={"scene": link}).text)
    chinese = tags_in(client.get("/", params={"scene": link, "lang": "zh-CN"}).text)
    assert say("zh", "parameter.temperature") in chinese["description"]
    assert say("zh", "page.about.explore") in chinese["description"]
    drawn = [picture(client, unescape(found["image"])).tobytes() for found in (english, chinese)]
    assert drawn[0] != drawn[1]
    doctor = client.get("/doctor", params={"scene": "value=5.545", "lang": "zh"}).text
    assert tags_in(doctor)["title"] == f"{say('zh', 'doctor.document', what='5.545')} · LossPrism"
    of_both = "1=info_nce&1.temperature=0.1&2=siglip"
    compared = client.get("/compare", params={"scene": of_both, "lang": "zh"}).text
    assert say("zh", "parameter.temperature") in tags_in(compared)["title"]
    assert client.get("/", params={"lang": "<script>"}).text == client.get("/").text


def test_doctor_is_titled_by_its_number_and_by_nothing_else(client):
    link = "value=5.545&loss=siglip"
    found = tags_in(client.get("/doctor", params={"scene": link}).text)
    assert found["title"] == "Doctor: 5.545 · LossPrism"
    for value in ("<script>", "my secret", "1e5555", "5 5", ""):
        html = client.get("/doctor", params={"scene": f"value={value}"}).text
        assert html == client.get("/doctor").text


def test_a_picture_is_made_once(client, monkeypatch):
    first = client.get("/preview.png").content
    monkeypatch.setattr(link_previews, "explore", None)
    assert client.get("/preview.png").content == first
    assert link_previews._pictures.size <= link_previews._pictures.max_size == 8 * 2**20


@pytest.mark.parametrize("scenario", NOT_SHARED)
def test_any_other_scenario_has_the_picture_of_the_page_and_none_of_its_text(client, scenario):
    link = scenario.to_link()
    html = client.get("/", params={"scene": link}).text
    assert tags_in(html) == tags_in(client.get("/").text)
    assert "alert(1)" not in html
    assert client.get("/preview.png", params={"scene": link}).status_code == 404


@pytest.mark.parametrize("link", ["1.<script>", '1."onload=x', "1." + "a" * 5000, "nonsense"])
def test_what_is_no_link_stands_nowhere_in_the_page(client, link):
    html = client.get("/", params={"scene": link}).text
    assert html == client.get("/").text
    assert client.get("/preview.png", params={"scene": link}).status_code == 404


def test_the_address_of_a_host_is_escaped(client):
    html = page_html.document("explore", (), "", base='http://x/"><script>').decode()
    assert '"><script>' not in html.split("</head>")[0].split("og:image")[1].split("\n")[0]
