"""An address where there is no page: readers are led on, programs get JSON."""

from __future__ import annotations

import re

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from lossprism.explorer.locale import say
from lossprism.explorer.web.pages.missing import page as missing
from lossprism.explorer.web.site import LINKS

READER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HOSTILE = "/%3Cscript%3Ealert(1)%3C/script%3E/%22%20onload=x"


def client(root: str = "") -> TestClient:
    answer = missing.answer(LINKS)
    app = FastAPI(exception_handlers={404: answer})
    app.root_path = root
    return TestClient(app)


def links(page: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)"', page)


@pytest.mark.parametrize("path", ["/larg", "/explore", "/large/more/", HOSTILE])
def test_a_reader_is_led_to_the_pages_there_are(path):
    found = client().get(path, headers=READER)
    assert found.status_code == 404
    assert found.headers["content-type"].startswith("text/html")
    assert links(found.text) == [f"/{path}" for path, _ in LINKS]
    for _, key in LINKS:
        assert say("en", key) in found.text


def test_nothing_of_the_address_is_on_the_page():
    pages = {client().get(path, headers=READER).text for path in ("/larg", HOSTILE, "/x?y=%3Cb%3E")}
    assert len(pages) == 1


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/larg", {"accept": "application/json"}),
        ("/larg", {"accept": "*/*"}),
        ("/gradio_api/larg", READER),
        ("/spaces/lossprism/gradio_api/larg", READER),
    ],
)
def test_a_program_gets_json(path, headers):
    found = client().get(path, headers=headers)
    assert (found.status_code, found.json()) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.1", "en"),
        ("de,fr;q=0.9,zh-TW;q=0.3", "zh"),
        ("en;q=0.2, ZH;q=0.7", "zh"),
        ("zh;q=0, de", "en"),
        ("de", "en"),
        ("", "en"),
        (";q=high,,zh;q=much", "en"),
    ],
)
def test_it_speaks_the_language_of_the_reader(accepted, language):
    page = client().get("/larg", headers={**READER, "accept-language": accepted}).text
    assert f'<html lang="{language}">' in page
    assert say(language, "missing.title") in page


def test_the_language_of_the_address_comes_first_and_goes_along():
    page = client().get("/larg?lang=zh", headers={**READER, "accept-language": "en"}).text
    assert say("zh", "missing.advice") in page
    assert links(page) == [f"/{path}?lang=zh" for path, _ in LINKS]


@pytest.mark.parametrize("root", ["/spaces/lossprism", "https://some.host/spaces/lossprism/"])
def test_its_links_stay_below_the_path_of_a_host(root):
    page = client(root).get("/larg", headers=READER).text
    assert links(page) == [f"/spaces/lossprism/{path}" for path, _ in LINKS]
