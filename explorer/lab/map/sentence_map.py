"""The map of a batch, a file or a run: sentences as points, pairs as lines with their gradient."""

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.map.neighbours import neighbours_changed
from lossprism.explorer.lab.map.projections import (
    NEIGHBOURS,
    Projection,
    embedded,
    is_installed,
    principal_components,
)
from lossprism.explorer.lab.training.probe_batch_exploration import explored
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_json_types import EvaluationRecord
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.explorer.runtime import resource_checks
from lossprism.explorer.runtime.cancellable_process import call_in_process
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.torch_threads import all_cores
from lossprism.explorer.sources.encoders import locate

MIN_SENTENCES, MAX_SENTENCES = 4, 50_000
# Principal components need the vectors and their centred copy, and what the factorisation takes.
BYTES_PER_COMPONENT = 32
# An embedding computes the distances of all points, a few times over, beside its libraries.
MAX_EMBEDDED = 5000
BYTES_PER_PAIR_OF_POINTS, PROCESS_MIB = 40, 400


@dataclass(frozen=True, eq=False)
class Frame:
    """A moment of a map: points [S, 2] and the gradient of each pair [N]."""

    points: np.ndarray
    gradient: np.ndarray


@dataclass(frozen=True, eq=False)
class SentenceMap:
    """The map of a batch, with one frame, or of a run, before and after.

    A pair n joins the `sentences` [S] of the places `first[n]` and `second[n]`. `projection` is
    that of all frames together, one below the other. `changed` [S] counts for each sentence which
    of its `neighbours` nearest ones a run replaced; None for a batch.
    """

    sentences: Sequence[str]
    first: np.ndarray
    second: np.ndarray
    frames: list[Frame]
    projection: Projection
    steps: tuple[int, ...] = ()
    changed: np.ndarray | None = None
    neighbours: int = 0


def map_of_scenario(scenario: Scenario, method: str, seed: int = 0) -> SentenceMap:
    """Map the sentences of a scenario's batch, with the gradients of its loss.

    Raises:
        Problem: if sentences have no vectors of an encoder, if there are too few or too many, or
            if the library of the method is missing.
    """
    resolved = resolve(scenario)
    batch = resolved.batch
    _check_vectors(batch)
    exploration = explore(resolved, batch)
    return _mapped([exploration], [_units(batch)], method, seed)


def map_of_large_batch(session: LargeSession, method: str, seed: int = 0) -> SentenceMap:
    """Map the sentences of a large batch, each distinct text once, with the gradients of its loss.

    A pair that has no gradient of its own has 0.

    Raises:
        Problem: as `map_of_scenario`.
    """
    batch = session.batch
    if not batch.encoder:
        raise Problem("map_without_encoder")
    firsts, seconds = (
        [side[int(place)] for place in batch.entry] for side in (batch.first, batch.second)
    )
    places = {text: at for at, text in enumerate(dict.fromkeys([*firsts, *seconds]))}
    if len(places) > MAX_SENTENCES:
        raise Problem("map_large", about="size", count=len(places), most=MAX_SENTENCES)
    if len(places) < MIN_SENTENCES:
        raise Problem("map_few", least=MIN_SENTENCES)
    sentences = list(places)
    with all_cores():
        projection = project(directions(locate(batch.encoder).encode(sentences)), method, seed)
    frame = Frame(projection.points, np.nan_to_num(session.gradient))
    first, second = (np.array([places[text] for text in side]) for side in (firsts, seconds))
    return SentenceMap(sentences, first, second, [frame], projection)


def map_of_run(runs: Runs, name: str, method: str, seed: int = 0) -> SentenceMap:
    """Map the probe sentences of an ended run before and after it, in one projection.

    Raises Problem as `map_of_scenario`, and for a run without two recorded moments.
    """
    records = [one for one in runs.history(name) if isinstance(one, EvaluationRecord)]
    probe = runs.probe(name)
    moments = []
    for record in (records[0], records[-1]) if probe and len(records) > 1 else ():
        vectors = runs.probe_vectors(name, record.step)
        if vectors is not None and record.probe:
            moments.append((record, vectors))
    if probe is None or len(moments) < 2:
        raise Problem("map_run_without_vectors")
    plan, guide, teacher = runs.plan(name), runs.probe_guide(name), runs.probe_teacher(name)
    explorations = [
        explored(plan, probe, np.array(one.probe, float), vectors, None, guide, teacher)
        for one, vectors in moments
    ]
    units = [_units(one.batch) for one in explorations]
    _check_vectors(explorations[0].batch)
    count = min(NEIGHBOURS, len(units[0]) - 1)
    return dataclasses.replace(
        _mapped(explorations, units, method, seed),
        steps=tuple(one.step for one, _ in moments),
        changed=neighbours_changed(units[0], units[1], count),
        neighbours=count,
    )


def cell_of_pairs(e: Exploration, pairs: Collection[int]) -> tuple[int, int] | None:
    """Return the heaviest cell of the loss's terms in the rows and columns of these pairs; None for
    terms that are no matrix of pairs, or where the pairs take no part."""
    shares = e.weights.shares if e.weights is not None else None
    symbol = e.spec.symbols.get(e.spec.terms)
    if shares is None or shares.ndim != 2 or symbol is None or len(symbol.axes) != 2:
        return None
    weights = shares.cpu().numpy()
    axes = zip(symbol.axes, weights.shape, strict=True)
    places = [e.batch.axis(name, length) for name, length in axes]
    marked = [
        np.zeros(length, bool) if one is None else np.isin(one[0].cpu().numpy(), list(pairs))
        for one, length in zip(places, weights.shape, strict=True)
    ]
    weights = np.where(marked[0][:, None] | marked[1], weights, 0.0)
    if not weights.max(initial=0.0) > 0:
        return None
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    return int(row), int(column)


def _mapped(
    explorations: list[Exploration], units: list[np.ndarray], method: str, seed: int
) -> SentenceMap:
    projection = project(np.concatenate(units), method, seed)
    frames = [
        Frame(points, e.pair_gradient.detach().cpu().numpy())
        for e, points in zip(explorations, np.split(projection.points, len(units)), strict=True)
    ]
    batch = explorations[0].batch
    sides = batch.first.cpu().numpy(), batch.second.cpu().numpy()
    return SentenceMap(batch.pairs.sentences, *sides, frames, projection)


def project(units: np.ndarray, method: str, seed: int) -> Projection:
    """Project unit vectors [S, D] into a plane; t-SNE and UMAP compute in a process of their own.

    Raises Problem for too many points, and without the library.
    """
    if method == "pca":
        resource_checks.check_memory(beside_mib=BYTES_PER_COMPONENT * units.size // MIB)
        return principal_components(units)
    if not is_installed(method):
        raise Problem(f"map_without_{method}")
    if len(units) > MAX_EMBEDDED:
        raise Problem("map_many", about="size", count=len(units), most=MAX_EMBEDDED)
    beside = PROCESS_MIB + BYTES_PER_PAIR_OF_POINTS * len(units) ** 2 // MIB
    resource_checks.check_memory(beside_mib=beside)
    return call_in_process("embedding", embedded, method, units, seed)


def _check_vectors(batch: Batch) -> None:
    if batch.orthogonal:  # made of scores: there is no encoder
        raise Problem("no_vectors")
    if len(batch.pairs.sentences) < MIN_SENTENCES:
        raise Problem("map_few", least=MIN_SENTENCES)


def _units(batch: Batch) -> np.ndarray:
    return directions(batch.needed_vectors.cpu().numpy())
