from __future__ import annotations

import sys

from tests.__main__ import run

if __name__ == "__main__":
    sys.exit(run("tests/release", *sys.argv[1:]))
