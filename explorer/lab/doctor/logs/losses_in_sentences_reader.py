"""Reader of losses and metrics in plain sentences, as in "my loss is stuck at 0.69"."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lossprism.explorer.sources.cells import without_thousands
from lossprism.explorer.sources.table_in_pasted_text import is_delimited

MAX_LINES, MAX_LETTERS = 20, 1000  # of a text of sentences, and of one of its lines
# A Chinese comma never stands within a number: it becomes a semicolon.
_ASCII = str.maketrans(
    "：＝，、；（）［］｛｝％．－＋｜　−０１２３４５６７８９", ":=;;;()[]{}%.-+| -0123456789"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.@+-])(?<!\d:)(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![A-Za-z_.]*\d)|"
    r"(?:nan|inf(?:inity)?)(?![A-Za-z]))",
    re.I,
)
_TOPIC = re.compile(
    r"(?P<held>(?:eval|val|valid|validation|test|dev|held[- ]?out|验证集?|测试集?|评估)[\s_/的-]*)?"
    r"(?P<topic>(?P<loss>loss(?:es)?(?![a-z]|_(?:type|fn|func|name|weight))|损失|損失|"
    r"(?<![^\W_])(?:verlust|p[eé]rdida|perte|perda|perdita)(?![^\W_]))|acc(?:uracy)?(?![a-z])|准确率|精度|(?:mrr|ndcg)(?:@\d+)?(?![a-z])|"
    r"(?P<other>(?:map|recall|precision|hit)(?:@\d+)?(?![a-z])|f1|召回率))",
    re.I,
)
# Words before and after numbers that are no values of a loss.
_SETTING = re.compile(
    r"(?:(?<![a-z])(?:batch(?:es|größe)?|size|temperature|temp|tau|τ|scale|margin|lr|rate|steps?|epochs?|seed|version|"
    r"group|k|from|per|dropout|warmup|decay|wd|memory|mem)|批大小|批量|批次|温度(?:系数)?|学习率|间隔|步数?|轮|第|"
    r"从|每|显存|内存|耗时|用时)"
    r"(?:\s+(?:of|is|size)|\s*(?:大小)?(?:为|是|设(?:置)?(?:为|成|的|到)))?[\s=:(\"']*$",
    re.I,
)
_COUNTED = re.compile(
    r"\s*(?:(?:hard|random|in-batch|training)\s+)*(?:negatives?|positives?|classes|pairs|rows|"
    r"samples|examples|steps?|epochs?|gpus?|hours?|days?|minutes|candidates|documents|passages|"
    r"个|步|轮|张|条|类|次|小时|天|(?:[GMK]i?B?|m?s|h|it/s|s/it)(?![A-Za-z]))",
    re.I,
)
_APPROXIMATE = re.compile(
    r"[~∼～≈≃≅≒]=?|\b(?:about|around|approximately|approx|roughly|circa|ca|exactly)\b\.?|"
    r"大约|大概|约为?|左右|上下|接近"
)
_SPREAD = re.compile(r"(?:±|\+/-|\+-)\s*[\d.]+%?")
_RANGE = re.compile(r"(?<=\d)\s*(?:[-–—~～]|\bto\b|到|至)\s*(?=\d*\.\d)")
# What Python prints around a number, a decimal comma, and what is computed and no value.
_PRINTED = re.compile(
    r"\b(?:tensor|array|(?:\w+\.)?float\d+)\(\s*([-+.\deE]+)\s*(?:,[^()]*(?:\([^()]*\)[^()]*)?)?\)",
    re.I,
)
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d,]|\.\d)")
_COMPUTED = re.compile(
    r"(?<![\w.])[^\W\d]\w*(?<!loss)(?<!损失)\((?=[^()]*\d)[^()]*\)|\b\d+\s*[/*^×]\s*\d+\b", re.I
)
_OTHER_NAME = re.compile(
    r"(?!value|total|mean|average|avg|值)(?<!\w)([^\W\d]\w*(?:\([^()]*\))?)\s*=\s*$", re.I
)
_JOINED = re.compile(r"(?<=loss)(?=\d+\.\d)", re.I)  # "loss4.16", as Chinese has no blanks
# A message of Python has sizes and counts; a loss in it is at most not a number: "loss is nan".
PYTHON_ERROR = re.compile(r"\s*(?:\w+\.)*\w+(?:Error|Exception): ")
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%")


class Statement(NamedTuple):
    """Topic of a sentence and its values as text: "loss", "eval_loss", "metric" (accuracy, MRR or
    NDCG, whose chance levels are known) or "other_metric"."""

    topic: str
    values: tuple[str, ...]


def with_ascii_signs(text: str) -> str:
    """Replace full-width signs and digits by ASCII; positions stay.

    >>> with_ascii_signs("loss：０．６９")
    'loss:0.69'
    """
    return text.translate(_ASCII)


def without_approximations(text: str) -> str:
    """Remove words and signs of approximation, and write percentages as fractions.

    >>> [without_approximations(one) for one in ("~0.693", "93.75%", "0.69 ± 0.01")]
    ['0.693', '0.9375', '0.69']
    """
    plain = _PRINTED.sub(r"\1", with_ascii_signs(text))
    text = _APPROXIMATE.sub(" ", _RANGE.sub(" ", _SPREAD.sub("", plain)))
    return _PERCENT.sub(lambda found: _as_fraction(found[1]), text).strip()


def statements_of(line: str) -> list[Statement]:
    """Return the losses and metrics of a sentence with their values.

    Values before the first topic belong to it. Settings and counts, such as a batch size, are left
    out, and so are whole numbers beside decimals. A metric over 1 is read as percent.

    >>> statements_of("with batch 64 my loss is stuck at 0.6931")
    [Statement(topic='loss', values=('0.6931',))]
    >>> statements_of("acc 93.75%"), statements_of("a loss with 3 negatives")
    ([Statement(topic='metric', values=('0.9375',))], [])
    """
    if PYTHON_ERROR.match(line):
        line = re.sub(r"\d", "", line)
    plain = without_thousands(without_approximations(line[:MAX_LETTERS]))
    plain = _DECIMAL_COMMA.sub(r"\1.\2", plain)
    plain = _COMPUTED.sub("computed", plain)
    plain = _JOINED.sub(" ", plain)
    plain = plain.replace("= computed =", "=")  # "loss = ln(64) = 4.16"
    topics = [*_TOPIC.finditer(plain)]
    starts = [0, *(topic.start() for topic in topics[1:])]
    ends = [*starts[1:], len(plain)]
    statements = (
        _statement(topic, [*_values_between(plain, start, end)])
        for topic, start, end in zip(topics, starts, ends, strict=False)
    )
    return [one for one in statements if one.values]


def _values_between(text: str, start: int, end: int) -> Iterator[str]:
    for match in _NUMBER.finditer(text, start, end):
        before = text[: match.start()]
        name = _OTHER_NAME.search(before)
        is_named_otherwise = name is not None and not _TOPIC.search(name[1])
        counts = _SETTING.search(before) or _COUNTED.match(text, match.end())
        if not is_named_otherwise and not counts:
            yield match[0]


def _statement(topic: re.Match[str], numbers: Sequence[str]) -> Statement:
    numbers = [one for one in numbers if not one.isdecimal()] or numbers
    if topic["loss"]:
        return Statement("eval_loss" if topic["held"] else "loss", tuple(numbers))
    shares = (_as_fraction(one) if 1 < float(one) <= 100 else one for one in numbers)
    return Statement("other_metric" if topic["other"] else "metric", tuple(shares))


def losses_in(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, name, value) of each loss in a short text; nothing for JSON or a
    table."""
    written = [line for line in lines if line.strip()]
    has_marks = any("{" in line or "\t" in line for line in written)
    has_paragraphs = "\n\n" in "\n".join(map(str.strip, lines)).strip()  # and so no rows
    is_table = len(written) > 1 and not has_paragraphs and is_delimited(written)
    if len(written) > MAX_LINES or has_marks or is_table:
        return
    for number, line in enumerate(lines, 1):
        for statement in statements_of(line):
            if statement.topic in ("loss", "eval_loss"):
                yield from ((number, statement.topic, value) for value in statement.values)


def _as_fraction(percent: str) -> str:
    """Return a percentage as a fraction with the same digits: "93.75" → "0.9375"."""
    return f"{float(percent) / 100:.{len(percent.partition('.')[2]) + 2}f}"
