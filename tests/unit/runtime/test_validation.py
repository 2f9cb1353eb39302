"""What is sent is read by the table, or refused by the name of the place that does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from lossprism.explorer.runtime import validation
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import raises_problem


@dataclass(frozen=True)
class Inner:
    share: float = 0.5
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    count: int = 3
    switch: bool = True
    kind: str = "a"
    limit: float | None = None


READERS: validation.Readers = {
    (Inner, "names"): validation.texts,
    (Outer, "count"): validation.whole,
    (Outer, "kind"): validation.one_of(("a", "b")),
    (Outer, "limit"): validation.optional(validation.finite),
}


def read(chosen):
    return validation.read(
        Outer, chosen, "outer", READERS, lambda where: Problem("scenario_unknown", where=where)
    )


def test_what_is_left_out_has_its_default():
    assert read({}) == Outer()
    assert read({"inner": {"share": 1}, "count": 60.0, "limit": None}) == Outer(Inner(1.0), 60)


@pytest.mark.parametrize(
    ("chosen", "where"),
    [
        ([], "outer"),
        ({"inner": 3}, "outer.inner"),
        ({"inner": {"share": "x"}}, "outer.inner.share"),
        ({"inner": {"share": True}}, "outer.inner.share"),
        ({"inner": {"share": 10**400}}, "outer.inner.share"),
        ({"inner": {"names": ["a", 3]}}, "outer.inner.names"),
        ({"count": 1.5}, "outer.count"),
        ({"count": float("inf")}, "outer.count"),
        ({"switch": 1}, "outer.switch"),
        ({"kind": "c"}, "outer.kind"),
        ({"limit": float("nan")}, "outer.limit"),
    ],
)
def test_what_does_not_fit_is_named(chosen, where):
    with pytest.raises(Problem) as caught:
        read(chosen)
    assert caught.value.key == "problem.scenario_entry"
    assert caught.value.values["where"] == where
    with raises_problem("scenario_unknown", where="outer.unheard"):
        read({"unheard": 1})


def test_a_row_is_named_by_its_number():
    with raises_problem("scenario_entry", where="rows[2]"):
        validation.rows(2)([["a", "b"], ["a"]], "rows")
    assert validation.rows(2)([["a", None], [3, "b"]], "rows") == (("a", ""), ("3", "b"))


def test_a_whole_number_is_not_rounded():
    assert validation.whole(2**53 + 1, "seed") == 2**53 + 1
