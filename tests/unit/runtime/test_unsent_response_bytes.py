"""A hosted page measures its answers before they are written out, and counts what waits."""

from __future__ import annotations

import dataclasses
import json

import pytest

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_size import check_answer, json_bytes
from lossprism.explorer.runtime.unsent_response_bytes import UnsentBytes
from tests.sentences import raises_problem


@dataclasses.dataclass
class Row:
    text: str


LONG = "x" * 2**16
SHAPES = {
    "text": lambda: LONG * 32,
    "list": lambda: [LONG] * 32,
    "tuples": lambda: ((LONG, LONG),) * 16,
    "rows": lambda: {"rows": [[LONG, LONG, "1"]] * 16},
    "names": lambda: {f"{LONG}{i}": i for i in range(32)},
    "dataclass": lambda: [Row(LONG)] * 32,
    "nested": lambda: [{"a": [{"b": (LONG,)}]}] * 32,
    "wide letters": lambda: ["字" * 2**15] * 32,
    "numbers": lambda: [0.1234567890123] * 2**18,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_reference_counts_as_often_as_it_is_written(shape):
    value = SHAPES[shape]()
    written = len(encoded(value))
    assert written / 2.5 < json_bytes(value, 2**40) < written * 1.5


def test_counting_ends_where_it_is_too_much():
    count = 0

    class Counted(list):
        def __iter__(self):
            nonlocal count
            count += 1
            return super().__iter__()

    assert json_bytes([Counted([LONG])] * 1000, 3 * len(LONG)) < 5 * len(LONG)
    assert count < 6


@pytest.mark.parametrize("shape", SHAPES)
def test_only_a_hosted_page_refuses_large_answers(shape, monkeypatch, capfd):
    value = SHAPES[shape]()
    monkeypatch.setenv("LOSSPRISM_ANSWER_MIB", "1")
    check_answer(value)
    monkeypatch.setenv(HOSTED, "1")
    with raises_problem("answer_too_large", most=1):
        check_answer(value)
    assert capfd.readouterr().err == "refused problem.answer_too_large\n"
    check_answer(json.loads(json.dumps("small")))


def test_what_waits_to_be_sent_is_counted_until_nobody_sends_it(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_ANSWERS_MIB", "2")
    unsent, sending = UnsentBytes(), Row("an answer")
    unsent.take(2 * MIB)
    unsent.release_with(sending, 2 * MIB)
    with pytest.raises(Problem):
        unsent.take(1)
    del sending
    assert unsent.held == 0
    unsent.take(2 * MIB)
    with pytest.raises(Problem):  # an answer that came out larger than was estimated
        unsent.take(2 * MIB + 1, in_place_of=MIB)
    assert unsent.held == MIB
