"""Practice scenes: their labels say how many parts mean the same."""

from __future__ import annotations

import pytest

from lossprism.explorer.sources.practice_sentences import PARTS, PRACTICE, practice_pairs


def meaning(sentence: str, name: str) -> list[int]:
    """Which meaning each part of a sentence has, read off its beginning."""
    parts, between, end = PRACTICE[name]
    rest, found = sentence.removesuffix(end), []
    for meanings in parts:
        sentences = [(i, words) for i, line in enumerate(meanings) for words in line.split("/")]
        fitting = [(i, words) for i, words in sentences if rest.startswith(words)]
        place, words = max(fitting, key=lambda entry: len(entry[1]))
        found.append(place)
        rest = rest.removeprefix(words).removeprefix(between)
    assert rest == ""
    return found


@pytest.mark.parametrize("name", PRACTICE)
def test_a_label_counts_the_common_meanings(name: str) -> None:
    for first, second, label in practice_pairs(name):
        pairs = zip(meaning(first, name), meaning(second, name), strict=True)
        assert label == sum(one == other for one, other in pairs)


@pytest.mark.parametrize("name", PRACTICE)
def test_all_labels_occur_and_the_same_pairs_come_every_time(name: str) -> None:
    pairs = practice_pairs(name)
    counts = [sum(label == wanted for *_, label in pairs) for wanted in range(PARTS + 1)]
    assert min(counts) > len(pairs) / (PARTS + 1) / 2
    practice_pairs.cache_clear()
    assert practice_pairs(name) == pairs


@pytest.mark.parametrize("name", PRACTICE)
def test_the_same_meaning_is_worded_differently(name: str) -> None:
    alike = [(a, b) for a, b, label in practice_pairs(name) if label == PARTS]
    assert sum(a != b for a, b in alike) > 0.9 * len(alike)
