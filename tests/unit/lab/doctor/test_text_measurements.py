"""Texts of a column as numbers: beside the same, text by text."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossprism.explorer.lab.doctor import text_measurements
from lossprism.explorer.lab.doctor.text_measurements import TOKENS_OF_WORD, figures_of, folded

LETTERS = "ab Zé\tßĀẞＴｗ你好世のカ가Ώ²Ⅷ٣1\U0001f600\U00020000ﬃİḀ"


def is_foreign(text: str) -> bool:
    letters = [one for one in folded(text) if one.isalpha()]
    latin = [one for one in letters if re.match(r"LATIN|FEMININE|MASCULINE", unicodedata.name(one))]
    return 2 * len(latin) < len(letters)


@given(st.lists(st.text(st.sampled_from(LETTERS), max_size=12), max_size=9), st.integers(1, 4))
def test_a_column_is_looked_at_as_each_of_its_texts(texts, at_once):
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(text_measurements, "TEXTS_A_REPORT", at_once)
        found = figures_of(texts)
    for place, text in enumerate(texts):
        characters = len(re.findall("[\u3040-\u30ff\u3400-\u9fff]", text))
        assert found.tokens[place] == pytest.approx(
            TOKENS_OF_WORD * len(folded(text).split()) + characters
        )
        assert found.foreign[place] == is_foreign(text)
        same = [folded(other) == folded(text) for other in texts]
        assert (found.hashes == found.hashes[place]).tolist() == same
