"""Tables within pasted text: between sentences, between fences, and rows without names."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor.pasted_input import read_pasted, read_typed
from lossprism.explorer.sources.pairs_from_tables import read_table
from lossprism.explorer.sources.reading_notes import reading_notes
from lossprism.explorer.web.api.pasted_text_diagnosis import doctor_pasted
from tests.unit.lab.doctor.test_pasted_forms import DRAWN, HEAD, ROWS
from tests.unit.sources.test_odd_files import calls_of

BEFORE = "Hi all, I train a bi-encoder | with CoSENT.\nAny ideas why it is stuck at 0.69?\n\n"
AFTER = "\n\nWhat is wrong?\nthank you"
TABBED = "\n".join("\t".join(map(str, row)) for row in (HEAD, *ROWS))
SEPARATORS = (" ", "   ", ",", ", ", "\t", ";", "; ")
PAIRS = {
    "bars": "| first | second | score |\n|---|---|---|\n| a cat | a dog | 0.3 |\n| x | y z | 0.9 |",
    "tabs": "first\tsecond\tscore\na cat\ta dog\t0.3\nx\ty z\t0.9",
    "blanks": "first  second  score\na cat  a dog  0.3\nx  y z  0.9",
}
FENCED = {
    **PAIRS,
    "CSV": "first,second,score\na cat,a dog,0.3\nx,y z,0.9",
    "JSON lines": "\n".join(
        json.dumps({"first": a, "second": b, "score": c})
        for a, b, c in (("a cat", "a dog", 0.3), ("x", "y z", 0.9))
    ),
}


def points(text: str) -> tuple[list, tuple[int, ...]]:
    log = read_pasted(text.encode()).log
    assert log is not None
    curve = log.curve(log.trained)
    return list(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)), log.left_lines


def pasted_rows(separator: str, decimal: str = ".") -> str:
    return "\n".join(f"{a}{separator}{str(b).replace('.', decimal)}" for a, b in ROWS)


@pytest.mark.parametrize("form", [*DRAWN, "tabs"])
def test_sentences_around_a_drawn_table_are_left_and_counted(form):
    table = {**DRAWN, "tabs": TABBED}[form].replace("\r\n", "\n")
    height = len(table.split("\n"))
    end = 3 + height + 2
    assert points(BEFORE + table + AFTER) == (ROWS, (1, 2, end, end + 1))
    assert points(table + AFTER) == (ROWS, (height + 2, height + 3))
    assert points(BEFORE + table) == (ROWS, (1, 2))
    assert doctor_pasted(BEFORE + table)["left_lines"] == [1, 2]


@pytest.mark.parametrize("form", [*DRAWN, "tabs"])
@pytest.mark.parametrize("fence", ["```{}\n{}\n```", "~~~{}\n{}\n~~~", "```{}\n{}"])
def test_a_table_between_fences_is_read(form, fence):
    table = {**DRAWN, "tabs": TABBED}[form].replace("\r\n", "\n")
    for language in ("", "text", "csv"):
        assert points(fence.format(language, table)) == (ROWS, ())
        assert points(BEFORE + fence.format(language, table)) == (ROWS, (1, 2))


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_rows_without_names_are_steps_and_losses(separator, count):
    text = "\n".join(pasted_rows(separator).split("\n")[:count])
    for pasted in (text, f"{text}\n", f"```\n{text}\n```"):
        assert points(pasted) == (ROWS[:count], ())
        assert read_typed(pasted).numbers == ()
    around = f"my losses so far\n{text}\nwhy?"
    assert points(around) == (ROWS[:count], (1, count + 2))
    named = f"Hi all!\nstep{separator}loss\n{text}\nwhy?"
    assert points(named) == (ROWS[:count], (1, count + 3))


def test_rows_with_decimal_commas_and_more_columns_are_read():
    for separator in (";", " ", "\t"):
        assert points(pasted_rows(separator, ","))[0] == ROWS
    wide = "\n".join(f"{a} {b} 1e-5" for a, b in ROWS)
    assert points(wide)[0] == ROWS
    many = [(float(at), round(0.7 - at / 1000, 3)) for at in range(50)]
    assert points("\n".join(f"{at:.0f} {value:.3f}" for at, value in many))[0] == many


@pytest.mark.parametrize(
    "text", ["1 2\n3 4", "0.69 0.68\n0.67 0.66", "10 0.69", "20 0.69\n10 0.68"]
)
def test_other_numbers_stay_numbers(text):
    assert read_pasted(text.encode()).numbers == tuple(text.split())


@pytest.mark.parametrize("form", FENCED)
def test_a_table_of_pairs_within_text_is_read_and_says_what_it_left(form):
    texts = [f"{BEFORE}```\n{FENCED[form]}\n```{AFTER}"]
    texts += [BEFORE + PAIRS[form] + AFTER] if form in PAIRS else []
    for text in texts:
        assert read_pasted(text.encode()).kind == "table"
        table = read_table(text.encode(), "pasted.txt")
        assert table.pairs.rows == (("a cat", "a dog", "0.3"), ("x", "y z", "0.9"))
        keys = {note.key: note.values for note in reading_notes(table)}
        end = len(text.split("\n"))
        assert keys["reading.left_lines"] == {"lines": f"1, 2, {end - 1}, {end}"}


def test_classes_within_text_say_what_they_left():
    text = "My intents:\n```\ntext,intent\nhello there,greet\nbye now,part\nhi,greet\n```"
    assert any("line 1" in one for one in doctor_pasted(text)["data"]["reading"])


def test_long_prose_beside_a_short_table_is_no_table():
    prose = "\n".join(f"sentence {at} says that nothing happened" for at in range(60))
    assert read_pasted(f"{prose}\n{DRAWN['blanks']}\n{prose}".encode()).kind == "table"


def aligned(rows: int) -> bytes:
    lines = (f"{at:7d}  {0.7 - at / 1e6:8.5f}  {at % 7:9.6f}" for at in range(rows))
    return "\n".join(("   step      loss  grad_norm", *lines)).encode()


def test_a_long_drawn_table_is_gone_through_once():
    few, many = (calls_of(lambda rows=rows: read_pasted(aligned(rows))) for rows in (1000, 3000))
    assert (many - few) / 2000 < 150
