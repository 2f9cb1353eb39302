"""Columns of a table with a guide's vectors of the texts of others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.column_names import GUIDE
from lossprism.explorer.sources.column_roles import (
    NO_SCORE,
    POSITIVE_ROLES,
    SEVERAL,
    TRIPLET_ROLES,
    candidate_columns,
    plain_name,
    position_of,
)

# The role of the vector that a guide gave the text of each role.
GUIDES = {role: f"guide_{role}" for role in (*POSITIVE_ROLES, *TRIPLET_ROLES)}
GUIDE_ROLES = tuple(GUIDES.values())
# What a column may be called after beside the column of its texts.
_OF_GUIDE = {
    "first": ("1", "a", "一", "first"),
    "second": ("2", "b", "二", "second"),
    "anchor": ("anchor", "锚点"),
    "positive": ("positive", "pos", "正例"),
    "negative": ("negative", "neg", "负例"),
}


def guides_chosen(names: Sequence[str], wanted: Mapping[str, str] | None) -> dict[str, int]:
    """Return the position of each column that is chosen for a guide; NO_SCORE is none.

    Raises Problem for a column that does not exist, or was chosen twice.
    """
    found: dict[str, int] = {}
    for role in GUIDE_ROLES:
        name = str((wanted or {}).get(role) or "")
        if not name or (name == NO_SCORE and NO_SCORE not in names):
            continue
        place = position_of(names, name)
        if place in found.values():
            raise Problem("column_chosen_twice", about="chosen_columns", column=name)
        found[role] = place
    return found


def guide_columns(
    names: Sequence[str],
    chosen: Mapping[str, int],
    wanted: Mapping[str, str] | None,
    is_vectors: Callable[[int], bool],
) -> dict[str, int]:
    """Return the position of the column of a guide's vectors for the text of each chosen role, by
    GUIDE_ROLES.

    The user's choice comes first (NO_SCORE: none), then the names, where those of all texts match
    and the columns hold vectors.

    Raises Problem where a column would serve two roles, or there is none of that name.
    """
    provided = {role: name for role, name in (wanted or {}).items() if name}
    texts = {role: GUIDES[role] for role in GUIDES if role in chosen}
    found = {
        role: place
        for role, place in guides_chosen(names, wanted).items()
        if role in texts.values()
    }
    for place in found.values():
        if place in chosen.values():
            raise Problem("column_chosen_twice", about="chosen_columns", column=names[place])
    taken = {*chosen.values(), *found.values()}
    free = [p for p in range(len(names)) if p not in taken and is_vectors(p)]
    named = {
        guide: _guide_named(names, free, plain_name(names[chosen[role]]), *_OF_GUIDE[role])
        for role, guide in texts.items()
        if guide not in provided
    }
    by_name = {guide: place for guide, place in named.items() if place is not None}
    return {**found, **by_name} if len(by_name) == len(named) else found


def guides_of(names: Sequence[str], chosen: Mapping[str, int]) -> dict[int, int]:
    """Return the column of a guide's vectors for each column of texts, both by position; of several
    columns of positives or negatives those beside the chosen one by their names."""
    found = {chosen[role]: chosen[guide] for role, guide in GUIDES.items() if guide in chosen}
    free = [place for place in range(len(names)) if place not in chosen.values()]
    for role in (role for role in SEVERAL if GUIDES[role] in chosen):
        for place in candidate_columns(names, chosen, role):
            guide = _guide_named(names, free, plain_name(names[place]))
            if place not in found and guide is not None:
                found[place] = guide
    return found


def _guide_named(names: Sequence[str], free: Sequence[int], *texts: str) -> int | None:
    """The first of these columns that is called after the guide and one of these."""
    of = "|".join(map(re.escape, texts))
    called = re.compile(rf"{GUIDE}(?:{of})|(?:{of})的?{GUIDE}")
    return next((place for place in free if called.fullmatch(plain_name(names[place]))), None)
