"""Every complaint of the sources has its sentence in every language, with the same placeholders."""

import re
from pathlib import Path

import pytest

from explorer import sources
from explorer.locale import LANGUAGES, catalogue
from explorer.sources.random_batch import RANGES

FILES = sorted(Path(sources.__file__).parent.glob("*.py"))
RAISED = {
    (match[1], frozenset(re.findall(r"(\w+)=", match[2])))
    for file in FILES
    for match in re.finditer(
        r'Problem\(\s*"(\w+)"((?:[^()]|\([^()]*\))*)\)', file.read_text(encoding="utf-8")
    )
} | {(f"random_{field}", frozenset({"value", "lowest", "highest"})) for field in RANGES}


def test_the_search_finds_the_complaints():
    assert len(RAISED) > 35


@pytest.mark.parametrize(("key", "values"), sorted(RAISED, key=str))
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_complaint_is_a_sentence_with_its_values(language, key, values):
    sentence = catalogue(language)[f"problem.{key}"]
    placeholders = set(re.findall(r"\{(\w+)\}", sentence))
    assert placeholders <= values
    assert placeholders == set(re.findall(r"\{(\w+)\}", catalogue("en")[f"problem.{key}"]))
