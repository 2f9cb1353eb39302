"""Write docs/judgements.md: the registry, with power and false alarms of each.

The exit status is 1 where a rate is out of bounds.
``python -m tests.judgements KEY…`` draws the rates of these alone; the others stay as they stand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from pathlib import Path

from lossprism.explorer.locale import catalogue
from tests.judgements import (
    ABOUT,
    DRAWS,
    DRAWS_OF_KIND,
    SIMULATIONS,
    Simulation,
    load,
    rate,
    rates,
    within_bounds,
)
from tests.judgements.claims import JUDGEMENTS, OF

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "judgements.md"
_RATES = re.compile(r"^### `([^`]+)`$.*?(\* \*\*Power\*\*.*?)$", re.MULTILINE | re.DOTALL)


def written_rates() -> dict[str, str]:
    """Return the line of rates of each judgement in the document."""
    parts = re.split(r"^(?=### )", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = (_RATES.match(part) for part in parts)
    return {one[1]: one[2] for one in found if one}


def document(keys: Collection[str] = ()) -> str:
    """Return the document; rates are drawn again for these judgements, or for all."""
    load()
    known = written_rates() if keys else {}
    lines = [ABOUT.format(draws=DRAWS)]
    for one in JUDGEMENTS:
        otherwise = f"`{one.otherwise}`" if one.otherwise else "nothing"
        lines += [
            f"### `{one.key}`",
            "",
            f"> {catalogue('en')[one.key]}",
            "",
            f"* **Claims**, of {OF[one.of]}: {one.claims}. ({', '.join(one.where)})",
            f"* **Evidence**: {one.evidence}.",
            f"* **Test**: {one.test}. Otherwise: {otherwise}.",
        ]
        if one.key in SIMULATIONS:
            lines.append(known[one.key] if one.key in known.keys() - set(keys) else _drawn(one.key))
        if one.counts:
            lines.append("* **Count**: the sentence states what was counted, and infers nothing.")
        lines.append("")
    return "\n".join(lines)


def _drawn(key: str) -> str:
    simulation = SIMULATIONS[key]
    true, false = rates(key)
    return (
        f"* **Power** ({simulation.about_true}): {true:.1%}. "
        f"**False alarms** ({simulation.about_false}): {false:.1%}.{_by_kind(simulation)}"
    )


def _by_kind(simulation: Simulation) -> str:
    """Return power and false alarms for each kind of data, on fewer draws."""
    rates_of = {
        kind: " and ".join(f"{rate(one, DRAWS_OF_KIND):.0%}" for one in draws)
        for kind, draws in simulation.by_kind.items()
    }
    message = "; ".join(f"{kind} {both}" for kind, both in rates_of.items())
    return message and f" **By kind**, on {DRAWS_OF_KIND} draws each: {message}."


def main(*keys: str) -> int:
    DOCUMENT.write_text(document(keys), encoding="utf-8")
    print(f"{DOCUMENT} is written.")
    drawn = SIMULATIONS.keys() & set(keys) if keys else SIMULATIONS
    wrong = [key for key in drawn if not within_bounds(*rates(key))]
    for key in wrong:
        print("Power and false alarms of {} are {:.1%} and {:.1%}.".format(key, *rates(key)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
