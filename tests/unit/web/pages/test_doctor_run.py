"""The third door of Doctor: two runs beside each other, and the batches that a training kept."""

from __future__ import annotations

import base64
import json
import zlib

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.doctor.logs.log_curves_packed_for_link import LINK_BYTES
from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.deployment_policy import DeploymentPolicy
from lossprism.explorer.web import page_requests
from lossprism.explorer.web.pages.doctor import number_requests, run_requests
from lossprism.explorer.web.pages.doctor.run_requests import SERVED
from lossprism.losses.sentence_transformers.saved_batch import SavedBatch, write
from tests.wire import by_name

ASK = by_name(SERVED)
COLLAPSED = {"source": {"kind": "example", "example": "collapsed"}}


@pytest.fixture(autouse=True)
def to_the_end(monkeypatch):
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ({}, "comparable"),
        ({"loss": "info_nce", "scale": "10"}, "other_scale"),
        ({"loss": "info_nce", "scale": "1"}, "below_floor"),
        ({"loss": "cosent"}, "other_loss"),
        ({"batch": "512"}, "other_batch"),
    ],
)
def test_two_runs_get_the_findings_about_each_other(known, name):
    other = {"source": {"kind": "example", "example": "jumped"}, **known}
    answer = ASK["examine_run"]({**COLLAPSED, "beside": other, "language": "en"})["beside"]
    assert [one["name"] for one in answer["findings"]] == [name]
    assert answer["drawn"][0]["name"] == "loss"
    assert ASK["examine_run"](COLLAPSED)["beside"] is None
    for odd in ([], {"source": 1}):
        assert "error" in ASK["examine_run"]({**COLLAPSED, "beside": odd})


def test_the_scenario_of_a_run_has_both_its_ends():
    found = ASK["examine_run"](COLLAPSED)
    shown = explore(Scenario.from_link(found["scene"]))
    assert len(shown.batch.pairs) == 32
    assert shown.loss == pytest.approx(found["collapse"], rel=1e-4)
    assert shown.floor == pytest.approx(found["floor"], rel=1e-4)
    assert ASK["examine_run"]({**COLLAPSED, "loss": "cosent"})["scene"] is None
    assert ASK["examine_run"]({**COLLAPSED, "batch": "4096"})["scene"] is None


def agreed(function, folder, **more):
    """The answer about a folder that its owner agreed to have read."""
    return ASK[function]({"folder": folder, "leave": {folder.strip(): 1}, **more})


def test_a_folder_of_a_model_is_read_with_its_card(tmp_path, monkeypatch):
    """The curve of its last checkpoint, the loss of its card."""
    for step in (10, 20):
        at = tmp_path / f"checkpoint-{step}"
        at.mkdir()
        history = [{"step": one, "loss": 2.7726} for one in range(1, step + 1)]
        state = {"global_step": step, "log_history": history, "train_batch_size": 16}
        (at / "trainer_state.json").write_text(json.dumps(state))
    card = "* Loss: [<code>MultipleNegativesRankingLoss</code>](https://x) with these parameters:\n"
    (tmp_path / "README.md").write_text(f'{card}  ```json\n  {{"scale": 20.0}}\n  ```\n')
    source = {"kind": "folder", "folder": str(tmp_path)}
    assert agreed("kept", str(tmp_path))["error"]["about"] == "log"
    found = agreed("examine_run", str(tmp_path), source=source)
    assert found["points"] == 20
    assert found["known"]["loss"] == "MultipleNegativesRankingLoss"
    assert found["findings"][0]["name"] == "at_collapse"
    empty = {"kind": "folder", "folder": str(tmp_path / "checkpoint-10" / "none")}
    answer = agreed("examine_run", empty["folder"], source=empty)
    assert answer["error"]["key"] == "problem.run_missing"
    monkeypatch.setattr(
        run_requests, "deployment_policy", lambda: DeploymentPolicy(reads_local_paths=False)
    )
    assert ASK["examine_run"]({"source": source})["error"]["key"] == "problem.kept_hosted"


def batch(step, loss="cosent"):
    draw = torch.Generator().manual_seed(step)
    columns = tuple(torch.randn(4, 8, generator=draw) for _ in range(2))
    labels = torch.tensor([1.0, 0.0, 1.0, 0.0])
    return SavedBatch(step, columns, None, labels, None, "CoSENTLoss", 1.5, 4, loss)


def test_batches_of_a_folder_are_listed_and_open(tmp_path, monkeypatch):
    for step in (50, 100):
        write(tmp_path, batch(step))
    listed = agreed("kept", str(tmp_path), language="zh")["batches"]
    assert [(one["step"], one["value"]) for one in listed] == [(50, 1.5), (100, 1.5)]
    assert all(one["here"] != 1.5 and "CoSENTLoss" in one["said"] for one in listed)
    assert Scenario.from_link(listed[1]["scene"]).data.file == "step-00000100.safetensors"
    write(tmp_path, batch(150))  # the training goes on
    assert len(agreed("kept", str(tmp_path))["batches"]) == 3
    (tmp_path / "step-00000200.safetensors").write_bytes(b"no batch")
    for folder, key in (
        (str(tmp_path), "kept_damaged"),
        (str(tmp_path / "none"), "kept_none"),
        (" ", "kept_no_folder"),
    ):
        assert agreed("kept", folder)["error"]["key"] == f"problem.{key}"
    monkeypatch.setattr(
        run_requests, "deployment_policy", lambda: DeploymentPolicy(reads_local_paths=False)
    )
    assert ASK["kept"]({"folder": str(tmp_path)})["error"]["key"] == "problem.kept_hosted"


def test_pasted_lines_are_examined_and_their_link_opens_the_same():
    lines = "".join(f"saving /home/alice\n{{'loss': {2.0 - n / 20}, 'step': {n}}}\n"
                    for n in range(1, 30))  # fmt: skip
    found = ASK["examine_run"]({"source": {"kind": "typed", "text": lines}})
    assert found["points"] == 29
    text = zlib.decompress(base64.urlsafe_b64decode(found["shared"] + "=="), -15).decode()
    assert "alice" not in text
    again = ASK["examine_run"]({"source": {"kind": "typed", "text": text}})
    for entry in ("level", "points", "findings", "drawn"):
        assert again[entry] == found[entry]
    assert ASK["examine_run"](COLLAPSED)["shared"] == ""
    for odd in ("", "hello", 5):
        assert "error" in ASK["examine_run"]({"source": {"kind": "typed", "text": odd}})


def test_the_link_of_an_uploaded_log_opens_where_the_file_is_not():
    rows = "".join(f"{n},{2.0 - n / 9000}\n" for n in range(1, 9000))
    lines = f"step,/home/alice/train/loss\n{rows}".encode()
    source = {"kind": "file", "file": uploads.put(lines, "log.csv"), "name": "log.csv"}
    found = ASK["examine_run"]({"source": source})
    assert (found["points"], len(found["shared"]) <= LINK_BYTES) == (8999, True)
    text = zlib.decompress(base64.urlsafe_b64decode(found["shared"] + "=="), -15).decode()
    assert "alice" not in text
    elsewhere = {**source, "file": "0" * len(source["file"])}
    again = ASK["examine_run"]({"source": {**elsewhere, "text": text}})
    assert again["level"] == pytest.approx(found["level"], rel=1e-2)
    assert again["drawn"][0]["name"] == "loss"
    assert ASK["examine_run"]({"source": elsewhere})["error"]["about"] == "gone"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("2,09", "numbers", "2.09"),
        ("2.09 2.08", "numbers", "2.09 2.08"),
        ("{'loss': 0.6925, 'epoch': 0.1}", "numbers", "0.6925"),
        ("loss: 0.7\nloss: 0.6\nloss: 0.5\n", "run", ""),
        ("a\tb\nc\td\n", "table", ""),
    ],
)
def test_what_is_pasted_goes_where_it_is_read(text, kind, value):
    pasted = by_name(number_requests.SERVED)["read_pasted"]
    assert pasted({"text": text}) == {"kind": kind, "value": value, "known": {}}
    assert pasted({"text": "hello"})["error"]["key"] == "problem.pasted_unknown"
