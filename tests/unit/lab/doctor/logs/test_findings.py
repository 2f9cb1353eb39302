"""Findings on a run: its position, its numbers, and two runs beside each other."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.logs.findings import examine_run, too_short_for
from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.logs.run_comparison import compare_runs
from lossprism.explorer.lab.doctor.logs.run_report import lines, link_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import pattern_of


def log(values, name="loss", known=None, **others):
    points = [(name, step, value) for step, value in enumerate(values, 1)]
    for other, given in others.items():
        points += [(other, step, value) for step, value in enumerate(given, 1)]
    return Log("scalars", curves_of(points), known or Known())


def names(found):
    return [fault.name for fault in found.faults]


MNRL = Known("MultipleNegativesRankingLoss", batch=8, negatives=1, scale=10.0)
FALLING = [3.0 * 0.95**step + 0.5 for step in range(80)]


def test_where_a_curve_stands():
    """InfoNCE of 8 queries among 16 candidates: ln 16 at collapse."""
    found = examine_run(log(FALLING, known=MNRL))
    assert found.marks.collapse == pytest.approx(math.log(16))
    assert found.marks.floor is not None
    share = (found.marks.collapse - found.level) / (found.marks.collapse - found.marks.floor)
    by_name = {fault.name: fault for fault in found.faults}
    assert by_name["between"].values["share"] == f"{100 * share:.0f}%"
    assert float(by_name["effective_candidates"].values["count"]) == pytest.approx(
        math.exp(found.level), rel=0.01
    )
    assert not found.severe


@pytest.mark.parametrize(
    ("level", "name"),
    [(math.log(16), "at_collapse"), (3.5, "above_collapse"), (-0.5, "below_floor")],
)
def test_the_ends_of_the_loss(level, name):
    found = examine_run(log([level] * 30, known=MNRL))
    assert names(found)[0] == name
    assert found.severe == (name != "above_collapse")


def test_a_curve_noisier_than_the_distance_of_both_ends_has_no_position():
    """Twelve steps of a loss that falls by half at each second one."""
    steep = [2.3, 0.4, 2.1, 0.3, 1.9, 0.5, 2.0, 0.2, 1.8, 0.3, 1.9, 0.6]
    found = examine_run(log(steep, known=Known("info_nce", batch=8)))
    assert not {"at_collapse", "above_collapse", "between", "at_floor"} & {*names(found)}
    assert not found.severe


def test_of_a_sum_of_losses_nothing_is_decoded():
    known = Known("MNRL + AnglELoss", batch=8)
    with pytest.raises(Problem) as result:
        possible_losses(known)
    assert result.value.key == "problem.explain_sum"
    assert examine_run(log(FALLING, known=known)).marks.collapse is None


def test_two_values_have_no_end():
    assert names(examine_run(log([math.log(16)] * 2, known=MNRL))) == []


@pytest.mark.parametrize(
    ("points", "evaluations", "short"),
    [
        (1, 0, ("end", "flat", "jump", "plateau")),
        (14, 6, ("jump", "plateau")),
        (39, 5, ("plateau", "held_out")),
        (40, 6, ()),
    ],
)
def test_a_log_too_short_for_a_finding_is_reported(points, evaluations, short):
    """Else nothing found would read as if all of it had been looked for."""
    held = {"eval_loss": [1.0] * evaluations} if evaluations else {}
    found = examine_run(
        log([2.0, 2.5] * 20, **held) if points == 40 else log([2.0] * points, **held)
    )
    assert too_short_for(found) == short
    pattern = [*filter(pattern_of("doctor.run.too_short").fullmatch, lines(found))]
    what = say("en", "ui.between").join(say("en", f"doctor.run.of.{name}") for name in short)
    assert pattern == ([say("en", "doctor.run.too_short", what=what)] if short else [])


def test_what_the_run_logged_counts_before_its_counts():
    values = {"train/prism_collapse": [4.0] * 30, "train/prism_floor": [1.0] * 30}
    found = examine_run(log([4.0] * 30, known=Known("CoSENTLoss", batch=8), **values))
    assert (found.marks.collapse, found.marks.floor, found.marks.logged) == (4.0, 1.0, True)
    assert names(found) == ["at_collapse"]


@pytest.mark.parametrize(
    ("cosine", "name"), [(0.2, "not_collapsed"), (0.97, "not_collapsed"), (0.999, "at_collapse")]
)
def test_batches_with_distant_negatives_have_not_collapsed(cosine, name):
    values = {"prism_collapse": [4.0] * 30, "prism_negative_cosine": [0.5] * 10 + [cosine] * 20}
    found = examine_run(log([4.0] * 30, known=Known("CoSENTLoss", batch=8), **values))
    assert names(found) == [name]
    assert found.severe == (name == "at_collapse")


@pytest.mark.parametrize("loss", ["CoSENTLoss", "cosine_mse", "AnglELoss", ""])
def test_of_a_loss_on_labels_no_counts_are_made_up(loss):
    """Its reference values depend on the labels, which no log has."""
    found = examine_run(log(FALLING, known=Known(loss, batch=8)))
    assert found.marks.collapse is None
    assert not {"at_collapse", "between", "effective_candidates"} & {*names(found)}


def test_a_margin_is_a_reference_value_at_any_batch():
    found = examine_run(log([5.0] * 30, known=Known("TripletLoss", batch=8)))
    assert found.marks.collapse == 5
    assert "at_collapse" in names(found)


def test_the_end_of_a_loss_that_became_nan_is_not_reported():
    """Whatever it was before: half of a run that fell, and then nothing."""
    rising = [0.2 * 1.1**step for step in range(80)]
    broke = log(FALLING[:40] + [math.nan] * 40, known=MNRL, eval_loss=rising[:40] + [math.nan] * 40)
    found = examine_run(broke)
    assert names(found) == ["not_finite"]
    assert found.faults[0].values == {"count": 40, "kind": "NaN", "step": 41, "last": 80}
    assert found.level is None
    again = examine_run(log([*FALLING[:40], math.nan, *FALLING[41:]], known=MNRL))
    assert {"not_finite", "between"} <= {*names(again)}
    other = examine_run(log(FALLING, known=MNRL))
    assert [fault.name for fault in compare_runs(found, other)] == ["not_finite"]


def test_of_a_loss_that_is_zero_no_harder_negatives_are_advised():
    found = examine_run(log([*FALLING[:60], *[0.0] * 30], known=Known("TripletLoss", batch=8)))
    assert "zero" in names(found)
    assert "at_floor" not in names(found)


def test_a_loss_that_became_zero_late_has_no_mean_as_its_end():
    """Six zeros of the last eight values, whose mean the loss never had."""
    found = examine_run(log([*[3.0] * 74, *[0.0] * 6], known=MNRL))
    assert names(found) == ["zero"]
    found = examine_run(log([*[2.5] * 60, *[-0.5] * 20], known=MNRL))
    assert "effective_candidates" not in names(found)
    assert "below_floor" in names(found)


def test_values_that_are_none():
    found = examine_run(log([1.0, 2.0, math.nan, math.inf, *[0.0] * 6]))
    by_name = {fault.name: fault for fault in found.faults}
    assert by_name["not_finite"].values == {"count": 2, "kind": "NaN", "step": 3, "last": 4}
    assert by_name["not_finite"].rows == (3, 4)
    assert by_name["zero"].values == {"count": 6, "step": 5}
    sentence = say("en", "doctor.run.not_finite", **by_name["not_finite"].values)
    assert by_name["not_finite"].written() == sentence
    assert "zero" not in names(examine_run(log([1.0, 0.0, 0.0, 1.0] * 5)))


def test_a_jump_and_its_step():
    draw = np.random.default_rng(0)
    values = np.concatenate([np.full(100, 1.0), np.full(60, 3.0)]) + 0.02 * draw.normal(size=160)
    (jump,) = [one for one in examine_run(log(values.tolist())).faults if one.name == "jump"]
    assert jump.values["step"] == 101
    assert jump.values["count"] == 1
    assert pattern_of("doctor.run.jump", count=1, step=101).fullmatch(jump.written())


def test_the_step_of_a_plateau():
    draw = np.random.default_rng(0)
    values = np.concatenate([np.linspace(4, 1, 100), np.full(200, 1.0)])
    values = values + 0.02 * draw.normal(size=300)
    (one,) = [one for one in examine_run(log(values.tolist())).faults if one.name == "plateau"]
    assert 75 <= one.values["step"] <= 125


@pytest.mark.parametrize(("end", "flat"), [(4.85, True), (4.6, False)])
def test_a_loss_that_never_fell_links_to_what_its_number_means(end, flat):
    """Whatever the loss is: of a curve that moves, its last value means nothing by itself."""
    found = examine_run(log(np.linspace(4.85, end, 60).tolist()))
    assert ("flat" in names(found)) == flat
    assert link_of(found) == ("doctor#value=4.85" if flat else None)


def test_what_two_runs_can_say():
    def run(**changed):
        return examine_run(log(FALLING, known=Known(**{**vars(MNRL), **changed})))

    def message(one, other):
        (fault,) = compare_runs(one, other)
        return fault

    assert message(run(), run()).name == "comparable"
    scaled = message(run(), run(scale=50.0))
    assert scaled.name == "other_scale"
    assert scaled.values["names"] == "temperature"
    assert pattern_of("doctor.run.other_scale", names="temperature").match(scaled.written())
    assert message(run(), run(batch=64)).name == "other_batch"
    # At scale 1 the loss cannot be as small as it was: it went to no end of its own.
    for pair in ((run(), run(scale=1.0)), (run(scale=1.0), run())):
        assert message(*pair).name == "below_assumed"
    assert message(run(), run(loss="CoSENTLoss")).name == "other_loss"
    assert message(run(), examine_run(log(FALLING))).name == "untold"
    # What nobody knows is not taken for another.
    assert message(run(), run(batch=None)).name == "untold_batch"


@pytest.mark.parametrize("times", [1 / 20, 1 / 3, 1.0, 1.3, 3.0, 20.0])
@pytest.mark.parametrize("which", ["rows", "epochs", "steps"])
def test_runs_of_other_amounts_of_training_are_not_compared(which, times):
    """Of rows, epochs and steps, of which each follows from the others and the batch size."""

    def run(steps, epochs):
        made = log([3.0 * 0.95 ** (9 * n / steps) + 0.5 for n in range(steps)], known=MNRL)
        return examine_run(dataclasses.replace(made, epochs=epochs))

    steps = 400 if which == "epochs" else round(400 * times)
    epochs = {"rows": 20.0, "epochs": 20.0 * times, "steps": None}[which]
    first = run(400, 20.0 if which != "steps" else None)
    pair = first, run(steps, epochs)
    for one, other in (pair, pair[::-1]):
        (fault,) = compare_runs(one, other)
        assert (fault.name == "comparable") == (0.5 < times < 2)
        assert fault.name in ("comparable", "other_training")


@pytest.mark.parametrize(
    ("trained", "held", "epochs", "name"),
    [
        (0.001, [1.4, 1.35, 1.34], 100.0, "gap"),
        (0.001, [1.34], None, "gap"),
        (0.6, [1.4, 1.35, 1.34], 100.0, None),  # less than ten times as much
        (0.001, [0.03, 0.02, 0.012], 100.0, None),  # both have learnt it
        (0.02, [0.03, 0.021, 0.02], 10.0, "leak"),
        (0.02, [0.02], None, "leak"),
        (0.02, [0.02], 1.0, None),  # rows that it sees for the first time
        (0.02, [0.2, 0.1, 0.09], 10.0, None),
        (0.9, [0.95, 0.9, 0.9], 10.0, None),  # far from the minimum
    ],
)
@pytest.mark.parametrize("floor", [0.0, 0.7])
def test_a_gap_and_a_leak_without_a_rise(trained, held, epochs, name, floor):
    """From the minimum of the loss, which the run has logged where it is not 0."""
    draw = np.random.default_rng(0)
    falls = trained + 3 * np.exp(-np.arange(200) / 12)
    values = floor + falls * (1 + 0.1 * draw.normal(size=200))
    ends = {"prism_collapse": [4.0] * 200, "prism_floor": [floor] * 200} if floor else {}
    made = log(values.tolist(), eval_loss=[floor + one for one in held], **ends)
    found = names(examine_run(dataclasses.replace(made, epochs=epochs)))
    assert {"gap", "leak", "overfits"} & {*found} == {*filter(None, [name])}


def test_one_loss_goes_by_many_names_and_two_libraries_define_one_in_two_ways():
    def message(one, other):
        runs = [examine_run(log(FALLING, known=Known(**{"batch": 8, **k}))) for k in (one, other)]
        (fault,) = compare_runs(*runs)
        return fault

    by_name, by_class = {"loss": "info_nce"}, {"loss": "MultipleNegativesRankingLoss"}
    for pair in (
        (by_name, by_class),
        (by_class, {"loss": "CachedMultipleNegativesRankingLoss", "scale": 20.0}),
        ({**by_name, "scale": 20.0}, {**by_name, "temperature": 0.05}),
        # Its loss is a mean over triplets, and at collapse its margin, whatever the batch.
        ({"loss": "TripletLoss"}, {"loss": "TripletLoss", "batch": 64}),
    ):
        assert message(*pair).name == "comparable", pair
    # sentence-transformers divides the same terms by ln 2.
    assert message({"loss": "pairwise_logistic"}, {"loss": "RankNetLoss"}).name == "other_loss"
    # Its ends depend on labels, which no log has, and on the batch, which both have.
    batches = message({"loss": "CoSENTLoss"}, {"loss": "CoSENTLoss", "batch": 64})
    assert batches.name == "other_batch"
    scaled = message({"loss": "CoSENTLoss"}, {"loss": "CoSENTLoss", "scale": 10.0})
    assert scaled.name == "other_scale"
    for one in (batches, scaled):  # and so does how far each went
        assert not {"–", "%"} & {*one.written()}


def test_ends_that_batches_scatter_are_no_other_ends():
    """Of a loss on labels every batch has another value at collapse, by its labels."""
    draw = np.random.default_rng(0)

    def run(middle, **known):
        values = {"prism_collapse": middle + 0.05 * draw.normal(size=80), "prism_floor": [0.0] * 80}
        return examine_run(log(FALLING, known=Known("CoSENTLoss", batch=8, **known), **values))

    (same,) = compare_runs(run(6.93), run(6.93))
    assert same.name == "comparable"
    (other,) = compare_runs(run(6.93), run(6.0))
    assert other.name == "other_batch"
    assert pattern_of("doctor.run.ways", one_share="92%").fullmatch(other.written())


def test_curves_are_chosen():
    others = {"eval_loss": FALLING, "other": [1.0, 2.0]}
    found = examine_run(log(FALLING, **others), curve="other")
    assert (found.curve, found.held_out) == ("other", "eval_loss")
    refused = [
        (log(FALLING), None, "nothing", "run_no_curve", {"name": "nothing"}),
        (log([1.0], name="lr"), None, "", "run_no_loss", {"known": "lr"}),
        (log(FALLING), Known(batch=0), "", "explain_count", {"name": "batch", "value": "0"}),
    ]
    for made, known, curve, key, values in refused:
        with pytest.raises(Problem) as problem:
            examine_run(made, known, curve=curve)
        assert problem.value.key == f"problem.{key}"
        assert values.items() <= problem.value.values.items()
