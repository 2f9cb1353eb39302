"""Rows in the nested forms of training frameworks, made flat: a column holds texts.

* an object within an object: ``{"set": {"query": …, "pos": […], "neg": […]}}``;
* chats: ``messages``, ``positive_messages`` and ``negative_messages`` (ms-swift), or
  ``conversations`` of ``from`` and ``value`` (ShareGPT);
* passages with a title or a score: ``positive_passages`` and ``negative_passages`` (Tevatron), or
  ``positive_ctxs`` and ``hard_negative_ctxs`` (DPR), as a list of objects or an object of lists;
  or ``candidates`` of a ``docid``, a ``score`` and a ``doc`` with the text (RankLLM);
* the texts of an `InputExample`: ``{"texts": [anchor, positive, negative], "label": …}``.
"""

from typing import TypeGuard

from lossprism.explorer.sources.column_names import ANCHOR_NAMES, DIALOGUES, PAIR_NAMES
from lossprism.explorer.sources.column_roles import names_candidate

Row = dict[str, object]

_ANSWERS = ("assistant", "gpt", "model", "bot")
_FIRST_TEXTS = frozenset(ANCHOR_NAMES).union(first for first, _ in PAIR_NAMES)
_CHATS = {"positive_messages": "positive", "negative_messages": "negative"}
# Where a passage has its words; its title stands before them, as the frameworks have it.
_TEXTS = ("text", "content", "body", "contents", "passage", "passage_text")
_TITLE = "title"
_INSTRUCTING = ("system", "developer")
_EXAMPLE = "texts"  # of an `InputExample` of sentence-transformers


def flattened(row: Row) -> Row:
    """The row with a text, or a list of texts, in place of each chat and each passage; what else
    is known of a passage is a column of its own: "positive_passages.score"."""
    if _are_texts(texts := row.get(_EXAMPLE)):
        return {**_of_example(texts), **{name: row[name] for name in row if name != _EXAMPLE}}
    if len(row) == 1:
        (inner,) = row.values()
        if isinstance(inner, dict) and not _text_name(inner):
            return flattened(inner)
        if _are_texts(inner):
            # Texts that belong together, of which each is a positive of the first.
            return {"sentence1": inner[0], "sentence2": inner[1] if len(inner) == 2 else inner[1:]}
    if not any(isinstance(value, dict | list) for value in row.values()):
        return row
    flat: Row = {}
    for name, value in _with_inner_columns(row).items():
        if name in DIALOGUES and _is_chat(value):
            hidden = not row.keys().isdisjoint(("query", "response"))
            flat |= {name: value} if hidden else _of_chat(name, value)
        elif names_candidate(name) and _is_dialogue(chat := [value] if _is_turn(value) else value):
            flat |= _of_candidate(name, chat, flat)
        elif name in _CHATS and isinstance(value, list):
            flat |= _of_chats(_CHATS[name], _chats(value))
        else:
            flat |= _of_passages(name, value)
    return flat


def is_row(row: Row) -> bool:
    """True if an object is one row in a nested form, and no table: it has a text of a known name,
    or chats or passages."""
    if any(isinstance(row[name], str) for name in _FIRST_TEXTS & row.keys()):
        return True
    if any(name in DIALOGUES or name in _CHATS for name in row):
        return True
    passages = (value for name, value in row.items() if names_candidate(name))
    return any(isinstance(one, list) and one and isinstance(one[0], dict) for one in passages)


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(t, str) for t in value)


def _of_example(texts: list[str]) -> Row:
    """The texts of an `InputExample`: two of a pair, or an anchor, its positive and negatives."""
    if len(texts) == 2:
        return {"sentence1": texts[0], "sentence2": texts[1]}
    negatives = texts[2] if len(texts) == 3 else texts[2:]
    return {"anchor": texts[0], "positive": texts[1], "negative": negatives}


def _with_inner_columns(row: Row) -> Row:
    """The row with the texts of an object inside it as its own columns, where they hide none."""
    opened: Row = {}
    for name, value in row.items():
        if isinstance(value, dict) and _has_texts(value) and not row.keys() & value.keys():
            opened |= value
        else:
            opened[name] = value
    return opened


def _has_texts(value: Row) -> bool:
    return any(isinstance(value[name], str) for name in _FIRST_TEXTS & value.keys())


def _is_chat(value: object) -> TypeGuard[list[Row]]:
    return isinstance(value, list) and bool(value) and all(map(_is_turn, value))


def _is_turn(value: object) -> bool:
    return isinstance(value, dict) and _words(value) is not None


def _chats(value: list) -> list:
    """The chats of a list; one chat may stand there without a list of its own."""
    return [value] if _is_chat(value) else value


def _is_dialogue(value: object) -> TypeGuard[list[Row]]:
    """True for a chat whose turns have roles; a passage has none."""
    return _is_chat(value) and all(_role(turn) is not None for turn in value)


def _of_candidate(name: str, chat: list[Row], before: Row) -> Row:
    """Return the last answer of a chat that is a candidate, and its question, where the row has it
    only there."""
    if _role(chat[-1]) not in _ANSWERS:
        return {name: _turns_text(chat)}
    question = _turns_text(chat[:-1])
    known = not question or not before.keys().isdisjoint(ANCHOR_NAMES)
    return {name: _words(chat[-1])} if known else {"query": question, name: _words(chat[-1])}


def _of_chats(name: str, chats: list) -> Row:
    """Return the text of each chat, and the instructions before it where there are some."""
    row: Row = {name: [_turns_text(chat) if _is_chat(chat) else chat for chat in chats]}
    before = [_turns_text(chat, instructing=True) if _is_chat(chat) else "" for chat in chats]
    return {**row, f"{name}.system": before} if any(before) else row


def _turns_text(chat: list[Row], instructing: bool = False) -> str:
    """The words of all turns; those of instructions apart."""
    turns = (turn for turn in chat if (_role(turn) in _INSTRUCTING) == instructing)
    return "\n".join(_words(turn) or "" for turn in turns)


def _role(turn: Row) -> object:
    return turn.get("role", turn.get("from"))


def _words(turn: Row) -> str | None:
    """The text of a turn, which may come in parts; None where it is not all text."""
    content = turn.get("content", turn.get("value") if "from" in turn else None)
    if isinstance(content, list):
        parts = [text_of(part) for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if texts and len(texts) == len(parts) else None
    return content if isinstance(content, str) else None


def _of_chat(name: str, chat: list[Row]) -> Row:
    """Return the question, with all turns before it, the last answer where there is one, and the
    instructions, which are part of neither."""
    has_answer = len(chat) > 1 and _role(chat[-1]) in _ANSWERS
    row: Row = {"query": _turns_text(chat[:-1] if has_answer else chat)}
    if has_answer:
        row["response"] = _words(chat[-1])
    if before := _turns_text(chat, instructing=True):
        row[f"{name}.system"] = before
    return row


def _of_passages(name: str, value: object) -> Row:
    """The text of a passage or of each of a list, and what else is known of it, each by its name;
    anything else as it is."""
    if isinstance(value, dict):
        value = _transposed(value)
    passages = [*map(_with_inner_text, value if isinstance(value, list) else [value])]
    others = dict.fromkeys(
        key
        for one in passages
        if isinstance(one, dict) and (text := _text_name(one))
        for key in one
        if key not in (text, _TITLE)
    )
    columns: dict[str, list] = {name: list(map(text_of, passages))}
    for key in others:
        columns[f"{name}.{key}"] = [
            one.get(key) if isinstance(one, dict) else None for one in passages
        ]
    return {**columns} if isinstance(value, list) else {key: one for key, (one,) in columns.items()}


def _with_inner_text(passage: object) -> object:
    """Return a passage whose text is in an object of its own ({"docid", "score", "doc": {"text"}}),
    with that object's entries in place of it; anything else as it is."""
    if not isinstance(passage, dict) or _text_name(passage):
        return passage
    inner = [name for name, one in passage.items() if isinstance(one, dict) and _text_name(one)]
    if len(inner) != 1:
        return passage
    return {**{name: one for name, one in passage.items() if name != inner[0]}, **passage[inner[0]]}


def _transposed(value: Row) -> Row | list[Row]:
    """A list of passages that is written as one list for each of their keys; else the object."""
    lists = [one for one in value.values() if isinstance(one, list)]
    if not lists or len(lists) < len(value) or not any(name in value for name in _TEXTS):
        return value
    if len({len(one) for one in lists}) > 1:
        return value
    return [dict(zip(value, entries, strict=True)) for entries in zip(*lists, strict=True)]


def _text_name(passage: Row) -> str | None:
    """Name of the passage's text; None where it has none."""
    return next((name for name in _TEXTS if isinstance(passage.get(name), str)), None)


def text_of(value: object) -> object:
    """The text of a passage; anything else as it is."""
    if not isinstance(value, dict) or (name := _text_name(value)) is None:
        return value
    title = value.get(_TITLE)
    text = value[name]
    return f"{title} {text}" if isinstance(title, str) and title.strip() else text
