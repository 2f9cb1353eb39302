"""Reader of what a sentence, a line of Python or YAML, or flags name beside a number.

The loss by its class, the batch size, temperature or scale, margin, hard negatives, classes, and
processes.
"""

import difflib
import functools
import re
from collections.abc import Mapping
from typing import Any

from lossprism.explorer.lab.doctor.logs.losses_in_sentences_reader import with_ascii_signs
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import COUNTS, Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import plain

SAME_NAME = 0.94  # likeness of two names of which one has a typing error
MIN_NAME_LETTERS = 5  # of a loss whose name does not end in "Loss": NDCG and CLIP are others, too
# A comma is read where it can mean one thing only: 0,05 is a fraction, and a batch of 1,024 whole.
_NUMBER = r"(\d*\.\d+(?:e-?\d+)?|0,\d+|\d+(?:e-?\d+)?(?!,\d))(?![\w%/]|\.\d)"
_THOUSANDS = r"(\d{1,3}(?:,\d{3})+)(?![\w%/]|[.,]\d)"
# Between a name and its number: a sign, a word, the type of a dataclass's field, a bracket.
_IS = (
    r"[\"']?(?:\s*:\s*(?:int|float)\s*=|\s*(?:[:=≈~(]|of|is|was|为|是|设(?:置)?(?:为|成|的|到)|取|用)"
    r"|\s|(?<=[一-鿿]))\s*[\"']?"
)


def _named(names: str, number: str = _NUMBER) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z_./])(?:--)?(?:{names}){_IS}{number}", re.I)


_GROUP = "group"  # of FlagEmbedding and Tevatron: a positive with its hard negatives
_BATCH = r"(?:per_device_)?(?:train_)?batch[ _-]?(?:size|größe|大小)|bsz?|批次?大小|批量(?:大小)?"
_HARD_NEGATIVES = (
    r"(?<![\d.])(\d+)(?: (?:mined )?hard negative|\s*个?困?难负(?:样本|例)"
    r"| negatives? (?:per|for each|each) )"
)
_WRITTEN = (
    ("batch", _named(_BATCH)),
    ("batch", _named(_BATCH, _THOUSANDS)),
    ("temperature", _named(r"(?<!gpu )temp(?:erature)?|tau|τ|温度(?:系数)?")),
    ("scale", _named("(?<!loss )(?<!grad )(?:logit_)?scale")),
    ("margin", _named("(?:triplet_)?margin|间隔")),
    ("classes", _named("(?:num_|n_)?classes")),
    ("classes", re.compile(r"(?<![\d.])(\d+) classes", re.I)),
    (_GROUP, _named("train_group_size")),
    ("negatives", _named("(?:num_|n_)?hard_negatives")),
    ("negatives", re.compile(_HARD_NEGATIVES, re.I)),
    ("processes", _named("nproc[_-]per[_-]node|num_processes|(?:world|dp)_size")),
    ("processes", re.compile(r"(?<![\d.])(\d+) ?(?:[x×] )?(?:gpus\b|[张块个]? ?显?卡)", re.I)),
)
# A batch without "size", where nothing counts the batches of an epoch.
_BARE_BATCH = ("batch", _named("batch"))
# A batch of all processes together.
_WHOLE_BATCH = re.compile(r"(?:effective|total|global)[ _]batch|总批", re.I)
# Marks of bold type and code around words, as in Markdown.
_MARKUP = re.compile(r"[*`]+(?!\d)|(?<!\d)[*`]+")
_COUNTS_BATCHES = re.compile(r"epoch|step|iter|步|轮", re.I)
_NAME = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9_+]*")
_OTHER_CLASS = re.compile(r"\b[A-Z][A-Za-z0-9]+Loss\b")
_CAPITAL_WITHIN = re.compile(r"\w+[A-Z]")


def known_from(text: str) -> tuple[Known, str]:
    """Return what a text says beside a number, and the text without it. What it says in two ways,
    such as two batch sizes or two losses, is left unknown; so is a loss beside another class.

    >>> known, rest = known_from("CoSENTLoss, batch_size=64: 4.159")
    >>> known.provided, rest.split()
    ({'loss': 'CoSENTLoss', 'batch': 64}, [',', ':', '4.159'])
    """
    rest = _MARKUP.sub("", with_ascii_signs(text))
    found: dict[str, set[Any]] = {}
    bare = () if _COUNTS_BATCHES.search(text) else (_BARE_BATCH,)
    for name, pattern in (*_WRITTEN, *bare):
        numbers = {_value(match[1]) for match in pattern.finditer(rest)}
        found.setdefault(name, set()).update(numbers)
        rest = pattern.sub(" ", rest)
    found["negatives"] |= {size - 1 for size in found.pop(_GROUP)}
    if _WHOLE_BATCH.search(text):
        found["processes"] = set()
    names = {one: loss for one in _NAME.findall(rest) if (loss := _loss_named(one))}
    losses = {*names.values()}
    for name in names:
        rest = re.sub(rf"\b{re.escape(name)}\b", " ", rest)
    # The value of a class that wraps another's, such as SpladeLoss, is not that one's.
    found["loss"] = set() if _OTHER_CLASS.search(rest) else losses
    possible: dict[str, Any] = {}
    for name, values in found.items():
        value = next(iter(values)) if len(values) == 1 else None
        value = int(value) if name in COUNTS and value is not None and value % 1 == 0 else value
        if value is not None and _is_possible(name, value):
            possible[name] = value
    if "temperature" in possible:
        possible.pop("scale", None)
    return Known(**possible), rest


def _value(number: str) -> float:
    return float(number.replace(",", "." if number.startswith("0,") else ""))


def _is_possible(name: str, value: Any) -> bool:
    try:
        Known(**{name: value}).checked()
    except Problem:
        return False
    return True


def _loss_named(name: str) -> str:
    """Return the name of a loss that is written as a class or as in a paper: "CoSENTLoss",
    "InfoNCE"; with a typing error corrected. Empty for a word of a sentence, such as "triplet"."""
    is_class = name.endswith("Loss") and name != "Loss"
    if not is_class and (len(name) < MIN_NAME_LETTERS or not _CAPITAL_WITHIN.match(name)):
        return ""
    try:
        return name if possible_losses(Known(loss=name)) else ""
    except Problem:
        close = difflib.get_close_matches(plain(name), _plain_names(), 1, SAME_NAME)
        return _plain_names()[close[0]] if close else ""


@functools.cache
def _plain_names() -> Mapping[str, str]:
    """The names of libraries' classes and of papers, by their letters."""
    names = [name for spec in LOSSES.values() for name in spec.aliases if name.isidentifier()]
    return {plain(name): name for name in reversed(names)}  # the first of one class
