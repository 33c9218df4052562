"""The command line: its commands, and the handling of their errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from cyclopts import App, CycloptsError

from symbcast.batch.interrupts import leave
from symbcast.cli.arguments import HELP, OF_SHAPES, Option, asks_for, prepared, unknown_command, value_of
from symbcast.cli.commands.check import EPILOGUE as CHECK_EPILOGUE
from symbcast.cli.commands.check import check_command
from symbcast.cli.commands.compare import EPILOGUE as COMPARE_EPILOGUE
from symbcast.cli.commands.compare import compare
from symbcast.cli.commands.completion import install_command
from symbcast.cli.commands.contract import EPILOGUE as CONTRACT_EPILOGUE
from symbcast.cli.commands.contract import contract
from symbcast.cli.commands.entailment import EPILOGUES as ENTAILMENT_EPILOGUES
from symbcast.cli.commands.entailment import entailment_commands
from symbcast.cli.commands.lint import EPILOGUE as LINT_EPILOGUE
from symbcast.cli.commands.lint import lint
from symbcast.cli.commands.model import EPILOGUE as MODEL_EPILOGUE
from symbcast.cli.commands.model import model
from symbcast.cli.commands.questions import EPILOGUES, question_commands
from symbcast.cli.commands.rules import rules
from symbcast.cli.commands.torch_error import EPILOGUE as TORCH_EPILOGUE
from symbcast.cli.commands.torch_error import torch_error
from symbcast.cli.commands.trace import EPILOGUE as TRACE_EPILOGUE
from symbcast.cli.commands.trace import trace
from symbcast.cli.files import is_there
from symbcast.cli.output import LEAST_WIDTH, MOST_WIDTH, columns, print_text, print_wrapped
from symbcast.cli.statuses import Exit, UsageError
from symbcast.core.broadcasting.registry import is_own
from symbcast.errors import ShapeSyntaxError, SymbcastError
from symbcast.version import __version__

_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Example: symbcast model encoder.onnx --assume "batch >= 1"

Exit status: 0 for all sizes, 1 for some sizes or none, 2 wrong usage or input, 3 not decided."""


_POINTED = 130
"""The width of excerpts if the width of stderr is unknown."""
_COMMANDS = (*OF_SHAPES, "contract", "lint", "model", "rules", "torch-error", "trace")
_BETWEEN = re.compile(r";|\||(?<=[\w)\]])\s+(?=[\w(\[?*])")
"""What people write between two shapes in one argument."""
_INSTALL = "--install-completion"


def make_app(with_plugins: bool) -> App:
    """Return the application, with options for the rules of installed packages or only for symbcast's own."""
    app = App(
        name="symbcast",
        help="For which sizes does this broadcast, or this model, work, and what comes out?",
        help_epilogue=_EPILOGUE,
        help_format="plaintext",
        version=__version__,
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    app.command(check_command(with_plugins), name="check", help_epilogue=CHECK_EPILOGUE)
    app.command(compare, help_epilogue=COMPARE_EPILOGUE)
    for commands, epilogues in (
        (question_commands(with_plugins), EPILOGUES),
        (entailment_commands(with_plugins), ENTAILMENT_EPILOGUES),
    ):
        for name, command in commands.items():
            app.command(command, name=name, help_epilogue=epilogues[name])
    app.command(lint, help_epilogue=LINT_EPILOGUE)
    app.command(model, help_epilogue=MODEL_EPILOGUE)
    app.command(contract, help_epilogue=CONTRACT_EPILOGUE)
    app.command(rules)
    app.command(torch_error, help_epilogue=TORCH_EPILOGUE)
    app.command(trace, help_epilogue=TRACE_EPILOGUE)
    app.command(install_command(app), name=_INSTALL)
    return app


def _needs_plugins(arguments: Sequence[str]) -> bool:
    """Return whether rules of installed packages matter: for help on shapes, or for a rule that symbcast lacks."""
    if arguments[:1] not in [[name] for name in OF_SHAPES]:
        return False
    rule = value_of("--rule", arguments)
    return asks_for(HELP, arguments) or (rule is not None and not is_own(rule.partition("(")[0]))


def _options(app: App, command: str) -> list[Option]:
    """Return the options that a command declares."""
    found = app[command].assemble_argument_collection()
    return [Option.of(a.names, a.hint) for a in found if a.names and a.names[0].startswith("-")]


def _prepared(app: App, arguments: Sequence[str]) -> list[str]:
    """Return the arguments for cyclopts, each checked against the command's options; raise `UsageError`."""
    command, rest = next(iter(arguments), ""), list(arguments[1:])
    if command == "version":
        return ["--version"]
    if not arguments or command in ("--version", *HELP):
        return list(arguments[:1])
    if command not in (*_COMMANDS, _INSTALL):
        raise UsageError(
            _command_meant(command) or unknown_command(command, _COMMANDS, _is_file(command), _is_shape(command))
        )
    if asks_for(HELP, rest):
        return [command, "--help"]
    if asks_for(["--version"], rest):
        return ["--version"]
    return [command, *prepared(command, rest, {name: _options(app, name) for name in (*_COMMANDS, _INSTALL)})]


def _command_meant(word: str) -> str:
    """Return what to do instead of a command that does not exist, for an operation of programs; empty if unknown."""
    from symbcast.answers.public.env import ShapeEnv

    method = ShapeEnv._meant.get(word, word)
    if method.startswith("broadcast(") or not hasattr(ShapeEnv, method.partition("(")[0]):
        return ""
    call = method if method.endswith(")") else f"{method}(...)"
    return f"{word} is an operation of programs, not a command; in Python: symbcast.ShapeEnv().{call}"


def _is_file(argument: str) -> bool:
    from symbcast.graphs.registry import front_end_of

    return front_end_of(argument) is not None or is_there(argument)


def _is_shape(argument: str) -> bool:
    from symbcast.core.text import parse_shape

    try:
        return bool(parse_shape(argument))
    except SymbcastError:
        return False


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status; exit at once after an interrupt."""
    status = run(sys.argv[1:] if arguments is None else arguments)
    if status == Exit.INTERRUPTED:
        leave()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit status; wrong arguments print one message on stderr.

    >>> run(["--version"])
    0.1.0
    0
    """
    arguments = list(arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, who still wants the status
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - for the rest of the process
    try:
        said = os.environ.get("COLUMNS", "")
        if said.isdecimal():  # narrower help is unreadable; wider help takes minutes
            os.environ["COLUMNS"] = str(min(max(int(said), LEAST_WIDTH), MOST_WIDTH)) if int(said) else ""
        typed = [*arguments[1:2], "--help"] if arguments[:1] == ["help"] else arguments
        app = make_app(_needs_plugins(typed))
        status = app(_prepared(app, typed))
        sys.stdout.flush()
        return int(status or 0)
    except ShapeSyntaxError as error:
        return _refuse(error.message() + _several(error.source), error.pointer(columns(sys.stderr) or _POINTED))
    except (SymbcastError, UsageError) as error:
        return _refuse(str(error))
    except CycloptsError as error:
        return _refuse(_usage(error))
    except (BrokenPipeError, SystemExit):
        # rich, which prints the help, turns a broken pipe into a SystemExit. What is left in the buffer must not be
        # flushed into the closed pipe at exit.
        _discard_output()
        return Exit.BROKEN_PIPE
    except OSError as error:
        _discard_output()
        what = error.filename if isinstance(error.filename, str) else "cannot write the answer"
        return _refuse(f"{what}: {error.strerror or error}")
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _several(text: str) -> str:
    """Return how to give the shapes in one argument separately; empty if it does not hold several."""
    found = [part.strip() for part in _BETWEEN.split(text)]
    if len(found) < 2 or "x" in found or not all(map(_is_shape, found)):
        return ""
    quoted = " ".join(f'"{part}"' for part in found)
    return f". If these are {len(found)} shapes, quote each: {quoted}"


def _discard_output() -> None:
    """Redirect stdout to the null device, so that flushing its buffer cannot fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: CycloptsError) -> str:
    message = " ".join(str(error).split())
    return f"{message}\nsee symbcast --help"


def _refuse(message: str, pointer: str = "") -> int:
    """Print an error; a pointer to a position in a text is not wrapped."""
    with suppress(OSError):  # nobody is left to read the error
        print_wrapped(f"symbcast: {message}", sys.stderr)
        if pointer:
            print_text(pointer, sys.stderr)
    return Exit.USAGE
