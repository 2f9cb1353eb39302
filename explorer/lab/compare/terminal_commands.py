"""``python app.py compare-losses``: several losses on one batch, as a table on the terminal; and
``python app.py parity``: every loss beside the installed libraries, as a page."""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.number_format import display_number

if TYPE_CHECKING:  # the command answers --help without torch
    from lossprism.explorer.lab.compare.comparison_results import Between, Figures
    from lossprism.explorer.lab.compare.loss_comparison import Comparison

FETCH_HELP = "fetch the models that the scenario names, and read its files and folders"
EXAMPLES = """\
a loss is named as list_losses and the page's link name it, with what differs from its defaults:
  cosent                                       by itself
  info_nce:temperature=0.1,symmetric=true      with parameters
  info_nce@"CLIP (initial temperature)"        as another library or paper defines it; the beginning
  info_nce@CLIP                                of the name will do where no other begins so
  supcon@SupContrast:temperature=0.1           both, the convention first
  hierarchical_cosent:weights=[1,0.5,0.25]     a list of numbers

for example:
  python app.py compare-losses info_nce nt_xent:temperature=0.05 cosent
  python app.py compare-losses contrastive contrastive@torch cosent --scenario scene.json
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    about = "two to six losses, or one as several libraries define it, on one batch: a table"
    parser = commands.add_parser(
        "compare-losses",
        help=about,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    named = "LOSS, LOSS@CONVENTION, LOSS:NAME=VALUE,… (below)"
    parser.add_argument("sides", nargs="+", metavar="LOSS", help=named)
    scenario = "a link of the page, or a scenario file; what the page opens with if left out"
    parser.add_argument("--scenario", help=f"{scenario}. Its own loss plays no part")
    parser.add_argument("--fetch", action="store_true", help=FETCH_HELP)
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the words")
    about = "write a page on how every loss agrees with its definition and the installed libraries"
    parity = commands.add_parser("parity", help=about)
    parity.add_argument("--out", required=True, metavar="FILE", help="the .html file to write")
    parity.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the words")


def write_parity(chosen: argparse.Namespace) -> int:
    """Write the page. Returns 1 where it could not be written, or where something differs."""
    from lossprism.explorer.lab.compare.library_parity import parity
    from lossprism.explorer.lab.compare.parity_batches import seeded_batch
    from lossprism.explorer.lab.compare.parity_report import report

    batch = seeded_batch()
    rows = parity(batch)
    try:
        Path(chosen.out).write_text(report(rows, batch, chosen.language), encoding="utf-8")
    except OSError as error:
        print(f"No page was written to {chosen.out}: {error.strerror or error}", file=sys.stderr)
        return 1
    counted = Counter(row.status for row in rows)
    counts = (f"{say(chosen.language, f'parity.status.{name}')} {n}" for name, n in counted.items())
    print(f"Wrote {chosen.out}: {', '.join(counts)}")
    return 1 if counted["differs"] or counted["failed"] else 0


def compare_losses(chosen: argparse.Namespace) -> int:
    """Print the table; 1 where nothing could be compared, or a side could not be computed."""
    from lossprism.explorer.core.scenario import Scenario
    from lossprism.explorer.core.scenario_from_link_or_file import read_scenario
    from lossprism.explorer.lab.compare import compared_loss_from_text
    from lossprism.explorer.lab.compare.loss_comparison import compare

    try:
        sides = [compared_loss_from_text.read(text) for text in chosen.sides]
        scenario = read_scenario(chosen.scenario) if chosen.scenario else Scenario()
        from lossprism.explorer.runtime.owner_consent import command_consent

        with command_consent(chosen.fetch):
            comparison = compare(scenario, sides)
    except (ValueError, OSError) as problem:
        print(f"Nothing was compared: {problem}", file=sys.stderr)
        return 1
    print("\n".join(table(comparison, chosen.language)))
    return 0 if all(one.stands for one in comparison.sides) else 1


def table(comparison: Comparison, language: str = "en") -> Iterator[str]:
    """The lines: the sides by number, their figures, and every two of them."""
    for number, side in enumerate(comparison.sides, 1):
        why = side.problem and say(language, side.problem.key, **side.problem.values)
        yield f"{number}  {side.named(language)}{f': {why}' if why else ''}"
    columns = [
        (str(number), side.figures)
        for number, side in enumerate(comparison.sides, 1)
        if side.figures is not None
    ]
    if columns:
        yield ""
        yield from _figures(columns, language)
    for between in comparison.between:
        yield ""
        yield from _two(between, language)


def _figures(columns: list[tuple[str, Figures]], language: str) -> Iterator[str]:
    rows = [("", [number for number, _ in columns])]
    for key, read in _ROWS.items():
        cells = [read(figures, language) for _, figures in columns]
        if any(cell is not None for cell in cells):
            rows.append((say(language, key), [cell or "—" for cell in cells]))
    first = max(_width(name) for name, _ in rows)
    widths = [max(_width(row[1][place]) for row in rows) for place in range(len(columns))]
    for name, cells in rows:
        padded = [_pad(cell, width, left=True) for cell, width in zip(cells, widths, strict=True)]
        yield "  ".join([_pad(name, first), *padded]).rstrip()


def _number(value: float | None) -> str | None:
    return None if value is None else display_number(value)


def _floor(figures: Figures, _: str) -> str | None:
    bound = "≥ " if figures.floor_is_bound else ""
    return None if figures.floor is None else f"{bound}{display_number(figures.floor)}"


def _part(language: str, part: int | None, every: int | None) -> str | None:
    return None if part is None else say(language, "figure.of", part=part, all=every)


def _violated(figures: Figures, language: str) -> str | None:
    """Format the violated comparisons of pairs; None for a loss with places, which ignores the
    pairs' order."""
    return None if figures.places else _part(language, figures.violated, figures.ordered)


def _first(kind: str) -> Callable[[Figures, str], str | None]:
    def read(figures: Figures, language: str) -> str | None:
        places = figures.places
        if places is None or places.kind != kind:
            return None
        return _part(language, places.first, places.anchors)

    return read


# Cells of each row by its key in the catalogue; None for nothing.
_ROWS: dict[str, Callable[[Figures, str], str | None]] = {
    "figure.loss": lambda figures, _: _number(figures.loss),
    "figure.floor": _floor,
    "figure.collapse": lambda figures, _: _number(figures.collapse),
    "figure.gradient": lambda figures, _: _number(figures.gradient_norm),
    "figure.effective": lambda figures, _: _number(figures.effective),
    "figure.active": lambda figures, language: _part(language, figures.active, figures.terms),
    "compare.moving": lambda figures, language: _part(language, figures.moving, figures.terms),
    "figure.violated": _violated,
    "figure.first_key": _first("key"),
    "figure.first_class": _first("class"),
    "figure.first_prototype": _first("prototype"),
}


def _two(between: Between, language: str) -> Iterator[str]:
    numbers = {"first": between.first + 1, "second": between.second + 1}
    agreed = {"tau": display_number(between.tau), "cosine": display_number(between.cosine)}
    yield say(language, "compare.two", **numbers, **agreed)
    lines = [one.written(language) for one in between.reasons]
    if lines:
        lines.insert(0, say(language, "compare.not_comparable"))
    if between.factor is not None:
        value = display_number(between.factor)
        lines.append(say(language, "compare.factor", **numbers, factor=value))
    if between.apart is not None:
        lines += [one.written(language) for one in between.apart.sentences]
    yield from (f"   {one}" for one in lines)


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: two for each wide letter."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _pad(text: str, width: int, left: bool = False) -> str:
    blanks = " " * (width - _width(text))
    return f"{blanks}{text}" if left else f"{text}{blanks}"
