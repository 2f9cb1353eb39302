"""The pages of the losses say what the `LossSpec` says, and their code computes the loss."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.specialised_definitions import accepted
from lossprism.explorer.locale import LANGUAGES
from lossprism.losses import LOSSES
from scripts.loss_pages import definition_of, explored, loss_index, loss_page

NAMES = list(LOSSES)


@pytest.mark.parametrize("name", NAMES)
def test_its_code_stands_alone_and_computes_the_loss(name):
    found = explored(name)
    space: dict = {}
    exec(definition_of(LOSSES[name]), space)
    if found is not None:
        definition = space[found.definition.__name__]
        inputs = accepted(definition, {**found.given, **found.parameters})
        assert float(definition(**inputs)) == pytest.approx(found.loss, rel=1e-6)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_it_has_all_that_the_spec_has(name, language):
    page = loss_page(LOSSES[name], language)
    spec = LOSSES[name]
    formulas = [spec.formula, spec.collapse_formula, spec.floor_formula, *spec.variants.values()]
    names = [one.name for one in spec.parameters] + [one.name for one in spec.conventions]
    names += [formula for formula in formulas if r"\text" not in formula]
    names += [peer.called for one in (spec, *spec.conventions) for peer in one.peers]
    assert not [one for one in names if one not in page]


@pytest.mark.parametrize("name", NAMES)
def test_its_notes_stand_on_its_page(name):
    page = loss_page(LOSSES[name], "en")
    notes = [one.note for one in (LOSSES[name], *LOSSES[name].conventions)]
    assert not [note for note in notes if note not in page]


@pytest.mark.parametrize("name", NAMES)
def test_every_paper_has_an_address(name):
    papers = loss_page(LOSSES[name], "en").partition("## Papers")[2].partition("## Python")[0]
    rows = [line for line in papers.splitlines() if line.startswith("* ")]
    assert len(rows) == len(LOSSES[name].references)
    assert not [row for row in rows if "](" not in row]


def test_nearly_all_are_measured_on_an_example():
    assert [name for name in NAMES if explored(name) is None] == ["embedding_mse"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_index_lists_them_all(language):
    text = loss_index(LOSSES.values(), language)
    assert not [name for name in NAMES if f"({name}.md)" not in text]
