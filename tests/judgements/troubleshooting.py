"""Write docs/troubleshooting.md from what Doctor can say of a run and of data: the symptom as
people describe it, the finding, what to do, a link that shows it, and its test."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from lossprism.explorer.lab.doctor.logs.examples import EXAMPLES
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.locale import catalogue
from lossprism.explorer.sources.encoders import EMBEDDED
from tests import planted
from tests.judgements.claims import JUDGEMENTS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "troubleshooting.md"
SUBJECTS = {"run": "A training run", "data": "A dataset"}
# Of each finding about data a table that shows it, under a loss in batches of a size; with an
# encoder where only that can tell.
LONG = " ".join(["word"] * 300)
GRADED = "".join(f"first {n}\tsecond {n}\t{n % 5}\n" for n in range(10))
SAMPLES: dict[str, tuple[str, int, str]] = {
    "batches_without_positive": ("info_nce", 2, "".join(
        f"first {n}\tsecond {n}\t{int(n == 0)}\n" for n in range(8))),
    "class_spellings": ("supcon", 4, "text\tclass\none\ta\ntwo\ta\nthree\tA\nfour\tb\nfive\tb\n"),
    "classes_of_one": ("supcon", 4, "text\tclass\none\ta\ntwo\ta\nthree\tb\nfour\tb\nfive\tc\n"),
    "conflicting_labels": ("cosent", 4, "one\ttwo\t1\none\ttwo\t0\nthree\tfour\t1\n"),
    "rater_noise": ("cosent", 4, "one\ttwo\t4.2\none\ttwo\t4.6\nthree\tfour\t0\nfive\tsix\t5\n"),
    "copies": ("cosent", 4, "one\ttwo\t1\nOne\ttwo\t1\nthree\tfour\t0\n"),
    "cut_off": ("info_nce", 2, f"one\t{LONG}\ntwo\tthree\n"),
    "degrees_lost": ("info_nce", 4, GRADED),
    "inference_labels": ("cosent", 4, "premise\thypothesis\tlabel\n" + "".join(
        f"premise {n}\thypothesis {n}\t{n % 3}\n" for n in range(9))),
    "labels_out_of_reach": ("cosine_mse", 4, GRADED),
    "labels_outside": ("binary_cross_entropy", 4, GRADED),
    "lists_of_one": ("list_net", 4, GRADED),
    "lists_of_one_label": ("list_net", 4, "".join(
        f"query {n // 3}\tdocument {n}\t{n // 3 % 2}\n" for n in range(12))),
    "lists_without_positive": ("margin_mse", 4, "".join(
        f"query {n // 3}\tdocument {n}\t{int(n % 6 == 0)}\n" for n in range(12))),
    "groups_without_negative": ("margin_mse", 4, "".join(
        f"query {n // 3}\tdocument {n}\t{int(n % 6 < 4)}\n" for n in range(12))),
    "margin_beyond": ("triplet", 4, GRADED),
    "margins_out_of_reach": ("margin_mse", 4, "query\tdocument\tscore\tteacher\n" + "".join(
        f"question {n // 2}\tanswer {n}\t{1 - n % 2}\t{7 - 14 * (n % 2)}\n" for n in range(6))),
    "mixed_scripts": ("info_nce", 4, "one\ttwo\nthree\tfour\nfive\tsix\n两个人\t在跑步\n"),
    "negative_is_own": ("triplet", 4, "anchor\tpositive\tnegative\none\ttwo\tthree\n"
                        "four\tfive\tFive\nsix\tseven\teight\n"),
    "no_labels": ("cosent", 4, "one\ttwo\nthree\tfour\n"),
    "no_negative": ("contrastive", 4, "one\ttwo\t0.8\nthree\tfour\t1\n"),
    "no_positive": ("info_nce", 4, "one\ttwo\t0\nthree\tfour\t0.2\n"),
    "no_teacher": ("margin_mse", 4, GRADED),
    "not_latin": ("info_nce", 4, "第一句话\t第一句回答\n第二句话\t第二句回答\n"),
    "one_class": ("supcon", 4, "text\tclass\none\ta\ntwo\ta\n"),
    "one_label": ("cosent", 4, "one\ttwo\t1\nthree\tfour\t1\n"),
    "rows_alone": ("supcon", 4, "text\tclass\n" + "".join(
        f"text {n}\tclass {n // 2}\n" for n in range(20))),
    "same_on_both_sides": ("info_nce", 4, "One\tone\ntwo\tthree\n"),
    "texts_again": ("supcon", 4, "text\tclass\none\ta\nOne\ta\ntwo\tb\nthree\tb\n"),
    "texts_in_classes": ("supcon", 4, "text\tclass\none\ta\none\tb\ntwo\ta\nthree\tb\n"),
    "twins": ("info_nce", 4, "how tall\t8848 m\nhow high\t8848 m\nhow old\tten\nwhy\tso\n"),
    "twins_met": ("siglip", 4, "how tall\t8848 m\nhow high\t8848 m\nhow old\tten\nwhy\tso\n"),
    "two_scripts": ("info_nce", 4, "one\t第一句\ntwo\t第二句\n"),
    "false_negatives": ("info_nce", 16, ""),
    "near_duplicates": ("info_nce", 4, "A man is running.\tHe runs.\nA man is running!\tHe is "
                        "running.\nA cat sleeps.\tIt is asleep.\nIt rains.\tThe rain falls.\n"),
    "tokens_cut_off": ("info_nce", 2, f"one\t{LONG}\ntwo\tthree\n"),
}  # fmt: skip
# Two runs: a log of the page, another beside it, and what is known of that one.
BESIDE = {
    "comparable": {"log": "jumped", "beside": "forgot"},
    "other_batch": {"log": "forgot", "beside": "forgot", "beside_batch": "64"},
    "other_loss": {"log": "forgot", "beside": "unnamed", "beside_loss": "siglip"},
    "other_scale": {"log": "forgot", "beside": "jumped", "beside_scale": "10"},
    "other_training": {"log": "forgot", "beside": "brief"},
    "untold": {"log": "forgot", "beside": "unnamed"},
    "untold_batch": {
        "log": "forgot",
        "beside": "unnamed",
        "beside_loss": "MultipleNegativesRankingLoss",
    },
}
WHO = ("man", "woman", "boy", "girl", "dog", "cat", "horse", "bird")
DOES = ("running", "eating", "sleeping", "singing", "swimming", "jumping")
ENCODED = ("disagreement", "false_negatives", "near_duplicates", "tokens_cut_off")


def mislabelled() -> str:
    """The same, nearly the same and another thing said, graded 5, 3 and 0; of the first 18 pairs
    the ends of the scale are turned round."""
    lines = []
    for place in range(48):
        kind = place % 3
        who, does = (WHO[(place + 3 * (kind == 2)) % 8], DOES[(place + kind) % 6])
        second = f"{'A' if kind else 'The'} {who} is {does}."
        grade = (5, 3, 0)[kind]
        wrong = place < 18 and grade != 3
        lines.append(
            f"A {WHO[place % 8]} is {DOES[place % 6]}.\t{second}\t{5 - grade if wrong else grade}\n"
        )
    return "".join(lines)


SAMPLES["disagreement"] = ("cosent", 16, mislabelled())
SET = {"false_negatives": "twins"}
ABOUT = """# Troubleshooting

What people describe, what Doctor finds in a run or in data, and what to do about it. A link that
begins with `/doctor` follows the address of the page. It opens on something that has this finding.

A run is read from `trainer_state.json`, a model's folder or its `README.md`, or a run folder of
LossPrism. Scalars exported by wandb, trackio or TensorBoard, an event file of TensorBoard and a
trackio project's database work, too:

    python app.py doctor output/checkpoint-500
    python app.py doctor trainer_state.json --loss MultipleNegativesRankingLoss --batch 64

`python app.py explain 5.545` explains a number without a log, and so does `/doctor#value=5.545` on
the page. `python app.py doctor pairs.tsv --loss cosent --batch 64` examines a table of pairs.
`PrismCallback` of `lossprism.losses.sentence_transformers` logs both ends of the loss while it
trains, and keeps batches that `python app.py --open FOLDER` shows. How each finding is tested, and
how often it is right, is in [judgements.md](judgements.md).

`python -m tests.judgements.troubleshooting` writes this file.
"""
RATES = """## Precision and recall of the findings

Known faults were planted in tables, in vectors of a simulated encoder, and in logs of one or two
runs. Rows of tables and vectors are counted, and whole tables or runs for findings on these.
Precision is the share of reported faults that were planted, recall the share of planted faults that
were reported. `python -m tests.planted`, which CI runs, prints the same and fails if one is too
low; its modules describe the planted faults.
"""


def findings(subject: str) -> list[str]:
    """The names of all findings of a run, or of data, in the order of the registry."""
    start = f"doctor.{subject}."
    return [one.key.removeprefix(start) for one in JUDGEMENTS if one.key.startswith(start)]


@cache
def made_up() -> dict[str, str]:
    """By its finding the first log of the page of which it is the worst, or that has it."""
    named = {
        log: [one.name for one in examine_run(make()).faults] for log, make in EXAMPLES.items()
    }
    found = {worst[0]: log for log, worst in reversed(named.items()) if worst}
    for log, names in named.items():
        for name in names:
            found.setdefault(name, log)
    return found


def link(subject: str, name: str) -> str:
    """The end of an address of the page that shows the finding, or the door to bring it to."""
    if subject == "run":
        values = BESIDE.get(name) or {"log": made_up()[name]}
        return f"/doctor#{urlencode({'door': subject, **values})}"
    loss, batch, table = SAMPLES[name]
    values = {"door": "data", "for": loss, "n": str(batch)}
    if name in ENCODED:
        values["encoder"] = EMBEDDED
    if name == "margin_beyond":
        values["for_margin"] = "5"
    if name in SET:
        values["set"] = SET[name]
    if table:
        values |= {"from": "typed", "t": packed(table)}
    return f"/doctor#{urlencode(values)}"


def packed(table: str) -> str:
    """As the page puts a pasted table into its address."""
    made = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = made.compress(table.encode()) + made.flush()
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def document() -> str:
    """All but what is measured."""
    return "\n".join([ABOUT, *(line for subject in SUBJECTS for line in _of_subject(subject))])


def _of_subject(subject: str) -> Iterator[str]:
    words, start = catalogue("en"), f"doctor.{subject}."
    yield from (f"## {SUBJECTS[subject]}", "")
    for name in findings(subject):
        anchor = f"{start}{name}".replace(".", "")
        yield f"### {words[f'{start}symptom.{name}']}"
        yield ""
        yield f"* **Finding** `{name}`: {words[f'{start}{name}']}"
        yield f"* **What to do**: {words[f'{start}do.{name}']}"
        yield f"* `{link(subject, name)}` · [How it is tested](judgements.md#{anchor})"
        yield ""


def measured() -> str:
    """How often the findings are right."""
    return "\n".join([RATES, *planted.table()[0], ""])


if __name__ == "__main__":
    DOCUMENT.write_text(f"{document()}\n{measured()}", encoding="utf-8")
    print(f"{DOCUMENT} is written.")
