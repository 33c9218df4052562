"""Front ends: what is told of a framework so that its models are walked.

A front end reads a model into a `Model` and maps its operators onto functions; the walk, the condition, the findings,
the report with its formats and the command line come with that. `symbcast.graphs.registry` has the files it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.batch.endings import nothing
from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.reaches import none_of
from symbcast.graphs.walk import Walk

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.model import Model
    from symbcast.graphs.reaches import Reaches
    from symbcast.graphs.report.report import GraphReport
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.values.value import Value

Operator: TypeAlias = "Callable[[Any], Value | Sequence[Value]]"
"""From a call of an operator to its outputs; a front end with calls of its own has functions of these."""
Operators: TypeAlias = "Mapping[tuple[str, str], Operator]"
"""Operators by domain, empty for the framework's own, and name."""


def unknown_operator(call: NodeCall) -> Sequence[Value]:
    """Leave the outputs of an operator unknown that nobody wrote a function for."""
    call.give_up("the operator is not known here")


def plain_walk(model: Model, front_end: FrontEnd, asker: Asker) -> Walk:
    """Return a walk that needs no more than the table of operators."""
    return Walk(front_end, asker, model.inner)


@dataclass(frozen=True)
class FrontEnd:
    """A framework whose models are walked.

    Attributes:
        name: what it is called; also the extra that it needs, where it needs one.
        read: reads what a caller hands in, a path or an object, given the runtime that is asked about.
        operators: the functions of operators.
        report: makes the answer of a model that was walked through.
        runtimes: what may be asked about, the default first, with the words for what is taken for granted then.
        tail: answers for an operator that ``operators`` does not have.
        reaches: how far operators look into inputs of unknown rank.
        call: makes the call of an operator.
        walk: makes the walk.
        prepare: loads what checks need, which takes longer than most of them: for processes that check many models.
    """

    name: str
    read: Callable[[Any, str], Model]
    operators: Operators
    report: Callable[..., GraphReport]
    runtimes: Mapping[str, str] = field(default_factory=dict)
    tail: Callable[[Any], Sequence[Value]] = unknown_operator
    reaches: Reaches = none_of
    call: Callable[..., NodeCall] = NodeCall
    walk: Callable[[Any, FrontEnd, Asker], Walk] = plain_walk
    prepare: Callable[[], None] = nothing

    def operator(self, node: Node) -> Operator | None:
        """Return the function of a node's operator; None where there is none."""
        return self.operators.get((node.domain, node.op_type))
