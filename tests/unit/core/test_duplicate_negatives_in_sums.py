"""Negatives of the same text under losses made of losses: each loss tells of its own."""

from __future__ import annotations

import dataclasses
import math

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import remarks
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.caption import caption
from lossprism.explorer.export.code import library_code
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.number_format import display_number
from lossprism.losses import LOSSES
from tests.unit.core.test_duplicate_negatives import cells_of, explored, same_text_of

ON_HALVES = "matryoshka(info_nce,6,2)"


def remarks_of(found):
    """Remarks on equal texts, by the English names of their losses."""
    keys = [one for one in remarks(found, most=9) if one.key in ("same_text", "same_text_left_out")]
    for one in keys:
        for language in LANGUAGES:
            assert "{" not in say(language, f"remark.{one.key}", **one.values)
    return {
        say("en", one.values["name"]["key"], **one.values["name"].get("values", {})): one
        for one in keys
    }


def test_a_sum_reports_those_of_each_of_its_losses():
    found = explored("info_nce+cosent+nt_xent", weight_of_info_nce=0.3, temperature_of_info_nce=0.3)
    message = remarks_of(found)
    assert list(message) == ["InfoNCE", "NT-Xent"]
    alone = {"info_nce": explored("info_nce", temperature=0.3), "nt_xent": explored("nt_xent")}
    assert found.same_text.keys() == alone.keys()
    for name, by_itself in alone.items():
        one, other = found.same_text[name], same_text_of(by_itself)
        shares = "share_of_anchor", "share_of_positive"
        for share in shares:
            assert getattr(one, share) == pytest.approx(getattr(other, share), rel=1e-9)
        rounded = {**dict.fromkeys(shares, 0.0), "least": 0.0}
        assert dataclasses.replace(one, **rounded) == dataclasses.replace(other, **rounded)
    assert explored("cosent+angle").same_text == {}


def test_on_prefixes_the_negatives_are_the_same_and_are_weighed_on_all():
    found = explored(ON_HALVES, temperature_of_info_nce=0.3, weight_of_info_nce_2=0.25)
    (name,) = remarks_of(found)
    assert name == "InfoNCE on prefixes"
    held, whole = found.same_text["info_nce"], same_text_of(explored("info_nce"))
    for count in ("rows", "negatives", "of_anchor", "of_positive", "rows_with"):
        assert getattr(held, count) == getattr(whole, count)
    cells = list(cells_of("info_nce"))
    every = of_query = 0.0
    for prefix, weight in ((6, 1.0), (2, 0.25)):
        logits = found.trace.named(f"info_nce_{prefix}_logits").value
        probabilities = weight * logits.softmax(dim=1)
        every += sum(float(probabilities[i, j]) for i, j, *_ in cells)
        of_query += sum(float(probabilities[i, j]) for i, j, q, _, c in cells if c == q)
    assert held.share_of_anchor == pytest.approx(of_query / every, rel=1e-9)


def test_a_queue_holds_copies_as_the_batch_does():
    found = explored("queue(info_nce)", length_of_info_nce=2)
    assert list(remarks_of(found)) == ["InfoNCE with a queue"]
    assert found.same_text["info_nce"].rows == 3


@pytest.mark.parametrize("loss", ["info_nce+cosent", ON_HALVES, "queue(info_nce)"])
def test_left_out_of_a_sum_they_are_counted(loss):
    kept, found = explored(loss), explored(loss, twins="leave_out")
    assert [one.key for one in remarks_of(found).values()] == ["same_text_left_out"]
    assert found.loss < kept.loss
    sentence = say("en", "figure_text.same_text_left_out")
    assert sentence in " ".join(caption(found))
    assert sentence not in " ".join(caption(kept))
    assert (library_code(kept) is None) == (loss != ON_HALVES)
    assert library_code(found) is None  # it tells no texts apart


def test_copies_hold_up_a_sum_by_what_they_hold_up_its_losses():
    """2 ln 2 / 4 in InfoNCE, and nothing in the other."""
    texts = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "z")]
    rows = tuple((one, other, "") for one, other in texts)
    data = Data(source="table", rows=rows, encoder="all apart")
    least = 2 * math.log(2) / 4
    weights = (("weight_of_info_nce", 3.0),)
    for loss, other in (("info_nce+alignment", 0.0), ("info_nce+uniformity", None)):
        found = explore(Scenario(data=data, loss=loss, parameters=weights))
        if other is None:
            other = LOSSES["uniformity"].floor(found.given)
        assert found.floor == pytest.approx(3 * least + other)
        matching = [one for one in remarks(found, most=9) if one.key == "same_text_floor"]
        assert [one.values["floor"] for one in matching] == [display_number(found.floor, 3)]
