"""Hold any engine of symbolic shapes against what real runtimes did at all sizes from 0 to 4.

This file needs only Python's standard library: copy it with ``suite.json``. An engine is a class of two methods:
``infer`` answers a case once for all sizes, ``at`` reads that answer at some sizes.

`judged` holds it against one case; ``python -m conformance ask jax`` does it for those of this folder.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

Sizes = Mapping[str, int]
Shape = Sequence[int | None] | None
"""A shape at given sizes; None for a size that the engine leaves open, and None as a whole for an unknown rank."""
Outcome = Literal["right", "open", "refused", "silent", "wrong"]
OUTCOMES: tuple[Outcome, ...] = ("right", "open", "refused", "silent", "wrong")
"""From best to worst: the outcome of a case is the worst at any sizes."""
SUITE = Path(__file__).with_name("suite.json")
LARGEST = 4


class NotAsked(Exception):  # noqa: N818 - it is no error of the engine
    """The engine has no counterpart of an operator: the case is not counted."""


class CannotTell(Exception):  # noqa: N818
    """The engine says that it does not know whether it works at these sizes."""


class Engine(Protocol):
    """An engine; ``runtime`` names the recorded runs that its answers are held against."""

    runtime: str

    def infer(self, case: Case) -> Any:
        """Return an answer for all sizes; an error says that no sizes work. `NotAsked` if an operator is missing."""

    def at(self, answer: Any, sizes: Sizes) -> Sequence[Shape] | None:
        """Return the shape of each output, or None if the answer says that it fails at these sizes."""


@dataclass(frozen=True)
class Node:
    """An operator of ONNX (opset 17), with its attributes; an omitted input is an empty name."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A graph, and what each runtime did at all sizes.

    Attributes
    ----------
    names
        The symbols, sorted; `points` gives them all sizes from 0 to 4, the last one fastest.
    inputs
        The type and shape of each input: integers and names.
    constants
        The type, shape and values of each constant, values in C order.
    runs
        For each runtime and point, the shapes of the outputs, or None where it fails.
    """

    name: str
    kind: Literal["broadcast", "operator", "model"]
    names: tuple[str, ...]
    inputs: Mapping[str, tuple[str, tuple[int | str, ...]]]
    constants: Mapping[str, tuple[str, tuple[int, ...], tuple[Any, ...]]]
    nodes: tuple[Node, ...]
    outputs: Mapping[str, str]
    runs: Mapping[str, Sequence[Sequence[Sequence[int]] | None]]

    def points(self) -> Iterator[dict[str, int]]:
        """Return all sizes of the symbols."""
        for sizes in itertools.product(range(LARGEST + 1), repeat=len(self.names)):
            yield dict(zip(self.names, sizes, strict=True))

    def shapes(self, sizes: Sizes) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the inputs at some sizes."""
        return {
            name: tuple(d if isinstance(d, int) else sizes[d] for d in shape)
            for name, (_, shape) in self.inputs.items()
        }

    def ran(self, runtime: str) -> Iterator[tuple[dict[str, int], Sequence[Sequence[int]] | None]]:
        """Return all sizes with what a runtime did there."""
        return zip(self.points(), self.runs[runtime], strict=True)


def read(path: Path = SUITE) -> list[Case]:
    """Return the cases of a suite."""
    return [case_of(entry) for entry in json.loads(path.read_text("utf-8"))["cases"]]


def case_of(entry: Mapping[str, Any]) -> Case:
    """Return the case of an entry of the suite."""
    nodes = tuple(
        Node(n["op"], tuple(n["inputs"]), tuple(n["outputs"]), n.get("attributes", {})) for n in entry["nodes"]
    )
    inputs = {i["name"]: (i["type"], tuple(i["shape"])) for i in entry["inputs"]}
    constants = {c["name"]: (c["type"], tuple(c["shape"]), tuple(c["values"])) for c in entry["constants"]}
    outputs = {o["name"]: o["type"] for o in entry["outputs"]}
    runs = {name: entry["runs"][same] if isinstance(same, str) else same for name, same in entry["runs"].items()}
    runs = {n: [None if at is None else entry["shapes"][at] for at in found] for n, found in runs.items()}
    return Case(entry["name"], entry["kind"], tuple(entry["names"]), inputs, constants, nodes, outputs, runs)


# What an answer is worth.


@dataclass(frozen=True)
class Judged:
    """A case with the number of sizes of each outcome, and the first sizes of the worst one; not asked: no counts.

    ``from_one`` counts only those where no size is 0.
    """

    case: str
    kind: str
    counts: Mapping[Outcome, int]
    from_one: Mapping[Outcome, int]
    example: str = ""

    @property
    def worst(self) -> Outcome | None:
        """The worst outcome at any sizes; None if the case was not asked."""
        return max(self.counts, key=OUTCOMES.index) if self.counts else None


def judged(engine: Engine, case: Case) -> Judged:
    """Return what an engine's answer to a case is worth at all sizes."""
    if engine.runtime not in case.runs:
        return Judged(case.name, case.kind, {}, {})
    try:
        answer, error = engine.infer(case), ""
    except NotAsked:
        return Judged(case.name, case.kind, {}, {})
    except Exception as refusal:  # engines have errors of their own
        answer, error = None, f"{type(refusal).__name__}: {str(refusal).strip().splitlines()[:1]}"
    counts: Counter[Outcome] = Counter()
    from_one: Counter[Outcome] = Counter()
    examples: dict[Outcome, str] = {}
    for sizes, ran in case.ran(engine.runtime):
        said = _said(engine, answer, sizes, bool(error))
        outcome = _outcome(said, ran)
        counts[outcome] += 1
        from_one[outcome] += 0 not in sizes.values()
        shown = ", ".join(f"{n}={size}" for n, size in sizes.items())
        told = error or ("cannot tell" if said is CannotTell else said)
        examples.setdefault(outcome, f"at {shown or 'no sizes'} it gives {_text(ran)}; said: {_text(told)}")
    worst = max(counts, key=OUTCOMES.index)
    return Judged(case.name, case.kind, dict(counts), dict(from_one), examples[worst])


def _said(engine: Engine, answer: Any, sizes: Sizes, is_refused: bool) -> Any:
    if is_refused:
        return None
    try:
        return engine.at(answer, sizes)
    except CannotTell:
        return CannotTell


def _outcome(said: Any, ran: Sequence[Sequence[int]] | None) -> Outcome:
    if said is CannotTell:
        return "open"
    if ran is None:
        return "right" if said is None else "silent"
    if said is None:
        return "refused"
    if len(said) != len(ran) or not all(map(_fits, said, ran)):
        return "wrong"
    return "open" if any(shape is None or None in shape for shape in said) else "right"


def _fits(said: Shape, ran: Sequence[int]) -> bool:
    return said is None or (len(said) == len(ran) and all(s in (None, r) for s, r in zip(said, ran, strict=True)))


def _text(found: Any) -> str:
    if found is None:
        return "an error"
    return found if isinstance(found, str) else " and ".join("?" if s is None else str(tuple(s)) for s in found)


# Sizes as text.

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def _join(*sizes: int) -> int:
    """Return the size that is not 1, as a broadcast of sizes that fit gives it."""
    return next((size for size in sizes if size != 1), 1)


_CALLS: dict[str, Callable[..., Any]] = {
    "broadcast": _join,
    "max": max,
    "min": min,
    "floor": math.floor,
    "ceil": math.ceil,
    "ceiling": math.ceil,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
}


def size_at(text: str, sizes: Sizes) -> int | None:
    """Return a size written as an expression at given sizes; None if it names anything else or has no value.

    >>> size_at("2*N + floor(N/2)", {"N": 3})
    7
    """
    try:
        found = _value(ast.parse(text, mode="eval").body, sizes)
    except (SyntaxError, KeyError, ZeroDivisionError):
        return None
    return int(found) if found == int(found) else None


def _value(node: ast.AST, sizes: Sizes) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, sizes)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _CALLS[node.func.id.lower()](*(_value(a, sizes) for a in node.args))
    raise KeyError(ast.dump(node))
