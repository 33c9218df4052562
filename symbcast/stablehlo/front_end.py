"""The StableHLO front end: the walk through a module, and ``symbcast.stablehlo.check``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, cast

from symbcast.core.advice import with_advice
from symbcast.core.algebra.formulas import FALSE
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import ShapeLike
from symbcast.core.structs import NamedTuple
from symbcast.graphs.check import FrontEnd, check_graph, read_question
from symbcast.graphs.graph import Graph, Node
from symbcast.graphs.inputs import ContentsLike
from symbcast.graphs.walking.node_call import GraphScope, NodeCall
from symbcast.graphs.walking.requirements import NodePlace, Requirements
from symbcast.graphs.walking.walk import MAX_AGAIN, Key, Walk, WalkedFrontEnd
from symbcast.operators.values.value import Decider, Value, decider_of_source
from symbcast.stablehlo.graph import (
    ASSERTIONS,
    ELEMENTS,
    ENDS_OF_IDIOMS,
    OPERATORS,
    UNASSERTED,
    BroadcastAxis,
    HloCall,
    HloNode,
)
from symbcast.stablehlo.idioms import contents_of_idioms
from symbcast.stablehlo.mlir import HloConstant
from symbcast.stablehlo.reader import read
from symbcast.stablehlo.report import HloReport

_CONSTANTS = frozenset({"stablehlo.constant", "arith.constant", "chlo.constant"})


class FunctionBody(NamedTuple):
    """The nodes in a function that is called, in the order of their walk, and what they take of the walk budget."""

    nodes: list[Node]
    spent: int


class HloWalk(Walk):
    """A walk through one function; see `symbcast.graphs.walking.walk` for what it keeps."""

    def __init__(self, model: Any, front_end: WalkedFrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        # The axes that dynamic broadcasts may stretch, by node and axis; only those of the walk that is about them.
        self.stretches: dict[tuple[str, int], BroadcastAxis] = {}
        # The values in tuples and futures, by name.
        self.futures: dict[str, Sequence[Value]] = {}
        # Whether the module has assertions.
        self.is_asserting = False
        # The nodes of assertions that could not be followed.
        self.unknown_assertions: list[str] = []
        # The nodes in functions whose outputs are taken over.
        self._bodies: dict[Key, FunctionBody] = {}
        if asker.runtime == ASSERTIONS:  # all else is required where nothing runs
            asker.guards = (FALSE,)
            self._branches_left = model.inner * MAX_AGAIN

    def constant(self, node: Node) -> Value | None:
        """Return what an operation holds, if its type is known."""
        kind = cast("HloNode", node).types[0] if node.op_type in _CONSTANTS else None
        if kind is None:
            return None
        constant = HloConstant(node.raw, kind)
        self._repeats.number(constant)
        return constant

    def marks(self) -> Hashable:
        """Return counts of what operations leave in the walk, besides their outputs, names, and what they spend."""
        own = len(self.stretches), len(self.futures), self.is_asserting, len(self.unknown_assertions)
        return super().marks(), own

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Discard the notes made in this context when it ends."""
        with super().trying():
            bodies, self._bodies = self._bodies, {}
            try:
                yield
            finally:
                self._bodies = bodies

    def called(self, graph: Graph, scope: GraphScope, inputs: Sequence[Value]) -> list[Value]:
        """Return the outputs of a function, or those of an earlier call with equal inputs if that left no trace.

        The nodes of a call that is not walked get their names and are charged as if it were.
        """
        key = self._repeats.key(("called", graph.name, scope.depth), inputs)
        if key is None or self.asker.foreknown:
            return self.within(graph, scope, inputs)
        outputs, body = self._repeats.outputs(key, inputs), self._bodies.get(key)
        if outputs is not None and body is not None and body.spent <= self._left:
            self._walked += body.nodes
            self._left -= body.spent
            return list(outputs)
        before, count, left = self._marks(), len(self._walked), self._left
        outputs_now = self.within(graph, scope, inputs)
        if before == self._marks():
            nodes = [each.node if isinstance(each, NodePlace) else each for each in self._walked[count:]]
            self._bodies[key] = FunctionBody(nodes, left - self._left)
            self._repeats.keep(key, self._repeats.state(), inputs, outputs_now)
        return outputs_now

    def _marks(self) -> Hashable:
        return self.asker.knowledge, self.asker.recorded, self.marks()

    def followed(self, call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return outputs with the element types of their types; require the sizes that the types promise."""
        own = cast("HloCall", call)
        types = own.node.types
        if not types:  # the end of the function
            return outputs
        if call.node.op_type in ENDS_OF_IDIOMS and all(t is not None and t.sizes == () for t in types):
            contents = contents_of_idioms(own)
            outputs = [v if c is None else v.with_content(c) for v, c in zip(outputs, contents, strict=True)]
        several = len(types) > 1
        names = [f"result {n}" if several else "the result" for n in range(len(types))]
        return [own.typed(v, t, name) for v, t, name in zip(outputs, types, names, strict=False)]

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Note an operation without an answer, and return what its result types say."""
        self.leave(call.place, reason)
        own = cast("HloCall", call)
        return [own.output(own.declared(n), position=n) for n in range(len(own.node.types))]

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of an output that are not known exactly."""
        return decider_of_source(ELEMENTS.get(node.op_type.rpartition(".")[2]), inputs)


FRONT_END = FrontEnd(
    name="stablehlo",
    read=read,
    operators=OPERATORS.with_files("symbcast.stablehlo.operators"),
    report=HloReport,
    runtimes={
        "stablehlo": "StableHLO's specification and the module's assertions; integers that do not overflow",
        UNASSERTED: "StableHLO's specification without the module's assertions; integers that do not overflow",
        ASSERTIONS: "what the module's assertions say",
    },
    call=HloCall,
    walk=HloWalk,
    read_function=read,
    module=__name__,
)


@with_advice
def check(  # noqa: PLR0913 - each is a fact about the module or an option of the check
    module: str | bytes | PathLike[str] | Any,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    function: str | None = None,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: str | None = None,
    budget: float | None = None,
) -> HloReport:
    """Find the input sizes at which a StableHLO module runs, and every shape in it.

    ``module`` is MLIR text, the path of a file with text, bytecode or a portable artifact, the bytes of one, an
    ``ir.Module`` of jaxlib or a ``jax.export.Exported``. Text and bytes are parsed in a child process first.
    ``function`` names the function to check, by default ``main`` or the only public one. A dynamic size is named
    ``<argument>_<axis>``, such as ``arg0_1``, or as JAX's dimension variable that is read from it. "Runs" means that
    all constraints of the specification and all assertions of the module hold; ``runtime="unasserted"`` leaves out the
    assertions. The other arguments are as in `symbcast.onnx.check`.

    Raises `ModelError` for anything that is not a module, `BindingError` for shapes, sizes and contents that its
    arguments cannot have, `AssumptionError` for assumptions that are contradictory or mention sizes that the module
    does not have, and `MissingExtraError` without the extra ``stablehlo``.

    >>> report = check('''
    ... func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    ...   %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    ...       : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    ...   return %0 : tensor<?x8xf32>
    ... }''')
    >>> report.condition, *report.outputs.values()
    (Condition('arg0_1 == arg1_0'), Shape('(arg0_0, 8)'))
    """
    question = read_question(
        FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime, budget=budget
    )
    return HloReport(check_graph(FRONT_END, read(module, question.runtime, function), question))
