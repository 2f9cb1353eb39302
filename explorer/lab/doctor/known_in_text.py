"""Reader of what a sentence, a line of Python or YAML, or flags name beside a number.

The loss by its class, the batch size, temperature or scale, margin, hard negatives, and classes.
"""

import re
from typing import Any

from lossprism.explorer.lab.doctor.known_loss_and_batch import COUNTS, Known, possible_losses
from lossprism.explorer.lab.doctor.logs.values_in_sentences import with_ascii_signs
from lossprism.explorer.runtime.problem import Problem

MIN_NAME_LETTERS = 5  # of a loss whose name does not end in "Loss": NDCG and CLIP are others, too
_NUMBER = r"(\d*\.\d+(?:e-?\d+)?|\d+(?:e-?\d+)?(?!,\d))(?![\w%/]|\.\d)"
_IS = r"(?:\s*(?:[:=]|of|is|为|是)\s*|\s+)"


def _named(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z_.])(?:--)?(?:{names}){_IS}{_NUMBER}", re.I)


_GROUP = "group"  # of FlagEmbedding and Tevatron: a positive with its hard negatives
_WRITTEN = (
    ("batch", _named(r"(?:per_device_)?(?:train_)?batch[ _-]?size|bsz?|批大小|批量(?:大小)?")),
    ("temperature", _named(r"(?<!gpu )temperature|tau|τ|温度(?:系数)?")),
    ("scale", _named("(?<!loss )(?:logit_)?scale")),
    ("margin", _named("margin|间隔")),
    ("classes", _named("(?:num_|n_)?classes")),
    ("classes", re.compile(r"(?<![\d.])(\d+) classes", re.I)),
    (_GROUP, _named("train_group_size")),
    ("negatives", _named("(?:num_|n_)?hard_negatives")),
    ("negatives", re.compile(r"(?<![\d.])(\d+)(?: hard negative|\s*个?困?难负(?:样本|例))", re.I)),
)
# A batch without "size", where nothing counts the batches of an epoch.
_BARE_BATCH = ("batch", re.compile(rf"(?<!\w)batch(?: of)? {_NUMBER}", re.I))
_COUNTS_BATCHES = re.compile(r"epoch|step|iter|步|轮", re.I)
_NAME = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9_+]*")
_CAPITAL_WITHIN = re.compile(r"\w+[A-Z]")


def known_from(text: str) -> tuple[Known, str]:
    """Return what a text says beside a number, and the text without it. What it says in two ways,
    such as two batch sizes or two losses, is left unknown.

    >>> known, rest = known_from("CoSENTLoss, batch_size=64: 4.159")
    >>> known.provided, rest.split()
    ({'loss': 'CoSENTLoss', 'batch': 64}, [',', ':', '4.159'])
    """
    rest = with_ascii_signs(text)
    found: dict[str, set[Any]] = {}
    bare = () if _COUNTS_BATCHES.search(text) else (_BARE_BATCH,)
    for name, pattern in (*_WRITTEN, *bare):
        numbers = {float(match[1]) for match in pattern.finditer(rest)}
        found.setdefault(name, set()).update(numbers)
        rest = pattern.sub(" ", rest)
    found["negatives"] |= {size - 1 for size in found.pop(_GROUP)}
    found["loss"] = {one for one in _NAME.findall(rest) if _is_loss(one)}
    for loss in found["loss"]:
        rest = re.sub(rf"\b{re.escape(loss)}\b", " ", rest)
    possible: dict[str, Any] = {}
    for name, values in found.items():
        value = next(iter(values)) if len(values) == 1 else None
        value = int(value) if name in COUNTS and value is not None and value % 1 == 0 else value
        if value is not None and _is_possible(name, value):
            possible[name] = value
    if "temperature" in possible:
        possible.pop("scale", None)
    return Known(**possible), rest


def _is_possible(name: str, value: Any) -> bool:
    try:
        Known(**{name: value}).checked()
    except Problem:
        return False
    return True


def _is_loss(name: str) -> bool:
    """True for the name of a loss that is written as a class or as in a paper: "CoSENTLoss",
    "InfoNCE"; no word of a sentence, such as "triplet"."""
    is_class = name.endswith("Loss") and name != "Loss"
    if not is_class and (len(name) < MIN_NAME_LETTERS or not _CAPITAL_WITHIN.match(name)):
        return False
    try:
        return bool(possible_losses(Known(loss=name)))
    except Problem:
        return False
