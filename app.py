"""LossPrism: what does this loss do to my batch?  ``python app.py`` opens it in the browser."""

from __future__ import annotations

import argparse
import os
import sys
import threading


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    parser.add_argument("--port", type=int, help="the first free one from 7860 if left out")
    parser.add_argument("--device", help="cpu, cuda, cuda:1, mps; the best present if left out")
    parser.add_argument("--loss", metavar="FILE.py:FUNCTION", help="open a loss of your own")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    from explorer import site  # after the arguments: --help should not wait for gradio

    try:
        first = site.first_scenario(chosen.device, chosen.loss)
        demo, address = site.open_page(first, chosen.host, chosen.port)
    except (ValueError, RuntimeError, OSError) as problem:
        print(f"LossPrism could not start: {problem}", file=sys.stderr)
        return 1
    print(f"LossPrism is at {address} (Ctrl-C stops it)", flush=True)
    if not chosen.no_browser and not os.environ.get("SPACE_ID"):
        import webbrowser

        webbrowser.open(address)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print("\nLossPrism has stopped.")
    finally:
        demo.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
