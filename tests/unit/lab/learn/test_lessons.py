"""The lessons: their numbers, what they say in both languages, and what they measure by."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.pair_gradients import gradient_share
from lossprism.explorer.lab.compare.batch_change_effects import Change, changed_batch
from lossprism.explorer.lab.learn import lesson_matrices, lesson_measurements, loss_term_measures
from lossprism.explorer.lab.learn.lesson_types import (
    Chart,
    Lesson,
    Matrix,
    explored,
    write,
)
from lossprism.explorer.lab.learn.lessons import BY_NAME, LESSONS, moments
from lossprism.explorer.locale import LANGUAGES, catalogue, say

MOST_WORDS = 90  # of a step, in English; as many characters as words of English in Chinese
MOST_CHARACTERS = 200
MOST_WORDS_OF_ALL = 150  # on the page of all lessons


@pytest.mark.parametrize(
    ("lesson", "message"),
    [
        ("collapse", ("2.079", "5.545", "8")),
        ("temperature", ("1.526", "22.64", "2.694", "2.36")),
        ("duplicate", ("0.0285", "0.182", "×6.4", "81%", "0.154")),
        ("accumulation", ("56",)),
        ("spotlight", ("87%", "25%", "269", "49%")),
        ("order", ("19.12", "0.0816", "0.128")),
        ("libraries", ("×269", "24")),
        ("filter", ("2.36", "0.252", "5")),
        ("coverage", ("24", "496", "192", "5%")),
        ("margin", ("3", "12")),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conclusion_says_its_numbers_in_both_languages(
    language: str, lesson: str, message: tuple[str, ...]
) -> None:
    sentence = conclusion(language, BY_NAME[lesson])
    assert not re.search(r"[{}]", sentence)
    numbers = re.findall(r"×?[\d.]*\d%?", sentence)
    assert set(message) <= set(numbers)


def conclusion(language: str, lesson: Lesson) -> str:
    step, found = lesson.steps[0], moments(lesson.name, 0)
    start, goal = found[0].numbers, found[step.lever.goal].numbers
    values = {f"{name}_at_start": step.written(name, one) for name, one in start.items()}
    values |= {name: step.written(name, one) for name, one in goal.items()}
    return say(language, f"learn.{lesson.name}.1.conclusion", **values)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_lesson_is_whole(lesson: Lesson) -> None:
    for place, step in enumerate(lesson.steps):
        found, lever, requested = moments(lesson.name, place), step.lever, step.prediction
        start, goal = found[0].numbers, found[lever.goal].numbers
        assert lever.goal > 0
        assert {*step.figures, *step.formats, requested.of} <= set(goal)
        # The lever moves something that is seen.
        assert any(
            step.written(name, start[name]) != step.written(name, goal[name])
            for name in step.figures
        )
        if requested.answers:
            written = [step.written(requested.of, one) for one in requested.answers]
            assert len(set(written)) == len(written) == 3
            right = requested.answered_by(goal[requested.of])
            gaps = [abs(one - goal[requested.of]) for one in requested.answers]
            assert sorted(gaps)[0] * 2 < sorted(gaps)[1], "two answers are about as near"
            assert right in requested.answers
        else:
            assert requested.low <= goal[requested.of] <= requested.high
            assert 0 < requested.near < (requested.high - requested.low) / 4


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_lesson_is_short(lesson: Lesson) -> None:
    def message(language: str) -> str:
        words = catalogue(language)
        whats = ("question", "lever")
        parts = [words[f"learn.{lesson.name}.title"], conclusion(language, lesson)]
        parts += [words[f"learn.{lesson.name}.1.{what}"] for what in whats]
        return " ".join(parts)

    assert len(message("en").split()) <= MOST_WORDS
    assert len(re.findall(r"[一-鿿]", message("zh"))) <= MOST_CHARACTERS


def test_the_page_of_all_lessons_is_short() -> None:
    words = catalogue("en")
    parts = [words["learn.heading"], words["learn.about"]]
    parts += [f"{words[f'learn.{one.name}.title']} {one.minutes} min" for one in LESSONS]
    assert len(" ".join(parts).split()) <= MOST_WORDS_OF_ALL
    assert len(LESSONS) == 10
    assert len(BY_NAME) == 10


def test_nothing_of_a_prediction_is_drawn_before_the_lever_moves() -> None:
    """The curves of the collapse and the bars of the libraries end where the lever stands."""
    for name in ("collapse", "libraries"):
        for place, moment in enumerate(moments(name, 0)):
            chart = moment.pictures[-1]
            assert isinstance(chart, Chart)
            drawn = [one for one in chart.curves if one.kind != "points"]
            furthest = max(x for one in drawn for x in one.x)
            assert furthest == BY_NAME[name].steps[0].lever.stops[place]


# ---- Measures ----------------------------------------------------------------------------------


def test_all_negatives_count_where_none_weighs_more() -> None:
    scenario = explored("hard_negatives", "info_nce", temperature=2.0)
    batch = make_batch(scenario.data, scenario.rules)
    same = torch.ones_like(batch.needed_vectors)
    alike = dataclasses.replace(batch, vectors=same)
    found = loss_term_measures.effective_negatives(explore(scenario, alike))
    assert found == pytest.approx(23)


def test_effective_negatives_are_the_softmax_over_the_negatives_alone() -> None:
    tau = 0.1
    e = explore(explored("hard_negatives", "info_nce", temperature=tau))
    cosines = e.trace.named("similarities").value.double()
    counts = []
    for query, row in enumerate(cosines.tolist()):
        others = [one / tau for place, one in enumerate(row) if place != query]
        total = sum(map(math.exp, others))
        shares = [math.exp(one) / total for one in others]
        counts.append(math.exp(-sum(one * math.log(one) for one in shares)))
    assert loss_term_measures.effective_negatives(e) == pytest.approx(sum(counts) / len(counts))


def test_the_shares_of_all_pairs_are_the_whole_gradient() -> None:
    e = explore(explored("graded_english", "cosent"))
    every = range(len(e.batch))
    assert gradient_share(e.pair_gradient, every) == pytest.approx(1)
    shares = [gradient_share(e.pair_gradient, [one]) for one in every]
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0


def test_what_the_duplicates_weigh_is_split_evenly_among_copies() -> None:
    """A query and its duplicate cannot be distinguished: each gives half of its own row to the
    other, where nothing else is near."""
    scenario = explored("hard_negatives", "info_nce", shared=False, temperature=0.01)
    batch = make_batch(scenario.data, scenario.rules)
    pair = int(batch.positives[lesson_measurements.REPEATED])
    e = explore(scenario, changed_batch(batch, Change("duplicate", pair)))
    last = len(batch.positives)
    assert loss_term_measures.share_between(e, lesson_measurements.REPEATED, last) == pytest.approx(
        1, abs=1e-3
    )
    assert loss_term_measures.share_between(e, 0, 1) == pytest.approx(0, abs=1e-3)


def test_a_masked_cell_is_a_false_negative_where_the_labels_say_so() -> None:
    batch = make_batch(
        explored("hard_negatives", "gist").data, explored("hard_negatives", "gist").rules
    )
    assert loss_term_measures.false_negatives_among(batch, [(one, one) for one in range(8)]) == 8
    assert loss_term_measures.false_negatives_among(batch, [(0, 1), (2, 21), (5, 9)]) == 0
    doubled = changed_batch(batch, Change("duplicate", int(batch.positives[3])))
    assert loss_term_measures.false_negatives_among(doubled, [(3, 8), (8, 3), (3, 7)]) == 2


@pytest.mark.parametrize(
    ("example", "loss", "touched", "every"),
    [
        ("graded_english", "cosent", 24, 1128),
        ("hard_negatives", "cosent", 24, 496),
        ("hard_negatives", "info_nce", 8 * 24, 496),
        ("hard_negatives", "nt_xent", 16 * 15 // 2, 496),
    ],
)
def test_covered_pairs_are_those_that_a_loss_compares(
    example: str, loss: str, touched: int, every: int
) -> None:
    found = loss_term_measures.covered(explore(explored(example, loss)))
    assert bool((found == found.T).all())
    assert not found.diagonal().any()
    assert int(found.sum()) == 2 * touched
    assert math.comb(len(found), 2) == every


def test_a_smaller_batch_keeps_the_cells_of_its_own_pairs_alone() -> None:
    for place, stop in enumerate((8, 4, 2, 1)):
        moment = moments("accumulation", 0)[place]
        assert moment.numbers["cells"] == 8 * (stop - 1)


def test_collapsed_vectors_are_one_point_on_the_sphere() -> None:
    batch = make_batch(
        explored("hard_negatives", "info_nce").data, explored("hard_negatives", "gist").rules
    )
    chart = moments("collapse", 0)[-1].pictures[0]
    assert isinstance(chart, Chart)
    points = chart.curves[-1]
    assert len(points.x) == len(batch.classes)
    assert points.x == pytest.approx([0] * len(points.x), abs=1e-5)
    assert points.y == pytest.approx([1] * len(points.y), abs=1e-5)
    start = moments("collapse", 0)[0].pictures[0]
    assert isinstance(start, Chart)
    assert all(
        math.hypot(x, y) <= 1 + 1e-6
        for x, y in zip(start.curves[-1].x, start.curves[-1].y, strict=True)
    )


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_no_point_lies_outside_its_axes(lesson: Lesson) -> None:
    for place in range(len(lesson.steps)):
        charts = [one for moment in moments(lesson.name, place) for one in moment.pictures]
        for chart in charts:
            if not isinstance(chart, Chart):
                continue
            for curve in chart.curves:
                for value, side in ((curve.x, chart.x), (curve.y, chart.y)):
                    assert side.low - 1e-6 <= min(value) <= max(value) <= side.high + 1e-6


def test_the_wrong_labels_are_marked() -> None:
    found = moments("spotlight", 0)[0].pictures[0]
    assert isinstance(found, Matrix)
    assert found.marked == (6, 14)
    others = lesson_matrices.matrix(explore(explored("graded_english", "cosent")))
    assert others.marked == ()


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (5.5451774, "number", "5.545"),
        (0.182264, "number", "0.182"),
        (0.0, "number", "0"),
        (0.8658, "percent", "87%"),
        (0.9998, "percent", ">99%"),
        (3.0, "count", "3"),
        (6.384, "times", "×6.4"),
        (269.0, "times", "×269"),
    ],
)
def test_numbers_are_written_to_be_read(value: float, form: str, text: str) -> None:
    assert write(value, form) == text


def test_a_lesson_has_no_number_written_by_hand() -> None:
    """Numbers of a conclusion are measured: what stands in the catalogue is a setting."""
    settings = {"0.05", "1", "20", "90%", "5", "2"}
    for lesson in LESSONS:
        for language in LANGUAGES:
            text = catalogue(language)[f"learn.{lesson.name}.1.conclusion"]
            plain = re.sub(r"\{\w+\}", "", text)
            assert set(re.findall(r"\d[\d.]*\d%?|\d%?", plain)) <= settings, (lesson.name, plain)
