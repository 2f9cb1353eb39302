"""Augmentation of pairs: copies with words left out, or with clauses in another order."""

import random
import re
from collections.abc import Sequence
from typing import cast

from lossprism.explorer.lab.training.trainer_rows import AnyPair, by_first

# What a word cut-off leaves out, and the shortest sentence it touches.
CUT_SHARE, MIN_WORDS = 0.15, 4
_CLAUSES = re.compile(r"[^,;:.!?，；：。！？、]+[,;:.!?，；：。！？、]*\s*")


def augmented(pairs: Sequence[AnyPair], kinds: Sequence[str], seed: int) -> list[AnyPair]:
    """Return for each kind and pair a copy with one of its sentences varied, where it can be.

    Pairs of one first sentence are copied together, with that one varied, so that they stay a list.
    """
    draw = random.Random(seed)
    added: list[AnyPair] = []
    for kind in kinds:
        for places in by_first(pairs):
            turn = len(places) > 1 or draw.random() < 0.5
            first, second, *_ = pairs[places[0]]
            old = first if turn else second
            new = _VARIED[kind](old, draw)
            if new != old:
                for first, second, *rest in (pairs[place] for place in places):
                    copy = (new, second, *rest) if turn else (first, new, *rest)
                    added.append(cast("AnyPair", copy))
    return added


def cut_off(sentence: str, draw: random.Random) -> str:
    """The sentence without some of its words (characters, where it has no spaces)."""
    words, between = _words(sentence)
    if len(words) < MIN_WORDS:
        return sentence
    count = max(round(CUT_SHARE * len(words)), 1)
    gone = set(draw.sample(range(len(words)), count))
    return between.join(word for place, word in enumerate(words) if place not in gone)


def reordered(sentence: str, draw: random.Random) -> str:
    """The sentence with its clauses in another order; of a single clause, its two parts."""
    clauses = [clause.strip() for clause in _CLAUSES.findall(sentence)]
    words, between = _words(sentence)
    if len(clauses) < 2:
        if len(words) < MIN_WORDS:
            return sentence
        middle = draw.randrange(1, len(words))
        return between.join([*words[middle:], *words[:middle]])
    shuffled = clauses[:]
    while shuffled == clauses and len(set(clauses)) > 1:
        draw.shuffle(shuffled)
    return between.join(shuffled)


def _words(sentence: str) -> tuple[list[str], str]:
    return (sentence.split(), " ") if " " in sentence.strip() else (list(sentence.strip()), "")


_VARIED = {"cutoff": cut_off, "reorder": reordered}
