"""``python -m benchmarks NAME``: run one of the benchmarks."""

from __future__ import annotations

import importlib
import os
import sys

# The module of each benchmark, by the name of its command.
MODULES = {
    "conventions": "conventions",
    "doctor": "doctor_on_a_million_rows",
    "encoding": "encoding",
    "growth": "time_over_table_rows",
    "hosting": "hosting.all_parts",
    "interaction": "interaction",
    "large": "large",
    "losses": "losses",
    "scaling": "distributed_info_nce",
    "training": "training_overhead",
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in MODULES:
        print(f"usage: python -m benchmarks {{{'|'.join(MODULES)}}} [options]", file=sys.stderr)
        return 2
    # An app that is started again has its modules compiled.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    importlib.import_module(f"benchmarks.{MODULES[sys.argv[1]]}").main(sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
