"""The walk that decides what to rewrite: at each node that fixes a size, which of its inputs have to follow it.

Each proposal is tried in the walk itself: the node is computed with it, and it is taken only if it requires less of the
free sizes, or keeps an axis that the constant cut off, and nothing that fails at the old sizes. Where a value has the
wrong size, the nodes that made it are computed again with larger constants, until one has the size that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from typing import Any, NamedTuple

from symbcast.core.algebra.formulas import TRUE, Formula, all_of, any_of, negate
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.effort import EffortSpentError, budget_share
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.operations import operation_requirements
from symbcast.core.programs.program import Program
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import evaluated, holds_at, symbols_in, value_at
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError
from symbcast.graphs.check import FrontEnd
from symbcast.graphs.graph import Node
from symbcast.graphs.walking.node_call import GraphScope
from symbcast.graphs.walking.requirements import Requirements
from symbcast.graphs.walking.walk import CalledBody
from symbcast.onnx.freeing.constants import stretched
from symbcast.onnx.freeing.local import Proposal, local_proposals
from symbcast.onnx.freeing.plan import Change, Edit, Plan
from symbcast.onnx.protobuf import OnnxNode
from symbcast.onnx.walk import OnnxWalk, WalkableOnnx
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import Elements, sizes_of
from symbcast.operators.values.value import Constant, Value

# How many sizes with one number are remembered, how many entries a list of sizes has, how many inputs change together,
# how many proposals are tried at one node, and how many nodes are computed again for one value.
_SIZES, _ENTRIES, _TOGETHER, _TRIALS, _CHAIN = 8, 16, 2, 48, 24
_EFFORT = 200_000


class Trial(NamedTuple):
    """A node computed for trial: its outputs, what it requires anew, and whether all of it was analysed."""

    outputs: tuple[Value | None, ...]
    required: tuple[Formula, ...]
    is_whole: bool


class FreeingWalk(OnnxWalk):
    """A walk through a model with free sizes, which adds what has to change to a plan."""

    def __init__(self, plan: Plan, model: WalkableOnnx, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self._plan = plan
        # How many of the plan's nodes for sizes were walked.
        self._sized = 0
        self._in_function = 0
        # The sizes that depend on free ones, by their numbers at the old sizes.
        self._numbers: dict[int, list[Dim]] = {}
        # The nodes that make values, with their scopes.
        self._makers: dict[str, tuple[Node, GraphScope]] = {}
        for size, number in plan.old.items():
            self._numbers.setdefault(number, []).append(size)

    # What is known about the old sizes.

    def is_free(self, dim: Dim) -> bool:
        """Return whether a size depends on a free one."""
        return not isinstance(dim, int) and not self._plan.old.keys().isdisjoint(symbols_of((dim,)))

    def old(self, dim: Dim) -> int | None:
        """Return a size's number in the model; None if it depends on others than the free sizes."""
        if isinstance(dim, int):
            return dim
        return value_at(dim, self._plan.old) if self._plan.old.keys() >= set(symbols_of((dim,))) else None

    def sizes_with(self, number: int) -> Sequence[Dim]:
        """Return the free sizes that are a number at the old sizes, those that were met first first."""
        return self._numbers.get(number, ())

    # Walking.

    def _nodes(self, nodes: Sequence[Node], start: int, scope: GraphScope) -> None:
        if scope is self.top and not start:
            self._walk_sizes()
        super()._nodes(nodes, start, scope)

    def _walk_sizes(self) -> None:
        while self._sized < len(self._plan.sizes):
            self._sized += 1
            super().node(self._plan.sizes[self._sized - 1], self.top)

    def _repeated(self, nodes: Sequence[Node], start: int, scope: GraphScope) -> int:
        return start  # each node is looked at

    def _body(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> CalledBody:
        self._in_function += 1
        try:
            return super()._body(function, node, inputs, scope)
        finally:
            self._in_function -= 1

    def node(self, node: Node, scope: GraphScope) -> None:
        """Compute a node, with its change if it has one; decide about a change if it was not met before."""
        change = None if self._in_function else self._plan.changed.get(id(node.raw))
        if change is None and not self._in_function and self._may_fix(node, scope):
            change = self._decide(node, scope)
            if change is not None:
                self._plan.changed[id(node.raw)] = change
        for each in (node,) if change is None else (*change.before, change.node):
            super().node(each, scope)
            self._makers.update((name, (each, scope)) for name in each.outputs)
        for name in node.outputs:
            self._remember((scope.values.get(name) or Value(None)).shape)

    def _remember(self, shape: Dims | None) -> None:
        for dim in shape or ():
            number = self.old(dim) if self.is_free(dim) else None
            if number is not None:
                known = self._numbers.setdefault(number, [])
                if dim not in known and len(known) < _SIZES:
                    known.append(dim)

    def _may_fix(self, node: Node, scope: GraphScope) -> bool:
        """Return whether a node has an input with a free size, and is no twin of one that was looked at."""
        inputs = [scope.find(name) for name in node.inputs]
        if not any(self.is_free(d) for v in inputs if v is not None for d in v.shape or ()):
            return False
        key = self._repeats.key(node.kind, inputs)
        return key is None or self._repeats.outputs(key, inputs) is None

    # Trials.

    def trial(self, nodes: Sequence[Node], scope: GraphScope, given: Mapping[str, Value] = {}) -> Trial:
        """Compute nodes without leaving a trace, with other values for some of their inputs."""
        asker, apart = self.asker, GraphScope(scope)
        apart.values.update(given)
        real, asker.env = asker.env, Program(on_conflict="record")
        try:
            with asker.trying(self._aside()):
                for node in nodes:
                    super().node(node, apart)
                required = [f for op in asker.env.operations for f in operation_requirements(op)]
                is_whole = not self.unanalysed
        finally:
            asker.env = real
        outputs = tuple(apart.values.get(name) for name in nodes[-1].outputs)
        return Trial(outputs, tuple(f for f in dict.fromkeys(map(evaluated, required)) if f != TRUE), is_whole)

    @contextmanager
    def _aside(self) -> Iterator[None]:
        walked, names, unanalysed = self._walked, self._names, self.unanalysed
        self._walked, self._names, self.unanalysed = [], {}, {}
        try:
            with self.trying():
                self.unanalysed = {}
                yield
        finally:
            self._walked, self._names, self.unanalysed = walked, names, unanalysed

    def _is_better(self, new: Trial, old: Trial) -> bool:
        """Return whether a trial requires less than another one, which is proved, and holds at the old sizes."""
        if (not new.is_whole and old.is_whole) or not all(map(self._holds, new.required)):
            return False
        if not new.required:
            return bool(old.required)
        return self._implies(old.required, new.required) and not self._implies(new.required, old.required)

    def _holds(self, formula: Formula) -> bool:
        """Return whether a formula holds at the old sizes, as far as it is about these."""
        return not symbols_in(formula).keys() <= self._plan.old.keys() or holds_at(formula, self._plan.old)

    def _implies(self, known: Sequence[Formula], claim: Sequence[Formula]) -> bool:
        question = any_of((negate(all_of(known)), all_of(claim)))
        symbols = tuple(symbols_in(question))
        with suppress(EffortSpentError, SymbcastError), budget_share(_EFFORT):
            domains = {s: own_set(s, 1) for s in symbols}
            return Decision(AssumptionSet(symbols, domains, ()), [question]).verdict is Verdict.ALWAYS
        return False

    # Decisions.

    def _decide(self, node: Node, scope: GraphScope) -> Change | None:
        """Return how a node has to change, if it fixes a size."""
        original = self.trial([node], scope)
        change, best = None, original
        for proposal in local_proposals(self, node, [self._constant(n, scope) for n in node.inputs], original):
            tried = self._changed(node, scope, proposal)
            if tried is None:
                continue
            result = self.trial([*tried.before, tried.node], scope)
            keeps = not result.required or not self._implies(result.required, original.required)
            if self._is_better(result, best) or (proposal.is_kept and all(map(self._holds, result.required)) and keeps):
                change, best = tried, result
                break
        if any(self._mentions_free(f) for f in best.required):
            change = self._grown(node, scope, original, best) or change
        return change

    def _mentions_free(self, formula: Formula) -> bool:
        return not self._plan.old.keys().isdisjoint(symbols_in(formula))

    def _changed(self, node: Node, scope: GraphScope, proposal: Proposal) -> Change | None:
        """Return the change that a proposal for the lists of sizes of a node makes; None if no nodes compute these."""
        inputs: dict[int, str] = {}
        edits = []
        try:
            for position, dims in proposal.lists.items():
                if dims == _items(scope.find(node.inputs[position])):
                    continue
                inputs[position] = self._list(dims, scope.find(node.inputs[position]))
                edits.append(self._edit(node, position, scope, _text(dims), proposal.why))
            for position in proposal.dropped:
                inputs[position] = ""
                edits.append(self._edit(node, position, scope, "nothing", proposal.why))
            changed = self._plan.with_inputs(_raw(node), inputs)
            if proposal.reshape is not None:
                changed = self._plan.moving(_raw(node), "Reshape", self._plan.vector(proposal.reshape))
                edits = [self._edit(node, 1, scope, f"Reshape to {_text(proposal.reshape)}", proposal.why)]
            if proposal.order is not None:
                changed = self._plan.moving(_raw(node), "Transpose", perm=proposal.order)
                edits = [self._edit(node, 1, scope, f"Transpose by {_text(proposal.order)}", proposal.why)]
        except ArithmeticError:
            return None
        self._walk_sizes()
        return Change(changed, (), tuple(edits)) if edits else None

    def _list(self, dims: Dims, before: Value | None) -> str:
        """Return the name of a tensor with some sizes as elements, of the shape that the constant had."""
        import numpy as np

        from symbcast.operators.values.contents import INT32

        name = self._plan.vector(dims)
        if before is not None and before.dtype == INT32:
            name = self._plan._op("Cast", (name,), "sizes", to=INT32)
        if before is not None and before.shape == ():
            scalar = self._plan._op("Constant", (), "scalar", value=np.array([], np.int64))
            name = self._plan._op("Reshape", (name, scalar), "size")
        return name

    def _edit(self, node: Node, position: int, scope: GraphScope, new: str, why: str) -> Edit:
        before = _text(_items(scope.find(node.inputs[position])))
        return Edit(node.title, node.op_type, node.inputs[position], before, new, why)

    # Values that have to grow.

    def _grown(self, node: Node, scope: GraphScope, original: Trial, best: Trial) -> Change | None:
        """Return the change of a node whose other inputs take the free size that one of them has."""
        for wanted in self._what_ifs(node, scope):
            given = {name: value for _, name, value in wanted}
            tried = self.trial([node], scope, given)
            if not self._is_better(tried, best):
                continue
            builder = _Builder(self, scope)
            with suppress(ArithmeticError, SymbcastError):
                new = {position: builder.value(name, value) for position, name, value in wanted}
                inputs = {position: name for position, name in new.items() if name is not None}
                if len(inputs) < len(new):
                    continue
                copy = self._plan.with_inputs(_raw(node), inputs)
                change = Change(copy, tuple(builder.nodes), tuple(builder.edits))
                self._walk_sizes()
                result = self.trial([*change.before, change.node], scope)
                if self._is_better(result, best):
                    self._plan.made.update(builder.made)
                    return change
        return None

    def _what_ifs(self, node: Node, scope: GraphScope) -> Iterator[tuple[tuple[int, str, Value], ...]]:
        """Yield other values for some inputs of a node: with a free size for its old number in shapes and lists."""
        inputs = [self._constant(name, scope) for name in node.inputs]
        targets = [d for v in inputs if v is not None for d in v.shape or () if self.is_free(d)]
        options = [
            (position, node.inputs[position], other)
            for position, value in enumerate(inputs)
            for other in self.variants(value, dict.fromkeys([*targets, *self._plan.old]))
        ]
        tried = 0
        for count in range(1, _TOGETHER + 1):
            for chosen in combinations(options, count):
                if len({position for position, _, _ in chosen}) == count:
                    tried += 1
                    if tried > _TRIALS:
                        return
                    yield chosen

    def _constant(self, name: str, scope: GraphScope) -> Value | None:
        """Return a value; without its elements if these may be others in another iteration of a loop."""
        value = scope.find(name)
        if value is None or isinstance(value, Constant) or self.top.values.get(name) is value:
            return value
        return Value(value.shape, value.dtype)

    def variants(self, value: Value | None, targets: Mapping[Dim, None]) -> Iterator[Value]:
        """Yield a value with free sizes for their old numbers: in its list of sizes, or on its axes."""
        if value is None or value.shape is None:
            return
        items = sizes_of(value.content, value.shape)
        numbers = {t: n for t in targets if (n := self.old(t)) is not None}
        if items is not None and len(items) <= _ENTRIES:
            for dims in self._replaced(items, numbers):
                other = Value(value.shape, value.dtype, Elements(dims))
                other.decided_by = value.decided_by
                yield other
        for dims in self._replaced(value.shape, numbers):
            other = Value(dims, value.dtype)
            other.decided_by = value.decided_by
            yield other

    def _replaced(self, dims: Dims, numbers: Mapping[Dim, int]) -> Iterator[Dims]:
        """Yield lists of sizes with a free size for its number: everywhere first, unless that is 1, then once."""
        for target, number in numbers.items():
            places = [n for n, d in enumerate(dims) if isinstance(d, int) and d == number]
            if len(places) > 1 and number > 1:
                yield tuple(target if n in places else d for n, d in enumerate(dims))
            for place in places:
                yield (*dims[:place], target, *dims[place + 1 :])

    def maker(self, name: str) -> tuple[Node, GraphScope] | None:
        """Return the node that makes a value, with its scope."""
        return self._makers.get(name)


class _Builder:
    """Builds nodes that make a value again with another shape or other elements."""

    def __init__(self, walk: FreeingWalk, scope: GraphScope) -> None:
        self._walk, self._plan, self._scope = walk, walk._plan, scope
        self.nodes: list[OnnxNode] = []
        self.edits: list[Edit] = []
        self.made: dict[object, str] = {}

    def value(self, name: str, wanted: Value, left: int = _CHAIN) -> str | None:
        """Return the name of a value like another one, with the wanted shape or elements; None if there is no way."""
        key = name, wanted.shape, wanted.content if isinstance(wanted.content, Elements) else None
        known = self.made.get(key) or self._plan.made.get(key)
        if known is not None and (known in self.made.values() or self._scope.find(known) is not None):
            return known
        before = self._scope.find(name)
        if before is None or not left:
            return None
        if isinstance(wanted.content, Elements):
            made: str | None = self._listed(name, before, wanted.content)
        elif isinstance(before, Constant):
            made = self._stretched(name, before, wanted)
        else:
            made = self._again(name, before, wanted, left)
        if made is not None:
            self.made[key] = made
        return made

    def _listed(self, name: str, before: Value, content: Elements) -> str:
        dims = sizes_of(content, before.shape) or ()
        self._note(name, "a list of sizes", _text(_items(before)), _text(dims), "the sizes that the node needs")
        return self._walk._list(dims, before)

    def _stretched(self, name: str, before: Constant, wanted: Value) -> str | None:
        assert before.shape is not None and wanted.shape is not None
        result = stretched(self._plan, name, before, wanted.shape)
        if result is None:
            return None
        nodes, new, why = result
        self.nodes += nodes
        self._note(name, "constant", str(tuple(before.shape)), f"{new}, {_shape(wanted.shape)}", why)
        return nodes[-1].outputs[0]

    def _note(self, name: str, kind: str, old: str, new: str, why: str) -> None:
        self.edits.append(Edit(name, kind, name, old, new, why))

    def _again(self, name: str, before: Value, wanted: Value, left: int) -> str | None:
        """Return the name of the output of a copy of the node that makes a value, with changed inputs."""
        made = self._walk.maker(name)
        if made is None or wanted.shape is None or len(made[0].outputs) != 1:
            return None
        node = made[0]
        targets = dict.fromkeys([*filter(self._walk.is_free, wanted.shape), *self._plan.old])
        count = 0
        options = [
            (n, other)
            for n, input_name in enumerate(node.inputs)
            for other in self._walk.variants(self._scope.find(input_name), targets)
        ]
        for size in (1, 2, 3):
            for chosen in combinations(options, size):
                count += 1
                if count > _TRIALS:
                    return None
                if len({n for n, _ in chosen}) < size:
                    continue
                given = {node.inputs[n]: other for n, other in chosen}
                (output, *_), required, _ = self._walk.trial([node], self._scope, given)
                if output is None or output.shape != wanted.shape or required:
                    continue
                new = {n: self.value(node.inputs[n], other, left - 1) for n, other in chosen}
                inputs = {n: name for n, name in new.items() if name is not None}
                if len(inputs) == len(new):
                    copy = self._plan.with_inputs(_raw(node), inputs, [self._plan.name(f"{name}_free")])
                    self.nodes.append(copy)
                    return copy.outputs[0]
        return None


def _raw(node: Node) -> OnnxNode:
    assert isinstance(node, OnnxNode)
    return node


def _items(value: Value | None) -> Dims:
    return () if value is None else sizes_of(value.content, value.shape) or ()


def _text(dims: Sequence[Dim]) -> str:
    return f"[{', '.join(map(str, dims))}]"


def _shape(dims: Dims) -> str:
    return f"({', '.join(map(str, dims))})"
