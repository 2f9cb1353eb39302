"""Tables read back as what was shown; snippets, run, print the number that was shown."""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.explore import explore
from explorer.export import matrix_csv, pairs_csv, snippet, suspects_csv, terms_csv, twin_snippet
from explorer.own_loss import add_own_loss
from explorer.scenario import Data, Rules, Scenario, View
from explorer.sources.random_batch import RandomBatch
from explorer.sources.tables import read_file
from losses import LOSSES

ROOT = Path(__file__).resolve().parents[2]
RANDOM = Data(source="random")
SMALL = Data(source="random", random=RandomBatch(pairs=14, dimension=4, seed=3))
ENGLISH = Data(example="graded_english")


def seen(data=SMALL, loss="cosent", convention="", rules=None, **parameters):
    chosen = tuple(parameters.items())
    return explore(Scenario(data, rules or Rules(), loss, convention, chosen))


def with_view(found, **view):
    scenario = dataclasses.replace(found.scenario, view=View(**view))
    return dataclasses.replace(found, scenario=scenario)


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


# Tables


@pytest.mark.parametrize("loss", LOSSES)
def test_every_matrix_reads_back_to_the_last_digit(loss):
    found = with_view(seen(loss=loss), order="entry")
    for place, step in enumerate((*found.trace.inputs, *found.trace.steps)):
        head, *body = rows_of(matrix_csv(found, place))
        assert head[0] == f"{step.name} (value)"
        numbers = np.array([[float(cell or "-inf") for cell in row[1:]] for row in body])
        np.testing.assert_array_equal(numbers.ravel(), step.value.double().numpy().ravel())


def test_a_matrix_is_arranged_and_named_as_on_the_page():
    found = with_view(seen(ENGLISH), order="label")
    head, *body = rows_of(matrix_csv(found))
    order = sorted(range(24), key=lambda p: (found.batch.labels[p], found.batch.scores[p]))
    pairs = found.batch.pairs
    names = [f"pair {p + 1}: {pairs.first[p]} | {pairs.second[p]}" for p in order]
    assert head[1:] == names
    assert [row[0] for row in body] == names
    cells = {
        (row[0], name): cell for row in body for name, cell in zip(head[1:], row[1:], strict=True)
    }
    terms = found.trace.last("terms").value
    assert float(cells[names[0], names[-1]]) == float(terms[order[0], order[-1]])
    assert cells[names[-1], names[0]] == ""  # masked


@pytest.mark.parametrize("facet", ["mask", "weight", "gradient"])
def test_the_facet_is_the_one_looked_at(facet):
    found = with_view(seen(), facet=facet, order="entry")
    head, *body = rows_of(matrix_csv(found))
    assert head[0] == f"terms ({facet})"
    numbers = np.array([[float(cell) for cell in row[1:]] for row in body])
    terms = found.trace.last("terms")
    expected = {
        "mask": found.trace.mask_of(terms),
        "weight": found.weights.shares,
        "gradient": terms.gradient,
    }[facet]
    np.testing.assert_array_equal(numbers, expected.double().numpy())


@pytest.mark.parametrize("loss", LOSSES)
def test_the_terms_are_the_heaviest_ones(loss):
    found = seen(loss=loss)
    head, *body = rows_of(terms_csv(found))
    assert head[-3:] == ["value", "weight", "cumulative_weight"]
    assert [int(row[0]) for row in body] == list(range(1, len(found.heaviest) + 1))
    for row, term in zip(body, found.heaviest, strict=True):
        assert [float(cell) for cell in row[-3:]] == [term.value, term.share, term.so_far]


def test_terms_and_suspects_name_their_pairs():
    found = seen(ENGLISH)
    term = dict(zip(*rows_of(terms_csv(found))[:2], strict=True))
    assert (term["row"], term["column"]) == ("pair 7", "pair 15")
    assert term["row_text"].startswith("Two children are building a sandcastle")
    head, *body = rows_of(suspects_csv(found))
    suspects = [dict(zip(head, row, strict=True)) for row in body]
    assert {int(row["pair"]) for row in suspects} == {s.pair + 1 for s in found.suspects}
    assert [float(row["fitting_label"]) for row in suspects] == [s.fitting for s in found.suspects]


@pytest.mark.parametrize("loss", ["info_nce", "nt_xent", "siglip", "nce"])
def test_a_term_is_named_by_the_pair_that_its_sentence_comes_from(loss):
    pairs = seen(ENGLISH, loss).batch.pairs
    head, *body = rows_of(terms_csv(seen(ENGLISH, loss)))
    for row in (dict(zip(head, row, strict=True)) for row in body):
        for side in ("row", "column"):
            pair = int(row[side].split()[-1]) - 1
            assert row[f"{side}_text"] in (pairs.first[pair], pairs.second[pair])


def test_pairs_read_back_as_a_file_of_pairs(tmp_path):
    found = seen(ENGLISH)
    path = tmp_path / "pairs.csv"
    path.write_text(pairs_csv(found), encoding="utf-8-sig", newline="")
    read = read_file(path).pairs
    assert read.first == found.batch.pairs.first
    assert read.second == found.batch.pairs.second
    assert read.labels == found.batch.pairs.labels
    head, *body = rows_of(pairs_csv(found))
    gradient = [float(row[head.index("gradient")]) for row in body]
    assert gradient == found.pair_gradient.tolist()
    assert min(gradient) < 0  # a negative number is no formula


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", '=cmd|" /C calc"!A0']


def test_cells_that_a_spreadsheet_would_run_are_made_harmless():
    rows = [(text, f"other {place}", str(place)) for place, text in enumerate(FORMULAS)]
    rows += [("a, b", 'say "so"', "3"), ("two\r\nlines", "half \ud800", "4"), ("nul\0", "x", "5")]
    found = seen()
    pairs = dataclasses.replace(
        found.batch.pairs,
        first=tuple(row[0] for row in rows) + ("x",) * 2,
        second=tuple(row[1] for row in rows) + ("y",) * 2,
    )
    found = dataclasses.replace(found, batch=dataclasses.replace(found.batch, pairs=pairs))
    for text in (pairs_csv(found), terms_csv(found), matrix_csv(found), suspects_csv(found)):
        text.encode("utf-8")
        assert "\0" not in text
        for cell in (cell for row in rows_of(text) for cell in row):
            if cell.startswith(tuple("=+-@\t\r\n＝")):
                float(cell)  # only a number may begin like this
    body = rows_of(pairs_csv(found))[1:]
    assert [row[1] for row in body[: len(FORMULAS)]] == [f"'{text}" for text in FORMULAS]
    assert body[len(FORMULAS)][1:3] == ["a, b", 'say "so"']
    assert body[len(FORMULAS) + 1][1:3] == ["two\r\nlines", "half \ufffd"]
    assert all(line.endswith("\r\n") for line in pairs_csv(found).splitlines(keepends=True)[-2:])


# Snippets

RUNNER = """
import contextlib, io, json, sys
printed = []
for text in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "snippet", "exec"), {"__name__": "__main__"})
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def printed_by(snippets):
    """What each prints, all run in one fresh process that knows nothing of this one."""
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(snippets),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(text) for text in json.loads(done.stdout)]


@functools.cache
def explorations():
    """Every loss and convention on a random batch, every loss on two textbook examples."""
    return tuple(_explorations())


def _explorations():
    for name, spec in LOSSES.items():
        for convention in ("", *(c.name for c in spec.conventions)):
            yield seen(RANDOM, name, convention)
            yield seen(SMALL, name, convention)
        yield seen(ENGLISH, name)
        yield seen(Data(example="cosent_batch"), name)


def test_snippets_print_the_loss():
    found = explorations()
    printed = printed_by([snippet(e) for e in found])
    assert len({e.spec.name for e in found}) == len(LOSSES)
    for e, number in zip(found, printed, strict=True):
        assert number == pytest.approx(e.loss, rel=1e-9, abs=1e-300), snippet(e)


def test_twins_print_the_loss():
    pytest.importorskip("sentence_transformers")
    chosen = [
        seen(SMALL, "contrastive", distance=distance, half=half)
        for distance in ("euclidean", "cosine")
        for half in (False, True)
    ]
    chosen += [seen(SMALL, "triplet", mining="semi_hard", distance="cosine", margin=0.3)]
    chosen += [seen(ENGLISH, "info_nce", rules=Rules(extra_negatives=False), symmetric=True)]
    pairs = [(e, text) for e in (*explorations(), *chosen) if (text := twin_snippet(e))]
    printed = printed_by([text for _, text in pairs])
    names = {e.spec.name for e, _ in pairs}
    assert names == {
        *("cosent", "angle", "cosine_mse", "info_nce", "nt_xent", "contrastive", "triplet")
    }
    for (e, text), number in zip(pairs, printed, strict=True):
        assert "sentence_transformers" in text
        assert number == pytest.approx(e.loss, rel=1e-5, abs=1e-12), text


@pytest.mark.parametrize(
    ("loss", "convention"),
    [
        ("supcon", ""),
        ("softmax", ""),
        ("pairwise_logistic", "rax"),
        ("contrastive", "pytorch-metric-learning"),
        ("triplet", "pytorch-metric-learning"),
    ],
)
def test_what_the_library_has_not_has_no_twin(loss, convention):
    assert twin_snippet(seen(SMALL, loss, convention)) is None


def test_scores_that_are_no_cosines_have_no_twin():
    rows = tuple((f"a{i}", f"b{i}", str(i)) for i in range(4))
    found = seen(Data(source="table", rows=rows))
    given = dataclasses.replace(found.batch, given=found.batch.scores + 1)
    assert twin_snippet(found) is not None
    assert twin_snippet(dataclasses.replace(found, batch=given)) is None


@pytest.mark.encoder
def test_snippets_of_typed_pairs_print_the_loss(tmp_path):
    strange = ("quote \" ' \\", "newline\n{brace} \u202e שלום", "0.5")
    few = (("a cat", "a dog", "1"), ("a car", "the sea", "0"), strange)
    many = few + tuple((f"number {i}", f"count {i + 1}", str(i % 5)) for i in range(40))
    own = tmp_path / "mine.py"
    own.write_text("def soft(scores, labels, *, slope=2.0):\n    return (slope * scores).mean()\n")
    add_own_loss(f"{own}:soft")
    try:
        rules = Rules(threshold=0.5, extra_negatives=False)
        found = [
            seen(Data(source="table", rows=rows), loss, rules=rules)
            for rows in (few, many)
            for loss in ("cosent", "info_nce", "soft")
        ]
        texts = [snippet(e) for e in found]
        for e, number in zip(found, printed_by(texts), strict=True):
            assert number == pytest.approx(e.loss, rel=1e-9)
        assert all("\u202e" not in text for text in texts)  # nothing reorders the code shown
    finally:
        del LOSSES["soft"]


def test_snippets_stay_short():
    for e in explorations():
        text = snippet(e)
        assert len(text) < 8000, e.spec.name
        assert max(map(len, text.splitlines())) <= 110
        compile(text, "snippet", "exec")


def test_numbers_are_rounded_no_more_than_needed():
    assert "[0.1, 0.2, 0.8, 0.9]" in snippet(seen(Data(example="cosent_batch")))
