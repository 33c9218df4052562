"""The command line: runs a command, and prints its errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from symbcast.cli import terminal
from symbcast.cli.terminal import LEAST_WIDTH, MOST_WIDTH, Exit, UsageError
from symbcast.core.interrupts import end, leave
from symbcast.errors import ShapeSyntaxError, ShapeTypeError, SymbcastError

# The width of excerpts if the width of stderr is unknown.
_POINTED = 130
# What people write between two shapes in one argument.
_BETWEEN = re.compile(r";|\||(?<=[\w)\]])\s+(?=[\w(\[?*])")


# Words between two sizes of one shape.
_WORDS = {"x", "to", "by"}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status; exit at once after an interrupt."""
    status = run(sys.argv[1:] if arguments is None else arguments)
    if status == Exit.INTERRUPTED:
        leave()
    end(status)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit status; wrong arguments print one message on stderr.

    >>> run(["--version"])
    0.3.0
    0
    """
    arguments = list(arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, who still wants the status
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - for the rest of the process
    try:
        said = os.environ.get("COLUMNS", "")
        if said.isdecimal():  # narrower help is unreadable; wider help takes minutes
            os.environ["COLUMNS"] = str(min(max(int(said), LEAST_WIDTH), MOST_WIDTH)) if int(said) else ""
        is_help = arguments[:1] == ["help"] or (arguments[:1] in (["--help"], ["-h"]) and len(arguments) == 2)
        typed = [*arguments[1:2], "--help"] if is_help else arguments
        if terminal.is_shapes_alone(typed):
            if not terminal.are_clear(typed[1:]):
                from symbcast.cli.arguments import check_shapes  # loads all advice on arguments

                check_shapes("check", typed[1:])
            status = terminal.answer_for_shapes(typed[1:])
        else:
            from symbcast.cli.arguments import answer

            status = answer(typed)
        sys.stdout.flush()
        return int(status)
    except ShapeSyntaxError as error:
        return _refuse(
            error.message() + _several(error.source, arguments), error.pointer(terminal.columns(sys.stderr) or _POINTED)
        )
    except ShapeTypeError as error:
        return _refuse(_plain(error))
    except (SymbcastError, UsageError) as error:
        return _refuse(str(error))
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


def _plain(error: ShapeTypeError) -> str:
    """Return an error without Python's types: whoever types a command writes text."""
    if not isinstance(error.value, str | int):
        return str(error)
    text = f"{terminal.argument_text(str(error.value))} is not {error.wanted}"
    return f"{text}; {error.hint}" if error.hint else text


def _several(text: str, arguments: Sequence[str]) -> str:
    """Return how to give the shapes in one argument separately; empty if it does not hold several."""
    before = zip(("", *arguments), arguments, strict=False)
    options = [option for option, argument in before if argument == text and option.startswith("--")]
    if options:
        from symbcast.cli.value_advice import RELATIONS

        is_cut = options[0] in RELATIONS and re.fullmatch(r"[^\W\d][\w.]*", text)
        return f'. Quote it whole, as in {options[0]} "{text} >= 2": the shell reads > and < itself' if is_cut else ""
    parts = [part.strip() for part in _BETWEEN.split(text)]
    if len(parts) < 2 or not _WORDS.isdisjoint(parts) or not all(map(terminal.is_shape, parts)):
        return ""
    quoted = " ".join(f'"{part}"' for part in parts)
    return f". If these are {len(parts)} shapes, quote each: {quoted}"


def _discard_output() -> None:
    """Redirect stdout to the null device, so that flushing its buffer cannot fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str, pointer: str = "") -> int:
    """Print an error; a pointer to a position in a text is not wrapped."""
    with suppress(OSError):  # nobody is left to read the error
        terminal.print_error(message, pointer)
    return Exit.USAGE
