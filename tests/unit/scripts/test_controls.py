"""The documents name controls as the pages do."""

from __future__ import annotations

import re

import pytest

from lossprism.explorer.locale import LANGUAGES, catalogue
from tests.code_blocks import FENCED, ROOT

ITALIC = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
GUIDES = {
    "en": ["quick-start.md", "pages", "tutorials", "how-to"],
    "zh": ["zh"],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_that_is_named_is_there(language):
    folders = [ROOT / "docs" / place for place in GUIDES[language]]
    files = [file for one in folders for file in ([one] if one.is_file() else one.rglob("*.md"))]
    texts = [FENCED.sub("", file.read_text(encoding="utf-8")) for file in files]
    named = {name for text in texts for name in ITALIC.findall(text)}
    assert len(named) > 2
    known = "|".join(map(pattern_with_numbers, catalogue(language).values()))
    assert not [name for name in named if not re.fullmatch(known, name)]


def pattern_with_numbers(sentence: str) -> str:
    """A sentence of the catalogue with a number in its placeholders."""
    return r"\d+".join(map(re.escape, re.split(r"\{[^}]*\}", sentence)))
