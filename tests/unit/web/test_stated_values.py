"""The number, minimum and value at collapse that a door states of a name are what the function of
the convention computes that the name selects."""

from __future__ import annotations

import contextlib
import functools
import json

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.loss_lookup import other_names
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.web.api import endpoint_functions
from lossprism.explorer.web.api.request_parsing import scenario_of
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import AmbiguousLoss

PAIRS = "\n".join(
    json.dumps({"sentence1": a, "sentence2": b, "score": c, "teacher": d})
    for a, b, c, d in (
        ("a cat sleeps", "a cat naps", 1.0, 0.9),
        ("a cat sleeps", "rain falls", 0.0, 0.1),
        ("the sun shines", "it is sunny", 1.0, 0.8),
        ("the sun shines", "a cat naps", 0.0, 0.3),
        ("rain falls", "it rains", 1.0, 0.7),
        ("rain falls", "it is sunny", 0.0, 0.2),
    )
)
TRIPLETS = "\n".join(
    json.dumps({"anchor": a, "positive": b, "negative": c, "margin": d})
    for a, b, c, d in (
        ("a cat sleeps", "a cat naps", "rain falls", 0.8),
        ("the sun shines", "it is sunny", "a dog barks", 0.6),
        ("rain falls", "it rains", "it is dry", 0.3),
    )
)
ALIKE = "all alike"


def selected() -> dict[tuple[str, str], str]:
    """A name for each loss and convention that some name selects, or that has no name but its
    own."""
    found = {(spec.name, ""): spec.name for spec in LOSSES.values()}
    for name, _, _ in other_names():
        try:
            found[LOSSES.called(name)] = name
        except AmbiguousLoss:
            continue
    return found


SELECTED = selected()


@functools.cache
def answered(name: str, table: str, encoder: str, convention: str = "") -> dict:
    return endpoint_functions.compute_loss(
        name, table=table, encoder=encoder, convention=convention
    )


def table_for(name: str) -> str:
    """The first table that the loss can use; "" where it asks for what neither has."""
    for table in (PAIRS, TRIPLETS):
        with contextlib.suppress(Problem):
            answered(name, table, EMBEDDED)
            return table
    return ""


def computed(loss: str, convention: str, table: str, encoder: str) -> float:
    """The function of the convention on what the batch of the table gives it."""
    scenario, _ = scenario_of(
        loss, None, None, None, encoder=encoder, convention=convention, table=table
    )
    found = explore(scenario)
    return float(found.spec.checked(**found.given, **found.parameters))


@pytest.mark.thorough
@pytest.mark.parametrize(("loss", "convention"), SELECTED, ids=SELECTED.values())
def test_a_name_states_what_its_function_computes(loss, convention):
    name = SELECTED[loss, convention]
    if not (table := table_for(name)):
        pytest.skip("it asks for what the tables have not")
    for encoder in (EMBEDDED, ALIKE, "all apart"):
        stated = answered(name, table, encoder)
        for key in ("loss", "floor", "collapse_value"):
            assert stated[key] == answered(loss, table, encoder, convention)[key], key
        assert stated["loss"] == pytest.approx(
            computed(loss, convention, table, encoder), rel=1e-4, abs=1e-6
        )
        if stated["floor"] is not None:
            assert stated["loss"] >= stated["floor"] - 1e-5 * max(1, abs(stated["floor"]))
        if encoder == ALIKE and stated["collapse_value"] is not None:
            assert stated["loss"] == pytest.approx(stated["collapse_value"], rel=1e-5, abs=1e-6)


@pytest.mark.thorough
def test_the_tables_serve_nearly_every_convention():
    served = [name for name in SELECTED.values() if table_for(name)]
    assert len(served) > 0.9 * len(SELECTED) > 80
