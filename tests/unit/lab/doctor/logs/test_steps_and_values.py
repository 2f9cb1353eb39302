"""Console lines that name a step and a value, and nothing else."""

from __future__ import annotations

import pytest

from lossprism.explorer.lab.doctor.pasted_input import read_pasted

POINTS = [(10, 0.69), (20, 0.652), (30, 0.61), (1000, 0.5)]


@pytest.mark.parametrize("before", ["", "step ", "Step ", "iter ", "global step "])
@pytest.mark.parametrize("between", [": ", ":", " : ", "：", " -> ", " => ", " → ", " = "])
def test_a_step_and_its_value_are_a_curve(before, between):
    lines = [f"{before}{step}{between}{value}" for step, value in POINTS]
    for around in ("", "training started\n"):
        log = read_pasted(f"{around}{chr(10).join(lines)}\n".encode()).log
        assert log is not None
        (curve,) = log.curves.values()
        assert [*zip(curve.steps.tolist(), curve.values.tolist(), strict=True)] == POINTS


@pytest.mark.parametrize(
    "text",
    [
        "10: a cat\n20: a dog\n30: a bird",
        "12:30\n12:45\n13:00",
        "a: 0.5\nb: 0.6\nc: 0.7",
        "sentence1\tsentence2\tscore\na\tb\t0.5\nc\td\t0.7",
    ],
)
def test_other_lines_with_colons_are_no_curve(text):
    assert read_pasted(text.encode()).kind == "table"
