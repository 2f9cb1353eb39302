"""Write docs/troubleshooting.md from what Doctor can say of a run: the symptom as people describe
it, the finding, what to do, and how it is told."""

from __future__ import annotations

from pathlib import Path

from explorer.core.judgements import JUDGEMENTS
from explorer.locale import catalogue
from tests import planted

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "troubleshooting.md"
ROOM = "doctor.run."
ABOUT = """# Troubleshooting

What people describe, what Doctor finds in a run, and what to do about it. A run is read from
`trainer_state.json`, a model's folder or its `README.md`, a run folder of LossPrism, a table of
scalars (exports of wandb, trackio, TensorBoard), an event file of TensorBoard or a trackio
project's database:

    python app.py doctor output/checkpoint-500
    python app.py doctor trainer_state.json --loss MultipleNegativesRankingLoss --batch 64

A number without a log is explained by `python app.py explain 5.545`, or at `/doctor#value=5.545` of
the page; a table of pairs is examined by `python app.py doctor pairs.tsv --loss cosent --batch 64`.
`PrismCallback` of `losses.sentence_transformers` logs both ends of the loss while it trains, and
keeps batches that `python app.py --open FOLDER` shows. How each finding is tested, and how often it
is right, is in [judgements.md](judgements.md).

`python -m tests.judgements.troubleshooting` writes this file.
"""
RATES = """## How much of what is wrong is found, and how much of what is found is wrong

Faults were planted in tables (of what texts and labels tell), in vectors of a made-up encoder, and
in logs of runs, so that it is known what is wrong with them. Of tables and vectors rows are
counted, of what is said of a whole table or of a run tables and runs: how many were planted, of
how many it was said, the share of what was said that was planted (precision), and the share of
what was planted that was said (recall). Of 5% wrong labels nothing is said: so many pairs
contradict their labels in data without a wrong one, too. `python -m tests.planted` prints the
same, and its modules say what exactly was planted; `tests/unit/lab/doctor/test_planted.py`
measures it anew.
"""


def findings() -> list[str]:
    """The names of all findings of a run, in the order of the registry."""
    keys = [one.key for one in JUDGEMENTS if one.key.startswith(ROOM)]
    return [key.removeprefix(ROOM) for key in keys]


def document() -> str:
    """All but what is measured."""
    words = catalogue("en")
    lines = [ABOUT]
    for name in findings():
        anchor = f"{ROOM}{name}".replace(".", "")
        lines += [
            f"## {words[f'{ROOM}symptom.{name}']}",
            "",
            f"* **Finding** `{name}`: {words[f'{ROOM}{name}']}",
            f"* **What to do**: {words[f'{ROOM}do.{name}']}",
            f"* [How it is told](judgements.md#{anchor})",
            "",
        ]
    return "\n".join(lines)


def measured() -> str:
    """How often the findings are right."""
    return "\n".join([RATES, *planted.lines(), ""])


if __name__ == "__main__":
    DOCUMENT.write_text(f"{document()}\n{measured()}", encoding="utf-8")
    print(f"{DOCUMENT} is written.")
