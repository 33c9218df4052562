"""The tables of speeds: measured, and written with their date and versions.

``PYTHONPATH=tests:tests/support python -m benchmarks.speeds`` prints them; ``--write`` puts them into the README of
this folder, and a selection into ``docs/tools.md``. Words limit them to the rows that contain one of them. A
section is a table; a row measures itself and returns its columns.
"""

from __future__ import annotations

import datetime
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks import growth, nodes, operators, questions, traces, turns
from benchmarks.measuring import beside_numpy, beside_process
from benchmarks.peers import operators as programs
from benchmarks.peers import turns as peers

README = Path(__file__).with_name("README.md")
FRONT = Path(__file__).parents[2] / "docs" / "tools.md"
BEGIN, END = "<!-- speeds -->", "<!-- end of speeds -->"
TOOLS = ("onnx", "onnxruntime", "openvino", "jax", "torch", "tinygrad", "apache-tvm", "z3-solver", "islpy")
PACKAGES = ("symbcast", "numpy", "sympy", *TOOLS)
NETWORKS = (4, 16)
"""Layers of the traced networks."""

Columns: TypeAlias = tuple[str, ...]
Row: TypeAlias = Callable[[], Columns | None]
Measured: TypeAlias = dict[str, Columns]
"""The columns of each row that was measured, by its name."""
Cell: TypeAlias = tuple[str, int]
"""A row, and one of its columns."""


class Section(NamedTuple):
    """A table: the heads of its columns, and its rows, each with what it measures. ``a, by b`` stands below ``a``."""

    heads: Columns
    rows: Mapping[str, Row]


class Compared(NamedTuple):
    """A row of ``docs/tools.md``: a question, the figures of symbcast, and those of others."""

    question: str
    ours: Sequence[Cell]
    others: Mapping[str, Cell]


def shown(ratio: float) -> str:
    """Return a ratio with two digits or more."""
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"


def duration(seconds: float) -> str:
    """Return a time with two or three digits, in a unit that suits it."""
    scale, unit = next(((s, u) for s, u in ((1, "s"), (1e-3, "ms")) if seconds >= s), (1e-6, "µs"))
    return f"{shown(seconds / scale)} {unit}"


def beside(make: Callable[[], turns.Case]) -> Columns | None:
    """Return the ratio of a case to NumPy and its time; None if what it asks is not installed."""
    try:
        seconds, ratio = beside_numpy(make())
    except ImportError:
        return None
    return shown(ratio), duration(seconds)


def started(*arguments: str, other: str = "pass") -> Columns:
    """Return the ratio of a process to one of Python that runs some code, and what it takes beyond that."""
    seconds, beside = beside_process(arguments, ("-c", other))
    return shown(seconds / beside), duration(seconds - beside)


def program(name: str) -> Columns:
    """Return the time of an operation of a program in each of our forms and by others, and who is ahead."""
    forms = ("", ", with its condition", ", each on new names")
    ours = [beside_numpy(operators.CASES[f"program of {name}{form}"])[0] for form in forms]
    found = {peer: peer_program(name, peer) for peer in programs.PEERS}
    times = {"symbcast": ours[0], **{peer: seconds for peer, seconds in found.items() if not isinstance(seconds, str)}}
    others = [seconds if isinstance(seconds, str) else duration(seconds) for seconds in found.values()]
    return (*map(duration, ours), *others, min(times, key=times.__getitem__))


def peer_program(name: str, peer: str) -> float | str:
    """Return the seconds of an operation by a peer, or why there are none."""
    if (name, peer) in programs.REFUSED:
        return "refused"
    try:
        return beside_numpy(programs.case(name, peer))[0]
    except ImportError:
        return "not installed"


def node(measure: Callable[[], float]) -> Columns | None:
    """Return the time of a node; None if what is asked is not installed."""
    try:
        return (duration(measure() * 1e-6),)
    except ImportError:
        return None


def of_cases(cases: Mapping[str, turns.Case], others: Mapping[str, Callable[[], turns.Case]]) -> dict[str, Row]:
    """Return a row for each case, and below it one for each peer that is asked the same."""
    found: dict[str, Row] = {}
    for name, case in cases.items():
        found[name] = partial(beside, lambda case=case: case)
        same = (peer for peer in others if peer.startswith(f"{name}, "))
        found |= {f"{name}, by {peer.removeprefix(f'{name}, ')}": partial(beside, others[peer]) for peer in same}
    return found


CHECK = ("-m", "symbcast", "check", "N, 3")
PROGRAM = ("operation of a program, CPU", "symbcast", "with its condition", "new names each")
SECTIONS = [
    Section(("question", "times NumPy", "CPU"), of_cases(turns.CASES, peers.CASES)),
    Section(("question, over new names", "times NumPy", "CPU"), of_cases(questions.CASES, questions.PEERS)),
    Section((*PROGRAM, *programs.PEERS, "ahead"), {name: partial(program, name) for name in operators.OPERATORS}),
    Section(("model", "CPU a node"), {name: partial(node, measure) for name, measure in nodes.ROWS.items()}),
    Section(("traced function", "times NumPy", "CPU"), of_cases(traces.CASES, traces.PEERS)),
    Section(
        ("process", "times Python", "CPU beyond it"),
        {
            "`import symbcast`": partial(started, "-c", "import symbcast"),
            "`symbcast check`, always valid": partial(started, *CHECK, "N, 1"),
            "`symbcast check`, valid for some sizes": partial(started, *CHECK, "M, 1", "--fail-on", "never"),
        },
    ),
    Section(
        ("process", "times one that imports sympy", "CPU beyond it"),
        {
            f"traced network of {n} layers": partial(started, "-c", traces.NETWORK.format(n=n), other="import sympy")
            for n in NETWORKS
        },
    ),
    Section(("what grows", *growth.HEADS), {case: partial(growth.row, case) for case in growth.CASES}),
]
NUMPY, LAYERS = "integers, by numpy", "ONNX, a transformer of 288 nodes, ONNX Runtime"
NAMES = ("jax", "torch (fake tensors)", "tvm", "tinygrad")
"""How `programs.PEERS` are called in the project's README."""
FRONT_HEADS = ("question", "symbcast", "others, without conditions")
COMPARED = [
    Compared(
        "two shapes of integers",
        [("integers", 1)],
        {"numpy": (NUMPY, 1), "jax": ("integers, by jax", 1), "openvino": ("integers, by openvino", 1)},
    ),
    Compared(
        "`(N, 3)` and `(M, 1)`, the condition, new names each time", [("a pair over new names, text: condition", 1)], {}
    ),
    Compared(
        "a matmul in a program of 100; with the condition",
        [("matmul", 0), ("matmul", 1)],
        {peer: ("matmul", len(PROGRAM) - 1 + n) for n, peer in enumerate(NAMES)},
    ),
    Compared(
        "a node of an ONNX transformer, with the condition",
        [(LAYERS, 0)],
        {"onnx": (f"{LAYERS}, by onnx", 0), "onnxruntime's tool": (f"{LAYERS}, by onnxruntime's tool", 0)},
    ),
    Compared(
        "`symbcast check` in a terminal, beyond the start of Python",
        [("`symbcast check`, valid for some sizes", 1)],
        {},
    ),
]


def measured(words: Sequence[str] = ()) -> Measured:
    """Return the columns of the rows that have one of the words, or of all; not of those whose tools are missing."""
    asked = [(name, row) for section in SECTIONS for name, row in section.rows.items()]
    asked = [(name, row) for name, row in asked if not words or any(word in name for word in words)]
    return {name: columns for name, row in asked if (columns := row()) is not None}


def table(heads: Columns, lines: Iterable[Columns]) -> Iterator[str]:
    """Yield a table in Markdown, line by line."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for columns in lines:
        yield f"| {' | '.join(columns)} |"


def below(name: str) -> str:
    """Return the name of a row as it is written: that of a peer stands below the question."""
    question, by, peer = name.partition(", by ")
    return f"... by {peer}" if by else question


def tables(found: Measured) -> str:
    """Return all tables, without the rows that were not measured."""
    lines = [head()]
    for section in SECTIONS:
        rows = [(below(name), *found[name]) for name in section.rows if name in found]
        lines += ["", *table(section.heads, rows)] if rows else []
    return "\n".join(lines)


def front(found: Measured) -> str:
    """Return the table of the project's README."""
    lines: list[Columns] = []
    for question, ours, others in COMPARED:
        texts = [f"{who} {found[row][column]}" for who, (row, column) in others.items() if row in found]
        lines.append((question, "; ".join(found[row][column] for row, column in ours), ", ".join(texts) or "none"))
    more = f"../{README.relative_to(FRONT.parents[1])}"
    return "\n".join([*table(FRONT_HEADS, lines), "", f"{head()} The [benchmarks]({more}) have more."])


def head() -> str:
    """Return when and with which versions this is measured."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    machine = f"Python {platform.python_version()} on {platform.system()}, {platform.machine()}"
    return f"Measured on {datetime.date.today():%Y-%m-%d} with {', '.join(found)}; {machine}."


def written(text: str, new: str) -> str:
    """Return a README with what is between its marks replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{new}\n{END}{after}"


def main(arguments: list[str]) -> None:
    words = [a for a in arguments if a != "--write"]
    if words and "--write" in arguments:
        sys.exit("only all rows can be written")
    found = measured(words)
    print(tables(found))
    if "--write" in arguments:
        README.write_text(written(README.read_text("utf-8"), tables(found)), "utf-8")
        FRONT.write_text(written(FRONT.read_text("utf-8"), front(found)), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
