"""Tables read back as what was shown; snippets are short and whole."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
from random import Random

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario, View
from lossprism.explorer.export.code import (
    library_code,
    module_code,
    package_code,
    packed,
    standalone_code,
    trainer_code,
)
from lossprism.explorer.export.csv import matrix_csv, pairs_csv, suspects_csv, terms_csv
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs_from_tables import read_file
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from tests.sentences import raises_problem
from tests.tiny import sentence, static_model
from tests.unit.export.explored import ENGLISH, SMALL, run_code, seen


def with_view(found, **view):
    scenario = dataclasses.replace(found.scenario, view=View(**view))
    return dataclasses.replace(found, scenario=scenario)


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


# Tables


@pytest.mark.thorough
@pytest.mark.parametrize("loss", LOSSES)
def test_every_matrix_reads_back_to_the_last_digit(loss):
    found = with_view(seen(loss=loss), order="entry")
    for place, step in enumerate((*found.trace.inputs, *found.trace.steps)):
        head, *body = rows_of(matrix_csv(found.seen(step=place)))
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
    gradient = [float(row[head.index("score_gradient")]) for row in body]
    assert "projected_gradient" not in head
    assert gradient == found.pair_gradient.tolist()
    assert min(gradient) < 0  # a negative number is no formula


def test_the_gradients_of_pairs_are_called_what_they_are():
    found = seen(ENGLISH, "info_nce")
    head, *body = rows_of(pairs_csv(found))
    projected, own = ([row[head.index(name)] for row in body] for name in head[-2:])
    assert head[-2:] == ["projected_gradient", "score_gradient"]
    assert [float(value) for value in projected] == found.pair_gradient.tolist()
    listed = [float(value or "nan") for value in own]
    assert listed == pytest.approx(found.score_gradient.tolist(), nan_ok=True)
    assert "" in own  # pairs that are only negatives


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


@pytest.mark.parametrize(
    ("loss", "convention"),
    [
        ("supcon", ""),
        ("softmax", ""),
        ("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss"),
        ("contrastive", "pytorch-metric-learning 2.9 ContrastiveLoss"),
        ("triplet", "pytorch-metric-learning 2.9 TripletMarginLoss"),
    ],
)
def test_losses_that_the_library_lacks_have_no_counterpart(loss, convention):
    assert library_code(seen(SMALL, loss, convention)) is None


def test_scores_that_are_no_cosines_have_no_embedding_form():
    rows = tuple((f"a{i}", f"b{i}", str(i)) for i in range(4))
    found = seen(Data(source="table", rows=rows))
    given = dataclasses.replace(found.batch, given=found.batch.scores + 1)
    assert library_code(found) is not None
    assert library_code(dataclasses.replace(found, batch=given)) is None
    assert packed(dataclasses.replace(found, batch=given), "twin") == b""


def test_a_loss_comes_with_its_embedding_form():
    found = seen(SMALL, "supcon")
    lines = "loss = Contrast(None, {temperature!r})([«given»])\n"

    def made(*, temperature, **_):
        return Equivalent("Contrast", found.spec.reads, lines.format(temperature=temperature))

    own = dataclasses.replace(found, spec=dataclasses.replace(found.spec, equivalent=made))
    text = library_code(own).text
    assert "from sentence_transformers.sentence_transformer.losses import Contrast\n" in text
    assert "\nloss = Contrast(None, 0.1)([embeddings, classes])\n" in text


def with_numbers_in_them():
    """Every loss and convention on vectors that are written out, every loss on English pairs."""
    for name, spec in LOSSES.items():
        yield seen(ENGLISH, name)
        for convention in ("", *(one.name for one in spec.conventions)):
            yield seen(SMALL, name, convention)


@pytest.mark.thorough
def test_snippets_stay_short():
    """Those that read their numbers from files are shorter; they run in tests/process."""
    for e in with_numbers_in_them():
        for code in (standalone_code(e), package_code(e)):
            assert len(code.text) < (17_500 if e.spec.name == "info_nce" else 11_000), e.spec.name
            assert max(map(len, code.text.splitlines())) <= 110
            compile(code.text, "snippet", "exec")


def test_code_at_default_settings_is_short():
    """Lines of the program that stands alone, on the default scenario of each loss."""
    lengths = {}
    for loss in LOSSES:
        with contextlib.suppress(Problem):  # it needs lists, or a teacher's vectors
            lengths[loss] = len(standalone_code(explore(Scenario(loss=loss))).text.splitlines())
    ordered = sorted(lengths.values())
    assert len(ordered) >= 40
    assert ordered[len(ordered) // 2] <= 45
    assert max(length for loss, length in lengths.items() if loss != "info_nce") <= 100


def test_numbers_are_rounded_no_more_than_needed():
    assert "[0.1, 0.2, 0.8, 0.9]" in standalone_code(seen(Data(example="cosent_batch"))).text


def test_stacked_levels_are_named_by_level_and_pair():
    """Three levels of 24 pairs are 72 rows, and there is no pair 26."""
    data = Data(source="random", random=RandomBatch(pairs=24, dimension=16, seed=5))
    found = explore(Scenario(data=data, loss="hierarchical_cosent"))
    names = [step.name for step in (*found.trace.inputs, *found.trace.steps)]
    head, *body = rows_of(matrix_csv(found.seen(step=names.index("differences"))))
    assert len(body) == 72
    numbers = [cell.partition(":")[0].removeprefix("pair ") for cell in head[1:]]
    assert sorted(map(int, numbers)) == list(range(1, 25))
    named = [line[0].partition(":")[0] for line in body]
    assert named == [f"level {level}, pair {pair}" for level in (1, 2, 3) for pair in numbers]
    # Where a level is a row of its own, so is its name.
    _, *body = rows_of(matrix_csv(found.seen(step=names.index("level_scores"))))
    assert [line[0] for line in body] == ["level 1", "level 2", "level 3"]


def test_a_function_that_does_not_stand_in_its_file_is_not_written_out():
    found = seen(SMALL)
    inner = dataclasses.replace(found, definition=lambda scores, **_: scores.sum())
    with raises_problem("code_not_alone"):
        standalone_code(inner)


# A loss made of losses, and any other, to train with

COMBINED = (
    *("info_nce+angle", "matryoshka(info_nce)", "matryoshka(cosent,4,2)+alignment"),
    *("queue(info_nce)", "queue(supcon)+cosent", "matryoshka(angle)"),
)


@pytest.mark.parametrize("loss", [*COMBINED, *LOSSES])
def test_a_module_gives_the_number_again(loss, tmp_path, capsys):
    found = seen(ENGLISH if loss in COMBINED else SMALL, loss)
    code = module_code(found)
    assert code
    assert "from lossprism.losses.modules import loss_module" in code.text
    run_code(code, tmp_path)
    assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(
        found.loss, rel=1e-9, abs=1e-15
    )


@pytest.mark.parametrize("loss", ["matryoshka(info_nce)", "matryoshka(cosent,4,2)"])
def test_a_loss_on_prefixes_is_the_librarys_wrapper(loss, tmp_path, capsys):
    rules = Rules(extra_negatives=False)
    weight = "weight_of_cosent_4" if "cosent" in loss else "weight_of_info_nce_half"
    found = explore(Scenario(ENGLISH, rules, loss, parameters=((weight, 0.3),)))
    code = library_code(found)
    assert code
    assert "MatryoshkaLoss(" in code.text
    run_code(code, tmp_path)
    assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(found.loss, rel=1e-5)
    assert library_code(seen(ENGLISH, f"{loss}+alignment", rules=rules)) is None


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Pairs of few words, and a small encoder of them."""
    folder = tmp_path_factory.mktemp("encoder")
    static_model().save_pretrained(str(folder))
    draw = Random(3)
    rows = tuple((sentence(draw), sentence(draw), str(label % 3)) for label in range(12))
    return Data(source="table", rows=rows, encoder=str(folder))


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize(
    "loss", ["info_nce+angle", "matryoshka(info_nce)", "matryoshka(cosent,4,2)", "queue(info_nce)"]
)
def test_a_trainer_takes_a_step_with_it(loss, extra, files, texts, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = seen(texts, loss, rules=Rules(extra_negatives=extra))
    code = trainer_code(found, from_files=files)
    assert code
    assert bool(code.beside) == files
    wraps = loss == "matryoshka(cosent,4,2)" or (loss == "matryoshka(info_nce)" and not extra)
    assert ("MatryoshkaLoss(" in code.text, "from lossprism.losses" in code.text) == (
        wraps,
        not wraps,
    )
    run_code(code, tmp_path)
    first = float(capsys.readouterr().out.split()[-1])
    if "queue" not in loss:  # which is empty at the first step
        assert first == pytest.approx(found.loss, rel=1e-4)


def test_a_trainer_follows_the_convention_and_the_rules(texts, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    convention = LOSSES["info_nce"].conventions[0].name
    found = seen(texts, "info_nce", convention, rules=Rules(twins="leave_out"))
    code = trainer_code(found)
    assert code
    run_code(code, tmp_path)
    first = float(capsys.readouterr().out.split()[-1])
    assert first == pytest.approx(found.loss, rel=1e-4)


def test_what_pairs_alone_do_not_make_has_no_step(texts):
    for loss, data in (
        ("info_nce", SMALL),
        ("distill_kl", Data(example="graded_lists")),
        ("arcface", texts),
    ):
        assert trainer_code(seen(data, loss)) is None
    convention = next(c.name for c in LOSSES["triplet"].conventions if c.definition)
    assert module_code(seen(SMALL, "triplet", convention)) is None
