"""Effect of a loss's own setting (λ, τ or a margin) on the comparison of two losses."""

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lossprism.explorer.core.remarks import Remark
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.runtime.number_format import display_number, fixed, whole_percent
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.losses import Parameter

DECIMALS = 3


@dataclass(frozen=True)
class TriedSetting:
    """A loss at one `value` of its setting, with its figure, of which more is better. `usual` is
    the value of its convention; both are None for a loss without a setting. `others` is the rest of
    the plan."""

    loss: str
    setting: Parameter | None
    value: float | None
    usual: float | None
    figure: float
    others: str

    @property
    def spelled(self) -> str:
        """The setting as "λ = 20 (cosent)"; "" of a loss without one."""
        if self.setting is None or self.value is None:
            return ""
        symbol = self.setting.symbol or self.setting.name
        if symbol.startswith("\\"):  # TeX names Greek letters as HTML does
            symbol = html.unescape(f"&{symbol[1:]};")
        return f"{symbol} = {display_number(self.value)} ({self.loss})"


def tried_setting(plan: Json, figure: float) -> TriedSetting:
    """Return the setting that a plan, as JSON without its seed, tried."""
    read = TrainingPlan.from_run(plan)
    numbers = (one for one in read.spec.parameters if one.role and one.kind == "number")
    setting = next(numbers, None)
    settings, usual = read.settings, replace(read, parameters=()).settings
    others = {key: one for key, one in plan.items() if key not in ("loss", "parameters")}
    others |= {name: one for name, one in settings.items() if not setting or name != setting.name}
    value, at_first = (_value(setting, which) for which in (settings, usual))
    return TriedSetting(
        read.loss, setting, value, at_first, figure, json.dumps(others, sort_keys=True)
    )


def _value(setting: Parameter | None, settings: Mapping[str, object]) -> float | None:
    value = settings[setting.name] if setting else None
    return float(value) if isinstance(value, int | float) else None


def on_settings(trials: Sequence[TriedSetting]) -> Iterator[Remark]:
    """Yield remarks on how much of the lead of the best loss, the first, over each other one its
    setting explains; or a remark that none was tuned."""
    best, *rest = trials
    firsts = {one.loss: one for one in reversed(rest) if one.loss != best.loss}
    for other in sorted(firsts.values(), key=trials.index):
        sweeps = [_sweep(one, trials) for one in (best, other)]
        if any(len(sweep) > 1 for sweep in sweeps):
            yield from _share(*sweeps)
        elif spelled := _spelled((best, other)):
            yield Remark(
                "verdict_not_tuned", {"best": best.loss, "other": other.loss, "setting": spelled}
            )


def _sweep(one: TriedSetting, trials: Iterable[TriedSetting]) -> list[TriedSetting]:
    """The same loss at all values of its setting, and nothing else changed; first the value nearest
    the usual one."""
    same = [each for each in trials if (each.loss, each.others) == (one.loss, one.others)]
    usual = one.usual or 0.0
    return sorted(same, key=lambda each: abs((each.value or 0.0) - usual))


def _share(one: Sequence[TriedSetting], other: Sequence[TriedSetting]) -> Iterator[Remark]:
    """Remark on the lead of one loss at the usual values, and with each at its best."""
    if one[0].figure < other[0].figure:
        one, other = other, one
    usual = one[0].figure - other[0].figure
    if usual == 0:
        return
    tuned = max(each.figure for each in one) - max(each.figure for each in other)
    share = min(max((usual - tuned) / usual, 0.0), 1.0)
    values: dict = {"best": one[0].loss, "other": other[0].loss}
    values |= {"setting": _spelled((one[0], other[0])), "difference": fixed(usual, DECIMALS)}
    values |= {"tuned": fixed(tuned, DECIMALS), "share": whole_percent(share)}
    yield Remark("verdict_setting", {**values, "count": len(one), "other_count": len(other)})


def _spelled(both: Iterable[TriedSetting]) -> str:
    return ", ".join(filter(None, (one.spelled for one in both)))
