"""A page's state as a table: nothing missing, nothing repeated."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.training.plan import RANGES
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.sources import random_batch
from lossprism.explorer.web.pages.explore.state_entries import scenario_table
from lossprism.explorer.web.pages.finetune.request_plan import read_plan
from lossprism.explorer.web.pages.finetune.state_entries import finetune_table, first_plan
from lossprism.explorer.web.pages.large.request_handlers import Source, read_query
from lossprism.explorer.web.pages.large.state_entries import large_table
from lossprism.explorer.web.pages.state_entry_type import Effect, Entry, Kind, table

TABLES = {
    "explore": plain(scenario_table()),
    "large": plain(large_table()),
    "finetune": plain(finetune_table()),
}


def put_together(entries, below=""):
    """The state that a table begins with, or the part of it below a name."""
    state = {}
    for entry in entries:
        if entry["name"].startswith(below):
            *inside, last = entry["name"].removeprefix(below).split(".")
            part = state
            for key in inside:
                part = part.setdefault(key, {})
            part[last] = entry["default"]
    return state


@pytest.mark.parametrize("page", TABLES)
def test_an_entry_says_what_is_known(page):
    names = [entry["name"] for entry in TABLES[page]]
    assert len(set(names)) == len(names)
    for entry in TABLES[page]:
        assert entry["kind"] in get_args(Kind)
        assert entry.get("affects", "compute") in get_args(Effect)
        assert entry.get("low", 0) <= entry.get("high", float("inf"))
        if "when" in entry:
            other, value = entry["when"]
            (choice,) = [one for one in TABLES[page] if one["name"] == other]
            assert value in choice["choices"]
        if entry["kind"] == "choice":
            assert entry["default"] in entry["choices"]


def test_explore_begins_with_the_default_scenario():
    assert Scenario.from_json(put_together(TABLES["explore"])) == Scenario()


def test_explore_has_an_entry_for_all_of_a_scenario():
    result = put_together(TABLES["explore"])
    assert result.keys() == {field.name for field in dataclasses.fields(Scenario)}
    assert result["data"].keys() == Scenario().to_json()["data"].keys()


def test_large_begins_with_the_defaults_of_the_server():
    result = put_together(TABLES["large"], "source.")
    assert read_query({"source": result}).source == Source()


def test_finetune_begins_with_a_plan_that_can_start():
    result = put_together(TABLES["finetune"], "plan.")
    assert result == plain(first_plan())
    assert read_plan(result).steps == first_plan()["steps"]


def test_ranges_are_those_that_the_server_holds_to():
    for page, ranges in (("explore", random_batch.RANGES), ("finetune", RANGES)):
        entries = {entry["name"].rpartition(".")[2]: entry for entry in TABLES[page]}
        for name, (low, high) in ranges.items():
            if name in entries:
                assert (entries[name]["low"], entries[name]["high"]) == (low, high)


def test_a_change_to_no_entry_is_a_mistake():
    with pytest.raises(KeyError, match="los"):
        table([Entry("loss", "cosent", "text")], los={"history": True})
