"""Every word that a user reads: one flat catalogue of sentences for each language."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "zh")


@cache
def catalogue(language: str) -> dict[str, str]:
    """The sentences of one language, by key."""
    return json.loads((Path(__file__).parent / f"{language}.json").read_text(encoding="utf-8"))


def say(language: str, key: str, **values: object) -> str:
    """The sentence `key` in `language`, with `values` put into its {placeholders}."""
    sentence = catalogue(language)[key]
    for name, value in values.items():
        sentence = sentence.replace("{" + name + "}", str(value))
    return sentence
