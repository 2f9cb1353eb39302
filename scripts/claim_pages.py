"""The page of the sources' claims, executed as the app executes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from lossprism.explorer.lab.claims.batches import RANDOM_BATCHES
from lossprism.explorer.lab.claims.claim import MAIN, Claim, Comparison, Sample, Side
from lossprism.explorer.lab.claims.claim_checks_on_test_batches import checks_of, verdicts
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.claims.training_claims import TRAININGS
from lossprism.explorer.lab.claims.verdict import PartVerdict
from lossprism.explorer.locale import catalogue, say
from scripts.loss_pages import TEMPLATES

# Of a statement that is compared at many K as many are listed; the page shows all.
MOST_ROWS = 6


def claims_page(language: str) -> str:
    """Return all claims with their verdicts and both sides on the source's numbers as Markdown."""
    rows = [_row(claim, language) for claim in claims().values()]
    return TEMPLATES.get_template(f"claims.{language}.md").render(rows=rows, random=RANDOM_BATCHES)


def _row(claim: Claim, language: str) -> Mapping[str, Any]:
    parts, check = verdicts(claim.name), checks_of(claim.name)[0]
    main = parts[0].verdict if parts else "nothing"
    condition = catalogue(language).get(f"claims.{claim.name}.only_if", "")
    return {
        "name": claim.name,
        "anchor": claim.name.lower(),
        "statement": say(language, f"claims.{claim.name}.{MAIN}"),
        "source": claim.source,
        "formula": claim.formula,
        "verdict": say(language, f"claims.verdict.{main}"),
        "held": _held(parts[0], language) if parts and parts[0].part == MAIN else "",
        "condition": say(language, "claims.condition", condition=condition)
        if condition and main == "only_if"
        else "",
        "trains": claim.name in TRAININGS,
        "parts": [_part(claim, part, check.comparisons, language) for part in parts],
        "facts": " · ".join(f"\\({one.latex}\\) = {one.written}" for one in check.facts),
        "sample": _sample(check.sample, language) if check.sample else "",
    }


def _held(part: PartVerdict, language: str) -> str:
    """Return on how many batches a statement held, "" for one batch."""
    if part.checked == 1:
        return ""
    return f" ({say(language, 'claims.held', held=part.held, checked=part.checked)})"


def _sample(sample: Sample, language: str) -> str:
    counts = say(language, "claims.sample", **dataclasses.asdict(sample))
    return f"{sample.data}: {counts}"


def _part(
    claim: Claim, part: PartVerdict, comparisons: Sequence[Comparison], language: str
) -> Mapping[str, Any]:
    rows = [one for one in comparisons if one.part == part.part]
    statement = say(language, f"claims.{claim.name}.{part.part}")
    verdict = say(language, f"claims.verdict.{part.verdict}") + _held(part, language)
    return {
        # The claim itself stands above with its verdict.
        "line": "" if part.part == MAIN else f"{verdict}: {statement}",
        "rows": [_written(one) for one in rows[:MOST_ROWS]],
    }


def _written(one: Comparison) -> Mapping[str, str]:
    return {
        "mark": _mark(one),
        "left": _latex(one.left),
        "left_text": one.left.written,
        "relation": one.found_relation,
        "right_text": one.right.written,
        "right": _latex(one.right),
    }


def _mark(one: Comparison) -> str:
    if not one.asserted:
        return "–"
    return "✓" if one.holds else "✗" if one.decided else "?"


def _latex(side: Side) -> str:
    # A bar would end the cell of the table.
    latex = side.latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    return rf"\({latex}\)" if latex else ""
