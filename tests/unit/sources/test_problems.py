"""Every complaint of the sources has its sentence in every language, with the same placeholders."""

import re
from pathlib import Path

from lossprism.explorer import sources
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.sources.random_batch import RANGES
from tests.sentences import PLACEHOLDER

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


def placeholders(language, key):
    return {name for name, *_ in PLACEHOLDER.findall(catalogue(language)[f"problem.{key}"])}


def test_each_complaint_is_a_sentence_with_its_values():
    request = {
        (language, key): (placeholders(language, key) - values, placeholders("en", key) - values)
        for language in LANGUAGES
        for key, values in RAISED
    }
    assert {one: names for one, names in request.items() if any(names)} == {}
