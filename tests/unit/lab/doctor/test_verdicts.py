"""The first sentence of a finding is its verdict: plain, short, and without a caveat."""

from __future__ import annotations

import re

import pytest

from lossprism.explorer.locale import LANGUAGES, catalogue

CAVEATS = re.compile(r"Unicode|NFKC|cannot (?:be )?tell|may (?:also )?be|无法得知|也可能")
# As a reader takes in at once; in Chinese of characters.
MOST = {"en": 36, "zh": 90}
FINDINGS = [
    key.replace(".symptom.", ".")
    for key in catalogue("en")
    if re.match(r"doctor\.(?:data|run)\.symptom\.", key)
]


def verdict(language, text):
    return re.split(r"(?<=\.)\s(?=\W?[A-Z{])" if language == "en" else r"(?<=。)", text)[0]


def words(language, text):
    """How many a reader sees, of a plural one of its two forms."""
    plain = re.sub(r"\{\w+(?::([^|}]*)\|[^}]*)?\}", r"\1 x", text)
    return len(plain.split()) if language == "en" else len(plain)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_finding_begins_with_a_plain_verdict(language):
    found = catalogue(language)
    wrong = {
        key: first
        for key in FINDINGS
        if key in found
        for first in [verdict(language, found[key])]
        if CAVEATS.search(first) or words(language, first) > MOST[language]
    }
    assert len(FINDINGS) > 50
    assert not wrong
