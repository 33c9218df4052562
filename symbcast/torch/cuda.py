"""Where torch's kernels on CUDA do otherwise than those on the CPU.

``cuda.json`` has the differences by operator, with a condition on the sizes of its arguments. They explain the recorded
runs on an H200 with torch 2.11 (``tests/data/torch/cuda_differences.json``), at sizes at which the CPU's rule runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import TRUE, Formula, with_dims
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Dim, term
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import parse_formula
from symbcast.graphs.walking.requirements import NodePlace
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall


class KernelDifference(NamedTuple):
    """A node whose kernel on CUDA does otherwise.

    Attributes:
        node: the name of the node; ``where`` is its module and line.
        cuda: what it does on CUDA: ``fails``, or what it returns.
        condition: at which sizes, among those at which the graph runs on the CPU.
    """

    node: str
    where: str
    op_type: str
    cuda: str
    condition: Condition

    def __str__(self) -> str:
        return f"{self.node} ({self.op_type}) runs on the CPU, {self.cuda} on CUDA when {self.condition}"


def differences_of(walk: Any, nodes: Any, among: Callable[[Formula], Condition | None]) -> Iterator[KernelDifference]:
    """Yield the differences of the nodes of a walked graph; ``among`` returns at which of its sizes a formula holds."""
    for node in nodes:
        inputs = [walk.top.values.get(name) for name in node.inputs]
        outputs = [walk.top.values.get(name) for name in node.outputs]
        rows = _rows().get(node.op_type.removeprefix("aten."), ())
        if rows and all(v is not None and v.shape is not None for v in outputs[:1]):
            call = TorchCall(NodePlace(node.name, node.op_type, node, inputs), walk, walk.top)
            yield from (
                KernelDifference(node.name, node.where, node.op_type, row["cuda"], condition)
                for row in rows
                if (formula := formula_of_row(row, call.arguments, outputs[0])) is not None
                if (condition := among(formula)) is not None
            )


def formula_of_row(row: Mapping[str, Any], arguments: Mapping[str, Any], output: Value) -> Formula | None:
    """Return at which sizes a difference occurs; None if the arguments are others than those that it is about."""
    tensors = {**arguments, "output": output}
    first = next(v for v in tensors.values() if isinstance(v, Value))
    least, most = row.get("ranks", (0, 9))
    is_given = any(arguments.get(n) is not None for n in row.get("given", arguments))
    is_about = all(_plain(arguments.get(name)) == value for name, value in row.get("if", {}).items())
    if not (is_given and is_about and least <= len(first.shape or ()) <= most):
        return None
    sizes = {
        symbol(f"{name}_{place}"): term(dim)
        for name, value in tensors.items()
        if isinstance(value, Value) and value.shape is not None
        for place, dim in _places(value.shape)
    }
    written = Substitution(sizes, of_symbols=True)
    return with_dims(parse_formula(row["when"]), lambda d: written.term(term(d)).dim()) if row["when"] else TRUE


def _places(shape: tuple[Dim, ...]) -> Iterator[tuple[int | str, Dim]]:
    """Yield the sizes that a condition may name: each axis, the product of all, and that of all after the first two."""
    yield from enumerate(shape)
    yield from (("count", multiply(*shape)), ("rest", multiply(*shape[2:])))


def _plain(value: Any) -> Any:
    """Return a list as its length, and other arguments as they are."""
    return len(value) if isinstance(value, list) else value


@cache
def _rows() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(Path(__file__).with_name("cuda.json").read_text("utf-8")):
        for name in row["operators"]:
            rows.setdefault(name, []).append(row)
    return rows
