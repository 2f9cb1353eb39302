"""What one takes away from a large batch: tables, corrected pairs, figures."""

from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_downloads import (
    changes_csv,
    corrected_file,
    figures_csv,
    figures_of,
    histogram_csv,
    pairs_file,
    suspects_file,
    terms_csv,
)
from lossprism.explorer.lab.large.large_batch_remarks import judged
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.lab.large.map_and_histogram_figures import (
    FACETS,
    histogram_figure,
    legend_of,
    map_figure,
)
from lossprism.explorer.lab.large.text_buffer import TextBuffer
from lossprism.explorer.lab.large.user_label_corrections import corrected
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.runtime import downloads
from lossprism.explorer.runtime.problem import Problem
from tests.plain_numbers import table_of, text_columns
from tests.unit.lab.large.made import batch_of


def quiet(*_):
    pass


def opened_of(batch, loss="cosent"):
    return open_batch(batch, loss, checked(loss, {}), quiet)


def rows_in(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.thorough
def test_every_pair_of_a_file_of_20000_rows_is_written(tmp_path):
    source = np.random.default_rng(0)
    lines = ["sentence1,sentence2,score,similarity"]
    for row in range(20_000):
        label = int(source.integers(0, 6))
        if row == 7:
            lines.append("broken,row,no number,0.5")
        else:
            lines.append(f'"=first, {row}",第二句 {row},{label},{source.random():.6f}')
    content = "\n".join(lines).encode()
    read = read_pairs(content, "a.csv", None, None, quiet)
    batch = in_order(read.labels, read.scores, read.first, read.second)
    batch.__dict__["rows"] = read.rows
    opened, reports = opened_of(batch), []
    path = pairs_file(opened, tmp_path / "p.csv", lambda done, total: reports.append((done, total)))
    found = rows_in(path)
    assert len(found) == 19_999
    assert reports[0] == (0, 19_999)
    assert len(reports) > 2
    assert [int(one["pair"]) for one in found] == list(range(1, 20_000))
    assert found[8]["row"] != found[8]["pair"]  # a row before it could not be used
    assert found[100]["sentence1"] == "'=first, 101"  # no formula for a spreadsheet
    assert found[100]["sentence2"] == "第二句 101"
    place = np.argsort(batch.entry)
    message = batch.contradictions
    for name, values in (
        ("score", batch.labels),
        ("similarity", batch.scores),
        ("gradient", opened.gradient),
        ("contradicted_share", message.rates),
        ("fitting_label", message.fitting),
    ):
        assert np.array_equal([float(one[name]) for one in found], values[place])
    assert sum(int(one["suspect"]) for one in found) == len(message.suspects)
    listed = rows_in(suspects_file(opened, tmp_path / "s.csv", quiet))
    assert [int(one["pair"]) - 1 for one in listed] == batch.entry[message.suspects].tolist()


def test_a_pair_without_a_term_of_its_own_has_no_gradient(tmp_path):
    opened = opened_of(batch_of(60, "grades", width=8), "info_nce")
    found = rows_in(pairs_file(opened, tmp_path / "p.csv", quiet))
    written = (tmp_path / "p.csv").read_text(encoding="utf-8")
    assert text_columns(table_of(written)) == {"sentence1", "sentence2"}
    felt = opened.gradient[np.argsort(opened.batch.entry)]
    assert [one["gradient"] == "" for one in found] == np.isnan(felt).tolist()


def worded(count=30):
    base = batch_of(count, "grades")
    texts = [TextBuffer(f"{side} {k}" for k in range(count)) for side in ("one", "two")]
    place = np.argsort(base.entry)
    return in_order(base.labels[place], base.scores[place], *texts)


def test_corrections_hold_for_every_pair_of_these_sentences(tmp_path):
    batch = worded()
    made = [("one 3", "two 3", "9"), ("one 4", "two 4", ""), ("one 5", "two 6", "1")]
    now = corrected(batch, [*made, ("one 3", "two 3", "8")])
    assert len(now) == 29
    assert 4 not in now.entry
    assert now.labels[now.entry == 3] == [8]
    assert (np.diff(now.labels) >= 0).all()
    others = ~np.isin(batch.entry, [3, 4])
    before = dict(zip(batch.entry[others], batch.scores[others], strict=True))
    assert {e: s for e, s in zip(now.entry, now.scores, strict=True) if e != 3} == before
    found = rows_in(corrected_file(now, tmp_path / "c.csv", quiet))
    assert [one["sentence1"] for one in found] == [f"one {k}" for k in range(30) if k != 4]
    read = read_pairs((tmp_path / "c.csv").read_bytes(), "c.csv", None, None, quiet)
    assert np.array_equal(np.sort(read.labels), now.labels)
    assert read.scores is not None  # the similarity came with the data, and goes with it
    changed = list(csv.DictReader(io.StringIO(changes_csv(batch, made))))
    assert [(one["sentence1"], one["corrected"]) for one in changed] == [
        ("one 3", "9.0"),
        ("one 4", ""),
    ]


def test_a_correction_must_be_a_number_and_leave_a_pair():
    batch = worded(2)
    with pytest.raises(Problem):
        corrected(batch, [("one 0", "two 0", "many")])
    with pytest.raises(Problem):
        corrected(batch, [(f"one {k}", f"two {k}", "") for k in range(2)])
    assert corrected(batch, [("no", "such", "1")]) is batch


def test_terms_histogram_and_figures_are_those_of_the_page():
    opened = opened_of(batch_of(300))
    sentences = {f"{side}_sentence{place}" for side in ("row", "column") for place in (1, 2)}
    assert text_columns(table_of(terms_csv(opened))) == sentences
    assert text_columns(table_of(histogram_csv(opened))) == set()
    terms = list(csv.DictReader(io.StringIO(terms_csv(opened))))
    assert [float(one["value"]) for one in terms] == opened.heaviest.values.tolist()
    assert [int(one["row_place"]) - 1 for one in terms] == opened.heaviest.rows.tolist()
    entry = opened.batch.entry[opened.heaviest.columns[0]]
    assert terms[0]["column_sentence1"] == opened.batch.first[entry]
    bins = list(csv.DictReader(io.StringIO(histogram_csv(opened))))
    assert sum(int(one["pairs"]) for one in bins) == 300
    found = figures_of(opened, judged(opened.batch, quiet))
    assert found["loss"] == opened.loss
    listed = {name: value for name, value, _ in csv.reader(io.StringIO(figures_csv(found)))}
    assert float(listed["spearman"]) == found["spearman"]


@pytest.mark.parametrize("loss", ["cosent", "info_nce"])
@pytest.mark.parametrize("window", [Window(0, 300, 0, 300), Window(100, 120, 180, 230)])
def test_the_map_is_a_figure_with_its_caption(loss, window):
    batch = batch_of(900, "binary", width=8)
    opened = opened_of(batch, loss)
    text = legend_of(opened, loss, checked(loss, {}), "en", "File: <b>&.csv")
    for facet in FACETS:
        drawn = map_figure(opened, text, window, facet, language="en", dark=False)
        words = " ".join(ElementTree.fromstring(drawn).itertext())
        assert "File: <b>&.csv" in words
        assert f"rows {window.top + 1}" in words
    assert "Loss" in text.caption[0]


@pytest.mark.parametrize("labels", ["grades", "continuous", "single"])
def test_the_histogram_is_a_figure(labels):
    opened = opened_of(batch_of(200, labels))
    text = legend_of(opened, "cosent", checked("cosent", {}), "zh", "文件")
    drawn = histogram_figure(opened, text, language="zh", dark=True)
    ElementTree.fromstring(drawn)
    assert len(re.findall('class="bar"', drawn)) > 10


def test_downloads_have_names_that_nobody_guesses_and_leave(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "taken")
    one, other = (downloads.new_download("pairs.csv") for _ in range(2))
    assert one.parent != other.parent
    assert len(one.parent.name) == 32
    assert one.parent.stat().st_mode & 0o077 == 0
    one.write_bytes(b"12345")
    monkeypatch.setattr(downloads, "DOWNLOADS_BYTES", 4)
    downloads.new_download("more.csv")
    assert not one.exists()
    other.write_bytes(b"1")
    monkeypatch.setattr(downloads, "DOWNLOAD_S", -1.0)
    downloads.new_download("more.csv")
    assert not other.exists()
