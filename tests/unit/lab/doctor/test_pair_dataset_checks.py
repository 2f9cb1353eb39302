"""What is the matter with a table: planted faults are found, and none is invented."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.doctor.duplicate_collisions import (
    expected_collisions,
    have_partners,
    partner_pairs,
    partners,
)
from lossprism.explorer.lab.doctor.finding import SEVERE, WARNING
from lossprism.explorer.lab.doctor.pair_dataset_checks import POSITIVES_ALONE, examine, is_softmax
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import WITH_GUIDE
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.doctor.sampler_and_batch_size_remedies import (
    BY_CLASS,
    NO_DUPLICATES,
    masked_call,
)
from lossprism.explorer.lab.doctor.text_ids import ids_of
from lossprism.explorer.lab.doctor.text_measurements import figures_of, folded
from lossprism.explorer.locale import say
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.pairs_from_tables import read_file
from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers import training_loss
from tests.sentences import pattern_of
from tests.tiny import static_model

SHARED = Path(__file__).resolve().parents[5] / "shared" / "data"
COUNT = 400


def clean_pairs(labels=None):
    """Pairs of which no two texts are alike, graded 0 to 1 by default."""
    graded = tuple((place % 5) / 4 for place in range(COUNT))
    return Pairs(
        tuple(f"The first text is number {place}." for place in range(COUNT)),
        tuple(f"Number {place} is what the second says." for place in range(COUNT)),
        labels or graded,
    )


def positives(first, second):
    return Pairs(tuple(first), tuple(second), (1.0,) * len(first), labelled=False)


def with_rows(pairs, *rows):
    first, second, labels = zip(*rows, strict=True)
    return Pairs(pairs.first + first, pairs.second + second, pairs.labels + labels)


def found(pairs, loss="cosent", batch=32, **more):
    return {
        fault.name: fault for fault in examine(profiled(pairs), LOSSES[loss], batch, **more).faults
    }


PLANTED = {
    "copies": [("the FIRST  text is number 3.", "Number 3 is what the second says.", 0.75)],
    "conflicting_labels": [("The first text is number 3.", "Number 3 is what the second says.", 0)],
    "same_on_both_sides": [("One and the same.", "one and THE same.", 1.0)],
    "mixed_scripts": [("两个人在跑步", "A dog.", 1.0)],
    "cut_off": [("word " * 300, "A dog.", 1.0)],
}


@pytest.mark.parametrize("loss", ["cosent", "cosine_mse", "info_nce", "triplet", "siglip"])
def test_nothing_is_invented(loss):
    faults = found(clean_pairs(), loss, most_tokens=256)
    assert set(faults) <= {"degrees_lost"}  # of a loss by threshold, on graded labels


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("many", [1, 3])
def test_what_was_planted_is_found_and_nothing_else(name, many):
    planted = PLANTED[name] * (many if name == "copies" else 1)
    faults = found(with_rows(clean_pairs(), *planted), most_tokens=256)
    assert set(faults) == {name}
    assert faults[name].values.get("count") == len(planted)
    added = tuple(range(COUNT + 1, COUNT + 1 + len(planted)))
    # What stood before stands beside what repeats or contradicts it.
    before = (4,) if name in ("copies", "conflicting_labels") else ()
    assert faults[name].rows == before + added


def test_advice_runs_as_it_is_pasted():
    """With the installed sentence-transformers and datasets."""
    from datasets import Dataset
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.training_args import BatchSamplers

    assert all(BatchSamplers(eval(one.partition("=")[2])) for one in (NO_DUPLICATES, BY_CLASS))
    for loss in (POSITIVES_ALONE, WITH_GUIDE):
        assert hasattr(losses, loss.partition("losses.")[2].partition("(")[0])
    assert "guide" in inspect.signature(losses.GISTEmbedLoss).parameters
    for name in (name for name, spec in LOSSES.items() if spec.reads_texts):
        request = {"training_loss": training_loss, "model": static_model()}
        for spec in (LOSSES[name], *(LOSSES[name].under(c.name) for c in LOSSES[name].conventions)):
            if not spec.reads_texts:
                continue
            exec(masked_call(spec), request)
            assert request["loss"].twins == "leave_out"
            assert request["loss"].spec.defaults == spec.defaults
            assert request["loss"].spec.definition is spec.definition
    shifted = clean_pairs(tuple(float(1 + place % 5) for place in range(COUNT)))
    (paste,) = found(shifted, "cosine_mse")["labels_out_of_reach"].advice
    names = {"dataset": Dataset.from_dict({"score": list(shifted.labels)})}
    exec(paste, names)
    assert {*names["dataset"]["score"]} == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_the_column_of_labels_is_called_as_in_the_file():
    text = "query,doc,grade\n" + "".join(f"q {n},d {n},{n % 6}\n" for n in range(20))
    read = read_content(text.encode(), "t.csv", lambda *far: None, columns={"score": "grade"})
    (fault,) = examine(read.profile, LOSSES["cosine_mse"], 8).faults
    assert 'row["grade"] / 5' in fault.advice[0]


def test_what_labels_cannot_teach():
    five = clean_pairs(tuple(float(place % 6) for place in range(COUNT)))
    faults = found(five, "cosine_mse")
    assert faults["labels_out_of_reach"].severity == SEVERE
    assert faults["labels_out_of_reach"].advice == (
        'dataset = dataset.map(lambda row: {"score": row["score"] / 5})',
    )
    shifted = clean_pairs(tuple(float(1 + place % 5) for place in range(COUNT)))
    assert found(shifted, "cosine_mse")["labels_out_of_reach"].advice == (
        'dataset = dataset.map(lambda row: {"score": (row["score"] - 1) / 4})',
    )
    assert found(five, "cosent") == {}
    assert found(clean_pairs((1.0,) * COUNT))["one_label"].severity == SEVERE
    assert "no_labels" in found(positives(["a"], ["b"]), "cosent")
    rare = (1.0, *(0.0,) * (COUNT - 1))
    none = found(clean_pairs(rare), "info_nce", 32)["batches_without_positive"]
    assert none.values["share"] == "92%"  # 1 − 32/400
    assert "lists_of_one" in found(clean_pairs(), "list_net")


def test_meetings_are_what_batches_have():
    """The closed forms against batches drawn one after the other."""
    draw = np.random.default_rng(0)
    first, second = draw.integers(0, 60, 100), draw.integers(40, 90, 100)
    pair = np.unique(first * 1000 + second, return_inverse=True)[1]
    of_each = partners(first, second, pair)
    alike = (first[:, None] == first) | (second[:, None] == second) | (first[:, None] == second)
    np.fill_diagonal(alike, False)
    np.testing.assert_array_equal(of_each, alike.sum(axis=1))
    either = alike | alike.T
    np.testing.assert_array_equal(have_partners(first, second, pair), either.any(axis=1))
    both = partner_pairs(first, second, pair)
    assert both == either.sum() / 2
    size, pairs, rows, floor = 16, [], [], []
    for _ in range(2000):
        batch = draw.permutation(100)[:size]
        met = alike[np.ix_(batch, batch)].sum(axis=1)
        pairs.append(either[np.ix_(batch, batch)].sum() / 2)
        rows.append((met > 0).sum())
        floor.append(np.log1p(met).mean())
    result = expected_collisions(of_each, size, both)
    for expected, drawn in ((result.pairs, pairs), (result.rows, rows), (result.floor, floor)):
        assert abs(np.mean(drawn) - expected) < 4 * np.std(drawn) / len(drawn) ** 0.5
    assert result.share == pytest.approx(alike.mean() * 100 / 99)
    whole = expected_collisions(of_each, 1000, both)
    assert whole.pairs == pytest.approx(either.sum() / 2)
    assert whole.floor == pytest.approx(np.log1p(of_each).mean())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 0, 1, 2, 3, 3], [4, 5, 5, 6, 7, 7]),
        ([0, 1, 2, 3, 4], [1, 2, 0, 5, 6]),  # each first text is another's second
        ([0, 0, 1, 2, 2], [1, 2, 0, 3, 3]),
    ],
)
def test_no_softmax_falls_below_the_minimum_of_its_duplicates(first, second):
    """The best vectors that a search finds, one for each text, for pairs that share some."""
    import torch

    first, second = np.array(first), np.array(second)
    pair = np.unique(first * 10 + second, return_inverse=True)[1]
    bound = expected_collisions(partners(first, second, pair), 6).floor
    generator = torch.Generator().manual_seed(0)
    texts = torch.randn(8, 8, generator=generator, dtype=torch.float64)
    for step in range(150):
        texts.requires_grad_()
        queries, keys = texts[torch.tensor(first)], texts[torch.tensor(second)]
        loss = LOSSES["info_nce"].definition(queries, keys, temperature=0.1)
        (slope,) = torch.autograd.grad(loss, texts)
        texts = (texts - 0.98**step * slope / slope.norm()).detach()
    # Where a text stands on both sides, what draws one row up pushes another down.
    assert bound <= float(loss.detach()) < bound + (0.3 if set(first) & set(second) else 0.2)


def test_duplicates_of_positives():
    shared = [f"Passage {place % 50}." for place in range(COUNT)]
    faults = found(positives([f"Question {n}?" for n in range(COUNT)], shared), "info_nce", 32)
    twins = faults["twins"]
    assert twins.severity == SEVERE
    assert twins.values["count"] == COUNT
    # Each of 400 rows has 7 partners: 32 · 31 / 2 · 7 / 399 of them meet.
    assert twins.values["pairs"] == "8.7"
    assert twins.advice == (
        "batch_sampler=BatchSamplers.NO_DUPLICATES",
        'loss = training_loss("info_nce")(model, twins="leave_out")',
    )
    assert "twins_met" in found(positives(range_of("q"), shared), "siglip", 32)
    assert "twins" not in found(positives(range_of("q"), range_of("p")), "info_nce", 32)


def test_duplicates_in_other_spelling_are_separated_by_the_advice_as_pasted():
    """sentence-transformers' sampler compares texts to the letter: alone it keeps none apart."""
    from datasets import Dataset
    from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

    wide = "".join(chr(ord(letter) + 0xFEE0) if letter != " " else letter for letter in "q 7")
    first, second = [*range_of("q"), "Q 3", wide, "q 9"], [*range_of("p"), "x", "y", "z"]
    twins = found(positives(first, second), "info_nce", 300)["twins"]
    assert (twins.values["count"], twins.values["folded"]) == (6, 4)
    assert twins.rows == (4, COUNT + 1, 8, 10, COUNT + 2, COUNT + 3)
    assert pattern_of("doctor.data.do.twins", folded=4).search(twins.advised()[0])
    folding, sampler, _ = twins.advice
    assert sampler == NO_DUPLICATES

    def together(dataset):
        batches = list(NoDuplicatesBatchSampler(dataset, len(first), False))
        kept = [{folded(dataset["anchor"][place]) for place in batch} for batch in batches]
        return sum(len(batch) for batch in batches) - sum(len(texts) for texts in kept)

    given = {"dataset": Dataset.from_dict({"anchor": first, "positive": second})}
    assert together(given["dataset"]) == 2
    exec(folding, given)
    assert together(given["dataset"]) == 0
    alike = found(positives([*range_of("q"), "q 3"], [*range_of("p"), "x"]), "info_nce", 300)
    assert alike["twins"].values["folded"] == 0
    assert alike["twins"].advice[0] == NO_DUPLICATES


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        (
            [
                '{"query": "Ａ  dog", "yes": "bark", "negative_1": ["a Cat"], "negative_2": null}',
                '{"query": "a dog", "yes": "it runs", "negative_1": ["fOg"], "negative_2": "B"}',
            ],
            {"anchor": "query", "positive": "yes", "negative": "negative_1"},
        ),
        (
            [
                '{"query": "Ａ  dog", "answers": ["it barks", "a Cat"], "labels": [1, 0]}',
                '{"query": "a dog", "answers": ["It runs"], "labels": [1]}',
            ],
            {"first": "query", "second": "answers", "score": "labels"},
        ),
    ],
    ids=["triplets", "lists"],
)
def test_the_advice_brings_every_column_of_texts_to_one_writing(lines, columns):
    from datasets import Dataset

    content = "\n".join([*lines, ""]).encode()
    read = read_content(content, "t.jsonl", lambda *far: None, columns=columns)
    twins = next(
        one for one in examine(read.profile, LOSSES["info_nce"], 2).faults if one.name == "twins"
    )
    rows = [json.loads(line) for line in lines]
    given = {"dataset": Dataset.from_list(rows)}
    exec(twins.advice[0], given)

    def whole(cell):
        return [*map(whole, cell)] if isinstance(cell, list) else folded(cell or "")

    unread = {"labels"}
    assert given["dataset"].to_list() == [
        {name: cell if name in unread else whole(cell) for name, cell in row.items()}
        for row in rows
    ]


def test_duplicates_across_both_sides():
    """A query whose text is another pair's key has its own text among its negatives."""
    first = range_of("q")
    second = [first[place + 1] if place % 4 == 0 else f"p {place}" for place in range(COUNT)]
    twins = found(positives(first, second), "info_nce", 32)["twins"]
    assert twins.values["count"] == COUNT / 2
    assert twins.rows[:4] == (1, 2, 5, 6)
    assert len(twins.rows) == COUNT / 2
    # A quarter of the rows has one partner each: 100 · (32 · 31) / (400 · 399) encounters.
    assert twins.values["pairs"] == "0.622"


def range_of(letter):
    return [f"{letter} {place}" for place in range(COUNT)]


def test_a_softmax_is_known_by_its_value():
    assert {name for name in LOSSES if is_softmax(name)} >= {"info_nce", "nt_xent"}
    assert not any(is_softmax(name) for name in ("siglip", "alignment", "cosent"))


def test_texts_fold():
    assert folded("Ｆｕｌｌ\u3000width") == "full width"
    one, other = ids_of(*(figures_of(side).hashes for side in (["A b", "c"], ["a  B", "d"])))
    assert one[0] == other[0]
    assert len({*one, *other}) == 3


def test_what_is_left_out_has_its_reason():
    pairs = with_rows(clean_pairs(), *(row for name in ("copies", "same_on_both_sides",
                      "conflicting_labels") for row in PLANTED[name]))  # fmt: skip
    found = profiled(pairs).cleaned(by_threshold=False)
    assert dict(found.left_out) == {
        4: "conflicting_labels", COUNT + 1: "conflicting_labels",
        COUNT + 2: "same_on_both_sides", COUNT + 3: "conflicting_labels",
    }  # fmt: skip
    assert len(found.kept) + len(found.left_out) == len(pairs)


def test_every_fault_has_a_sentence_in_both_languages():
    faults = found(with_rows(clean_pairs(), *(PLANTED[name][0] for name in PLANTED)), most_tokens=9)
    for fault in faults.values():
        for language in ("en", "zh"):
            assert "{" not in fault.written(language)
            assert say(language, f"doctor.severity.{fault.severity}")
        json.dumps(fault.values)


@pytest.mark.parametrize(
    ("name", "loss", "expected"),
    [
        ("stsb_en_ccbysa_train.tsv", "cosent", {"copies": 2}),
        (
            "pawsx_zh_dev.tsv",
            "cosent",
            # Six of the copies, and both conflicts, are another pair the other way round.
            {
                "conflicting_labels": 2,
                "copies": 13,
                "same_on_both_sides": 73,
                "not_latin": "96%",
            },
        ),
    ],
)
def test_real_sets(name, loss, expected):
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"{path} is absent: data of other licences are not in the repository")
    faults = found(read_file(path, most=100_000).pairs, loss)
    by_name = {
        name: one.values.get("count", one.values.get("share")) for name, one in faults.items()
    }
    assert by_name == expected


def test_margins_that_no_cosines_have():
    rows = [(f"q{n // 2}", f"d{n}", float(1 - n % 2), 7.0 - 14 * (n % 2)) for n in range(6)]
    first, second, labels, scores = zip(*rows, strict=True)
    (fault,) = found(Pairs(first, second, labels, teacher=scores), "margin_mse").values()
    assert (fault.name, fault.severity) == ("margins_out_of_reach", WARNING)
    assert fault.values == {"most": "14", "share": "100%"}
    fits = Pairs(first, second, labels, teacher=tuple(score / 7 for score in scores))
    assert not found(fits, "margin_mse")
    assert "margins_out_of_reach" not in found(
        Pairs(first, second, labels, teacher=scores), "distill_kl"
    )


def test_the_checks_are_reported():
    """MarginMSE learns from a teacher and lists: without them it is not reported as sound."""
    faults = found(clean_pairs(), "margin_mse")
    assert faults["no_teacher"].severity == SEVERE
    assert "lists_of_one" in faults
    all_above = clean_pairs(tuple(0.6 + 0.1 * (place % 4) for place in range(COUNT)))
    assert found(all_above, "contrastive")["no_negative"].severity == SEVERE
    assert "no_negative" not in found(clean_pairs(), "contrastive")
    for loss in LOSSES:
        for pairs in (clean_pairs(), positives(range_of("q"), range_of("p"))):
            result = examine(profiled(pairs), LOSSES[loss], 16)
            assert {check.name for check in result.checks if check.made} >= {"copies", "scripts"}
            for check in result.checks:
                for language in ("en", "zh"):
                    assert not check.written(language).startswith("doctor.")


def test_duplicates_are_shown_beside_each_other():
    first = [*range_of("q"), "q 7", "q 9"]
    faults = found(positives(first, [*range_of("p"), "p x", "p y"]), "info_nce", 300)
    assert faults["twins"].rows == (8, COUNT + 1, 10, COUNT + 2)


def test_a_margin_that_no_two_vectors_have():
    """For data by the chosen margin or the default; for a run by its model's card, too."""
    from lossprism.explorer.lab.doctor.logs.findings import examine_run
    from lossprism.explorer.lab.doctor.logs.log import log_of
    from lossprism.explorer.lab.doctor.logs.model_card import read as read_card

    for margin, beyond in ((None, False), (2.0, False), (5.0, True)):
        result = found(clean_pairs(), "triplet", margin=margin)
        assert ("margin_beyond" in result) == beyond
    assert result["margin_beyond"].values == {"margin": "5", "reach": "2"}
    assert "margin_beyond" not in found(clean_pairs(), "info_nce", margin=5.0)
    spec = LOSSES["triplet"].under("sentence-transformers 6.2 TripletLoss")
    assert "margin_beyond" in {one.name for one in examine(profiled(clean_pairs()), spec, 8).faults}
    log = log_of((tuple(4 - place / 50 for place in range(40)), None))
    for margin in (5, 1):
        setting = json.dumps({"triplet_margin": margin})
        card = f"* Loss: <code>TripletLoss</code> with:\n  ```json\n  {setting}\n  ```\n"
        known = read_card("README.md", card.encode()).known
        names = {one.name for one in examine_run(log, known).faults}
        assert ("margin_beyond" in names) == (margin == 5)
