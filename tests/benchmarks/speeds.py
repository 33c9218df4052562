"""The table of speeds in the README of this folder: measured, and written with its date and versions.

``PYTHONPATH=tests python -m benchmarks.speeds`` prints it, with ``--write`` into the README. A word limits it to the
rows that contain it. A section is a table; a row measures itself and returns its columns.
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

from benchmarks import questions, turns
from benchmarks.measuring import beside_numpy, beside_python
from benchmarks.peers import turns as peers

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- speeds -->", "<!-- end of speeds -->"
PACKAGES = ("symbcast", "numpy", "sympy", "jax", "tinygrad", "apache-tvm", "openvino")

Columns: TypeAlias = tuple[str, ...]
Row: TypeAlias = Callable[[], Columns | None]


class Section(NamedTuple):
    """A table: the heads of its columns, and its rows, each with what it measures."""

    heads: Columns
    rows: Sequence[tuple[str, Row]]


def beside(make: Callable[[], turns.Case]) -> Columns | None:
    """Return the ratio of a case to NumPy and its time; None if what it asks is not installed."""
    try:
        seconds, ratio = beside_numpy(make())
    except ImportError:
        return None
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}", f"{seconds * 1e6:.3g} µs"


def started(*arguments: str) -> Columns:
    """Return the ratio of a process to one of Python that does nothing, and what it takes beyond that."""
    seconds, bare = beside_python(*arguments)
    return f"{seconds / bare:.1f}", f"{(seconds - bare) * 1e3:.0f} ms"


def of_cases(cases: Mapping[str, turns.Case], others: Mapping[str, Callable[[], turns.Case]]) -> list[tuple[str, Row]]:
    """Return a row for each case, and below it one for each peer that is asked the same."""
    found: list[tuple[str, Row]] = []
    for name, case in cases.items():
        found.append((name, partial(beside, lambda case=case: case)))
        same = (peer for peer in others if peer.startswith(f"{name}, "))
        found += [(f"... by {peer.removeprefix(f'{name}, ')}", partial(beside, others[peer])) for peer in same]
    return found


SECTIONS = [
    Section(("question", "times NumPy", "CPU"), of_cases(turns.CASES, peers.CASES)),
    Section(("question, over new names", "times NumPy", "CPU"), of_cases(questions.CASES, questions.PEERS)),
    Section(
        ("process", "times Python", "CPU beyond it"),
        [
            ("`import symbcast`", partial(started, "-c", "import symbcast")),
            ("`symbcast check`", partial(started, "-m", "symbcast", "check", "N, 3", "N, 1")),
        ],
    ),
]


def rows(section: Section, words: Iterable[str] = ()) -> Iterator[str]:
    """Yield a table in Markdown, line by line; only the rows with one of the words, if there are any."""
    yield f"| {' | '.join(section.heads)} |"
    yield f"|{'---|' * len(section.heads)}"
    for name, measure in section.rows:
        columns = measure() if not words or any(word in name for word in words) else None
        if columns is not None:
            yield f"| {' | '.join((name, *columns))} |"


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


def written(text: str, table: str) -> str:
    """Return a README with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main(arguments: list[str]) -> None:
    words = [a for a in arguments if a != "--write"]
    lines = [head()]
    for section in SECTIONS:
        lines += ["", *rows(section, words)]
    table = "\n".join(lines)
    print(table)
    if "--write" in arguments:
        README.write_text(written(README.read_text("utf-8"), table), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
