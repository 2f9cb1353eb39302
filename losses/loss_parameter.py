"""A parameter of a loss: its default, its range, and the role that it plays."""

from dataclasses import dataclass

ROLES = ("", "scale", "temperature", "sharpness", "margin")


# None: the parameter is off.
ParameterValue = float | bool | str | tuple[float, ...] | None


@dataclass(frozen=True)
class Parameter:
    """A keyword of a loss as a person moves it: default, range, symbol.

    A parameter with `choices` is picked, a boolean default is switched, a tuple default is a list
    of numbers, anything else is a number between `minimum` and `maximum`. `role` is its meaning for
    rules of thumb, one of `ROLES`: "scale" is λ before a difference of two scores, to which λ =
    α/σ_s (S1 eq. 50) applies; "sharpness" is any other factor or temperature that sharpens all
    comparisons. A `whole` one takes only whole numbers. A number with an `on_value` may be off,
    which is None, and starts at that value when it is switched on; `former_off` is the number that
    stood for off in earlier versions. A parameter about a query's own hard negatives
    (`negative_owners`) states in `without_owners` the value at which it has no effect. `label` is
    its English name, the same in every loss with a parameter of this name; translations are in
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
