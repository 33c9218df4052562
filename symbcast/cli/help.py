"""Help of the commands, and the parser from which shell completion is made."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from symbcast.cli.command import INSTALL, Command, Option, command_names, load_command
from symbcast.cli.terminal import Exit, print_wrapped
from symbcast.core import __version__

_SUMMARY = "For which sizes does this broadcast, or this model, work, and what comes out?"
_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Example: symbcast model encoder.onnx --assume "batch >= 1"

Exit status: 0 for all sizes, 1 for some sizes or none, 2 wrong usage or input, 3 not decided."""


class _Formatter(argparse.HelpFormatter):
    """argparse's help with blank lines kept, and a capital at the beginning of the usage."""

    def __init__(self, prog: str) -> None:
        # argparse would ask shutil, which loads compression libraries: 2 ms.
        super().__init__(prog, width=_width() - 2)

    def add_usage(self, usage: str | None, actions: Any, groups: Any, _prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, "Usage: ")

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(super(_Formatter, self)._fill_text(part, width, indent) for part in text.split("\n\n"))

    def _split_lines(self, text: str, width: int) -> list[str]:
        # An option such as --min-size stays in one piece.
        return wrap(text, width, break_on_hyphens=False)


def print_help(command: Command | None = None, with_plugins: bool = False) -> int:
    """Print the help of a command, or of all commands."""
    # Only the list of commands needs all of them: loading a command takes longer than printing its help.
    if command is None:
        parser = all_parser(is_complete=False)
    else:
        usage = f"symbcast {command.name} [OPTIONS]{' [ARGS...]' * (command.most_arguments != 0)}"
        parser = _parser(usage, _summary(command), command.epilogue)
        _add_arguments(parser, command, with_plugins)
    print_wrapped(parser.format_help().rstrip("\n"))
    return Exit.ALWAYS


def all_parser(*, is_complete: bool) -> argparse.ArgumentParser:
    """Return the parser of all commands; without ``is_complete`` it lists them without their options."""
    parser = _parser("symbcast COMMAND", _SUMMARY, _EPILOGUE)
    if is_complete:
        commands = parser.add_subparsers(title="Commands", metavar="COMMAND")
        for name in command_names():
            own = load_command(name)
            below = commands.add_parser(name, help=_escaped(_summary(own)), add_help=False)
            _add_arguments(below, own, with_plugins=False)
    else:
        _add_groups(parser, list(map(load_command, command_names())))
    options = parser.add_argument_group("Options")
    options.add_argument(INSTALL, action="store_true", help=_escaped(_summary(load_command(INSTALL))))
    options.add_argument("--version", action="version", version=__version__, help="Print the version.")
    options.add_argument("--help", "-h", action="help", help="Print this help, or that of a command.")
    return parser


# The order of the groups of commands; others follow.
GROUPS = ("Shapes", "Models", "Code")


def _add_groups(parser: argparse.ArgumentParser, commands: Sequence[Command]) -> None:
    """List commands in groups, which argparse's subcommands cannot be in."""
    groups = dict.fromkeys((*GROUPS, *sorted(c.title for c in commands)))
    for title in groups:
        group = parser.add_argument_group(title)
        for own in commands:
            if own.title == title:
                group.add_argument(own.name, nargs="?", help=_escaped(_summary(own)))


def _width() -> int:
    """Return the width of the terminal as `shutil.get_terminal_size` does; 80 without one."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


def _parser(usage: str, summary: str, epilogue: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        "symbcast", usage, summary, epilogue, formatter_class=_Formatter, add_help=False, allow_abbrev=False
    )


def _add_arguments(parser: argparse.ArgumentParser, command: Command, with_plugins: bool) -> None:
    arguments = parser.add_argument_group("Arguments")
    for name, help in command.arguments:
        # shtab completes names of files for these arguments.
        action = arguments.add_argument(name.upper(), nargs="*", help=_escaped(help))
        action.complete = _FILES  # type: ignore[attr-defined]
    options = parser.add_argument_group("Options")
    for option in command.options(with_plugins):
        if option.is_switch:
            options.add_argument(*option.names, action="store_true", help=_escaped(option.help))
        else:
            metavar = "WORD" if option.choices else "TEXT" if option.number is None else "N"
            choices = option.choices or None
            options.add_argument(*option.names, choices=choices, metavar=metavar, help=_option_help(option))
    options.add_argument("--help", "-h", action="help", help="Print this help.")


_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "fish": "__fish_complete_path"}


def _summary(command: Command) -> str:
    return inspect.cleandoc(command.function.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def _option_help(option: Option) -> str:
    """Return what an option does, its words and its default."""
    words = f"One of {', '.join(option.choices)}." if option.choices else ""
    default = "" if option.default is None else f"[default: {option.default}]"
    return _escaped(" ".join(filter(None, [option.help, words, default])))


def _escaped(text: str) -> str:
    """Return text in which argparse replaces nothing."""
    return text.replace("%", "%%")
