"""The walk that decides what to rewrite: at each node that fixes a size, which of its inputs have to follow it.

Each proposal is tried in the walk itself: the node is computed with it, and it is taken only if it requires less of the
free sizes, or keeps an axis that the constant cut off, and nothing that fails at the old sizes. Where a value has the
wrong size, the nodes that made it are computed again with larger constants, until one has the size that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations, islice
from typing import Any, NamedTuple

from symbcast.core.algebra.bounds import exact_quotient
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
from symbcast.onnx.freeing.local import COUNTING, Proposal, factor_runs, local_proposals
from symbcast.onnx.freeing.plan import Change, Edit, Plan
from symbcast.onnx.protobuf import OnnxNode
from symbcast.onnx.walk import OnnxWalk, WalkableOnnx
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INT32, INTEGERS, Elements, sizes_of
from symbcast.operators.values.value import Constant, Value

# How many sizes with one number are remembered, how many entries a list of sizes has, how many inputs change together,
# how many proposals are tried at one node, and how many nodes are computed again for one value.
_SIZES, _ENTRIES, _TOGETHER, _TRIALS, _CHAIN = 8, 16, 2, 48, 24
_EFFORT = 30_000


class Trial(NamedTuple):
    """A node computed for trial: its outputs, what it requires anew, and whether all of it was analysed."""

    outputs: tuple[Value | None, ...]
    required: tuple[Formula, ...]
    is_whole: bool


class FreeingWalk(OnnxWalk):
    """A walk through a model with free sizes, which adds what has to change to a plan."""

    def __init__(self, plan: Plan, model: WalkableOnnx, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self.plan = plan
        # How many of the plan's nodes for sizes were walked.
        self._sized = 0
        self._in_function = 0
        # The sizes that depend on free ones, by their numbers at the old sizes.
        self._numbers: dict[int, list[Dim]] = {}
        # The axes that an axis of a reshaped tensor joins.
        self._factors: dict[Dim, tuple[Dim, ...]] = {}
        # The nodes that make values.
        self.makers: dict[str, Node] = {}
        for size, number in plan.old.items():
            self._numbers.setdefault(number, []).append(size)

    # What is known about the old sizes.

    def is_free(self, dim: Dim) -> bool:
        """Return whether a size depends on a free one."""
        return not isinstance(dim, int) and not self.plan.old.keys().isdisjoint(symbols_of((dim,)))

    def old(self, dim: Dim) -> int | None:
        """Return a size's number in the model; None if it depends on others than the free sizes."""
        if isinstance(dim, int):
            return dim
        return value_at(dim, self.plan.old) if self.plan.old.keys() >= set(symbols_of((dim,))) else None

    def sizes_with(self, number: int) -> Sequence[Dim]:
        """Return the free sizes that are a number at the old sizes, those that were met first first."""
        return self._numbers.get(number, ())

    def factors(self, dim: Dim) -> Sequence[Dim]:
        """Return the axes that an axis joins, in their order; itself if none are known."""
        return self._factors.get(dim, (dim,))

    # Walking.

    def _nodes(self, nodes: Sequence[Node], start: int, scope: GraphScope) -> None:
        if scope is self.top and not start:
            self._walk_sizes()
        super()._nodes(nodes, start, scope)

    def _walk_sizes(self) -> None:
        while self._sized < len(self.plan.sizes):
            self._sized += 1
            super().node(self.plan.sizes[self._sized - 1], self.top)

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
        change = None if self._in_function else self.plan.changed.get(id(node.raw))
        if change is None and not self._in_function and self._may_fix(node, scope):
            change = self._decide(node, scope)
            if change is not None:
                self.plan.changed[id(node.raw)] = change
        for each in (node,) if change is None else (*change.before, change.node):
            super().node(each, scope)
            self.makers.update(dict.fromkeys(each.outputs, each))
        data, result = ([scope.find(n) for n in names[:1]] for names in (node.inputs, node.outputs))
        if node.op_type in ("Reshape", "Flatten") and data and data[0] and result[0]:
            for dim, run in factor_runs(self, data[0].shape or (), result[0].shape or ()):
                self._factors.setdefault(dim, run)
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
        counts = node.op_type in COUNTING and any(v is not None and v.dtype in INTEGERS for v in inputs)
        if not counts and not any(self.is_free(d) for v in inputs if v is not None for d in v.shape or ()):
            return False
        key = self._repeats.key(node.kind, inputs)
        return key is None or self._repeats.outputs(key, inputs) is None

    # Trials.

    def trial(self, nodes: Sequence[Node], scope: GraphScope, given: Mapping[str, Value] = {}) -> Trial:
        """Compute nodes without leaving a trace, with other values for some of their inputs."""
        self.plan.trials -= 1
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
        return not symbols_in(formula).keys() <= self.plan.old.keys() or holds_at(formula, self.plan.old)

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
        for proposal in local_proposals(self, node, [self.constant_in(n, scope) for n in node.inputs], original):
            tried = self._changed(node, scope, proposal)
            if tried is None:
                continue
            result = self.trial([*tried.before, tried.node], scope)
            keeps = not result.required or not self._implies(result.required, original.required)
            if self._is_better(result, best) or (proposal.is_kept and all(map(self._holds, result.required)) and keeps):
                change, best = tried, result
                break
        if any(self._mentions_free(f) for f in best.required):
            change = self._grown(node, scope, best) or change
        return self._rows_pinned(node, scope, change) if node.op_type in _BROADCASTING else change

    def _mentions_free(self, formula: Formula) -> bool:
        return not self.plan.old.keys().isdisjoint(symbols_in(formula))

    def _changed(self, node: Node, scope: GraphScope, proposal: Proposal) -> Change | None:
        """Return the change that a proposal for the lists of sizes of a node makes; None if no nodes compute these."""
        inputs: dict[int, str] = {}
        edits = []
        try:
            for position, dims in proposal.lists.items():
                if dims == _items(scope.find(node.inputs[position])):
                    continue
                inputs[position] = self.list_of(dims, scope.find(node.inputs[position]))
                edits.append(self._edit(node, position, scope, _text(dims), proposal.why))
            for position in proposal.dropped:
                inputs[position] = ""
                edits.append(self._edit(node, position, scope, "nothing", proposal.why))
            changed = self.plan.with_inputs(_raw(node), inputs)
            if proposal.reshape is not None:
                changed = self.plan.moving(_raw(node), "Reshape", self.plan.vector(proposal.reshape))
                edits = [self._edit(node, 1, scope, f"Reshape to {_text(proposal.reshape)}", proposal.why)]
            if proposal.order is not None:
                changed = self.plan.moving(_raw(node), "Transpose", perm=proposal.order)
                edits = [self._edit(node, 1, scope, f"Transpose by {_text(proposal.order)}", proposal.why)]
        except ArithmeticError:
            return None
        self._walk_sizes()
        return Change(changed, (), tuple(edits)) if edits else None

    def list_of(self, dims: Dims, before: Value | None) -> str:
        """Return the name of a tensor with some sizes as elements, of the shape that the constant had."""
        import numpy as np

        name = self.plan.vector(dims)
        if before is not None and before.dtype == INT32:
            name = self.plan._op("Cast", (name,), "sizes", to=INT32)
        if before is not None and before.shape == ():
            scalar = self.plan._op("Constant", (), "scalar", value=np.array([], np.int64))
            name = self.plan._op("Reshape", (name, scalar), "size")
        return name

    def _edit(self, node: Node, position: int, scope: GraphScope, new: str, why: str) -> Edit:
        before = _text(_items(scope.find(node.inputs[position])))
        return Edit(node.title, node.op_type, node.inputs[position], before, new, why)

    # Values that have to grow.

    def _grown(self, node: Node, scope: GraphScope, best: Trial) -> Change | None:
        """Return the change of a node whose other inputs take the free sizes that one of them has."""
        aligned = {n: v for n, v in self._aligned(node, scope).items() if self._differs(node, n, v, scope)}
        for others in (aligned, *self._what_ifs(node, scope, aligned)):
            if not others or not self._is_better(self.trial([node], scope, _given(node, others)), best):
                continue
            change = self._built(node, scope, others)
            if change is not None and self._is_better(self._of_change(change, scope), best):
                return change
        return self._pinned(node, scope, aligned, best) if node.op_type in _BROADCASTING else None

    def _differs(self, node: Node, position: int, value: Value, scope: GraphScope) -> bool:
        before = scope.find(node.inputs[position])
        return before is not None and before.shape != value.shape

    def _of_change(self, change: Change, scope: GraphScope) -> Trial:
        self._walk_sizes()
        return self.trial([*change.before, change.node], scope)

    def _built(self, node: Node, scope: GraphScope, others: Mapping[int, Value]) -> Change | None:
        """Return a node with other values for some inputs; None if no nodes make these."""
        builder = _Builder(self, scope)
        with suppress(ArithmeticError, SymbcastError):
            names = {n: builder.value(node.inputs[n], value) for n, value in others.items()}
            inputs = {n: name for n, name in names.items() if name is not None}
            if len(inputs) == len(names):
                self.plan.made.update(builder.known)
                return Change(self.plan.with_inputs(_raw(node), inputs), tuple(builder.nodes), tuple(builder.edits))
        return None

    def _rows_pinned(self, node: Node, scope: GraphScope, change: Change | None) -> Change | None:
        """Keep an axis of one row at 1 where it meets a free size that was 1, on which another axis depends.

        A mask for one row does not tell what it is for more. A batch is another matter: its rows are alike.
        """
        nodes, edits, inputs = [], [], dict[int, str]()
        own, apart = (node if change is None else change.node), GraphScope(scope)
        with self.asker.trying(self._aside()):
            for each in () if change is None else change.before:
                super().node(each, apart)
        for position, name in enumerate(own.inputs):
            shape = (apart.find(name) or Value(None)).shape or ()
            meeting = self._meeting(own, position, apart)
            symbols = set(symbols_of(shape))
            dims = tuple(
                m if d == 1 and self.old(m) == 1 and not self._is_batch(m) and symbols & {*symbols_of((m,))} else d
                for d, m in zip(shape, meeting, strict=True)
            )
            if dims != shape:
                with suppress(ArithmeticError):
                    nodes.append(self.plan.node("Reshape", (name, self.plan.vector(dims)), f"{name}_pin"))
                    inputs[position] = nodes[-1].outputs[0]
                    why = "it stays fixed: one row does not tell what others are"
                    edits.append(Edit(node.title, node.op_type, name, _text(shape), _text(dims), why))
        self._walk_sizes()
        before, made = ((), ()) if change is None else (change.before, change.edits)
        if not nodes:
            return change
        return Change(self.plan.with_inputs(_raw(own), inputs), (*before, *nodes), (*made, *edits))

    def _is_batch(self, dim: Dim) -> bool:
        return all(self.plan.sources[s][1] == 0 for s in symbols_of((dim,)) if s in self.plan.sources)

    def _pinned(self, node: Node, scope: GraphScope, aligned: Mapping[int, Value], best: Trial) -> Change | None:
        """Return a node whose constants keep their own sizes: at size 1, they would be broadcast to."""
        inputs, nodes, edits = {}, [], []
        for position, value in aligned.items():
            name = node.inputs[position]
            with suppress(ArithmeticError):
                sizes = self.plan.vector(value.shape or (), dict(self._checked(value.shape or ())))
                pinned = self.plan.node("Reshape", (name, sizes), f"{name}_pin")
                nodes.append(pinned)
                inputs[position] = pinned.outputs[0]
                before = scope.find(name)
                edits.append(
                    Edit(
                        node.title,
                        node.op_type,
                        name,
                        _text((before and before.shape) or ()),
                        _text(value.shape or ()),
                        "it stays fixed: nothing makes it for other sizes, and at 1 it must not be broadcast to",
                    )
                )
        if not nodes:
            return None
        change = Change(self.plan.with_inputs(_raw(node), inputs), tuple(nodes), tuple(edits))
        result = self._of_change(change, scope)
        is_narrower = all(map(self._holds, result.required)) and not self._implies(best.required, result.required)
        return change if is_narrower else None

    def _checked(self, dims: Dims) -> Iterator[tuple[Dim, str]]:
        """Yield the axes that join several, with a tensor for each whose factors have their old numbers.

        A table for 2 x 2 patches is none for 1 x 4.
        """
        for dim in dims:
            parts = [(f, self.old(f)) for f in self.factors(dim) if self.is_free(f) and not self._is_batch(f)]
            if len(parts) > 1 and self.is_free(dim):
                checked = [self.plan.checked(f, number) for f, number in parts if number is not None]
                rest = exact_quotient((dim,), tuple(f for f, _ in parts))
                if rest is not None and len(checked) == len(parts):
                    yield dim, self.plan.multiplied([*checked, self.plan.size(rest)])

    def _meeting(self, node: Node, position: int, scope: GraphScope) -> Dims:
        """Return the size that each axis of an input meets in the other inputs, counted from the last axis."""
        own, meeting = scope.find(node.inputs[position]), list[Dim]()
        shapes = [
            v.shape for n, name in enumerate(node.inputs) if n != position and (v := scope.find(name)) and v.shape
        ]
        for back in range(len((own and own.shape) or ()), 0, -1):
            sizes = [shape[-back] for shape in shapes if back <= len(shape)]
            meeting.append(next(filter(self.is_free, sizes), 1))
        return tuple(meeting)

    def _aligned(self, node: Node, scope: GraphScope) -> dict[int, Value]:
        """Return the inputs of a node with the free sizes that their axes meet, where these have their numbers."""
        aligned = {}
        for position, name in enumerate(node.inputs):
            value = scope.find(name)
            if value is not None and value.shape is not None:
                pairs = list(zip(value.shape, self._meeting(node, position, scope), strict=True))
                dims = tuple(
                    met
                    if type(d) is int
                    and self.is_free(met)
                    and self.old(met) == d
                    and _may_grow(node, position, n - len(pairs))
                    and self._needs(node, d)
                    else d
                    for n, (d, met) in enumerate(pairs)
                )
                aligned[position] = _like(value, dims)
        return aligned

    def _needs(self, node: Node, size: int) -> bool:
        return size != 1 or node.op_type not in _BROADCASTING

    def _what_ifs(
        self, node: Node, scope: GraphScope, aligned: Mapping[int, Value], wanted: Dims = ()
    ) -> Iterator[dict[int, Value]]:
        """Yield other values for some inputs of a node, the likeliest and fewest first."""
        inputs = [self.constant_in(name, scope) for name in node.inputs]
        targets = [d for v in inputs if v is not None for d in v.shape or () if self.is_free(d)]
        numbers = {
            t: n for t in dict.fromkeys([*wanted, *targets, *self.plan.old]) if self.is_free(t) and (n := self.old(t))
        }
        options = [(position, value) for position, value in aligned.items()]
        for position, value in enumerate(inputs):
            options += [(position, other) for other in self._variants(node, position, value, numbers, wanted)]
        trials = (chosen for count in range(1, _TOGETHER + 1) for chosen in combinations(options, count))
        for chosen in islice(trials, _TRIALS):
            if self.plan.trials < 0:
                return
            if len(dict(chosen)) == len(chosen):
                yield dict(chosen)

    def constant_in(self, name: str, scope: GraphScope) -> Value | None:
        """Return a value; without its elements if these may be others in another iteration of a loop."""
        holder: GraphScope | None = scope
        while holder is not None and name not in holder.values:
            holder = holder.around
        if holder is None:
            return None
        value, maker = holder.values[name], self.makers.get(name)
        if holder is self.top or (maker is not None and maker.op_type == "Constant"):
            return value
        return Value(value.shape, value.dtype)

    def _variants(
        self, node: Node, position: int, value: Value | None, numbers: Mapping[Dim, int], wanted: Dims
    ) -> Iterator[Value]:
        """Yield a value with free sizes for their old numbers: in its list of sizes, or on its axes."""
        if value is None or value.shape is None:
            return
        items = sizes_of(value.content, value.shape)
        if items is not None and len(items) <= _ENTRIES:
            if wanted and len(items) == len(wanted) and [*map(self.old, items)] == [*map(self.old, wanted)]:
                yield _listing(value, wanted)
            yield from (_listing(value, dims) for dims in self._replaced(items, numbers))
        if wanted and len(value.shape) <= len(wanted):
            last = wanted[len(wanted) - len(value.shape) :]
            yield _like(value, tuple(w if d == self.old(w) else d for d, w in zip(value.shape, last, strict=True)))
        for dims in self._replaced(value.shape, numbers):
            axis = next(n for n, (a, b) in enumerate(zip(dims, value.shape, strict=True)) if a != b)
            if _may_grow(node, position, axis - len(dims)):
                yield _like(value, dims)

    def _replaced(self, dims: Dims, numbers: Mapping[Dim, int]) -> Iterator[Dims]:
        """Yield lists of sizes with a free size for its number: once, then everywhere."""
        for target, number in numbers.items():
            places = [n for n, d in enumerate(dims) if type(d) is int and d == number]
            for place in places:
                yield (*dims[:place], target, *dims[place + 1 :])
            if len(places) > 1 and number > 1:
                yield tuple(target if n in places else d for n, d in enumerate(dims))


class _Builder:
    """Builds nodes that make a value again with another shape or other elements."""

    def __init__(self, walk: FreeingWalk, scope: GraphScope) -> None:
        self._walk, self._plan, self._scope = walk, walk.plan, scope
        self.nodes: list[OnnxNode] = []
        self.edits: list[Edit] = []
        self.known: dict[object, str] = {}

    def value(self, name: str, wanted: Value, left: int = _CHAIN) -> str | None:
        """Return the name of a value like another one, with the wanted shape or elements; None if there is no way."""
        key = name, wanted.shape, wanted.content if isinstance(wanted.content, Elements) else None
        known = self.known.get(key) or self._plan.made.get(key)
        if known is not None and (known in self.known.values() or self._scope.find(known) is not None):
            return known
        before = self._walk.constant_in(name, self._scope)
        if before is None or before.shape is None or wanted.shape is None or not left:
            return None
        if isinstance(wanted.content, Elements):
            new: str | None = self._walk.list_of(_items(wanted), before)
            self.note(
                name, "a list of sizes", _text(_items(before)), _text(_items(wanted)), "its node needs these sizes"
            )
        elif isinstance(before, Constant):
            new = self._stretched(name, before, wanted.shape)
        else:
            new = self._again(name, wanted.shape, left)
        if new is not None:
            self.known[key] = new
        return new

    def _stretched(self, name: str, before: Constant, wanted: Dims) -> str | None:
        result = stretched(self._plan, name, before, wanted)
        if result is None:
            return None
        nodes, new, why = result
        self.nodes += nodes
        self.note(name, "a constant", _text(before.shape or ()), f"{new}, {_text(wanted)}", why)
        return nodes[-1].outputs[0]

    def note(self, name: str, kind: str, old: str, new: str, why: str) -> None:
        """Add an edit of a constant."""
        self.edits.append(Edit(name, kind, name, old, new, why))

    def _again(self, name: str, wanted: Dims, left: int) -> str | None:
        """Return the name of the output of a copy of the node that makes a value, with changed inputs."""
        node = self._walk.makers.get(name)
        if node is None or len(node.outputs) != 1 or self._walk.top.values.get(name) is not self._scope.find(name):
            return None
        for others in self._walk._what_ifs(node, self._scope, {}, wanted):
            tried = self._walk.trial([node], self._scope, _given(node, others))
            output = tried.outputs[0]
            if output is None or output.shape != wanted or tried.required:
                continue
            names = {n: self.value(node.inputs[n], other, left - 1) for n, other in others.items()}
            inputs = {n: new for n, new in names.items() if new is not None}
            if len(inputs) == len(names):
                copy = self._plan.with_inputs(_raw(node), inputs, [self._plan.name(f"{name}_free")])
                self.nodes.append(copy)
                return copy.outputs[0]
        return None


_BROADCASTING = frozenset(
    [
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Pow",
        "Mod",
        "Min",
        "Max",
        "Sum",
        "Mean",
        "And",
        "Or",
        "Xor",
        "Equal",
        "Less",
        "Greater",
        "LessOrEqual",
        "GreaterOrEqual",
        "Where",
        "PRelu",
        "BitwiseAnd",
        "BitwiseOr",
        "BitShift",
    ]
)
# The inputs that hold weights or the table that is read: they never grow.
_WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(["Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "FusedConv"], (1, 2, 3, 4, 5, 6, 7, 8)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (1, 2, 3, 7)),
    **dict.fromkeys(("Gather", "GatherND", "OneHot"), (0,)),
    **dict.fromkeys(
        ["LayerNormalization", "BatchNormalization", "InstanceNormalization", "GroupNormalization"], (1, 2, 3, 4)
    ),
    "Gemm": (0, 1),
}
_PRODUCTS = frozenset(["MatMul", "MatMulInteger", "QLinearMatMul"])


def _may_grow(node: Node, position: int, axis: int) -> bool:
    """Return whether an axis of an input, counted from the last one as -1, may grow: weights never do."""
    return position not in _WEIGHTS.get(node.op_type, ()) and not (node.op_type in _PRODUCTS and axis >= -2)


def _given(node: Node, others: Mapping[int, Value]) -> dict[str, Value]:
    return {node.inputs[n]: value for n, value in others.items()}


def _like(value: Value, shape: Dims) -> Value:
    other = Value(shape, value.dtype)
    other.decided_by = value.decided_by
    return other


def _listing(value: Value, dims: Dims) -> Value:
    other = Value(value.shape, value.dtype, Elements(dims))
    other.decided_by = value.decided_by
    return other


def _raw(node: Node) -> OnnxNode:
    assert isinstance(node, OnnxNode)
    return node


def _items(value: Value | None) -> Dims:
    return () if value is None else sizes_of(value.content, value.shape) or ()


def _text(dims: Sequence[Dim]) -> str:
    return f"[{', '.join(map(str, dims))}]"
