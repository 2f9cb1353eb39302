"""A run is read from whatever was kept of it, and a malformed log gets a sentence."""

from __future__ import annotations

import gzip
import json
import math
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers.sentence_transformer import losses as bi

from lossprism.explorer.lab.doctor.logs import log, tensorboard_events
from lossprism.explorer.lab.doctor.logs.findings import single_loss_if_known
from lossprism.explorer.lab.doctor.logs.run_reader import is_run, read_content, read_run
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.sentence_transformers import PrismCallback
from lossprism.losses.sentence_transformers.library_loss_recognition import CALLBACK_RECORD
from tests.sentences import raises_problem
from tests.tiny import static_model
from tests.unit.losses.test_callback import BATCH, rows, trained

WRITTEN = Path(__file__).parents[4] / "data" / "runs"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder in which the library trained and saved: state, model and card."""
    folder = tmp_path_factory.mktemp("run")
    loss = bi.MultipleNegativesRankingLoss(static_model(), scale=10)
    trainer, _ = trained(
        loss, rows("triplets"), folder, PrismCallback(every=2), steps=6, logging_steps=1
    )
    trainer.save_state()
    loss.model.save_pretrained(str(folder / "model"))
    return folder, [one for one in trainer.state.log_history if "loss" in one]


@pytest.mark.trains
def test_the_state_that_the_trainer_saves(run):
    folder, history = run
    log = read_run(str(folder / "trainer_state.json"))
    curve = log.curve(log.trained)
    assert (log.source, log.trained, log.known.batch) == ("trainer_state", "loss", BATCH)
    assert curve.steps.tolist() == [one["step"] for one in history]
    assert curve.values.tolist() == [one["loss"] for one in history]
    assert {"prism_collapse", "prism_floor", "grad_norm"} <= log.curves.keys()
    known = log.known  # the callback knew it
    assert log.called == known.loss == "MultipleNegativesRankingLoss"
    assert (known.negatives, known.temperature, known.scale) == (1, pytest.approx(0.1), None)
    side = single_loss_if_known(known)
    assert side is not None
    assert (side.name, "MultipleNegativesRankingLoss" in side.convention) == ("info_nce", True)


@pytest.mark.parametrize("result", ["x", {}, {"loss": 3, "columns": "two", "parameters": [1]}])
def test_the_state_may_name_any_loss(result):
    state = {
        "log_history": [{"step": 1, "loss": 2.0}],
        "train_batch_size": 8,
        "stateful_callbacks": {"prism": result},
    }
    known = read_content("trainer_state.json", json.dumps(state).encode()).known
    assert (known.loss, known.batch, known.negatives) == ("", 8, None)


@pytest.mark.trains
def test_the_card_of_the_model_knows_the_loss(run):
    folder, history = run
    log = read_run(str(folder / "model" / "README.md"))
    known = log.known
    assert log.called == known.loss == "MultipleNegativesRankingLoss"
    assert (known.batch, known.negatives, known.scale) == (BATCH, 1, 10)
    assert log.curve("loss").values.tolist() == pytest.approx(
        [one["loss"] for one in history], abs=1e-4
    )
    assert log.curve("loss").unit.max() == 0.00005


@pytest.mark.trains
def test_a_folder_has_the_curves_of_one_and_the_loss_of_the_other(run):
    log = read_run(str(run[0]))
    assert log.source == "trainer_state"
    assert (log.known.loss, log.known.batch) == ("MultipleNegativesRankingLoss", BATCH)


def test_a_folder_whose_state_has_the_temperature_and_whose_card_has_the_scale(tmp_path):
    """`PrismCallback` tells the one, the card of sentence-transformers the other: they are one."""
    values = {"loss": "info_nce", "parameters": {"temperature": 0.1}, "called": "", "columns": 2}
    history = [{"step": step, "loss": 2.0 / step} for step in (1, 2, 3)]
    state = {
        "log_history": history,
        "stateful_callbacks": {CALLBACK_RECORD: values},
        "global_step": 3,
    }
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    card = (
        "* Loss: [<code>MultipleNegativesRankingLoss</code>](x) with these parameters:\n"
        '  ```json\n  {\n      "scale": 10.0\n  }\n  ```\n'
    )
    (tmp_path / "README.md").write_text(card)
    assert read_run(str(tmp_path / "README.md")).known.scale == 10.0
    known = read_run(str(tmp_path)).known.checked()
    assert (known.temperature, known.scale) == (0.1, None)


def test_a_run_of_ours(tmp_path):
    plan = {"loss": "info_nce", "batch_size": 16, "parameters": {"temperature": 0.1}, "bf16": True}
    (tmp_path / "config.json").write_text(json.dumps({"plan": plan, "created": 0}))
    lines = [{"kind": "step", "step": n, "loss": 3.0 - n, "gradient_norm": 1.0} for n in (1, 2)]
    lines.append({"kind": "evaluation", "step": 2, "spearman": 0.5, "probe": [0.1]})
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    log = read_run(str(tmp_path))
    assert (log.source, log.precision, log.known.temperature) == ("ours", "bf16", 0.1)
    assert log.curve(log.trained).values.tolist() == [2.0, 1.0]
    assert log.figures == ["eval_spearman"]


WIDE = "Step,train/loss,train/loss__MIN,eval/loss,train/epoch\n10,2.5,2,,0.1\n20,1.5,1,1.75,0.2\n"
# What wandb's `run.history().to_csv()` and the export of a chart have.
HISTORY = (
    ",_step,_runtime,_timestamp,train/loss,train/global_step\n"
    "0,0,1.2,1700.1,2.5,0\n1,10,2.2,1701.1,,10\n2,20,3.2,1702.1,1.5,20\n"
)
CHART = (
    '"train/global_step","a - train/loss","a - train/loss__MIN","b - train/loss"\n'
    '10,2.5,2,3\n20,"","",2\n'
)
# A chart of several runs with the ends of what was averaged, and one over another axis, as the page
# of wandb writes them: every cell quoted, a run's name before each of its columns.
AVERAGED = (
    '"Step","calm-dew-7 - _step","calm-dew-7 - _step__MIN","calm-dew-7 - _step__MAX",'
    '"calm-dew-7 - train/loss","calm-dew-7 - train/loss__MIN","calm-dew-7 - train/loss__MAX"\n'
    '"10","10","10","10","2.5","2.25","2.75"\n"20","20","20","20","1.5","1.25","1.75"\n'
)
OVER_EPOCHS = (
    '"train/epoch","calm-dew-7 - _step","calm-dew-7 - eval/loss","a - b - _step",'
    '"a - b - train/loss"\n"0.5","50","1.5","",""\n"0.6","","","60","3"\n"1","100","1.25","",""\n'
)
# The table of a trackio project, a column for each scalar; the runs one after the other.
PARQUET = "id,timestamp,run_name,step,train/loss\n" + "".join(
    f"{place},2026-11-26T10:00:00+00:00,{run},{step},{loss}\n"
    for place, (run, step, loss) in enumerate(
        [*(("a-0", step, 2.0) for step in range(2000)), ("b-1", 0, 5.0), ("b-1", 1, 4.0)]
    )
)
# As pandas writes missing values with `na_rep`.
TOGETHER = (
    "_step,train/loss,train/grad_norm,eval/loss\n"
    "1,4,1,NaN\n2,3,1,NaN\n2,NaN,NaN,3.5\n3,NaN,NaN,NaN\n4,nan,1,NaN\n"
)
COMMAS = "Step;loss\n1;3,5258\n2;2,5\n3;1,234\n"
LONG = "run_name,step,metric,value\na,1,loss,3\na,2,loss,2\nb,1,loss,5\n"


@pytest.mark.parametrize(
    ("name", "text", "curves", "trained"),
    [
        ("wandb.csv", WIDE, {"train/loss": [2.5, 1.5], "eval/loss": [1.75]}, "train/loss"),
        (
            "ui.csv",
            '"Step","bold-sun-1 - train/loss"\n"1","0.5"\n"2","nan"\n',
            {"bold-sun-1 - train/loss": [0.5, None]},
            "bold-sun-1 - train/loss",
        ),
        ("history.csv", HISTORY, {"train/loss": [2.5, 1.5]}, "train/loss"),
        ("chart.csv", CHART, {"a - train/loss": [2.5], "b - train/loss": [3, 2]}, "a - train/loss"),
        ("averaged.csv", AVERAGED, {"calm-dew-7 - train/loss": [2.5, 1.5]},
         "calm-dew-7 - train/loss"),
        ("epochs.csv", OVER_EPOCHS,
         {"calm-dew-7 - eval/loss": [1.5, 1.25], "a - b - train/loss": [3]}, "a - b - train/loss"),
        ("trackio.csv", LONG, {"a · loss": [3, 2], "b · loss": [5]}, "a · loss"),
        ("train_loss.csv", "Wall time,Step,Value\n1.5,1,0.25\n2.5,2,0.125\n",
         {"train_loss": [0.25, 0.125]}, "train_loss"),
        ("log.jsonl", '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25}\n',
         {"loss": [0.5, 0.25]}, "loss"),
        ("project.csv", PARQUET, {"a-0 · train/loss": [2] * 2000, "b-1 · train/loss": [5, 4]},
         "a-0 · train/loss"),
        ("merged.csv", TOGETHER,
         {"train/loss": [4, 3, None, None], "train/grad_norm": [1, 1, None, 1],
          "eval/loss": [3.5, None]},
         "train/loss"),
        ("commas.csv", COMMAS, {"loss": [3.5258, 2.5, 1.234]}, "loss"),
        ("run-.-tag-train_loss.csv", "Wall time,Step,Value\n1.5,1,0.25\n",
         {"train_loss": [0.25]}, "train_loss"),
        ("mlflow.csv", "run_id,key,value,step\nx,loss,3,1\ny,loss,2,1\n",
         {"x · loss": [3], "y · loss": [2]}, "x · loss"),
        ("metrics.csv", "epoch,step,train_loss_step,val_loss_epoch\n0,1,3,\n0,2,,4\n0,2,2,\n",
         {"train_loss_step": [3, 2], "val_loss_epoch": [4]}, "train_loss_step"),
        ("comet.csv", "step,timestamp,value,metricName\n1,9,3,loss\n2,9,2,loss\n",
         {"loss": [3, 2]}, "loss"),
        ("late.csv", "step,loss\n2,5\n1,4\n2,6\n", {"loss": [4, 6]}, "loss"),
    ],
)  # fmt: skip
def test_a_table_of_scalars(name, text, curves, trained):
    log = read_content(name, text.encode())
    found = {
        name: [None if value != value else value for value in curve.values.tolist()]
        for name, curve in log.curves.items()
    }
    assert found == curves
    assert log.trained == trained


def test_a_curve_has_the_steps_of_its_own_run():
    log = read_content("epochs.csv", OVER_EPOCHS.encode())
    assert log.curve("calm-dew-7 - eval/loss").steps.tolist() == [50, 100]
    assert log.held_out == "calm-dew-7 - eval/loss"


def test_a_table_of_runs_is_no_log(tmp_path):
    """What wandb exports of the table of runs: their settings and their last values."""
    text = (
        '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","batch_size","_step",'
        '"train/loss"\n"calm-dew-7","finished","-","me","","2026-01-02T03:04:05.000Z","120","",'
        '"64","500","0.25"\n"bold-sun-1","crashed","-","me","","2026-01-02T03:04:05.000Z","12","",'
        '"64","40","2.5"\n'
    )
    with raises_problem("run_table_of_runs"):
        read_content("wandb_export.csv", text.encode())
    path = tmp_path / "wandb_export.csv"
    path.write_text(text, encoding="utf-8")
    assert is_run(str(path))  # so that the command says the same


def record(content):
    """A record of an event file, with its checksums."""
    head = struct.pack("<Q", len(content))
    parts = (head, struct.pack("<I", tensorboard_events.checksum(head)), content)
    return b"".join((*parts, struct.pack("<I", tensorboard_events.checksum(content))))


def event(step, tag, value):
    """An event with a scalar; the value as TensorBoard's v2 writes it, a tensor, where it is a
    float, as v1 does where it is a number of bytes."""
    if isinstance(value, bytes):
        scalar = b"\x15" + value
    else:
        tensor = b"\x08\x01" + b"\x2a\x04" + struct.pack("<f", value)
        scalar = b"\x42" + bytes([len(tensor)]) + tensor
    held = b"\x0a" + bytes([len(tag)]) + tag.encode() + scalar
    summary = b"\x0a" + bytes([len(held)]) + held
    return record(b"\x09" + bytes(8) + b"\x10" + bytes([step]) + b"\x2a"
                  + bytes([len(summary)]) + summary)  # fmt: skip


FIRST = record(b"\x09" + bytes(8) + b"\x1a\x0dbrain.Event:2")


def test_the_event_files_of_tensorboard():
    """Google's test vectors hold the checksum, the format is that of its documentation."""
    assert (
        tensorboard_events.checksum(bytes(32))
        == ((0x8A9136AA >> 15 | 0x8A9136AA << 17) + 0xA282EAD8) % 2**32
    )
    content = FIRST + event(1, "train/loss", 2.5) + event(2, "train/loss", struct.pack("<f", 1.25))
    log = read_content("events.out.tfevents.1.host", content)
    assert log.curve("train/loss").values.tolist() == [2.5, 1.25]
    assert log.curve("train/loss").steps.tolist() == [1, 2]
    cut = read_content("events", content[:-3])  # it is still being written
    assert cut.curve("train/loss").values.tolist() == [2.5]
    with pytest.raises(Problem, match="checksum of the record"):
        read_content("events", content[:-5] + b"!" + content[-4:])


def test_a_folder_of_logs_is_looked_through_for_event_files(tmp_path):
    """As TensorBoard itself is given it: the folder above those of the runs."""
    content = FIRST + event(1, "train/loss", 2.5)
    for place in ("runs/Nov26_10-00_host", "Nov26_11-00_host"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "events.out.tfevents.1.host").write_bytes(content)
        content += event(2, "train/loss", 1.5)
    for folder, count in ((tmp_path / "runs", 1), (tmp_path, 2)):
        assert len(read_run(str(folder)).curve("train/loss")) == count


def test_a_log_of_too_many_curves_is_refused(monkeypatch):
    monkeypatch.setattr(log, "MAX_CURVES", 3)
    history = [{"step": step, "loss": 1.0, f"other {step}": 2.0} for step in range(2)]
    assert len(read_content("s.json", json.dumps({"log_history": history}).encode()).curves) == 3
    history.append({"step": 2, "one more": 1.0})
    with raises_problem("run_too_many_curves", most=3):
        read_content("s.json", json.dumps({"log_history": history}).encode())


@pytest.mark.parametrize("written", ["1" + "0" * 400, "1e400"])
def test_a_value_beyond_all_numbers_is_infinite_wherever_it_stands(written):
    """As a whole number of JSON, a number of JSON, and as text in a table."""
    state = (
        f'{{"log_history": [{{"step": 1, "loss": {written}}}, {{"step": 2, "loss": -{written}}}]}}'
    )
    for name, text in (
        ("s.json", state),
        ("long.csv", f"step,name,value\n1,loss,{written}\n2,loss,-{written}\n"),
    ):
        curve = read_content(name, text.encode()).curve("loss")
        assert curve.values.tolist() == [math.inf, -math.inf]
        assert curve.unit.tolist() == [0, 0]
    with raises_problem("run_step"):
        read_content("s.json", state.replace('"step": 1', f'"step": {written}').encode())


@pytest.mark.parametrize("written", ["0e999", "1e-" + "9" * 5000, "-1e-400"])
def test_a_power_may_have_any_number_of_digits(written):
    curve = read_content("a.csv", f"step,name,value\n1,loss,{written}\n".encode()).curve("loss")
    assert curve.values.tolist() == [0]
    assert 0 <= curve.unit[0] < math.inf


def test_files_that_the_packages_wrote():
    """As tests/data/runs/README.md says: two runs of one name, one with a value that is no number;
    scalars as TensorBoard wrote them first, and as it does today."""
    held = gzip.decompress((WRITTEN / "trackio-0.43.0.db.gz").read_bytes())
    log = read_content("project.db", held)
    assert set(log.curves) == {"same · train/loss", "same · eval/loss", "same (2) · train/loss"}
    expected = [2 * math.exp(-place / 20) + 0.1 for place in range(40)]
    assert log.curve("same · train/loss").values.tolist() == pytest.approx(expected)
    assert log.curve("same · train/loss").steps.tolist() == list(range(0, 400, 10))
    assert log.curve("same · eval/loss").values.tolist() == [1.5, 1.6, 1.7, 1.8]
    again = log.curve("same (2) · train/loss").values
    assert np.isnan(again[7])
    assert again[[0, 39]].tolist() == pytest.approx([3.0, 1.05])
    for name in ("tensorboard-2.21.0-tensor.tfevents", "tensorboard-2.21.0-simple.tfevents"):
        curve = read_content(name, (WRITTEN / name).read_bytes()).curve("train/loss")
        assert curve.values.tolist() == pytest.approx(expected)
        assert curve.steps.tolist() == list(range(0, 400, 10))


NESTED_CARD = b"* Loss: <code>Loss</code>\n```json\n%b\n```" % (b"[" * 100_000)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("trainer_state.json", b'{"log_history": [{"loss": 1.0}]}', "run_damaged"),
        ("trainer_state.json", b'{"log_history": [', "run_damaged"),
        ("trainer_state.json", b'{"log_history": []}', "run_nothing_logged"),
        ("trainer_state.json", b'{"log_history": 3}', "run_damaged"),
        ("loss.csv", b"time,amount\n1,2\n", "run_no_steps"),
        ("loss.csv", b"step,text\n1,two\n", "run_no_values"),
        ("loss.csv", b"step,loss\none,2\n2,3\n", "run_step"),
        ("loss.csv", b"", "run_empty"),
        ("README.md", b"* Loss: [<code>Loss</code>](x) with:\n  ```json\n {,\n ```", "run_damaged"),
        ("README.md", NESTED_CARD, "run_damaged"),
        ("project.db", b"SQLite format 3\x00" + bytes(200), "run_damaged"),
    ],
)  # fmt: skip
def test_a_malformed_log_gets_a_sentence(name, content, problem):
    with raises_problem(problem, name="loss" if problem == "run_step" else name):
        read_content(name, content)


@pytest.mark.parametrize("damaged", ['{"global_step": Infinity}', "[" * 100_000, "[]", "{"])
def test_a_damaged_state_is_older_than_any_other(tmp_path, damaged):
    state = {"global_step": 1, "log_history": [{"step": 1, "loss": 2.0}]}
    for name, text in (("checkpoint-1", json.dumps(state)), ("checkpoint-2", damaged)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(text)
    assert read_run(str(tmp_path)).curve("loss").values.tolist() == [2.0]


def test_so_does_a_place_without_any(tmp_path):
    with raises_problem("run_missing"):
        read_run(str(tmp_path / "nothing"))
    with raises_problem("run_folder"):
        read_run(str(tmp_path))
    (tmp_path / "loss.csv").write_text("step,loss\n1,2\n")
    log = read_run(str(tmp_path / "loss.csv"))
    with raises_problem("run_no_curve", name="other"):
        log.curve("other")


def test_a_curve_takes_little_more_than_its_numbers():
    count = 20_000
    values, steps = tuple(map(float, range(count))), tuple(map(float, range(count, 0, -1)))
    tracemalloc.start()
    try:
        curve = log.log_of((values, steps), (values, None)).curve("loss")
        assert tracemalloc.get_traced_memory()[1] < count * 250
    finally:
        tracemalloc.stop()
    assert curve.steps.tolist() == sorted(steps)
    assert curve.values[0] == count - 1


def test_the_column_of_steps_is_chosen_among_those_that_rise():
    text = "epoch,step,seen,loss,eval_accuracy\n" + "".join(
        f"{n / 10},{n},{32 * n},{3 - n / 50},{(n * 7) % 5}\n" for n in range(1, 60)
    )
    log = read_content("a.csv", text.encode())
    assert (log.steps, log.step) == (("step", "epoch", "seen", "#"), "step")
    assert "eval_accuracy" in log.curves
    for step, last in (("seen", 32 * 59), ("epoch", 5.9), ("#", 59)):
        log = read_content("a.csv", text.encode(), step)
        assert (log.step, log.curve("loss").steps[-1]) == (step, last)
    with raises_problem("run_step_unknown", step="loss"):
        read_content("a.csv", text.encode(), "loss")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("loss\n3.2\n2.5\n2.1\n1.9\n", "loss"),
        ("3.2\n2.5\n2.1\n1.9\n", "loss"),
        ("note,loss,eval_loss\na,3.2,3\nb,2.5,2\nc,2.1,\nd,1.9,2\n", "loss"),
    ],
)
def test_a_log_without_steps_is_a_log(tmp_path, text, name):
    path = tmp_path / "log.csv"
    path.write_text(text)
    assert is_run(str(path))
    log = read_run(str(path))
    assert list(log.curve(name).values) == [3.2, 2.5, 2.1, 1.9]
    assert list(log.curve(name).steps) == [1, 2, 3, 4]
    assert log.step == "#"
