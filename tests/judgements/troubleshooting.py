"""Write docs/troubleshooting.md from what Doctor can say of a run: the symptom as people describe
it, the finding, what to do, and how it is told."""

from __future__ import annotations

from pathlib import Path

from explorer.core.judgements import JUDGEMENTS
from explorer.locale import catalogue

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


def findings() -> list[str]:
    """The names of all findings of a run, in the order of the registry."""
    keys = [one.key for one in JUDGEMENTS if one.key.startswith(ROOM)]
    return [key.removeprefix(ROOM) for key in keys]


def document() -> str:
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


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"{DOCUMENT} is written.")
