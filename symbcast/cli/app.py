"""The command line: what its commands are, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from cyclopts import App, CycloptsError

from symbcast.broadcasting.registry import is_own
from symbcast.cli.arguments import TAKE_SHAPES, separated, value_of
from symbcast.cli.check import EPILOGUE as CHECK_EPILOGUE
from symbcast.cli.check import check_command
from symbcast.cli.model import EPILOGUE as MODEL_EPILOGUE
from symbcast.cli.model import model
from symbcast.cli.output import print_text
from symbcast.cli.questions import EPILOGUES, question_commands
from symbcast.cli.rules import rules
from symbcast.cli.statuses import Exit, UsageError
from symbcast.errors import SymbcastError
from symbcast.version import __version__

_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Example: symbcast model encoder.onnx --assume "batch >= 1"

Exit status: 0 for all sizes, 1 for some sizes or none, 2 wrong usage or input, 3 not decided."""


def make_app(with_plugins: bool) -> App:
    """Return the application; with the options of the rules of installed packages, or of symbcast's own alone."""
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
    for name, command in question_commands(with_plugins).items():
        app.command(command, name=name, help_epilogue=EPILOGUES[name])
    app.command(model, help_epilogue=MODEL_EPILOGUE)
    app.command(rules)
    return app


def _needs_plugins(arguments: Sequence[str]) -> bool:
    """Return whether rules of installed packages matter: for help on shapes, and for a rule that is not ours."""
    if arguments[:1] not in [[name] for name in TAKE_SHAPES]:
        return False
    rule = value_of("--rule", arguments)
    return "--help" in arguments or "-h" in arguments or (rule is not None and not is_own(rule))


def _valued(app: App, command: str) -> frozenset[str]:
    """Return the options of a command that take a value: all but those that are on or off."""
    if command not in (*TAKE_SHAPES, "model"):
        return frozenset()
    found = app[command].assemble_argument_collection()
    return frozenset(name for a in found for name in a.names if name.startswith("--") and a.hint is not bool)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command line on arguments and return the exit status; wrong ones are one message on stderr.

    >>> run(["--version"])
    0.1.0
    0
    """
    if sys.stdout is None:  # closed by the caller: the status is still wanted
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
    try:
        app = make_app(_needs_plugins(list(arguments)))
        status = app(list(separated(arguments, _valued(app, next(iter(arguments), "")))))
        sys.stdout.flush()
        return int(status or 0)
    except (SymbcastError, UsageError) as error:
        return _refuse(str(error))
    except CycloptsError as error:
        return _refuse(_usage(error))
    except (BrokenPipeError, SystemExit):
        # rich, which prints the help, makes a SystemExit of a broken pipe. What is left in the buffer must not be
        # flushed into the closed pipe at exit.
        _discard_output()
        return Exit.BROKEN_PIPE
    except OSError as error:
        _discard_output()
        return _refuse(f"cannot write the answer: {error.strerror or error}")
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _discard_output() -> None:
    """Turn what is left in the buffer of stdout away from where it cannot go."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: CycloptsError) -> str:
    message = " ".join(str(error).split())
    return f"{message}\nsee symbcast --help"


def _refuse(message: str) -> int:
    print_text(f"symbcast: {message}", sys.stderr)
    return Exit.USAGE
