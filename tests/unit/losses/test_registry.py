"""The registry as data: complete, true to the functions, and extended by adding a file."""

import ast
import doctest
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lossprism import losses
from lossprism.losses import GROUPS, LOSSES, SHIPPED, LossSpec, Parameter, spec_of
from lossprism.losses.contrastive.info_nce_directions_and_negatives import DIRECTIONS
from lossprism.losses.definition_chosen_by_options import definitions_of
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.loss_term_structures import Largest, Separable
from tests.unit.losses.made import EVERY, call, inputs_for, steps_of

ROOT = Path(losses.__file__).parents[1]
AXES = {
    "pair", "query", "key", "view", "sentence", "class", "triplet", "level", "dimension",
    "negative", "guide_dimension", "teacher_dimension",
    "list", "candidate", "row", "term", "given_triplet",
}  # fmt: skip

SHIPPED_FUNCTIONS = {spec.function for spec in SHIPPED}

# Every definition in every form that takes another path through it.
FORMS = [
    *((spec, {}) for spec in LOSSES.values()),
    *((spec.under(c.name), {}) for spec in LOSSES.values() for c in spec.conventions),
    (LOSSES["info_nce"], {"symmetric": True}),
    (LOSSES["info_nce"], {"hardness": 3.0, "in_batch": False}),
    (LOSSES["info_nce"], {"directions": DIRECTIONS, "partition": "per_direction"}),
    (LOSSES["nce"], {"full": True}),
    (LOSSES["decoupled"], {"weighted": True}),
    (LOSSES["n_pair"], {"similarity": "cosine"}),
    (LOSSES["list_mle"], {"weighted": True}),
    (LOSSES["lambda_loss"], {"k": 2}),
    (LOSSES["lambda_loss"], {"scheme": "ndcg1"}),
    (LOSSES["triplet"], {"mining": "hard"}),
    (LOSSES["triplet"], {"mining": "semi_hard"}),
]
NAMED_FORMS = [
    pytest.param(spec, changed, id=f"{spec.name}-{spec.definition.__name__}-{n}")
    for n, (spec, changed) in enumerate(FORMS)
]


def test_every_loss_is_there_under_its_name():
    assert {spec.name for spec in SHIPPED} <= set(losses.__all__)
    for name, spec in LOSSES.items():
        assert getattr(losses, name) is spec.function
        assert name == spec.function.__name__
    assert list(LOSSES) == sorted(LOSSES, key=lambda name: GROUPS.index(LOSSES[name].group))


# Without the one for a library that the tests do without.
MODULES = [
    found.name
    for found in pkgutil.walk_packages(losses.__path__, "lossprism.losses.")
    if found.name != "lossprism.losses.lightning"
]


def test_no_spec_of_the_package_is_missing():
    held = [vars(importlib.import_module(name)).values() for name in MODULES]
    specs = {id(one): one for values in held for one in values if isinstance(one, LossSpec)}
    assert {spec.name for spec in specs.values()} == set(LOSSES)
    assert all(LOSSES[spec.name] is spec for spec in specs.values())


def test_what_ships_is_imported_by_name():
    """So that an editor, a type checker and `help` see it without running the package."""
    tree = ast.parse(Path(losses.__file__).read_text(encoding="utf-8"))
    named = {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    constants = {name for name in named if isinstance(getattr(losses, name), LossSpec)}
    assert {id(getattr(losses, name)) for name in constants} == set(map(id, SHIPPED))
    functions = {spec.name for spec in SHIPPED} | {
        other.function.__name__ for spec in SHIPPED for other in spec.conventions if other.function
    }
    assert functions <= named & set(losses.__all__)
    assert set(losses.__all__) <= set(vars(losses))


@pytest.mark.parametrize("spec", EVERY)
def test_the_definition_and_the_function_agree(spec):
    given = inputs_for(spec, seed=21)
    torch.testing.assert_close(
        spec.definition(**given, **spec.defaults), call(spec, given), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("spec", EVERY)
def test_parameters_are_the_keywords_of_both_and_have_their_defaults(spec):
    function = dict(inspect.signature(spec.function).parameters)
    definition = inspect.signature(spec.definition).parameters
    gather = function.pop("gather", None)  # across processes, which a definition knows nothing of
    assert gather is None or gather.default is False
    assert {n: a.default for n, a in function.items()} == {
        n: a.default for n, a in definition.items()
    }
    for parameter in spec.parameters:
        argument = function[parameter.name]
        assert argument.kind is inspect.Parameter.KEYWORD_ONLY
        if (spec.name, parameter.name) in {
            ("triplet", "mining"),  # a batch has classes to mine from, not given triplets
            ("hierarchical_cosent", "weights"),  # 1 for each level, however many
        }:
            continue
        assert parameter.default == argument.default
    left = set(function) - set(spec.reads) - {p.name for p in spec.parameters}
    optional = {"queue", "queue_classes", "negatives", "positives"}
    optional |= {"own_negatives", "log_weight", "same_text"}  # no batch of pairs has these
    assert left <= optional


OTHERS = [
    pytest.param(spec.under(other.name), other.function, id=other.function.__name__)
    for spec in LOSSES.values()
    for other in spec.conventions
    if other.function
]


@pytest.mark.parametrize(("spec", "function"), OTHERS)
def test_the_function_of_a_convention_has_its_keywords_and_its_number(spec, function):
    assert getattr(losses, function.__name__) is function
    assert function.__name__ in losses.__all__
    assert ">>>" in function.__doc__
    assert "Args" in function.__doc__
    accepted = dict(inspect.signature(function).parameters)
    assert accepted.pop("gather").default is False
    assert {n: a.default for n, a in accepted.items()} == {
        n: a.default for n, a in inspect.signature(spec.definition).parameters.items()
    }
    given = inputs_for(spec, seed=21)
    found = function(**given, **spec.defaults)
    expected = spec.definition(**given, **spec.defaults)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("spec", EVERY)
def test_parameters_can_be_moved(spec):
    for parameter in spec.parameters:
        if parameter.choices:
            assert parameter.default in parameter.choices
        elif parameter.kind == "number":
            begins = parameter.on_value if parameter.default is None else parameter.default
            assert parameter.minimum <= begins <= parameter.maximum
            former = parameter.former_off  # no value of today
            assert former is None or not parameter.minimum <= former <= parameter.maximum
            assert parameter.symbol
            assert 0 < parameter.step <= (parameter.maximum - parameter.minimum) / 10
            assert not parameter.logarithmic or parameter.minimum > 0


@pytest.mark.parametrize("spec", EVERY)
def test_the_loss_is_finite_over_the_whole_range_of_its_parameters(spec):
    given = inputs_for(spec, seed=21)
    for parameter in spec.parameters:
        ends = (
            parameter.choices
            or {
                "number": (parameter.minimum, parameter.maximum),
                "switch": (False, True),
                "list": ((0.0,) * 3,),
            }[parameter.kind]
        )
        for value in ends:
            assert call(spec, given, **{parameter.name: value}).isfinite()
            settings = {**spec.defaults, parameter.name: value}
            for reference_value in (spec.collapse, spec.floor):
                found = reference_value and reference_value(given, **settings)
                assert found is None or torch.tensor(found).isfinite()


@pytest.mark.parametrize(("spec", "changed"), NAMED_FORMS)
def test_every_name_of_a_definition_has_latex_and_axes(spec, changed):
    steps = steps_of(spec.definition, **inputs_for(spec, seed=2), **{**spec.defaults, **changed})
    for name, value in steps.items():
        if not isinstance(value, Tensor):
            continue
        if spec.function not in SHIPPED_FUNCTIONS and name not in spec.symbols:
            continue  # drawn by its name
        assert name in spec.symbols, name
        symbol = spec.symbols[name]
        assert symbol.latex
        assert symbol.written.count("{") == symbol.written.count("}")
        assert symbol.stem in ("", symbol.latex.removesuffix("_i")), symbol.latex
        assert set(symbol.axes) <= AXES
        assert len(symbol.axes) == value.ndim, name


@pytest.mark.parametrize(("spec", "changed"), NAMED_FORMS)
def test_what_is_not_signed_never_falls_below_zero(spec, changed):
    for seed in range(5):
        given = inputs_for(spec, seed=seed)
        for name, value in steps_of(
            spec.definition, **given, **{**spec.defaults, **changed}
        ).items():
            if not isinstance(value, Tensor) or name not in spec.symbols:
                continue
            if not spec.symbols[name].signed:
                assert bool((value >= 0).all()), name


@pytest.mark.parametrize(("spec", "changed"), NAMED_FORMS)
def test_the_gradient_reaches_the_single_terms(spec, changed):
    """`terms` names a step that the loss depends on; for a logarithm of a sum of exponentials
    its gradient is a weight: not negative."""
    given = inputs_for(spec, seed=4)
    kept = {}

    def keep(*arguments, **named):
        kept.update(steps_of(spec.definition, *arguments, **named))

    leaves = {
        name: tensor.requires_grad_()
        if tensor.is_floating_point() and "labels" not in name
        else tensor
        for name, tensor in given.items()
    }
    keep(**leaves, **{**spec.defaults, **changed})
    terms, loss = kept[spec.terms], kept["loss"]
    (weights,) = torch.autograd.grad(loss, terms)
    assert weights.any()
    if (terms.isneginf()).any():
        assert not weights[terms.isneginf()].any()
    if spec.terms in ("terms", "violations"):
        assert (weights >= 0).all()


@pytest.mark.parametrize("spec", EVERY)
def test_an_entry_is_complete(spec):
    assert spec.title
    assert spec.formula.count("{") == spec.formula.count("}")
    assert set(spec.reads.values()) <= set(READABLE)
    assert (spec.collapse is None) == (not spec.collapse_formula)
    assert (spec.floor is None) == (not spec.floor_formula)


@pytest.mark.parametrize("spec", SHIPPED, ids=lambda spec: spec.name)
def test_what_ships_says_where_it_comes_from_and_how_it_is_called(spec):
    assert spec.references
    assert "Args" in spec.function.__doc__ or spec.name == "max_violation"
    assert ">>>" in spec.function.__doc__


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"torch": torch}).failed == 0


def test_a_function_without_an_entry_gets_one():
    def mine(scores, labels, *, sharpness=2.0, squared=False, bias=-1.0):
        return (sharpness * scores).sum()

    spec = spec_of(mine)
    assert (spec.name, spec.title, spec.group) == ("mine", "mine", "own")
    assert spec.reads == {"scores": "scores", "labels": "labels"}
    assert spec.defaults == {"sharpness": 2.0, "squared": False, "bias": -1.0}
    assert spec.parameters[0].maximum == 8.0
    assert spec.parameters[2].minimum == -4.0
    assert spec.definition is mine


def test_an_entry_that_reads_the_unknown_is_refused():
    def mine(scores, moods):
        return scores.sum()

    with pytest.raises(ValueError, match="mine reads moods; a batch offers scores, labels"):
        spec_of(mine)
    with pytest.raises(ValueError, match="group is 'other'"):
        LossSpec(function=mine, title="", formula="", group="other")


SEPARABLE = [spec for spec in LOSSES.values() if isinstance(spec.form, Separable)]


@pytest.mark.parametrize("spec", SEPARABLE, ids=lambda spec: spec.name)
def test_the_parts_of_a_separable_loss_make_its_terms(spec):
    given = inputs_for(spec, seed=4, count=9)
    steps = steps_of(spec.definition, **given, **spec.defaults)
    scores = steps["scores"]
    lower, higher = spec.form.parts(scores, **spec.defaults)
    terms = lower[:, None] + higher[None, :]
    if spec.form.by_gap:
        terms = terms + (given["labels"][None, :] - given["labels"][:, None]).relu().log()
    there = ~steps["terms"].isneginf()
    torch.testing.assert_close(terms[there], steps["terms"][there], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spec", SHIPPED, ids=lambda spec: spec.name)
def test_a_loss_that_is_the_largest_of_its_terms_declares_so(spec):
    drawn = [
        steps_of(spec.definition, **inputs_for(spec, seed=seed, count=9), **spec.defaults)
        for seed in range(4)
    ]
    is_largest = all(steps["loss"].isclose(steps[spec.terms].max().clamp(min=0)) for steps in drawn)
    assert is_largest == isinstance(spec.form, Largest)


def test_indices_are_those_of_the_formula():
    """What decides which pair is called i is a field; the formula says the same."""
    for spec in SHIPPED:
        for symbol in spec.symbols.values():
            written = "_{ji}" in symbol.latex
            assert (symbol.indices == ("j", "i")) == written, symbol.latex


def test_the_rule_of_lambda_speaks_of_lambda_alone():
    values = {
        (spec.group, parameter.symbol)
        for spec in SHIPPED
        for parameter in spec.parameters
        if parameter.role == "scale"
    }
    assert values == {("pair_scores", r"\lambda")}
    with pytest.raises(ValueError, match="role is 'colour'; it must be one of"):
        Parameter("hue", 1.0, role="colour")


def test_a_choice_with_a_formula_of_its_own_is_written_by_it():
    spec = LOSSES["info_nce"]
    assert spec.formula_at() == spec.formula
    assert spec.formula_at(symmetric=True) == spec.variants["symmetric=true"]
    assert LOSSES["pairwise_logistic"].formula_at(reduction="mean").startswith(r"\frac1{|P|}")
    symmetric = spec.under("sentence-transformers 6.2 MultipleNegativesSymmetricRankingLoss")
    assert symmetric.formula_at() == spec.variants["symmetric=true"]
    for spec in LOSSES.values():
        for choice in spec.variants:
            name, _, value = choice.partition("=")
            parameter = next(p for p in spec.parameters if p.name == name)
            assert value in (*parameter.choices, "true", "false")


@pytest.mark.parametrize("spec", EVERY)
def test_a_former_name_means_one_convention(spec):
    today = [convention.name for convention in spec.conventions]
    former = [old for convention in spec.conventions for old in convention.former]
    assert len({*today, *former}) == len(today) + len(former)
    for old, name in spec.former_conventions.items():
        assert spec.under(old) == spec.under(name)


# A convention without a version: it stands in an article, a question or an option,
# or in code of which it is not known by which commit it came to be as it is.
OF_NO_RELEASE = {
    ("cosent", "S0 (−10¹²)"),
    ("circle_self_paced", "paper (γ = 256)"),
    ("nt_xent", "SimCLR"),
    ("siglip", "averaged over cells (big_vision issue 179, unreleased)"),
    ("supcon", "S2 (the anchor is its own positive)"),
    (
        "supcon",
        "SupContrast, unreleased, December 2023 (anchors without a positive count as zeros)",
    ),
    ("orthogonal", "EmbeddingGemma (second moment alone, summed)"),
}
PEOPLES_NAMES = (
    "sentence-transformers|pytorch-metric-learning|torch|rax|allRank|TF-Ranking|keras-rs|AnglE"
    "|open_clip|FlagEmbedding|ms-swift|NeMo Automodel|lightly|speechbrain|info-nce-pytorch"
)
RELEASED = re.compile(rf"\b(?:{PEOPLES_NAMES}) \d+\.(?:\d+|x)\b")
COMMIT = re.compile(r"\b[\w-]+[ /][\w-]+ [0-9a-f]{7}\b")


def test_a_convention_names_the_version_of_its_library():
    """And those without a version are the few that have none."""
    unversioned = {
        (spec.name, one.name)
        for spec in SHIPPED
        for one in spec.conventions
        if not RELEASED.search(one.name) and not COMMIT.search(one.name)
    }
    assert unversioned == OF_NO_RELEASE


def test_a_label_has_the_version_that_is_installed_for_the_tests():
    """What is compared with the library in these tests is compared with the one in the label."""
    labels = [one.name for spec in SHIPPED for one in spec.conventions]
    for library in ("sentence-transformers", "pytorch-metric-learning"):
        version = ".".join(importlib.metadata.version(library).split(".")[:2])
        named = [label for label in labels if label.startswith(f"{library} ")]
        assert len(named) > 5
        assert {label.split()[1].rstrip(",") for label in named} == {version}


def test_a_definition_fits_on_one_screen():
    """At most 20 lines beside its docstring, and at most 2 branches."""
    definitions = {
        definition
        for spec in SHIPPED
        for form in (spec, *(spec.under(one.name) for one in spec.conventions))
        for definition in definitions_of(form.definition)
    }
    assert len(definitions) > 80
    for definition in definitions:
        tree = ast.parse(inspect.getsource(definition)).body[0]
        first = tree.body[1] if ast.get_docstring(tree) else tree.body[0]
        assert tree.body[-1].end_lineno - first.lineno < 20, definition.__name__
        branches = sum(isinstance(node, ast.If | ast.IfExp) for node in ast.walk(tree))
        assert branches <= 2, definition.__name__
