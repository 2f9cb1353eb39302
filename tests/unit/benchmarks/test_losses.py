"""The benchmark of the losses compares like with like, and adds up what it measures."""

import re

import pytest
import torch

from benchmarks.cases import CASES, cases_of
from benchmarks.library_losses import all_peers
from benchmarks.losses import gradient_of, leaves, looked_at, main
from benchmarks.time_over_size_chart import drawn
from benchmarks.timing_result import Result, digits, growth, row
from lossprism.losses import spec_of

PEERS = all_peers()
HERE = [case for case in CASES if not case.on]


@pytest.mark.parametrize("case", HERE, ids=lambda case: case.name)
def test_ours_the_definition_and_the_peers_compute_the_same(case):
    torch.manual_seed(0)
    given = case.inputs(case.sizes[0])
    inputs = leaves(given, "cpu", torch.float64)
    value = case.definition(*inputs)
    gradient = gradient_of(case.definition, inputs)
    rivals = {"ours": case.ours, **PEERS.get(case.rival, {})}
    for loss in rivals.values():
        torch.testing.assert_close(loss(*inputs), value, rtol=1e-6, atol=1e-9)
        for found, expected in zip(gradient_of(loss, inputs), gradient, strict=True):
            scale = float(expected.abs().max())
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-3 * scale)


def test_a_loss_that_was_added_is_measured_on_what_it_reads():
    def farthest(embeddings, classes, *, prototypes, queries, scale=2.0):
        return scale * (embeddings.max() - prototypes.min() + queries.sum() + classes.sum())

    (case,) = cases_of({"farthest": spec_of(farthest)})
    given = case.inputs(16)
    assert [tuple(one.shape) for one in given] == [(16, 384), (16,), (8, 384), (16, 384)]
    expected = farthest(given[0], given[1], prototypes=given[2], queries=given[3])
    assert case.name == "farthest"
    assert case.ours(*given) == case.definition(*given) == expected


def test_every_peer_is_requested():
    assert set(PEERS) <= {case.rival for case in CASES}


def test_a_survey_counts_stored_and_loaded_entries():
    x = torch.randn(1000, requires_grad=True)
    look = looked_at(lambda x: (x.exp() * 2).sum(), (x,))
    assert look.saved_bytes == 4000  # exp keeps what it gave; × 2 and the sum keep nothing
    assert 8000 <= look.peak_bytes <= 12100
    torch.testing.assert_close(look.gradient[0], 2 * x.exp())


def test_growth_is_the_exponent_of_a_power():
    results = [Result("a", n, "ours", 3e-5 * n**1.7, 0, 0, 0.0) for n in (8, 512, 2048, 65536)]
    assert growth(results) == {("a", "ours"): (pytest.approx(1.7), 512, 65536)}


def test_what_a_call_takes_without_data_is_no_growth():
    taken = {8: 0.2, 512: 0.2, 4096: 0.3, 2**16: 4.0, 2**20: 64.0}
    results = [Result("a", n, "ours", milliseconds, 0, 0, 0.0) for n, milliseconds in taken.items()]
    assert growth(results) == {("a", "ours"): (pytest.approx(1.0), 2**16, 2**20)}
    assert growth(results[:-1]) == {}


def test_a_row_is_measured_against_the_faster_of_the_others():
    results = [
        Result("a", 8, "ours", 2.0, 10, 10, 0.0),
        Result("a", 8, "definition", 5.0, 10, 10, 0.0),
        Result("a", 8, "torch", 4.0, 10, 10, 0.0),
        Result("a", 8, "sentence-transformers", 9.0, 10, 10, 0.0),
    ]
    assert row(results)[:6] == ["a", "8", "2.00", "5.00", "4.00 torch", "0.50"]
    assert row(results[:1])[3:6] == ["–", "–", "–"]


@pytest.mark.parametrize(
    ("value", "message"),
    [(0, "0"), (0.012345, "0.0123"), (1.234, "1.23"), (123.4, "123"), (9610, "9610")],
)
def test_three_digits(value, message):
    assert digits(value) == message


def test_one_loss_from_command_to_table_csv_and_plot(tmp_path, capsys):
    table, plot = tmp_path / "losses.csv", tmp_path / "t.svg"
    command = f"--losses nce --sizes 8 64 --rounds 1 --results {tmp_path} --plot {plot}"
    main(command.split())
    output = capsys.readouterr().out
    assert output.count("| nce |") == 2
    lines = table.read_text().splitlines()
    assert lines[0].startswith("case,size,who,milliseconds,saved_bytes,peak_bytes,error,machine")
    assert len(lines) == 1 + 2 * 2
    assert all("torch 2" in line for line in lines[1:])
    assert plot.read_text().startswith("<svg")
    page = (tmp_path / "losses.md").read_text()
    assert page.count("| nce |") == 2
    assert re.search(r"^`python -m benchmarks losses` on \d{4}-\d\d-\d\d: .*torch 2", page, re.M)


def test_a_drawing_has_one_line_for_each_rival():
    results = [
        Result("a & b", size, who, float(size), 0, 0, 0.0)
        for size in (8, 64)
        for who in ("ours", "definition")
    ]
    picture = drawn(results, "a machine")
    assert picture.count("<path") == 2
    assert "a &amp; b" in picture
