"""Columns of a table with the vectors of the texts of others: the batch's own, or a guide's."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.column_names import GUIDE, VECTORS, plain_name
from lossprism.explorer.sources.column_roles import (
    NO_SCORE,
    POSITIVE_ROLES,
    SEVERAL,
    TRIPLET_ROLES,
    candidate_columns,
    names_guide,
    position_of,
)

# What a column may be called after beside the column of its texts.
_OF_VECTORS = {
    "first": ("1", "a", "一", "first"),
    "second": ("2", "b", "二", "second"),
    "anchor": ("anchor", "锚点"),
    "positive": ("positive", "pos", "正例"),
    "negative": ("negative", "neg", "负例"),
}


@dataclass(frozen=True)
class VectorKind:
    """Vectors of texts that a table may have: `roles` maps the role of a text to that of its
    vectors, `called` is the pattern of their columns' names. `is_whole`: they are of
    all texts or none, and where names leave as many columns of vectors as texts, these go together
    in their order."""

    name: str
    called: str
    is_whole: bool = False

    @property
    def roles(self) -> dict[str, str]:
        return {role: f"{self.name}_{role}" for role in (*POSITIVE_ROLES, *TRIPLET_ROLES)}

    def chosen(self, names: Sequence[str], wanted: Mapping[str, str] | None) -> dict[str, int]:
        """Return the position of each column that is chosen for these vectors; NO_SCORE is none.

        Raises Problem for a column that does not exist, or was chosen twice.
        """
        columns: dict[str, int] = {}
        for role in self.roles.values():
            name = str((wanted or {}).get(role) or "")
            if not name or (name == NO_SCORE and NO_SCORE not in names):
                continue
            place = position_of(names, name)
            if place in columns.values():
                raise Problem("column_chosen_twice", about="chosen_columns", column=name)
            columns[role] = place
        return columns

    def columns(
        self,
        names: Sequence[str],
        chosen: Mapping[str, int],
        wanted: Mapping[str, str] | None,
        is_vectors: Callable[[int], bool],
    ) -> dict[str, int]:
        """Return the position of the column of vectors for the text of each chosen role.

        The user's choice comes first (NO_SCORE: none), then the names, where those of all texts
        match and the columns hold vectors.

        Raises Problem where a column would serve two roles, or there is none of that name.
        """
        provided = {role: name for role, name in (wanted or {}).items() if name}
        texts = {role: self.roles[role] for role in self.roles if role in chosen}
        columns = {
            role: place
            for role, place in self.chosen(names, wanted).items()
            if role in texts.values()
        }
        for place in columns.values():
            if place in chosen.values():
                raise Problem("column_chosen_twice", about="chosen_columns", column=names[place])
        taken = {*chosen.values(), *columns.values()}
        free = [p for p in range(len(names)) if p not in taken and is_vectors(p)]
        named = {
            mine: self._named(names, free, plain_name(names[chosen[role]]), *_OF_VECTORS[role])
            for role, mine in texts.items()
            if mine not in provided
        }
        by_name = {mine: place for mine, place in named.items() if place is not None}
        if self.is_whole:
            left = [mine for mine in named if mine not in by_name]
            others = [p for p in free if p not in by_name.values() and names_own_vectors(names[p])]
            by_name |= dict(zip(left, others, strict=True)) if len(left) == len(others) else {}
        if len(by_name) == len(named):
            columns |= by_name
        return columns

    def serves(self, chosen: Mapping[str, object]) -> bool:
        """True if these vectors are read, with these columns by their roles."""
        has_vectors = [mine in chosen for role, mine in self.roles.items() if role in chosen]
        return all(has_vectors) if self.is_whole else any(has_vectors)

    def by_text(self, names: Sequence[str], chosen: Mapping[str, int]) -> dict[int, int]:
        """Return the column of vectors for each column of texts, both by position; of several
        columns of positives or negatives those beside the chosen one by their names."""
        roles = self.roles
        if not self.serves(chosen):
            return {}
        columns = {chosen[role]: chosen[roles[role]] for role in roles if roles[role] in chosen}
        free = [place for place in range(len(names)) if place not in chosen.values()]
        for role in (role for role in SEVERAL if roles[role] in chosen):
            for place in candidate_columns(names, chosen, role):
                mine = self._named(names, free, plain_name(names[place]))
                if place not in columns and mine is not None:
                    columns[place] = mine
        return columns

    def _named(self, names: Sequence[str], free: Sequence[int], *texts: str) -> int | None:
        """The first of these columns that is called after these vectors and one of the texts."""
        of = "|".join(map(re.escape, texts))
        called = re.compile(rf"{self.called}(?:of)?(?:{of})|(?:{of})的?{self.called}")
        return next((place for place in free if called.fullmatch(plain_name(names[place]))), None)


def text_names(names: Sequence[str], vectors: Sequence[int]) -> list[str]:
    """Return a name for the texts of each of these columns of vectors: what it is called without
    what says that it holds vectors, and no other column's name."""
    found: list[str] = []
    for place in vectors:
        bare = re.sub(rf"[\s_.\-]*{VECTORS}[\s_.\-]*", " ", names[place], flags=re.IGNORECASE)
        name = bare.strip() or "text"
        while name in names or name in found or name.isdigit():
            name = f"text {len(found) + 1}" if name.isdigit() else f"{name} of {names[place]}"
        found.append(name)
    return found


GUIDES = VectorKind("guide", GUIDE)
OWN = VectorKind("vectors", VECTORS, is_whole=True)
KINDS = (GUIDES, OWN)
VECTOR_ROLES = tuple(role for kind in KINDS for role in kind.roles.values())


def names_vectors(name: str) -> bool:
    """True if a column of this name would hold vectors: "image_embedding", "vec1", "guide_1"."""
    return names_guide(name) or names_own_vectors(name)


def names_own_vectors(name: str) -> bool:
    """True if a column of this name would hold vectors that are no guide's."""
    plain = plain_name(name)
    called = re.fullmatch(rf"{VECTORS}.*|.+{VECTORS}[0-9]*", plain)
    return called is not None and not names_guide(name)
