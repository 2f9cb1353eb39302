"""The budgets of a hosted page: each has a default, a variable, and a place that asks for it."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.hosted_budgets import BUDGETS, budget

ROOT = Path(__file__).resolve().parents[3]
NAMES = [one.name for one in BUDGETS]


@pytest.mark.parametrize("name", NAMES)
def test_a_budget_has_its_default_and_its_variable(name, monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    known = next(one for one in BUDGETS if one.name == name)
    monkeypatch.setenv(HOSTED, "1")
    assert budget(name) == known.default
    monkeypatch.setenv(known.variable, "2.5")
    assert budget(name) == 2.5
    monkeypatch.setenv(known.variable, "7")
    assert repr(budget(name)) == "7"  # as a sentence quotes it
    for wrong in ("many", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(known.variable, wrong)
        with pytest.raises(ValueError, match=f"{known.variable} is '{wrong}'"):
            budget(name)
    monkeypatch.delenv(HOSTED)
    assert budget(name) == math.inf  # at home


def test_every_budget_is_requested():
    text = "".join(path.read_text() for path in (ROOT / "explorer").rglob("*.py"))
    requested = set(re.findall(r'budget\("(\w+)"\)', text))
    assert requested == set(NAMES)


def test_the_table_for_hosts_is_complete():
    rows = [
        f"| {one.of} | {one.about} | {one.default:,} {one.unit} | `{one.variable}` |"
        for one in BUDGETS
    ]
    text = (ROOT / "docs" / "hosting.md").read_text()
    assert "\n".join(rows) in text, "\n".join(rows)
