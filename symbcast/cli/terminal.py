"""What every command needs of its terminal: exit statuses, standard input, shapes as typed, output, progress."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import IntEnum
from threading import Timer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, TypeVar

from symbcast.core.characters import closest, shorten_end, visible
from symbcast.core.interrupts import BlockInterrupts, CleanupOnInterrupt
from symbcast.core.text import parse_shape
from symbcast.core.verdicts import Verdict
from symbcast.errors import DimensionError, ShapeTypeError, SymbcastError

if TYPE_CHECKING:
    from rich.progress import Progress

    from symbcast.answers.public.result import Result
    from symbcast.answers.show.document import Document


# Exit statuses and usage errors of the commands.


T = TypeVar("T")


class Exit(IntEnum):
    """The exit statuses."""

    ALWAYS = 0
    FAILS = 1
    USAGE = 2
    UNDECIDED = 3
    BROKEN_PIPE = 141
    INTERRUPTED = 130


# The verdicts at which a command fails, by its ``--fail-on``.
FAILING = {"never": (Verdict.NEVER,), "sometimes": (Verdict.NEVER, Verdict.SOMETIMES)}


def status_of(verdict: Verdict, fail_on: str = "sometimes") -> Exit:
    """Return the exit status of an answer: the only place that derives one from a verdict.

    >>> status_of(Verdict.SOMETIMES), status_of(Verdict.SOMETIMES, "never"), status_of(Verdict.UNKNOWN)
    (<Exit.FAILS: 1>, <Exit.ALWAYS: 0>, <Exit.UNDECIDED: 3>)
    """
    if fail_on == "unknown":
        return Exit.ALWAYS if verdict is Verdict.ALWAYS else Exit.FAILS
    if verdict in {Verdict.UNKNOWN, Verdict.OBSERVED}:
        return Exit.UNDECIDED
    return Exit.FAILS if verdict in FAILING[fail_on] else Exit.ALWAYS


class UsageError(Exception):
    """An argument that cannot be read, or that does not fit the others."""


def checked(option: str, check: Callable[[T], object], value: T) -> T:
    """Return the value of an option; raise `UsageError`, which names the option, if a check rejects the value."""
    try:
        check(value)
    except (DimensionError, ShapeTypeError) as error:
        said = f"{error.problem}; {error.hint}" if isinstance(error, DimensionError) else error.hint
        raise UsageError(f"{option} {value}: {said}") from None
    return value


# Standard input, as the place of a shape or a file.


# Stands for standard input where a shape or a file is expected.
STDIN = "-"


def path_exists(path: str) -> bool:
    """Return whether there is a file or folder with a name."""
    return os.path.exists(path)  # noqa: PTH110 - pathlib takes 3 ms to load, which short commands do not need


def read_stdin(limit: int = -1) -> bytes:
    """Return up to ``limit`` bytes from standard input; raise `UsageError` if it cannot be read."""
    try:
        return sys.stdin.buffer.read(limit)
    except (AttributeError, OSError, ValueError) as error:
        raise UsageError(
            f"standard input cannot be read: {getattr(error, 'strerror', None) or 'it is closed'}"
        ) from None


# Output of all commands: text that the stream can encode, JSON, and colours on terminals.


_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

Format: TypeAlias = Literal["text", "json"]

# Fewer columns are unreadable; nobody has more.
LEAST_WIDTH, MOST_WIDTH = 20, 1000


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print text; characters that the stream cannot encode are written as escapes."""
    _clear_bars()
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def columns(stream: TextIO) -> int | None:
    """Return the width for output: ``COLUMNS``, or that of the terminal; None for a file or a pipe."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return max(int(said), LEAST_WIDTH)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, LEAST_WIDTH) if stream.isatty() else None
    except (OSError, ValueError):
        return None


def print_wrapped(text: str, stream: TextIO | None = None, indent: int = 0) -> None:
    """Print text; lines that are too wide for the stream continue below, indented by ``indent`` columns."""
    width = columns(stream or sys.stdout)
    if width is not None:
        from textwrap import wrap

        below = " " * min(indent, width // 2)
        lines = (
            wrap(line, width, subsequent_indent=below, break_on_hyphens=False) or [""] for line in text.split("\n")
        )
        text = "\n".join(part for line in lines for part in line)
    print_text(text, stream)


# Where a message goes on with what to do: the words with which its advice begins.
_ADVICE = re.compile(
    r"; (?=(?:did you mean|write|use|give|quote|add|leave|name|export|choose|wait|in Python|it is one of|to assume|"
    r"check that|check explains|install|pip install|continue)\b)"
    r"|\. (?=(?:If these are|Quote it|The \w+ are)\b)"
)


def print_error(message: str, pointer: str = "", kind: str = "error") -> None:
    """Print a message on stderr: what is wrong, an excerpt that points to it, and what to do as a tip below.

    The excerpt is not wrapped. What steers a terminal is escaped.
    """
    problem, *advice = _ADVICE.split(harmless(message), maxsplit=1)
    print_wrapped(f"{kind}: {problem}", sys.stderr)
    if pointer:
        print_text(pointer, sys.stderr)
    if advice:
        print_wrapped(f"  tip: {advice[0]}", sys.stderr, indent=7)


def harmless(text: str) -> str:
    r"""Return text from a file with terminal control characters escaped; line breaks are kept.

    >>> harmless("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _STEERING.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def print_json(data: Any) -> None:
    """Print data as JSON."""
    import json

    print_text(json.dumps(data, indent=2))


def show(document: Document, indent: int = 2) -> None:
    """Print a document: at the terminal's width, or otherwise as text wrapped at a readable width.

    ``COLUMNS`` sets the width of a terminal, and also of output to a file or a pipe.
    """
    is_terminal, columns = sys.stdout.isatty(), os.environ.get("COLUMNS", "")
    if not is_terminal and not (columns.isdecimal() and int(columns)):
        from symbcast.answers.show.document import render

        print_text(render(document, indent=indent))
        return
    from shutil import get_terminal_size  # slow to load, like rich, and not needed for a file

    from rich.console import Console

    from symbcast.answers.show.terminal import draw

    is_plain = not is_terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wide = max(get_terminal_size().columns, LEAST_WIDTH)
    _clear_bars()
    draw(document, Console(width=wide, highlight=False, color_system=None if is_plain else "auto"), indent)


# Arguments and command lines as messages show them, and other words for values of options.


# What people write between shapes. A size with such a name can be written as ``(x,)``.
SIGNS = ("+", "*", "&", "@", "and", "with", "x", "vs", "vs.", "versus", "against", "with", ";", ",", "|")
# What people write before an output.
EQUALS = ("=", "==", "=>", "->", "-->", "→", "gives")
_JOINED = re.compile(r"[A-Z](?:x(?:[A-Z]|[0-9]+))+")
_PLAIN = r"[\w.,/:=@%+-]+"
# Other words for values of options.
CHOICES = {
    "c": "cpp",
    "c++": "cpp",
    "cxx": "cpp",
    "py": "python",
    "smt": "smtlib",
    "smt2": "smtlib",
    "z3": "smtlib",
    "tensorrt": "trtexec",
    "trt": "trtexec",
    "ort": "onnxruntime",
    "yaml": "json",
    "md": "text",
    "txt": "text",
    "hlo": "stablehlo",
    "mlir": "stablehlo",
}


def are_clear(arguments: Sequence[str]) -> bool:
    """Return whether each argument is a name, a number or a list: no file, part of a shape, or sign between shapes."""
    return all(
        (argument.isidentifier() or argument.isdecimal() or "," in argument)
        and not argument.rstrip().endswith(",")
        and argument not in (*SIGNS, *EQUALS)
        and not is_joined(argument)
        for argument in arguments
    )


def is_joined(text: str) -> bool:
    """Return whether a name may be meant as sizes with x between them, such as ``Nx3``."""
    return _JOINED.fullmatch(text) is not None


def meant_choice(value: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a value means or resembles; None if there is none.

    >>> meant_choice("c++", ("python", "cpp")), meant_choice("jsn", ("text", "json"))
    ('cpp', 'json')
    """
    other = CHOICES.get(value.casefold(), "")
    return other if other in choices else closest(value, choices)


def argument_text(text: str) -> str:
    """Return an argument on one line, quoted if a shell needs it, cut off if it is long.

    >>> argument_text("-N + 1"), argument_text("xml")
    ('"-N + 1"', 'xml')
    """
    said = shorten_end(visible(text), 60)
    return said if re.fullmatch(_PLAIN, said) else f'"{said}"'


def command_line(command: str, *arguments: str | Iterable[str]) -> str:
    """Return a command line of symbcast, with each argument quoted if a shell needs it.

    >>> command_line("check", ["N, 3", "M, 1"], "--rule", "numpy")
    'symbcast check "N, 3" "M, 1" --rule numpy'
    """
    words = [text for a in arguments for text in ([a] if isinstance(a, str) else a)]
    return " ".join(["symbcast", command, *map(argument_text, words)])


def repeated_option(option: str, values: Iterable[str]) -> str:
    """Return an option given once for each value.

    >>> repeated_option("--bind", ["H=32", "W=32"])
    '--bind H=32 --bind W=32'
    """
    return " ".join(f"{option} {argument_text(value)}" for value in values)


def is_number(text: str) -> bool:
    """Return whether a text is a decimal integer."""
    return re.fullmatch(r"-?[0-9]+", text) is not None


def is_numbers(text: str) -> bool:
    """Return whether a text is a shape of numbers."""
    return re.fullmatch(r"[(\[]?\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*,?\s*[)\]]?", text) is not None


# Shapes as arguments. ``check`` without options is answered here, without the declared commands:
# loading and applying the declarations of all options takes longer than the answer.


# An argument that is neither an option nor a relation.
_ALONE = re.compile(r"[\w(\[*.?][^<>=!]*")


def is_shapes_alone(arguments: Sequence[str]) -> bool:
    """Return whether arguments are ``check`` and shapes only, without any option."""
    return len(arguments) > 1 and arguments[0] == "check" and all(map(_ALONE.fullmatch, arguments[1:]))


def is_shape(argument: str) -> bool:
    """Return whether an argument can be read as a shape."""
    try:
        return bool(parse_shape(argument))
    except SymbcastError:
        return False


def answer_for_shapes(arguments: Sequence[str]) -> int:
    """Answer ``symbcast check`` for shapes without options; return the exit status."""
    from symbcast.answers.public.result import broadcast

    result = broadcast(*read_shapes(arguments, is_blank_read=False))
    show_result(result, "text")
    return status_of(result.verdict)


def read_shapes(shapes: Sequence[str], is_blank_read: bool) -> list[str]:
    """Return the shapes as typed, with ``-`` replaced by the non-blank lines of standard input.

    Raises `UsageError` for a blank shape, such as an unset shell variable. With ``is_blank_read``, blank text means
    rank 0.
    """
    if list(shapes).count(STDIN) > 1:
        raise UsageError("- is given twice, but standard input can be read only once")
    for number, text in enumerate(shapes, 1):
        if not text.strip() and not is_blank_read:
            raise UsageError(
                f'shape {number} is empty; write "()" for rank 0, or check that the variable it comes from is set'
            )
    return [line for text in shapes for line in (_lines() if text == STDIN else (text,))]


def _lines() -> list[str]:
    lines = [line.strip() for line in read_stdin().decode("utf-8", "surrogateescape").splitlines()]
    shapes = [line for line in lines if line]
    if not shapes:
        raise UsageError("- reads shapes from standard input, which is empty; write one per line")
    return shapes


def show_result(result: Result, format: Format) -> None:
    """Print an answer as text or JSON."""
    from symbcast.answers.public.result import call_of
    from symbcast.answers.show.broadcast import broadcast_document

    call = call_of(result)
    if format == "json":
        from symbcast.answers.show.json import render, result_to_dict

        print_json({**result_to_dict(call), "explanation": render(broadcast_document(call))})
        return
    show(broadcast_document(call))


# A progress bar on stderr for long commands, if stderr is a terminal.


_SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"


def _take_away() -> None:
    """Clear the line of a bar, and show the cursor that the bar hides."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), _SHOW_CURSOR)


_bars: list[Bar] = []


def _clear_bars() -> None:
    """Hide the clock of a command that is about to print its answer."""
    for bar in _bars:
        bar.end_clock()


class Bar:
    """Progress over ``total`` steps, if stderr is a terminal: a bar, or for one step a clock after its first second."""

    def __init__(self, total: int, what: str) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._total = total if is_terminal else 0
        self._what = what
        self._progress: Progress | None = None
        self._timer: Timer | None = None
        self._held = ExitStack()

    def __enter__(self) -> Bar:
        _bars.append(self)
        if self._total:
            self._held.enter_context(CleanupOnInterrupt(_take_away))
        if self._total == 1:
            self._timer = Timer(1, self._show)
            self._timer.daemon = True
            with BlockInterrupts():
                self._timer.start()
        elif self._total:
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._hide()
        _bars.remove(self)
        self._held.close()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        bar = (BarColumn(), MofNCompleteColumn()) if self._total > 1 else ()
        columns = (TextColumn("{task.description}"), *bar, TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(self._what, total=self._total)
        self._progress.start()

    def _hide(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # it may be about to show the clock
        if self._progress is not None:
            self._progress.stop()

    def end_clock(self) -> None:
        """Hide a clock for good; a bar of several steps stays, and its user hides it while there is other output."""
        if self._total == 1:
            self._hide()

    def advance(self) -> None:
        """Advance the bar by one step."""
        if self._progress is not None:
            self._progress.advance(self._task)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Hide the bar while other output is printed."""
        self._hide()
        try:
            yield
            if self._progress is not None:
                sys.stdout.flush()
        finally:
            if self._progress is not None and self._total > 1:
                self._progress.start()
