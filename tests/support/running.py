"""Models run by ONNX Runtime at given sizes, and held against what a report says of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import symbcast as sb
from symbcast.core.algebra.symbols import is_sequence, symbol
from symbcast.core.solver.evaluation import size_at

onnxruntime.set_default_logger_severity(4)
MAX_ELEMENTS = 1_000_000
Sizes = Mapping[str, int]


class Refusal(NamedTuple):
    """What the runtime says where it does not run a model; there are no ``nodes`` where it does not even load it.

    The last of the nodes is the one that failed, those before it the nodes in whose graphs it lies.
    """

    nodes: tuple[str, ...]
    text: str


class Runs:
    """A model in ONNX Runtime, as it is written: nothing is optimised."""

    def __init__(self, model: onnx.ModelProto) -> None:
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        self._inputs = list(shown.graph.input)
        del shown.graph.output[:]
        shown.graph.output.extend(onnx.ValueInfoProto(name=o) for n in shown.graph.node for o in n.output if o)
        self._names = [o.name for o in shown.graph.output]
        # Where a window would start behind what there is, what is inferred (1.31) has one more than what is made.
        self.rounds_up = any(a.name == "ceil_mode" and a.i for n in shown.graph.node for a in n.attribute)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self.refusal: Refusal | None = None
        try:
            self._session = onnxruntime.InferenceSession(
                shown.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's errors have no class in common
            self.refusal = Refusal((), str(error))

    def at(self, sizes: Sizes, values: Mapping[str, Any] | None = None) -> dict[str, np.ndarray] | Refusal:
        """Return each value by name where it runs; inputs hold ``values``, or 0, 1 and 2 over and over."""
        if self.refusal is not None:
            return self.refusal
        feeds = {i.name: _filled(i, sizes, values or {}) for i in self._inputs}
        try:
            found = self._session.run(self._names, feeds)
        except Exception as error:
            return Refusal(tuple(re.findall(r"while running \w+ node\. Name:'([^']*)'", str(error))), str(error))
        # Sequences and what is optional have no shape.
        return {name: value for name, value in zip(self._names, found, strict=True) if hasattr(value, "shape")}


def _filled(declared: Any, sizes: Sizes, values: Mapping[str, Any]) -> np.ndarray:
    kind = declared.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if declared.name in values:
        return np.asarray(values[declared.name], dtype)
    shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in kind.shape.dim]
    return (np.arange(np.prod(shape, dtype=int)) % 3).astype(dtype).reshape(shape)


class Answer:
    """What a report says at given sizes."""

    def __init__(self, report: sb.onnx.ModelReport) -> None:
        self._report = report
        self._shapes = report.shapes
        # Those that sizes change: of the others there are many, and they are the same at every point.
        shapes = (shape for shape in self._shapes.values() if shape is not None and shape.rank)
        self._open = [shape for shape in shapes if not all(isinstance(d, int) for d in shape.dims)]
        self._condition = report.condition
        self._names = {s.name for s in self._condition.symbols}

    def holds(self, sizes: Sizes) -> bool:
        """Return whether the condition holds; what has no value does not."""
        return self._condition.guard()({name: size for name, size in sizes.items() if name in self._names})

    def shape(self, name: str, sizes: Sizes) -> tuple[Any, ...] | None:
        """Return the shape of a value; None for sizes that data decide, and where no shape is known.

        Of an unknown rank, an ellipsis stands for the axes of which it is not known how many they are.
        """
        found = self._shapes.get(name)
        if found is None:
            return None
        bound = {symbol(n): size for n, size in sizes.items()}
        return tuple(d if isinstance(d, int) else ... if is_sequence(d) else _size(d, bound) for d in found.dims)

    def is_large(self, sizes: Sizes) -> bool:
        """Return whether something may be too large to be run in a test."""
        bound = {symbol(n): size for n, size in sizes.items()}
        counts = (_count(shape, bound) for shape in self._open)
        return any(c > MAX_ELEMENTS for c in counts)

    def leaves_open(self, refusal: Refusal) -> bool:
        """Return whether a careful reader is told that a node which failed might, whatever the condition says."""
        if any(f.is_about_data for f in self._report.findings):
            return True
        open_nodes = self._report.unanalysed
        told = {u.node.split(" (")[0] for u in open_nodes}  # the second of a name has a number
        unnamed = re.findall(r"while running (\w+) node\. Name:''", refusal.text)  # one of a function of the standard
        told_unnamed = any(u.op_type in unnamed for u in open_nodes)
        return told_unnamed or any(node in told or _inlined(node) in told for node in refusal.nodes)


def _inlined(node: str) -> str:
    """Return the name that a node has in the function that the runtime took it from."""
    return re.sub(r"^_inlfunc_Local\d+_", "", node)


def _size(dim: Any, bound: Mapping[Any, int]) -> int | None:
    try:
        return size_at(dim, bound)
    except KeyError:
        return None


def _count(shape: sb.Shape, bound: Mapping[Any, int]) -> int:
    try:
        return prod(_size(d, bound) or 1 for d in shape.dims)
    except ArithmeticError:
        return 0


def fits(known: tuple[Any, ...] | None, real: tuple[int, ...]) -> bool:
    """Return whether a shape may be the one that is known, as far as it is."""
    if known is not None and ... in known:
        place = known.index(...)
        behind = len(known) - place - 1
        # Both ends lie within it, and one behind the other.
        return len(real) >= place + behind and fits(
            (*known[:place], *known[place + 1 :]), (*real[:place], *real[len(real) - behind :])
        )
    return known is None or (
        len(known) == len(real) and all(d in (None, size) for d, size in zip(known, real, strict=True))
    )


Outcome = Literal["right", "wrong", "refused", "foreseen", "early", "noted", "missed"]
"""What a report is worth at some sizes: where the model runs, whether it says so and which shapes come out; where it
does not, whether it says so, whether that is not for the sizes (`is_early`), or is noted as open."""


class Verdict(NamedTuple):
    """How a report was held against the runtime at some sizes; ``detail`` says what differs."""

    outcome: Outcome
    sizes: Sizes
    detail: str = ""
    node: str = ""


def verdicts(
    model: onnx.ModelProto,
    report: sb.onnx.ModelReport,
    points: Iterable[Sizes],
    values: Mapping[str, Any] | None = None,
) -> Iterator[Verdict]:
    """Hold a report against the runtime at every point; those at which something may be too large are left out."""
    answer, runs = Answer(report), Runs(model)
    for sizes in points:
        if answer.is_large(sizes):
            continue
        real = runs.at(sizes, values)
        if isinstance(real, Refusal):
            early = is_early(real) or (not real.nodes and runs.rounds_up and "ShapeInferenceError" in real.text)
            yield _of_refusal(answer, sizes, real, early)
        elif not answer.holds(sizes):
            yield Verdict("refused", sizes, str(report.condition))
        else:
            yield _of_shapes(answer, sizes, real)


def _of_refusal(answer: Answer, sizes: Sizes, refusal: Refusal, early: bool) -> Verdict:
    node = refusal.nodes[-1] if refusal.nodes else ""
    outcome: Outcome = "missed"
    if not answer.holds(sizes):
        outcome = "foreseen"
    elif early:
        outcome = "early"
    elif answer.leaves_open(refusal):
        outcome = "noted"
    return Verdict(outcome, sizes, refusal.text, node)


def _of_shapes(answer: Answer, sizes: Sizes, real: Mapping[str, np.ndarray]) -> Verdict:
    for name, value in real.items():
        try:
            known = answer.shape(name, sizes)
        except ArithmeticError:
            known = (-1,)  # it has no shape there
        if not fits(known, value.shape):
            return Verdict("wrong", sizes, f"{name} is {value.shape}, not {known}")
    return Verdict("right", sizes)


def assert_agreement(
    model: onnx.ModelProto,
    report: sb.onnx.ModelReport,
    points: Iterable[Sizes],
    values: Mapping[str, Any] | None = None,
) -> int:
    """Hold a report against the runtime at every point; return at how many of them it ran."""
    count = 0
    for verdict in verdicts(model, report, points, values):
        assert verdict.outcome not in ("wrong", "refused", "missed"), (verdict, report.condition)
        count += verdict.outcome == "right"
    return count


def is_early(refusal: Refusal) -> bool:
    """Return whether a refusal is not for what the sizes are, but for what the runtime worked out when it was loaded.

    It refuses what would never come to pass, in a branch not taken or of a tensor that is empty, and to run a Scan
    where it did not find out which shape the outputs of its body have.
    """
    if not refusal.nodes:
        return "Graph attribute inferencing failed" in refusal.text or "(Concat)" in refusal.text
    return "Subgraph must have the shape set" in refusal.text
