"""Print precision and recall of each finding; the exit status is 1 where one is too low."""

import sys

from tests.planted import table

if __name__ == "__main__":
    rows, low = table()
    print("\n".join(rows))
    sys.exit(f"Precision or recall is too low: {', '.join(low)}." if low else 0)
