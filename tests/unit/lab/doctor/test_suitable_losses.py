"""Which losses can learn from a table."""

from __future__ import annotations

import argparse
import functools
import json

import pytest

from lossprism.explorer.lab.doctor.dataset_reader import read_content, read_table
from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import add_to
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.doctor.suitable_losses import suited, suited_to_classes
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import LANGUAGES, catalogue, say
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.judgements.claims import BY_KEY

COUNT = 40
FIRST = tuple(f"first {place}" for place in range(COUNT))
SECOND = tuple(f"second {place}" for place in range(COUNT))


def of(labels=None, first=FIRST, second=SECOND):
    pairs = Pairs(first, second, labels or (1.0,) * COUNT, labelled=labels is not None)
    return {one.loss: one for one in suited(profiled(pairs), 16)}


def test_graded_labels_ask_for_a_loss_that_follows_them():
    found = of(tuple(place % 6 / 5 for place in range(COUNT)))
    assert LOSSES[next(iter(found))].group == "pair_scores"
    assert found["cosent"].reasons == ("degrees",)
    assert found["info_nce"].against == ("degrees_lost",)
    assert list(found).index("cosent") < list(found).index("info_nce")
    assert not {"list_net", "margin_mse"} & set(found)


def test_positives_alone_ask_for_negatives_of_the_batch():
    found = of()
    assert next(iter(found)) == "info_nce"
    assert "cosent" not in found
    twins = of(second=("the same",) * COUNT)
    assert "twins" in twins["info_nce"].against


def test_a_few_lists_by_chance_ask_for_no_loss_on_lists():
    found = of(tuple(place % 6 / 5 for place in range(COUNT)), (*FIRST[:-1], FIRST[0]))
    assert found["list_net"].against == ("few_in_order",)
    assert next(iter(found)) in ("cosent", "pairwise_logistic", "cosine_mse")


def test_nearly_all_positive_ask_for_negatives_of_the_batch():
    found = of((0.0, *(1.0,) * (COUNT - 1)))
    assert next(iter(found)) == "info_nce"
    assert "mostly_positive" in found["info_nce"].reasons
    assert "alike" in found["cosent"].against


def test_lists_and_both_languages():
    labels = tuple(float(place % 2) for place in range(COUNT))
    found = of(labels, FIRST[:5] * (COUNT // 5))
    assert "lists" in found["list_net"].reasons
    assert "hard_negatives" in found["info_nce"].reasons
    of_one_label = of(labels, FIRST[:4] * (COUNT // 4))
    assert "few_in_order" in of_one_label["list_net"].against
    assert "hard_negatives" not in of_one_label["info_nce"].reasons
    for language in ("en", "zh"):
        assert all(reason for one in found.values() for reason in one.written(language))


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("none", "sentence1\tsentence2\tscore", "first {n}\tsecond {n}\t{label}"),
        ("none_classes", "text\tclass", "text {n}\tclass {label}"),
    ],
)
def test_where_nothing_can_be_learnt_no_loss_is_named(name, header, row, tmp_path, capsys):
    """What only spreads texts is no loss to learn these columns by."""
    sentences = {language: catalogue(language)[f"doctor.suited.{name}"] for language in LANGUAGES}
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())

    def result(labels, language):
        path = tmp_path / "t.tsv"
        path.write_text("\n".join([header, *(row.format(n=n, label=labels(n)) for n in range(9))]))
        doctor(parser.parse_args(["doctor", str(path), "--losses", "--language", language]))
        return capsys.readouterr().out

    for language in LANGUAGES:
        assert sentences[language] in result(lambda _: 0, language)
        assert sentences[language] not in result(lambda n: n % 2, language)
    if name == "none":
        assert of((0.0,) * COUNT) == {}
        assert of((0.3,) * COUNT) == {}
        assert {"info_nce", "uniformity"} <= of((1.0,) * COUNT).keys()
    else:
        assert sentences["en"] in result(lambda n: n, "en")  # no class has two texts


def table(*columns):
    """What of a table of rows of its own texts is suited, its columns named and filled."""
    names = "\t".join(columns)
    lines = (
        "\t".join(f"{name} {row}" if name not in FILLED else FILLED[name](row) for name in columns)
        for row in range(COUNT)
    )
    text = "\n".join((names, *lines)).encode()
    return suited(read_content(text, "t.tsv", lambda *_: None).profile, 16)


FILLED = {
    "score": lambda row: str(row % 6),
    "margin": lambda row: str(row / 7),
    "label": lambda row: str(row % 2),
    "entailed": lambda row: ("entailment", "neutral", "contradiction")[row % 3],
}


def test_every_loss_has_its_reason_and_those_made_for_the_columns_come_first():
    triplets = table("anchor", "positive", "negative")
    taught = table("anchor", "positive", "negative", "margin")
    for found, first in (
        (triplets, ["info_nce", "triplet"]),
        (taught, ["margin_mse", "distill_kl", "info_nce", "triplet"]),
        (table("sentence1", "sentence2"), ["info_nce", "nt_xent"]),
        (tuple(of((1.0,) * COUNT).values()), ["info_nce", "nt_xent"]),
        (table("sentence1", "sentence2", "score"), ["cosent", "cosine_mse"]),
        (table("sentence1", "sentence2", "label"), ["contrastive", "online_contrastive"]),
        (table("premise", "hypothesis", "entailed"), ["info_nce"]),
        (tuple(of(tuple(n % 3 for n in range(COUNT)), FIRST[:5] * 8).values()), ["list_net"]),
    ):
        assert [one.loss for one in found[: len(first)]] == first
        assert all(one.reasons for one in found)
    named = {one.loss: one for one in triplets}
    assert not {"list_net", "list_mle", "lambda_loss"} & {one.loss for one in triplets[:8]}
    assert named["list_net"].against == ("lists_of_two",)
    assert named["cosent"].against == ("queries_unread",)
    assert named["siglip"].against == ("negatives_unread",)
    assert named["alignment"].against == ("negatives_unread", "only_pulls")
    assert not any("yes_or_no" in one.reasons for one in (*triplets, *taught))
    assert all(
        ("teacher_unread" in one.against) == ("teacher" not in one.reasons) for one in taught
    )


def test_further_losses_that_can_learn_from_it_are_reported(tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"first {n}\tsecond {n}\n" for n in range(COUNT)))
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    assert doctor(parser.parse_args(["doctor", str(path), "--losses", "--json"])) == 0
    count = len(json.loads(capsys.readouterr().out)["suited"])
    for language in LANGUAGES:
        doctor(parser.parse_args(["doctor", str(path), "--losses", "--language", language]))
        more = say(language, "doctor.suited_more", count=count - 8)
        assert more in capsys.readouterr().out


# Tables of which it is known what they are, by their columns and what stands in each row.
PAIR, LIST, TRIPLET = (
    "sentence1 sentence2 score",
    "query document label",
    "anchor positive negative",
)
ROWS = {
    "graded": (PAIR, lambda n: (f"a{n}", f"b{n}", n % 6)),
    "two labels": (PAIR, lambda n: (f"a{n}", f"b{n}", n % 2)),
    "mostly positive": (PAIR, lambda n: (f"a{n}", f"b{n}", int(n > 0))),
    "positives": ("sentence1 sentence2", lambda n: (f"a{n}", f"b{n}")),
    "twins": ("sentence1 sentence2", lambda n: (f"a{n}", f"b{n % 4}")),
    "triplets": (TRIPLET, lambda n: (f"a{n}", f"b{n}", f"c{n}")),
    "taught": (f"{TRIPLET} margin", lambda n: (f"a{n}", f"b{n}", f"c{n}", n / 7)),
    "taught pairs": (f"{LIST} teacher", lambda n: (f"a{n or 1}", f"b{n}", n % 2, n / 7)),
    "lists": (LIST, lambda n: (f"a{n // 5}", f"b{n}", n % 3)),
    "lists of two labels": (LIST, lambda n: (f"a{n // 5}", f"b{n}", n % 2)),
    "lists of one label": (LIST, lambda n: (f"a{n // 5}", f"b{n}", n // 5 % 2)),
    "inference": ("premise hypothesis label", lambda n: (f"a{n}", f"b{n}", KINDS[n % 3])),
    "classes": ("text class", lambda n: (f"text {n}", n % 4)),
    "small classes": ("text class", lambda n: (f"text {n}", n // 2)),
}
KINDS = ("entailment", "neutral", "contradiction")
# Of each reason a loss and a table where it holds, and one where it does not.
HELD = {
    "above_threshold": ("info_nce graded", "info_nce two labels"),
    "alike": ("cosent mostly positive", "contrastive mostly positive"),
    "alone": ("supcon small classes", "supcon classes"),
    "as_cosines": ("cosine_mse graded", "cosent graded"),
    "classes": ("supcon classes", "arcface classes"),
    "classes_of_pairs": ("arcface graded", "supcon graded"),
    "degrees": ("cosent graded", "cosent two labels"),
    "degrees_lost": ("info_nce graded", "info_nce two labels"),
    "drawn_alike": ("contrastive mostly positive", "cosent mostly positive"),
    "entailed": ("info_nce inference", "cosent inference"),
    "few_in_order": ("list_net lists of one label", "list_net lists"),
    "few_lists": ("distill_kl taught pairs", "distill_kl taught"),
    "given_triplets": ("triplet triplets", "triplet positives"),
    "guide": ("gist twins", "gist positives"),
    "hard_negatives": ("info_nce triplets", "info_nce two labels"),
    "joined": ("arcface positives", "supcon positives"),
    "kinds_as_degrees": ("cosent inference", "cosent graded"),
    "kinds_in_order": ("cosent inference", "cosent graded"),
    "labels_unread": ("uniformity graded", "uniformity positives"),
    "lists": ("list_net lists", "list_net lists of one label"),
    "lists_of_two": ("list_net triplets", "list_net lists"),
    "mostly_positive": ("info_nce mostly positive", "info_nce two labels"),
    "negatives_halved": ("info_nce two labels", "info_nce triplets"),
    "negatives_unread": ("siglip two labels", "siglip positives"),
    "nothing_to_learn": ("uniformity positives", "info_nce positives"),
    "one_negative": ("triplet classes", "supcon classes"),
    "only_pulls": ("alignment positives", "vicreg positives"),
    "positives": ("info_nce positives", "info_nce two labels"),
    "positives_alone": ("alignment positives", "info_nce positives"),
    "positives_of_labels": ("supcon two labels", "supcon positives"),
    "positives_of_triplets": ("supcon triplets", "info_nce triplets"),
    "prototypes": ("arcface classes", "supcon classes"),
    "prototypes_of_these": ("arcface classes", "supcon classes"),
    "queries_unread": ("cosent lists", "cosent graded"),
    "second_encoder": ("gist positives", "info_nce positives"),
    "spreads": ("uniformity positives", "info_nce positives"),
    "teacher": ("margin_mse taught", "info_nce taught"),
    "teacher_unread": ("info_nce taught", "info_nce triplets"),
    "triplet_labels": ("cosent triplets", "cosent two labels"),
    "twins": ("info_nce twins", "info_nce positives"),
    "two_outputs": ("multitask_cosent graded", "cosent graded"),
    "yes_or_no": ("contrastive two labels", "contrastive graded"),
}


@functools.cache
def reasons_of(name):
    """Of each loss that can learn from the table the reasons for it and against it."""
    columns, row = ROWS[name]
    lines = (columns.split(), *(map(str, row(n)) for n in range(COUNT)))
    text = "\n".join("\t".join(line) for line in lines).encode()
    read = read_table(text, "t.tsv", lambda *_: None)
    of_classes = isinstance(read, ClassTable)
    found = suited_to_classes(read, 16) if of_classes else suited(read.profile, 16)
    return {one.loss: {*one.reasons, *one.against} for one in found}


def test_every_reason_is_given_where_it_holds_and_not_where_it_does_not():
    start = "doctor.suited."
    reasons = {key.removeprefix(start) for key in BY_KEY if key.startswith(start)}
    assert HELD.keys() == {name for name in reasons if not name.startswith("none")}
    for name, (true, false) in HELD.items():
        for where, holds in ((true, True), (false, False)):
            loss, table = where.split(" ", 1)
            assert (name in reasons_of(table)[loss]) == holds, (name, where)
