"""Write docs/judgements.md: the registry, with power and false alarms of each."""

from __future__ import annotations

from pathlib import Path

from explorer.locale import catalogue
from tests.judgements import ABOUT, DRAWS, SIMULATIONS, load, rates
from tests.judgements.claims import JUDGEMENTS, OF

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "judgements.md"


def document() -> str:
    load()
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
            f"* **Test**: {one.test}. Where that is not enough: {otherwise}.",
        ]
        if one.key in SIMULATIONS:
            simulation = SIMULATIONS[one.key]
            true, false = rates(one.key)
            lines += [
                f"* **Power** ({simulation.about_true}): {true:.1%}. "
                f"**False alarms** ({simulation.about_false}): {false:.1%}.",
            ]
        if one.counts:
            lines.append("* **It counts**: what it says is what was found, and nothing beyond it.")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"{DOCUMENT} is written.")
