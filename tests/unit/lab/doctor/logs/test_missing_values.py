"""Values that are no numbers, however they were written, and such as are not there."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.run_reader import is_run, read_content
from lossprism.explorer.lab.doctor.logs.run_report import about
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import pattern_of
from tests.unit.lab.doctor.logs.test_findings import FALLING, MNRL, log, names

NAN, WORD, NULL = "NaN", '"NaN"', "null"


def as_state(written):
    history = ", ".join(f'{{"step": {step}, "loss": {value}}}' for step, value in written)
    return "trainer_state.json", f'{{"log_history": [{history}]}}'


def as_lines(written):
    return "log.jsonl", "".join(f'{{"step": {step}, "loss": {value}}}\n' for step, value in written)


def as_table(written):
    rows = "".join(f"{step},{value}\n" for step, value in written)
    return "log.csv", f"step,loss\n{rows}"


@pytest.mark.parametrize(
    ("write", "nothing"),
    [
        *((as_state, one) for one in (NAN, WORD, NULL)),
        *((as_lines, one) for one in (NAN, WORD)),
        *((as_table, one) for one in ("nan", "NaN")),
    ],
)
def test_a_loss_that_became_nan_however_it_was_written(write, nothing):
    written = [(step, 3.0 / step if step < 15 else nothing) for step in range(1, 30)]
    name, text = write(written)
    (fault,) = examine_run(read_content(name, text.encode())).faults
    assert fault.values == {"count": 15, "kind": "NaN", "step": 15, "last": 29}
    first = write([(step, nothing) for step in range(1, 4)])
    assert examine_run(read_content(first[0], first[1].encode())).faults[0].values["step"] == 1


@pytest.mark.parametrize(
    ("write", "nothing"),
    [(as_lines, NULL), *((as_table, one) for one in ("", "None", "null", "N/A"))],
)
def test_a_table_without_the_loss_is_reported(write, nothing):
    """It may have become NaN or not have been logged: nobody can tell."""
    written = [(step, 3.0 / step if step < 15 else nothing) for step in range(1, 30)]
    name, text = write(written)
    (fault,) = examine_run(read_content(name, text.encode())).faults
    assert (fault.name, fault.values) == ("stops", {"step": 14, "end": 29})


def test_nan_of_json_in_a_row_of_another_curve_is_none_of_this_one():
    """As pandas writes what was logged at other times into JSON lines."""
    rows = [{"step": step, "loss": 3.0 / step, "eval_loss": math.nan} for step in range(1, 9)]
    rows += [{"step": step, "loss": math.nan, "eval_loss": 2.0 / step} for step in (4, 8)]
    found = read_content("log.jsonl", "\n".join(map(json.dumps, rows)).encode())
    assert {name: len(curve) for name, curve in found.curves.items()} == {"loss": 8, "eval_loss": 2}
    assert not [curve for curve in found.curves.values() if np.isnan(curve.values).any()]


@pytest.mark.parametrize("content", [b"", b" \n", "\ufeff".encode()])
def test_an_empty_log_gets_a_sentence_of_its_own(content):
    with pytest.raises(Problem) as refused:
        read_content("log.csv", content)
    assert (refused.value.key, refused.value.values) == ("problem.run_empty", {"name": "log.csv"})


def test_so_does_one_without_a_row(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("step,train/loss,eval/loss\n")
    assert is_run(str(path))
    with pytest.raises(Problem) as refused:
        read_content("log.csv", path.read_bytes())
    assert refused.value.key == "problem.run_only_header"
    assert refused.value.values["columns"] == "step, train/loss, eval/loss"
    path.write_text("first,second\n")
    assert not is_run(str(path))


def test_a_card_without_a_curve_is_reported():
    card = b"# Model\n\n* Loss: [<code>CoSENTLoss</code>](x) with these parameters:\n"
    with pytest.raises(Problem) as refused:
        examine_run(read_content("README.md", card))
    assert refused.value.key == "problem.run_no_curves"


def test_a_gradient_that_is_none_beside_a_loss_that_is_one():
    """As transformers logs a training that broke: NaN is left out of the mean of the loss."""
    steady, broken = [1.0] * 40, [1.0] * 30 + [math.nan] * 10
    loss = FALLING[:30] + [0.0] * 10
    gradient, zero, *_ = examine_run(log(loss, grad_norm=broken)).faults
    assert (gradient.name, gradient.severity, zero.name) == (
        "gradient_not_finite",
        "severe",
        "zero",
    )
    assert gradient.values == {"name": "grad_norm", "kind": "NaN", "count": 10, "step": 31}
    for norm in (
        steady,
        [math.inf] * 6 + steady[6:],
        broken[::-1],
        [*steady[:-4], *[math.inf] * 4],
    ):
        assert "gradient_not_finite" not in names(examine_run(log(FALLING[:40], grad_norm=norm)))
    nan = [*FALLING[:30], *[math.nan] * 10]
    assert names(examine_run(log(nan, grad_norm=broken))) == ["not_finite"]


def cut(found, name, count):
    """Of one curve the first values."""
    curve = found.curves[name]
    kept = replace(
        curve, **{one: getattr(curve, one)[:count] for one in ("steps", "values", "unit")}
    )
    return replace(found, curves={**found.curves, name: kept})


def test_a_loss_that_is_not_logged_any_more():
    rate = [1e-5] * 80
    whole = log(FALLING[:80], learning_rate=rate)
    (fault,) = [one for one in examine_run(cut(whole, "loss", 60)).faults if one.name == "stops"]
    assert (fault.severity, fault.rows) == ("warning", (60,))
    assert fault.values == {"step": 60, "end": 80}
    quiet = [whole, cut(whole, "loss", 75), cut(whole, "learning_rate", 60)]
    # Another run went on, or the last evaluations came after the training.
    both = {f"{run} · {name}": cut(whole, "loss", count).curves[name]
            for run, count in (("a", 60), ("b", 80)) for name in whole.curves}  # fmt: skip
    quiet.append(replace(whole, curves={**both, "a · learning_rate": both["a · loss"]}))
    held = replace(whole.curves["learning_rate"], steps=whole.curves["loss"].steps + 80.0)
    quiet.append(replace(whole, curves={"loss": whole.curves["loss"], "eval_loss": held}))
    # Every tenth step, as it always was.
    seldom = whole.curves["loss"]
    every = {one: getattr(seldom, one)[::10] for one in ("steps", "values", "unit")}
    quiet.append(replace(whole, curves={**whole.curves, "loss": replace(seldom, **every)}))
    for other in quiet:
        assert "stops" not in names(examine_run(other))
    # Of a table its rows tell.
    blank = replace(cut(whole, "loss", 60), blank=tuple(range(61, 81)))
    alone = replace(blank, curves={"loss": blank.curves["loss"]})
    assert "stops" in names(examine_run(alone))
    between = replace(alone, blank=(*(step + 0.5 for step in range(10, 40)), *range(61, 63)))
    assert "stops" not in names(examine_run(between))


def test_its_end_is_reported_without_the_steps_between():
    """A short noisy log has a reported level, and no position."""
    draw = np.random.default_rng(1)
    loud = (2.0 + 0.8 * draw.normal(size=12)).tolist()

    def ends(found, key):
        sentences = (pattern_of(f"doctor.run.{key}").fullmatch(one) for one in about(found))
        return [one.groups()[-1] for one in sentences if one]

    short, unknown = examine_run(log(loud, known=MNRL)), examine_run(log(FALLING))
    level = say("en", "doctor.run.ended", count=3, level=display_number(short.level, 4))
    assert 1 <= short.level < 3
    assert ends(short, "vague") == [level]
    assert ends(examine_run(log(FALLING, known=MNRL)), "ended") == []
    assert ends(unknown, "ended") == [display_number(unknown.level, 4)]
    assert ends(unknown, "vague") == []


def test_a_logged_collapse_is_reported():
    stuck = [math.log(16)] * 40
    (fault,) = [
        one for one in examine_run(log(stuck, known=MNRL)).faults if one.name == "at_collapse"
    ]
    assert fault.more == ""
    alike = log(stuck, known=MNRL, prism_negative_cosine=[0.999] * 40)
    (fault,) = [one for one in examine_run(alike).faults if one.name == "at_collapse"]
    assert (fault.more, fault.values["negative"]) == ("alike", "1")
    assert pattern_of("doctor.run.alike", negative="1").fullmatch(fault.written())


@pytest.mark.parametrize("name", ["MatryoshkaLoss", "SoftmaxLoss", "cosent + info_nce"])
def test_a_run_of_a_loss_without_ends_here_is_read_all_the_same(name):
    """Such a loss, from its card or the user, is reported as one without reference values."""
    broken = [*FALLING[:30], *[math.nan] * 10]
    for result, called in ((Known(loss=name), ""), (None, name)):
        found = examine_run(replace(log(broken), called=called), result)
        assert names(found) == ["not_finite"]
        assert say("en", "doctor.run.not_decoded", loss=name) in [*about(found)]
    with pytest.raises(Problem) as refused:
        examine_run(log(broken), Known(loss="nosuchloss"))
    assert refused.value.key == "problem.unknown_loss"
