"""Messages of torch: the rows that recognise them, those with templates (``messages.toml``), and lines of logs."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from symbcast.core.structs import NamedTuple
from symbcast.torch.guards.guard_texts import RELATION_NAMES, SizeNames
from symbcast.torch.guards.guards import Guard, Specialised


class Message(NamedTuple):
    """A message of torch about sizes.

    Attributes:
        said: torch's sentence.
        meaning: its meaning in sizes.
        why: why torch gives it; empty if the combined condition answers it.
        advice: what to do; empty if the suggested dynamic shapes are the answer.
        guard: the requirement on sizes that it states.
        fixed: the axis whose size it fixes.
        line: the line of code, where torch names one.
    """

    said: str
    meaning: str
    why: str = ""
    advice: str = ""
    guard: Guard | None = None
    fixed: Specialised | None = None
    line: str = ""


Build = Callable[["re.Match[str]", "SizeNames"], "Message | None"]


_OPERATORS: dict[str, type[ast.operator]] = {"Mod": ast.Mod, "PythonMod": ast.Mod, "FloorDiv": ast.FloorDiv}


class _Python(ast.NodeTransformer):
    """Writes torch's functions of two numbers as Python's operators."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        visited = self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if len(node.args) == 2 and name in RELATION_NAMES:
            return ast.Compare(node.args[0], [RELATION_NAMES[name]()], [node.args[1]])
        if len(node.args) == 2 and name in _OPERATORS:
            return ast.BinOp(node.args[0], _OPERATORS[name](), node.args[1])
        return visited


def _tight(node: ast.AST) -> str:
    """Return an expression with products and quotients written as torch writes them."""
    return ast.unparse(node).replace(" * ", "*").replace(" // ", "//")


def as_python(expression: str) -> str:
    """Return a condition of torch, such as ``Eq(Mod(s0, 4), 0)``, with Python's operators."""
    text = expression.replace(" | ", " or ").replace(" & ", " and ")
    if not any(f"{name}(" in text for name in (*RELATION_NAMES, *_OPERATORS)):
        return text
    try:
        return _tight(_Python().visit(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError):
        return text


class MessageRow(NamedTuple):
    """A message that torch writes: its pattern, and the answers, with the pattern's groups in braces."""

    pattern: re.Pattern[str]
    build: Build


def read_row(pattern: str, build: Build) -> MessageRow:
    """Return a row whose answers a function reads from what the pattern matched."""
    return MessageRow(re.compile(pattern), build)


def message_row(pattern: str, meaning: str, why: str, advice: str) -> MessageRow:
    """Return a row whose answers are templates; groups of the pattern fill the braces."""

    def build(match: re.Match[str], names: SizeNames) -> Message:
        groups = {key: names.spelled(" ".join((value or "").split())) for key, value in match.groupdict().items()}
        if "condition" in groups:
            groups["condition"] = as_python(groups["condition"])
        said = (template.format(**groups) for template in (meaning, why, advice))
        return Message(_quoted(match), next(said), next(said), next(said))

    return MessageRow(re.compile(pattern, re.S), build)


def _quoted(match: re.Match[str]) -> str:
    return " ".join(match[0].split())[:300]


def messages_in(text: str, names: SizeNames, rows: Iterable[MessageRow]) -> Iterator[Message]:
    """Yield the messages in a text in order, each once; where two rows match the same place, the first one counts."""
    messages: list[tuple[int, int, Message]] = []
    taken: list[tuple[int, int]] = []
    for row in rows:
        for match in row.pattern.finditer(text):
            start, end = match.span()
            # Rows are in order of precision: a general row must not read a part of what an earlier row has read.
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            message = row.build(match, names)
            if message is not None:
                taken.append((start, end))
                messages.append((start, end, message))
    seen: set[tuple[str, str]] = set()
    # Messages stand in the order of the text, whatever the order of the rows.
    for _, _, message in sorted(messages, key=lambda f: f[0]):
        key = (message.meaning, message.line) if message.guard is None else (message.guard.text, "")
        if key not in seen:
            seen.add(key)
            yield message


def guard_message(match: re.Match[str], names: SizeNames, text: str, line: str = "") -> Message:
    """Return the message of a requirement that torch writes as an expression."""
    shown = text.strip().rstrip(".,")
    guard, why = Guard.read(shown, names.reader, line), ""
    if guard.formula is None:
        about = f", so what sizes of {', '.join(guard.sizes)} it accepts is open" if guard.sizes else ""
        why = f"this guard is not read: {guard.problem}{about}"
    return Message(_quoted(match), f"torch requires {names.spelled(shown)}", why, guard=guard, line=line)


def fixed_message(  # noqa: PLR0913, PLR0917 - each is a part of the message
    match: re.Match[str], axis: str, size: str, source: str, answer: tuple[str, str], line: str = ""
) -> Message:
    """Return the message that torch fixed an axis; the answer is why, and what to do, with the size in braces."""
    why, advice = (text.format(size=size) for text in answer)
    fixed = Specialised(axis, int(size), source, True, line)
    return Message(match[0][:300], f"torch fixed {axis} at {size}", why, advice, fixed=fixed, line=line)


def read_guard(match: re.Match[str], names: SizeNames) -> Message:
    """Return the message of a requirement that a pattern's group ``guard`` holds."""
    return guard_message(match, names, match["guard"])


def _templates() -> Iterator[MessageRow]:
    for row in tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))["message"]:
        yield message_row(row["pattern"], row["meaning"], row["why"], row["advice"])


TEMPLATE_ROWS = tuple(_templates())
"""Messages whose answers are templates, among them the errors of operators."""


# Lines of ``TORCH_LOGS``, and the reports of ``torch.export.draft_export``.


_PLACE = re.compile(
    r"(?:(?P<code>.*?)\s+#\s+(?P<user>\S+:\d+) in \S+\s+| at (?P<older>\S+:\d+) in \S+\s+)?"
    r"\((?P<file>[^()\s]+:\d+) in (?P<function>[^)]+)\)"
)
_UNBACKED = re.compile(r"(?<!\w)(?:zu|zuf|u)\d+(?!\w)")


def recorded_line(place: str) -> str:
    """Return where torch recorded a guard: the user's line if it is known, or torch's own function."""
    match = _PLACE.search(place)
    if match is None or match["file"].startswith("<"):  # a graph that torch wrote
        return ""
    user = match["user"] or match["older"]  # torch up to 2.6 writes "at file:line"
    return f"line {user}" if user else f"{match['function']} in torch"


def _guard_added(match: re.Match[str], names: SizeNames) -> Message | None:
    if _UNBACKED.search(match["guard"]):
        return Message(
            " ".join(match[0].split())[:300],
            f"torch checks {names.spelled(match['guard'])} at run time",
            "data decide it",
            line=recorded_line(match["place"]),
        )
    return guard_message(match, names, match["guard"], recorded_line(match["place"]))


def _specializing(match: re.Match[str], names: SizeNames) -> Message:
    advice = "leave the axis out of dynamic_shapes (or Dim.STATIC), or change the line whose guard leaves one size"
    axis = names.axis_of(match["source"])
    return fixed_message(match, axis, match["size"], match["source"], ("the guards leave this size only", advice))


LOG_ROWS = (
    read_row(
        r"(?:eval|runtime_assert|expect_true|advise_is_size)(?: \(forcing_spec\))? (?P<guard>(?!\[guard "
        r"suppressed\])[^\n]+?) \[guard added\](?P<place>[^\n]*)",
        _guard_added,
    ),
    read_row(r"this guard was added: (?P<guard>[^\n]+?), where \{", read_guard),
    read_row(r"Specializing (?P<source>L\[[^\n]+?) to (?P<size>\d+)", _specializing),
)
