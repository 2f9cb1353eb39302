"""What a number means: the questions people asked, laws over all losses, and the scenarios."""

from __future__ import annotations

import contextlib
import math
import os
import random
import re

import numpy as np
import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import axes_of, family_of
from lossprism.explorer.lab.doctor.count_from_value import counts_with, nearest_count, points
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.number_matching import LossMatch
from lossprism.explorer.lab.doctor.number_report import lines, number_answer, position_sentence
from lossprism.explorer.lab.doctor.number_with_rounding_tolerance import read_value, tolerance_of
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, FLOOR, START, reference_value
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from tests.sentences import pattern_of, raises_problem

FIRST = 3


def explained(written, **known):
    return explain(read_value(written), Known(**known), written)


def found(answer, loss, kind, counts=None, convention=None, most=FIRST):
    """The first fitting of this loss, and of this kind, in the first findings."""
    for finding in answer.findings[:most]:
        for fit in finding.matches:
            named = fit.loss == loss and convention in (None, fit.convention)
            counted = counts is None or dict(fit.counts) == counts
            if named and counted and kind in (fit.kind, *finding.kinds):
                return fit
    return None


# What was asked, and what it is: a row of the table of questions may take several.
ROWS = [
    (".6931", {}, "binary_cross_entropy", START, {}),
    (".6931", {}, "pairwise_logistic", COLLAPSE, {}),
    (".6931", {}, "info_nce", COLLAPSE, {"batch": 2}),
    (".6931", {}, "triplet", COLLAPSE, {}),
    ("1.0986", {}, "softmax", COLLAPSE, {"classes": 3, "sentences": 6}),
    ("1.0986", {}, "info_nce", COLLAPSE, {"negatives_per_query": 2}),
    ("1.3863", {"negatives": 3}, "info_nce", COLLAPSE, {"negatives_per_query": 3}),
    (".341", {"negatives": 3, "temperature": 1}, "info_nce", FLOOR, {"negatives_per_query": 3}),
    (".341", {"loss": "InfoNCE", "negatives": 3, "temperature": 1}, "info_nce", FLOOR,
     {"negatives_per_query": 3}),
    *((f"{math.log(count):.3f}", {}, "info_nce", COLLAPSE, {"batch": count})
      for count in (8, 32, 64, 256, 1024)),
    ("6.92", {}, "nt_xent", COLLAPSE, {"batch": 512}),
    ("6.92", {"loss": "NT-Xent"}, "nt_xent", COLLAPSE, {"batch": 512}),
    ("5.545", {"loss": "siglip"}, "siglip", COLLAPSE, {"batch": 8}),
    ("10.0004", {"loss": "siglip", "batch": 8}, "siglip", START, {"batch": 8}),
    (".0025", {"loss": "SigLipLoss"}, "siglip", START, {"batch": 4096}),
    *((written, {"loss": "MultipleNegativesRankingLoss", "score": "logit"}, "softmax_rank", kind,
       {"candidates": 5}) for written, kind in (("1.6094", COLLAPSE), (".000181583", FLOOR))),
    ("1.3863", {"loss": "LCE"}, "softmax_rank", COLLAPSE, {"candidates": 4}),
    (".6931", {"loss": "BCE", "batch": 16}, "binary_cross_entropy", COLLAPSE,
     {"batch": 16, "positives": 8, "negatives": 8}),
    ("3.17", {"loss": "MultipleNegativesRankingLoss", "scale": 1, "batch": 64}, "info_nce", FLOOR,
     {"batch": 64}),
    *((written, {}, "triplet", COLLAPSE, {}) for written in ("5", "1", ".5", ".2", ".05")),
    ("3.3", {"loss": "CoSENTLoss"}, "cosent", COLLAPSE, {"ordered": 26}),
    ("3.3", {"loss": "AnglE"}, "angle", COLLAPSE, {"ordered": 26}),
    ("0", {}, "cosent", "nothing", {}),
    ("0", {}, "supcon", "nothing", {}),
    ("0", {}, "info_nce", "nothing", {}),
    ("0", {}, "triplet", FLOOR, {}),
    ("0", {}, "online_contrastive", COLLAPSE, {}),
]  # fmt: skip


@pytest.mark.parametrize(("written", "known", "loss", "kind", "counts"), ROWS)
def test_questions_of_people_are_answered(written, known, loss, kind, counts):
    answer = explained(written, **known)
    fit = found(answer, loss, kind, counts, most=8 if written == "0" else FIRST)
    assert fit is not None, "\n".join(lines(answer))
    assert abs(fit.value - answer.value) <= max(answer.tolerance, 0.002 * abs(answer.value))


@pytest.mark.parametrize(
    ("written", "convention"),
    [("5", "sentence-transformers 6.2 TripletLoss"), ("1", "torch 2.13 (ε in the distance)"),
     (".05", "pytorch-metric-learning 2.9 TripletMarginLoss")],
)  # fmt: skip
def test_a_margin_names_the_library_that_has_it(written, convention):
    fit = found(explained(written), "triplet", COLLAPSE, {}, convention, most=1)
    assert fit is not None
    assert fit.parameters == ()


def test_a_start_has_no_sentence_on_margins():
    """0.25 is what ContrastiveLoss starts at with its own margin, which is another number."""
    first = next(lines(explained("0.25", loss="ContrastiveLoss")))
    assert pattern_of("doctor.start", value="0.25").match(first)
    for default in ("doctor.default_of", "doctor.default_of_none"):
        assert not pattern_of(default).search(first)


@pytest.mark.parametrize("loss", ["MNRL", "MultipleNegativesRankingLoss"])
def test_a_batch_of_one_has_not_collapsed(loss):
    """Its loss is 0 because there is nothing to compare, and at collapse as well."""
    found = explained("0", loss=loss, batch=1)
    assert found.position is None
    assert pattern_of("doctor.nothing.one_pair").fullmatch(next(lines(found)))
    assert not any("collapse" in one.kinds for one in found.findings)


def test_a_name_that_a_class_of_a_library_only_lengthens_is_the_loss():
    """RankNet is 0.693 at a tie, RankNetLoss of sentence-transformers counts bits: 1."""
    assert explained("0.693", loss="RankNet").findings[0].kinds[0] == "collapse"
    assert not explained("0.693", loss="RankNetLoss").findings
    assert explained("1", loss="RankNetLoss").findings[0].kinds[0] == "collapse"


@pytest.mark.parametrize(
    ("written", "library"),
    [
        ("5", "sentence-transformers 6.2 TripletLoss (given triplets)"),
        ("1", "torch 2.13 TripletMarginLoss (given triplets)"),
        (".5", ""),
        (".2", ""),
        (".05", "pytorch-metric-learning 2.9 TripletMarginLoss"),
    ],
)
def test_what_is_printed_of_a_margin_is_whose_default_it_is(written, library):
    first = next(lines(explained(written)))
    assert "Triplet" in first or written == ".5"
    key, value = "doctor.default_of" if library else "doctor.default_of_none", f"{float(written):g}"
    for message in (first, number_answer(explained(written)).findings[0].said):
        default = pattern_of(key, value=value).search(message)
        assert default
        assert not library or default["losses"].split("; ")[0] == library


def test_what_is_printed_first_of_ln_2_is_what_people_train_with():
    first, second, *_ = lines(explained(".6931"))
    cross_entropy, ranknet, info_nce = (
        say("en", f"loss.{name}.title")
        for name in ("binary_cross_entropy", "pairwise_logistic", "info_nce")
    )
    assert pattern_of("doctor.start", loss=cross_entropy, value="0.693147").match(first)
    # Whose each is, and its counts, stand beside it.
    others = pattern_of("doctor.also").fullmatch(second.strip())["losses"].split("; ")
    assert others[0].startswith(f"{ranknet} (rax 0.4.0")
    assert second.index(ranknet) < second.index("BatchHardSoftMargin")
    counts = say("en", "doctor.count.batch_of_positives", count=2)
    assert info_nce + say("en", "doctor.where", what=counts) in others
    assert "Triplet (margin 0.5); " in "".join(lines(explained(".5")))


def test_a_positive_that_stands_three_times_among_its_candidates():
    assert explained("1.0986").findings[0].copies == 3
    assert pattern_of("doctor.copies", count=3).search("\n".join(lines(explained("1.0986"))))


@pytest.mark.parametrize("written", ["5", "1e-9", "0", "0.0067", "5.00672", "1.5"])
@pytest.mark.parametrize("loss", ["", "info_nce", "gist"])
def test_no_other_number_is_the_least_of_copies(written, loss):
    """Not what a loss is at collapse that weighs its candidates, or whose guide masks them."""
    answer = explained(written, loss=loss)
    shown = (*answer.findings, *answer.nearest)
    assert answer.duplicates is None
    for finding in shown:
        if finding.copies:
            assert finding.value == pytest.approx(math.log(finding.copies))
    text = " ".join(lines(answer))
    assert not pattern_of("doctor.copied").search(text)
    assert not pattern_of("doctor.copies").search(text) or written == "1.5"


@pytest.mark.parametrize(("written", "count"), [("0.6931", 2), ("1.0986", 3), ("1.386", 4)])
@pytest.mark.parametrize("known", [{"loss": "ms-swift"}, {"loss": "gist", "batch": 64}])
def test_duplicates_are_reported_for_a_named_loss(written, count, known):
    """At a batch whose own reference values differ."""
    answer = explained(written, **known)
    if any(finding.copies for finding in answer.findings):
        assert answer.duplicates is None
        assert pattern_of("doctor.copies", count=count).search("\n".join(lines(answer)))
    else:
        assert answer.duplicates[1] == count
        sign = number_answer(answer).signs[0]
        assert pattern_of("doctor.copied", value=written, count=count).fullmatch(sign)
    assert explained("1.2", **known).duplicates is None
    assert explained(written, loss="siglip").duplicates is None


@pytest.mark.parametrize(
    ("written", "known", "key", "values"),
    [
        ("-0.94", {}, "simsiam.between", {"cosine": "0.94"}),
        ("-0.94", {"loss": "SimSiam"}, "simsiam.between", {"cosine": "0.94"}),
        ("-1", {}, "simsiam.floor", {}),
        ("1.3", {"loss": "simsiam"}, "simsiam.beyond", {"value": "1.3"}),
        (".6931", {}, "dpo.start", {"value": "0.6931"}),
        (".6931", {"loss": "DPOLoss"}, "dpo.start", {"value": "0.6931"}),
        ("0.9", {"loss": "DPO"}, "dpo.above", {"value": "0.9", "start": "0.693147"}),
        ("0.5", {"loss": "DPO"}, "dpo.below", {"value": "0.5", "start": "0.693147"}),
        ("1.0986", {}, "classifier.start", {"value": "1.0986", "classes": 3}),
        ("1.0986", {"loss": "SoftmaxLoss"}, "classifier.start", {"classes": 3}),
        ("2.3026", {"loss": "losses.SoftmaxLoss"}, "classifier.start", {"classes": 10}),
        ("2", {"loss": "SoftmaxLoss", "classes": 3}, "classifier.above",
         {"value": "2", "start": "1.09861", "classes": 3}),
    ],
)  # fmt: skip
def test_losses_without_a_definition_here_are_known(written, known, key, values):
    answer = explained(written, **known)
    listed = list(lines(answer))
    pattern = pattern_of(f"doctor.relative.{key}", **values)
    assert len([*filter(pattern.fullmatch, listed)]) == 1
    assert (len(listed) == 1) == bool(known)
    assert any(map(pattern.fullmatch, number_answer(answer).signs))
    chinese = pattern_of(f"doctor.relative.{key}", "zh", **values)
    assert any(map(chinese.fullmatch, number_answer(answer, "zh").signs))


def test_the_classifier_is_no_loss_on_lists():
    assert explained("1.0986", loss="softmax_loss").findings[0].likeliest.loss == "softmax_rank"
    assert explained("1.0986", loss="SoftmaxLoss").findings == ()
    with raises_problem("loss_not_here", name="SoftmaxLoss"):
        possible_losses(Known(loss="SoftmaxLoss"))


def test_what_is_nothing_but_rounding_is_printed_as_0():
    text = "\n".join(lines(explained("1e-9")))
    title = say("en", "loss.proxy_anchor.title")
    assert pattern_of("doctor.collapse", loss=title, value="0").search(text)
    assert "e−1" not in text
    between = next(lines(explained("1", loss="info_nce", batch=8, temperature=0.01)))
    assert pattern_of("doctor.standing.between", value="1", floor="0").search(between)


def test_a_short_row_of_counts_is_looked_at_whole():
    """Of a classifier beside CoSENT the value rises with the positives, and falls again."""
    (side,) = possible_losses(Known(loss="multitask_cosent"))
    value = reference_value(side, COLLAPSE, Layout(3, 6))
    answer = explain(value, Known(batch=9))
    fit = found(answer, "multitask_cosent", COLLAPSE)
    assert dict(fit.counts) == {"batch": 9, "positives": 3, "negatives": 6}


def test_below_zero():
    free = explained("-0.8")
    assert {"decoupled", "approx_ndcg"} <= set(free.below_zero)
    fault = explained("-0.8", loss="info_nce", batch=8)
    assert fault.position.place == "negative"
    assert "info_nce" not in fault.below_zero
    title = say("en", "loss.info_nce.title")
    assert pattern_of("doctor.below_zero_fault", loss=title).search("\n".join(lines(fault)))


def test_below_zero_by_labels_outside():
    """A logistic loss falls below 0 where a label is no probability, in whatever convention."""
    text = "\n".join(lines(explained("-0.8", loss="BCE")))
    outside = {"loss": say("en", "loss.binary_cross_entropy.title"), "low": 0, "high": 1}
    assert pattern_of("doctor.below_zero_labels", **outside).search(text)
    assert not pattern_of("doctor.below_zero_fault").search(text)
    cosent = "\n".join(lines(explained("-0.8", loss="cosent")))
    assert not pattern_of("doctor.below_zero_labels").search(cosent)


@pytest.mark.parametrize(
    ("written", "loss", "place"),
    [("3.0000", "info_nce", "above"), ("2.0794", "info_nce", "collapse"),
     ("1", "info_nce", "between"),
     ("0", "decoupled", "between"), ("-20", "decoupled", "below")],
)  # fmt: skip
def test_where_a_number_stands(written, loss, place):
    assert explained(written, loss=loss, batch=8).position.place == place


@pytest.mark.parametrize(("written", "negatives"), [("3.8712", 1), ("4.2767", 2)])
def test_a_value_explained_by_unknown_negatives_is_not_above_collapse(written, negatives):
    answer = explained(written, loss="MNRL", batch=24)
    counts = {"batch": 24, "negatives_per_query": negatives}
    assert found(answer, "info_nce", COLLAPSE, counts) is not None
    assert answer.position is None
    assert "above" not in " ".join(lines(answer))
    # Told that there are none, it is.
    assert explained(written, loss="MultipleNegativesRankingLoss", batch=24, negatives=0).position


def test_above_collapse_no_sentence_judges_the_embeddings():
    """An encoder of Spearman 0.9 has such a value, where λ is 20 (`tests/judgements/logs.py`)."""
    for loss, scaled in (("cosent", True), ("info_nce", True), ("pairwise_hinge", False)):
        counts = {"negatives": 0} if loss == "info_nce" else {}
        answer = explained("9.4", loss=loss, batch=64, **counts)
        message = position_sentence(answer.position, 9.4)
        assert answer.position.place in ("above", "starting")
        assert {"Spearman", "Explore"} <= {*re.findall(r"\w+", message)}
        assert ("with another" in message) == (scaled and answer.position.place == "above")
        assert not any(one in message for one in ("worse", "wrong labels", "sign", "too steep"))


def assumed(message):
    """Assumptions about unknown labels in a sentence on the position of a number."""
    ends = ("", "_of")
    return {
        name
        for name in ("classes", "halves", "one_right", "positives")
        if any(pattern_of(f"doctor.if.{name}{end}").fullmatch(message) for end in ends)
    }


@pytest.mark.parametrize("loss", ["cosent", "cosine_mse", "contrastive", "pairwise_logistic"])
def test_the_position_of_a_loss_on_labels_is_reported_for_unknown_labels(loss):
    """Real labels are graded: batches of 64 of them collapse at another value."""
    answer = explained("0.4", loss=loss, batch=64)
    assert dict(answer.position.counts)["positives"] == 32
    graded = np.linspace(0, 1, 64) ** 3
    message = next(lines(answer))
    assert pattern_of("doctor.if.halves_of", most=63).fullmatch(message)
    rows = torch.from_numpy(graded)
    spec = LOSSES[loss]
    of_graded = spec.collapse(dict.fromkeys(spec.reads, rows), **spec.defaults)
    assert of_graded != pytest.approx(answer.position.collapse, rel=0.05)
    for other in ("info_nce", "siglip", "triplet"):
        assert "halves" not in assumed(next(lines(explained("0.4", loss=other, batch=64))))


@pytest.mark.parametrize("loss", ["siglip", "info_nce", "nt_xent"])
def test_a_loss_on_positive_pairs_reports_that_it_takes_all_as_positive(loss):
    """Of scored pairs only the positive ones count, whose number is unknown."""
    answer = explained("3", loss=loss, batch=64)
    message = next(lines(answer))
    assert assumed(message) == {"positives"}
    assert say("en", "doctor.count.batch_of_positives", count=64) in message
    (side, *_) = possible_losses(Known(loss=loss))
    for positives in (1, 2, 9, 34, 64):
        value = reference_value(side, COLLAPSE, Layout(positives))
        other = answer.position.collapses
        assert other.low <= value <= other.high
        if 1 < positives < 64:
            fit = found(explain(value, Known(loss, batch=64)), loss, COLLAPSE)
            assert dict(fit.counts) == {"batch": 64, "positives": positives}


def labels_of(positives: int, batch: int) -> torch.Tensor:
    return (torch.arange(batch) < positives).double()


@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent", "cosine_mse", "contrastive"])
@pytest.mark.parametrize("batch", [16, 33, 100])
def test_with_other_labels_it_collapses_between_the_reported_ends(loss, batch):
    """Held to the loss itself under every count of labels of 1, and under labels in even steps."""
    standing = explained("0.4", loss=loss, batch=batch).position
    spec, other = LOSSES[loss], standing.collapses

    def at_collapse(labels):
        return spec.collapse(dict.fromkeys(spec.reads, labels), **spec.defaults)

    every = [at_collapse(labels_of(one, batch)) for one in range(1, batch)]
    assert other.most == batch - 1
    assert (other.low, other.high) == pytest.approx((min(every), max(every)))
    assert other.low <= standing.collapse <= other.high
    graded = torch.linspace(0, 1, batch).double()
    if "binary_labels" in spec.reads.values():
        graded = (graded >= 0.5).double()
    assert other.graded == pytest.approx(at_collapse(graded))


def test_other_labels_that_change_nothing_are_no_range():
    """SupCon's own value at collapse knows the number of sentences alone; its floor does not."""
    message = next(lines(explained("3.3", loss="supcon", batch=16)))
    assert pattern_of("doctor.if.classes_of", most=16, range="3.43399").fullmatch(message)
    for known in ({"loss": "siglip", "batch": 1}, {"loss": "info_nce", "batch": 1}):
        assert explained("49.5", **known).position.assumed == ""
    for known in ({"loss": "contrastive", "batch": 2}, {"loss": "softmax_rank", "negatives": 1}):
        standing = explained("49.5", **known).position
        assert (bool(standing.assumed), standing.collapses) == (True, None)


def test_pairs_that_are_negatives_alone_leave_the_collapse_between_its_ends():
    standing = explained("0.8", loss="info_nce", batch=16).position
    (side, *_) = possible_losses(Known(loss="info_nce"))
    for positives in range(1, 17):
        for others in (0, 16 - positives):
            value = reference_value(side, COLLAPSE, Layout(positives, others))
            assert standing.collapses.low <= value <= standing.collapses.high


@pytest.mark.parametrize("known", [{"negatives": 3}, {"loss": "MultipleNegativesRankingLoss"}])
def test_where_all_pairs_are_positive_no_condition_is_made_of_it(known):
    answer = explained("3", **{"loss": "info_nce", "batch": 64, **known})
    assert answer.position.assumed == ""
    assert assumed(next(lines(answer))) == set()


@pytest.mark.parametrize(
    ("value", "loss", "known", "assumes"),
    [
        ("3.3", "multi_similarity", {"batch": 8}, {"classes"}),
        ("3.3", "softmax_rank", {"negatives": 7}, {"one_right"}),
        ("3.3", "contrastive", {"batch": 8}, {"halves"}),
        # Whose value at collapse depends on no label.
        ("0.31", "online_contrastive", {"batch": 8}, set()),
        ("0.31", "pairwise_hinge", {"batch": 8}, set()),
    ],
)
def test_effects_of_labels_are_reported_for_unknown_labels(value, loss, known, assumes):
    assert assumed(next(lines(explained(value, loss=loss, **known)))) == assumes


def test_nothing_fits_and_the_nearest():
    answer = explained("4.2137")
    assert answer.findings == ()
    near = [fit for one in answer.nearest for fit in one.matches if fit.loss == "info_nce"]
    assert dict(near[0].counts) == {"batch": 68}
    assert pattern_of("doctor.none", value="4.2137").fullmatch(next(lines(answer)))
    between = explained("2", loss="MultipleNegativesRankingLoss", batch=64)
    assert between.findings == ()
    assert between.position.share == pytest.approx(0.519, abs=1e-3)


def drawn(name, kind):
    """Conventions of a loss at counts drawn at random: what is known, and the value."""
    draw = random.Random(name)
    sides = possible_losses(Known(loss=name))
    draw.shuffle(sides)
    for place in range(DRAWS):
        side, known = sides[place % len(sides)], Known(loss=name)
        axis = next(axes_of(side, known))
        count = 1
        if axis.counted:  # of all that are looked among, small ones as often as large ones
            least, most = math.log(max(axis.least, 2)), math.log(axis.most)
            count = round(math.exp(draw.uniform(least, most)))
        layout = axis.layout_of(count)
        if family_of(side) == "pairs":
            # One batch for all losses: what all of them are in it is worked out once.
            of_all = random.Random(place)
            layout = Layout(of_all.randint(1, 60), of_all.randint(1, 60))
            known = Known(loss=name, batch=layout.pairs)
        value = reference_value(side, kind, layout)
        if value is not None and abs(value) > 1e-6:
            yield side, known, layout, value


# Of each loss; LOSSPRISM_DRAWS=200 asks of each about its conventions in turn, for minutes.
DRAWS = int(os.environ.get("LOSSPRISM_DRAWS", "2"))
# Whose value says nothing of counts: a teacher's, and two that are 0 where nothing is known.
TEACHERS, AT_ZERO = {"margin_mse", "embedding_mse"}, {"max_violation", "online_contrastive"}


def test_a_minimum_left_by_a_margin_is_reported_as_that():
    answer = explained("3", loss="triplet")
    beyond = {"margin": "5", "reach": "2", "value": "3"}
    assert pattern_of("doctor.margin_beyond", **beyond).search("\n".join(lines(answer)))
    other = "\n".join(lines(explained("0", loss="contrastive")))
    assert not pattern_of("doctor.margin_beyond").search(other)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in LOSSES if name not in TEACHERS | AT_ZERO])
def test_a_loss_and_its_counts_are_found_from_its_value(name):
    """Nobody says which loss it is, and it is among the first three answers that are the number to
    its digits."""
    draws = [(COLLAPSE, *one) for one in drawn(name, COLLAPSE)]
    draws = draws or [(START, *one) for one in drawn(name, START)]
    assert draws
    for kind, side, known, layout, value in draws:
        written = f"{value:.7e}"  # of 2.1 it is not known which digits follow
        answer = explain(value, Known(batch=known.batch), written)
        # The counts themselves, others that are the same to this loss, or that none changes it.
        mirrored = Layout(layout.negatives, layout.positives)
        level = reference_value(side, kind, Layout(7, 3)) == pytest.approx(value, rel=1e-6)
        meant = [
            fit
            for finding in [one for one in answer.findings if one.exact][:FIRST]
            for fit in finding.matches
            if (fit.loss, fit.convention) == (name, side.convention)
            and (fit.layout in (layout, mirrored) or level)
        ]
        assert meant, (side, layout, value)
        assert meant[0].value == pytest.approx(value, rel=1e-7)
        assert found(explain(value, known), name, kind, convention=side.convention) is not None


@pytest.mark.parametrize("name", sorted(AT_ZERO))
def test_a_loss_that_is_zero_at_collapse(name):
    assert not list(drawn(name, COLLAPSE)) + list(drawn(name, START))
    assert found(explained("0", loss=name), name, COLLAPSE) is not None


def test_a_loss_on_a_teacher_is_recognised_by_the_scale_of_both():
    """Its value is the mean square of what two differences are apart."""
    sentences = list(lines(explained("200", loss="MarginMSE")))
    assert len(sentences) == 1
    assert pattern_of("doctor.none.taught", losses=say("en", "loss.margin_mse.title")).match(
        sentences[0]
    )
    assert pattern_of("doctor.none.margin", value="200", root="14.14").search(sentences[0])
    assert explained("200", loss="MarginMSE").findings == ()


@pytest.mark.parametrize("count", [37, 300])
def test_unnamed_the_loss_is_among_the_first_three(count):
    values = {
        "info_nce": math.log(count),
        "nt_xent": math.log(2 * count - 1),
        "siglip": count * math.log(2),
        "n_pair": math.log(count),
    }
    for name, value in values.items():
        fit = found(explain(value), name, COLLAPSE, convention="")
        assert fit is not None
        assert dict(fit.counts)["batch"] == count


def test_scores_of_a_teacher_cannot_be_exported():
    answer = explained("0.7", loss="margin_mse")
    assert answer.findings == answer.nearest == ()
    assert answer.position is None


def fittings(loss, score):
    """One fitting of each kind of each convention of a loss on a few pairs, with its spec."""
    for side in possible_losses(Known(loss=loss, score=score)):
        sizes = {"pairs": Layout(2, 3), "lists": Layout(1, 3, one_query=True)}
        alone = dict(side.parameters).get("in_batch") is False
        layout = sizes.get(family_of(side), Layout(1, 3) if alone else Layout(4))
        for kind in (COLLAPSE, START, FLOOR):
            value = reference_value(side, kind, layout)
            if value is not None:
                settings = (side.name, side.convention, side.changed_parameters, ())
                found = (kind, value, None, 0.0, layout)
                yield side.spec, LossMatch(*settings, *found, score=side.score)


@pytest.mark.parametrize("score", ["", "cosine", "dot", "logit"])
def test_the_scenario_shows_the_number(score):
    """What is read off counts alone is what the whole page computes of the rows; where no scenario
    shows it, the reason holds."""
    wrong, made, hidden = [], 0, set()
    for loss in LOSSES:
        for spec, fit in fittings(loss, score):
            if fit.no_scenario_reason:
                hidden.add(fit.no_scenario_reason)
                holds = {"unbounded": spec.score not in ("cosine", "probability")}
                holds["learned"] = bool(spec.learned)
                assert fit.kind == FLOOR
                assert holds[fit.no_scenario_reason]
                continue
            shown = explore(fit.scenario())
            number = shown.loss if fit.shows == "loss" else shown.floor
            if number != pytest.approx(fit.value, rel=2e-4, abs=2e-5):
                wrong.append((loss, fit.convention, fit.kind, fit.value, number))
            made += 1
    assert wrong == []
    assert made > 150
    assert hidden == {"learned", *(() if score == "cosine" else ("unbounded",))}


@pytest.mark.thorough
@pytest.mark.parametrize("count", [257, 300, 400, 512, 3001])
def test_losses_on_matrices_are_recognised_at_every_count(count):
    """Whose reference values take a cell for every two of the batch."""
    for loss, value in (("soft_info_nce", math.log(count)), ("gist", math.log(3 * count - 2))):
        fit = found(explained(f"{value:.6g}", loss=loss), loss, COLLAPSE, most=1)
        assert dict(fit.counts) == {"batch": count}
        assert explained(f"{value:.6g}", loss=loss, batch=count).position.place == "collapse"


@pytest.mark.parametrize("loss", ["gist", "soft_info_nce"])
def test_of_a_batch_too_large_the_size_is_the_reason(loss):
    (message,) = lines(explained("8.0294", loss=loss, batch=9000))
    title = say("en", f"loss.{loss}.title")
    assert pattern_of("doctor.none.large", losses=title).fullmatch(message)


def test_a_batch_too_large_for_the_page_has_no_scenario():
    fit = explained("6.931", loss="info_nce").findings[0].likeliest
    assert dict(fit.counts) == {"batch": 1024}
    assert (fit.no_scenario_reason, fit.scenario()) == ("large", None)


@pytest.mark.parametrize(
    ("value", "known", "key", "values"),
    [
        (math.nan, {}, "explain_value", {"value": "nan"}),
        (1.0, {"loss": "nowhere"}, "unknown_loss", {"name": "nowhere"}),
        (1.0, {"batch": 0}, "explain_count", {"name": "batch", "value": 0, "least": 1}),
        (1.0, {"negatives": True}, "explain_count", {"name": "negatives", "value": True}),
        (1.0, {"temperature": 0}, "explain_setting", {"name": "temperature", "value": 0}),
        (1.0, {"temperature": 1, "scale": 1}, "explain_both", {"temperature": 1, "scale": 1}),
    ],
)
def test_what_cannot_be_is_refused(value, known, key, values):
    with pytest.raises(Problem) as refused:
        explain(value, Known(**known))
    assert pattern_of(f"problem.{key}", **values).fullmatch(str(refused.value))


def test_tolerance_follows_the_digits():
    assert tolerance_of(5.545, "5.545") == pytest.approx(0.0005)
    assert tolerance_of(5.5, "5.5") == pytest.approx(0.05)
    assert tolerance_of(0.7, ".7") == pytest.approx(0.007)
    assert tolerance_of(1e-4, "1.0e-4") == pytest.approx(1e-6)
    assert tolerance_of(0.0, "0.0") < 1e-5 < tolerance_of(0.0, "0.00")


def test_counts_are_found_without_looking_at_each():
    looked = []

    def value_at(count):
        looked.append(count)
        return math.log(count)

    known = points(value_at, 2**16)
    fits = {fit.count for fit in counts_with(value_at, known, math.log(1000), 1e-6)}
    assert fits == {1000}
    assert len(looked) < 20
    assert nearest_count(value_at, known, 0.55).count == 2


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("power", [-2, -0.5, 0.2, 1, 3])
def test_however_a_value_rises_or_falls_its_count_is_found(power, sign):
    """Each count by itself, and the roundest of those that look the same."""

    def value_at(count):
        return sign * count**power

    known = points(value_at, 5000, 3)
    for count in (3, 4, 17, 500, 1023, 1024, 4999, 5000):
        value = value_at(count)
        gap = value_at(count + 1) - value
        found = counts_with(value_at, known, value, 0.4 * abs(gap))
        assert {fit.count for fit in found} == {count}
        assert nearest_count(value_at, known, value + 0.4 * gap).count == count
    gap = abs(value_at(500) - value_at(530))
    assert 512 in [fit.count for fit in counts_with(value_at, known, value_at(500), gap)]


def test_answers_are_json_in_both_languages():
    answer = explained("5.545", loss="siglip")
    for language in LANGUAGES:
        answered = plain(number_answer(answer, language))
        title = say(language, "loss.siglip.title")
        collapse = pattern_of("doctor.collapse", language, loss=title, value="5.54518")
        assert collapse.match(answered["findings"][0]["said"])
        assert answered["findings"][0]["losses"][0]["scene"].startswith("1.")


@pytest.mark.parametrize(
    "known", [{"temperature": 1e-300}, {"scale": 1e300}, {"scale": 1e-300}, {"margin": 1e300}]
)
def test_settings_beyond_all_measure_are_computed_with_or_refused(known):
    """The squares of some leave the range of numbers."""
    with contextlib.suppress(Problem):
        assert explain(5.545, Known(**known)).findings is not None
