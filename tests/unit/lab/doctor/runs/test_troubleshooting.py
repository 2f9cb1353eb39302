"""docs/troubleshooting.md is what the registry of findings says."""

from __future__ import annotations

from explorer.locale import LANGUAGES, catalogue
from tests.judgements.troubleshooting import DOCUMENT, document, findings


def test_the_document_is_what_is_written():
    written = DOCUMENT.read_text(encoding="utf-8")
    assert written == document(), "run python -m tests.judgements.troubleshooting"


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
