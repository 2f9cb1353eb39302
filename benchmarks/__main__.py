"""``python -m benchmarks NAME``: run one of the benchmarks."""

from __future__ import annotations

import importlib
import os
import sys

NAMES = (
    "conventions",
    "doctor",
    "encoding",
    "growth",
    "hosting",
    "interaction",
    "large",
    "losses",
    "scaling",
    "training",
)


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        print(f"usage: python -m benchmarks {{{'|'.join(NAMES)}}} [options]", file=sys.stderr)
        return 2
    # An app that is started again has its modules compiled.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    importlib.import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
