"""Many sentences in one buffer are the same sentences."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lossprism.explorer.lab.large import text_buffer
from lossprism.explorer.lab.large.batch import NumberedSentences
from lossprism.explorer.lab.large.text_buffer import TextBuffer, holding
from lossprism.explorer.runtime.object_size import bytes_of

TEXTS = ("", "One", "two\nlines", "Straße", "中文句子", "emoji 🙂", "Ünïcode", "", "a\0b", "ends")


@pytest.fixture(params=[(1, 1), (2, 9), (4, 30), (100, 2**20)])
def kept(request, monkeypatch) -> TextBuffer:
    step, unwritten = request.param
    monkeypatch.setattr(text_buffer, "TEXTS_AT_ONCE", step)
    monkeypatch.setattr(text_buffer, "UNWRITTEN_BYTES", unwritten)
    return TextBuffer(TEXTS)


def test_they_are_read_as_they_were_written(kept):
    assert tuple(kept) == TEXTS
    assert [kept[place] for place in range(len(kept))] == list(TEXTS)
    assert kept[2:5] == list(TEXTS[2:5])
    assert kept[7:99] == list(TEXTS[7:])
    with pytest.raises(IndexError):
        kept[len(TEXTS)]


def test_more_may_be_appended_to_what_was_read(kept):
    assert kept[1] == TEXTS[1]
    kept.append("another")
    assert (kept[len(TEXTS)], kept[2], list(kept)) == ("another", TEXTS[2], [*TEXTS, "another"])


def test_many_are_in_a_file_and_several_may_read_them(monkeypatch):
    monkeypatch.setattr(text_buffer, "UNWRITTEN_BYTES", 1000)
    known = [f"sentence number {k}" for k in range(10_000)]
    kept = TextBuffer(known)
    in_memory = sum(map(sys.getsizeof, kept._waiting))
    assert in_memory < 5000 < sum(map(len, known))
    with ThreadPoolExecutor(8) as several:
        assert list(several.map(kept.__getitem__, range(len(known)))) == known


@pytest.mark.parametrize(
    "wanted", ["one", "ONE", "e", "strasse", "STRASSE", "句", "ü", "\n", "", "onetwo", "🙂", "\0"]
)
def test_what_holds_a_word_is_found_whatever_the_case(kept, wanted):
    truth = [wanted.casefold() in text.casefold() for text in TEXTS]
    assert holding(kept, wanted).tolist() == truth
    assert holding(TEXTS, wanted).tolist() == truth


def test_numbered_sentences_are_searched_too():
    assert holding(NumberedSentences(2000, "a"), "#199").sum() == 11


def test_without_any_nothing_is_found():
    assert len(holding(TextBuffer(), "a")) == 0
    assert list(TextBuffer()) == []


def test_they_take_their_own_memory_and_little_more():
    kept = TextBuffer(f"sentence number {k}" for k in range(10_000))
    plain = sum(len(text) for text in kept)
    assert plain < bytes_of(kept) < 1.2 * plain + 9 * 10_000 + 1000
    assert bytes_of(kept) < sum(map(sys.getsizeof, kept)) / 2
    assert bytes_of([kept, kept]) == pytest.approx(bytes_of(kept))
    assert bytes_of([kept, np.zeros(10)]) == bytes_of(kept) + 80
