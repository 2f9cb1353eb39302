"""Files of results: one for each benchmark, with the day, machine and versions."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"

HEADS = ("what", "measured", "target")
Row = tuple[str, str, str]
Table = tuple[Sequence[str], Iterable[Sequence[str]]]


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results",
        metavar="FOLDER",
        type=Path,
        help="where the tables are written; a whole run writes to benchmarks/results if left out",
    )


def folder(chosen: argparse.Namespace, whole: bool) -> Path | None:
    """Return the folder of this run's tables; None for a part of a run, which is only printed."""
    return chosen.results or (RESULTS if whole else None)


def write(
    place: Path, name: str, title: str, machine: str, *tables: Table, command: str = ""
) -> None:
    """The tables of `python -m benchmarks NAME`, or another `command`, as ``NAME.md`` in the
    folder, in place of those of the run before."""
    place.mkdir(parents=True, exist_ok=True)
    head = f"# {title}\n\n`python -m benchmarks {command or name}` on {today()}: {machine}."
    parts = [head, *(table(heads, rows) for heads, rows in tables)]
    (place / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(map(line, (heads, ["---"] * len(heads), *rows)))


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def today() -> str:
    return datetime.date.today().isoformat()
