"""The reference of the command line has every option in the words of `--help`."""

from __future__ import annotations

import argparse
import re

import pytest

from lossprism.explorer.cli import argument_parser
from scripts.command_line import command_line_page

PARSER = argument_parser("lossprism")
(SUBPARSERS,) = (one for one in PARSER._actions if isinstance(one, argparse._SubParsersAction))
COMMANDS = {"Open the app": PARSER, **SUBPARSERS.choices}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_stands_in_its_section(command):
    section = command_line_page().partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    shown = [one for one in COMMANDS[command]._actions if one.help != argparse.SUPPRESS]
    options = [option for one in shown for option in one.option_strings if option[:2] == "--"]
    missing = [one for one in options if one != "--help" and f"`{one}" not in section]
    assert not missing
    assert not re.findall(r"%\(\w+\)s", section)


def test_every_option_is_explained():
    rows = [line for line in command_line_page().splitlines() if line.startswith("| `")]
    assert not [row for row in rows if row.split(" | ")[1].strip() == ""]
