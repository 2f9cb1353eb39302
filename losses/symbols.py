"""How the parameters and the named intermediates of a loss are written and moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROLES = ("", "scale", "temperature", "sharpness", "margin")
# None: the parameter is off.
ParameterValue = float | bool | str | tuple[float, ...] | None


@dataclass(frozen=True)
class Parameter:
    """A keyword of a loss as a person moves it: default, range, symbol.

    A parameter with `choices` is picked, a boolean default is switched, a tuple default is a
    list of numbers, anything else is a number between `minimum` and `maximum`. `role` is what rules
    of thumb know it as, one of `ROLES`: "scale" is λ before a difference of two scores, of which
    λ = α/σ_s (S1 eq. 50) speaks; "sharpness" is any other factor or temperature that sharpens all
    that is compared. Of a `whole` one only whole numbers count. A number with an `on_value` may be
    off, which is None, and begins at that value when it is switched on; `former_off` is the number
    that stood for off in earlier versions. One that speaks of a query's own hard negatives
    (`negative_owners`) says in `without_owners` at which value it does not. `label` is what it is
    called in English, the same in every loss that has one of this name; translations stand in
    `explorer/locale`.
    """

    name: str
    default: ParameterValue
    symbol: str = ""
    minimum: float = 0.0
    maximum: float = 1.0
    step: float = 0.01
    logarithmic: bool = False
    choices: tuple[str, ...] = ()
    role: str = ""
    on_value: float | None = None
    former_off: float | None = None
    whole: bool = False
    without_owners: ParameterValue | None = None
    label: str = ""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role is {self.role!r}; it must be one of {', '.join(ROLES)}")

    @property
    def kind(self) -> str:
        if self.choices:
            return "choice"
        if isinstance(self.default, bool):
            return "switch"
        return "list" if isinstance(self.default, tuple) else "number"


@dataclass(frozen=True)
class Symbol:
    """How a named intermediate is written, and what its rows and columns are.

    `latex` is its name, and `equals` what that stands for, where this is told. `stem` is the name
    without the letter that counts it, ``s`` of ``s_i``, where another letter may count it as well.
    `axes` are axis names ("pair", "query", "key", "view", "sentence", "class", "triplet",
    "level", "dimension"). `live` is the right-hand side for one cell with the names of other
    intermediates and parameters in «…», indexed by row r and column c: ``«scores[r]»``. Where it
    depends on a parameter it is a formula for each condition, an expression of the parameters, of
    which the first that holds counts: ``{"soft_margin": …, "": …}``. What can
    never be below 0 is not `signed`: 0 is then the end of its scale and not the middle. `indices`
    are the letters that count its last axes, where they are not i and then j.
    """

    latex: str
    axes: tuple[str, ...] = ()
    live: str | Mapping[str, str] = ""
    signed: bool = True
    indices: tuple[str, ...] = ()
    equals: str = ""
    stem: str = ""

    @property
    def written(self) -> str:
        """The name, and what it stands for."""
        return f"{self.latex} = {self.equals}" if self.equals else self.latex

    def counted_by(self, letter: str) -> str:
        """The name with this letter where it has one of its own."""
        return f"{self.stem}_{letter}" if self.stem else self.latex
