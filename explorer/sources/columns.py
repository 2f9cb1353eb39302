"""Which column of a table is the first sentence, which the second, which the score."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from explorer.runtime.problem import Problem

PAIR_ROLES = ("first", "second", "score")
TRIPLET_ROLES = ("anchor", "positive", "negative")
# What is put right by choosing columns.
CHOOSE_COLUMNS = ("columns", "chosen_columns")

# Compared without case, blanks, hyphens and underscores: "Sentence_A" is "sentencea".
PAIR_NAMES = (
    ("sentence1", "sentence2"),
    ("sentencea", "sentenceb"),
    ("sent1", "sent2"),
    ("senta", "sentb"),
    ("text1", "text2"),
    ("texta", "textb"),
    ("question1", "question2"),
    ("q1", "q2"),
    ("s1", "s2"),
    ("a", "b"),
    ("first", "second"),
    ("left", "right"),
    ("premise", "hypothesis"),
    ("query", "passage"),
    ("query", "document"),
    ("query", "doc"),
    ("question", "answer"),
    ("句子1", "句子2"),
    ("句子一", "句子二"),
    ("句子a", "句子b"),
    ("文本1", "文本2"),
    ("文本一", "文本二"),
    ("问题1", "问题2"),
    ("前提", "假设"),
    ("查询", "段落"),
    ("查询", "文档"),
)
TRIPLET_NAMES = (
    ("anchor", "positive", "negative"),
    ("query", "positive", "negative"),
    ("query", "pos", "neg"),
    ("锚点", "正例", "负例"),
    ("锚句", "正例", "负例"),
    ("查询", "正例", "负例"),
)
SCORE_NAMES = (
    "score",
    "similarityscore",
    "similarity",
    "relatednessscore",
    "goldscore",
    "gold",
    "goldlabel",
    "label",
    "labels",
    "isduplicate",
    "rating",
    "relevance",
    "分数",
    "得分",
    "评分",
    "打分",
    "相似度",
    "标签",
)
_ALL_NAMES = frozenset(SCORE_NAMES).union(*PAIR_NAMES, *TRIPLET_NAMES)


def plain_name(name: str) -> str:
    """The name as it is compared.

    >>> plain_name(" Sentence_A ")
    'sentencea'
    """
    return re.sub(r"[\s_\-]+", "", name).casefold()


def recognised(names: Sequence[str]) -> int:
    """How many of these cells are names that a header would hold."""
    return sum(plain_name(name) in _ALL_NAMES for name in names)


def choose_columns(
    names: Sequence[str],
    wanted: Mapping[str, str] | None,
    is_score: Callable[[int], bool],
    is_text: Callable[[int], bool],
) -> dict[str, int]:
    """The position of the column that serves each role: PAIR_ROLES or TRIPLET_ROLES.

    What the user wants comes first, then the names, then the contents: where the names leave
    exactly one way to read two text columns and one column of scores, it is taken.

    Raises Problem if no reading is found; the message lists the columns that exist.
    """
    # A role left open on the page arrives as None or "".
    chosen = _wanted_columns(names, {role: name for role, name in (wanted or {}).items() if name})
    if not set(chosen) & set(TRIPLET_ROLES):
        pair = _by_content(_by_name(names, chosen), len(names), is_score, is_text)
        if set(pair) == set(PAIR_ROLES):
            return {role: pair[role] for role in PAIR_ROLES}
    if not set(chosen) & set(PAIR_ROLES):
        triplet = _triplet_by_name(names, chosen)
        if set(triplet) == set(TRIPLET_ROLES):
            return {role: triplet[role] for role in TRIPLET_ROLES}
    raise Problem("columns_not_recognised", about="columns", columns=listed(names))


def listed(names: Sequence[str], most: int = 20) -> str:
    """The names in quotation marks, cut off where a message would become unreadable."""
    shown = ", ".join(f"“{name[:40]}”" for name in names[:most])
    return shown + (", …" if len(names) > most else "")


def _wanted_columns(names: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int]:
    chosen = {}
    for role, name in wanted.items():
        if role not in PAIR_ROLES + TRIPLET_ROLES:
            raise Problem("column_role_unknown", role=role)
        position = _position(names, str(name))
        if position in chosen.values():
            raise Problem("column_chosen_twice", about="chosen_columns", column=name)
        chosen[role] = position
    return chosen


def _position(names: Sequence[str], name: str) -> int:
    """By name, else by its number counted from 1, which is how unnamed columns are called."""
    if name in names:
        return names.index(name)
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise Problem("column_unknown", about="unknown_column", column=name, columns=listed(names))


def _by_name(names: Sequence[str], chosen: Mapping[str, int]) -> dict[str, int]:
    plain = [plain_name(name) for name in names]
    pair = dict(chosen)
    if not {"first", "second"} & set(pair):
        for first, second in PAIR_NAMES:
            if first in plain and second in plain:
                pair |= {"first": plain.index(first), "second": plain.index(second)}
                break
    if "score" not in pair:
        for name in SCORE_NAMES:
            if name in plain and plain.index(name) not in pair.values():
                pair["score"] = plain.index(name)
                break
    return pair


def _by_content(
    pair: Mapping[str, int],
    count: int,
    is_score: Callable[[int], bool],
    is_text: Callable[[int], bool],
) -> dict[str, int]:
    """Fill the roles still open, if the columns still free leave exactly one way to do it."""
    filled = dict(pair)
    free = [position for position in range(count) if position not in filled.values()]
    if "score" not in filled:
        scores = [position for position in free if is_score(position)]
        if len(scores) == 1:
            filled["score"] = scores[0]
    open_roles = [role for role in ("first", "second") if role not in filled]
    texts = [p for p in free if p not in filled.values() and is_text(p)]
    if len(texts) == len(open_roles):
        filled |= dict(zip(open_roles, texts, strict=True))
    return filled


def _triplet_by_name(names: Sequence[str], chosen: Mapping[str, int]) -> dict[str, int]:
    plain = [plain_name(name) for name in names]
    for triplet in TRIPLET_NAMES:
        if all(name in plain for name in triplet):
            by_name = zip(TRIPLET_ROLES, map(plain.index, triplet), strict=True)
            return dict(by_name) | dict(chosen)
    return dict(chosen)
