"""No answer names a folder of the machine that the app runs on."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from lossprism.explorer.runtime import downloads
from tests import wire

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {str(ROOT), sys.prefix, os.__file__, str(Path.home()), tempfile.gettempdir()}
PAGES = ("/", "/doctor", "/config", "/theme.css", "/openapi.json")
OF_PROGRAMS = ("info", "app_id", "startup-events", "openapi.json", "mcp/schema", "file=nothing")
ODD = ({"path": "nothing"}, None, "nobody/nothing.csv")  # for every argument of an endpoint


def folders_in(text: str) -> set[str]:
    named = {*FOLDERS, str(downloads.FOLDER)} - {"/"}
    return {one for one in named if f"{one}/" in text or f'{one}"' in text}


@pytest.fixture(params=["opened", "hosted"])
def place(request):
    """The address of the app at home, and of a hosted one."""
    return request.getfixturevalue(request.param)[1].rstrip("/")


def test_no_page_and_no_description_names_a_folder(place):
    for path in (*PAGES, *(f"/gradio_api/{one}" for one in OF_PROGRAMS)):
        text = httpx.get(f"{place}{path}", follow_redirects=True).text
        assert folders_in(text) == set(), path


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_no_error_of_an_endpoint_names_a_folder(place, odd):
    calls = f"{place}/gradio_api/call"
    endpoints = httpx.get(f"{place}/gradio_api/info").json()["named_endpoints"]
    assert len(endpoints) > 10
    for name, about in endpoints.items():
        sent = httpx.post(f"{calls}{name}", json={"data": [odd] * len(about["parameters"])})
        message = sent.text
        if sent.is_success:
            message += httpx.get(f"{calls}{name}/{sent.json()['event_id']}", timeout=60).text
        assert folders_in(message) == set(), name


@pytest.mark.parametrize("odd", [{}, 7, "nothing", [1], {"file": "nothing", "name": "a.csv"}])
def test_no_refusal_of_a_page_names_a_folder(place, odd):
    refused = 0
    for page, functions in wire.served_functions().items():
        for name in functions:
            if name == "forget":
                continue
            answer = httpx.post(f"{place}/requests/{page}/{name}", json=odd, timeout=60)
            assert folders_in(answer.text) == set(), (page, name)
            refused += '"error"' in answer.text
    assert refused > 10
