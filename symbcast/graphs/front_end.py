"""Front ends: the description of a framework that lets its models be walked.

A front end reads a model into a `Model` and maps its operators to functions; the walk, the condition, the findings, the
report with its formats and the command line come with that. `symbcast.graphs.registry` lists the file types of each
front end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from symbcast.batch.endings import nothing
from symbcast.graphs.inputs.aliases import NO_LAYOUTS, Layouts
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reaches import none_of
from symbcast.graphs.walking.walk import Walk

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.model import Model
    from symbcast.graphs.operators.table import Operator
    from symbcast.graphs.report.report import GraphReport
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.values.value import Value
    from symbcast.graphs.walking.reaches import Reaches


def unknown_operator(call: NodeCall) -> Sequence[Value]:
    """Leave the outputs of an operator without a function unknown."""
    call.give_up("the operator is not supported here")


@dataclass(frozen=True)
class FrontEnd:
    """A framework whose models are walked.

    Attributes:
        name: its name; also the extra that it needs, if any.
        read: reads the path or object that a caller passes, given the runtime in question.
        operators: the functions of operators, by domain and name: an `OperatorTable`, or a plain mapping.
        report: creates the answer from a model that was walked.
        runtimes: the supported runtimes, the default first, each with a description of the assumptions made about it.
        tail: answers for operators that ``operators`` does not contain.
        reaches: the number of axes that operators use of inputs of unknown rank.
        call: creates the call of an operator.
        walk: creates the walk.
        layouts: which operators take images, for short names of their sizes.
        prepare: loads the modules that checks need, which takes longer than most checks; for processes that check many
            models.
        read_function: reads one function of a model, whose name comes last; None if models have no functions by name.
        module: the module that has it as ``FRONT_END``; answers of other front ends do not pickle.
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
    layouts: Layouts = NO_LAYOUTS
    prepare: Callable[[], None] = nothing
    read_function: Callable[[Any, str, str], Model] | None = None
    module: str = ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle as the name of the module that has it as FRONT_END: tables of operators hold functions."""
        return (_front_end_of, (self.module,)) if self.module else super().__reduce__()

    def runtime(self, wanted: str | None = None) -> str:
        """Return the runtime that a question is about: the requested one if it is supported, otherwise the default."""
        return wanted if wanted is not None and wanted in self.runtimes else next(iter(self.runtimes), self.name)

    def operator(self, node: Node) -> Operator[Any] | None:
        """Return the function of a node's operator; None if it has none."""
        return self.operators.get((node.domain, node.op_type))


def _front_end_of(module: str) -> Any:
    return import_module(module).FRONT_END


GUESSED_CHECKS = (
    "load open parse read check_model check_file infer infer_shapes shapes analyze analyse validate -> check(...)",
    "verify run report test from_file from_model from_path import_model convert -> check(...)",
)
"""Names that people try in the module of a front end, and what they mean."""
