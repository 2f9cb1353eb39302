"""A dataset as Doctor reads it, the rows that stay of it, and its scenarios."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.doctor.cleaned_dataset_writer import write_kept, write_left_out
from lossprism.explorer.lab.doctor.dataset_reader import (
    content_of,
    read_content,
    read_given,
    read_table,
)
from lossprism.explorer.lab.doctor.dataset_row_scenarios import (
    finding_places,
    rows_link,
    sample_places,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.pair_dataset_checks import INFERENCE_KINDS, examine
from lossprism.explorer.lab.doctor.suitable_losses import suited
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.runtime.jobs import Cancelled
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.sentences import raises_problem

TABLE = """\
query,document,label,teacher
how tall,"8,848 m",1,7.5
how tall,deep,0,-2
how old,ten,1,
HOW old,ten,1,
how "old",ten,1,3
"""


def quiet(what, done, total):
    """Nobody listens."""


def read(text=TABLE, name="t.csv", **more):
    return read_content(text.encode(), name, quiet, **more)


def test_columns_are_recognised_and_can_be_chosen():
    found = read()
    assert found.file.chosen == {
        "first": "query", "second": "document", "score": "label", "teacher": "teacher"
    }  # fmt: skip
    assert found.profile.needs_met >= {"teacher", "sides", "lists"}
    assert found.row(3) == 3
    turned = read(columns={"first": "document", "second": "query", "score": "none"})
    assert not turned.profile.labelled
    assert turned.profile.columns.first[0] == "8,848 m"
    # A column of similarities says nothing of the data.
    scored = read("a,b,cosine\nx,y,0.5\nu,v,0.25\n", columns={"score": "cosine"})
    assert list(scored.profile.labels) == [0.5, 0.25]


def test_columns_that_are_named_make_the_first_row_a_header():
    """Also where no word of it is one that headers have, and nothing tells it from the rows."""
    text = "how?;that!\nhow tall;deep\nhow old;ten\n"
    assert len(read(text).profile) == 3
    named = read(text, columns={"first": "how?", "second": "that!"})
    assert (named.file.header, len(named.profile)) == (True, 2)
    assert list(named.profile.columns.first) == ["how tall", "how old"]
    # By number the first row is one of the pairs.
    assert len(read(text, columns={"first": "2", "second": "1"}).profile) == 3
    with raises_problem("column_unknown", column="nowhere", columns="“how?”, “that!”"):
        read(text, columns={"first": "how?", "second": "nowhere"})
    classes = {"text": "that!", "class": "how?"}
    table = read_table(text.encode(), "t.csv", quiet, columns=classes)
    assert isinstance(table, ClassTable)
    assert table.names == ("how tall", "how old")


def test_kinds_of_inference_are_no_degrees():
    """Entailment is the only positive; no loss has a sentence on degrees."""
    rows = "".join(f"a {n}\tb {n}\t{n % 3}\n" for n in range(60))
    found = read(f"premise\thypothesis\tlabel\n{rows}", "t.tsv")
    assert found.profile.positives == 20
    for loss in ("cosent", "contrastive", "info_nce", "cosine_mse"):
        faults = {one.name: one for one in examine(found.profile, LOSSES[loss], 16).faults}
        assert faults["inference_labels"].values == dict.fromkeys(INFERENCE_KINDS, 20)
        assert faults["inference_labels"].rows == tuple(range(3, 61, 3))
        assert not {"degrees_lost", "labels_out_of_reach"} & set(faults)
    result = {one.loss: one for one in suited(found.profile, 16)}
    assert not any("degrees" in (*one.reasons, *one.against) for one in result.values())
    assert "kinds_as_degrees" in result["cosent"].against
    assert result["info_nce"].reasons == ("entailed",)
    scenario = Scenario.from_link(rows_link(found.profile, range(9), "info_nce"))
    batch = explore(scenario).batch
    assert (batch.threshold, sum(batch.positive.tolist())) == (1, 3)


def test_what_stays_reads_as_before(tmp_path):
    found = read()
    kept = read_content(*content_of(write_kept(found, tmp_path / "kept.tsv")), quiet)
    assert list(kept.profile.columns.first) == ["how tall", "how tall", "how old", 'how "old"']
    assert kept.profile.columns.second[0] == "8,848 m"
    assert [None if math.isnan(one) else one for one in kept.profile.columns.teacher] == [
        7.5, -2.0, None, 3.0
    ]  # fmt: skip
    left = write_left_out(found, tmp_path / "left.tsv").read_text().splitlines()
    assert left == [
        "row\tbecause\tsentence1\tsentence2\tscore\tteacher",
        "4\tcopies\tHOW old\tten\t1\t",
    ]


def test_it_can_be_stopped():
    def stop(what, done, total):
        if what == "numbering":
            raise Cancelled

    with pytest.raises(Cancelled):
        read_content(TABLE.encode(), "t.csv", stop)


def test_what_is_no_file_has_a_sentence(tmp_path):
    with raises_problem("file_unreadable"):
        content_of(tmp_path / "nowhere.csv")


def test_a_finding_is_in_its_scenario():
    """Explore finds the same two conflicting labels that the finding names."""
    first = tuple(f"question {place}" for place in range(200))
    second = tuple(f"answer {place}" for place in range(200))
    pairs = Pairs(first + first[7:8], second + second[7:8], (*(0.0, 1.0) * 100, 0.0))
    profile = read_given(pairs, quiet).profile
    fault = next(one for one in examine(profile, LOSSES["cosent"], 16).faults)
    assert fault.name == "conflicting_labels"
    link = rows_link(profile, finding_places(profile, fault.rows, "cosent"), "cosent")
    scenario = Scenario.from_link(link)
    assert scenario.loss == "cosent"
    rows = [row for row in scenario.data.rows if row[0] == "question 7"]
    assert sorted(label for *_, label in rows) == ["0", "1"]
    seen = explore(scenario)
    assert len(seen.batch.pairs) == 8
    both = {label >= 0.5 for label in seen.batch.pairs.labels}
    assert both == {True, False}


def test_long_texts_make_small_scenarios():
    texts = tuple(
        f"{place} " + " ".join(str(hash((place, i))) for i in range(60)) for place in range(50)
    )
    profile = read_given(Pairs(texts, texts[::-1], (1.0,) * 50, labelled=False), quiet).profile
    link = rows_link(profile, sample_places(profile, "info_nce"), "info_nce")
    assert 0 < len(link) <= 6000
    assert len(Scenario.from_link(link).data.rows) >= 2
    huge = tuple(text * 20 for text in texts)
    profile = read_given(Pairs(huge, texts[::-1], (1.0,) * 50, labelled=False), quiet).profile
    assert isinstance(rows_link(profile, sample_places(profile, "info_nce"), "info_nce"), str)


LISTS = "".join(
    json.dumps(
        {"query": f"q {n}", "docs": [f"d {n} {m}" for m in range(4)], "labels": [0, 0, 1, 0]}
    )
    + "\n"
    for n in range(60)
)
TRIPLETS = "anchor\tpositive\tnegative_1\tnegative_2\n" + "".join(
    f"a {n}\tp {n}\tn {n}\tm {n}\n" for n in range(60)
)
FEW_LISTS = "a\tb\tscore\n" + "".join(
    f"first {n - n % 2 if n < 6 else n}\tsecond {n}\t{n % 5}\n" for n in range(60)
)


@pytest.mark.parametrize(
    ("text", "name"), [(LISTS, "l.jsonl"), (TRIPLETS, "t.tsv"), (FEW_LISTS, "p.tsv")]
)
def test_every_loss_that_can_learn_from_lists_opens_on_whole_ones(text, name):
    """Of rows that were picked one by one no two would share their first text."""
    profile = read(text, name).profile
    fitting = suited(profile, 16)
    assert {"list_net", "info_nce", "cosent"} <= {one.loss for one in fitting}
    for one in fitting:
        scenario = Scenario.from_link(
            rows_link(profile, sample_places(profile, one.loss), one.loss)
        )
        assert explore(scenario).loss is not None
    scenario = Scenario.from_link(
        rows_link(profile, sample_places(profile, "list_net"), "list_net")
    )
    by_first = Counter(first for first, *_ in scenario.data.rows)
    # A list in which all labels are one has nothing to be learned from.
    graded = {
        first: {row[2] for row in scenario.data.rows if row[0] == first} for first in by_first
    }
    lists = [first for first, count in by_first.items() if count > 1]
    assert lists
    assert all(len(graded[first]) > 1 for first in lists)
    shown = finding_places(profile, (5,), "list_net")
    assert explore(Scenario.from_link(rows_link(profile, shown, "list_net"))).loss is not None


@pytest.mark.parametrize(
    ("called", "text", "meets"),
    [
        ("TripletLoss", TRIPLETS, False),  # given triplets are compared with nothing beside them
        ("BatchAllTripletLoss", TRIPLETS, True),
        ("MultipleNegativesRankingLoss", TRIPLETS, True),
        ("FlagEmbedding", TRIPLETS, False),
        ("RElbers/info-nce-pytorch", TRIPLETS, False),
        ("TripletLoss", "a\tb\tscore\nx\tp 3\t1\nq\tp 3\t1\nz\tr\t0\n", True),  # it mines
        ("alignment", TRIPLETS, False),
        ("VICReg", TRIPLETS, False),
    ],
)
def test_duplicates_meet_where_the_convention_takes_the_batch_for_negatives(called, text, meets):
    found = read(text.replace("p 7\t", "p 3\t"), "t.tsv")
    spec = found.spec(possible_losses(Known(loss=called))[0])
    result = examine(found.profile, spec, 60)
    assert {fault.name for fault in result.faults if "twins" in fault.name} == (
        {"twins" if "Ranking" in called else "twins_met"} if meets else set()
    )
    assert ("twins" in {check.name for check in result.checks if check.made}) == meets
    assert (result.met.pairs > 0) == meets


def test_of_triplets_a_batch_is_of_rows():
    """Each row has a positive pair, so that no batch is without one; and rows meet, not pairs."""
    profile = read(TRIPLETS, "t.tsv").profile
    found = examine(profile, LOSSES["info_nce"], 16)
    assert (found.pairs, found.rows, found.faults) == (180, 60, ())
    shared = TRIPLETS.replace("p 7\t", "p 3\t")
    met = examine(read(shared, "t.tsv").profile, LOSSES["info_nce"], 60).met
    # All rows are in the batch: the two that share a key have each other.
    assert (met.rows, met.pairs) == (pytest.approx(2), pytest.approx(1))
    assert met.floor == pytest.approx(2 * math.log(2) / 60)
    # A list of several right answers is one row, and no twin of itself.
    lists = LISTS.replace("[0, 0, 1, 0]", "[0, 1, 1, 0]")
    assert examine(read(lists, "l.jsonl").profile, LOSSES["info_nce"], 60).met.pairs == 0
