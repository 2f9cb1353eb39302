"""What a text names beside a number: read everywhere alike, and never from something else."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor.known_values_parser import known_from
from lossprism.explorer.lab.doctor.pasted_input import read_pasted
from lossprism.explorer.web.api.pasted_text_diagnosis import doctor_pasted
from lossprism.explorer.web.pages.doctor import number_requests
from tests.sentences import pattern_of, raises_problem
from tests.unit.lab.doctor.test_standard_input import piped  # noqa: F401
from tests.wire import by_name

MNRL = "MultipleNegativesRankingLoss"
SAID = {
    "loss stuck at 4.852 batch 128": {"batch": 128},
    f"My {MNRL} is stuck at 2.77 with batch size 16 and temperature 0.05": {
        "loss": MNRL, "batch": 16, "temperature": 0.05},
    "batch_size=64, loss 一直在 4.159 左右, 用的是 CoSENTLoss": {"loss": "CoSENTLoss", "batch": 64},
    "对比损失卡在2.08，batch size 是 8，温度 0.05": {"batch": 8, "temperature": 0.05},
    "批大小 8，温度系数为0.1，3 个难负样本，损失 3.46": {
        "batch": 8, "temperature": 0.1, "negatives": 3},
    "Loss 4.16 (bs 64)": {"batch": 64},
    "SigLIP loss 5.545 at start": {"loss": "SigLIP"},
    f"{MNRL}(model, scale=50.0) gives loss 4.16": {"loss": MNRL, "scale": 50.0},
    "triplet loss doesn't go below 1.0, margin=1.0": {"margin": 1.0},
    "loss 2.08 with 7 hard negatives": {"negatives": 7},
    "loss 4.6 with 100 classes": {"classes": 100},
    "0.693 0.694 (batch 32)": {"batch": 32},
    "2.77 InfoNCE batch 16": {"loss": "InfoNCE", "batch": 16},
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_what_is_known_is_read_beside_the_number(text):
    assert read_pasted(text.encode()).known.provided == SAID[text]


NOT_SAID = [
    "loss 0.69",
    "Epoch 1 Batch 20 Loss 0.69",  # a count of batches
    "loss: 0.69, loss scale: 65536",
    "per_device_eval_batch_size: 8, loss 0.69",
    "GPU temperature 65, loss 0.69",
    "loss 0.69 with batch size 8 or batch size 16",
    "is CoSENTLoss or SigLIP better, loss 0.69",
    "NDCG@10 is 0.45 with CLIP",
    "MyOwnLoss is 0.69",
    "batch size 0, loss 0.69",
    "batch size 8% of it, loss 0.69",
    "loss 0.69 at temperature 0",
]


@pytest.mark.parametrize("text", NOT_SAID)
def test_nothing_is_known_from_other_words(text):
    assert known_from(text)[0].provided == {}


@pytest.mark.parametrize("text", SAID)
def test_a_text_is_explained_alike_everywhere(text, piped, capsys):  # noqa: F811
    assert piped(text, "--json") == 0
    answers = [json.loads(capsys.readouterr().out), doctor_pasted(text)["explained"]]
    page = by_name(number_requests.SERVED)
    pasted = page["read_pasted"]({"text": text})
    typed = {name: str(value) for name, value in SAID[text].items()}
    assert pasted["known"] == typed
    answers.append(page["explain"]({"value": pasted["value"], **typed}))
    answers.append(page["explain"]({"value": text}))
    for one in answers:
        assert one["known"] == SAID[text]
        assert one["sentences"] == answers[0]["sentences"]


def test_options_take_precedence_over_the_text(piped, capsys):  # noqa: F811
    text = "loss 2.77 with batch 32, temperature 0.05"
    assert piped(text, "--batch", "16", "--scale", "20", "--json") == 0
    assert json.loads(capsys.readouterr().out)["known"] == {"batch": 16, "scale": 20}
    assert piped(text) == 0
    assert pattern_of("doctor.run.known").search(capsys.readouterr().out)


@pytest.mark.parametrize(
    "text",
    [
        MNRL,
        "losses.CosineSimilarityLoss(model)",
        "from sentence_transformers.losses import CachedGISTEmbedLoss",
        f"loss = losses.{MNRL}(model, scale=50.0)",
        "nn.BCEWithLogitsLoss()",
        "loss_type: infonce\ntemperature: 0.02\nper_device_train_batch_size: 64\n",
        "--temperature 0.02 --train_group_size 8 --per_device_train_batch_size 16",
        "batch 128",
    ],
)
def test_a_configuration_without_a_value_is_refused_with_what_it_names(text):
    with raises_problem("pasted_no_value") as caught:
        read_pasted(text.encode())
    said = known_from(text)[0].provided
    assert said
    assert all(f"{name} {value}" in str(caught.value) for name, value in said.items())


def test_a_group_is_a_positive_with_its_hard_negatives():
    text = "--train_group_size 8 --per_device_train_batch_size 16 loss=4.85"
    assert known_from(text)[0].provided == {"batch": 16, "negatives": 7}


@pytest.mark.parametrize(
    "text",
    [
        "question,answer\nwhich batch size is best,batch size 64\nwhy,because\n",
        '{"anchor": "MultipleNegativesRankingLoss", "positive": "batch size 64"}',
        "a text of batch 8\tanother\t1\n",
    ],
)
def test_a_table_that_names_a_loss_stays_one(text):
    assert read_pasted(text.encode()).kind == "table"
