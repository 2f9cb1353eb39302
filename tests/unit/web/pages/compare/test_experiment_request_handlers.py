"""One thing varied, as the Compare page asks for it: figures of single runs and of the lessons."""

from __future__ import annotations

import base64
import dataclasses
import functools
import math

import numpy as np
import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.middleware.visitor_key import HEADER, with_headers
from lossprism.explorer.web.pages.compare import experiment_request_handlers
from lossprism.explorer.web.pages.compare.experiment_request_handlers import EXPERIMENTS, MAX_CELLS
from tests.wire import by_name

FUNCTIONS = by_name(EXPERIMENTS)
USUAL = Rules()
RANDOM = Data(source="random", random=RandomBatch(pairs=10, dimension=6, seed=4))
GRADED = Data()
ANSWERS = Data(example="hard_negatives")
ALONE = Rules(extra_negatives=False)  # eight questions, each the others' only negatives


def side(loss, convention="", **parameters):
    return {"loss": loss, "convention": convention, "parameters": parameters}


@functools.cache
def scene(data=RANDOM, rules=USUAL):
    return Scenario(data=data, rules=rules).to_json()


def answer_to(name, *sides, data=RANDOM, rules=USUAL, **more):
    sides = [one if isinstance(one, dict) else side(one) for one in sides]
    return FUNCTIONS[name]({"scenario": scene(data, rules), "sides": sides, **more})


def found(name, *sides, **more):
    answer = answer_to(name, *sides, **more)
    return [one["found"] for one in answer["sides"]]


def numbers(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def single(loss, data=RANDOM, rules=USUAL, **parameters):
    return explore(Scenario(data, rules, loss=loss, parameters=tuple(parameters.items())))


# ---- A parameter


def swept(*sides, along, logarithmic=True, points=9, **more):
    return found("sweep", *sides, along=along, logarithmic=logarithmic, points=points, **more)


def test_a_sweep_names_a_parameter_for_each_loss():
    answer = answer_to("sweep", "cosent", "info_nce", along=["scale"], logarithmic=True)
    assert answer["error"]["values"]["where"] == "along"


@pytest.mark.parametrize(
    ("loss", "name"), [("cosent", "scale"), ("info_nce", "temperature"), ("triplet", "margin")]
)
def test_a_value_of_a_sweep_is_that_of_the_single_run(loss, name):
    curves, other = swept(loss, "cosine_mse", along=[name, ""], logarithmic=False)
    assert other is None  # it stays as it is
    values = numbers(curves["values"])
    for place in (0, 4, len(values) - 1):
        e = single(loss, **{name: float(f"{values[place]:.6g}")})
        assert numbers(curves["loss"])[place] == pytest.approx(e.loss, rel=1e-6)
        assert numbers(curves["gradient"])[place] == pytest.approx(e.gradient_norm, rel=1e-6)
        effective = numbers(curves["effective"])[place]
        assert effective == pytest.approx(e.weights.effective, rel=1e-6)


def test_the_present_value_is_among_those_of_a_sweep():
    curves, _ = swept(side("cosent", scale=17.77), "info_nce", along=["scale", ""])
    assert 17.77 in [pytest.approx(v, rel=1e-6) for v in numbers(curves["values"])]


def test_sides_that_differ_in_the_parameter_alone_are_swept_once(monkeypatch):
    runs = []
    once = experiment_request_handlers.sweeps.curves
    monkeypatch.setattr(
        experiment_request_handlers.sweeps,
        "curves",
        lambda *given, **how: runs.append(1) or once(*given, **how),
    )
    values = (0.0333, 0.0777)
    sides = [side("info_nce", temperature=value) for value in values]
    other = side("info_nce", temperature=0.0333, symmetric=True)
    one, same, apart = swept(*sides, other, along=["temperature"] * 3)
    assert len(runs) == 2
    assert one == same != apart
    for value in values:
        place = int(np.abs(numbers(one["values"]) - value).argmin())
        assert numbers(one["values"])[place] == pytest.approx(value, rel=1e-6)
        expected = single("info_nce", temperature=value).loss
        assert numbers(one["loss"])[place] == pytest.approx(expected, rel=1e-6)


def test_a_loss_by_its_scale_runs_to_the_largest_violation():
    """Lesson 1: L/λ → .940, within its band at every λ."""
    curves, _ = swept("cosent", "info_nce", along=["scale", "temperature"], data=GRADED)
    over, (low, high) = numbers(curves["over_scale"]), map(numbers, curves["band"])
    assert curves["limit"] == pytest.approx(0.940, abs=5e-4)
    assert over[-1] == pytest.approx(curves["limit"], rel=1e-2)
    assert np.all(over >= low * (1 - 1e-6))
    assert np.all(over <= high * (1 + 1e-6))


def test_a_side_that_cannot_be_swept_takes_no_other_down():
    sides = answer_to(
        "sweep",
        *("cosent", "list_net", "triplet", side("info_nce", symmetric=5)),
        along=["scale", "temperature", "margin", "temperature"],
        logarithmic=True,
        points=5,
    )["sides"]
    assert [one["found"] is None for one in sides] == [False, True, True, True]
    sentences = [one["problem"] and one["problem"]["key"] for one in sides]
    named = ("no_lists", "sweep_logarithmic", "parameter_switch")
    assert sentences == [None, *(f"problem.{name}" for name in named)]


# ---- A batch in pieces


def pieces(*sides, way="micro", size=10, **more):
    return found("mechanics", *sides, way=way, size=size, **more)


SIX = ("cosent", "cosine_mse", "info_nce", "nt_xent", "triplet", "siglip")


@pytest.mark.parametrize("way", ["micro", "cached"])
def test_one_part_of_all_rows_and_cached_parts_are_the_whole_batch(way):
    size = 3 if way == "cached" else 10
    for loss, one in zip(SIX, pieces(*SIX, way=way, size=size), strict=True):
        whole = single(loss).loss
        if one is None:  # it has fewer rows: its positive pairs
            (one, _) = pieces(loss, loss, way=way, size=rows_of(loss))
        assert one["loss"] == pytest.approx(whole, rel=1e-10, abs=1e-12)
        assert one["equal"]
        assert one["comparisons"] == one["whole_comparisons"]


def rows_of(loss):
    refused = answer_to("mechanics", loss, loss, way="micro", size=10)["sides"][0]["problem"]
    assert refused["key"] == "problem.mechanics_size"
    return refused["values"]["most"]


def test_eight_small_batches_are_not_one_large_batch():
    """Lesson 6: .0285, .0127, .0042, 0; CoSENT 269 comparisons and 19.12, in fours 35 and 4.84."""
    given = {"data": ANSWERS, "rules": ALONE, "average": True}
    by_size = [pieces("info_nce", "info_nce", size=size, **given)[0] for size in (8, 4, 2, 1)]
    losses = [one["average"]["loss"] for one in by_size]
    assert losses == pytest.approx([0.0285, 0.0127, 0.0042, 0.0], rel=0.02)
    cosent, _ = pieces("cosent", "cosine_mse", size=4, data=GRADED, average=True)
    assert (cosent["whole_comparisons"], round(cosent["whole"], 2)) == (269, 19.12)
    assert round(cosent["average"]["comparisons"]) == 35
    assert cosent["average"]["loss"] == pytest.approx(4.84, rel=0.015)
    twice, _ = pieces("cosent", "cosine_mse", way="copies", size=2, data=GRADED)
    assert twice["loss"] - cosent["whole"] == pytest.approx(math.log(4), abs=1e-6)


def test_cells_are_what_is_there_and_a_large_matrix_is_cut():
    given = {"data": ANSWERS, "rules": ALONE, "way": "micro", "size": 4}
    one, none = answer_to("mechanics", "info_nce", "ranknot", **given)["sides"]
    cells = np.frombuffer(base64.b64decode(one["found"]["cells"]), np.uint8)
    assert cells.reshape(one["found"]["shape"])[:4, 4:].sum() == 0
    assert cells.sum() == one["found"]["comparisons"] == 24
    assert none["problem"]["key"] == "problem.unknown_loss_close"
    many = Data(source="random", random=RandomBatch(pairs=300, dimension=4))
    wide, _ = pieces("cosent", "cosine_mse", size=300, data=many)
    assert wide["all"] == [300, 300]
    assert wide["shape"] == [MAX_CELLS, MAX_CELLS]
    assert len(base64.b64decode(wide["cells"])) == MAX_CELLS**2


# ---- Types of numbers


def test_a_type_that_breaks_is_named_with_its_step():
    cosent, mse = found("precision", "cosent", "cosine_mse", data=GRADED)
    rows = {(row["form"], row["type"]): row for row in cosent["rows"]}
    assert rows["stable", "float64"]["loss"] == pytest.approx(single("cosent", GRADED).loss)
    broken = rows["printed_in_type", "float16"]
    assert (broken["loss"], broken["broken"]) == ("nan", "mask")
    assert {row["form"] for row in mse["rows"]} == {"stable", "function"}


# ---- Another batch


def changed(*sides, change, pair=0, by=0.0, **more):
    return found("what_if", *sides, change=change, pair=pair, by=by, **more)


def test_all_cosines_shifted_are_noticed_by_who_does_not_rank():
    """Lesson 5: CoSENT 19.12 = 19.12; half the spread is half the scale."""
    cosent, mse, nce = answer_to(
        "what_if",
        *("cosent", "cosine_mse", "info_nce"),
        **{"change": "shift", "pair": 0, "by": 0.3, "data": GRADED},
    )["sides"]
    before, after = cosent["found"]["before"], cosent["found"]["after"]
    assert before["loss"] == pytest.approx(19.12, abs=5e-3)
    assert after["loss"] == pytest.approx(before["loss"], rel=1e-12)
    assert after["gradient"] == pytest.approx(before["gradient"], rel=1e-9)
    assert not cosent["found"]["notices"]
    assert mse["found"]["notices"]
    both = [mse["found"][when]["loss"] for when in ("before", "after")]
    assert both == pytest.approx([0.082, 0.181], abs=5e-4)
    assert nce["found"]["refused"]["key"] == "problem.no_scores_to_move"
    spread, _ = changed("cosent", "cosine_mse", change="spread", by=0.5, data=GRADED)
    halved = single("cosent", GRADED, scale=10.0).loss
    assert spread["after"]["loss"] == pytest.approx(halved, rel=1e-12)


def test_a_pair_that_stands_twice():
    """Lesson 4: row 3 twice: .0285 → .182, × 6.4."""
    place = int(np.flatnonzero(positives())[3])
    one, none = changed("info_nce", "ranknot", change="duplicate", pair=place, **given_answers())
    assert none is None
    assert one["before"]["loss"] == pytest.approx(0.0285, abs=5e-5)
    assert one["after"]["loss"] == pytest.approx(0.182, abs=5e-4)
    assert one["ratio"] == pytest.approx(6.4, abs=0.05)


def given_answers():
    return {"data": ANSWERS, "rules": ALONE}


def positives():
    return single("info_nce", **given_answers()).batch.positive.numpy()


def test_what_cannot_be_changed_is_reported_for_all():
    for more, key in (
        ({"change": "drop", "pair": 10}, "what_if_pair"),
        ({"change": "melt", "pair": 0}, "scenario_entry"),
    ):
        answer = answer_to("what_if", "cosent", "cosine_mse", by=0.0, **more)
        assert answer["error"]["key"] == f"problem.{key}"


# ---- How far collapsed


def test_each_way_begins_at_the_loss_and_ends_on_its_line():
    """Lesson 3: ln 8, ln 15, the margin, 8 ln 2."""
    losses = ("info_nce", "nt_xent", "triplet", "siglip")
    answer = answer_to("collapse", *losses, "ranknot", points=5, **given_answers())
    shares = numbers(answer["shares"])
    assert (shares[0], shares[-1], len(shares)) == (0, 1, 5)
    unknown = answer["sides"][4]["problem"]
    assert (unknown["key"], unknown["values"]["close"].partition(",")[0]) == (
        "problem.unknown_loss_close", "pairwise_logistic"
    )  # fmt: skip
    ways = [one["found"] for one in answer["sides"][:4]]
    for loss, way in zip(losses, ways, strict=True):
        assert way["start"] == single(loss, **given_answers()).loss
        assert numbers(way["values"])[0] == pytest.approx(way["start"], rel=1e-6)
        assert way["reached"] == pytest.approx(way["line"], rel=1e-6)
    expected = [math.log(8), math.log(15), 1.0, 8 * math.log(2)]
    assert [way["reached"] for way in ways] == pytest.approx(expected, abs=1e-6)


def test_a_loss_that_falls_on_the_way_is_reported():
    """Lesson 3: 19.12 is worse than one answer for everything; online contrastive reaches 0."""
    losses = ("cosent", "online_contrastive", "triplet")
    ways = found("collapse", *losses, points=5, data=GRADED)
    assert [way["falls"] for way in ways] == [True, True, False]
    assert ways[0]["reached"] == pytest.approx(math.log(270))
    assert ways[1]["reached"] == 0
    assert ways[2]["lowest"] == 0


def test_given_scores_are_not_what_collapses(monkeypatch):
    printed = Data(example="cosent_batch")
    batch = make_batch(printed, USUAL)
    ask = functools.partial(answer_to, "collapse", "cosent", "cosine_mse", data=printed, points=3)
    assert not ask()["by_cosines"]  # its vectors have just these cosines
    for other in ({"given": batch.given + 1}, {"vectors": None}):
        changed = dataclasses.replace(batch, **other)
        monkeypatch.setattr(
            experiment_request_handlers, "make_batch", lambda *_, made=changed: made
        )
        answer = ask()
        if "given" in other:
            assert answer["by_cosines"]
            start = answer["sides"][0]["found"]["start"]
            assert start == pytest.approx(single("cosent", printed).loss)
        else:
            assert answer["error"]["key"] == "problem.no_vectors"


# ---- On a hosted page


def test_what_would_go_through_too_many_cells_is_refused_before_it_is_begun(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_REQUEST_CELLS", "2000")  # of ten pairs, twenty times
    two = {"logarithmic": False, "along": ["scale", ""]}
    asking = {
        "sweep": (two, {**two, "points": 30}),
        "collapse": ({"points": 9}, {"points": 11}),
        "mechanics": ({"way": "gathered", "size": 4}, {"way": "gathered", "size": 10}),
    }
    with with_headers({HEADER: new_key()}):
        for name, (fits, too_much) in asking.items():
            answer = answer_to(name, "cosent", "circle", **{"points": 5, **fits})
            assert "error" not in answer, answer
            refused = answer_to(name, "cosent", "circle", **too_much)["error"]
            assert refused["key"] == "problem.request_cells", name
            assert int(refused["values"]["fits"]) < 10
