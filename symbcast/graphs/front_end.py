"""Front ends: the description of a framework that lets its models be walked.

A front end reads a model into a `Model` and maps its operators to functions; the walk, the condition, the findings, the
report with its formats and the command line come with that. `symbcast.graphs.registry` lists the file types of each
front end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from symbcast.core.isolation import load_nothing
from symbcast.graphs.inputs import NO_LAYOUTS, Layouts
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.unknown_ranks import Reaches, none_of, padded
from symbcast.graphs.walking.walk import Walk
from symbcast.operators.values.value import Value

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.model import Model
    from symbcast.graphs.report.graph_report import GraphReport
    from symbcast.graphs.walking.requirements import Requirements
    from symbcast.operators.context import Dims
    from symbcast.operators.reach import Reach


Call = TypeVar("Call", bound=NodeCall)
Operator: TypeAlias = Callable[[Call], Value | Sequence[Value]]
"""The function of an operator, from a call to its outputs."""
Offered = TypeVar("Offered", bound=Callable[..., Value | Sequence[Value]])


class OperatorTable(dict[tuple[str, str], Operator[Call]]):
    """Map operators to functions from a call to its outputs, by domain (empty for the framework's own) and name.

    A name without a dot is in ``namespace``, if the framework has one.
    """

    def __init__(self, namespace: str = "") -> None:
        super().__init__()
        self._namespace = namespace
        self._reaches: dict[tuple[str, str], Reaches] = {}

    def offer(self, *names: str, domain: str = "", reaches: Reaches | None = None) -> Callable[[Offered], Offered]:
        """Register the decorated function for the operators with these names.

        ``reaches`` says how far they look into inputs of unknown rank; without it, all ranks must be known.

        >>> table = OperatorTable("aten")
        >>> @table.offer("relu", "prims.neg")
        ... def same(call):
        ...     return call.inputs[0]
        >>> sorted(table)
        [('', 'aten.relu'), ('', 'prims.neg')]
        """

        def put(function: Offered) -> Offered:
            for name in names:
                within = f"{self._namespace}." if self._namespace and "." not in name else ""
                self[domain, within + name] = function
                if reaches is not None:
                    self._reaches[domain, within + name] = reaches
            return function

        return put

    def reaches_of(self, call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
        """Return a node's reach into each input; None if the rank of that input must be known.

        Raises `UnknownShapeError` if all ranks must be known, or if the reach depends on unknown values.
        """
        reaches = self._reaches.get((call.node.domain, call.node.op_type), none_of)
        return padded(reaches(call, shapes), len(shapes))

    def with_files(self, package: str) -> Self:
        """Return the table after importing each file of a package; the files register their operators in it."""
        for file in iter_modules(import_module(package).__path__):
            import_module(f"{package}.{file.name}")
        return self


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
    call: Callable[..., NodeCall] = NodeCall
    walk: Callable[[Any, FrontEnd, Requirements], Walk] = Walk
    layouts: Layouts = NO_LAYOUTS
    prepare: Callable[[], None] = load_nothing
    read_function: Callable[[Any, str, str], Model] | None = None
    module: str = ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle as the name of the module that has it as FRONT_END: tables of operators hold functions."""
        return (_front_end_of, (self.module,)) if self.module else super().__reduce__()

    def runtime(self, requested: str | None = None) -> str:
        """Return the runtime that a question is about: the requested one if it is supported, otherwise the default."""
        return (
            requested if requested is not None and requested in self.runtimes else next(iter(self.runtimes), self.name)
        )

    def operator(self, node: Node) -> Operator[Any] | None:
        """Return the function of a node's operator; None if it has none."""
        return self.operators.get((node.domain, node.op_type))

    def reaches(self, call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
        """Return a node's reach into each input, as its operator was registered with; see `OperatorTable`."""
        find = self.operators.reaches_of if isinstance(self.operators, OperatorTable) else none_of
        return find(call, shapes)


def _front_end_of(module: str) -> Any:
    return import_module(module).FRONT_END


GUESSED_CHECKS = (
    "load open parse read check_model check_file infer infer_shapes shapes analyze analyse validate -> check(...)",
    "verify run report test from_file from_model from_path import_model convert -> check(...)",
)
"""Names that people try in the module of a front end, and what they mean."""
