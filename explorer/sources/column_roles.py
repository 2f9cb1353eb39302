"""Roles of the columns of a table: first sentence, second sentence, score and others."""

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from string import digits

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.column_names import (
    ANCHOR_NAMES,
    BESIDE_IDS,
    BOOKKEEPING,
    CLASS_NAMES,
    COUNTS_ROWS,
    DIALOGUES,
    HEADS,
    ID_NAMES,
    INSTRUCTION_NAMES,
    LIKE_SCORE,
    MARGIN_NAMES,
    NAMES_CLASS,
    NAMES_GUIDE,
    NEGATIVE,
    OF_NEGATIVES,
    OF_POSITIVE,
    OF_TRIPLET,
    ONLY_CLASSES,
    PAIR_NAMES,
    POSITIVE,
    POSITIVE_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    SEARCH_SCORES,
    TEACHER_NAMES,
    TEXT_NAMES,
    plain_name,
)

PAIR_ROLES = ("first", "second", "score")
# A further column, where there is one: what another model gave each pair, or of a triplet each of
# its candidates, or by how much it preferred the positive to each negative.
TEACHER = "teacher"
POSITIVE_ROLES = PAIR_ROLES[:2]
# In place of a column for the score: there is none, and all pairs are positives.
NO_SCORE = "none"
TRIPLET_ROLES = ("anchor", "positive", "negative")
# Roles that several columns may serve, by the names of these.
SEVERAL = {"second": POSITIVE, "positive": POSITIVE, "negative": NEGATIVE}
# Texts with their classes, which only Doctor reads.
CLASS_ROLES = ("text", "class")
# What is put right by choosing columns.
CHOOSE_COLUMNS = ("columns", "chosen_columns")

_TEXTS = frozenset(ANCHOR_NAMES).union(*PAIR_NAMES, *POSITIVE_NAMES)
_ALL_NAMES = _TEXTS.union(SCORE_NAMES, TEACHER_NAMES, MARGIN_NAMES, DIALOGUES)
MAX_LISTED = 20  # names in a sentence


def recognised(names: Sequence[str]) -> int:
    """Number of these cells that are names of a header."""
    return sum(plain_name(name) in _ALL_NAMES or names_candidate(name) for name in names)


def are_heads(names: Sequence[str]) -> bool:
    """True if each of these cells may be the name of a column, also "word", "english", "Satz1"."""
    return all(recognised([name]) or plain_name(name).rstrip(digits) in HEADS for name in names)


def name_classes(names: Sequence[str]) -> bool:
    """True if columns are called a text and its class, beside ids perhaps, and are no known pair.

    >>> name_classes(("utterance", "intent")), name_classes(("source", "target"))
    (True, False)
    >>> name_classes(("id", "text", "label", "label_text"))
    True
    """
    main = [name for name in names if not _is_beside(name)]
    texts = [name for name in main if not may_name_class(name)]
    if len(texts) != 1 or len(main) < 2:
        return False
    plain = {plain_name(name) for name in main}
    return not any(plain.issuperset(pair) for pair in PAIR_NAMES + POSITIVE_NAMES)


def may_name_class(name: str) -> bool:
    """True if a column of this name may hold the classes of texts: "intent", "label_text"."""
    is_class = NAMES_CLASS.fullmatch(name.strip().casefold()) is not None
    return is_class or plain_name(name) in CLASS_NAMES


def _is_beside(name: str) -> bool:
    """True if a column of this name has ids, or the group of a row."""
    counts = _counts_rows(name) and not may_name_class(name)
    return names_ids(name) or counts or plain_name(name) in BOOKKEEPING


def heads_classes(cells: Sequence[str]) -> bool:
    """True if a first row can only be the header of a table of texts with classes."""
    plain = {plain_name(cell) for cell in cells}
    return name_classes(cells) and not plain.isdisjoint(TEXT_NAMES)


def choose_columns(
    names: Sequence[str],
    wanted: Mapping[str, str] | None,
    is_score: Callable[[int], bool],
    is_text: Callable[[int, bool], bool],
    may_be_score: Callable[[int], bool],
) -> dict[str, int]:
    """Return the position of the column for each role: PAIR_ROLES, POSITIVE_ROLES where there is no
    score, or TRIPLET_ROLES; also TEACHER, if one is chosen or has such a name.

    The user's choice comes first (for the score also NO_SCORE), then the names, then the contents:
    where the names leave exactly one way to read two text columns and one column of scores, it is
    taken. Two columns of sentences are positives only where none of the others may be a score.

    Raises Problem if no reading is found, or none is requested and the names are those of a text
    and its class; the message lists the columns that exist.
    """
    # A role left open on the page arrives as None or "".
    provided = {role: name for role, name in (wanted or {}).items() if name}
    unscored = provided.get("score") == NO_SCORE and NO_SCORE not in names
    if unscored:
        del provided["score"]
    if not provided and not unscored and name_classes(names):
        raise Problem("columns_name_classes", about="columns", columns=listed(names), none=NO_SCORE)
    without = provided.get(TEACHER) == NO_SCORE and NO_SCORE not in names
    if without:
        del provided[TEACHER]
    roles_of_pairs = (*PAIR_ROLES, TEACHER, *TRIPLET_ROLES)
    chosen = requested_columns(names, provided, roles_of_pairs)
    teacher = chosen.pop(TEACHER, None)
    if teacher is None and not without:
        teacher = _teacher_by_name(names, chosen)
    roles = _choose(names, chosen, unscored, teacher, is_score, is_text, may_be_score)
    if "anchor" in roles and TEACHER not in provided and not without:
        teacher = _teacher_of_triplets(names, roles)
    return roles if teacher is None else {**roles, TEACHER: teacher}


def _choose(
    names: Sequence[str],
    chosen: Mapping[str, int],
    unscored: bool,
    teacher: int | None,
    is_score: Callable[[int], bool],
    is_text: Callable[[int, bool], bool],
    may_be_score: Callable[[int], bool],
) -> dict[str, int]:
    """Return the other roles; the teacher's column has none of them."""
    is_score, may_be_score = (
        lambda place, test=test: place != teacher and test(place)
        for test in (is_score, may_be_score)
    )
    pair = dict(chosen)
    of_pair = not set(chosen) & set(TRIPLET_ROLES)
    if of_pair:
        pair = _by_name(names, chosen, PAIR_NAMES)
        pair = pair if unscored else _scored_by_name(pair, names)
        if set(pair) == set(PAIR_ROLES):
            return {role: pair[role] for role in PAIR_ROLES}
    if not set(chosen) & set(PAIR_ROLES) and not unscored:
        triplet = _triplet_by_name(names, chosen, is_score)
        if set(triplet) == set(TRIPLET_ROLES):
            return {role: triplet[role] for role in TRIPLET_ROLES}
    if of_pair:
        pair = pair if unscored else _scored_by_content(pair, names, is_score, may_be_score)
    pair = _by_name(names, _anchored_by_name(names, pair), POSITIVE_NAMES)
    named = set(POSITIVE_ROLES) <= set(pair)
    pair = _texts_by_content(pair, names, is_text)
    others = [
        position
        for position, name in enumerate(names)
        if position not in pair.values()
        and plain_name(name) not in ONLY_CLASSES
        and not _counts_rows(name)
        and not names_ids(name)
        and not is_inner(name, names)
        and not names_search_score(name, names)
    ]
    if set(pair) == set(PAIR_ROLES):
        return {role: pair[role] for role in PAIR_ROLES}
    if set(pair) == set(POSITIVE_ROLES):
        scored = any(may_be_score(at) or _may_name_score(names[at]) for at in others)
        if not named:
            # A few words that come again, beside texts and under no known name, may be their
            # classes.
            both = [(is_text(at, False), may_be_score(at)) for at in pair.values()]
            scored |= sorted(both) == [(True, False), (True, True)]
        if unscored or not scored:
            return {role: pair[role] for role in POSITIVE_ROLES}
    if len(names) == 1:
        raise Problem("table_one_column")
    if name_reranking(names):
        raise Problem("columns_of_reranker", about="columns")
    texts = [name for place, name in enumerate(names) if is_text(place, False)]
    if len(texts) == 3 and all(map(_is_number, texts)):
        raise Problem("columns_three_texts", about="columns", columns=listed(texts))
    raise Problem("columns_not_recognised", about="columns", columns=listed(names), none=NO_SCORE)


def names_ids(name: str) -> bool:
    """True if a column of this name holds ids: "query-id", "corpus_id", "qid", "docid"."""
    return ID_NAMES.fullmatch(plain_name(name)) is not None


def names_degree(name: str) -> bool:
    """True if a column of this name holds the companion of ids: a degree, a rank, a tag."""
    return plain_name(name) in (*SCORE_NAMES, *BESIDE_IDS) or names_rank(name)


def names_rank(name: str) -> bool:
    """True if a column of this name holds places in an order, of which 1 is the best."""
    return RANK_NAMES.fullmatch(name.strip().casefold()) is not None


def names_search_score(name: str, names: Sequence[str]) -> bool:
    """True if a column of this name has the scores by which a search found its candidates: it is
    called so, or stands beside their ids in a list or their ranks."""
    inside, _, last = name.rpartition(".")
    if SEARCH_SCORES.fullmatch(plain_name(last)):
        return True
    if plain_name(last) not in ("score", "scores"):
        return False
    beside = (other.rpartition(".") for other in names)
    in_list = [other for folder, _, other in beside if folder == inside]
    return any(map(names_ids, in_list)) if inside else any(map(names_rank, in_list))


def name_reranking(names: Sequence[str]) -> bool:
    """True if these are the columns of a reranker's answer, which has no query: documents by index,
    and their scores."""
    plain = {plain_name(name) for name in names}
    return "index" in plain and plain - {"index", "text", "document"} in (
        {"relevancescore"},
        {"score"},
    )


def names_text(name: str) -> bool:
    """True if a column of this name holds one of the texts of a pair or triplet."""
    return plain_name(name) in _TEXTS or names_candidate(name)


def names_instruction(name: str) -> bool:
    """True if a column of this name tells a model how to read a text: "system", "prompt"."""
    return INSTRUCTION_NAMES.fullmatch(plain_name(name)) is not None


def names_class(name: str) -> bool:
    """True if a column of this name holds classes of texts, and never a score: "category"."""
    return plain_name(name) in ONLY_CLASSES


def is_inner(name: str, names: Sequence[str]) -> bool:
    """True if a column is a part of a chat or passage beside its text: "passages.score"."""
    return name.rpartition(".")[0] in (*names, *DIALOGUES)


def candidate_columns(
    names: Sequence[str], chosen: Mapping[str, int], role: str
) -> tuple[int, ...]:
    """The columns that serve a role: the chosen one, and where that is called as the role is, all
    others of such names ("pos_1", "pos_2")."""
    one, known = chosen[role], SEVERAL[role]
    if not known.fullmatch(plain_name(names[one])):
        return (one,)
    taken = set(chosen.values()) - {one}
    return tuple(place for place in _named(names, known) if place not in taken)


def names_guide(name: str) -> bool:
    """True if a column of this name would hold a guide's vectors."""
    return NAMES_GUIDE.fullmatch(plain_name(name)) is not None


def _named(names: Sequence[str], known: re.Pattern) -> list[int]:
    """The columns with a name of this pattern."""
    return [place for place, name in enumerate(names) if known.fullmatch(plain_name(name))]


def names_candidate(name: str) -> bool:
    """True if a column of this name holds positives or negatives: "chosen", "HN1"."""
    return any(known.fullmatch(plain_name(name)) for known in (POSITIVE, NEGATIVE))


def listed(names: Sequence[str]) -> str:
    """List the names in quotation marks, cut off where a message would become unreadable."""
    shown = ", ".join(f"“{name[:40]}”" for name in names[:MAX_LISTED])
    return shown + (", …" if len(names) > MAX_LISTED else "")


def requested_columns(
    names: Sequence[str], requested: Mapping[str, str], roles: Collection[str]
) -> dict[str, int]:
    """Return the positions of the chosen columns. Raises Problem for an impossible choice."""
    chosen: dict[str, int] = {}
    for role, name in requested.items():
        if role not in roles:
            raise Problem("column_role_unknown", role=role)
        position = position_of(names, str(name))
        if position in chosen.values():
            raise Problem("column_chosen_twice", about="chosen_columns", column=name)
        chosen[role] = position
    return chosen


def _teacher_by_name(names: Sequence[str], chosen: Mapping[str, int]) -> int | None:
    """The first column of a teacher's name, or beside positives of the name of their scores, that
    serves nothing else."""
    of_positives = _named(names, OF_POSITIVE) if _named(names, POSITIVE) else ()
    for place, name in enumerate(names):
        known = plain_name(name.rpartition(".")[2]) in TEACHER_NAMES or place in of_positives
        if known and place not in chosen.values():
            return place
    return None


def is_name(column: str) -> bool:
    """True if a chosen column is called by a name, and not by its number or NO_SCORE."""
    return bool(column) and column != NO_SCORE and not _is_number(column)


def _is_number(column: str) -> bool:
    return column.isascii() and column.isdigit() and len(column) < 10


def _teacher_of_triplets(names: Sequence[str], chosen: Mapping[str, int]) -> int | None:
    plain = {plain_name(name): place for place, name in enumerate(names)}
    free = {name: place for name, place in plain.items() if place not in chosen.values()}
    positive = [
        place
        for name, place in free.items()
        if OF_POSITIVE.fullmatch(name) and not name.endswith("ctxsscore")  # DPR's are of BM25
    ]
    if positive and any(map(OF_NEGATIVES.fullmatch, free)):
        return positive[0]
    return next((free[name] for name in OF_TRIPLET if name in free), None)


def teacher_columns(names: Sequence[str], teacher: int) -> tuple[int, ...]:
    """The columns that hold what a teacher gave the candidates of a triplet: the chosen one, and
    where its name says that it is a positive's, those of all positives and then of the negatives.
    """
    if not OF_POSITIVE.fullmatch(plain_name(names[teacher])):
        return (teacher,)
    return (*_named(names, OF_POSITIVE), *_named(names, OF_NEGATIVES))


def position_of(names: Sequence[str], name: str) -> int:
    """Find a column by name, else by its number counted from 1, for unnamed columns.

    Raises Problem if there is no such column.
    """
    if name in names:
        return names.index(name)
    if _is_number(name) and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise Problem("column_unknown", about="unknown_column", column=name, columns=listed(names))


def _by_name(
    names: Sequence[str], chosen: Mapping[str, int], known: Sequence[tuple[str, str]]
) -> dict[str, int]:
    """Add the two sentences, where neither is chosen and two names are among the known ones."""
    plain = [plain_name(name) for name in names]
    if not {"first", "second"} & set(chosen):
        for first, second in known:
            if first in plain and second in plain:
                roles = {"first": plain.index(first), "second": plain.index(second)}
                is_free = {*chosen.values()}.isdisjoint(roles.values())
                return {**chosen, **roles} if is_free else dict(chosen)
    return dict(chosen)


def _anchored_by_name(names: Sequence[str], chosen: Mapping[str, int]) -> dict[str, int]:
    """The same, where one is called an anchor and the other its positive."""
    positives = (plain_name(names[place]) for place in _named(names, POSITIVE))
    known = [(anchor, positive) for positive in positives for anchor in ANCHOR_NAMES]
    return _by_name(names, chosen, known)


def _scored_by_name(pair: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    plain = ["" if names_search_score(name, names) else plain_name(name) for name in names]
    if "score" not in pair:
        # What stands beside each candidate of a list, such as "passages.label", is called after it.
        of_second = plain[pair["second"]] if "second" in pair else ""
        for name in itertools.chain.from_iterable((one, of_second + one) for one in SCORE_NAMES):
            if name in plain and plain.index(name) not in pair.values():
                return {**pair, "score": plain.index(name)}
    return dict(pair)


def _scored_by_content(
    pair: Mapping[str, int],
    names: Sequence[str],
    is_score: Callable[[int], bool],
    may_be_score: Callable[[int], bool],
) -> dict[str, int]:
    """Add the score, if one of the columns still free can be it and no other can. Raises Problem
    where they have ranks or the scores of a search, and no column says what is a positive."""
    free = [position for position in range(len(names)) if position not in pair.values()]
    if "score" not in pair:
        searched = [p for p in free if may_be_score(p) and names_search_score(names[p], names)]
        known = {*searched, *(p for p in free if names_rank(names[p]) or _counts_rows(names[p]))}
        scores = [p for p in free if is_score(p) and p not in known]
        if searched and not scores and not any(map(names_candidate, names)):
            column = names[searched[0]]
            raise Problem("column_of_search_scores", about="columns", column=column, none=NO_SCORE)
        if not scores and (ranks := [names[p] for p in free if names_rank(names[p])]):
            raise Problem("column_of_ranks", about="columns", column=ranks[0], none=NO_SCORE)
        if len(scores) == 1:
            return {**pair, "score": scores[0]}
    return dict(pair)


def _may_name_score(name: str) -> bool:
    """True if a column of this name may hold scores in words of its own: "esci_label"."""
    return LIKE_SCORE.fullmatch(name.strip().casefold()) is not None


def _counts_rows(name: str) -> bool:
    return COUNTS_ROWS.fullmatch(name.rpartition(".")[2].casefold()) is not None


def _texts_by_content(
    pair: Mapping[str, int], names: Sequence[str], is_text: Callable[[int, bool], bool]
) -> dict[str, int]:
    """Add the sentences still open, if there are as many columns of text; instructions, paths and
    ids only where there is nothing else."""
    open_roles = [role for role in POSITIVE_ROLES if role not in pair]
    taken = pair.values()
    free = [p for p, name in enumerate(names) if p not in taken and not names_ids(name)]
    for others in (False, True):
        texts = [p for p in free if is_text(p, others)]
        texts = [p for p in texts if others or not names_instruction(names[p])]
        if len(texts) == len(open_roles):
            return dict(pair) | dict(zip(open_roles, texts, strict=True))
    return dict(pair)


def _triplet_by_name(
    names: Sequence[str], chosen: Mapping[str, int], is_score: Callable[[int], bool]
) -> dict[str, int]:
    """Add the three sentences, where two are called like an anchor and its positive, or like any
    pair, and a third like a negative and holds no numbers."""
    negatives = [place for place in _named(names, NEGATIVE) if not is_score(place)]
    pair = _by_name(names, _anchored_by_name(names, {}), POSITIVE_NAMES + PAIR_NAMES)
    if not negatives or not pair:
        return dict(chosen)
    places = (pair["first"], pair["second"], negatives[0])
    return dict(zip(TRIPLET_ROLES, places, strict=True)) | dict(chosen)
