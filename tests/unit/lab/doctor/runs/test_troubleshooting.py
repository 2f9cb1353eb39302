"""docs/troubleshooting.md is what the registry of findings says."""

from __future__ import annotations

from explorer.locale import LANGUAGES, catalogue
from tests.judgements.troubleshooting import DOCUMENT, RATES, document, findings
from tests.planted import HEAD, curves, tables


def test_the_document_is_what_is_written():
    written = DOCUMENT.read_text(encoding="utf-8")
    assert written.partition(f"\n{RATES}")[0] == document(), (
        "run python -m tests.judgements.troubleshooting"
    )


def test_it_tells_how_often_each_planted_kind_was_found():
    """`test_planted` measures the figures; here stands that none is left out."""
    told = DOCUMENT.read_text(encoding="utf-8").partition(RATES)[2].splitlines()
    assert HEAD in told
    kinds = {line.split("|")[1].strip() for line in told if line.startswith("| `")}
    assert {
        f"`{name}`" for name in {*tables.WHOLE, *curves.FINDINGS, "twins", "rows_alone"}
    } < kinds
    assert {"`near_duplicates`", "`false_negatives`", "`disagreement`"} < kinds


def test_every_finding_has_a_symptom_and_advice_in_every_language():
    assert len(findings()) > 15
    for language in LANGUAGES:
        words = catalogue(language)
        for name in findings():
            assert all(words[f"doctor.run.{part}{name}"] for part in ("", "do.", "symptom."))


def test_its_links_lead_to_the_judgements():
    judgements = DOCUMENT.with_name("judgements.md").read_text(encoding="utf-8")
    for name in findings():
        assert f"### `doctor.run.{name}`\n" in judgements
