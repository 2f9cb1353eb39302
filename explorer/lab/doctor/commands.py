"""``python app.py explain``: what a number means, without a batch."""

from __future__ import annotations

import argparse
import json
import sys

from explorer.locale import LANGUAGES

EXAMPLES = """\
for example:
  python app.py explain 5.545
  python app.py explain 5.545 --loss siglip
  python app.py explain 3.17 --loss MultipleNegativesRankingLoss --scale 1 --batch 64
  python app.py explain 1.3863 --loss FlagEmbedding --negatives 3
"""
WHOLE = {
    "batch": "pairs of a batch (sentences, of a loss on classes)",
    "negatives": "hard negatives of each query",
    "classes": "classes of a batch",
    "processes": "that train together, each on a batch of its own",
    "dimension": "of the vectors",
}
REAL = {
    "temperature": "before the similarities",
    "scale": "1 over the temperature",
    "margin": "of a loss that has one",
}


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "explain",
        help="what a loss value means: every landmark of every loss that is this number",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("value", help="the number, with the digits that are known, such as 5.545")
    parser.add_argument("--loss", default="", help="a loss, another name for it, a library's class")
    for name, about in WHOLE.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=about)
    for name, about in REAL.items():
        parser.add_argument(f"--{name}", type=float, metavar="X", help=about)
    parser.add_argument("--json", action="store_true", help="the answer as JSON, with the scenes")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])


def explain_value(chosen: argparse.Namespace) -> int:
    """Print what the number may be, likeliest first; 1 where it, or what is known, cannot be."""
    from explorer.lab.doctor.explain import explain, read_value
    from explorer.lab.doctor.known import Known
    from explorer.lab.doctor.told import lines, to_json

    known = {name: getattr(chosen, name) for name in ("loss", *WHOLE, *REAL)}
    try:
        found = explain(read_value(chosen.value), Known(**known), chosen.value.strip())
    except ValueError as problem:
        print(f"Nothing was explained: {problem}", file=sys.stderr)
        return 1
    if chosen.json:
        print(json.dumps(to_json(found, chosen.language), ensure_ascii=False, indent=1))
    else:
        print("\n".join(lines(found, chosen.language)))
    return 0
