"""The page of claims says what the claims compute."""

from __future__ import annotations

import pytest

from lossprism.explorer.lab.claims.claim import DIGITS
from lossprism.explorer.lab.claims.claim_checks_on_test_batches import checks_of, verdicts
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.number_format import display_number
from scripts.claim_pages import MOST_ROWS, claims_page


def section(language: str, name: str) -> str:
    return claims_page(language).partition(f"\n## {name}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_claim_has_its_verdicts_and_both_sides(language: str) -> None:
    for name, claim in claims().items():
        text = section(language, name)
        missing = [one for one in (claim.formula, claim.source) if one not in text]
        for part in verdicts(name):
            verdict = say(language, f"claims.verdict.{part.verdict}")
            statement = say(language, f"claims.{name}.{part.part}")
            missing += [one for one in (verdict, statement) if one not in text]
            rows = [one for one in checks_of(name)[0].comparisons if one.part == part.part]
            sides = [side for one in rows[:MOST_ROWS] for side in (one.left, one.right)]
            written = [one.text or display_number(one.value, DIGITS) for one in sides]
            missing += [one for one in written if one not in text]
        assert missing == [], name


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_and_no_placeholder_is_left(language: str) -> None:
    text = claims_page(language)
    assert "claims." not in text.replace("claims.md", "")
    assert "{condition}" not in text
    assert "{held}" not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bar_in_a_formula_ends_no_cell(language: str) -> None:
    rows = [line for line in section(language, "S1-39").splitlines() if line.startswith("| ✓")]
    assert rows
    assert all(row.count("|") == 5 for row in rows)
