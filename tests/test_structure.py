"""Imports point one way, and the parts that should work alone do."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from graphlib import TopologicalSorter
from pathlib import Path

from tests.statements import statements

ROOT = Path(__file__).resolve().parents[1]

# Who may import whom: cli → web → lab → export → core → sources → runtime → locale → losses, and

RANK = {
    "lossprism.losses": 0,
    "lossprism.explorer.locale": 1,
    "lossprism.explorer.runtime": 2,
    "lossprism.explorer.sources": 3,
    "lossprism.explorer.core": 4,
    "lossprism.explorer.lab": 6,
    "lossprism.explorer.export": 5,
    "lossprism.explorer.web": 7,
    "lossprism.explorer.cli": 8,
    "lossprism.explorer.notebook": 8,
}


def name_of(path):
    dotted = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    within = "lossprism." if dotted.startswith(("losses", "explorer")) else ""
    return within + dotted.removesuffix(".__init__")


FILES = {
    name_of(path): path
    for folder in ("lossprism", "losses", "explorer", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def room_of(module):
    """The room that a module stands in; None for what is not ours or hands on."""
    return next((room for room in RANK if f"{module}.".startswith(f"{room}.")), None)


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """The modules of ours that a file imports, also within its functions and for types alone."""
    found = statements(parsed(path))
    return set(itertools.chain.from_iterable(map(named_in, found)))


def named_in(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in FILES]
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return []
    inner = [f"{node.module}.{alias.name}" for alias in node.names]
    within = [name for name in inner if name in FILES]
    # A module's own names, or a package handed over for what it holds beside modules.
    return within + ([node.module] if node.module in FILES and len(within) < len(inner) else [])


def test_imports_point_one_way():
    wrong = []
    for module in (m for m in FILES if m.startswith(("lossprism.losses", "lossprism.explorer."))):
        own = room_of(module)
        if own is None:
            wrong.append(f"{module} stands in no room")
            continue
        found = statements(parsed(FILES[module]))
        for target in itertools.chain.from_iterable(map(named_in, found)):
            other = room_of(target)
            if other not in (None, own) and RANK[other] >= RANK[own]:
                wrong.append(f"{module} imports {target}")
    assert not wrong


def test_nobody_imports_in_a_circle():
    """An import within a function may put off the work, and mends no circle."""
    graph = {module: imported(path) for module, path in FILES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


LONG = 460  # lines


def test_one_module_depends_on_gradios_internals():
    """Another Gradio may have others: what is named here is what `import gradio` does not offer."""
    internal = re.compile(r"^\s*(?:from|import) gradio\.|\b_queue\b|_deferred_apis", re.MULTILINE)
    found = {name for name, path in FILES.items() if internal.search(path.read_text("utf-8"))}
    assert found == {"lossprism.explorer.web.api.gradio_private"}


def test_one_module_parses_python():
    """Elsewhere two threads could parse at once, which CPython 3.11 does not bear."""
    parses = re.compile(r"\bast\.(?:parse|literal_eval)\(")
    assert in_the_product(parses) == {"lossprism.explorer.runtime.python_parsing_lock"}


def test_one_module_reads_json():
    """Elsewhere text that is nested too deeply would raise what nobody expects of bad JSON."""
    reads = re.compile(r"\bjson\.loads?\(|\bJSONDecoder\b")
    of_ours = {"lossprism.explorer.runtime.json_encoding", "lossprism.explorer.locale"}
    assert in_the_product(reads) == {"lossprism.explorer.runtime.json_reading", *of_ours}


def in_the_product(pattern):
    """The modules of the app whose text has a match."""
    product = {name: path for name, path in FILES.items() if name.startswith("lossprism.explorer.")}
    return {name for name, path in product.items() if pattern.search(path.read_text("utf-8"))}


# Words at the start of a docstring that put a question, or a part of a thing, in place of it.
NO_BEGINNING = re.compile(
    r"(What|Whatever|Whether|How|Which|Whichever|Where|Wherever|Who|Whoever|Whose|Whom|When|Why"
    r"|As|Of|One|That|Those|If)\b"
)
# Words that a stranger cannot guess in the name of a file, a function or a class.
PRIVATE_WORDS = {
    "akin", "asked", "asking", "densely", "feel", "feels", "felt", "few", "heard", "hears", "heed",
    "landmark", "landmarks", "most", "nobody", "nought", "parcels", "patience", "promise", "room",
    "rooms", "said", "scene", "scenes", "sure", "tell", "tells", "told", "untold", "wanted",
    "wants", "whoever",
}  # fmt: skip
# A reason that answers give by this name, and a superlative.
PLAIN = {"few_lists", "most_disputed_pair"}
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def described():
    """Yield (module, node) for modules, classes and functions."""
    for module, path in FILES.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, (ast.Module, *NAMED)):
                yield module, node


def test_docstrings_start_with_a_verb_or_a_noun():
    found = [
        f"{module}: {docstring.partition(chr(10))[0]}"
        for module, node in described()
        if NO_BEGINNING.match(docstring := ast.get_docstring(node) or "")
    ]
    assert not found, "\n".join(found)


def test_names_are_words_that_a_stranger_guesses():
    names = {
        (module, node.name if isinstance(node, NAMED) else module.rpartition(".")[2])
        for module, node in described()
    }
    found = sorted(
        f"{module}: {name}"
        for module, name in names
        if name not in PLAIN
        and PRIVATE_WORDS & {part.lower() for part in re.findall(r"[a-z]+|[A-Z][a-z]*", name)}
    )
    assert not found, "\n".join(found)


def test_a_long_file_has_its_reason():
    """`docs/architecture.md` names every file that is longer, and none that is not."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Long files")[1]
    known = re.findall(r"^\| `(\S+)` \| \S", text, re.MULTILINE)
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in ("losses", "explorer", "benchmarks", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".js", ".css") and "vendor" not in path.parts
        if len(path.read_text(encoding="utf-8").splitlines()) > LONG
    ]
    assert sorted(known) == sorted(found)


# ---- The browser's modules ---------------------------------------------------------------------

WEB = ROOT / "explorer" / "web"
MODULES = {
    path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(WEB.rglob("*.js"))
    if "vendor" not in path.parts
}
IMPORT = re.compile(r"""^(?:import|export)\s[^"';]*"([^"]+)";$|^import "([^"]+)";$""", re.MULTILINE)


def imported_modules(module):
    """What a module of the browser imports, by its place below explorer/web."""
    folder = (WEB / module).parent
    sentences = [one or other for one, other in IMPORT.findall(MODULES[module])]
    assert all(address.startswith(".") for address in sentences), f"{module} imports from elsewhere"
    return [(folder / address).resolve().relative_to(WEB).as_posix() for address in sentences]


def test_a_page_imports_from_itself_and_the_kit_alone():
    """pages/<page> → kit; no page reaches into another, and the kit knows of no page. A page may
    have folders of its own."""
    wrong = []
    for module in MODULES:
        page = re.match(r"pages/\w+", module)
        room = page[0] if page else module.rpartition("/")[0]
        wrong += [
            f"{module} imports {target}"
            for target in imported_modules(module)
            if not (WEB / target).is_file() or not target.startswith(("kit/", f"{room}/"))
        ]
    assert not wrong


def test_no_module_of_the_browser_imports_in_a_circle():
    known = {module: imported_modules(module) for module in MODULES}
    assert sum(map(len, known.values())) > 100
    TopologicalSorter(known).prepare()


def test_the_one_global_of_the_browser_is_the_mount_point():
    made = re.compile(r"(?:window|globalThis)\.(\w+)\s*(?:\?\?|\|\|)?=(?!=)")
    found = {module: names for module, text in MODULES.items() if (names := made.findall(text))}
    assert found == {"kit/page_startup.js": ["lossprism"]}


# ---- What logic may read -----------------------------------------------------------------------


def test_logic_reads_no_words():
    """A problem says in `about` what would put it right, a symbol its name in `latex` and what it
    stands for in `equals`: nothing is found out by taking a key or LaTeX apart."""
    taken_apart = re.compile(
        r"""[=!]=\s*["']problem\.\w*["']|\bre\.\w+\([^\n]*\blatex\b"""
        r"""|\blatex\.(?:partition|r?split|r?find|index|startswith|endswith|remove\w+)\("""
    )
    files = [path for name, path in FILES.items() if name.startswith("lossprism.explorer.")]
    assert files
    assert MODULES
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    found = {
        (place, message)
        for place, text in {**texts, **MODULES}.items()
        for message in taken_apart.findall(text)
    }
    assert found == set()
