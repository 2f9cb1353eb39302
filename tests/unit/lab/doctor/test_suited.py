"""Which losses can learn from a table."""

from __future__ import annotations

import argparse
import json

import pytest

from explorer.lab.doctor.commands import add_to, doctor
from explorer.lab.doctor.profile import profiled
from explorer.lab.doctor.reading import read_content
from explorer.lab.doctor.suited import suited
from explorer.locale import LANGUAGES, catalogue
from explorer.sources.pairs import Pairs
from losses import LOSSES

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
        assert all(reason for one in found.values() for reason in one.said(language))


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("none", "sentence1\tsentence2\tscore", "first {n}\tsecond {n}\t{label}"),
        ("none_classes", "text\tclass", "text {n}\tclass {label}"),
    ],
)
def test_where_nothing_can_be_learnt_no_loss_is_named(name, header, row, tmp_path, capsys):
    """What only spreads texts is no loss to learn these columns by."""
    said = {language: catalogue(language)[f"doctor.suited.{name}"] for language in LANGUAGES}
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())

    def told(labels, language):
        path = tmp_path / "t.tsv"
        path.write_text("\n".join([header, *(row.format(n=n, label=labels(n)) for n in range(9))]))
        doctor(parser.parse_args(["doctor", str(path), "--losses", "--language", language]))
        return capsys.readouterr().out

    for language in LANGUAGES:
        assert said[language] in told(lambda _: 0, language)
        assert said[language] not in told(lambda n: n % 2, language)
    if name == "none":
        assert of((0.0,) * COUNT) == {}
        assert of((0.3,) * COUNT) == {}
        assert {"info_nce", "uniformity"} <= of((1.0,) * COUNT).keys()
    else:
        assert said["en"] in told(lambda n: n, "en")  # no class has two texts


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


def test_that_more_can_learn_from_it_is_said(tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"first {n}\tsecond {n}\n" for n in range(COUNT)))
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    assert doctor(parser.parse_args(["doctor", str(path), "--losses", "--json"])) == 0
    count = len(json.loads(capsys.readouterr().out)["suited"])
    for language, said in (("en", "{} more can learn from it; --json"), ("zh", "另有 {} 个")):
        doctor(parser.parse_args(["doctor", str(path), "--losses", "--language", language]))
        assert said.format(count - 8) in capsys.readouterr().out
