"""The bytes of a text file as text: in the encoding that was chosen, or in the one they look like.

UTF-8 is tried first; what it is not, chardet tells by how often letters follow each other in each
language. A text of a few letters may look like several encodings: then it is not guessed.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem

_LISTED = read_json(Path(__file__).with_name("encodings.json").read_text("utf-8"))
# Encodings by their names, with their codecs: the widest of each family.
ENCODINGS: dict[str, str] = _LISTED["codecs"]
# Other names of these, and of parts of them.
_PARTS: dict[str, str] = _LISTED["other_names"]
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_ESCAPED = ("UTF-7", "HZ", "ISO-2022-JP", "ISO-2022-KR")
_UNICODE = ("UTF-8", "UTF-16", "UTF-32")
_CODE_PAGES = tuple(
    codec for name, codec in ENCODINGS.items() if name not in (*_UNICODE, *_ESCAPED)
)
WESTERN = "Windows-1252"

# How sure chardet has to be where another encoding is nearly as likely; and of next to nothing.
MIN_CONFIDENCE, NEAR_SHARE = 0.1, 0.9
FAINT_CONFIDENCE, NEAR_SHARE_WHEN_FAINT = 0.02, 0.5
SAMPLE_BYTES = 2**16
_PREVIEW_LETTERS = 60

_HIGH = re.compile(rb"[\x80-\xff]")
_ESCAPES = re.compile(rb"\x1b|~\{|\+[A-Za-z0-9+/]{3}")
_MARK = re.compile(rb"[\x20-\x2f\n]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


def decode(data: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    """Return the text of a file, without byte-order marks, and its encoding, as one of ENCODINGS.
    `encoding` is the chosen one ("" finds out).

    Raises Problem where the bytes are no text, or the encoding is unclear.
    """
    text, used = _decode_chosen(data, name, encoding) if encoding else _found(data, name)
    return text.replace("\ufeff", ""), used


def known_encoding(encoding: str) -> str:
    """Return one of ENCODINGS, by any of its names. Raises Problem."""
    for one in ENCODINGS:
        if one.casefold() == encoding.casefold():
            return one
    try:
        codec = codecs.lookup(encoding).name
    except (LookupError, ValueError):  # a name with a null character in it is a ValueError
        codec = ""
    for one, known in ENCODINGS.items():
        if codec and codecs.lookup(known).name == codec:
            return one
    if (part := codec.replace("-", "_")) in _PARTS:
        return _PARTS[part]
    raise Problem(
        "encoding_unknown", about="encoding", encoding=encoding[:40], known=", ".join(ENCODINGS)
    )


def encoding_choices(
    content: Callable[[], bytes], encoding: str, chosen: str = ""
) -> list[tuple[str, str]]:
    """Return `previews` of a file that was read in `encoding`, where only its letters or the user
    (`chosen`) determined that; nothing where the bytes themselves do."""
    return (
        previews(content())
        if chosen or (encoding in ENCODINGS and encoding not in _UNICODE)
        else []
    )


def previews(data: bytes) -> list[tuple[str, str]]:
    """Return the encodings that a file can be read in, the likeliest first, each with a reading of
    its first distinctive words."""
    sample = _distinctive_lines(data, _ESCAPES if data.isascii() else _HIGH)
    likely = [one for one, _ in _ranked(sample)] if not data.isascii() else []
    previews_by_encoding: dict[str, str] = {}
    for one in (*likely, *ENCODINGS):
        try:
            text = sample.decode(ENCODINGS[one])
        except UnicodeError:
            continue
        foreign = next((at for at, letter in enumerate(text) if letter > "\x7f"), None)
        tells = foreign is not None or one == "UTF-8"
        if one not in previews_by_encoding and tells and not _CONTROL.search(text):
            start = max(0, (foreign or 0) - 8)
            previews_by_encoding[one] = " ".join(text[start : start + _PREVIEW_LETTERS].split())
    return list(previews_by_encoding.items())


def _decode_chosen(data: bytes, name: str, encoding: str) -> tuple[str, str]:
    chosen = known_encoding(encoding)
    if chosen in ("UTF-16", "UTF-32") and not data.startswith(
        (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe")
    ):
        wide = _wide(data)
        return _decode_as(
            data, wide if wide.startswith(chosen.lower()) else f"{chosen}-LE", name
        ), chosen
    return _decode_as(data, chosen, name), chosen


def _found(data: bytes, name: str) -> tuple[str, str]:
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return _decode_as(data, "UTF-32", name), "UTF-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _decode_as(data, "UTF-16", name), "UTF-16"
    if b"\0" in data:
        wide = _wide(data)
        if not wide:
            raise Problem("file_binary", name=name)
        return _decode_as(data, wide, name), wide[:6].upper()
    if data.isascii() and (likeliest := _escaped(data)):
        return _decode_as(data, likeliest, name), likeliest
    try:
        # Half characters pass, and cost their rows instead of the whole file.
        return data.decode("utf-8-sig", "surrogatepass"), "UTF-8"
    except UnicodeDecodeError as error:
        sample = _distinctive_lines(data)
        _refuse_damaged_utf8(data, sample, error.start, name)
    likeliest = _code_page(sample)
    if not likeliest:
        raise Problem("file_encoding", about="encoding", name=name)
    return _decode_as(data, likeliest, name), likeliest


def _decode_as(data: bytes, encoding: str, name: str) -> str:
    codec = ENCODINGS.get(encoding, encoding)
    try:
        text = data.decode(codec, "surrogatepass" if codec == "utf-8-sig" else "strict")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Problem(
            "file_not_in_encoding", about="encoding", name=name, encoding=encoding, line=line
        ) from None
    except UnicodeError:
        raise Problem("file_encoding", about="encoding", name=name) from None
    if codec != "utf-8-sig" and _CONTROL.search(text):
        raise Problem("file_binary", name=name)
    return text


def _refuse_damaged_utf8(data: bytes, sample: bytes, start: int, name: str) -> None:
    """A file that is UTF-8 but for a few bytes is damaged, not written in another encoding."""
    lenient = sample.decode("utf-8", errors="replace")
    damaged = lenient.count("\ufffd")
    foreign = sum(1 for character in lenient if character > "\x7f")
    if foreign > 10 * damaged:
        line = data.count(b"\n", 0, start) + 1
        raise Problem("file_damaged_utf8", about="encoding", name=name, line=line)


# What the bytes look like


def _distinctive_lines(data: bytes, mark: re.Pattern[bytes] = _HIGH) -> bytes:
    """The first lines with a byte that tells of an encoding."""
    return b"\n".join(_lines_with(mark, data))


def _lines_with(mark: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    left = SAMPLE_BYTES
    match = mark.search(data)
    while match and left > 0:
        start, stop = data.rfind(b"\n", 0, match.start()) + 1, data.find(b"\n", match.end())
        line = data[start : len(data) if stop < 0 else stop]
        if len(line) > left:
            if left < SAMPLE_BYTES:
                return
            # Cut between two marks that are no part of a letter in any encoding.
            after = _MARK.search(data, match.end() + SAMPLE_BYTES)
            start = max(start, match.start() - SAMPLE_BYTES)
            before = [start, *(m.end() for m in _MARK.finditer(data, start, match.start()))]
            line = data[before[-1] : after.start() if after else len(data)]
        yield line
        left -= len(line) + 1
        match = mark.search(data, stop) if stop >= 0 else None


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, which has its byte order in its name; else nothing."""
    import chardet

    detected = chardet.detect(
        data[:SAMPLE_BYTES], include_encodings=_WIDE, compat_names=False, prefer_superset=False
    )["encoding"]
    return detected if detected in _WIDE else ""


def _escaped(data: bytes) -> str:
    """Return the encoding of plain bytes among which some switch to other letters; else ""."""
    sample = _distinctive_lines(data, _ESCAPES)
    if not sample:
        return ""
    import chardet

    detected = chardet.detect(sample, compat_names=False, prefer_superset=False)["encoding"] or ""
    escaped = next(
        (escaped for escaped in _ESCAPED if detected.startswith(ENCODINGS[escaped][:10])), ""
    )
    try:
        return escaped if escaped and not sample.decode(ENCODINGS[escaped]).isascii() else ""
    except UnicodeError:
        return ""


def _code_page(sample: bytes) -> str:
    """Return the likeliest encoding; "" where others that read otherwise are as likely."""
    ranked = _ranked(sample)
    if not ranked:
        return ""
    read = {best: sample.decode(ENCODINGS[best], "replace") for best, _ in ranked}
    (best, confidence), *_ = ranked
    near = NEAR_SHARE_WHEN_FAINT if confidence < FAINT_CONFIDENCE else NEAR_SHARE
    likely = [other for other, how in ranked if how >= near * confidence]
    if confidence < MIN_CONFIDENCE and any(read[other] != read[best] for other in likely):
        best = WESTERN if WESTERN in read and _looks_western(sample, WESTERN in likely) else ""
    return WESTERN if best and read.get(WESTERN) == read[best] else best


def _looks_western(sample: bytes, is_likely: bool) -> bool:
    """True if its letters with marks stand alone, or it has none, only dashes and quotes."""
    alone = [len(run) == 1 for run in re.findall(rb"[\x80-\xff]+", sample)]
    letters = any(map(str.isalpha, b"".join(_HIGH.findall(sample)).decode("cp1252", "replace")))
    return not letters or (is_likely and sum(alone) > len(alone) / 2)


def _ranked(sample: bytes) -> list[tuple[str, float]]:
    """Return the encodings that the sample can be read in, with chardet's confidence in each."""
    import chardet

    detected = chardet.detect_all(
        sample,
        ignore_threshold=True,
        compat_names=False,
        prefer_superset=False,
        include_encodings=_CODE_PAGES,
        no_match_encoding="cp1252",
    )
    by_codec = {codec: one for one, codec in ENCODINGS.items()}
    known = [
        (by_codec[answer["encoding"]], answer["confidence"])
        for answer in detected
        if answer["encoding"] in by_codec
    ]
    return [(one, confidence) for one, confidence in known if _reads(sample, one)]


def _reads(sample: bytes, encoding: str) -> bool:
    try:
        return not _CONTROL.search(sample.decode(ENCODINGS[encoding]))
    except UnicodeError:
        return False
