"""Rows of JSON in the nested forms of training frameworks, made flat: a column holds texts.

* an object within an object: ``{"set": {"query": …, "pos": […], "neg": […]}}``;
* chats: ``messages``, ``positive_messages`` and ``negative_messages`` (ms-swift);
* passages with a title: ``positive_passages`` and ``negative_passages`` (Tevatron), or
  ``positive_ctxs`` and ``hard_negative_ctxs`` (DPR);
* queries, corpus and relevant documents, which name each other by ids (LlamaIndex).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from explorer.runtime.problem import Problem
from explorer.sources.cells import shortened

Row = dict[str, object]

_ANSWERS = "assistant"
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
    for name, value in row.items():
        if name == "messages" and isinstance(value, list) and _is_chat(value):
            flat |= _of_chat(value)
        elif name in _CHATS and isinstance(value, list):
            flat[_CHATS[name]] = [_words_of(chat) for chat in _chats(value)]
        elif isinstance(value, list):
            flat[name] = [_passage(one) for one in value]
        else:
            flat[name] = _passage(value)
    return flat


def _is_chat(value: list) -> bool:
    return bool(value) and all(isinstance(one, dict) and "content" in one for one in value)


def _chats(value: list) -> list[list]:
    """The chats of a list; one chat may stand there without a list of its own."""
    if _is_chat(value):
        return [value]
    return [one for one in value if isinstance(one, list) and _is_chat(one)]


def _words_of(chat: list) -> str:
    return "\n".join(str(one["content"]) for one in chat)


def _of_chat(chat: list) -> Row:
    """What was asked, with all that was said before, and the last answer where there is one."""
    if len(chat) > 1 and chat[-1].get("role") == _ANSWERS:
        return {"query": _words_of(chat[:-1]), "response": chat[-1]["content"]}
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
    for query, documents in relevant.items():
        for document in documents:  # a list, or a map to degrees of relevance
            missing = next(
                (one for one, known in ((query, queries), (document, corpus)) if one not in known),
                None,
            )
            if missing is not None:
                yield Problem("id_without_text", id=shortened(missing))
                continue
            row: Row = {"query": _passage(queries[query]), "passage": _passage(corpus[document])}
            if isinstance(documents, dict):
                row["score"] = documents[document]
            yield row
