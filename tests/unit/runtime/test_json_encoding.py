"""Answers are written as JSON that any reader takes, dataclasses by their fields."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import pytest

from lossprism.explorer.runtime.json_encoding import encoded, plain
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_parent_classes import Sparse, as_answer


@dataclass(frozen=True)
class Part:
    text: str
    count: int


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    problem: Problem | None


@dataclass(frozen=True, kw_only=True)
class Loose(Sparse):
    first: int | None = None
    second: int
    third: tuple[str, ...] = ()


@pytest.mark.parametrize("text", ["plain", "half \ud83d", "中文"])
@pytest.mark.parametrize("count", [7, 2**80])
def test_a_dataclass_is_an_object_of_its_fields_in_their_order(text, count):
    """Also where the text or the number is none of JSON's, which is written by another writer."""
    problem = Problem("no_such_step", name=text, known="a")
    written = encoded({"found": Whole((Part(text, count),), problem)}).decode()
    whole = text.replace("\ud83d", "\ufffd")
    assert list(json.loads(written)["found"]) == ["parts", "problem"]
    assert json.loads(written)["found"] == {
        "parts": [{"text": whole, "count": count}],
        "problem": {
            "key": "problem.no_such_step",
            "about": "",
            "values": {"name": whole, "known": "a"},
        },
    }


@pytest.mark.parametrize("made", [Loose(second=1), replace(Loose(first=2, second=1), first=None)])
def test_entries_that_equal_their_default_are_left_out(made):
    assert encoded(made) == b'{"second":1}'
    assert (made.first, made.third) == (None, ())
    assert made == Loose(second=1)


def test_entries_that_differ_stand_in_their_place():
    assert (
        encoded(Loose(first=0, second=1, third=("a",))) == b'{"first":0,"second":1,"third":["a"]}'
    )


def test_an_answer_has_the_attributes_of_what_was_found():
    @dataclass
    class Found:
        loss: float
        gradient: float
        name: str

    @dataclass(frozen=True)
    class Sent:
        loss: object
        gradient: object
        where: str

    found = as_answer(Sent, Found(math.inf, 0.5, "x"), where="here")
    assert plain(found) == {"loss": "inf", "gradient": 0.5, "where": "here"}


def test_what_is_no_part_of_an_answer_is_refused():
    with pytest.raises(TypeError, match="set is no part of an answer"):
        encoded({"names": {1, 2}})
