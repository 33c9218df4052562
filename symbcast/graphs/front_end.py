"""Front ends: what is told of a framework so that its models are walked.

A front end reads a model into a `Model` and maps its operators onto functions; the walk, the condition, the findings,
the report with its formats and the command line come with that. `symbcast.graphs.registry` has the files it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symbcast.batch.endings import nothing
from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.reaches import none_of
from symbcast.graphs.walk import Walk

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.model import Model
    from symbcast.graphs.operators.table import Operator
    from symbcast.graphs.reaches import Reaches
    from symbcast.graphs.report.report import GraphReport
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.values.value import Value


def unknown_operator(call: NodeCall) -> Sequence[Value]:
    """Leave the outputs of an operator unknown that nobody wrote a function for."""
    call.give_up("the operator is not known here")


@dataclass(frozen=True)
class FrontEnd:
    """A framework whose models are walked.

    Attributes:
        name: what it is called; also the extra that it needs, where it needs one.
        read: reads what a caller hands in, a path or an object, given the runtime that is asked about.
        operators: the functions of operators, by domain and name: an `OperatorTable`, or a plain mapping.
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
    operators: Mapping[tuple[str, str], Operator[Any]]
    report: Callable[..., GraphReport]
    runtimes: Mapping[str, str] = field(default_factory=dict)
    tail: Callable[[Any], Sequence[Value]] = unknown_operator
    reaches: Reaches = none_of
    call: Callable[..., NodeCall] = NodeCall
    walk: Callable[[Any, FrontEnd, Asker], Walk] = Walk
    prepare: Callable[[], None] = nothing

    def runtime(self, wanted: str | None = None) -> str:
        """Return the runtime that a question is about: the wanted one where it is one of these, else the default."""
        return wanted if wanted is not None and wanted in self.runtimes else next(iter(self.runtimes), self.name)

    def operator(self, node: Node) -> Operator[Any] | None:
        """Return the function of a node's operator; None where there is none."""
        return self.operators.get((node.domain, node.op_type))
