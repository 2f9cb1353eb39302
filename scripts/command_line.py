"""The reference of the command line, made from its parsers."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator

from lossprism.explorer.cli import argument_parser

HEAD = """\
# Command line

`python app.py` in a checkout and `lossprism` where the package is installed take the same
arguments. Without a command they open the app. `--help` has the same words."""
TABLE = "\n| option | meaning | default |\n| --- | --- | --- |"
USAGE_WIDTH = 90  # letters of a line
UNTITLED = ("options", "positional arguments")
NO_DEFAULT = (None, "", False, argparse.SUPPRESS, [], ())


def command_line_page() -> str:
    """Return the options of the app and of each command as Markdown."""
    parser = argument_parser("lossprism")
    lines = [HEAD, "\n## Open the app", *_options(parser)]
    for name, about, command in _commands(parser):
        lines += [f"\n## {name}\n", f"{about[:1].upper()}{about[1:]}.", *_options(command)]
    return "\n".join(lines) + "\n"


def _commands(
    parser: argparse.ArgumentParser,
) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Each command with a line about it and its parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:
                command = action.choices[listed.dest]
                yield listed.dest, _meaning(listed, command), command


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The usage, then a table of the options of each group."""
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    yield f"\n```text\n{textwrap.fill(usage, USAGE_WIDTH, subsequent_indent='    ')}\n```"
    groups = parser._action_groups
    plain = [action for group in groups if group.title in UNTITLED for action in _shown(group)]
    yield from _table(plain, parser)
    for group in groups:
        if group.title and group.title not in UNTITLED:
            yield f"\n{group.title[:1].upper()}{group.title[1:]}:"
            yield from _table(_shown(group), parser)


def _shown(group: argparse._ArgumentGroup) -> list[argparse.Action]:
    beside = (argparse._SubParsersAction, argparse._HelpAction)
    shown = [one for one in group._group_actions if not isinstance(one, beside)]
    return [one for one in shown if one.help != argparse.SUPPRESS]


def _table(actions: Iterable[argparse.Action], parser: argparse.ArgumentParser) -> Iterator[str]:
    yield TABLE
    for action in actions:
        default = "" if action.default in NO_DEFAULT else f"`{action.default}`"
        yield f"| {_written(action)} | {_meaning(action, parser)} | {default} |"


def _written(action: argparse.Action) -> str:
    """The option as it is typed: `--port PORT`, or `{en,zh}` for a choice."""
    value = action.metavar or action.dest.upper()
    if action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if action.nargs == 0:
        value = ""
    names = [f"{name} {value}".strip() for name in action.option_strings] or [str(value)]
    return ", ".join(f"`{name}`" for name in names)


def _meaning(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """The help of an option as `--help` shows it."""
    known = {**vars(action), "prog": parser.prog}
    return ((action.help or "") % known).replace("|", "\\|").replace("<", "&lt;")
