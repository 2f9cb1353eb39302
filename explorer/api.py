"""What LossPrism computes, for programs: typed functions that answer with plain JSON.

`explorer.site` offers the same functions as named endpoints and as MCP tools. Numbers are JSON
numbers; inf and nan, which JSON lacks, are the words "inf", "-inf" and "nan", so a masked cell
of a step is "-inf". null stands for what does not exist. Places count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from torch import Tensor

from explorer.batch import batch_of_scores
from explorer.device import device
from explorer.diagnostics import Term
from explorer.explore import Exploration, explore
from explorer.lab.training.plan import TrainingPlan
from explorer.lab.training.runs import Runs
from explorer.locale import say
from explorer.pairs import MOST_PAIRS, Pairs
from explorer.picture import Layout, number
from explorer.problem import Problem
from explorer.scenario import Data, Scenario
from explorer.sources.cells import read_score, read_sentence, shortened
from explorer.sources.encoders import EMBEDDED
from explorer.trace import Step
from losses import LOSSES, LossSpec, Parameter

# Every cell of every step is written out as text: beyond this an answer has many megabytes.
MOST_TRACED = 64
MOST_TRAINED = 100_000


def compute_loss(
    loss: str,
    sentences1: list[str],
    sentences2: list[str],
    scores: list[float],
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    convention: str = "",
) -> dict[str, Any]:
    """Encode up to 512 sentence pairs, compute a loss on them, and say what drives it.

    Args:
        loss: name of the loss, such as "cosent"; list_losses names them all
        sentences1: the first sentence of each pair
        sentences2: the second sentence of each pair
        scores: the label of each pair, any finite number; half of the largest is positive
        parameters: the loss's parameters by name, such as {"scale": 20}; others keep defaults
        encoder: all-MiniLM-L6-v2 (embedded), the hub id of another sentence encoder, or a folder
        convention: another library's definition that list_losses names, "" for our own

    Returns:
        An object with
        loss; scores, the similarity of each pair; labels, as sent;
        score_gradient, the change of the loss for each unit of each pair's similarity;
        ordered_pairs and violated_pairs, how many pairs of pairs the labels order, and how many
        of those stand the other way round by similarity; spearman, similarities against labels;
        active_terms, the fewest terms that carry 90% of the weight, and effective_terms, the
        exponential of the entropy of the weights (a term's weight is the size of the loss's
        gradient at the term itself, as a share of all terms);
        gradient_norm, the length of the gradient by all sentence vectors (by the scores, where
        those are given and there are no vectors);
        collapse_value, the loss if all embeddings were equal, and floor, the least possible;
        heaviest_terms, up to 20 of {i, j, value, weight}: the pairs that the indices i and j of
        the term belong to (of a sentence in several pairs, the first), its value, and its
        weight; j is null for a term of one pair;
        device and milliseconds.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Example:
        >>> cats, sun = ["A cat sleeps.", "A cat sleeps."], ["A cat is asleep.", "The sun is hot."]
        >>> answer = compute_loss("cosent", cats, sun, scores=[1, 0], parameters={"scale": 20})
        >>> answer["ordered_pairs"], answer["violated_pairs"], answer["labels"]
        (1, 0, [1.0, 0.0])
    """
    pairs = (sentences1, sentences2, scores)
    return _answer(explore(scenario_of(loss, *pairs, parameters, encoder, convention)))


def loss_from_scores(
    loss: str,
    scores: list[float],
    labels: list[float],
    parameters: dict[str, Any] | None = None,
    convention: str = "",
) -> dict[str, Any]:
    """Compute a loss on up to 512 pairs whose similarities are given: no sentences, no encoder.

    A loss that reads vectors gets unit vectors that have these similarities as cosines, each pair
    in a plane of its own; that takes similarities from -1 to 1.

    Args:
        loss: name of the loss, such as "cosent"; list_losses names them all
        scores: the similarity of each pair, such as its cosine
        labels: the label of each pair, any finite number; half of the largest is positive
        parameters: the loss's parameters by name, such as {"scale": 20}; others keep defaults
        convention: another library's definition that list_losses names, "" for our own

    Returns:
        The same object as compute_loss; places are those of the pairs.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Example:
        >>> answer = loss_from_scores("cosent", [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
        >>> round(answer["loss"], 12), answer["ordered_pairs"], answer["collapse_value"]
        (7.919774e-06, 4, 1.6094379124341003)
        >>> answer["heaviest_terms"][0]["i"], answer["heaviest_terms"][0]["j"]
        (2, 1)
    """
    given = {"scores": _numbers("scores", scores), "labels": _numbers("labels", labels)}
    count = _equally_long("loss_from_scores", MOST_PAIRS, given)
    pairs = Pairs(
        first=tuple(f"a{place}" for place in range(count)),
        second=tuple(f"b{place}" for place in range(count)),
        labels=given["labels"],
        scores=given["scores"],
    )
    return _answer(_explore_given(_under(loss, parameters, convention), pairs))


def trace_loss(
    loss: str,
    sentences1: list[str],
    sentences2: list[str],
    scores: list[float],
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    similarities: list[float] | None = None,
    convention: str = "",
) -> dict[str, Any]:
    """Like compute_loss, for up to 64 pairs, with every step of the computation written out.

    Args:
        loss: name of the loss, such as "cosent"; list_losses names them all
        sentences1: the first sentence of each pair
        sentences2: the second sentence of each pair
        scores: the label of each pair, any finite number; half of the largest is positive
        parameters: the loss's parameters by name, such as {"scale": 20}; others keep defaults
        encoder: all-MiniLM-L6-v2 (embedded), the hub id of another sentence encoder, or a folder
        similarities: given for each pair, they take the place of the encoder's cosines
        convention: another library's definition that list_losses names, "" for our own

    Returns:
        The object of compute_loss and, in it, steps: first what the loss reads, then what each
        line of its definition assigns, in order. A step has name, line (its number in the
        source file), source (the line itself), latex, axes (what each dimension counts: pair,
        query, key, sentence …), shape, value (nested lists; a masked cell is "-inf") and
        gradient, the derivative of the loss by the value, null where there is none.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Example:
        >>> answer = trace_loss("cosent", ["a", "c"], ["b", "d"], [0, 1], similarities=[0.5, 0.25])
        >>> [step["name"] for step in answer["steps"]]
        ['scores', 'labels', 'scaled', 'differences', 'ordered', 'terms', 'loss']
        >>> answer["steps"][5]["value"]
        [['-inf', 5.0], ['-inf', '-inf']]
    """
    pairs = (sentences1, sentences2, scores)
    scenario = scenario_of(loss, *pairs, parameters, encoder, convention)
    if len(scores) > MOST_TRACED:
        raise Problem("api_too_many", count=len(scores), name="trace_loss", most=MOST_TRACED)
    if similarities is None:
        found = explore(scenario)
    else:
        given = _numbers("similarities", similarities)
        _equally_long("trace_loss", MOST_TRACED, {"scores": scores, "similarities": given})
        first, second, labels = zip(*scenario.data.rows, strict=True)
        found = _explore_given(scenario, Pairs(first, second, tuple(map(float, labels)), given))
    return {**_answer(found), "steps": _steps(found)}


def list_losses() -> list[dict[str, Any]]:
    """Every loss that can be computed, with its parameters and where it comes from.

    Returns:
        A list of objects with name, title, group, formula (LaTeX) and about (one line);
        parameters, each with name, symbol, kind (number, switch, choice or list), default,
        minimum, maximum and choices; reads, which input of a batch each argument takes;
        conventions, the same loss as other libraries define it, each with its formula and
        parameters; references; collapse_formula, the loss if all embeddings were equal, and
        floor_formula, the least value it can reach, each null where it has none.

    Example:
        >>> [loss["title"] for loss in list_losses() if loss["name"] == "cosent"]
        ['CoSENT']
    """
    return [_described(spec) for spec in LOSSES.values()]


def start_training(
    loss: str,
    sentences1: list[str],
    sentences2: list[str],
    scores: list[float],
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Fine-tune a sentence encoder on up to 100,000 pairs with a loss, in the background.

    A fifth of the pairs is held out to measure by, so that no sentence stands on both sides. Runs
    take turns, one at a time. The model stays on the computer that trains it.

    Args:
        loss: name of the loss, such as "cosent"; list_losses names them all
        sentences1: the first sentence of each pair
        sentences2: the second sentence of each pair
        scores: the label of each pair, any finite number; half of the largest is positive
        parameters: the loss's parameters by name, such as {"scale": 20}; others keep defaults
        encoder: all-MiniLM-L6-v2 (embedded), the hub id of a transformer, a folder, or "scratch"
        options: how to train, such as {"kind": "cross", "steps": 60, "batch_size": 16,
            "learning_rate": 2e-5, "schedule": "cosine", "warmup": 0.1, "seed": 0}

    Returns:
        An object with id, by which training_status and stop_training know the run, and
        queue_position, 0 if it trains at once.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.
    """
    columns = _columns("start_training", MOST_TRAINED, sentences1, sentences2, scores)
    chosen = {} if options is None else options
    if not isinstance(chosen, dict):
        raise Problem("api_object", name="options", value=shortened(repr(chosen)))
    for name in ("data", "own_loss"):  # what would read or run files of this computer
        if name in chosen:
            raise Problem("training_entry_unknown", where=f"options.{name}")
    rows = tuple((a, b, repr(c)) for a, b, c in zip(*columns, strict=True))
    plan = TrainingPlan.from_json(
        {
            **chosen,
            "loss": _text("loss", loss),
            "parameters": parameters or {},
            "encoder": _text("encoder", encoder),
            "data": {"source": "rows", "rows": rows},
        }
    )
    runs = Runs(device=str(device()))
    name = runs.start(plan)
    return {"id": name, "queue_position": runs.status(name)["queue_position"]}


def training_status(id: str, offset: int = 0) -> dict[str, Any]:
    """How a training is doing: its state, its progress, and what it has recorded.

    Args:
        id: as start_training answered it
        offset: as the last call answered it, to get only what is new; 0 for everything

    Returns:
        An object with
        state: queued, loading, training, paused, saving, finished, stopped, failed, interrupted;
        queue_position, step, steps, seconds, seconds_left (null where not known yet);
        problem, a sentence if something went wrong, else null;
        summary, once it has ended: loss, and the held-out figures before and after;
        records: of each step loss, gradient_norm and learning_rate, of each evaluation spearman,
        pearson and more; and offset, to ask from next.

    Raises:
        Problem: if there is no such training.
    """
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
        raise Problem("api_number", name="offset", place=0, value=shortened(repr(offset)))
    status = Runs().status(id, offset)
    problem = status["problem"]
    if problem:
        status["problem"] = say("en", problem["key"], **problem["values"])
    return status


def stop_training(id: str) -> dict[str, Any]:
    """End a training after its current step; the model so far is kept.

    Args:
        id: as start_training answered it

    Returns:
        An object with id.

    Raises:
        Problem: if there is no such training, or it has ended already.
    """
    Runs().stop(id)
    return {"id": id}


ENDPOINTS = (
    compute_loss,
    loss_from_scores,
    trace_loss,
    list_losses,
    start_training,
    training_status,
    stop_training,
)


def scenario_of(
    loss: str,
    sentences1: Sequence[str],
    sentences2: Sequence[str],
    scores: Sequence[float],
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    convention: str = "",
) -> Scenario:
    """The scene of these pairs, as if they had been typed into the page's table.

    Raises Problem, naming the first entry that does not fit; the loss itself and its parameters
    are checked by `explore`.
    """
    first, second, given = _columns("compute_loss", MOST_PAIRS, sentences1, sentences2, scores)
    # repr of a float reads back as the same float; 4 and not 4.0, as a person would type it.
    labels = [str(int(s)) if s.is_integer() else repr(s) for s in given]
    rows = tuple(zip(first, second, labels, strict=True))
    data = Data(source="table", rows=rows, encoder=_text("encoder", encoder))
    return _under(loss, parameters, convention, data)


def _columns(
    name: str, most: int, sentences1: object, sentences2: object, scores: object
) -> tuple[Sequence[str], Sequence[str], Sequence[float]]:
    """The columns of a table of pairs, each entry checked, and all of one length."""
    given = {
        "sentences1": _sentences("sentences1", sentences1),
        "sentences2": _sentences("sentences2", sentences2),
        "scores": _numbers("scores", scores),
    }
    _equally_long(name, most, given)
    return tuple(given.values())


def _under(
    loss: object, parameters: object, convention: object, data: Data | None = None
) -> Scenario:
    chosen = {} if parameters is None else parameters
    if not isinstance(chosen, dict):
        raise Problem("api_object", name="parameters", value=shortened(repr(chosen)))
    return Scenario(
        data=data or Data(),
        loss=_text("loss", loss),
        convention=_text("convention", convention),
        parameters=tuple(
            (str(name), tuple(value) if isinstance(value, list) else value)
            for name, value in chosen.items()
        ),
    )


def _explore_given(scenario: Scenario, pairs: Pairs) -> Exploration:
    return explore(scenario, batch_of_scores(pairs, scenario.rules))


# Reading


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise Problem("api_text", name=name, value=shortened(repr(value)))
    return value


def _listed(name: str, values: object) -> Sequence[object]:
    if not isinstance(values, list | tuple):
        raise Problem("api_list", name=name, value=shortened(repr(values)))
    return values


def _sentences(name: str, values: object) -> tuple[str, ...]:
    def read(place: int, value: object) -> str:
        try:
            return read_sentence(_text(name, value), name)
        except Problem:
            said = shortened(repr(value))
            raise Problem("api_sentence", name=name, place=place, value=said) from None

    return tuple(read(place, value) for place, value in enumerate(_listed(name, values)))


def _numbers(name: str, values: object) -> tuple[float, ...]:
    def read(place: int, value: object) -> float:
        try:
            return read_score(value if isinstance(value, Real) else None, name)
        except Problem:
            said = shortened(repr(value))
            raise Problem("api_number", name=name, place=place, value=said) from None

    return tuple(read(place, value) for place, value in enumerate(_listed(name, values)))


def _equally_long(function: str, most: int, lists: dict[str, Sequence[object]]) -> int:
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise Problem("api_lengths", lengths=said)
    count = max(lengths.values())
    if count == 0:
        raise Problem("api_empty")
    if count > most:
        raise Problem("api_too_many", count=count, name=function, most=most)
    return count


# Answering


def _answer(found: Exploration) -> dict[str, Any]:
    layout = Layout(found)
    weights = found.weights
    return {
        "loss": number(found.loss),
        "scores": _plain(found.batch.scores),
        "labels": list(found.batch.pairs.labels),
        "score_gradient": _plain(found.pair_gradient),
        "ordered_pairs": found.order.ordered,
        "violated_pairs": found.order.violated,
        "active_terms": weights and weights.active,
        "effective_terms": weights and number(weights.effective),
        "spearman": number(found.order.spearman),
        "gradient_norm": number(found.gradient_norm),
        "collapse_value": number(found.collapse),
        "floor": number(found.floor),
        "heaviest_terms": [_term(found, layout, term) for term in found.heaviest],
        "device": found.device,
        "milliseconds": found.milliseconds,
    }


def _term(found: Exploration, layout: Layout, term: Term) -> dict[str, Any]:
    """A term with the pairs behind its last two indices, called i and j as its symbol does."""
    step = found.trace.last(found.spec.terms)
    behind = []
    dimensions = zip(layout.axes(step), term.cell, step.value.shape, strict=True)
    for axis, place, length in list(dimensions)[-2:]:  # a level in front of them is no pair
        pair = int(layout.items(axis, length)[0][place])
        behind.append(pair if pair >= 0 else None)
    i, j = (*behind, None, None)[:2]
    symbol = found.spec.symbols.get(step.name)
    if symbol and "_{ji}" in symbol.latex.partition("=")[0]:  # its rows are counted by j
        i, j = j, i
    return {"i": i, "j": j, "value": number(term.value), "weight": term.share}


def _steps(found: Exploration) -> list[dict[str, Any]]:
    layout = Layout(found)
    return [_step(found, layout, s) for s in (*found.trace.inputs, *found.trace.steps)]


def _step(found: Exploration, layout: Layout, step: Step) -> dict[str, Any]:
    symbol = found.spec.symbols.get(step.name)
    return {
        "name": step.name,
        "line": step.line,
        "source": step.source,
        "latex": symbol.latex if symbol else "",
        "axes": list(layout.axes(step)),
        "shape": list(step.value.shape),
        "value": _plain(step.value),
        "gradient": None if step.gradient is None else _plain(step.gradient),
    }


def _plain(tensor: Tensor) -> Any:
    """A tensor as nested lists; what is not finite as words."""
    listed = tensor.tolist()
    return listed if bool(tensor.isfinite().all()) else _worded(listed)


def _worded(value: Any) -> Any:
    return [_worded(inner) for inner in value] if isinstance(value, list) else number(value)


def _described(spec: LossSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "group": spec.group,
        "formula": spec.formula,
        "about": (spec.function.__doc__ or "").strip().partition("\n")[0],
        "parameters": [_parameter(parameter) for parameter in spec.parameters],
        "reads": dict(spec.reads),
        "conventions": [_convention(spec.under(c.name), c.name) for c in spec.conventions],
        "references": list(spec.references),
        "collapse_formula": spec.collapse_formula or None,
        "floor_formula": spec.floor_formula or None,
    }


def _convention(spec: LossSpec, name: str) -> dict[str, Any]:
    parameters = [_parameter(parameter) for parameter in spec.parameters]
    return {"name": name, "formula": spec.formula, "parameters": parameters}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    numeric = parameter.kind in ("number", "list")
    default = parameter.default
    return {
        "name": parameter.name,
        "symbol": parameter.symbol,
        "kind": parameter.kind,
        "default": list(default) if isinstance(default, tuple) else default,
        "minimum": parameter.minimum if numeric else None,
        "maximum": parameter.maximum if numeric else None,
        "choices": list(parameter.choices),
    }
