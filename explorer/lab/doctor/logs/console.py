"""Console output of a training, as a Trainer, Lightning, Keras or a loop of one's own prints it.

Three forms are read: objects in braces, as JSON or as Python prints a dict; lines with
`loss=0.69`, `loss: 0.69` or `loss 0.69`; and, of a short text without either, plain sentences. The
step is the one that is named there, or else the count of the progress bar; without either the
entries are counted.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lossprism.explorer.lab.doctor.logs.log import (
    EPOCH,
    MAX_POINTS,
    ROWS,
    STEP_NAMES,
    Log,
    curves_of,
    is_loss,
    last_epoch,
    number_in,
)
from lossprism.explorer.lab.doctor.logs.values_in_sentences import losses_in, plain_signs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.json_rows import is_json

DETECTED_BYTES = 2**20  # of a file, searched for its first entries
MIN_SHARE = 0.2  # of the lines, that entries without braces must be
MAX_BARS = 8  # progress bars with different totals that are followed at once

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OBJECT = re.compile(r"\{(?:[^{}]|\{[^{}]*+\})*+\}")
_NUMBER = r"(?P<value>[-+−]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf(?:inity)?)|none|null)"
_END = r"(?:/ *(?P<total>\d+))?(?=[.!?。]?(?:$|[\s,;|\])}\"'…]|:(?!\d)))"
_FIRST_WORD = (
    r"(?:(?:train|training|val|valid|validation|eval|test|grad|gradient|learning|global) )?"
)
_NAMED = (
    r"(?:[\"'](?P<quoted>[^\"'\n]{1,80})[\"']\s*:"
    rf"|(?<![\w/.])(?P<name>{_FIRST_WORD}[A-Za-z_一-鿿][\w./()@-]*)\s*[:=]"
    r"|(?<![\w/.-])(?P<word>(?:[\w.-]+/)*"
    rf"(?:{_FIRST_WORD}(?:[a-z]+_)*loss|(?:global[ _])?step|iter(?:ation)?|epoch|"
    r"[一-鿿]*损失|步数|轮次))\b(?=[ \[]))"
)
_ENTRY = re.compile(rf"{_NAMED}\s*[\"'\[]?(?:tensor\()?{_NUMBER}{_END}", re.I)
_COUNT = re.compile(r"(?<![\d/:.])(?<!epoch )(\d+)/(\d+)(?![\d/])", re.I)
_RATE = re.compile(r"it/s|s/it|s/step")
_TITLE = re.compile(r"^\s*(?P<title>[^|%]*?):?\s*\d+%\|")
_TRAINING = re.compile(r"^(?:epoch|train|step|iter|global)", re.I)
_NO_METRIC = re.compile(r"\.[a-z]{1,4}$|^(?:cuda|device|rank|pid|seed|v_num)$", re.I)
_HELD_OUT = re.compile(r"^(?:eval|val|valid|validation|test|dev)[ _/]|^(?:验证|测试|评估)", re.I)
_CHINESE_STEP, _CHINESE_EPOCH = (re.compile(rf"第\s*(\d+)\s*{unit}") for unit in "步轮")


@dataclass
class _Entry:
    """The values of one object or line, as they are written; `bars` maps the total of each progress
    bar to where it stood, `heading` is the epoch that a line before it announces."""

    line: int
    braced: bool
    values: dict[str, str]
    bars: dict[int, int] = field(default_factory=dict)
    heading: str = ""

    @property
    def step(self) -> tuple[str, float] | None:
        """The name and the number of the step, as `STEP_NAMES` prefers them."""
        named = {plain_name(name): value for name, value in self.values.items()}
        found = ((name, number_in(named[name])) for name in STEP_NAMES if name in named)
        return next(((name, at) for name, at in found if at is not None), None)

    @property
    def epoch(self) -> float | None:
        named = (value for name, value in self.values.items() if EPOCH.search(name))
        return next((at for one in named if (at := number_in(one)) is not None), None)

    @property
    def has_loss(self) -> bool:
        return any(map(is_loss, self.values))


def plain_name(name: str) -> str:
    """A name in small letters, without its folder: "trainer/global_step" → "global_step"."""
    plain = name.strip().lower().replace(" ", "_")
    return plain if plain in STEP_NAMES else plain.rpartition("/")[2]


def is_console(content: bytes) -> bool:
    """True if a text has entries of a training loss: an object that ends its line, or at least one
    in five of the lines. Progress bars count as no lines."""
    if b"loss" not in content.lower() and "损失".encode() not in content:
        return False
    text = content[:DETECTED_BYTES].decode("utf-8-sig", "replace")
    entries, left = _parsed(text)
    found = [entry for entry in entries if entry.has_loss]
    lines = _lines(text)
    if any(one.braced and _ends_line(lines[one.line - 1]) for one in found):
        return True
    return bool(found) and len(found) >= MIN_SHARE * (len(entries) + len(left))


def prints_objects(content: bytes) -> bool:
    """True if lines are objects with a loss, as Python prints them; no table has these for rows."""
    text = content[:DETECTED_BYTES].decode("utf-8-sig", "replace")
    if "{" not in text or is_json(text):
        return False
    lines = _lines(text)
    own = (one for one in _parsed(text)[0] if one.braced and one.has_loss)
    return any(
        lines[one.line - 1].startswith("{") and _ends_line(lines[one.line - 1]) for one in own
    )


def _ends_line(line: str) -> bool:
    """True if an object ends on this line, in no cell of a table."""
    return "\t" not in line and line.rstrip(" ,]").endswith("}")


def read(name: str, content: bytes) -> Log:
    """The curves of all entries, and the lines that had none. Raises Problem where there is no
    entry of a loss."""
    entries, left = _parsed(content.decode("utf-8-sig", "replace"))
    if not any(entry.has_loss for entry in entries):
        raise Problem("run_nothing_logged", name=name)
    if len(entries) > MAX_POINTS:
        raise Problem("run_too_long", most=MAX_POINTS)
    steps, counted = _steps(entries)
    points = (
        (name, step, math.nan if value.lower() in ("none", "null") else value)
        for entry, step in zip(entries, steps, strict=True)
        for name, value in entry.values.items()
        if plain_name(name) not in STEP_NAMES and not EPOCH.search(name)
    )
    step = ROWS if counted else ""
    epochs = last_epoch(entry.epoch for entry in entries)
    return Log("console", curves_of(points), step=step, left_lines=tuple(left), epochs=epochs)


def _lines(text: str) -> list[str]:
    text = plain_signs(_ESCAPES.sub("", text))
    text = _CHINESE_EPOCH.sub(r"epoch=\1 ", _CHINESE_STEP.sub(r"step=\1 ", text))
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parsed(text: str) -> tuple[list[_Entry], list[int]]:
    """The entries in their order, and the numbers of the lines in which nothing was read."""
    lines = _lines(text)
    whole = "\n".join(lines)
    entries: list[_Entry] = []
    bars: dict[int, int] = {}
    used: set[int] = set()
    heading = ""
    for line, piece, braced in _pieces(whole):
        if not braced:
            used |= {line} if _follow(piece, bars) else set()
        values = _values(piece, braced)
        if _is_entry(values, braced):
            entries.append(_Entry(line, braced, values, dict(bars), heading))
            used |= set(range(line, line + piece.count("\n") + 1))
        elif not braced and (epochs := [one for one in values if EPOCH.search(one)]):
            heading = values[epochs[0]]
            used.add(line)
    if not any(entry.has_loss for entry in entries):
        for line, topic, value in losses_in(lines):
            entries.append(_Entry(line, False, {topic: value}))
            used.add(line)
    left = [at for at, line in enumerate(lines, 1) if at not in used and _says_something(line)]
    return entries, left


def _says_something(line: str) -> bool:
    return bool(re.search(r"\w", line))


def _pieces(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each object, and each line between objects, with its first line and whether it is an
    object; in the order of the text."""
    at, line = 0, 1
    for found in _OBJECT.finditer(text):
        for piece in text[at : found.start()].split("\n"):
            yield line, piece, False
            line += 1
        line -= 1
        yield line, found[0], True
        line += found[0].count("\n")
        at = found.end()
    for piece in text[at:].split("\n"):
        yield line, piece, False
        line += 1


def _follow(line: str, bars: dict[int, int]) -> bool:
    """Note where the progress bar of a line stands; whether the line has a bar."""
    if not _RATE.search(line) or not (found := _COUNT.search(line)):
        return False
    title = _TITLE.search(line)
    of_training = title is None or not title["title"] or _TRAINING.search(title["title"])
    total = int(found[2])
    if of_training and (total in bars or len(bars) < MAX_BARS):
        bars[total] = int(found[1])
    return True


def _values(piece: str, braced: bool) -> dict[str, str]:
    """Read the values of a line or an object, by name.

    A share such as 3/8 is a value only for a step or an epoch, and its first number counts. Where
    an object quotes its names, unquoted ones are texts.
    """
    found = {}
    quoted = braced and bool(re.search("[\"']", piece))
    for one in _ENTRY.finditer(piece):
        name = (one["quoted"] or one["name"] or one["word"]).strip()
        if (quoted and not one["quoted"]) or _NO_METRIC.search(name):
            continue
        if name.count("(") != name.count(")"):  # the end of a longer one: "Data (t)"
            continue
        shared = one["total"] is not None
        if not shared or plain_name(name) in STEP_NAMES or EPOCH.search(name):
            found[name] = one["value"]
    return found


def _is_entry(values: dict[str, str], braced: bool) -> bool:
    """True if these are of a training and no settings: a loss, a held-out figure, or an object with
    a step."""
    if any(is_loss(name) or _HELD_OUT.search(name) for name in values):
        return True
    return braced and any(plain_name(name) in STEP_NAMES for name in values)


def _steps(entries: Sequence[_Entry]) -> tuple[list[float], bool]:
    """The step of each entry, and whether entries were counted for want of any."""
    trained = [entry for entry in entries if entry.has_loss]
    if all(entry.step for entry in trained):
        return _unwound([entry.step and entry.step[1] for entry in entries], entries), False
    total = _main_bar(trained)
    if total is not None and all(total in entry.bars for entry in trained):
        return _unwound([entry.bars.get(total) for entry in entries], entries), False
    count, found = 0, []
    for entry in entries:
        count += any(is_loss(name) and not _HELD_OUT.search(name) for name in entry.values)
        found.append(float(max(count, 1)))
    return found, True


def _main_bar(trained: Sequence[_Entry]) -> int | None:
    """The total of the bar that moves most from entry to entry; None without one that moves."""
    seen = {(total, at) for entry in trained for total, at in entry.bars.items()}
    moves = Counter(total for total, _ in seen).most_common(1)
    return moves[0][0] if moves and moves[0][1] >= min(2, len(trained)) else None


def _unwound(steps: Sequence[float | None], entries: Sequence[_Entry]) -> list[float]:
    """Steps that go on rising where each epoch counts its own anew; an entry without a step has
    that of the entry before."""
    found: list[float] = []
    before, offset, epoch, heading = 0.0, 0.0, None, ""
    for step, entry in zip(steps, entries, strict=True):
        at = before if step is None else step
        later = epoch is None or entry.epoch is None or entry.epoch > epoch
        is_global = entry.step is not None and entry.step[0].startswith("global")
        is_next = epoch is not None and entry.epoch is not None and entry.epoch > epoch
        anew = (entry.heading != heading or (is_next and step is not None)) and at <= before
        if (anew or (at < before and later)) and not is_global:
            offset += before
        before, epoch = at, entry.epoch if entry.epoch is not None else epoch
        heading = entry.heading
        found.append(at + offset)
    return found
