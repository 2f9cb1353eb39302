"""The numbers shown in a formula, put in, give the value of the cell they stand beside."""

from __future__ import annotations

import base64
import functools
import itertools
import math
import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.live_formulas import MAX_TERMS_WRITTEN, NAMES, REFERENCE
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.runtime.json_encoding import plain as as_sent
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES, SHIPPED
from tests.scenes import data_for
from tests.unit.losses.made import case

RANDOM = Data(source="random", random=RandomBatch(pairs=9, dimension=4, seed=2))

# Here negatives are a query's own.
LISTS = Data(source="random", random=RandomBatch(pairs=9, dimension=4, candidates=3, seed=2))
OWN = (
    {"negatives_seen": "by_own"},
    {"log_weight": 0.7},
    {"log_weight": 0.7, "hardness": 2.3, "hardness_on": "hard", "negatives_seen": "by_own"},
)

WHOLE_VECTORS = "made of whole vectors, number by number"
PLACES = "names places in the batch; nothing is computed"
SEARCHED = "says which place a search over the row has found"
# The steps without a live formula, of all losses or of one.
EXCEPTIONS = {
    **dict.fromkeys(
        (
            "among_queries",
            "among_keys",
            "guided",
        ),
        WHOLE_VECTORS,
    ),
    **dict.fromkeys(("guided_keys", "guided_queries"), WHOLE_VECTORS),
    **dict.fromkeys(("cosines_first", "cosines_second", "centred_first"), WHOLE_VECTORS),
    **dict.fromkeys(("centred_second", "covariance_first", "covariance_second"), WHOLE_VECTORS),
    **dict.fromkeys(("correlations", "alignment.differences"), WHOLE_VECTORS),
    **dict.fromkeys(("farthest", "nearest", "far", "near", "chosen"), SEARCHED),
    "hardened": "adds to some logits what the rules say",
    **dict.fromkeys(("excess", "importance"), "is an estimate from the whole row, with a bound"),
    "proxy_anchor.present": "says whether the batch has the class",
    "info_nce.others": "which negatives there are: by direction, text, mask and whose they are",
    "other_queries": "the same of queries",
    "all_terms": "the terms of all directions side by side",
    **dict.fromkeys(("candidates", "guides", "views", "directions", "distances"), WHOLE_VECTORS),
    **dict.fromkeys(("similarities", "noise", "softmax.logits", "nce.positive"), WHOLE_VECTORS),
    **dict.fromkeys(("place", "partner", "anchor", "triplet.positive", "signs"), PLACES),
    **dict.fromkeys(("supcon.candidates",), PLACES),
    **dict.fromkeys(("nearest_beyond", "triplet.farthest", "negative", "triplet.valid"), SEARCHED),
    **dict.fromkeys(("triplet.to_positive", "triplet.to_negative"), WHOLE_VECTORS),
    **dict.fromkeys(("to_anchor", "from_positive"), WHOLE_VECTORS),
    "decoupled.shares": "is a softmax over half of the rows",
    "positive_count": "counts the positives of the row",
    "circle_self_paced.valid": "says whether the row has a positive and a negative",
    "info_nce.loss": "is one mean or the mean of two",
    **dict.fromkeys(("present", "filled", "pairs"), "says where there is a candidate"),
    **dict.fromkeys(("gains", "ranks", "true_ranks", "targets"), "is made of the whole list"),
    **dict.fromkeys(("later", "list_mle.weights"), "follows from the order of the list"),
    **dict.fromkeys(("lambda_loss.weights", "lambda_loss.ordered"), "is one of several"),
    **dict.fromkeys(("teacher_shares", "distill_kl.terms"), "is made of the whole list"),
}


def of_each_loss():
    """The forms of each loss in one test."""
    by_loss = {}
    for message, scenario in forms():
        by_loss.setdefault(scenario.loss, []).append((message, scenario))
    return pytest.mark.parametrize("cases", by_loss.values(), ids=by_loss)


def together(picked):
    """Of all combinations of choices so many that any three choices stand together in one."""
    every, seen = [*itertools.product(*picked)], set()
    Random(0).shuffle(every)
    for one in every:
        threes = {*itertools.combinations(one, min(3, len(one)))}
        if not threes <= seen:
            seen |= threes
            yield one


def forms():
    """Every loss with the choices of its switches, any three of them together, and so every
    definition of a convention; a convention that is no more than other parameters with these."""
    for name, spec in LOSSES.items():
        for convention in ("", *(c.name for c in spec.conventions)):
            moved = convention and spec.under(convention).definition is spec.definition
            picked = [
                [(p.name, value) for value in p.choices or (False, True)]
                for p in spec.under(convention).parameters
                if p.kind in ("choice", "switch") and not moved
            ]
            for parameters in together(picked):
                message = " ".join([convention, *(f"{k}={v}" for k, v in parameters)])
                scenario = Scenario(
                    data_for(name, RANDOM, convention),
                    loss=name,
                    convention=convention,
                    parameters=parameters,
                )
                yield message.strip(), scenario

    for parameters in OWN:
        message = " ".join(f"{name}={value}" for name, value in parameters.items())
        scenario = Scenario(LISTS, loss="info_nce", parameters=tuple(parameters.items()))
        yield f"of lists {message}", scenario


def array(text, kind, *shape):
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(shape)


class Cells:
    """The shown step of a picture, cell by cell, as the page reads it."""

    def __init__(self, shown):
        self.shown = shown
        size = shown["rows"], shown["columns"]
        self.values = array(shown["value"], np.float32, *size)
        self.mask = None if shown["mask"] is None else array(shown["mask"], np.uint8, *size)
        self.numbers = {key: self._unpacked(message) for key, message in shown["numbers"].items()}

    def _unpacked(self, message):
        size = message["rows"], message["columns"]
        held = {"values": array(message["values"], np.float32, *size, message["parts"])}
        if "kind" in message:
            held["kind"] = message["kind"]
            held["present"] = array(message["present"], np.uint8, *size, message["parts"])
            held["left"] = array(message["left"], np.int32, *size)
            held["rest"] = array(message["rest"], np.float32, *size)
        return held

    def __iter__(self):
        return np.ndindex(self.values.shape)

    def is_present(self, cell):
        masked = self.mask is not None and not self.shown["boolean"] and not self.mask[cell]
        return not masked and not np.isneginf(self.values[cell])

    def formula(self, cell):
        """The live formula with the numbers of this cell in it."""
        return REFERENCE.sub(lambda found: self._text(found[1], cell), self.shown["live"])

    def _text(self, reference, cell):
        if reference in NAMES:
            axis = self.shown[{"r": "row_axis", "c": "column_axis"}[reference]]
            place = cell[NAMES.index(reference)]
            paired = axis["name"] in ("pair", "level_pair", "query", "key", "view")
            return f"({(axis['pairs'] if paired else axis['items'])[place] + 1})"
        held = self.numbers[reference]
        size = held["values"].shape
        at = tuple(place if length > 1 else 0 for place, length in zip(cell, size, strict=False))
        if "kind" not in held:
            return number(held["values"][at][0])
        there = held["present"][at].astype(bool)
        parts = [*held["values"][at][there]]
        if held["kind"] in ("max", "min"):
            return ", ".join(map(number, parts))
        parts += [held["rest"][at]] if held["left"][at] else []
        written = (f"e^{{{number(p)}}}" if held["kind"] == "Σ exp" else number(p) for p in parts)
        return " + ".join(written) or "0"


def number(value):
    return f"({float(value)!r})"


BRACED = (  # from the inside out
    (r"e\^\{([^{}]*)\}", r"exp(\1)"),
    (r"\^\{([^{}]*)\}", r"**(\1)"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1) / (\2))"),
)
AS_PYTHON = (
    (r"\\[bB]igg?[lr]?", ""),
    (r"\\(?:log|ln) ?(\d)", r"\\log(\1)"),
    (r"\\(cos|sin) (\([^)]*\))", r" \1\2"),
    (r"\\(?:log|ln)", "log"),
    (r"\\(max|min)", r"\1"),
    (r"\\cdot", "*"),
    (r"\\,(?=[a-z(\[])", "*"),
    (r"\\ne", "!="),
    (r"\\le", "<="),
    (r"\\ge", ">="),
    (r"(?<![!<>])=", "=="),
    (r",\\ ", " and "),
    (r"\[([^\[\]]*)\]_\+", r"max(0, \1)"),
    (r"\|(.*)\|", r"abs(\1)"),
    (r"\^2", "**2"),
    (r"\^(\d)", r"**\1"),
    (r"\)\(", ")*("),
)
FUNCTIONS = {
    **{name: getattr(math, name) for name in ("cos", "sin")},
    "sqrt": lambda x: math.sqrt(max(x, 0)),
    "inf": math.inf,
    "exp": lambda x: math.exp(min(x, 700)),
    "log": lambda *x: math.log(*x) if x[0] > 0 else -math.inf,
    "max": lambda *of: max(of),
    "min": lambda *of: min(of, default=math.inf),
    "abs": abs,
}


NUMBER = re.compile(r"\((-?(?:\d[\d.]*(?:e[-+]\d+)?|inf|nan))\)")


def worked_out(latex):
    """The value of a formula; formulas that differ in their numbers alone are read once."""
    numbers = map(float, NUMBER.findall(latex))
    places = itertools.count()
    code = as_python(NUMBER.sub(lambda _: f"(n{next(places)})", latex))
    return eval(code, FUNCTIONS | {f"n{place}": value for place, value in enumerate(numbers)})


@functools.cache
def as_python(latex):
    before = ""
    while before != latex:
        before = latex
        for pattern, plain in BRACED:
            latex = re.sub(pattern, plain, latex)
    for pattern, plain in AS_PYTHON:
        latex = re.sub(pattern, plain, latex)
    assert "\\" not in latex, latex
    return compile(latex, latex, "eval")


# What was added to the package need not have a formula for every step.
WITH_FORMULAS = {spec.name for spec in SHIPPED}


def excepted(loss, name):
    return name in EXCEPTIONS or f"{loss}.{name}" in EXCEPTIONS


explored = functools.cache(explore)


@pytest.mark.thorough
@of_each_loss()
def test_the_numbers_of_every_step_give_the_value_of_the_cell(cases):
    for message, scenario in cases:
        with case(form=message):
            numbers_give_the_values_of_their_cells(scenario)


def numbers_give_the_values_of_their_cells(scenario):
    found = explored(scenario)
    first = len(found.trace.inputs)
    for place, step in enumerate(found.trace.steps, first):
        if excepted(scenario.loss, step.name):
            continue
        drawn = as_sent(
            picture(replace(found, scenario=replace(scenario, view=View(step=place)))).shown
        )
        if not drawn["live"] and scenario.loss not in WITH_FORMULAS:
            continue
        assert drawn["live"], f"{step.name} has no live formula"
        cells = Cells(drawn)
        compared = [cell for cell in cells if cells.is_present(cell)]
        assert compared, step.name
        for cell in compared:
            formula, wanted = cells.formula(cell), float(cells.values[cell])
            given = worked_out(formula)
            near = abs(given - wanted) <= max(2e-4 * abs(wanted), 2e-5)
            assert given == wanted or near, (step.name, cell, given, wanted, formula)


@of_each_loss()
def test_nothing_is_felt_where_a_term_is_masked(cases):
    for message, scenario in cases:
        with case(form=message):
            found = explored(scenario)
            step = found.trace.last(found.spec.terms)
            mask = None if step is None else found.trace.mask_of(step)
            if mask is not None and step.gradient is not None:
                assert not step.gradient[~mask].any()
                assert found.weights.active <= found.weights.terms


def test_the_exceptions_are_steps_without_a_formula():
    """And each is needed: it names a step of some loss."""
    bare = set()
    for _, scenario in forms():
        found = explored(scenario)
        for step in found.trace.steps:
            symbol = found.spec.symbols[step.name]
            if not symbol.live:
                bare |= {step.name, f"{scenario.loss}.{step.name}"}
    assert EXCEPTIONS.keys() <= bare


def test_a_sum_names_its_largest_terms_and_the_rest_as_one_number():
    found = explore(Scenario(RANDOM, loss="info_nce"))
    names = [s.name for s in (*found.trace.inputs, *found.trace.steps)]
    view = View(step=names.index("per_query"), order="entry")
    drawn = as_sent(picture(replace(found, scenario=replace(found.scenario, view=view))).shown)
    (message,) = drawn["numbers"].values()
    terms = found.trace.last("terms").value
    assert (message["of"], message["at"], message["parts"]) == (
        "terms",
        "column",
        MAX_TERMS_WRITTEN,
    )
    values = array(message["values"], np.float32, len(terms), MAX_TERMS_WRITTEN)
    np.testing.assert_allclose(values, terms.topk(MAX_TERMS_WRITTEN, dim=1).values, rtol=1e-6)
    left = array(message["left"], np.int32, len(terms))
    assert set(left) == {terms.shape[1] - 1 - MAX_TERMS_WRITTEN}
    # Each written term leads to the pair whose key it is.
    batch = make_batch(RANDOM, found.scenario.rules)
    keys = [*batch.positives.tolist(), *batch.others.tolist()]
    pairs = array(message["pairs"], np.int32, len(terms), MAX_TERMS_WRITTEN)
    places = terms.topk(MAX_TERMS_WRITTEN, dim=1).indices.numpy()
    np.testing.assert_array_equal(pairs, np.array(keys)[places])
