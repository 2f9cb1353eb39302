"""Reader of the console output of a training: Trainer, Lightning, Keras or a custom loop.

It reads objects in braces (JSON or a printed dict), lines with `loss=0.69`, `loss: 0.69` or
`loss 0.69`, and plain sentences in a short text that has neither. Steps are those named there, else
the counts of the progress bar, else the numbers of the entries.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lossprism.explorer.lab.doctor.logs.log import (
    EPOCH_NAME,
    MAX_POINTS,
    ROW_NUMBERS,
    STEP_NAMES,
    Log,
    curves_of,
    is_loss,
    last_epoch,
    number_in,
)
from lossprism.explorer.lab.doctor.logs.losses_in_sentences_reader import (
    losses_in,
    with_ascii_signs,
)
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.json_rows import is_json

SNIFFED_BYTES = 2**20  # of a file, to recognise it
MIN_ENTRY_SHARE = 0.2  # share of lines that must be entries, if none is in braces
MAX_BARS = 8  # progress bars with different totals

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OBJECT = re.compile(r"\{(?:[^{}]|\{[^{}]*+\})*+\}")
_NUMBER = (
    r"(?P<value>[-+−]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d+(?:,\d+)+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|"
    r"nan|inf(?:inity)?)|none|null)"
)
_VALUE_END = r"(?:/ *(?P<total>\d+(?:,\d{3})*))?(?=[.!?。]?(?:$|[\s;|\])}\"'…]|,(?!\d)|:(?!\d)))"
_FIRST_WORD = (
    r"(?:(?:train|training|val|valid|validation|eval|test|grad|gradient|learning|global) )?"
)
_VALUE_NAME = (
    r"(?:[\"'](?P<quoted>[^\"'\n]{1,80})[\"']\s*:"
    r"|(?<![\w/.])(?!(?<=:)\w+:\d+(?![.\d]))"  # "train:loop:88" is a place in a program
    rf"(?P<name>{_FIRST_WORD}[A-Za-z_一-鿿][\w./()@-]*)\s*[:=]"
    r"|(?<![\w/.-])(?P<word>(?:[\w.-]+/)*"
    rf"(?:{_FIRST_WORD}(?:[a-z]+_)*loss|(?:global[ _])?step|iter(?:ation)?|epoch|"
    r"[一-鿿]*损失|步数|轮次))\b(?=[ \[]))"
)
_ENTRY = re.compile(rf"{_VALUE_NAME}\s*[\"'\[]?(?:tensor\()?{_NUMBER}{_VALUE_END}", re.I)
_PROGRESS_COUNT = re.compile(r"(?<![\d/:.])(?<!epoch )(\d{1,12})/(\d{1,12})(?![\d/])", re.I)
_PROGRESS_RATE = re.compile(r"it/s|s/it|s/step")
_COUNT_IN_BRACKETS = re.compile(r".*\[ *(\d{1,12})/(\d{1,12}) *\]")  # the last, which moves most
_RANK = re.compile(r"\W*(?:local_)?(?:rank|default)[ _:=]*(\d{1,4})\b", re.I)
_PROGRESS_TITLE = re.compile(r"^\s*(?P<title>[^|%]*?):?\s*\d+%\|")
_TRAINING_TITLE = re.compile(r"^(?:epoch|train|step|iter|global)", re.I)
_NOT_A_METRIC = re.compile(r"\.[a-z]{1,4}$|^(?:cuda|device|rank|pid|seed|v_num)$", re.I)
_HELD_OUT_NAME = re.compile(
    r"^(?:eval|val|valid|validation|test|dev)[ _/]|^(?:验证|测试|评估)", re.I
)
_BESIDE_VALUE = re.compile(r"\W*+(?:\w++:)?\W*+")
# Names in a line of a log in JSON lines: of its message, and of what stands beside that.
_MESSAGE_NAMES = ("message", "msg", "event", "log")
_BESIDE_MESSAGE = ("level", "levelname", "severity", "time", "timestamp", "@timestamp", "asctime")
_CHINESE_STEP, _CHINESE_EPOCH = (re.compile(rf"第\s*(\d+)\s*{unit}") for unit in "步轮")


@dataclass
class _Entry:
    """Values of one object or line, as text. `bars` maps the total of each progress bar to its
    count; `heading` is the epoch that an earlier line announces; `rank` that of the process, 0
    where its line names none."""

    line: int
    braced: bool
    values: dict[str, str]
    bars: dict[int, int] = field(default_factory=dict)
    heading: str = ""
    rank: int = 0

    @property
    def step(self) -> tuple[str, float] | None:
        """Name and number of the step, by the precedence of `STEP_NAMES`."""
        named = {plain_name(name): value for name, value in self.values.items()}
        steps = ((name, number_in(named[name])) for name in STEP_NAMES if name in named)
        return next(((name, at) for name, at in steps if at is not None), None)

    @property
    def epoch(self) -> float | None:
        named = (value for name, value in self.values.items() if EPOCH_NAME.search(name))
        return next((at for one in named if (at := number_in(one)) is not None), None)

    @property
    def has_loss(self) -> bool:
        return any(map(is_loss, self.values))


def plain_name(name: str) -> str:
    """Return a name in lower case without its prefix: "trainer/global_step" → "global_step"."""
    plain = name.strip().lower().replace(" ", "_")
    return plain if plain in STEP_NAMES else plain.rpartition("/")[2]


def is_console(content: bytes) -> bool:
    """True if a text logs a training loss: in an object at the end of a line, alone in a line, or
    in at least `MIN_ENTRY_SHARE` of the lines other than progress bars."""
    if b"loss" not in content.lower() and "损失".encode() not in content:
        return False
    text = content[:SNIFFED_BYTES].decode("utf-8-sig", "replace")
    entries, left = _parsed(text)
    with_loss = [entry for entry in entries if entry.has_loss]
    lines = _lines(text)
    places = dict.fromkeys((one.line - 1, one.braced) for one in with_loss)  # each line once
    if any((_ends_line if braced else _is_value_alone)(lines[at]) for at, braced in places):
        return True
    return bool(with_loss) and len(with_loss) >= MIN_ENTRY_SHARE * (len(entries) + len(left))


def prints_objects(content: bytes) -> bool:
    """True if lines are dicts with a loss, as Python prints them: such a text is no table."""
    text = content[:SNIFFED_BYTES].decode("utf-8-sig", "replace")
    if "{" not in text or is_json(text):
        return False
    lines = _lines(text)
    first = (lines[one.line - 1] for one in _parsed(text)[0] if one.braced and one.has_loss)
    return any(line.startswith("{") and _ends_line(line) for line in first)


def _ends_line(line: str) -> bool:
    """True if an object ends this line and the line is no row of a table."""
    return "\t" not in line and line.rstrip(" ,]").endswith("}")


def _is_value_alone(line: str) -> bool:
    """True if a line has one value with its name and at most a word before: "wandb: loss 0.69"."""
    return _BESIDE_VALUE.fullmatch(_ENTRY.sub("", line, count=1)) is not None


def messages_in(content: bytes) -> bytes:
    """Return the messages of a log of JSON lines, a line each; nothing of any other text, or
    without a loss.

    A line of a log has a message and beside it a level or a time (structlog, loguru, Docker).
    """
    if not content.lstrip().startswith(b"{"):
        return b""
    messages = []
    for line in content.splitlines():
        if (message := _message_of(line)) is None and not messages:
            return b""
        messages.append(message or "")
    have_loss = any(is_loss(name) for one in messages for name in _values(one, braced=False))
    return "\n".join(messages).encode("utf-8", "replace") if have_loss else b""


def _message_of(line: bytes) -> str | None:
    try:
        entry = read_json(line)
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    entry = entry["record"] if isinstance(entry.get("record"), dict) else entry
    found = (entry[name] for name in _MESSAGE_NAMES if isinstance(entry.get(name), str))
    is_log = not entry.keys().isdisjoint(_BESIDE_MESSAGE)
    return " ".join(next(found, "").split()) if is_log else None


def read(name: str, content: bytes) -> Log:
    """Read the curves of all entries, and the lines without one. Raises Problem without a loss."""
    entries, left = _parsed(content.decode("utf-8-sig", "replace"))
    if not any(entry.has_loss for entry in entries):
        raise Problem("run_nothing_logged", name=name)
    if len(entries) > MAX_POINTS:
        raise Problem("run_too_long", most=MAX_POINTS)
    points: list[tuple[str, float, str | float]] = []
    counted = False
    ranks = sorted({entry.rank for entry in entries})
    for rank in ranks:
        own = [entry for entry in entries if entry.rank == rank]
        steps, counts_rows = _steps(own)
        counted |= counts_rows
        prefix = "" if rank == ranks[0] else f"rank {rank} · "
        points += (
            (prefix + name, step, math.nan if value.lower() in ("none", "null") else value)
            for entry, step in zip(own, steps, strict=True)
            for name, value in entry.values.items()
            if plain_name(name) not in STEP_NAMES and not EPOCH_NAME.search(name)
        )
    step = ROW_NUMBERS if counted else ""
    epochs = last_epoch(entry.epoch for entry in entries)
    return Log("console", curves_of(points), step=step, left_lines=tuple(left), epochs=epochs)


def _lines(text: str) -> list[str]:
    text = with_ascii_signs(_ESCAPES.sub("", text))
    text = _CHINESE_EPOCH.sub(r"epoch=\1 ", _CHINESE_STEP.sub(r"step=\1 ", text))
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parsed(text: str) -> tuple[list[_Entry], list[int]]:
    """Return the entries in order, and the numbers of the lines in which nothing was read."""
    lines = _lines(text)
    whole = "\n".join(lines)
    entries: list[_Entry] = []
    bars: dict[int, int] = {}
    used: set[int] = set()
    heading = ""
    for line, piece, braced in _pieces(whole):
        if not braced:
            used |= {line} if _update_bars(piece, bars) else set()
        values = _values(piece, braced)
        if _is_entry(values, braced):
            found = _RANK.match(lines[line - 1])
            rank = int(found[1]) if found else 0
            entries.append(_Entry(line, braced, values, dict(bars), heading, rank))
            used |= set(range(line, line + piece.count("\n") + 1))
        elif not braced and (epochs := [one for one in values if EPOCH_NAME.search(one)]):
            heading = values[epochs[0]]
            used.add(line)
    if not any(entry.has_loss for entry in entries):
        for line, topic, value in losses_in(lines):
            entries.append(_Entry(line, False, {topic: value}))
            used.add(line)
    left = [at for at, line in enumerate(lines, 1) if at not in used and re.search(r"\w", line)]
    return entries, left


def _pieces(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (number of its first line, text, True for an object) of each object and of each line
    between objects, in order."""
    at, line = 0, 1
    for match in _OBJECT.finditer(text):
        for piece in text[at : match.start()].split("\n"):
            yield line, piece, False
            line += 1
        line -= 1
        yield line, match[0], True
        line += match[0].count("\n")
        at = match.end()
    for piece in text[at:].split("\n"):
        yield line, piece, False
        line += 1


def _update_bars(line: str, bars: dict[int, int]) -> bool:
    """Store the count of a line's progress bar of training; return whether the line has a bar."""
    has_rate = _PROGRESS_RATE.search(line)
    count = _PROGRESS_COUNT.search(line) if has_rate else _COUNT_IN_BRACKETS.match(line)
    if not count:
        return False
    title = _PROGRESS_TITLE.search(line)
    of_training = title is None or not title["title"] or _TRAINING_TITLE.search(title["title"])
    total = int(count[2])
    if of_training and (total in bars or len(bars) < MAX_BARS):
        bars[total] = int(count[1])
    return True


def _values(piece: str, braced: bool) -> dict[str, str]:
    """Return the values of a line or an object by name.

    A fraction such as 3/8 is read only for steps and epochs, as its first number. If an object
    quotes its names, unquoted ones are text.
    """
    values = {}
    quoted = braced and bool(re.search("[\"']", piece))
    for one in _ENTRY.finditer(piece):
        name = (one["quoted"] or one["name"] or one["word"]).strip()
        if (quoted and not one["quoted"]) or _NOT_A_METRIC.search(name):
            continue
        if name.count("(") != name.count(")"):  # the end of a longer one: "Data (t)"
            continue
        counts = plain_name(name) in STEP_NAMES or EPOCH_NAME.search(name) is not None
        if counts or one["total"] is None:
            values[name] = _with_point(one["value"], counts)
    return values


def _with_point(number: str, counts: bool) -> str:
    """Return a number without commas: they separate the thousands of a count, or of a number with a
    point or several commas, and else stand before decimals.

    >>> _with_point("1,000", True), _with_point("0,6931", False), _with_point("1,234.5", False)
    ('1000', '0.6931', '1234.5')
    """
    groups = counts or "." in number or number.count(",") > 1
    return number.replace(",", "" if groups else ".")


def _is_entry(values: dict[str, str], braced: bool) -> bool:
    """True for values of a training, not settings: a loss, a held-out metric, or an object with a
    step."""
    if any(is_loss(name) or _HELD_OUT_NAME.search(name) for name in values):
        return True
    return braced and any(plain_name(name) in STEP_NAMES for name in values)


def _steps(entries: Sequence[_Entry]) -> tuple[list[float], bool]:
    """Return the step of each entry, and whether they are only counted because none is logged."""
    trained = [entry for entry in entries if entry.has_loss]
    if all(entry.step for entry in trained):
        return _continuous([entry.step and entry.step[1] for entry in entries], entries), False
    total = _main_bar(trained)
    if total is not None and all(total in entry.bars for entry in trained):
        return _continuous([entry.bars.get(total) for entry in entries], entries), False
    count, steps = 0, []
    for entry in entries:
        count += any(is_loss(name) and not _HELD_OUT_NAME.search(name) for name in entry.values)
        steps.append(float(max(count, 1)))
    return steps, True


def _main_bar(trained: Sequence[_Entry]) -> int | None:
    """Return the total of the bar that moves most between entries, also from the end of an epoch
    to that of the next; None if no bar moves."""
    seen = {
        (total, at, entry.epoch, entry.heading)
        for entry in trained
        for total, at in entry.bars.items()
    }
    moves = Counter(total for total, *_ in seen).most_common(1)
    return moves[0][0] if moves and moves[0][1] >= min(2, len(trained)) else None


def _continuous(steps: Sequence[float | None], entries: Sequence[_Entry]) -> list[float]:
    """Make steps rise across epochs that each restart the count. An entry without a step has that
    of the entry before."""
    continuous: list[float] = []
    before, offset, epoch, heading = 0.0, 0.0, None, ""
    for logged, entry in zip(steps, entries, strict=True):
        step = before if logged is None else logged
        may_be_later = epoch is None or entry.epoch is None or entry.epoch > epoch
        is_global = entry.step is not None and entry.step[0].startswith("global")
        is_later = epoch is not None and entry.epoch is not None and entry.epoch > epoch
        begins_epoch = entry.heading != heading or (is_later and logged is not None)
        restarts = (begins_epoch and step <= before) or (step < before and may_be_later)
        if restarts and not is_global:
            offset += before
        before, epoch = step, entry.epoch if entry.epoch is not None else epoch
        heading = entry.heading
        continuous.append(step + offset)
    return continuous
