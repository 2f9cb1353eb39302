"""The ten lessons, in the order in which a lecture gives them."""

import functools

from lossprism.explorer.lab.learn import lesson_measurements
from lossprism.explorer.lab.learn.lesson_types import (
    Lesson,
    Lever,
    Moment,
    Prediction,
    Step,
    explored,
)

LESSONS = (
    Lesson(
        "collapse",
        3,
        (
            Step(
                explored("hard_negatives", "info_nce", shared=False),
                lesson_measurements.collapse,
                Lever(lesson_measurements.COLLAPSE_SHARES, 10, "percent"),
                Prediction("info_nce", answers=(0.0, 2.079, 8.0)),
                ("info_nce", "triplet", "siglip"),
                {"rows": "count"},
            ),
        ),
    ),
    Lesson(
        "temperature",
        3,
        (
            Step(
                explored("hard_negatives", "info_nce"),
                lesson_measurements.temperature,
                Lever((1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01), 4),
                Prediction("negatives", answers=(1.5, 6.0, 20.0)),
                ("negatives", "loss"),
                {"all": "count"},
            ),
        ),
    ),
    Lesson(
        "duplicate",
        2,
        (
            Step(
                explored("hard_negatives", "info_nce", shared=False),
                lesson_measurements.duplicate,
                Lever((1.0, 2.0), 1, "word"),
                Prediction("times", answers=(1.1, 2.0, 6.0)),
                ("loss", "duplicate_share"),
                {"times": "times", "duplicate_share": "percent"},
            ),
        ),
    ),
    Lesson(
        "accumulation",
        3,
        (
            Step(
                explored("hard_negatives", "info_nce", shared=False),
                lesson_measurements.accumulation,
                Lever((8.0, 4.0, 2.0, 1.0), 3, "word"),
                Prediction("loss", answers=(0.2284, 0.0285, 0.0)),
                ("loss", "cells"),
                {"negatives": "count", "cells": "count", "all": "count"},
            ),
        ),
        pictured=1,  # at the goal no cell is left
    ),
    Lesson(
        "spotlight",
        3,
        (
            Step(
                explored("graded_english", "cosent", order="label"),
                lesson_measurements.listening,
                Lever((1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0), 4),
                Prediction("wrong_share", low=0.0, high=1.0, near=0.1),
                ("wrong_share", "active"),
                {
                    "wrong_share": "percent",
                    "labels": "percent",
                    "mse": "percent",
                    "active": "count",
                    "terms": "count",
                },
            ),
        ),
    ),
    Lesson(
        "order",
        3,
        (
            Step(
                explored("graded_english", "cosent"),
                lesson_measurements.order,
                Lever((0.0, 0.05, 0.1, 0.15, 0.2), 4),
                Prediction("cosent", answers=(15.3, 19.12, 22.9)),
                ("cosent", "mse"),
            ),
            Step(
                explored("graded_english", "cosent"),
                lesson_measurements.spread,
                Lever((1.0, 0.75, 0.5), 2),
                Prediction("same_scale", answers=(10.0, 20.0, 40.0)),
                ("cosent", "same_scale"),
                {"same_scale": "count"},
            ),
        ),
    ),
    Lesson(
        "libraries",
        3,
        (
            Step(
                explored("graded_english", "pairwise_logistic", scale=1.0),
                lesson_measurements.libraries,
                Lever((0.0, 1.0, 2.0, 3.0), 3, "word"),
                Prediction("times", answers=(1.0, 10.0, 269.0)),
                ("loss",),
                {"times": "times", "terms": "count", "pairs": "count"},
            ),
        ),
    ),
    Lesson(
        "filter",
        3,
        (
            Step(
                explored(
                    "hard_negatives",
                    "gist",
                    temperature=0.05,
                    contrast_anchors=False,
                    contrast_positives=False,
                ),
                lesson_measurements.filtered,
                Lever((0.0, 1.0), 1, "word"),
                Prediction("false", answers=(0.0, 3.0, 5.0)),
                ("loss", "masked"),
                {"masked": "count", "false": "count"},
            ),
            Step(
                explored("hard_negatives", "info_nce", temperature=0.05),
                lesson_measurements.filtered_by_margin,
                Lever((0.0, 1.0), 1, "word"),
                Prediction("masked", answers=(0.0, 4.0, 40.0)),
                ("loss", "masked"),
                {"masked": "count", "false": "count"},
            ),
        ),
    ),
    Lesson(
        "coverage",
        3,
        (
            Step(
                explored("hard_negatives", "info_nce"),
                lesson_measurements.coverage,
                Lever((1.0, 2.0, 0.0), 2, "word"),
                Prediction("covered_share", low=0.0, high=1.0, near=0.1),
                ("touched", "covered_share"),
                {
                    "covered_share": "percent",
                    "touched": "count",
                    "every": "count",
                    "sentences": "count",
                },
            ),
        ),
    ),
    Lesson(
        "margin",
        2,
        (
            Step(
                explored("nli_triplets", "triplet", lesson_measurements.TRIPLETS),
                lesson_measurements.margin,
                Lever((0.05, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0), 6),
                Prediction("floor", answers=(0.0, 3.0, 5.0)),
                ("floor", "violated"),
                {"violated": "count", "triplets": "count"},
            ),
        ),
        # Of cosines a margin of 2 is the largest that can be reached, in one corner.
        landscape="1=pairwise_hinge&1.margin=2&2=cosent&lever=margin&example=nli_triplets",
    ),
)
# A lecture of 90 minutes; the lesson left out is for home.
LECTURE = tuple(lesson.name for lesson in LESSONS if lesson.name != "margin")
BY_NAME = {lesson.name: lesson for lesson in LESSONS}


@functools.lru_cache(maxsize=len(LESSONS) * 2)
def moments(name: str, step: int) -> tuple[Moment, ...]:
    """Return what there is at each stop of a step, measured once. Raises Problem as `explore`."""
    return tuple(BY_NAME[name].steps[step].moments())
