"""Each convention beside the installed library that it is named after, on random batches.

``python -m benchmarks conventions``: value and gradient in float64, over random sizes, vectors and
kinds of labels. A library that is not installed is not asked; those that need Python packages of
other versions are asked in an environment of their own, by ``--library``.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from benchmarks import report
from benchmarks.machine import describe
from lossprism.explorer.core.batch import Batch
from lossprism.explorer.lab.compare.callable_library_peers import CallablePeer, peers_of
from lossprism.explorer.lab.compare.library_loss_calls import Call
from lossprism.explorer.lab.compare.library_parity import Agreement, Odd, call_library
from lossprism.explorer.lab.compare.parity_batches import ODD_LABELS, odd_for, seeded_batch
from lossprism.losses import LOSSES, LossSpec

BATCHES = 200
ROUNDING = 1e-14
FLOAT32 = "parity.because.float32"  # of a library that computes in it, whatever it is given
HEADS = ("library", "loss", "convention", "called", "batches", "value", "gradient", "not compared")


@dataclass
class Comparison:
    """A library under one convention: its worst relative differences, and how many batches were
    not compared in numbers, by the reason."""

    peer: CallablePeer
    own: LossSpec
    convention: str
    by_value: float = 0.0
    by_gradient: float = 0.0
    batches: int = 0
    not_compared: Counter[str] = field(default_factory=Counter)
    differs: list[int] = field(default_factory=list)

    def add(self, seed: int, found: Odd) -> None:
        self.batches += 1
        if found.status == "differs" and found.peer and _is_rounding(found.peer):
            self.not_compared["too near 0"] += 1
        elif found.status in ("differs", "failed"):
            self.differs.append(seed)
        elif found.peer is None or any(one.key != FLOAT32 for one in found.because):
            self.not_compared[found.because[0].key.rpartition(".")[2]] += 1
        else:
            self.by_value = max(self.by_value, found.peer.by_value.relative)
            self.by_gradient = max(self.by_gradient, found.peer.by_gradient.relative)

    def cells(self) -> list[str]:
        reasons = [f"{count} {reason}" for reason, count in sorted(self.not_compared.items())]
        reasons += [f"DIFFERS at {self.differs}"] if self.differs else []
        return [
            f"{self.peer.library} {self.peer.version}",
            self.own.name,
            self.convention or "ours",
            self.peer.called,
            str(self.batches),
            f"{self.by_value:.0e}",
            f"{self.by_gradient:.0e}",
            ", ".join(reasons) or "–",
        ]


def _is_rounding(found: Agreement) -> bool:
    """Return whether both gaps are rounding of float64 near 1, so that the loss and its slope are
    0."""
    return max(found.by_value.absolute, found.by_gradient.absolute) <= ROUNDING


def random_batch(seed: int, kinds: Iterable[str]) -> tuple[str, Batch]:
    """A batch of random size, and which of the kinds of labels it has; "" for the usual ones."""
    draw = random.Random(seed)
    size = draw.randint(3, 10), draw.randint(2, 5), 2 * draw.randint(2, 12)
    batch, kind = seeded_batch(seed, *size), draw.choice(["", *kinds])
    return kind, ODD_LABELS[kind](batch) if kind else batch


def comparisons(
    batches: int, chosen: Callable[[CallablePeer], bool], losses: Iterable[LossSpec]
) -> Iterator[Comparison]:
    """Compare each chosen library that is installed under each convention."""
    for own in losses:
        for convention in ("", *(one.name for one in own.conventions)):
            for peer in peers_of(own.under(convention), convention):
                if peer.load and peer.version and chosen(peer):
                    yield compared(Comparison(peer, own, convention), peer.load(), batches)


def compared(found: Comparison, call: Call, batches: int) -> Comparison:
    kinds = odd_for(found.peer.reads.values())
    for seed in range(batches):
        kind, batch = random_batch(seed, kinds)
        found.add(seed, call_library(kind, batch, call, found.peer, found.own, found.convention))
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks conventions", description=__doc__)
    parser.add_argument("--batches", type=int, default=BATCHES, help="for each convention")
    about = "ask this one, as pip calls it (may be repeated); all that are installed if left out"
    parser.add_argument("--library", action="append", default=[], help=about)
    parser.add_argument("--without", action="append", default=[], help="do not ask this one")
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    place = report.folder(chosen, whole=not chosen.library and chosen.batches >= BATCHES)

    def is_called(peer: CallablePeer) -> bool:
        named = not chosen.library or peer.library in chosen.library
        return named and peer.library not in chosen.without

    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, on odd labels
        for one in comparisons(chosen.batches, is_called, LOSSES.values()):
            rows.append(one.cells())
            print(report.line(rows[-1]), flush=True)
    if place:
        title = "Conventions beside the libraries that they are named after"
        report.write(place, "conventions", title, describe(), (HEADS, sorted(rows)))
