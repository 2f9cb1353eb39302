"""The names of losses made of losses: ``info_nce+angle``, ``matryoshka(cosent)+alignment``.

A sum has a plus between its parts, each loss once. ``matryoshka(info_nce)`` is the loss on the
whole vectors, on their first half and on their first quarter; ``matryoshka(info_nce,256,64)`` on
the first 256 dimensions and on the first 64. ``queue(info_nce)`` has vectors of earlier batches as
further keys (`losses.combined.vector_queue`). The weights, and the length of a queue, are no part
of the name: they are parameters. Blanks beside a sign are read over, ``info_nce + angle``, and
stand in no name that is given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lossprism.losses.combined.vector_queue import QUEUED
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.spec import LossSpec

MAX_PARTS, MAX_PREFIXES, LONGEST_PREFIX = 4, 6, 65_536
SHARES: Mapping[float, str] = {1.0: "whole", 0.5: "half", 0.25: "quarter"}


@dataclass(frozen=True)
class Recipe:
    """A common combination: the weights that are not 1, and its other names, first the one shown
    beside its title."""

    weights: Mapping[str, float] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


RECIPES: Mapping[str, Recipe] = {
    "info_nce+angle": Recipe(
        {"weight_of_angle": 0.02}, ("AnglE's trainer", "AnglE trainer", "ibn+angle")
    ),
    # Piccolo2 takes the one or the other by the data; here both see one batch.
    "info_nce+cosent": Recipe(
        aliases=("Piccolo2", "Piccolo"), references=("Huang et al. 2024 (Piccolo2)",)
    ),
    "alignment+uniformity": Recipe(
        aliases=("Wang & Isola", "alignment and uniformity", "align_uniform")
    ),
    "matryoshka(info_nce)": Recipe(
        aliases=("MRL", "MatryoshkaLoss", "Matryoshka", "Matryoshka representation learning"),
        references=("Kusupati et al. 2022 (MRL)",),
    ),
    "queue(info_nce)": Recipe(
        aliases=(
            "MoCo",
            "MoCo v2",
            "XBM",
            "CrossBatchMemory",
            "cross-batch memory",
            "memory bank",
            "queue",
        )
    ),
}
# Of a name: longer than any sum of losses and lengths that there are.
MAX_NAME_LETTERS = 1000
# A loss by another of its names on prefixes, or with a queue.
WRAPPED = re.compile(r"(matryoshka|queue)\(([^(),]+)((?:,\d+)*)\)", re.IGNORECASE)
_SUMMAND = re.compile(r"(\w+)|matryoshka\((\w+)((?:,[1-9]\d{0,4})*)\)|queue\((\w+)\)")


_SIGN = re.compile(r"\s*([+(),])\s*")


@dataclass(frozen=True)
class Summand:
    """A loss of a sum; with `prefixes`, lengths or shares, on each of these alone; `queued`, with
    vectors of earlier batches."""

    loss: str
    prefixes: tuple[float, ...] = ()
    queued: bool = False

    def __str__(self) -> str:
        if self.queued:
            return f"queue({self.loss})"
        if not self.prefixes:
            return self.loss
        lengths = "" if self.prefixes == tuple(SHARES) else ",".join(map(str, self.prefixes))
        return f"matryoshka({','.join(filter(None, (self.loss, lengths)))})"


def without_blanks(name: str) -> str:
    """Return the name without blanks around it and beside its signs.

    >>> without_blanks(" matryoshka(info_nce, 256, 64) + angle")
    'matryoshka(info_nce,256,64)+angle'
    """
    return _SIGN.sub(r"\1", name).strip()


def name_of(summands: tuple[Summand, ...]) -> str:
    """Return the name of the sum, which `summands_of` reads."""
    return "+".join(map(str, summands))


def summands_of(name: str, losses: Mapping[str, LossSpec]) -> tuple[Summand, ...]:
    """Parse the name of a sum, a loss on prefixes or one with a queue; else return nothing.

    Nothing, too, if a loss is not one of `losses`, is the user's own, is repeated, does not compare
    vectors and should see prefixes of them, or takes no queue and should have one; if a prefix has
    an odd length, or is repeated; and if there are more than `MAX_PARTS` or `MAX_PREFIXES`.
    """
    if len(name) > MAX_NAME_LETTERS:
        return ()
    summands = []
    for text in without_blanks(name).split("+"):
        match = _SUMMAND.fullmatch(text)
        if match is None:
            return ()
        alone, nested, lengths, queued = match.groups()
        prefixes = tuple(map(int, lengths.split(",")[1:])) if lengths else ()
        prefixes = prefixes or (tuple(SHARES) if nested else ())
        summands.append(Summand(alone or nested or queued, prefixes, bool(queued)))
    named = [one.loss for one in summands]
    plain = len(summands) == 1 and summands[0] == Summand(summands[0].loss)
    if plain or len(summands) > MAX_PARTS or len(set(named)) < len(named):
        return ()
    return tuple(summands) if all(_is_one(one, losses) for one in summands) else ()


def _is_one(summand: Summand, losses: Mapping[str, LossSpec]) -> bool:
    spec, lengths = losses.get(summand.loss), summand.prefixes
    if spec is None or spec.group in ("own", "combined"):
        return False
    if not lengths:
        return not summand.queued or summand.loss in QUEUED
    fits = len(lengths) <= MAX_PREFIXES and len(set(lengths)) == len(lengths)
    even = all(length in SHARES or length % 2 == 0 for length in lengths)
    return fits and even and max(lengths) <= LONGEST_PREFIX and takes_prefixes(spec)


def takes_prefixes(spec: LossSpec) -> bool:
    """Return whether a loss compares vectors, or similarities of pairs, which prefixes also
    have."""
    made_of = {READABLE[what].made_of for what in spec.reads.values()}
    whole = {"prototypes", "level_scores", "pair_logits", "teacher_embeddings"}
    return bool(made_of & {"vectors", "scores"}) and not whole & set(spec.reads.values())
