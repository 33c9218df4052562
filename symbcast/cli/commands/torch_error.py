"""``symbcast torch-error`` reads torch's errors and logs about sizes."""

from __future__ import annotations

from pathlib import Path

from symbcast.cli import argument_advice, terminal
from symbcast.cli.command import command
from symbcast.cli.options import TextOrJson
from symbcast.cli.terminal import STDIN, Exit, UsageError, path_exists

EPILOGUE = """Example: python export.py 2>&1 | symbcast torch-error

Exit status of torch-error: 0 a message about sizes was read, 1 none was found, 2 wrong usage."""
WORDS = dict.fromkeys(["pytorch", "torch"], "torch-error for an error of torch's, or model for a .pt2 file")


@command(epilogue=EPILOGUE, group="Code", words=WORDS)
def torch_error(log: str = STDIN, /, *, format: TextOrJson = "text") -> int:
    """Read torch's errors about sizes: what each means, why torch gives it, and what to do.

    Parameters
    ----------
    log
        A file with errors or logs of torch; - or nothing reads standard input.
    format
        Text to read, or JSON.
    """
    from symbcast.torch import read_error

    reading = read_error(_text(log))
    is_read = any(error.messages for error in reading.errors) or bool(reading.recompiles.recompilations)
    if format == "json":
        recompiled = {"recompiles": reading.recompiles.explain()} if reading.recompiles.recompilations else {}
        terminal.print_json(
            [*(error.to_dict() for error in reading.errors if error.messages), *([recompiled] if recompiled else [])]
        )
    else:
        terminal.print_wrapped(terminal.harmless(reading.explain()), indent=4)
    return Exit.ALWAYS if is_read else Exit.FAILS


def _text(log: str) -> str:
    if log == STDIN:
        data = terminal.read_stdin()
        if not data.strip():
            raise UsageError("- reads a log from standard input, which is empty")
    elif not log:
        raise UsageError("the file name is empty; check that the variable it comes from is set")
    else:
        data = _file(log)
    # A log may mix encodings, or be cut within a character.
    return data.decode("utf-8", "replace")


def _file(log: str) -> bytes:
    """Return the content of a log; raise `UsageError` for a message instead of a file, and for a file of data."""
    if not path_exists(log) and (" " in log or "(" in log):
        raise UsageError(
            f"{terminal.argument_text(log)} is not a file; to explain a message, give it on standard input: "
            "python export.py 2>&1 | symbcast torch-error"
        )
    if log.endswith(".py"):
        run = f"python {terminal.argument_text(log)} 2>&1 | symbcast torch-error"
        raise UsageError(
            f"{terminal.argument_text(log)} is Python source, not a log; run it, and read what it prints: {run}"
        )
    data = Path(log).read_bytes()
    # Text has no zero bytes; models and archives have them early.
    if b"\0" in data[:4096]:
        hint = f"; did you mean {terminal.command_line('model', log)}?" if argument_advice.is_model(log) else ""
        raise UsageError(f"{log}: is not a log{hint}")
    return data
