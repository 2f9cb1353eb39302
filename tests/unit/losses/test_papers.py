"""The BibTeX of the losses' papers, and the model card that cites it."""

from __future__ import annotations

import random
import re

import pytest
from datasets import Dataset
from sentence_transformers import SentenceTransformerTrainer
from sentence_transformers.sentence_transformer.training_args import (
    SentenceTransformerTrainingArguments,
)

from lossprism.losses import LOSSES
from lossprism.losses.papers import PAPERS, citation
from lossprism.losses.sentence_transformers import CosentLoss, WeightedCosentLoss, training_loss
from tests.code_blocks import ROOT
from tests.tiny import sentence, static_model

ROW = re.compile(r"^\| (.+?) \| .+? \| \[.+?\]\((\S+)\) \|$", re.MULTILINE)


def test_the_places_are_those_of_the_sources():
    """Written a second time, in docs/sources.md, for readers."""
    addresses = dict(ROW.findall((ROOT / "docs" / "sources.md").read_text(encoding="utf-8")))
    starts = {"arXiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
    for name, paper in PAPERS.items():
        kind, _, number = paper.place.partition(":")
        assert addresses[name] == (starts[kind] + number if kind in starts else paper.place)


def test_each_paper_is_cited_under_a_key_of_its_own():
    references = {re.sub(r",? eq\. .*", "", r) for one in LOSSES.known() for r in one.references}
    assert set(PAPERS) <= references
    keys = [re.match(r"@misc{([a-z0-9]+),\n", paper.bibtex)[1] for paper in PAPERS.values()]
    assert len(set(keys)) == len(keys)


def test_a_sum_cites_the_papers_of_its_parts():
    found = training_loss("info_nce+angle").citation
    assert [entry.partition("{")[2] for entry in re.findall(r"@misc.*?(?=,)", found)] == [
        "oord2018representation",
        "li2023angleoptimized",
    ]
    assert citation(("S1 eq. 52",)) == ""


@pytest.mark.parametrize("made", [CosentLoss, WeightedCosentLoss])
def test_the_card_of_a_trained_model_cites_the_paper(made, tmp_path):
    """As its trainer writes it; a loss without a paper is not named there."""
    model, draw = static_model(), random.Random(0)
    rows = {
        "first": [sentence(draw) for _ in range(8)],
        "second": [sentence(draw) for _ in range(8)],
        "score": [n / 7 for n in range(8)],
    }
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), max_steps=1, report_to="none", save_strategy="no", use_cpu=True
    )
    loss = made(model, label_range=(0, 1))
    data = Dataset.from_dict(rows)
    SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data, loss=loss).train()
    model.save(str(tmp_path / "model"))
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert f"loss:{made.__name__}" in card
    cited = card.partition("### BibTeX")[2]
    has_paper = made is CosentLoss
    assert (f"#### {made.__name__}\n```bibtex\n@misc{{su2022cosent," in cited) == has_paper
    assert ("doi={10.1109/TASLP.2024.3402087}" in cited) == has_paper
    assert (made.__name__ in cited) == has_paper
