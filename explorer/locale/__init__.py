"""Every word that a user reads: one flat catalogue of sentences for each language."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "zh")
_PLURAL = re.compile(r"\{(\w+):([^|}]*)\|([^}]*)\}")


@cache
def catalogue(language: str) -> dict[str, str]:
    """The sentences of one language, by key."""
    return json.loads((Path(__file__).parent / f"{language}.json").read_text(encoding="utf-8"))


def say(language: str, key: str, **values: object) -> str:
    """The sentence `key` in `language`, with `values` put into its {placeholders}.

    {count:row|rows} is the first word where the value is 1, else the second.
    """
    sentence = _PLURAL.sub(
        lambda found: found[2] if str(values.get(found[1])) == "1" else found[3],
        catalogue(language)[key],
    )
    for name, value in values.items():
        sentence = sentence.replace("{" + name + "}", str(value))
    return sentence
