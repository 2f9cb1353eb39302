"""A loss at many values of one parameter: the definition run once over all of them.

`torch.func.vmap` runs the definition with the parameter as a batch of numbers, and its gradient
with it. The gradient at the terms takes a sum with a tensor of zeros there, by which is
differentiated too: the one statement of the definition that makes the terms gets it behind it.
What cannot be run so (a definition that makes a Python number of the parameter) is run value by
value, as `explore` does.
"""

import ast
import copy
import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core import pair_gradients, ranks_and_term_weights
from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.function_source import source_of
from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.core.specialised_definitions import accepted, definition_at
from lossprism.explorer.core.trace import function_of
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.python_parsing_lock import parsed
from lossprism.explorer.runtime.resource_checks import check_memory

# Cells of a matrix that are held at once, for all values together, and what that takes at most:
# measured over all values that a sweep has, of the loss that holds most
# (`tests/process/test_request_memory.py`).
MAX_CELLS_AT_ONCE = 2**21
BYTES_PER_CELL, MIB_BESIDE_CELLS = 1000, 560
HARDEST_SHARE = 0.1
# A pass that differs from a single run by more is not taken.
AGREEMENT_TOLERANCE = 1e-10
ADDED_TERMS = "__mass__"


@dataclass(frozen=True)
class Point:
    """A loss at one value: its gradient norm, its `effective` and `active` terms (of `terms`;
    None where it has none), and which share of Σ|gradient of a pair| the tenth of the pairs takes
    that feels most (`hardest`), and which the suspect ones (`suspects`); None where no pair feels
    anything."""

    loss: float
    gradient: float
    effective: float | None
    active: int | None
    terms: int | None
    hardest: float | None
    suspects: float | None


def single_points(
    resolved: Resolved, batch: Batch, name: str, values: Sequence[float]
) -> list[Point]:
    """The loss at each of the values, run value by value. Raises Problem as `explore`."""
    return [point_of(explore(resolved.at(**{name: value}), batch)) for value in values]


def passed_points(
    resolved: Resolved, batch: Batch, name: str, values: Sequence[float]
) -> list[Point] | None:
    """The loss at each of the values in one pass; None where that cannot be.

    Each value agrees with the single run to 1e-10 of itself; the first, the middle and the last are
    run to see that.

    Raises:
        Problem: as `explore`.
    """
    at = functools.cache(lambda place: explore(resolved.at(**{name: values[place]}), batch))
    probes = sorted({0, len(values) // 2, len(values) - 1})
    if len(values) <= len(probes):
        return None
    passed = _in_one_pass(at(0), name, values)
    if passed is None or not all(_agree(passed[k], point_of(at(k))) for k in probes):
        return None
    return passed


def point_of(e: Exploration) -> Point:
    """Return the figures of one exploration for a sweep."""
    weights = e.weights
    return Point(
        loss=e.loss,
        gradient=e.gradient_norm,
        effective=weights and weights.effective,
        active=weights and weights.active,
        terms=weights and weights.terms,
        **_shares(e.pair_gradient, [s.pair for s in e.suspects]),
    )


def _shares(gradient: Tensor, suspects: Sequence[int]) -> dict[str, float | None]:
    felt = gradient.abs()
    total = float(felt.sum())
    if not 0 < total < math.inf:
        return {"hardest": None, "suspects": None}
    largest = felt.topk(math.ceil(HARDEST_SHARE * len(felt))).values
    return {
        "hardest": float(largest.sum()) / total,
        "suspects": float(felt[list(suspects)].sum()) / total,
    }


def _agree(one: Point, other: Point) -> bool:
    pairs = zip(dataclasses.astuple(one), dataclasses.astuple(other), strict=True)
    return all(
        mine is theirs
        or (
            mine is not None
            and theirs is not None
            and math.isclose(mine, theirs, rel_tol=AGREEMENT_TOLERANCE, abs_tol=1e-15)
        )
        for mine, theirs in pairs
    )


def _in_one_pass(e: Exploration, name: str, values: Sequence[float]) -> list[Point] | None:
    """Compute all values at once; None where the definition cannot be run so."""
    batch, spec = e.batch, e.spec
    terms = e.trace.last(spec.terms)
    felt = terms is not None and terms.gradient is not None
    definition = _weighed(e) if felt else e.definition
    if definition is None or _depends_on(e, name, values):
        return None
    scores = batch.scores.detach()
    vectors = None if batch.vectors is None else batch.vectors.detach()
    leaves: dict[str, Tensor] = {"scores": scores}
    if spec.reads_vectors and vectors is not None:
        leaves["vectors"] = vectors
    if felt and terms is not None:
        leaves["mass"] = torch.zeros_like(terms.value)
    others = {key: value for key, value in e.parameters.items() if key != name}

    def loss_of(moved: dict[str, Tensor], value: Tensor) -> Tensor:
        inputs = {
            argument: batch.read(what, moved.get("vectors", vectors), moved["scores"])
            for argument, what in spec.reads.items()
        }
        more = {ADDED_TERMS: moved["mass"]} if felt else {}
        return definition(**accepted(definition, {**inputs, **others, name: value, **more}))

    products = _products(batch) if vectors is not None and batch.given is None else None
    run: Any = torch.func.grad_and_value(loss_of)
    many = torch.tensor(values, dtype=scores.dtype, device=scores.device)
    # Whatever the definition makes is there for all values at once, too.
    largest = max(one.numel() for one in (*leaves.values(), *(s.value for s in e.trace.tensors)))
    at_once = max(1, MAX_CELLS_AT_ONCE // max(1, largest))
    check_memory(beside_mib=needed_mib(largest * min(at_once, len(values))))
    points: list[Point] = []
    for some in many.split(at_once):
        jobs.check()
        try:
            gradients, losses = torch.vmap(functools.partial(run, leaves))(some)
        except (RuntimeError, TypeError, ValueError):
            return None  # what the definition itself has against it, a single run says
        norms = _norms(batch, products, gradients)
        points += _points(e, norms, gradients, losses)
    return points


def _depends_on(e: Exploration, name: str, values: Sequence[float]) -> bool:
    """True if the definition changes at some of these values of a parameter."""
    at = ({**e.given, **e.parameters, name: value} for value in values)
    return any(definition_at(e.spec.definition, one) is not e.definition for one in at)


def needed_mib(cells: int) -> int:
    """Memory that so many cells take at most at once."""
    return min(cells * BYTES_PER_CELL // MIB, MIB_BESIDE_CELLS)


def _points(
    e: Exploration, norms: Tensor, gradients: dict[str, Tensor], losses: Tensor
) -> Iterator[Point]:
    """Yield the figures of each value, from the loss and its gradients there."""
    batch, suspects = e.batch, [one.pair for one in e.suspects]
    present = 0 if e.weights is None else e.weights.terms
    by_scores, by_vectors, masses = (gradients.get(one) for one in ("scores", "vectors", "mass"))
    apart = batch.given is not None or not e.spec.reads_vectors
    felt = pair_gradients.pair_gradient(batch, by_vectors, by_scores if apart else None)
    for place, loss in enumerate(losses.tolist()):
        weights = (
            None if masses is None else ranks_and_term_weights.weights_in(masses[place], present)
        )
        yield Point(
            loss=loss,
            gradient=float(norms[place]),
            effective=weights and weights.effective,
            active=weights and weights.active,
            terms=weights and weights.terms,
            **_shares(felt[place], suspects),
        )


def _norms(batch: Batch, products: Tensor | None, gradients: dict[str, Tensor]) -> Tensor:
    """√Σ‖∂L/∂vector‖² for each value, including the part through the scores; without vectors, or
    for given scores, the norm of ∂L/∂scores."""
    by_scores, by_vectors = gradients["scores"], gradients.get("vectors")
    if by_vectors is not None:
        if products is not None and bool(by_scores.any()):
            back = torch.func.vjp(batch.scores_from, batch.needed_vectors)[1]
            by_vectors = by_vectors + torch.vmap(lambda slopes: back(slopes)[0])(by_scores)
        return by_vectors.flatten(start_dim=1).norm(dim=1)
    if products is None:
        return by_scores.norm(dim=1)
    # ∂cos/∂vectors is the same for all values: its products make the norm.
    return (by_scores @ products * by_scores).sum(dim=1).clamp_min(0).sqrt()


def _products(batch: Batch) -> Tensor:
    """⟨∂cos_i/∂V, ∂cos_j/∂V⟩ of every two pairs over the vectors of all sentences, [N, N]."""
    sides = list(
        zip((batch.first, batch.second), pair_gradients.cosine_gradients(batch), strict=True)
    )
    products = batch.labels.new_zeros(len(batch), len(batch))
    for places, rise in sides:
        for others, along in sides:
            products += (rise @ along.T) * (places[:, None] == others)
    return products


def _weighed(e: Exploration) -> Callable[..., Tensor] | None:
    """The definition with a further keyword, which it adds to its terms; None where its source
    does not allow it."""
    step = e.trace.last(e.spec.terms)
    function = function_of(e.definition)
    if step is None or function.__code__.co_freevars or inspect.ismethod(function):
        return None
    line = None if step in e.trace.inputs else step.line - e.trace.first_line + 1
    return _with_mass(function, step.name, line)


@functools.lru_cache(maxsize=256)
def _with_mass(function: Any, name: str, line: int | None) -> Callable[..., Tensor] | None:
    whole = copy.deepcopy(source_of(function.__code__).definition)
    if whole is None:
        return None
    added = parsed(f"{name} = {name} + {ADDED_TERMS}").body
    for node in ast.walk(whole):
        body = getattr(node, "body", None)
        for statements in (body, getattr(node, "orelse", None)):
            if not isinstance(statements, list):
                continue
            places = [
                n for n, one in enumerate(statements) if one.lineno == line and _assigns(one, name)
            ]
            for place in places:
                statements[place + 1 : place + 1] = added
    if line is None:
        whole.body[:0] = added
    whole.decorator_list = []
    whole.args.kwonlyargs.append(ast.arg(ADDED_TERMS))
    whole.args.kw_defaults.append(None)
    namespace: dict[str, Any] = {}
    code = compile(
        ast.fix_missing_locations(ast.Module([whole], [])), function.__code__.co_filename, "exec"
    )
    # The definition as it stands, with one more statement.
    exec(code, {**function.__globals__}, namespace)
    return namespace[whole.name]


def _assigns(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [ast.unparse(target) for target in targets] == [name]
