"""English and Chinese say the same things, and everything asked for is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.locale import COUNTS, LANGUAGES, catalogue, say, title_word, word
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, SHIPPED
from tests.scenes import data_for

ROOT = Path(__file__).resolve().parents[3] / "explorer"
SCRIPTS = sorted(path for path in (ROOT / "web").rglob("*.js") if "vendor" not in path.parts)


def placeholders(sentence):
    return set(re.findall(r"\{(\w+)\}", sentence))


def test_the_same_keys_in_every_language():
    keys = [set(catalogue(language)) for language in LANGUAGES]
    assert keys[0] == keys[1]


def test_the_same_placeholders_in_every_language():
    for key, sentence in catalogue("en").items():
        assert placeholders(sentence) == placeholders(catalogue("zh")[key]), key


def test_nothing_is_empty_and_chinese_is_chinese():
    for key in catalogue("en"):
        assert catalogue("en")[key].strip(), key
        assert catalogue("zh")[key].strip(), key
    chinese = sum(bool(re.search("[一-鿿]", s)) for s in catalogue("zh").values())
    assert chinese > 0.95 * len(catalogue("zh"))


PREFIXES = "|".join(sorted({key.partition(".")[0] for key in catalogue("en")}))


def test_every_key_an_instrument_names_exists():
    key = re.compile(rf'"((?:{PREFIXES})\.[a-z_]\w*(?:\.\w+)*)"')
    known, missing = set(catalogue("en")), {}
    for script in SCRIPTS:
        if unknown := set(key.findall(script.read_text(encoding="utf-8"))) - known:
            missing[str(script.relative_to(ROOT))] = unknown
    assert not missing


def test_no_sentence_is_kept_that_nobody_says():
    """Every key stands somewhere in full, or fits a name that is put together there."""
    sources = [*SCRIPTS, *ROOT.rglob("*.py"), *(ROOT.parent / "losses").rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    whole = set(re.findall(r"[\"'`]([a-z_]+(?:\.[\w-]+)+)[\"'`]", text))
    raised = re.findall(r'Problem\(\s*f?"([\w{}]+)"', text)
    result = re.findall(r'Remark\(\s*f?"([\w{}.]+)"', text)
    pieced = set(re.findall(r"[`\"']([a-z_]+\.[^`\"'\s]*\$?\{[^}]*\}[^`\"'\s]*)[`\"']", text))
    pieced -= {"ui.{word}", "problem.{key}"}  # would fit everything
    pieced |= {f"problem.{key}" for key in raised} | {f"remark.{key}" for key in result}
    fitting = [
        re.compile(".+".join(map(re.escape, re.split(r"\$?\{[^}]*\}", name)))) for name in pieced
    ]
    unsaid = {
        key
        for key in {name.removesuffix(".touch") for name in catalogue("en")} - whole
        if not any(pattern.fullmatch(key) for pattern in fitting)
    }
    assert unsaid == set()


BY_POINTER = re.compile(r"\b(point at|click|hover|drag)\b", re.IGNORECASE)
BY_FINGER = re.compile(r"\b(tap|fingers?)\b", re.IGNORECASE)


def test_a_finger_gets_the_same_words_as_a_pointer():
    """On the page: a terminal names a file “to point at”, and has no finger."""
    known = catalogue("en")
    said_to = {
        kind: {key.removesuffix(".touch") for key, text in known.items() if by.search(text)}
        for kind, by in (("pointer", BY_POINTER), ("finger", BY_FINGER))
    }
    of_two = {key.removesuffix(".touch") for key in known if key.endswith(".touch")}
    assert said_to["pointer"] - {"problem.figure_format"} == said_to["finger"] == of_two
    assert not any(BY_FINGER.search(text) for key, text in known.items() if key in of_two)


# Not for a reader: what the language, the keyboard, CSS and LaTeX are called, and the words of
# Plotly in whose place ours are put.
NO_WORDS = {
    r"\\mathcal L = ",
    "tbody tr",
    "Enter",
    "Backspace",
    "Escape",
    "Tab",
    "Plotly",
    "middle right",
    "top center",
    "Zoom",
    "Pan",
    "Reset axes",
    "Double-click to zoom back out",
}
READABLE = re.compile(r"[A-Za-z]{2,} [A-Za-z]|^[A-Z][a-z]+[.!?…]?$|[一-鿿]")


def readable(text):
    """Whether a person would take this for words: two in a row, a capitalised one, Chinese."""
    return READABLE.search(text)


def texts_of(script):
    """What stands in quotation marks in a script, comments aside."""
    code = re.sub(r"(?m)^\s*//.*$|(?<=[;{}),])\s*//.*$", "", script.read_text(encoding="utf-8"))
    return [
        whole or re.sub(r"\$\{[^}]*\}", "", pieced)
        for whole, pieced in re.findall(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code)
    ]


def test_the_scan_finds_the_texts_of_the_scripts():
    assert sum(len(texts_of(script)) for script in SCRIPTS) > 3000


def test_no_word_for_a_reader_stands_in_a_script():
    found = {}
    for script in SCRIPTS:
        words = {text for text in texts_of(script) if readable(text)} - NO_WORDS
        if fonts := {w for w in words if not w.startswith(".") and "sans-serif" not in w}:
            found[str(script.relative_to(ROOT))] = fonts
    assert not found


PAGES = sorted((ROOT / "web" / "pages").rglob("initial_page_data.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_word_for_a_reader_stands_in_a_page(page):
    tree = ast.parse(page.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # docstrings
    words = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in docstrings and readable(node.value)
    }
    assert words == set()


def test_the_scan_finds_words():
    for text in ("Add a row", "Working…", "Cancel", "添加一行"):
        assert readable(text)
    for text in ("ui.add_row", "lp-button", "change", "aria-label", "div.lp-row.lp-wrap", "#"):
        assert not readable(text)


def test_every_problem_raised_has_its_sentence():
    raised = set()
    for path in ROOT.rglob("*.py"):
        raised |= set(re.findall(r'Problem\(\s*"(\w+)"', path.read_text(encoding="utf-8")))
    assert len(raised) > 20
    missing = {key for key in raised if f"problem.{key}" not in catalogue("en")}
    assert not missing


OURS = [
    "cosent",
    "weighted_cosent",
    "hierarchical_cosent",
    "multitask_cosent",
    "pairwise_logistic",
    "max_violation",
    "pairwise_hinge",
    "circle",
    "circle_self_paced",
    "cosine_mse",
    "binary_cross_entropy",
    "angle",
    "info_nce",
    "focal_info_nce",
    "soft_info_nce",
    "gist",
    "decoupled",
    "mega_batch_margin",
    "debiased",
    "hard_weighted",
    "online_contrastive",
    "nt_xent",
    "nce",
    "supcon",
    "siglip",
    "multi_similarity",
    "n_pair",
    "contrastive",
    "triplet",
    "lifted",
    "softmax",
    "arcface",
    "cosface",
    "proxy_nca",
    "proxy_anchor",
    "alignment",
    "uniformity",
    "vicreg",
    "barlow_twins",
    "orthogonal",
    "list_net",
    "softmax_rank",
    "list_mle",
    "lambda_loss",
    "approx_ndcg",
    "adr_mse",
    "margin_mse",
    "distill_kl",
    "embedding_mse",
]


@pytest.mark.parametrize("name", OURS)
def test_every_loss_and_parameter_of_ours_is_described(name):
    """A loss added in one file may go without: the page then shows its docstring."""
    assert f"loss.{name}.about" in catalogue("en")
    for parameter in LOSSES[name].parameters:
        assert f"parameter.{parameter.name}" in catalogue("en")
        for choice in parameter.choices:
            assert f"choice.{choice}" in catalogue("en")
    for symbol in LOSSES[name].symbols.values():
        for axis in symbol.axes:
            assert f"axis.{axis}" in catalogue("en")
            assert f"axis.one.{axis}" in catalogue("en")


def test_values_are_put_in_as_text():
    sentence = say("en", "problem.unknown_loss", name="{known}", known="cosent")
    assert "cosent" in sentence


def test_a_problem_speaks_english_and_travels_as_json():
    problem = Problem("no_positives", threshold="3")
    assert "threshold 3" in str(problem)
    sentences = {"key": "problem.no_positives", "about": "", "values": {"threshold": "3"}}
    assert problem.to_json() == sentences


@pytest.mark.parametrize("name", OURS)
def test_every_step_of_ours_is_explained_in_a_sentence(name):
    spec = LOSSES[name]
    choices = next((p.choices for p in spec.parameters if p.name == "mining"), ("",))
    for mining in choices:
        for switch in [p.name for p in spec.parameters if p.kind == "switch"] or [""]:
            chosen = (("mining", mining),) if mining else ()
            chosen += ((switch, True),) if switch else ()
            found = explore(Scenario(data_for(name, Data()), loss=name, parameters=chosen))
            for step in (*found.trace.inputs, *found.trace.steps):
                keys = [f"step.{owner}.{step.name}" for owner in (name, spec.group, "any")]
                assert any(key in catalogue("en") for key in keys), (name, step.name)


def test_words_inside_formulas_are_translated():
    formulas = set()
    for spec in LOSSES.values():
        for form in (spec, *(spec.under(c.name) for c in spec.conventions)):
            formulas |= {form.formula, *(symbol.written for symbol in form.symbols.values())}
    words = {word for text in formulas for word in re.findall(r"\\text\{([^}]*)\}", text)}
    assert words
    assert {f"math.{word}" for word in words} <= set(catalogue("zh"))


def test_every_loss_has_its_name_in_both_languages():
    for spec in SHIPPED:
        assert catalogue("en")[f"loss.{spec.name}.title"] == spec.title
        assert f"loss.{spec.name}.title" in catalogue("zh")


def test_counts_are_grouped_and_other_numbers_are_not():
    sentence = say("en", "figure_text.violated", part=1000, all=2_500_000)
    assert "1\u202f000 of 2\u202f500\u202f000" in sentence
    assert "seed 1000" in say("en", "finetune.seed_is", seed=1000)
    assert say("en", "figure_text.data_typed", count=999).startswith("999 ")


def test_a_value_with_its_own_words_has_the_language_of_the_sentence():
    known = [title_word(LOSSES["cosent"]), title_word(LOSSES["circle"]), word("loss.x.title", "X")]
    values = {"loss": title_word(LOSSES["contrastive"]), "known": known}
    english = say("en", "problem.training_needs_vectors", **values)
    chinese = say("zh", "problem.training_needs_vectors", **values)
    assert english.startswith("Contrastive ")
    assert "CoSENT; Circle; X" in english  # a name may hold a comma
    assert "、X" in chinese
    assert catalogue("zh")["loss.contrastive.title"] in chinese
    assert catalogue("zh")["loss.circle.title"] in chinese


def test_what_is_put_into_a_sentence_is_not_read_as_one():
    assert "“{pairs}”" in say("en", "problem.training_no_run", name="{pairs}", pairs="b")


def test_what_has_a_plural_is_grouped_as_a_count():
    few = {"epochs", "found", "room", "runs", "seeds", "uploads"}  # never a thousand
    plural = {
        name for text in catalogue("en").values() for name in re.findall(r"\{(\w+):[^|}]*\|", text)
    }
    assert plural - COUNTS == few
    assert "1\u202f234" in say("en", "remark.run_repeats", pairs="p", repeated=1234)
    sentence = say("en", "compare.vary.cells_of", rows=1234, columns=2000)
    assert sentence == "Rows: 1\u202f234; columns: 2\u202f000."


# Quoted for another reason than to name a control: what a user types or reads elsewhere.
QUOTED = {
    *("this pair is positive", "they belong together", "all apart", "all alike"),
    *("teacher", "data", "similarity", "Content-Type: application/json"),
    *("此对为正样本", "匹配", "一加上差的指数之和", "角色=列名"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_control_that_is_named_is_called_so(language):
    """“Split the batch” in a sentence is the very name that stands on the page."""
    words = catalogue(language)
    names = {text.strip(" .。…") for text in words.values()}
    unknown = {
        (key, quoted)
        for key, text in words.items()
        if ".note." not in key
        for quoted in re.findall("“([^”{}]+)”", text)
        if quoted.strip(" ,.，。…") not in names | QUOTED
    }
    assert not unknown


# In Chinese a thing has one name: of each English word, and what else it was or may be called.
ONE_NAME = {
    "minimum": ("最小值", "下限"),
    "at collapse": ("坍缩", "坍塌|塌缩"),
    "hinge": ("合页", "铰链"),
    "convention": ("实现版本", "约定"),
    "batch size": ("批", "批大小|批量大小"),
    "hard negative": ("难负样本", "困难负"),
    "held-out": ("留出", "验证集"),
    "violated": ("排反", "违反|逆序"),
}


@pytest.mark.parametrize("english", ONE_NAME)
def test_in_chinese_a_thing_has_one_name(english):
    name, others = ONE_NAME[english]
    named = {
        key: catalogue("zh")[key]
        for key, text in catalogue("en").items()
        # Not in a name of code, in a placeholder or in a citation.
        if re.search(rf"\b{english}s?\b", re.sub(r"\{[^}]*\}|\S*[_=@]\S*|\".*?\"", "", text), re.I)
        if not key.startswith("cite.")
    }
    assert named
    assert not {key: text for key, text in named.items() if re.search(others, text)}
    assert not {key: text for key, text in named.items() if name not in text}


# Second names of a thing, beside the one that the glossary has: docs/zh/glossary.md.
SECOND_NAMES = (
    "负例|正例|锚句|引导编码器|掩去|已掩码|单元(?!格)|坍缩时的值|标志值|滑杆|程序库|逆序|您"
)


def test_chinese_has_no_second_name_of_a_thing():
    assert not {key: text for key, text in catalogue("zh").items() if re.search(SECOND_NAMES, text)}
    documents = [*(ROOT.parent / "docs" / "zh").rglob("*.md")]
    assert documents
    assert not [page for page in documents if re.search(SECOND_NAMES, page.read_text("utf-8"))]
