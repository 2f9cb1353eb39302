"""What is advised against a batch has been tried on the rows of the table."""

from __future__ import annotations

import itertools
import math
import re
import time

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.doctor.class_dataset_checks import examine_classes
from lossprism.explorer.lab.doctor.dataset_reader import read_table
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.doctor.sampler_and_batch_size_remedies import (
    BY_CLASS,
    NO_DUPLICATES,
    SharedTexts,
)
from lossprism.explorer.locale import LANGUAGES, catalogue, say
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.sentences import pattern_of

QUESTIONS, ANSWERS = 1455, 67


def questions(answers, count=QUESTIONS):
    """Questions of their own on so many answers, some of which many ask for."""
    draw = np.random.default_rng(0)
    often = draw.dirichlet(np.full(answers, 0.5))
    chosen = draw.choice(answers, count, p=often)
    first = tuple(f"question {n}" for n in range(count))
    return Pairs(first, tuple(f"answer {n}" for n in chosen), (1.0,) * count, labelled=False)


def finding(pairs, loss, batch):
    faults = {one.name: one for one in examine(profiled(pairs), LOSSES[loss], batch).faults}
    return faults["twins" if loss == "info_nce" else "twins_met"]


def library_batches(pairs, size):
    """The full batches of one epoch of the installed sampler."""
    from datasets import Dataset
    from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

    columns = {"question": pairs.first, "answer": pairs.second}
    return [*NoDuplicatesBatchSampler(Dataset.from_dict(columns), size, drop_last=True)]


@pytest.mark.parametrize("batch", [64, 32])
def test_the_first_advice_for_questions_on_few_answers_trains(batch):
    pairs = questions(ANSWERS)
    found = finding(pairs, "info_nce", batch)
    assert found.more == "epoch_short"
    assert found.advice[0].startswith("loss = training_loss(")
    assert found.advice[0].endswith('twins="leave_out")')
    assert NO_DUPLICATES not in found.advice
    fills = {"batches": found.values["batches"], "expected": QUESTIONS // batch}
    assert pattern_of("doctor.data.epoch_short", **fills).fullmatch(found.written())
    whole = finding(questions(1200), "info_nce", batch)
    assert (whole.more, whole.advice[0]) == ("", NO_DUPLICATES)
    tried = whole.advised()[1].splitlines()[0].removeprefix("# ")
    assert pattern_of("doctor.tried", rows=QUESTIONS).fullmatch(tried)


@pytest.mark.parametrize("loss", ["info_nce", "siglip", "mega_batch_margin"])
@pytest.mark.parametrize("answers", [4, 20, ANSWERS, 300, 1000])
def test_a_sampler_that_is_advised_fills_an_epoch(loss, answers):
    """By the installed sampler: all batches, and most rows of each epoch once."""
    pairs = questions(answers, 600)
    for paste in finding(pairs, loss, 32).advice:
        if NO_DUPLICATES in paste:
            given = re.search(r"per_device_train_batch_size=(\d+)", paste)
            size = int(given[1]) if given else 32
            rows = [row for batch in library_batches(pairs, size) for row in batch]
            assert len(rows) == 600 // size * size
            assert len(set(rows)) > 0.7 * len(rows)


def loader(rows, columns, paste, batch):
    """The batches of the installed sampler that a paste names, with its batch size."""
    from datasets import Dataset
    from sentence_transformers.base import sampler

    given = re.search(r"per_device_train_batch_size=(\d+)", paste)
    size = int(given[1]) if given else batch
    kinds = {
        NO_DUPLICATES: sampler.NoDuplicatesBatchSampler,
        BY_CLASS: sampler.GroupByLabelBatchSampler,
    }
    kind = next((made for name, made in kinds.items() if name in paste), None)
    seeded = torch.Generator().manual_seed(0)
    if kind is None:  # shuffled
        order = torch.randperm(rows, generator=seeded).tolist()
        return [order[at : at + size] for at in range(0, rows // size * size, size)]
    dataset = Dataset.from_dict(columns)
    return [*kind(dataset, size, True, ["label"], torch.Generator(), 0)]


def mean_of_logs(pairs, batches, masked):
    """ln(1 + rows of the batch that hold one of its texts), on average, one pair after another."""
    logs = []
    for batch in batches:
        for row in batch:
            query, key = pairs.first[row], pairs.second[row]
            met = 0
            for other in set(batch) - {row}:
                shares = pairs.first[other] in (query,) or pairs.second[other] in (key, query)
                left_out = pairs.second[other] in (key, query)
                met += shares and not (masked and left_out)
            logs.append(math.log1p(met))
    return sum(logs) / len(logs)


def answered(questions_of_each, answers):
    """Questions with several answers each, of a few answers that many share."""
    draw = np.random.default_rng(1)
    rows = [
        (f"question {n}", f"answer {draw.integers(answers)}")
        for n in range(60)
        for _ in range(questions_of_each)
    ]
    rows = list(dict.fromkeys(rows))
    return Pairs(*zip(*rows, strict=True), (1.0,) * len(rows), labelled=False)


@pytest.mark.parametrize(("each", "answers"), [(1, 9), (1, 40), (2, 30), (3, 300)])
def test_the_minimum_of_a_remedy_is_that_of_the_batches_of_the_installed_sampler(each, answers):
    pairs = answered(each, answers)
    found = finding(pairs, "info_nce", 16)
    assert set(found.tried) == set(found.advice)
    for paste, trial in found.tried.items():
        columns = {"anchor": pairs.first, "positive": pairs.second}
        batches = loader(len(pairs), columns, paste, 16)
        rows = [*itertools.chain.from_iterable(batches)]
        epoch = trial.epoch
        assert (epoch.batches, epoch.seen) == (len(batches), len(set(rows)))
        assert epoch.seen + epoch.repeated == len(rows)
        masked = "leave_out" in paste
        assert math.isclose(trial.after, mean_of_logs(pairs, batches, masked), abs_tol=1e-12)
        assert trial.after < trial.before
    after = [trial.after for trial in found.tried.values()]
    assert after == sorted(after)


def test_the_mask_helps_less_where_one_query_has_several_keys():
    """Its other keys are negatives of each other still: the sampler comes first there."""
    found = finding(answered(3, 300), "info_nce", 16)
    first, *others = found.tried.values()
    assert NO_DUPLICATES in found.advice[0]
    assert first.after == 0
    assert all(one.after > 0 for one in others)


def test_the_minimum_that_is_printed_is_that_of_the_loss():
    """Of a batch with texts of one answer on one vector, at a temperature at which nothing else
    counts."""
    pairs = questions(5, 40)
    vectors = torch.eye(5, dtype=torch.float64)[[int(text.split()[1]) for text in pairs.second]]
    numbers = torch.tensor([hash(text) for text in pairs.second])
    batches = tuple(tuple(range(at, at + 8)) for at in range(0, 40, 8))
    shared = SharedTexts(profiled(pairs))
    for masked in (False, True):
        values = []
        for batch in map(list, batches):
            keys = vectors[batch]
            own = {"query_texts": torch.arange(8) - 99, "key_texts": numbers[batch]}
            loss = LOSSES["info_nce"].function
            values.append(loss(keys, keys, temperature=0.01, **(own if masked else {})))
        bound = np.log1p(shared.partners(batches, masked=masked)).mean()
        assert math.isclose(float(torch.stack(values).mean()), bound, abs_tol=1e-9)


def classes_table(sizes):
    rows = [
        (f"text {kind} {n}", f"class {kind}")
        for kind, size in enumerate(sizes)
        for n in range(size)
    ]
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    lines = ["text\tclass", *("\t".join(rows[at]) for at in order)]
    return read_table("\n".join(lines).encode(), "t.tsv", lambda *_: None)


@pytest.mark.parametrize(
    "sizes", [(2,) * 60, (3,) * 60, (40,) * 30, (900, *(2,) * 20), (1,) * 40 + (2,) * 20]
)
@pytest.mark.parametrize("batch", [8, 9, 16])
def test_bringing_classes_together_has_been_tried(sizes, batch):
    table = classes_table(sizes)
    found = {one.name: one for one in examine_classes(table, batch).faults}
    fault = found["rows_alone"]
    none_helps = say("en", "doctor.none_helps.rows_alone")
    assert (fault.advice == ()) == (fault.advised()[0] == none_helps)
    for paste, trial in fault.tried.items():
        columns = {"text": list(table.texts), "label": table.of.tolist()}
        batches = loader(len(table), columns, paste, batch)
        assert trial.epoch.batches == len(batches) > 0
        assert trial.epoch.seen == len({row for one in batches for row in one})
        assert trial.epoch.seen >= 0.5 * (len(table) - max(map(len, batches)))
        if BY_CLASS in paste:
            assert trial.after == 0


def test_one_class_that_has_nearly_all_rows_is_no_case_for_the_sampler_by_label():
    (fault,) = examine_classes(classes_table((900, *(2,) * 20)), 8).faults
    assert not fault.advice
    short = pattern_of("doctor.data.epoch_short").fullmatch(fault.written())
    assert short["sampler"].endswith("GROUP_BY_LABEL")


def yes_or_no(positives, rows):
    labels = tuple(float(n < positives) for n in range(rows))
    return Pairs(tuple(f"a {n}" for n in range(rows)), tuple(f"b {n}" for n in range(rows)), labels)


@pytest.mark.parametrize(("positives", "rows"), [(40, 400), (150, 3000), (160, 480)])
def test_giving_each_batch_a_positive_has_been_tried(positives, rows):
    pairs = yes_or_no(positives, rows)
    faults = {one.name: one for one in examine(profiled(pairs), LOSSES["info_nce"], 16).faults}
    fault = faults["batches_without_positive"]
    assert fault.advice
    for paste, trial in fault.tried.items():
        columns = {"anchor": pairs.first, "positive": pairs.second, "label": pairs.labels}
        batches = loader(rows, columns, paste, 16)
        without = sum(not any(pairs.labels[row] for row in batch) for batch in batches)
        assert trial.epoch.batches == len(batches)
        assert abs(trial.after - without / len(batches)) < 0.05
        assert trial.after < trial.before


@pytest.mark.parametrize(
    ("name", "fault"),
    {
        "twins": lambda: finding_of(questions(1, 40), "n_pair"),
        "twins_met": lambda: finding_of(questions(1, 40), "mega_batch_margin"),
        "rows_alone": lambda: classes_found((*(1,) * 60, *(2,) * 9))[-1],
        "batches_without_positive": lambda: finding_of(yes_or_no(1, 40), "info_nce"),
    }.items(),
)
def test_where_nothing_helps_nothing_is_advised(name, fault):
    fault = fault()
    assert (fault.name, fault.advice) == (name, ())
    for language in LANGUAGES:
        assert fault.advised(language) == [catalogue(language)[f"doctor.none_helps.{name}"]]


def finding_of(pairs, loss):
    return examine(profiled(pairs), LOSSES[loss], 16).faults[0]


def classes_found(sizes):
    return sorted(examine_classes(classes_table(sizes), 16).faults, key=lambda one: one.name)


def candidates(*rows):
    lines = ["query\tdocument\tlabel", *("\t".join(map(str, row)) for row in rows)]
    return read_table("\n".join(lines).encode(), "t.tsv", lambda *_: None).profile


# Of each finding on queries a loss, with a table of two such queries that lack a text to mine, and
# one that has one.
TO_MINE = {
    "lists_of_one": (
        "list_net",
        candidates(("p", "x", 1), ("q", "x", 1), ("x", "x", 1)),
        candidates(("p", "x", 1), ("q", "y", 1), ("r", "x", 1), ("r", "y", 0)),
    ),
    "lists_of_one_label": (
        "list_net",
        candidates(*((query, text, 1) for query in "pq" for text in "xy")),
        candidates(*((query, text, 1) for query in "pq" for text in f"xy{query}")),
    ),
    "groups_without_negative": (
        "margin_mse",
        candidates(*((query, text, 1) for query in "pq" for text in "xy"), ("x", "y", 1)),
        candidates(*((query, text, 1) for query in "pq" for text in "xy"), ("r", "z", 0)),
    ),
}


@pytest.mark.parametrize("name", TO_MINE)
def test_mining_is_advised_where_there_is_a_text_to_mine(name):
    loss, *tables = TO_MINE[name]
    for profile, some in zip(tables, (False, True), strict=True):
        faults = {one.name: one for one in examine(profile, LOSSES[loss], 4).faults}
        first, second = profile.columns.first, profile.columns.second
        own = {query: {query} for query in first}
        for query, text in zip(first, second, strict=True):
            own[query].add(text)
        queries = {first[row - 1] for row in faults[name].rows}
        able = sum(bool(set(second) - own[query]) for query in queries)
        assert (able > 0) == some
        assert faults[name].values["able"] == able
        kind = "data.do" if some else "none_helps"
        for language in LANGUAGES:
            message = catalogue(language)[f"doctor.{kind}.{name}"]
            assert faults[name].advised(language) == [message]


def test_remedies_of_two_hundred_thousand_rows_are_tried_in_seconds():
    draw = np.random.default_rng(0)
    rows = 200_000
    second = tuple(f"answer {n}" for n in draw.integers(0, 67, rows))
    pairs = Pairs(tuple(map(str, range(rows))), second, (1.0,) * rows, labelled=False)
    profile = profiled(pairs).prepared()
    begin = time.process_time()
    (fault,) = examine(profile, LOSSES["info_nce"], 64).faults
    assert time.process_time() - begin < 20
    assert fault.tried
    assert all(trial.tried == rows for trial in fault.tried.values())
