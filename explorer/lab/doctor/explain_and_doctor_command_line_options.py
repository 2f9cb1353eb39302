"""The arguments of ``python app.py explain`` and ``python app.py doctor``."""

import argparse

from lossprism.explorer.lab.doctor import (
    OTHER_RUN_SETTINGS,
    USUAL_BATCH,
    USUAL_HUB_ROWS,
    USUAL_LOSS,
)
from lossprism.explorer.locale import LANGUAGES

EXAMPLES = """\
for example:
  python app.py explain 5.545
  python app.py explain 5.545 --loss siglip
  python app.py explain 3.17 --loss MultipleNegativesRankingLoss --scale 1 --batch 64
  python app.py explain 1.3863 --loss FlagEmbedding --negatives 3

It ends with the status 2 where the number, or what stands beside it, cannot be.
"""
OF_DOCTOR = """\
for example:
  python app.py doctor pairs.tsv --loss cosent --batch 64
  python app.py doctor intents.csv --column text=utterance --column class=intent --losses
  python app.py doctor --hub sentence-transformers/stsb --rows 5000 --loss cosent
  python app.py doctor output/checkpoint-500
  python app.py doctor trainer_state.json --loss MultipleNegativesRankingLoss --batch 64
  python train.py | python app.py doctor - --loss MultipleNegativesRankingLoss --batch 64
  python app.py doctor wandb.csv --curve train/loss --held-out eval/loss --loss info_nce --scale 50

It ends with the status 1 where a finding is severe, with 2 where nothing could be examined (a file
that is empty or cannot be read, an option that cannot be, a defect of LossPrism), else with 0.
"""
COUNT_OPTIONS = {
    "batch": "pairs of a batch (sentences, of a loss on classes)",
    "negatives": "hard negatives of each query",
    "classes": "classes of a batch",
    "processes": "that train together, each on a batch of its own",
    "dimension": "of the vectors",
}
SETTING_OPTIONS = {
    "temperature": "before the similarities",
    "scale": "1 over the temperature",
    "margin": "of a loss that has one",
}


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "explain",
        help="what a loss value means: every reference value of every loss that is this number",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    about = "the number, with the digits that are known, such as 5.545; or several of one log"
    parser.add_argument("value", nargs="+", help=about)
    parser.add_argument("--loss", default="", help="a loss, another name for it, a library's class")
    _add_known(parser)
    parser.add_argument("--json", action="store_true", help="the answer as JSON, with links")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the words")

    _add_doctor(commands)


def _add_known(parser: argparse.ArgumentParser, of_batch: str = "") -> None:
    """Add the options of `Known`; `of_batch` ends the help on the batch size."""
    for name, about in COUNT_OPTIONS.items():
        more = of_batch if name == "batch" else ""
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"{about}{more}")
    for name, about in SETTING_OPTIONS.items():
        parser.add_argument(f"--{name}", type=float, metavar="X", help=about)
    about = "what the loss compares: cosines, dot products, or a cross-encoder's logits"
    parser.add_argument("--score", choices=("cosine", "dot", "logit"), default="", help=about)


def _add_doctor(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "doctor",
        help="problems of a table of pairs, of texts with classes, or of a run",
        epilog=OF_DOCTOR,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    about = (
        "pairs as CSV, TSV, JSON lines, a JSON array, Parquet or Arrow; or a run: "
        "trainer_state.json, a model's folder or README.md, a run folder, a table of scalars, an "
        "event file of TensorBoard, a trackio project's database or folder, console output; - "
        "reads any of these, or numbers, from standard input"
    )
    parser.add_argument("file", nargs="?", help=about)
    about = "in place of a file: the first rows of a dataset of the hub, a subset behind a colon"
    parser.add_argument("--hub", default="", metavar="ID", help=about)
    parser.add_argument("--split", default="train", help="part of a dataset of the hub (train)")
    about = "that are read of a dataset of the hub (10000)"
    parser.add_argument("--rows", type=int, default=USUAL_HUB_ROWS, metavar="N", help=about)
    about = f"as explain takes it; of a run what its log says, of pairs {USUAL_LOSS}"
    parser.add_argument("--loss", default="", help=about)
    _add_known(parser, f"; of a table {USUAL_BATCH}")
    parser.add_argument("--curve", default="", metavar="NAME", help="of a run: its training loss")
    parser.add_argument("--held-out", default="", metavar="NAME", help="its held-out loss")
    about = "of a run's table: the column of its steps; # counts the rows"
    parser.add_argument("--step", default="", metavar="NAME", help=about)
    about = "another run, for what the values of both can say about each other"
    parser.add_argument("--beside", metavar="RUN", help=about)
    about = "loss of the other run, where it is not what its log says"
    parser.add_argument("--beside-loss", metavar="LOSS", help=about)
    for name in OTHER_RUN_SETTINGS:
        kind, metavar = (int, "N") if name in COUNT_OPTIONS else (float, "X")
        about = f"of the other run: {(COUNT_OPTIONS | SETTING_OPTIONS)[name]}"
        parser.add_argument(f"--beside-{name}", type=kind, metavar=metavar, help=about)
    about = (
        "which column of a table is first, second, score and teacher, or anchor, positive and "
        "negative, or text and class; recognised if left out; score=none where there is none"
    )
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=NAME", help=about)
    about = "whether the first row of a table has the names of its columns; found out if left out"
    parser.add_argument("--header", choices=("yes", "no"), help=about)
    about = "in which a table is written, such as gbk; found out if left out"
    parser.add_argument("--encoding", default="", metavar="NAME", help=about)
    parser.add_argument("--tokens", type=int, metavar="N", help="that the encoder reads of a text")
    about = (
        "write the rows that stay as they came, and beside it those that were left out and why; a "
        "name that ends in .jsonl makes JSON lines, and so does one without an ending of lists"
    )
    parser.add_argument("--clean", metavar="FILE", help=about)
    about = "name the losses that can learn from it too, with reasons for and against"
    parser.add_argument("--losses", action="store_true", help=about)
    about = "look with an encoder too: minilm, an id of the hub, or a folder"
    parser.add_argument("--encoder", default="", metavar="NAME", help=about)
    about = "pairs or texts that the encoder reads, picked at random (2000)"
    parser.add_argument("--encoded", type=int, default=2000, metavar="N", help=about)
    about = "write hard negatives as triplets, mined by sentence-transformers with the encoder"
    parser.add_argument("--mine", metavar="FILE.tsv", help=about)
    about = "negatives that are mined for each pair (1)"
    parser.add_argument("--mine-each", type=int, default=1, metavar="N", help=about)
    about = "share of a pair's own cosine by which they stay below it (0.05)"
    parser.add_argument("--mine-margin", type=float, default=0.05, metavar="X", help=about)
    parser.add_argument("--json", action="store_true", help="the findings as JSON")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the words")
