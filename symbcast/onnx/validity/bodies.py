"""Check the numbers of inputs and outputs of the graphs inside If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from symbcast.onnx.validity.faults import Source, label


class Count(NamedTuple):
    """An actual and a required count."""

    what: str
    found: int
    wanted: int


def check_bodies(node: Any, version: int, source: Source) -> None:
    """Raise `ModelError` if the graphs in a node have numbers of inputs or outputs that do not fit the node."""
    counts = _COUNTS.get(node.op_type)
    if counts is None or node.domain not in ("", "ai.onnx"):
        return
    for what, found, wanted in counts(node, {a.name: a for a in node.attribute}, version):
        if found != wanted:
            raise source.fault(f"{label(node)} has {found} {what}; there must be {wanted}")


def _if(node: Any, attributes: Mapping[str, Any], version: int) -> Iterator[Count]:
    for name in ("then_branch", "else_branch"):
        graph = attributes[name].g
        yield Count(f"inputs of its {name}", len(graph.input), 0)
        yield Count(f"outputs of its {name}", len(graph.output), len(node.output))


def _loop(node: Any, attributes: Mapping[str, Any], version: int) -> Iterator[Count]:
    """Check a Loop: its body maps (iteration, condition, values) to (condition, values, stacked outputs)."""
    body = attributes["body"].g
    yield Count("inputs of its body", len(body.input), len(node.input))
    yield Count("outputs of its body", len(body.output), len(node.output) + 1)
    yield Count("outputs", len(node.output), max(len(node.output), len(node.input) - 2))


def _scan(node: Any, attributes: Mapping[str, Any], version: int) -> Iterator[Count]:
    """Check a Scan: its body maps (states, a slice of each scanned input) to (states, stacked outputs)."""
    if version < 9:  # version 8 has sequence lengths before its states
        return
    body, scanned = attributes["body"].g, attributes["num_scan_inputs"].i
    yield Count("inputs in its num_scan_inputs", scanned, min(max(scanned, 1), len(node.input)))
    states = len(node.input) - scanned
    stacked = len(node.output) - states
    yield Count("inputs of its body", len(body.input), len(node.input))
    yield Count("outputs of its body", len(body.output), len(node.output))
    yield Count("outputs", len(node.output), max(len(node.output), states))
    for name, count in (
        ("scan_input_axes", scanned),
        ("scan_input_directions", scanned),
        ("scan_output_axes", stacked),
        ("scan_output_directions", stacked),
    ):
        if name in attributes and attributes[name].ints:
            yield Count(f"numbers in its {name}", len(attributes[name].ints), count)


_COUNTS: Mapping[str, Callable[[Any, Mapping[str, Any], int], Iterator[Count]]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
}
