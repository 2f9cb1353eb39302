"""What tests of reports and pages take for a sentence of the catalogues."""

from __future__ import annotations

import re

import pytest

from lossprism.explorer.locale import LANGUAGES, catalogue, say
from tests.sentences import PLACEHOLDER, pattern_of


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_sentence_is_its_own_pattern_with_its_values_and_without(language):
    wrong = []
    for key, sentence in catalogue(language).items():
        placeholders = PLACEHOLDER.findall(sentence)
        names = [name for name, *_ in placeholders]
        written = any(not plural for *_, plural in placeholders)
        for value in ("x 1/2", 1):
            values, others = dict.fromkeys(names, value), dict.fromkeys(names, "other")
            message = say(language, key, **values)
            own = (pattern_of(key, language), pattern_of(key, language, **values))
            is_own = all(one.fullmatch(message) for one in own)
            if not is_own or (written and pattern_of(key, language, **others).fullmatch(message)):
                wrong.append((key, value))
    assert wrong == []


MOST_SENTENCES = 2
MOST_WORDS = {"en": 25, "zh": 45}
_END = re.compile(r"[。！？]|[.!?](?=[”)]?\s)")
_WORD = {"en": re.compile(r"\S+"), "zh": re.compile(r"[一-鿿]|[\w./\":=-]+", re.ASCII)}


def words_in_sentences(text: str, language: str = "en") -> list[int]:
    """Count the words of each sentence of a text of the catalogue, in Chinese its characters and
    Latin words; a placeholder is one."""
    sentences = _END.split(PLACEHOLDER.sub("x", text))
    return [len(_WORD[language].findall(one)) for one in sentences if one.strip(" .!?”)")]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("CoSENT 6.2 is 0.5: {why}.", 1),
        ("One. {how}", 2),
        ("“Is it?” (No.) {count:It is|They are}.", 3),
        ("不是。{how}", 2),
        ("是 0.5 吗？不是。随机的！", 3),
    ],
)
def test_sentences_are_counted(text, count):
    assert len(words_in_sentences(text)) == count


def test_words_are_counted():
    assert words_in_sentences("CoSENT 6.2 is {value}. Why?") == [4, 1]
    assert words_in_sentences("损失为 {value}，见 info_nce。好。", "zh") == [6, 1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_has_at_most_two_short_sentences(language):
    counts = {key: words_in_sentences(text, language) for key, text in catalogue(language).items()}
    assert not {key: many for key, many in counts.items() if len(many) > MOST_SENTENCES}
    longest = {key: max(many, default=0) for key, many in counts.items()}
    assert not {key: words for key, words in longest.items() if words > MOST_WORDS[language]}


def test_a_longer_number_or_sentence_is_another():
    read = pattern_of("doctor.mean_of", count=3, value="2.08")
    message = say("en", "doctor.mean_of", count=3, value="2.08")
    assert read.search(f"{message} {message}")
    assert not read.search(say("en", "doctor.mean_of", count=13, value="2.08"))
    assert not read.search(say("en", "doctor.mean_of", count=3, value="2.085"))
    counts = pattern_of("doctor.mean_of").fullmatch(message).groupdict()
    assert counts == {"count": "3", "value": "2.08"}
    starts = pattern_of("doctor.standing.collapse", value="0.5")
    for value, same in (("0.5", True), ("10.5", False), ("−0.5", False)):
        sentence = say("en", "doctor.standing.collapse", value=value, loss="CoSENT", where="")
        assert bool(starts.search(sentence)) == same
    with pytest.raises(ValueError, match="no place for more"):
        pattern_of("doctor.mean_of", more=1)
