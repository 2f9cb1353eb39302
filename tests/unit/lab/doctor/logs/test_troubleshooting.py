"""docs/troubleshooting.md is what the registry of findings says."""

from __future__ import annotations

from explorer.lab.doctor.classes import ClassTable, examine_classes
from explorer.lab.doctor.data import examine
from explorer.lab.doctor.reading import read_table
from explorer.locale import LANGUAGES, catalogue
from losses import LOSSES
from tests.judgements.troubleshooting import (
    DOCUMENT,
    ENCODED,
    RATES,
    ROOMS,
    SAMPLES,
    document,
    findings,
    link,
    made_up,
)
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
    assert min(len(findings(room)) for room in ROOMS) > 15
    for language in LANGUAGES:
        words = catalogue(language)
        for room in ROOMS:
            for name in findings(room):
                parts = ("", "do.", "symptom.")
                assert all(words[f"doctor.{room}.{part}{name}"] for part in parts)


def test_its_links_lead_to_the_judgements():
    judgements = DOCUMENT.with_name("judgements.md").read_text(encoding="utf-8")
    for room in ROOMS:
        for name in findings(room):
            assert f"### `doctor.{room}.{name}`\n" in judgements


def test_a_link_shows_its_finding():
    assert {"at_collapse", "overfits", "jump", "plateau"} <= set(made_up())
    assert set(SAMPLES) == set(findings("data"))
    for name, (loss, batch, table) in SAMPLES.items():
        assert len(link("data", name)) < 1000
        if name in ENCODED:
            continue
        read = read_table(table.encode(), "pasted.txt", lambda *far: None)
        if isinstance(read, ClassTable):
            found = examine_classes(read, batch)
        else:
            found = examine(read.profile, LOSSES[loss], batch, most_tokens=256)
        assert name in {fault.name for fault in found.faults}
