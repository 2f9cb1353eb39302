from __future__ import annotations

import sys

from tests.__main__ import RELEASE, run

if __name__ == "__main__":
    sys.exit(run("-m", RELEASE, *sys.argv[1:]))
