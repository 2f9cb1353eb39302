"""Numbers of a log or a sentence: commas in them, what Python prints around them, and those that
are no value of a loss."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.run_report import about
from lossprism.explorer.lab.doctor.pasted_input import read_pasted, read_typed
from tests.sentences import raises_problem

STEPS, LOSSES = [1000, 2000, 3000, 4000], [0.7012, 0.6931, 0.693, 0.6929]
LINES = {
    "decimal commas": "step={n}, Loss: {comma}, Acc: 0,51",
    "decimal commas in words": "step {n} loss {comma}",
    "thousands": "step {thousands}/100,000 loss {loss}",
    "thousands of a named step": "Global Step: {thousands} | Loss: {loss}",
    "place in a program": "INFO | train:loop:88 - step={n} loss={loss}",
    "name of a logger": "INFO:root:loss: {loss} step: {n}",
    "structlog": '{{"event": "step {n} loss {loss}", "level": "info", "timestamp": "2024"}}',
    "Docker": '{{"log": "step {n} loss {loss}\\n", "stream": "stdout", "time": "2024"}}',
    "loguru": '{{"text": "a", "record": {{"message": "step {n} loss {loss}", "level": {{}}}}}}',
    "MLflow": "171728100{n} {loss} {n}",
    "Comet": '{{"metricName": "train_loss", "metricValue": "{loss}", "step": {n}}}',
}


@pytest.mark.parametrize("form", LINES)
def test_steps_and_losses_are_read_as_they_are_written(form):
    lines = (
        LINES[form].format(n=n, thousands=f"{n:,}", loss=loss, comma=str(loss).replace(".", ","))
        for n, loss in zip(STEPS, LOSSES, strict=True)
    )
    log = read_pasted("\n".join(lines).encode()).log
    curve = log.curve(log.trained)
    assert (curve.steps.tolist(), curve.values.tolist()) == (STEPS, LOSSES)
    assert set(log.curves) <= {log.trained, "Acc"}


SENTENCES = {
    "Loss: 2,0794": ["2.0794"],
    "loss 卡在 2,0794": ["2.0794"],
    "tensor(2.0794, grad_fn=<NllLossBackward0>)": ["2.0794"],
    "tensor(2.0794, device='cuda:0', grad_fn=<MeanBackward0>)": ["2.0794"],
    "np.float32(0.6931)": ["0.6931"],
    "tensor(2.0794)\ntensor(2.0790)": ["2.0794", "2.0790"],
    "***** train metrics *****\n  epoch = 3.0\n  train_loss = 0.6931\n"
    "  train_runtime = 0:01:02.33\n  train_samples = 1000\n  train_samples_per_second = 48.1\n": [
        "0.6931"
    ],
    "wandb: Run history:\nwandb: train/loss █▅▁\nwandb: Run summary:\nwandb:  epoch 3\n"
    "wandb:  train/loss 0.6931\nwandb: train/grad_norm 0.0012\nwandb: lr 0.1\n": ["0.6931"],
    "MultipleNegativesRankingLoss(scale=20) loss is 2.07": ["2.07"],
    "with tau=0.05 and n = 8 my loss is 2.08": ["2.08"],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_the_value_of_a_loss_is_found(text):
    assert list(read_pasted(text.encode()).numbers) == SENTENCES[text]
    assert list(read_typed(text).numbers) == SENTENCES[text]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("loss = -log(1/8)", "pasted_unknown"),
        ("Compute the loss with n = 3 for d(a,p)=0.3, d(a,n)=0.6", "pasted_unknown"),
        ("Compute the triplet loss with margin 0.5 for d(a,p)=0.3", "pasted_no_value"),
        ("loss = losses.CoSENTLoss(model, scale=50.0)", "pasted_no_value"),
        ("F.cross_entropy(scores / 0.05, labels)", "pasted_unknown"),
    ],
)
def test_what_is_computed_is_no_value_of_a_loss(text, key):
    with raises_problem(key):
        read_pasted(text.encode())


@pytest.mark.parametrize("text", ["recall@10 0.0", "precision@5: 0.42", "F1 = 0.5", "召回率 0.3"])
def test_a_metric_without_a_reference_value_is_no_loss(text):
    for read in (read_typed, lambda text: read_pasted(text.encode())):
        with raises_problem("pasted_metric"):
            read(text)
    assert read_typed(f"{text}, loss 0.69").numbers == ("0.69",)


@pytest.mark.parametrize(
    "text",
    [
        "0.9 0.1 0.2\n0.3 0.8 0.1\n0.0 0.2 0.7",
        "[[0.9, 0.1], [0.3, 0.8]]",
        "tensor([[0.9000, 0.1000],\n        [0.3000, 0.8000]])",
        "array([[0.9, 0.1],\n       [0.3, 0.8]])",
    ],
)
def test_a_matrix_is_no_list_of_losses(text):
    with raises_problem("table_of_numbers"):
        read_pasted(text.encode())


@pytest.mark.parametrize(
    "row",
    [
        {"event": "the team took a loss of 3 points", "level": "news", "label": 1},
        {"message": "why is my loss 0.69?", "reply": "all vectors are alike", "label": 1},
        {"log": "a loss", "time": "noon", "score": 0.5},
    ],
)
def test_rows_of_texts_are_no_messages_of_a_log(row):
    assert read_pasted("\n".join([json.dumps(row)] * 4).encode()).kind == "table"


def test_the_end_of_a_log_is_said_with_the_number_of_its_values():
    lines = "\n".join(f"step={n} loss={4 - n}" for n in range(1, 4))
    sentences = [*about(examine_run(read_pasted(lines.encode()).log))]
    assert any("last 3 values is 2." in one for one in sentences)


@pytest.mark.parametrize("entry", ["{{'loss': {loss}, 'epoch': {n}}}", "step {n} loss {loss}"])
@pytest.mark.parametrize("rank", ["[rank{}]: ", "[default{}]:", "rank {} ", "Rank:{} | "])
def test_each_process_has_a_curve_of_its_own(rank, entry):
    lines = [
        rank.format(one) + entry.format(n=n, loss=loss + one)
        for n, loss in zip(STEPS, LOSSES, strict=True)
        for one in ((0, 1) if n % 2000 else (1, 0))
    ]
    log = read_pasted("\n".join(lines).encode()).log
    assert log.trained == "loss"
    assert log.curve("loss").values.tolist() == LOSSES
    assert log.curve("rank 1 · loss").values.tolist() == [loss + 1 for loss in LOSSES]
    assert log.curve("loss").steps.tolist() == (STEPS if "step" in entry else [1, 2, 3, 4])


def test_bars_at_the_end_of_each_epoch_give_steps():
    lines = [
        f"Epoch {at}: 100%|████| 100/100 [00:12<00:00, 8.11it/s, v_num=3, train_loss={loss}]"
        for at, loss in enumerate(LOSSES)
    ]
    curve = read_pasted("\n".join(lines).encode()).log.curve("train_loss")
    assert curve.steps.tolist() == [100, 200, 300, 400]
    # The last bar of an epoch that is shown twice is no further step.
    again = read_pasted("\n".join(lines[:1] * 4).encode()).log
    assert again.step == "#"
