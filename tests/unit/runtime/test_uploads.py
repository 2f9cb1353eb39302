"""A file that is handed in is found by its content alone, however it came."""

from __future__ import annotations

import base64

import pytest

from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.cache_folder import cache_folder, prune
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from tests.sentences import raises_problem

TOKEN = "0123456789abcdef"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))


def encoded(content):
    return base64.b64encode(content).decode()


def test_a_file_in_one_piece_or_in_several_is_the_same_file():
    whole, name = uploads.hand_in({"name": "pairs.csv", "content": encoded(b"abcdef")})
    pieces = [
        uploads.hand_in(
            {"name": "x", "token": TOKEN, "start": start, "content": encoded(part), "last": last}
        )
        for start, part, last in ((0, b"abc", False), (3, b"def", True))
    ]
    assert name == "pairs.csv"
    assert pieces == [("", "x"), (whole, "x")]
    assert uploads.read(whole, "x") == b"abcdef"
    assert uploads.find(whole).name == whole


def test_what_is_forgotten_is_begun_again():
    uploads.hand_in({"token": TOKEN, "start": 0, "content": encoded(b"abc")})
    assert uploads.hand_in({"token": TOKEN, "forget": True, "name": "f"}) == ("", "f")
    with raises_problem("large_file_pieces"):
        uploads.hand_in({"token": TOKEN, "start": 3, "content": encoded(b"d"), "last": True})


@pytest.mark.parametrize(
    "request_",
    [None, [], {}, {"content": 3}, {"content": "not base64!"}, {"content": "a"}]
    + [{"content": "", "token": TOKEN, "start": start} for start in (None, -1, "0", True)],
)
def test_a_request_that_is_no_file_is_refused(request_):
    with raises_problem("scenario_entry"):
        uploads.hand_in(request_)


@pytest.mark.parametrize(
    ("given", "name"),
    [("/etc/passwd", "passwd"), ("", "file"), (None, "file"), ("a" * 300, "a" * 200)],
)
def test_a_name_is_no_path(given, name):
    assert uploads.content_in({"name": given, "content": ""}) == (name, b"")


def test_half_a_character_in_a_name_is_replaced():
    assert uploads.content_in({"name": "\ud83d.csv", "content": ""})[0] == "\ufffd.csv"


def test_a_file_that_is_too_large_is_refused_and_dropped(monkeypatch):
    monkeypatch.setattr(uploads, "LARGE_FILE_BYTES", 4)
    uploads.receive(TOKEN, 0, b"abc", "f.csv")
    with raises_problem("large_file_too_large", name="f.csv"):
        uploads.receive(TOKEN, 3, b"de", "f.csv")
    assert list(cache_folder("arriving").iterdir()) == []


def test_a_file_arrives_in_pieces_under_the_name_of_its_content():
    token = "0123456789abcdef"
    uploads.receive(token, 0, b"abc", "f.csv")
    with raises_problem("large_file_pieces", name="f.csv"):
        uploads.receive(token, 2, b"def", "f.csv")  # not where the last piece ended
    uploads.receive(token, 3, b"def", "f.csv")
    name = uploads.arrived(token, "f.csv")
    assert uploads.read(name, "f.csv") == b"abcdef"
    with raises_problem("large_file_gone"):
        uploads.read("f" * 32, "f.csv")


@pytest.mark.parametrize("token", ["../../etc/passwd", "", None, "0123"])
def test_a_token_is_no_path(token):
    with pytest.raises(Problem):
        uploads.receive(token, 0, b"abc", "f.csv")


@pytest.mark.parametrize("content", ["../files", "", "/etc/passwd"])
def test_a_file_is_found_by_content_alone(content):
    with pytest.raises(Problem):
        uploads.read(content, "f.csv")


def test_a_piece_of_a_file_that_left_is_no_file_of_its_own():
    token = "0123456789abcdef"
    uploads.receive(token, 0, b"abc", "f.csv")
    prune(most=0)
    with raises_problem("large_file_pieces"):
        uploads.receive(token, 3, b"def", "f.csv")
    with raises_problem("large_file_pieces"):
        uploads.arrived(token, "f.csv")


def test_what_one_visitor_of_a_hosted_page_hands_in_is_counted_together(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_UPLOADS_MIB", "1")
    half = {"name": "half", "content": encoded(bytes(2**19))}
    with as_visitor(new_key()):
        uploads.hand_in(half)
        begun = {"name": "more", "token": TOKEN, "content": encoded(bytes(2**18))}
        uploads.hand_in({**begun, "start": 0})
        uploads.hand_in({**begun, "start": 2**18})
        with raises_problem("uploads_too_large", name="more", most="1"):
            uploads.hand_in({**begun, "start": 2**19})
        uploads.forget_visitor()
        uploads.hand_in(half)
    with as_visitor(new_key()):
        uploads.hand_in(half)


def test_what_is_kept_is_looked_through_once_much_has_come(monkeypatch):
    """And not for each of many small files."""
    looks = []
    monkeypatch.setattr(uploads, "prune", lambda: looks.append(1))
    monkeypatch.setattr(uploads, "_bytes_since_scan", 0)
    monkeypatch.setattr(uploads, "BYTES_BETWEEN_SCANS", 1000)
    for number in range(20):
        uploads.put(bytes([number]) * 100, "f.csv")
    assert len(looks) == 2
