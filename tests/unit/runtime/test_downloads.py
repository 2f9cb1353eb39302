"""What is packed to be taken away is served by an address that says nothing of the machine."""

from __future__ import annotations

from urllib.parse import quote, unquote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from lossprism.explorer.runtime import downloads
from lossprism.explorer.web.site import DOWNLOAD

NAMES = ["pairs.csv", "a b.zip", "文本.tsv", "a?b#c.csv", "..csv"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "FOLDER", tmp_path / "downloads")
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "downloads" / "taken")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path


@pytest.fixture
def client(folder):
    return TestClient(FastAPI(routes=[DOWNLOAD]))


@pytest.mark.parametrize("name", NAMES)
def test_a_download_is_fetched_by_its_address(folder, client, name):
    for path in (downloads.new_download(name), downloads.folder_of_run("a run") / name):
        path.write_text("packed")
        address = downloads.address_of(path)
        assert str(folder) not in unquote(address)
        answer = client.get(f"/{address}")
        assert answer.text == "packed"
        assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "requested",
    [
        *(
            "../secret.txt",
            "../../secret.txt",
            "taken/x",
            "..%2F../secret.txt",
            "0/..%2Fsecret.txt",
        ),
        *("0/..", "./secret.txt", "%2e%2e/secret.txt", f"{quote('/tmp', safe='')}/secret.txt"),
    ],
)
def test_nothing_else_is(folder, client, requested):
    (downloads.FOLDER / "0").mkdir(parents=True)
    (downloads.FOLDER / "secret.txt").write_text("secret")
    assert client.get(f"/{downloads.ADDRESS}/{requested}").status_code == 404
