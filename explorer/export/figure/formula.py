"""LaTeX as runs of styled text, for pictures without a formula renderer.

It knows the commands in this project's formulas: fractions become a/b, a bar over a whole
expression becomes mean(…), indices and exponents are small and shifted. An unknown command is shown
by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

SMALL, DOWN, UP = 0.7, -0.22, 0.38
THIN = "\u2009"


# "name sign name sign …", as one reads them.
def _table(text: str) -> dict[str, str]:
    parts = text.split()
    return dict(zip(parts[::2], parts[1::2], strict=True))


_LETTERS = _table(
    "alpha α beta β gamma γ delta δ varepsilon ε epsilon ε eta η theta θ kappa κ lambda λ mu μ "
    "nu ν pi π rho ρ sigma σ tau τ phi φ omega ω ell ℓ "
    "Delta Δ Gamma Γ Theta Θ Lambda Λ Sigma Σ Omega Ω"
)
_SIGNS = {
    **{name: ("sum", sign) for name, sign in _table("sum Σ prod Π").items()},
    **{name: ("relation", sign) for name, sign in _table("ne ≠ le ≤ ge ≥ in ∈ notin ∉").items()},
    **{
        name: ("binary", sign)
        for name, sign in _table("pm ± mp ∓ cup ∪ cdot · times × lor ∨").items()
    },
    "lVert": ("open", "‖"),
    "rVert": ("close", "‖"),
    "{": ("open", "{"),
    "}": ("close", "}"),
    "infty": ("ordinary", "∞"),
    ",": ("space", THIN),
    " ": ("space", " "),
    "quad": ("space", "   "),
}
_ACCENTS = {"bar": "\u0304", "hat": "\u0302", "tilde": "\u0303"}
_NAMED = {"log", "ln", "exp", "max", "min", "arg", "sin", "cos", "tan"}
_SIZES = re.compile(r"\\(?:[bB]igg?[lr]?|left|right|mathopen|mathclose)(?![a-zA-Z])")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Run:
    """A piece of text in one style; `size` and `rise` in units of the formula's own size."""

    text: str
    italic: bool = False
    size: float = 1.0
    rise: float = 0.0


@dataclass
class _Atom:
    kind: str
    runs: list[Run]


def runs(latex: str, word: Callable[[str], str] = str) -> list[Run]:
    r"""Return the formula as text from left to right; `word` translates the content of
    \text{…}."""
    return _merged(_spaced(_Formula(latex, word).atoms(until=None)))


class _Formula:
    def __init__(self, latex: str, word: Callable[[str], str]) -> None:
        self.tokens = _TOKEN.findall(_SIZES.sub("", latex))
        self.place = 0
        self.word = word

    def atoms(self, until: str | None) -> list[_Atom]:
        found: list[_Atom] = []
        while (token := self._next()) is not None and token != until:
            if token in "_^":
                base = found[-1] if found else _Atom("ordinary", [])
                script = _spaced(self._argument(), tight=True)
                base.runs += [_script(run, DOWN if token == "_" else UP) for run in script]
                if not found:
                    found.append(base)
            else:
                found += self._read(token)
        return found

    def _next(self) -> str | None:
        token = self.tokens[self.place] if self.place < len(self.tokens) else None
        self.place += 1
        return token

    def _argument(self) -> list[_Atom]:
        token = self._next()
        while token is not None and token.isspace():
            token = self._next()
        return [] if token is None else self._read(token)

    def _raw(self) -> str:
        r"""Return the argument of \text and \mathrm unchanged."""
        start = self.place
        if self._next() != "{":
            return "".join(self.tokens[start : self.place])
        while self._next() not in ("}", None):
            pass
        return "".join(self.tokens[start + 1 : self.place - 1])

    def _read(self, token: str) -> list[_Atom]:
        if token == "{":
            return self.atoms(until="}")
        if token.startswith("\\"):
            return self._command(token[1:])
        if token.isspace() or token == "}":
            return []
        if token.isalpha():
            return [_Atom("ordinary", [Run(token, italic=True)])]
        kind = {"(": "open", "[": "open", ")": "close", "]": "close", ",": "comma"}.get(token)
        kind = kind or (
            "binary" if token in "+-" else "relation" if token in "=<>:" else "ordinary"
        )
        return [_Atom(kind, [Run(token.replace("-", "−").replace("'", "′"))])]

    def _command(self, name: str) -> list[_Atom]:
        if name in ("frac", "tfrac", "dfrac"):
            above, below = self._argument(), self._argument()
            return [_Atom("fraction", [*_whole(above), Run("/"), *_whole(below)])]
        if name == "sqrt":
            return [_Atom("ordinary", [Run("√"), *_whole(self._argument())])]
        if name in _ACCENTS:
            over = _ACCENTS[name]
            return [_Atom("ordinary", [Run(r.text + over, r.italic) for r in self._inner()])]
        if name == "overline":
            return [_Atom("ordinary", [Run(self.word("mean") + "("), *self._inner(), Run(")")])]
        if name in ("text", "textbf"):
            return [_Atom("word", [Run(self.word(self._raw()))])]
        if name in ("mathrm", "texttt", "operatorname"):
            return [_Atom("operator", [Run(self._raw().replace("\\_", "_"))])]
        if name == "mathcal":
            return [_Atom("ordinary", [replace(r, text=_curly(r.text)) for r in self._inner()])]
        if name in _LETTERS:
            return [_Atom("ordinary", [Run(_LETTERS[name], italic=name != "ell")])]
        if name in _SIGNS:
            kind, sign = _SIGNS[name]
            return [_Atom(kind, [Run(sign)])]
        return [_Atom("operator" if name in _NAMED else "ordinary", [Run(name)])]

    def _inner(self) -> list[Run]:
        return _spaced(self._argument())


def _curly(letter: str) -> str:
    return {"L": "ℒ"}.get(letter, letter)


def _script(run: Run, rise: float) -> Run:
    return replace(run, size=run.size * SMALL, rise=run.rise * SMALL + rise)


def _whole(atoms: list[_Atom]) -> list[Run]:
    """Return one side of a fraction, in brackets unless it is a single thing."""
    inner = _spaced(atoms)
    ends = [*atoms[0].runs[:1], *atoms[-1].runs[-1:]] if atoms else []
    fenced = ends and (ends[0].text, ends[-1].text) in (("|", "|"), ("‖", "‖"))
    negative = len(atoms) == 2 and atoms[0].kind == "binary"
    if len(atoms) < 2 or fenced or negative:
        return inner
    return [Run("("), *inner, Run(")")]


def _spaced(atoms: list[_Atom], *, tight: bool = False) -> list[Run]:
    """Return the atoms in sequence with the usual space around operators."""
    out: list[Run] = []
    before = "start"
    for atom in atoms:
        kind = atom.kind
        if kind == "binary" and before in ("start", "open", "relation", "binary", "comma"):
            kind = "ordinary"  # a sign
        out += [Run(gap)] if (gap := _gap(before, kind, tight)) else []
        if kind == "fraction" and before in ("operator", "sum"):
            out += [Run("("), *atom.runs, Run(")")]
        else:
            out += atom.runs
        before = kind
    return out


def _gap(before: str, kind: str, tight: bool) -> str:
    if before in ("start", "space") or kind == "space":
        return ""
    if "word" in (before, kind):
        return " "
    if before in ("relation", "binary", "comma") or kind in ("relation", "binary"):
        return "" if tight else " "
    thing = ("ordinary", "operator", "sum", "fraction")
    if before == "sum" or (before == "operator" and kind in thing):
        return THIN
    return THIN if kind in ("operator", "sum") and before in (*thing, "close") else ""


def _merged(found: list[Run]) -> list[Run]:
    def joined() -> Iterator[Run]:
        held: Run | None = None
        for run in found:
            if held is not None and replace(held, text="") == replace(run, text=""):
                held = replace(held, text=held.text + run.text)
            else:
                if held is not None:
                    yield held
                held = run
        if held is not None:
            yield held

    return [replace(run, text=re.sub(" {2,3}", "  ", run.text)) for run in joined()]
