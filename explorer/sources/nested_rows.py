"""Rows of JSON in the nested forms of training frameworks, made flat: a column holds texts.

* an object within an object: ``{"set": {"query": …, "pos": […], "neg": […]}}``;
* chats: ``messages``, ``positive_messages`` and ``negative_messages`` (ms-swift), or
  ``conversations`` of ``from`` and ``value`` (ShareGPT);
* passages with a title: ``positive_passages`` and ``negative_passages`` (Tevatron), or
  ``positive_ctxs`` and ``hard_negative_ctxs`` (DPR);
* queries, corpus and relevant documents, which name each other by ids (LlamaIndex).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from explorer.runtime.problem import Problem
from explorer.sources.cells import shortened
from explorer.sources.column_names import ANCHOR_NAMES, PAIR_NAMES

Row = dict[str, object]

_ANSWERS = ("assistant", "gpt", "model", "bot")
_DIALOGUES = ("messages", "conversations")
_FIRST_TEXTS = frozenset(first for first, _ in PAIR_NAMES + ANCHOR_NAMES)
_CHATS = {"positive_messages": "positive", "negative_messages": "negative"}
# Where a passage has its words; its title stands before them, as the frameworks have it.
_TEXTS = ("text", "content", "body", "contents", "passage")
# The maps of LlamaIndex, and of BEIR under the name that it has there.
_QUERIES, _CORPUS, _RELEVANT = "queries", "corpus", ("relevant_docs", "qrels")


def flattened(row: Row) -> Row:
    """The row with a text, or a list of texts, in place of each chat and each passage."""
    if len(row) == 1:
        (inner,) = row.values()
        if isinstance(inner, dict) and len(inner) > 1:
            return flattened(inner)
    if not any(isinstance(value, dict | list) for value in row.values()):
        return row
    flat: Row = {}
    for name, value in _opened(row).items():
        if name in _DIALOGUES and _is_chat(value) and not _of_chat(value).keys() & row.keys():
            flat |= _of_chat(value)
        elif name in _CHATS and isinstance(value, list):
            flat[_CHATS[name]] = [_answer(one) for one in _chats(value)]
        elif isinstance(value, list):
            flat[name] = [_passage(one) for one in value]
        else:
            flat[name] = _passage(value)
    return flat


def _opened(row: Row) -> Row:
    """The row with the texts of an object inside it as its own columns, where they hide none."""
    found: Row = {}
    for name, value in row.items():
        if isinstance(value, dict) and _has_texts(value) and not row.keys() & value.keys():
            found |= value
        else:
            found[name] = value
    return found


def _has_texts(value: Row) -> bool:
    return any(isinstance(value[name], str) for name in _FIRST_TEXTS & value.keys())


def _is_chat(value: object) -> TypeGuard[list[Row]]:
    return isinstance(value, list) and bool(value) and all(map(_is_turn, value))


def _is_turn(value: object) -> bool:
    return isinstance(value, dict) and _words(value) is not None


def _chats(value: list) -> list:
    """The chats of a list; one chat may stand there without a list of its own."""
    return [value] if _is_chat(value) else value


def _answer(value: object) -> object:
    """The words of a chat; anything else as it is."""
    return _words_of(value) if _is_chat(value) else value


def _words_of(chat: list) -> str:
    return "\n".join(_words(turn) or "" for turn in chat)


def _words(turn: Row) -> str | None:
    """The text of a turn, which may come in parts; None where it is not all text."""
    content = turn.get("content", turn.get("value") if "from" in turn else None)
    if isinstance(content, list):
        parts = [_passage(part) for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if texts and len(texts) == len(parts) else None
    return content if isinstance(content, str) else None


def _of_chat(chat: list) -> Row:
    """What was asked, with all that was said before, and the last answer where there is one."""
    if len(chat) > 1 and chat[-1].get("role", chat[-1].get("from")) in _ANSWERS:
        return {"query": _words_of(chat[:-1]), "response": _words(chat[-1])}
    return {"query": _words_of(chat)}


def _passage(value: object) -> object:
    """The text of a passage; anything else as it is."""
    if not isinstance(value, dict):
        return value
    text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
    if text is None:
        return value
    title = value.get("title")
    return f"{title} {text}" if isinstance(title, str) and title.strip() else text


def joined(text: str) -> Iterator[Row | Problem] | None:
    """The rows of queries with their relevant documents; None of a text that is no such maps."""
    if not any(f'"{name}"' in text for name in _RELEVANT) or f'"{_CORPUS}"' not in text:
        return None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict):
        return None
    relevant = next((whole[name] for name in _RELEVANT if name in whole), None)
    queries, corpus = whole.get(_QUERIES), whole.get(_CORPUS)
    if not (isinstance(queries, dict) and isinstance(corpus, dict) and isinstance(relevant, dict)):
        return None
    return _joined(queries, corpus, relevant)


def _joined(queries: Row, corpus: Row, relevant: Mapping) -> Iterator[Row | Problem]:
    for query, known in relevant.items():
        # A list, a map to degrees of relevance, or one id; as keys of JSON all ids are texts.
        documents = known if isinstance(known, list | dict) else [known]
        for document in map(str, documents):
            missing = query if query not in queries else document
            if query not in queries or document not in corpus:
                yield Problem("id_without_text", id=shortened(missing))
                continue
            row: Row = {"query": _passage(queries[query]), "passage": _passage(corpus[document])}
            if isinstance(known, dict):
                row["score"] = known[document]
            yield row
