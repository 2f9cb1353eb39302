"""The curves that Doctor searches for a bare number: ``python -m scripts.reference_curves``.

It writes `explorer/lab/doctor/reference_curves.json`, again after a change of a loss: the reference
values of each loss and convention that ship, where nothing is known beside the number.
"""

from __future__ import annotations

import json

from lossprism.explorer.lab.doctor.batch_counts import axes_of
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known
from lossprism.explorer.lab.doctor.reference_curves import FILE, Line, computed_lines
from lossprism.explorer.lab.doctor.reference_values import configured_losses
from lossprism.losses import SHIPPED


def table() -> dict[str, dict[str, list[Line]]]:
    """Compute the lines of each loss and convention."""
    known = Known()
    return {
        spec.name: {
            loss.convention: list(computed_lines(loss, tuple(axes_of(loss, known)), known))
            for loss in configured_losses(spec)
        }
        for spec in SHIPPED
    }


def main() -> None:
    losses = (
        f"{json.dumps(loss)}: {json.dumps(lines, separators=(',', ':'))}"
        for loss, lines in table().items()
    )
    FILE.write_text("{\n" + ",\n".join(losses) + "\n}\n", encoding="utf-8")
    print(f"Wrote {FILE}")


if __name__ == "__main__":
    main()
