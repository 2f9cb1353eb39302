"""Texts of figures: what can be printed, approximate widths, lines that fit."""

import itertools
import re
import unicodedata

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def px(value: float) -> str:
    """Return a length or a place to two digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def printable(text: str) -> str:
    """Return text without the characters that XML forbids; lone surrogates are replaced."""
    return _FORBIDDEN.sub("", re.sub("[\ud800-\udfff]", "\ufffd", text))


def clean(text: str) -> str:
    """Return printable text on one line that cannot reorder its surroundings.

    Marks of direction are dropped and blanks merged; right-to-left text is isolated.
    """
    text = " ".join(_DIRECTION_MARKS.sub("", printable(text)).split())
    backwards = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text)
    return f"\u2068{text}\u2069" if backwards else text


def _advance(letter: str) -> float:
    """Return the approximate width of a letter, in units of the font size."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "iljtfrI.,:;'|!()[] ":
        return 0.31
    return 0.84 if letter in "mwMW@%" else 0.66 if letter.isupper() else 0.54


def width_of(text: str, size: float) -> float:
    """Return the approximate width of the text, in pixels."""
    return size * sum(map(_advance, text))


def clipped(text: str, room: float, size: float) -> str:
    """Return as much of a user's text as fits into `room` pixels, cleaned."""
    text = clean(text[:400])
    if width_of(text, size) <= room:
        return text
    plain = text.strip("\u2068\u2069")
    room -= 0.8 * size  # for the dots
    widths = itertools.accumulate(width_of(letter, size) for letter in plain)
    kept = sum(1 for width in widths if width <= room)
    return clean(f"{plain[:kept].rstrip()}…")


def wrapped(sentence: str, room: float, size: float) -> list[str]:
    """Return the sentence in lines that fit, broken at blanks, or anywhere in Chinese."""
    lines, line = [], ""
    for piece in re.findall(r"[^\s\u2e80-\uffef]+\s*|[\u2e80-\uffef]|\s+", sentence):
        if line and width_of(line + piece.rstrip(), size) > room:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]
