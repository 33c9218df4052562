"""The command line: ``symbcast check`` asks about one broadcast, ``symbcast rules`` lists the rules."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TextIO

from cyclopts import App, CycloptsError, Parameter

from symbcast import __version__
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.explain import Line
    from symbcast.result import Result
    from symbcast.rules import RuleInfo

Format = Literal["text", "json"]


class Exit(IntEnum):
    """The exit statuses."""

    ALWAYS = 0
    FAILS = 1
    USAGE = 2
    UNDECIDED = 3
    BROKEN_PIPE = 141
    INTERRUPTED = 130


_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Exit status of check: 0 always valid, 1 valid for some sizes or none, 2 wrong usage or text, 3 not decided."""

app = App(
    name="symbcast",
    help="For which sizes does this broadcast work, and what comes out?",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    version=__version__,
    exit_on_error=False,
    print_error=False,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


@app.command(help_epilogue=_EPILOGUE)
def check(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: str = "numpy",
    axis: int | None = None,
    axes: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    keep: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    flavour: str | None = None,
    min_rank: int | None = None,
    broadcast: int | None = None,
    assume: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    min_size: int = 0,
    dialect: str | None = None,
    format: Format = "text",
    fail_on: Literal["never", "sometimes"] = "sometimes",
) -> int:
    """Say for which sizes some shapes broadcast, and to what.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "2..5, ?", "()".
    rule
        The rule to broadcast by; see `symbcast rules`.
    axis
        The rule's axis= (pdpd, onnx-legacy).
    axes
        The rule's axes= (explicit): --axes 0,2.
    keep
        The rule's keep= (unidirectional): --keep 0,2.
    flavour
        The rule's flavour=, such as openvino.
    min_rank
        The rule's min_rank= (paddle).
    broadcast
        The rule's broadcast= (onnx-legacy).
    assume
        What is known of the sizes, such as "N >= 2"; may be given again.
    min_size
        The least size of every symbol.
    dialect
        The notation of the shapes: default, mlir, einops or jaxtyping.
    format
        Text to read, or JSON.
    fail_on
        What exits with 1: shapes that are valid for some sizes only, or for none.
    """
    from symbcast.result import broadcast as ask
    from symbcast.shapes import from_text
    from symbcast.verdicts import Verdict

    attributes = {
        "axis": axis,
        "axes": _numbers("axes", axes),
        "keep": _numbers("keep", keep),
        "flavour": flavour,
        "min_rank": min_rank,
        "broadcast": broadcast,
    }
    if not shapes:
        raise UsageError('give one shape or more, each in quotes: symbcast check "N, 3" "M, 1"')
    given = {name: value for name, value in attributes.items() if value is not None}
    operands = [from_text(s, dialect) if dialect else s for s in shapes]
    result = ask(*operands, rule=rule, assume=assume or (), min_size=min_size, **given)
    verdict = result.verdict
    _show(result, format)
    if verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    failing = (Verdict.NEVER,) if fail_on == "never" else (Verdict.NEVER, Verdict.SOMETIMES)
    return Exit.FAILS if verdict in failing else Exit.ALWAYS


@app.command
def rules(*, format: Format = "text") -> int:
    """List the rules with their attributes.

    Parameters
    ----------
    format
        Text to read, or JSON.
    """
    from symbcast.rules import rules as all_rules

    found = all_rules()
    if format == "json":
        _print_json([_rule_data(rule) for rule in found])
    else:
        _print("\n\n".join("\n".join(_rule_lines(rule)) for rule in found))
    return Exit.ALWAYS


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
        status = app(list(_separated(arguments)))
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


class UsageError(Exception):
    """An argument that cannot be read."""


_OPTION = re.compile(r"--[A-Za-z][\w-]*")
_VALUED = frozenset(
    {
        "--assume",
        "--axes",
        "--axis",
        "--broadcast",
        "--dialect",
        "--fail-on",
        "--flavour",
        "--format",
        "--keep",
        "--min-rank",
        "--min-size",
        "--rule",
    }
)
"""The options of `check` that take a value; the value may begin with a hyphen."""


def _separated(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with shapes after ``--``, so that ``-1, 3`` is not taken for an option."""
    if not arguments or arguments[0] != "check":
        yield from arguments
        return
    yield arguments[0]
    shapes: list[str] = []
    rest = iter(arguments[1:])
    for argument in rest:
        if argument == "--":
            shapes.extend(rest)
        elif argument in _VALUED:
            value = next(rest, None)
            yield argument if value is None else f"{argument}={value}"
        elif argument == "-h" or _OPTION.match(argument):
            yield argument
        else:
            shapes.append(argument)
    if shapes:
        yield from ("--", *shapes)


def _numbers(option: str, texts: Sequence[str] | None) -> tuple[int, ...] | None:
    if texts is None:
        return None
    try:
        return tuple(int(part) for text in texts for part in text.strip("()[] ").split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--{option} {' '.join(texts)}: write axes as --{option} 0,2") from None


def _usage(error: CycloptsError) -> str:
    message = " ".join(str(error).split())
    return f"{message}\nsee symbcast --help"


def _refuse(message: str) -> int:
    _print(f"symbcast: {message}", sys.stderr)
    return Exit.USAGE


def _show(result: Result, format: Format) -> None:
    if format == "json":
        from symbcast.export.json import result_to_dict

        _print_json(result_to_dict(result))
        return
    from symbcast.explain import explanation

    lines = explanation(result)
    if _coloured():
        _print_coloured(lines, result.verdict.value)
    else:
        _print("\n".join(line.text for line in lines))


def _print_json(data: Any) -> None:
    import json

    _print(json.dumps(data, indent=2))


def _print(text: str, stream: TextIO | None = None) -> None:
    """Print text; characters that the stream cannot encode are written as escapes."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def _coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_VERDICT_STYLES = {"always": "bold green", "sometimes": "bold yellow", "never": "bold red", "unknown": "bold magenta"}
_MARK_STYLES = {
    r"(?<!\S)ok(?!\S)": "green",
    r"(?<!\S)[?~](?!\S)": "yellow",
    r"(?<!\S)x(?!\S)": "red",
}


def _print_coloured(lines: Sequence[Line], verdict: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        text = Text(line.text.encode(console.encoding, "backslashreplace").decode(console.encoding))
        if line.role == "verdict":
            text.stylize(_VERDICT_STYLES[verdict])
        elif line.role == "marks":
            for pattern, style in _MARK_STYLES.items():
                text.highlight_regex(pattern, style)
        elif line.role == "labelled":
            text.highlight_regex(r"^\S+( \S+)?(?=  )", "bold")
        console.print(text)


def _attribute_texts(rule: RuleInfo) -> list[str]:
    return [
        f"{p.name}= (required)" if repr(p.default) == "required" else f"{p.name}={p.default!r}{_choices(p.choices)}"
        for p in rule.parameters
    ]


def _choices(words: Sequence[str]) -> str:
    return f" (or {', '.join(map(repr, words[1:]))})" if words else ""


def _rule_lines(rule: RuleInfo) -> list[str]:
    lines = [rule.name, f"    {rule.summary}"]
    if rule.aliases:
        lines.append(f"    also called  {', '.join(rule.aliases)}")
    lines.append(f"    attributes   {', '.join(_attribute_texts(rule)) or 'none'}")
    lines.append(f"    operands     {', '.join(rule.operands)}")
    lines.append(f"    document     {rule.document}")
    return lines


def _rule_data(rule: RuleInfo) -> dict[str, Any]:
    from symbcast.rules import REQUIRED

    attributes = [
        {"name": p.name, "required": p.default is REQUIRED, "default": None if p.default is REQUIRED else p.default}
        for p in rule.parameters
    ]
    return {
        "name": rule.name,
        "aliases": list(rule.aliases),
        "family": rule.family,
        "operands": list(rule.operands),
        "attributes": attributes,
        "summary": rule.summary,
        "document": rule.document,
    }
