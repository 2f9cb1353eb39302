"""The model card shows texts of the user's, and none of them becomes markup in it."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from html import unescape

import pytest
from huggingface_hub import ModelCard
from markdown_it import MarkdownIt

from lossprism.explorer.lab.training import run_downloads
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.model_card import SPELLED_OUT, on_repeats, section, shown
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_json_types import Measured, PairCounts
from lossprism.explorer.sources.cells import read_sentence
from lossprism.version import VERSION
from tests.hostile import HALF, TEXTS
from tests.sentences import pattern_of
from tests.unit.lab.training.conftest import SUMMARY
from tests.unit.lab.training.test_run_downloads import SMALL

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def parts(text: str) -> list[tuple[str, str]]:
    """What a text in Markdown is made of: kinds, and what stands in each."""
    found = []
    for token in MARKDOWN.parse(text):
        for one in token.children or [token]:
            found.append((one.type, one.content + json.dumps(one.attrs)))
    return found


def words_of(text: str) -> str:
    """What a reader sees of it, links and markup left out."""
    kinds = ("text", "text_special", "code_inline")
    found = "".join(one for kind, one in parts(text) if kind in kinds)
    return found.replace("{}", "")


@pytest.mark.parametrize("text", [*TEXTS, f"half {HALF}"])
def test_a_text_is_shown_as_it_is(text):
    written = shown(text)
    kinds = {kind for kind, _ in parts(f"| {written} |\n|---|\n")}
    assert kinds <= {"text", "text_special"} | {
        f"{part}_{end}" for part in ("table", "thead", "tr", "th") for end in ("open", "close")
    }
    assert words_of(f"x {written} x") == f"x {unescape(written)} x"
    assert not re.search(r"https?:|www\.|@", written)  # what GitHub makes a link of by itself
    assert "\n" not in written


@pytest.mark.parametrize("name", [*TEXTS, f"half {HALF}.csv"])
def test_the_name_of_a_file_and_of_an_encoder(name):
    def table(called: str) -> list[tuple[str, str]]:
        data = TrainingData(source="file", file="x", name=called)
        plan = TrainingPlan(encoder=called, data=data)
        return parts(section(plan, SUMMARY, []))

    made = table(name)
    harmless = {kind for kind, _ in table("plain")} | {"text_special"}
    assert {kind for kind, _ in made} <= harmless
    assert len([kind for kind, _ in made if kind == "td_open"]) == len(
        [kind for kind, _ in table("plain") if kind == "td_open"]
    )
    markup = [content for kind, content in made if not kind.startswith("text")]
    assert not [content for content in markup if "pwned" in content]


def test_the_whole_card_of_a_run(runs, trained):
    """What the library writes of the data is of the user's texts too."""
    draw = random.Random(0)
    texts = [read_sentence(text, "sentence1") for text in TEXTS]
    markup = "<b onclick=pwned()> [pwned](javascript:pwned())"  # whichever are shown have it
    listed = enumerate([*texts, *texts])
    pairs = tuple((f"{a} {markup}", f"{markup} {a} {n}", float(n % 3)) for n, a in listed)
    pairs = tuple(draw.sample(pairs, len(pairs)))
    data = TrainingData(source="rows", name=TEXTS[8])
    plan = TrainingPlan(encoder=SCRATCH, dimension=8, data=data, **SMALL)
    name = trained(plan, Corpus(pairs[:-8], pairs[-8:]))
    written = (runs.folder(name).model / "README.md").read_text(encoding="utf-8")
    seen = ModelCard(written).data.to_dict()["widget"]
    assert {text for one in seen for text in _texts(one)} <= {t for pair in pairs for t in pair[:2]}
    _, _, body = written.split("---\n", 2)
    result = parts(body)
    assert "* Samples:" in body
    assert f"| Version of LossPrism | {VERSION} |" in body
    assert "pwned" in body
    for kind, content in result:
        if kind not in ("text", "text_special", "code_inline", "fence"):
            assert "pwned" not in content, (kind, content)
    for kind, content in result:
        if kind == "fence" and "pwned" in content:  # how to use it, with texts as examples
            assert content.startswith("from sentence_transformers import")
            compile(content[: content.rindex("{}")], "usage", "exec")
    assert "pwned" not in run_downloads.script(runs, name)
    assert "pwned" not in run_downloads.run_csv(runs, name)
    for svg in runs.folder(name).model.glob("*.svg"):
        assert "pwned" not in svg.read_text(encoding="utf-8")


def _texts(value: object) -> list[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [text for one in inner for text in _texts(one)]
    return [str(value)]


def test_accuracy_is_named_for_what_it_is():
    """Its threshold was chosen on the pairs that it is of."""
    summary = replace(SUMMARY, after=Measured(accuracy=0.605), before=Measured(accuracy=0.6))
    text = section(TrainingPlan(), summary, [])
    assert "threshold" in SPELLED_OUT["accuracy"]
    assert f"| Held-out {SPELLED_OUT['accuracy']} | 0.6000 → 0.6050" in text


def test_held_out_pairs_that_repeat_others_are_reported():
    summary = replace(SUMMARY, pairs=PairCounts(train=8, held_out=900), repeated=54)
    assert on_repeats(900, 54) in section(TrainingPlan(), summary, [])
    assert pattern_of("remark.run_repeats", repeated=54).fullmatch(on_repeats(900, 54))
    none = section(TrainingPlan(), replace(summary, repeated=0), [])
    assert not pattern_of("remark.run_repeats").search(none)
