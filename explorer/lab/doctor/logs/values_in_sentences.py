"""Values of a loss or a metric in plain sentences, as in "my loss is stuck at 0.69"."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lossprism.explorer.sources.table_in_pasted_text import is_delimited

MAX_LINES, MAX_LETTERS = 20, 1000  # of a text, and of a line of it, that may be sentences
_ASCII = str.maketrans(
    "：＝，、；（）［］｛｝％．－＋｜　−０１２３４５６７８９", ":=,,;()[]{}%.-+| -0123456789"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.@+-])(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![A-Za-z_.]*\d)|"
    r"(?:nan|inf(?:inity)?)(?![A-Za-z]))",
    re.I,
)
_TOPIC = re.compile(
    r"(?P<held>(?:eval|val|valid|validation|test|dev|held[- ]?out|验证集?|测试集?|评估)[\s_/的-]*)?"
    r"(?P<topic>loss(?:es)?(?![a-z])|损失|acc(?:uracy)?(?![a-z])|准确率|精度|(?:mrr|ndcg|map|recall|"
    r"precision|hit)(?:@\d+)?(?![a-z])|f1|召回率)",
    re.I,
)
# Numbers that are no value of a loss, by the words before and after them.
_SETTING = re.compile(
    r"(?:(?<![a-z])(?:batch(?:es)?|size|temperature|temp|tau|τ|scale|margin|lr|rate|steps?|epochs?|seed|version|"
    r"group|k|from|per)|批大小|批量|批次|温度(?:系数)?|学习率|间隔|步数?|轮|第|从|每)"
    r"(?:\s+(?:of|is|size)|\s*(?:为|是))?[\s=:(]*$",
    re.I,
)
_COUNTED = re.compile(
    r"\s*(?:(?:hard|random|in-batch|training)\s+)*(?:negatives?|positives?|classes|pairs|rows|"
    r"samples|examples|steps?|epochs?|gpus?|hours?|days?|minutes|candidates|documents|passages|"
    r"个|步|轮|张|条|类|次|小时|天)",
    re.I,
)
_ABOUT = re.compile(
    r"[~∼～≈≃≅≒]=?|\b(?:about|around|approximately|approx|roughly|circa|ca|exactly)\b\.?|"
    r"大约|大概|约为?|左右|上下|接近"
)
_SPREAD = re.compile(r"(?:±|\+/-|\+-)\s*[\d.]+%?")
_RANGE = re.compile(r"(?<=\d)\s*(?:[-–—~～]|\bto\b|到|至)\s*(?=\d*\.\d)")
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%")


class Statement(NamedTuple):
    """Topic of a sentence, "loss", "eval_loss" or "metric", and the values in it as text."""

    topic: str
    values: tuple[str, ...]


def plain_signs(text: str) -> str:
    """Return the text with ASCII in place of full-width signs and digits, at the same places.

    >>> plain_signs("loss：０．６９")
    'loss:0.69'
    """
    return text.translate(_ASCII)


def without_doubts(text: str) -> str:
    """Return numbers without the words and signs that call them approximate, and shares for
    percentages.

    >>> without_doubts("~0.693"), without_doubts("93.75%"), without_doubts("0.69 ± 0.01")
    ('0.693', '0.9375', '0.69')
    """
    text = _ABOUT.sub(" ", _RANGE.sub(" ", _SPREAD.sub("", plain_signs(text))))
    return _PERCENT.sub(lambda found: _share(found[1]), text).strip()


def statements_of(line: str) -> list[Statement]:
    """Return what a sentence says of losses and metrics, each with its values; those before the
    first belong to it.

    Settings and counts are left out, such as a batch size or a number of steps; and whole numbers
    beside decimals. A metric over 1 is taken for percent.

    >>> statements_of("with batch 64 my loss is stuck at 0.6931")
    [Statement(topic='loss', values=('0.6931',))]
    >>> statements_of("acc 93.75%"), statements_of("a loss with 3 negatives")
    ([Statement(topic='metric', values=('0.9375',))], [])
    """
    plain = without_doubts(line[:MAX_LETTERS])
    topics = [*_TOPIC.finditer(plain)]
    starts = [0, *(topic.start() for topic in topics[1:])]
    ends = [*starts[1:], len(plain)]
    statements = (
        _statement(topic, [*_values_between(plain, start, end)])
        for topic, start, end in zip(topics, starts, ends, strict=False)
    )
    return [one for one in statements if one.values]


def _values_between(text: str, start: int, end: int) -> Iterator[str]:
    for found in _NUMBER.finditer(text, start, end):
        if not _SETTING.search(text[: found.start()]) and not _COUNTED.match(text, found.end()):
            yield found[0]


def _statement(topic: re.Match[str], numbers: Sequence[str]) -> Statement:
    numbers = [one for one in numbers if not one.isdecimal()] or numbers
    if re.match("loss|损失", topic["topic"], re.I):
        return Statement("eval_loss" if topic["held"] else "loss", tuple(numbers))
    shares = (_share(one) if 1 < float(one) <= 100 else one for one in numbers)
    return Statement("metric", tuple(shares))


def losses_in(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of the line, the name and the value of each loss in a short text; nothing
    of JSON and of a table."""
    written = [line for line in lines if line.strip()]
    marked = any("{" in line or "\t" in line for line in written)
    if len(written) > MAX_LINES or marked or (len(written) > 1 and is_delimited(written)):
        return
    for number, line in enumerate(lines, 1):
        for statement in statements_of(line):
            if statement.topic != "metric":
                yield from ((number, statement.topic, value) for value in statement.values)


def _share(percent: str) -> str:
    """Return the share as it is written with the digits of a percentage: "93.75" → "0.9375"."""
    return f"{float(percent) / 100:.{len(percent.partition('.')[2]) + 2}f}"
