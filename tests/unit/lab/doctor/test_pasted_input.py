"""Pasted input: recognised by its content, with the right values at the right steps."""

from __future__ import annotations

import math

import pytest

from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.run_reader import log_reader, read_content
from lossprism.explorer.lab.doctor.pasted_input import MAX_NUMBERS, read_pasted
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import pattern_of

BAR = "|█▍  | {n}/100 [00:22<08:40,  4.53s/it]"
# Each prints the losses 0.7, 0.6, 0.5 and 0.4 at the steps 10, 20, 30 and 40.
STYLES = {
    "Trainer": "{{'loss': {loss}, 'grad_norm': 1.5, 'learning_rate': 2e-05, 'step': {n}}}",
    "Trainer 5": "{{'loss': '{loss}', 'grad_norm': '1.5', 'global_step': '{n}', 'epoch': '0.1'}}",
    "ms-swift": '{{"loss": {loss}, "acc": 0.5, "global_step/max_steps": "{n}/100", "percentage": '
    '"1.0%", "elapsed_time": "4s", "remaining_time": "9m"}}',
    "bar": "  4%" + BAR + "{{'loss': {loss}, 'epoch': 0.1}}",
    "Lightning": "Epoch 0:   4%|█  | {n}/100 [00:01<00:10, 9.1it/s, loss={loss}, v_num=0]",
    "rich": "Epoch 0/9 ━━━━━━ {n}/100 0:00:01 • 0:00:10 9.1it/s v_num: 0 train_loss: {loss}",
    "keras": "{n}/100 ━━━━━━━━━━ 1s 3ms/step - accuracy: 0.51 - loss: {loss}",
    "accelerate": "Training:   4%" + BAR.replace("]", ", loss={loss}]"),
    "equals": "step={n} loss={loss} lr=1e-5",
    "colons": "Step: {n}, Loss: {loss}, LR: 1e-5",
    "brackets": "Epoch [1/3], Step [{n}/100], Loss: {loss}",
    "logger": "2026-01-01 12:00:01,123 INFO train.py:33 - step {n} | loss {loss} | lr 1.0e-05",
    "fairseq": "| train_inner | epoch 001:  {n} / 1474 loss={loss}, ppl=2.1, num_updates={n}",
    "tensor": "step {n} loss: tensor({loss}, device='cuda:0', grad_fn=<MeanBackward0>)",
}
LOSSES, STEPS = [0.7, 0.6, 0.5, 0.4], [10, 20, 30, 40]
NOISE = "Some weights were not initialized\n***** Running training *****\n"


def printed(style, between="\n"):
    lines = (STYLES[style].format(loss=a, n=n) for a, n in zip(LOSSES, STEPS, strict=True))
    return between.join(lines)


def trained(text):
    found = read_pasted(text.encode())
    assert found.kind == "run"
    return found.log, found.log.curve(found.log.trained)


@pytest.mark.parametrize("style", STYLES)
def test_console_lines_are_read_in_every_style(style):
    for between in ("\n", "\r", "\r\n", "\x1b[A\n"):
        log, curve = trained(printed(style, between))
        assert curve.values.tolist() == LOSSES
        assert curve.steps.tolist() == STEPS
        assert log.left_lines == ()


@pytest.mark.parametrize("style", STYLES)
def test_lines_that_are_no_values_are_left_and_counted(style):
    log, curve = trained(NOISE + printed(style))
    assert curve.values.tolist() == LOSSES
    assert log.left_lines == (1, 2)
    assert any("2 lines" in one for one in about(log))


def about(log):
    from lossprism.explorer.lab.doctor.logs.run_report import about as lines_of_report

    return [*lines_of_report(examine_run(log))]


def test_without_a_step_the_bar_before_gives_it_or_entries_are_counted():
    entries = [f"{{'loss': {loss}, 'epoch': 0.1}}" for loss in LOSSES]
    bars = [f"  4%{BAR.format(n=n)}" for n in STEPS]
    mixed = "\n".join(one for pair in zip(bars, entries, strict=True) for one in pair)
    held = mixed + "\n{'eval_loss': 0.45, 'eval_runtime': 1.0, 'epoch': 0.1}\n"
    log, curve = trained(held)
    assert curve.steps.tolist() == STEPS
    assert log.curve("eval_loss").steps.tolist() == [40]
    assert trained("\n".join(entries))[1].steps.tolist() == [1, 2, 3, 4]
    # Bars of an evaluation and of a download count something else.
    other = mixed.replace("\n", "\nValidation:  10%|█ | 3/9999 [00:01<00:10, 9.1it/s]\n")
    assert trained(other)[1].steps.tolist() == STEPS


@pytest.mark.parametrize("header", ["", "Epoch 2/3\n"])
def test_steps_that_each_epoch_counts_anew_go_on(header):
    line = "Epoch {e}:  50%|█ | {n}/100 [00:01<00:10, 9.1it/s, loss={loss}]\n"
    keras = "{n}/100 ━━━━━━━━━━ 1s 3ms/step - loss: {loss}\n"
    first = "".join((keras if header else line).format(e=0, n=n, loss=0.7) for n in (50, 100))
    second = (keras if header else line).format(e=1, n=100 if header else 50, loss=0.6)
    third = (keras if header else line).format(e=1, n=100, loss=0.5)
    _, curve = trained("Epoch 1/3\n" * bool(header) + first + header + second + third)
    assert curve.steps[[0, 1, -1]].tolist() == [50, 100, 200]


@pytest.mark.parametrize("text", ["nan", "NaN", "None", "null", "inf"])
def test_values_that_are_no_numbers_stay(text):
    log, curve = trained(printed("Trainer").replace("0.5,", f"{text},", 1))
    assert not math.isfinite(curve.values[2])
    assert "not_finite" in [one.name for one in examine_run(log).faults]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2.09", ("2.09",)),
        (" 0,6925 \n", ("0.6925",)),
        ("2.09 2.08\n2.1", ("2.09", "2.08", "2.1")),
        ("2.09, 2.08", ("2.09", "2.08")),
        ("2,09; 2,08", ("2.09", "2.08")),
        ("[0.69, 0.7]", ("0.69", "0.7")),
        ("1e-3", ("1e-3",)),
        ("{'loss': 0.6925, 'grad_norm': 1.25, 'epoch': 0.1}", ("0.6925",)),
        ("loss: 0.6930", ("0.6930",)),
        ("step 3 | loss 2.10\nstep 4 | loss 2.09", ("2.10", "2.09")),
    ],
)
def test_numbers_and_few_values_of_a_log_are_numbers_as_they_were_written(text, numbers):
    found = read_pasted(text.encode())
    assert (found.kind, found.numbers) == ("numbers", numbers)


def test_many_numbers_are_a_curve():
    text = "\n".join(str(0.9 - 0.01 * n) for n in range(MAX_NUMBERS + 1))
    assert len(trained(text)[1]) == MAX_NUMBERS + 1


@pytest.mark.parametrize(
    "text",
    [
        "sentence1\tsentence2\tscore\na\tb\t1\nc\td\t0\n",
        '{"anchor": "my loss: 5 kg", "positive": "b"}\n{"anchor": "loss = 3", "positive": "d"}\n',
        "question,answer\nwhat is loss,a number\nwhy,because\n",
        "query,positive\n" + "a step,a loss\n" * 30 + "my loss: 0.5 is high,why\n",
    ],
)
def test_a_table_of_pairs_is_no_log(text):
    assert read_pasted(text.encode()).kind == "table"


def test_what_is_nothing_of_it_is_refused():
    for text, key in (("", "pasted_nothing"), (" \n", "pasted_nothing"), ("hello", "pasted_unk")):
        with pytest.raises(Problem) as problem:
            read_pasted(text.encode())
        assert problem.value.key.startswith(f"problem.{key}")


@pytest.mark.parametrize(
    ("table", "steps"),
    [
        ("Step,train/global_step,train/loss\n{rows}", STEPS),
        ("_step,trainer/global_step,train_loss\n{rows}", STEPS),
        ("global_step,step,loss\n{rows}", [1, 2, 3, 4]),
        ("Step,bold - train/global_step,bold - train/loss\n{rows}", STEPS),
    ],
)
def test_the_global_step_is_the_step_wherever_it_stands(table, steps):
    rows = "\n".join(f"{n},{10 * n},{loss}" for n, loss in enumerate(LOSSES, 1))
    content = table.format(rows=rows).encode()
    log = read_content("log.csv", content)
    assert log.curve(log.trained).steps.tolist() == steps


def test_columns_that_are_no_curve_are_named():
    rows = "".join(f"{n},{loss},words\n" for n, loss in zip(STEPS, LOSSES, strict=True))
    log = read_content("log.csv", f"step,loss,note\n{rows}".encode())
    assert log.left_columns == ("note",)
    assert any("note" in one for one in about(log))


SWIFT = (
    '{{"loss": {loss}, "acc": {acc}, "grad_norm": {norm}, "global_step/max_steps": "{n}/120"}}\n'
)


@pytest.mark.parametrize(
    ("accuracy", "norm", "filtered"),
    [(0.75, 0.0, True), (0.6, 0.0, True), (1.0, 0.0, False), (0.75, 0.3, False)],
)
def test_a_loss_and_gradient_of_zero_beside_wrong_answers_are_filtered(accuracy, norm, filtered):
    text = SWIFT.format(loss=0.5, acc=0.75, norm=2.0, n=1)
    text += "".join(SWIFT.format(loss=0.0, acc=accuracy, norm=norm, n=n) for n in range(5, 45, 5))
    found = examine_run(trained(text)[0])
    zero = [one for one in found.faults if one.name == "zero"]
    assert len(zero) == 1
    assert found.severe == filtered
    key = "zero" if not filtered else "zero_always_no" if accuracy == 0.75 else "zero_filtered"
    values = {"wrong": 3, "candidates": 4} if key == "zero_always_no" else {}
    assert pattern_of(f"doctor.run.{key}", **values).fullmatch(zero[0].written())


def test_a_long_text_without_a_loss_is_looked_at_in_no_time():
    assert not log_reader("odd.txt", b"{ loss " * 100_000)
    assert not log_reader("odd.txt", b"loss: " * 100_000)
