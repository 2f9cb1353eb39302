"""Forms in which people paste a number or a log: drawn tables, sentences, Chinese, percentages."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor.logs.run_reader import read_content
from lossprism.explorer.lab.doctor.pasted_input import read_pasted, read_typed
from lossprism.explorer.sources.table_file_reader import read_grid
from lossprism.explorer.sources.table_in_pasted_text import table_in
from lossprism.explorer.web.api.pasted_text_diagnosis import doctor_pasted
from lossprism.explorer.web.pages.doctor import number_requests
from tests.sentences import pattern_of, raises_problem
from tests.unit.lab.doctor.test_standard_input import piped  # noqa: F401
from tests.wire import by_name

HEAD, ROWS = ("step", "loss"), [(10, 0.693), (20, 0.691), (30, 0.69), (40, 0.689)]


def _bars(rule, frame="|"):
    lines = [f"| {a} | {b} |" for a, b in (HEAD, *ROWS)]
    return "\n".join([lines[0], rule, *lines[1:]]).replace("|", frame)


def _columns(format_row, rule=""):
    lines = [format_row.format(*row) for row in (HEAD, *ROWS)]
    return "\n".join([lines[0], *([rule] if rule else []), *lines[1:]])


DRAWN = {
    "Markdown": _bars("|---|---|"),
    "Markdown, aligned": _bars("|:---:|-----:|"),
    "Markdown without outer bars": "step | loss\n--- | ---\n"
    + "\n".join(f"{a} | {b}" for a, b in ROWS),
    "psql": " step | loss\n------+------\n" + "\n".join(f" {a} | {b}" for a, b in ROWS),
    "grid": "+----+----+\n" + _bars("+====+====+") + "\n+----+----+",
    "box": "┌──┬──┐\n" + _bars("├──┼──┤", "│") + "\n└──┴──┘",
    "bold": _bars("|---|---|").replace("0.69 ", "**0.69** "),
    "blanks": _columns("{}  {}"),
    "single blanks": _columns("{} {}"),
    "right": _columns("{:>8}{:>10}"),
    "tabulate": _columns("{:>6}  {:>6}", "------  ------"),
    "pandas": "   step   loss\n" + "\n".join(f"{n}  {a}  {b}" for n, (a, b) in enumerate(ROWS)),
    "Chinese": _columns("{}  {}").replace("step", "步数").replace("loss", "训练损失"),
    "Windows": _columns("{}  {}").replace("\n", "\r\n"),
}


@pytest.mark.parametrize("form", DRAWN)
def test_a_drawn_table_of_steps_and_losses_is_a_log(form):
    for log in (read_pasted(DRAWN[form].encode()).log, read_content("log", DRAWN[form].encode())):
        curve = log.curve(log.trained)
        assert list(zip(curve.steps, curve.values, strict=True)) == ROWS


def test_a_drawn_table_of_pairs_stays_one():
    text = "| first | second | score |\n|---|---|---|\n| a cat | a dog | 0.3 |\n| x | y z | 0.9 |"
    assert read_pasted(text.encode()).kind == "table"
    grid = read_grid(text.encode(), "table.txt", None)
    assert grid.columns == ("first", "second", "score")
    assert next(list(cells) for _, cells in grid.records(lambda *_: None)) == [
        "a cat",
        "a dog",
        "0.3",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "first,  second,  score\na  b,  c  d,  1\ne  f,  g  h,  0\n",
        "a  b\tc\td\n1  2\t3\t4\n",
        "one sentence\nanother sentence\n",
        "Hello.  Yes.\nWhy?  No.\n",
        "1 2\n3 4\n",
        '{"a": "x | y"}\n{"a": "z | w"}',
        "| train | epoch 001: 1 / 9 loss=0.7, ppl=2\n| train | epoch 001: 2 / 9 loss=0.6, ppl=2",
    ],
)
def test_texts_with_blanks_or_bars_are_no_drawn_tables(text):
    assert not table_in(text).is_drawn


SENTENCES = {
    "~0.693": ["0.693"],
    "≈ 0.693": ["0.693"],
    "about 0.69": ["0.69"],
    "0.693 ± 0.002": ["0.693"],
    "0.69–0.70": ["0.69", "0.70"],
    "０．６９３１": ["0.6931"],
    "`0.6931`": ["0.6931"],
    "2.09，2.08": ["2.09", "2.08"],
    "2.09、2.08": ["2.09", "2.08"],
    "my loss is stuck at 0.6931": ["0.6931"],
    "my loss is stuck at 0.6931.": ["0.6931"],
    "why is my loss 0.693 with batch 64?": ["0.693"],
    "at temperature 0.05 and batch size 64 the loss stays around 4.158": ["4.158"],
    "loss dropped from 2.08 to 0.69": ["0.69"],
    "the loss with 3 negatives is 1.386 after 200 steps": ["1.386"],
    "the eval loss is stuck at 0.70": ["0.70"],
    "accuracy 0.75 and loss 0.69": ["0.69"],
    "loss：0.6931": ["0.6931"],
    "损失：0.6931": ["0.6931"],
    "损失一直是 2.08": ["2.08"],
    "损失为0.6931": ["0.6931"],
    "loss 卡在 0.693 不动": ["0.693"],
    "训练损失卡在 2.08，批大小 8": ["2.08"],
    "loss 从 2.08 降到 0.69": ["0.69"],
    "损失大约在 0.69 左右": ["0.69"],
    "acc 93.75%": ["0.9375"],
    "acc=93.75": ["0.9375"],
    "准确率一直是 93.75%": ["0.9375"],
    "ndcg@10 0.45": ["0.45"],
    "93.75%": ["0.9375"],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_the_number_of_a_sentence_is_read_wherever_it_is_typed(text):
    assert list(read_pasted(text.encode()).numbers) == SENTENCES[text]
    assert list(read_typed(text).numbers) == SENTENCES[text]
    assert doctor_pasted(text)["numbers"] == SENTENCES[text]


@pytest.mark.parametrize(
    "text", ["my loss is stuck", "I have 2.5 cats", "a loss with 3 negatives", "loss of 256 pairs"]
)
def test_a_sentence_without_a_value_is_refused(text):
    with raises_problem("pasted_unknown", ValueError):
        read_pasted(text.encode())
    assert read_typed(text).numbers == ()


def test_sentences_in_a_table_are_no_values():
    text = "sentence1,sentence2,score\nmy loss is stuck at 0.69,why,1\n"
    assert read_pasted(text.encode()).kind == "table"


def test_what_became_no_number_is_a_run():
    assert read_pasted(b"my loss is nan").kind == "run"


SUMMARY = """wandb: Run summary:
wandb:              eval/loss 0.7012
wandb:    train/global_step 500
wandb:          {name} 0.6931
"""


@pytest.mark.parametrize("name", ["train/loss", "train_loss", "loss"])
def test_a_summary_has_the_held_out_loss_in_a_curve_of_its_own(name):
    found = read_pasted(SUMMARY.format(name=name).encode())
    assert found.numbers == ("0.6931",)
    assert found.log.curve(found.log.held_out).values.tolist() == [0.7012]


def test_chinese_lines_have_steps_and_both_losses():
    lines = "\n".join(f"第{a}步 训练损失：{b}，验证损失：{b + 1}" for a, b in ROWS)
    log = read_pasted(lines.encode()).log
    curve = log.curve(log.trained)
    assert list(zip(curve.steps, curve.values, strict=True)) == ROWS
    assert log.curve(log.held_out).values.tolist() == [b + 1 for _, b in ROWS]


# ---- What a number means, wherever it comes in -------------------------------------------------

FACTORS = [(f"{factor * 2.0794:.4f}", factor) for factor in (2, 4, 8, 16)]


def answers(text, known, piped, capsys):  # noqa: F811
    """What the command, programs and the page are answered about a text."""
    words = [word for name, value in known.items() for word in (f"--{name}", str(value))]
    assert piped(text, *words, "--json") == 0
    yield json.loads(capsys.readouterr().out)
    yield doctor_pasted(text, **known)["explained"]
    page = by_name(number_requests.SERVED)
    explain, paste = page["explain"], page["read_pasted"]
    typed = {name: str(value) for name, value in known.items()}
    yield explain({"value": paste({"text": text})["value"], **typed})
    yield explain({"value": text, **typed})


@pytest.mark.parametrize(("value", "factor"), FACTORS)
def test_multiples_of_a_value_at_collapse_are_named_everywhere(value, factor, piped, capsys):  # noqa: F811
    known = {"loss": "info_nce", "batch": 8}
    for text in (value, f"my loss is stuck at {value}"):
        for answer in answers(text, known, piped, capsys):
            assert factor in [one["factor"] for one in answer["findings"]]


def test_sums_over_the_batch_are_named_everywhere(piped, capsys):  # noqa: F811
    for answer in answers("loss：16.6355", {"loss": "info_nce", "batch": 8}, piped, capsys):
        assert "batch" in [one["summed"] for one in answer["findings"]]


def test_chance_levels_are_named_everywhere(piped, capsys):  # noqa: F811
    accuracy = pattern_of("doctor.chance.always_no", value="0.875")
    for text in ("0.875", "acc 87.5%"):
        for answer in answers(text, {"negatives": 7}, piped, capsys):
            assert any(map(accuracy.search, answer["sentences"]))
            assert answer["told"] == answer["sentences"]  # the former name


VALUES = [2.09, 2.05, 1.9, 1.7]
STEPPED = {
    "a step that each epoch counts anew": (
        [f"Epoch [{n + 1}/4], Step [600/600], Loss: {v}" for n, v in enumerate(VALUES)],
        [600, 1200, 1800, 2400],
    ),
    "two prints in each epoch": (
        [f"epoch {n // 2} iter {n % 2 * 50 + 50}/100 loss {v}" for n, v in enumerate(VALUES)],
        [50, 100, 150, 200],
    ),
    "an iteration before a colon": (
        [f"iter {n * 100}: train loss {v}, val loss {v + 1}" for n, v in enumerate(VALUES)],
        [0, 100, 200, 300],
    ),
    "Megatron": (
        [f" iteration   {n * 10}/    500 | lm loss: {v:.6E} |" for n, v in enumerate(VALUES)],
        [0, 10, 20, 30],
    ),
    "metrics in an object": (
        [json.dumps({"step": n, "time": "now", "metrics": {"train/loss": v,
         "train/global_step": n * 10}}) for n, v in enumerate(VALUES)],
        [0, 10, 20, 30],
    ),
    "an object for each part": (
        [json.dumps({"global_step": n * 5, "train": {"loss": v}, "eval": {"loss": v + 1}})
         for n, v in enumerate(VALUES)],
        [0, 5, 10, 15],
    ),
    "TensorBoard's export of one curve": (
        ["Wall time,Step,Value", *(f"17.{n},{n * 10},{v}" for n, v in enumerate(VALUES))],
        [0, 10, 20, 30],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", STEPPED)
def test_steps_and_losses_are_read_where_each_form_has_them(form):
    lines, steps = STEPPED[form]
    log = read_pasted("\n".join(lines).encode()).log
    curve = log.curve(log.trained)
    assert list(zip(curve.steps, curve.values, strict=True)) == [*zip(steps, VALUES, strict=True)]


def test_a_clock_and_the_end_of_a_name_are_no_curves():
    lines = [f"eta: 0:10:0{n} Data (t): 0.1 loss: {v}" for n, v in enumerate(VALUES)]
    assert set(read_pasted("\n".join(lines).encode()).log.curves) == {"loss"}
