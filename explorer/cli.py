"""The command line: ``python app.py`` and, if installed, ``lossprism``."""

from __future__ import annotations

import argparse
import gc
import os
import select
import signal
import sys
import threading
import traceback
from contextlib import nullcontext
from typing import TYPE_CHECKING

from lossprism.explorer.lab.compare import terminal_commands as comparing
from lossprism.explorer.lab.doctor import UNUSABLE_STATUS
from lossprism.explorer.lab.doctor import explain_and_doctor_command_line_options as doctoring
from lossprism.explorer.lab.training import train_and_compare_commands as training
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.deployment_policy import (
    deployment_policy,
    use_hosted_policy,
    use_owner_policy,
)
from lossprism.explorer.runtime.single_folder_for_written_files import confine_writes_to
from lossprism.version import VERSION

if TYPE_CHECKING:
    from lossprism.explorer.lab.saved_training_batches import SavedBatchScenario

EXAMINES = ("explain", "doctor")  # whose status 1 says that something severe was found
STOP_S = 5.0  # for work under way to end
WAIT_S = 0.5  # until Ctrl-C is seen, at most
# Exit statuses of a tool that Ctrl-C ended, and of a closed pipe.
INTERRUPTED, READER_GONE = 128 + 2, 128 + 13
DESCRIPTION = "LossPrism: what does this loss do to my batch?"
INCOMPLETE = """\
The package {name} is not installed. All that the page and the trainings need comes with
    pip install ".[app]"
in LossPrism's repository, or with pip install -r requirements.txt there."""


def argument_parser(program: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands; `program` is its name in usage lines, by default the
    process's."""
    parser = argparse.ArgumentParser(prog=program, description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"LossPrism {VERSION}")
    parser.add_argument(
        "--host",
        default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        help="address to listen on",
    )
    parser.add_argument("--port", type=int, help="the first free one from 7860 if left out")
    parser.add_argument("--device", help="cpu, cuda, cuda:1, mps; the best present if left out")
    parser.add_argument(
        "--loss", help="open a loss by any of its names, or your own as FILE.py:FUNCTION"
    )
    parser.add_argument(
        "--open",
        metavar="FOLDER",
        help="open the batches that PrismCallback keeps in a training; waits for the first",
    )
    parser.add_argument(
        "--pictures",
        metavar="FOLDER",
        help="show pictures of this folder that a table with vectors names by their paths",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    parser.add_argument(
        "--window",
        action="store_true",
        help="open the page in a window of its own, by Chrome, Chromium, Edge or Brave, and stop "
        "when it closes",
    )
    parser.add_argument(
        "--hosted",
        action="store_true",
        help="keep visitors who do not know each other apart, and bound what each may take",
    )
    parser.add_argument(
        "--address",
        metavar="URL",
        help="where readers find the page if a proxy shows it, such as https://example.org/losses",
    )
    parser.add_argument(
        "--runs", help="where trainings are kept; the user's data directory if left out"
    )
    parser.add_argument("--data", metavar="FOLDER", help="write nothing outside this folder")
    commands = parser.add_subparsers(
        dest="command", metavar="{figure,compare-losses,parity,explain,doctor,train,compare}"
    )
    figure = commands.add_parser("figure", help="write the figure of a scenario, without a browser")
    figure.set_defaults(scenario="/")
    figure.add_argument(
        "scenario",
        nargs="?",
        default=argparse.SUPPRESS,  # which leaves what --scenario has set
        help="the address of a page, such as /compare, a link of it, or a scenario file",
    )
    figure.add_argument("--scenario", dest="scenario", help="the same", default=argparse.SUPPRESS)
    figure.add_argument(
        "--out",
        default="lossprism.svg",
        help="the .svg, .png or .pdf to write, or an .html to point at; lossprism.svg if left out",
    )
    figure.add_argument("--fetch", action="store_true", help=comparing.FETCH_HELP)
    figure.add_argument(
        "--language", choices=LANGUAGES, default=LANGUAGES[0], help="language of its words"
    )
    figure.add_argument("--dark", action="store_true", help="light on a dark background")
    figure.add_argument(
        "--palette", choices=("light", "dark", "print"), help="print: colours that differ in grey"
    )
    figure.add_argument(
        "--size",
        choices=("slide", "two_columns", "one_column"),
        default="slide",
        help="on paper 7 in and 3.3 in wide, with text of 7 to 9 points",
    )
    figure.add_argument(
        "--picture-only", action="store_true", help="without title, formula and caption"
    )
    comparing.add_to(commands)
    doctoring.add_to(commands)
    training.add_to(commands)
    return parser


def write_figure(chosen: argparse.Namespace) -> int:
    try:
        from lossprism.explorer.runtime.owner_consent import command_consent
        from lossprism.explorer.web.pages import figure_of_scenario_or_page

        with command_consent(chosen.fetch):
            remark = figure_of_scenario_or_page.write_figure(
                chosen.scenario,
                chosen.out,
                language=chosen.language,
                dark=chosen.dark,
                palette=chosen.palette or "",
                size=chosen.size,
                picture_only=chosen.picture_only,
            )
    except (ValueError, OSError) as problem:
        print(f"No figure was written: {problem}", file=sys.stderr)
        return 1
    print(f"Wrote {chosen.out}")
    if remark:
        print(remark, file=sys.stderr)
    return 0


def main() -> int:
    """Run the command and return the exit status. It ends silently if its reader closes the pipe,
    as `head` does, or on Ctrl-C."""
    try:
        status = answered()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        if not hasattr(select, "poll") or not output_is_closed():
            raise
        return READER_GONE
    except KeyboardInterrupt:
        return INTERRUPTED


def output_is_closed() -> bool:
    """Return whether the broken pipe is standard output, and silence it."""
    watched = select.poll()
    watched.register(sys.stdout.fileno(), 0)  # reports a broken pipe alone
    gone = bool(watched.poll(0))
    if gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return gone


def answered() -> int:
    """Return the status of the command. A defect in one of `EXAMINES` has a status other than
    Python's, which means a finding there; its traceback is printed as Python does."""
    chosen = argument_parser().parse_args()
    try:
        return with_all_packages(chosen)
    except Exception as defect:
        if chosen.command not in EXAMINES or isinstance(defect, BrokenPipeError):
            raise
        traceback.print_exc()
        return UNUSABLE_STATUS


def with_all_packages(chosen: argparse.Namespace) -> int:
    try:
        return run(chosen)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package in ("", "lossprism"):
            raise
        print(INCOMPLETE.format(name=package), file=sys.stderr)
        return UNUSABLE_STATUS if chosen.command in EXAMINES else 1


def could_not_start(problem: Exception) -> int:
    print(f"LossPrism could not start: {problem}", file=sys.stderr)
    return 1


def announce_loading(command: str | None) -> None:
    """Print what is awaited before the first answer: of the page always, of a command, whose
    messages a program may read, on a terminal."""
    if command is None:
        print("Loading torch and Gradio …", file=sys.stderr, flush=True)
    elif sys.stderr.isatty():
        print("Loading torch …", file=sys.stderr, flush=True)


def wait_for(stopped: threading.Event) -> None:
    """Wait until it is set. Windows delivers Ctrl-C only between waits, so that none is endless."""
    while not stopped.wait(WAIT_S):
        pass


def run(chosen: argparse.Namespace) -> int:
    announce_loading(chosen.command)
    if chosen.command is None:
        return serve(chosen)
    if chosen.command == "figure":
        return write_figure(chosen)
    if chosen.command == "compare-losses":
        return comparing.compare_losses(chosen)
    if chosen.command == "parity":
        return comparing.write_parity(chosen)
    if chosen.command in EXAMINES:
        from lossprism.explorer.lab.doctor import terminal_commands as examining

        examine = examining.doctor if chosen.command == "doctor" else examining.explain_value
        return examine(chosen)
    use_owner_policy()  # who types a command is at home
    return getattr(training, chosen.command)(chosen)


def serve(chosen: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, SIGTERM or, with --window, until its window is closed."""
    from lossprism.explorer.runtime import app_window

    try:
        kept = confine_writes_to(chosen.data) if chosen.data else None
        browser = app_window.find_browser() if chosen.window else ""
    except OSError as problem:
        return could_not_start(problem)
    from lossprism.explorer.lab.training import run_folder

    run_folder.choose_root(chosen.runs or kept)
    if chosen.hosted:
        use_hosted_policy()
    prepare_imports()
    # After the arguments: --help should not wait for these.
    from lossprism.explorer.runtime import jobs
    from lossprism.explorer.web import site

    try:
        first = site.first_scenario(chosen.device, chosen.loss)
        batches = batches_to_open(chosen)
        running, address = site.open_page(first, chosen.host, chosen.port, chosen.address)
    except (ValueError, RuntimeError, OSError) as problem:
        return could_not_start(problem)
    gc.freeze()
    gc.enable()
    stopped = threading.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: stopped.set())
    print(f"LossPrism is at {address} (Ctrl-C stops it)", flush=True)
    if batches:
        print(say("en", "kept.opened"))
        for batch in batches:
            print(f"{batch.written()}\n   {address}/#{batch.scenario.to_link()}", flush=True)
        address = f"{address}/#{batches[-1].scenario.to_link()}"
    status = 0
    try:
        with app_window.app_window(browser, address, stopped.set) if browser else nullcontext():
            if deployment_policy().opens_browser and not (browser or chosen.no_browser):
                import webbrowser

                webbrowser.open(address)
            wait_for(stopped)
    except OSError as problem:
        print(f"The window did not open: {problem}", file=sys.stderr)
        status = 1
    jobs.end_all(STOP_S)  # for closing waits for requests
    running.close()
    print("\nLossPrism has stopped.", flush=True)
    if not jobs.end_all(0):  # a library that is torn down while it computes aborts
        os._exit(status)
    return status


def prepare_imports() -> None:
    """Set what torch, joblib and Gradio read when they are imported, and stop collecting garbage
    until they are."""
    if deployment_policy().uses_worker_processes:
        # Read when torch is loaded, here and in a training: threads that wait by spinning take the
        # cores from whoever they wait for.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        # joblib starts no processes here, and would complain where it may not write to /dev/shm.
        os.environ.setdefault("JOBLIB_MULTIPROCESSING", "0")
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    gc.disable()  # what an import makes stays: looking through it again and again finds nothing


def batches_to_open(chosen: argparse.Namespace) -> list[SavedBatchScenario]:
    """Return the batches of a training that --open names, once there is one; allow its folder, and
    that of --pictures, to be read."""
    from lossprism.explorer.lab.saved_training_batches import wait_for_batches
    from lossprism.explorer.runtime.owner_consent import allow_folder, allow_pictures

    batches = []
    if chosen.open:
        waiting = say("en", "kept.waiting", folder=chosen.open)
        batches = wait_for_batches(chosen.open, lambda: print(waiting, flush=True))
        allow_folder(chosen.open)
    if chosen.pictures:
        allow_pictures(chosen.pictures)
    return batches
