"""LossPrism: what does this loss do to my batch?  ``python app.py`` opens it in the browser."""

import sys

from lossprism.explorer.cli import main

if __name__ == "__main__":
    sys.exit(main())
