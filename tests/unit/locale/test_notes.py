"""Numbers have their notes, in both languages, with their source."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.web.pages.explore.loss_facts import describe_loss
from lossprism.losses import LOSSES
from lossprism.losses.combined.vector_queue import QUEUED

NOTES = {
    f"loss.{spec.name}.note{apart}": note
    for spec in (*LOSSES.values(), *(LOSSES[f"queue({name})"] for name in QUEUED))
    for apart, note in [
        ("", spec.note),
        *((f".{convention.name}", convention.note) for convention in spec.conventions),
    ]
    if note
}


def test_a_note_exists_in_both_languages():
    for language in LANGUAGES:
        kept = {key for key in catalogue(language) if ".note" in key and key.startswith("loss.")}
        assert kept == set(NOTES)
    assert {key: catalogue("en")[key] for key in NOTES} == NOTES


@pytest.mark.parametrize(
    ("loss", "convention", "message"),
    [
        ("circle_self_paced", "", "carry no gradient"),
        ("circle_self_paced", "paper (γ = 256)", "carry no gradient"),
        ("multitask_cosent", "", "σ(2s)"),
        ("nt_xent", "SimCLR", "twice this number"),
        ("nt_xent", "", ""),
        ("triplet", "sentence-transformers 6.2 TripletLoss", "takes given triplets"),
    ],
)
def test_the_page_gets_the_note_of_the_loss_or_of_its_convention(loss, convention, message):
    note = describe_loss(LOSSES[loss]).conventions[convention].note
    assert message in note
    assert bool(message) == bool(note)


def test_the_rules_of_the_annotated_derivation_are_not_attributed_to_its_authors():
    """Eqs. 45, 50 and 51 stand in an unsigned annotation that circulates with the article."""
    ruled = [
        key
        for key, text in catalogue("en").items()
        if any(part in text for part in ("0.1 to 10", "α/σ", "1/√step"))
    ]
    assert len(ruled) >= 10
    for key in (*ruled, "sweep.agree"):
        assert "Su" not in catalogue("en")[key].replace("Sum", "")
        assert "苏" not in catalogue("zh")[key]


def test_references_are_those_of_the_sources():
    assert "Chopra et al. 2005" in LOSSES["contrastive"].references
    assert "S2" not in LOSSES["nt_xent"].references  # its NT-Xent is InfoNCE
    assert "S2" in LOSSES["info_nce"].references
    for language in LANGUAGES:
        about = catalogue(language)["example.worked_example.about"]
        assert "0.985" in about
        assert "0.986" in about


def test_the_classifier_of_multitask_cosent_has_classes_and_no_prototypes():
    found = explore(Scenario(loss="multitask_cosent"))
    axes = {axis for symbol in found.spec.symbols.values() for axis in symbol.axes}
    assert found.places is None
    assert axes == {"pair", "class"}
    steps = {f"step.{found.spec.group}.{name}" for name in found.spec.symbols}
    for language, word in (("en", "prototype"), ("zh", "原型")):
        words = catalogue(language)
        assert word not in words["axis.class"].lower()
        sentences = [
            text.lower()
            for key, text in words.items()
            if "multitask_cosent" in key or key in steps or key.startswith("axis.one.class")
        ]
        assert len(sentences) > 8
        assert not [text for text in sentences if word in text]
