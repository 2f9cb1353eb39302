"""The curves that Doctor searches for a number: ``python -m scripts.reference_value_curves``.

It writes `explorer/lab/doctor/reference_values_by_unknown_count.json`, again after a change of a
loss: the reference values of each loss and convention that ship, where nothing is known beside the
number.
"""

from __future__ import annotations

import json

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import axes_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.reference_values import ConfiguredLoss, configured_losses
from lossprism.explorer.lab.doctor.reference_values_by_unknown_count import (
    FILE,
    Values,
    kinds_of,
    values_along,
)
from lossprism.losses import SHIPPED


def table() -> dict[str, dict[str, dict[str, list[Values | None]]]]:
    """Compute the values of each loss and convention, by kind, along each axis."""
    return {
        spec.name: {loss.convention: _values_of(loss) for loss in configured_losses(spec)}
        for spec in SHIPPED
    }


def _values_of(loss: ConfiguredLoss) -> dict[str, list[Values | None]]:
    known = Known()
    return {
        kind: [values_along(loss, kind, axis, known) for axis in axes_of(loss, known)]
        for kind in kinds_of(loss)
    }


def main() -> None:
    losses = (
        f"{json.dumps(loss)}: {json.dumps(values, separators=(',', ':'))}"
        for loss, values in table().items()
    )
    FILE.write_text("{\n" + ",\n".join(losses) + "\n}\n", encoding="utf-8")
    print(f"Wrote {FILE}")


if __name__ == "__main__":
    main()
