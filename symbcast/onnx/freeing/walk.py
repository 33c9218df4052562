"""The walk that decides what to rewrite: at each node that fixes a size, which of its inputs have to follow it.

Each proposal is tried in the walk itself: the node is computed with it, and it is taken only if it requires less of the
free sizes, or keeps an axis that the constant cut off, and nothing that fails at the old sizes. Where a value has the
wrong size, the nodes that made it are computed again with larger constants, until one has the size that is needed. What
cannot grow is kept at its own size, so that size 1 is never broadcast to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations, islice, zip_longest
from math import isfinite, prod
from typing import Any, Self

from symbcast.core.algebra.arithmetic import subtract
from symbcast.core.algebra.formulas import TRUE, Formula, all_of, any_of, negate
from symbcast.core.algebra.terms import Dim, Operation, symbols_of
from symbcast.core.effort import EffortSpentError, budget_share
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.operations import operation_requirements
from symbcast.core.programs.program import Program
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import evaluated, holds_at, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError
from symbcast.graphs.check import FrontEnd
from symbcast.graphs.graph import Graph, Node
from symbcast.graphs.walking.node_call import GraphScope
from symbcast.graphs.walking.requirements import Requirements
from symbcast.graphs.walking.walk import CalledBody
from symbcast.onnx.freeing.constants import is_causal, stretched
from symbcast.onnx.freeing.local import COUNTING, LOCAL, Proposal, factor_runs, local_proposals, size_list
from symbcast.onnx.freeing.plan import Change, Edit, Plan
from symbcast.onnx.protobuf import OnnxNode
from symbcast.onnx.walk import OnnxWalk, WalkableOnnx
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INTEGERS, Elements, sizes_of
from symbcast.operators.values.value import UNKNOWN, Constant, Value

# How many sizes with one number are remembered, how many entries a list of sizes has, how many inputs change together,
# how many proposals are tried at one node, and how many nodes are computed again for one value.
_SIZES, _ENTRIES, _TOGETHER, _TRIALS, _CHAIN = 8, 16, 2, 48, 24
_EFFORT = 30_000
# How many elements a constant has that may be sizes, and what may be so.
_FEW, _ROUNDING = 8, 1e-6
_PADS = "a padding of one side, which stays: if it was computed from the old sizes, others need another"
_COUNTS = "numbers that sizes had, which stay: if they were computed from these, the results at others are wrong"


class Trial(NamedTuple):
    """A node computed for trial: its outputs, what it requires anew, and whether all of it was analysed."""

    outputs: tuple[Value | None, ...]
    required: tuple[Formula, ...]
    is_whole: bool


class _Collected(Program):
    """Collects what nodes require in a trial, and does not decide whether it can hold."""

    formulas: tuple[Formula, ...] = ()

    def fork(self) -> Self:
        """Return an independent copy."""
        copy = super().fork()
        copy.formulas = self.formulas
        return copy

    def require(self, *requirements: Any, origin: str | None = None) -> None:
        """Collect requirements."""
        self.formulas += tuple(required.formula for required in requirements)


class FreeingWalk(OnnxWalk):
    """A walk through a model with free sizes, which adds what has to change to a plan."""

    def __init__(self, plan: Plan, model: WalkableOnnx, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self.plan = plan
        # How many of the plan's nodes for sizes were walked.
        self._sized = 0
        # How many functions, trials, and trials of nodes with bodies the walk is in. Nodes in trials are not decided
        # about, but those of bodies are before the node itself is, and nothing is pinned there yet.
        self._in_function = self._in_trial = self._in_body_trial = 0
        # The sizes that depend on free ones, by their numbers at the old sizes.
        self._numbers: dict[int, list[Dim]] = {}
        # The nodes that make values, and the names of the constants of inner graphs.
        self.makers: dict[str, Node] = {}
        self._inner_constants: set[str] = set()
        for size, number in plan.old.items():
            self._numbers.setdefault(number, []).append(size)

    # What is known about the old sizes.

    def is_free(self, dim: Dim) -> bool:
        """Return whether a size depends on a free one."""
        return not isinstance(dim, int) and not self.plan.old.keys().isdisjoint(symbols_of((dim,)))

    def old(self, dim: Dim) -> int | None:
        """Return a size's number in the model; None if it depends on others than the free sizes."""
        return self.plan.number(dim)

    def sizes_with(self, number: int) -> Sequence[Dim]:
        """Return the free sizes that are a number at the old sizes, those that were met first first."""
        return self._numbers.get(number, ())

    @property
    def version(self) -> int:
        """The version of the operator set."""
        return self.plan.version

    def factors(self, dim: Dim) -> Sequence[Dim]:
        """Return the axes that an axis joins, in their order; itself if none are known."""
        return self.plan.factors.get(dim, (dim,))

    # Walking.

    def _nodes(self, nodes: Sequence[Node], start: int, scope: GraphScope) -> None:
        if scope is self.top and not start:
            self._walk_sizes()
        super()._nodes(nodes, start, scope)

    def _walk_sizes(self) -> None:
        while self._sized < len(self.plan.sizes):
            self._sized += 1
            super().node(self.plan.sizes[self._sized - 1], self.top)

    def graph(self, graph: Graph, scope: GraphScope) -> list[Value]:
        """Walk through a graph whose inputs are already in the scope; return its outputs."""
        if scope is not self.top:
            self._inner_constants.update(graph.constants)
        return super().graph(graph, scope)

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
        if not self._in_trial and id(node.raw) not in self.plan.seen and self._may_fix(node, scope):
            change = self._decide(node, scope)
            if self._in_function:
                self.plan.is_in_functions |= change is not None
                change = None
            elif change is not None:
                self.plan.changed[id(node.raw)] = change
            if not self._in_body_trial:
                self.plan.seen.add(id(node.raw))
        for each in (node,) if change is None else (*change.before, change.node):
            super().node(each, scope)
            self.makers.update(dict.fromkeys(each.outputs, each))
        data, result = ([scope.find(n) for n in names[:1]] for names in (node.inputs, node.outputs))
        if node.op_type in ("Reshape", "Flatten") and data and data[0] and result[0]:
            for dim, run in factor_runs(self, data[0].shape or (), result[0].shape or ()):
                self.plan.factors.setdefault(dim, run)
        if not self._in_trial:
            self._doubt(node, scope)
        for name in node.outputs:
            self._remember((scope.values.get(name) or Value(None)).shape)

    def _doubt(self, node: Node, scope: GraphScope) -> None:
        """Note a padding or a number that may have been computed from a free size when the model was exported."""
        inputs = [scope.find(name) for name in node.inputs]
        items = [_items(v) for v in inputs[1:]] if node.op_type == "Pad" else []
        pads = node.attributes.get("pads") or next(filter(None, items), ())
        half, data = len(pads) // 2, (inputs[0].shape or ()) if inputs and inputs[0] else ()
        is_moving = node.op_type == "Pad" or any(s != 1 for s in node.attributes.get("strides") or ())
        if pads[:half] != pads[half:] and is_moving and not all(map(self.plan.is_batch, filter(self.is_free, data))):
            self.plan.doubts.setdefault(_PADS, {})[node.title] = None
        for name, value in zip(node.inputs, inputs, strict=True) if node.op_type in ("Mul", "Div", "Sub") else ():
            number = self.makers[name].attributes.get("value_float") if name in self.makers else None
            numbers = _few_numbers(value, number)
            sizes = {n for n, dims in self._numbers.items() if not all(map(self.plan.is_batch, dims))}
            whole = prod(n for s, n in self.plan.old.items() if not self.plan.is_batch(s))
            if numbers and numbers <= {*sizes, whole} - {1}:
                self.plan.doubts.setdefault(_COUNTS, {})[name] = None

    def _remember(self, shape: Dims | None) -> None:
        for dim in shape or ():
            number = self.old(dim) if self.is_free(dim) else None
            if number is not None:
                known = self._numbers.setdefault(number, [])
                if dim not in known and len(known) < _SIZES:
                    known.append(dim)

    def _may_fix(self, node: Node, scope: GraphScope) -> bool:
        """Return whether a node has an input with a free size, or may count by one, or has a graph in it."""
        inputs = [scope.find(name) for name in node.inputs]
        if self._counts(node, scope):
            return True
        if len(inputs) <= 1 + len(_WEIGHTS.get(node.op_type, ())) and node.op_type not in LOCAL and not node.graphs:
            return False  # nothing beside the data may follow it
        return node.op_type in ("Loop", "Scan") or any(self.is_free(d) for v in inputs if v for d in v.shape or ())

    # Trials.

    def trial(self, nodes: Sequence[Node], scope: GraphScope, known: Mapping[str, Value] = {}) -> Trial:
        """Compute nodes without leaving a trace, with other values for some of their inputs."""
        self.plan.trials -= 1
        asker, apart = self.asker, GraphScope(scope)
        apart.values.update(known)
        self._in_trial += 1
        try:
            with asker.trying(self._aside()):
                asker.env = collected = _Collected(on_conflict="record")
                for node in nodes:
                    super().node(node, apart)
                joined = [f for op in collected.operations for f in operation_requirements(op)]
                is_whole = not self.unanalysed
        finally:
            self._in_trial -= 1
        required = map(evaluated, (*joined, *collected.formulas))
        outputs = tuple(apart.values.get(name) for name in nodes[-1].outputs)
        return Trial(outputs, tuple(f for f in dict.fromkeys(required) if f != TRUE), is_whole)

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
        if (not new.is_whole and old.is_whole) or not self._gains(new, old) or not all(map(self._holds, new.required)):
            return False
        return all(f in old.required for f in new.required) or (
            not self._gains(old, new) and self._implies(old.required, new.required)
        )

    def _gains(self, new: Trial, old: Trial) -> bool:
        """Return whether a trial runs at sizes at which another one does not: at one of some sizes, if these tell."""
        if not new.required or not old.required:
            return bool(old.required)
        if any(not symbols_in(f).keys() <= self.plan.old.keys() for f in (*new.required, *old.required)):
            return not self._implies(new.required, old.required)
        return any(
            all(holds_at(f, p) for f in new.required) and not all(holds_at(f, p) for f in old.required)
            for p in self.plan.points
        )

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
        if node.op_type in _BROADCASTING and not self._counts(node, scope) and self._joins(node, scope):
            return self._pinned(node, scope, None)
        self._in_body_trial += 1
        self._in_trial -= 1
        original = self.trial([node], scope)
        self._in_trial += 1
        self._in_body_trial -= 1
        change, best = None, original
        for proposal in local_proposals(self, node, [self.constant_in(n, scope) for n in node.inputs], original):
            tried = self._changed(node, scope, proposal)
            if tried is None:
                continue
            result = self._of_change(tried, scope)
            is_wider = all(map(self._holds, result.required)) and (not result.required or self._gains(result, original))
            if is_wider or self._is_better(result, best):
                change, best = tried, result
                break
        if any(not self.plan.old.keys().isdisjoint(symbols_in(f)) for f in best.required):
            change = self._grown(node, scope, best) or change
        is_kept = node.op_type in _BROADCASTING and not self._in_body_trial
        return self._pinned(node, scope, change) if is_kept else change

    def _counts(self, node: Node, scope: GraphScope) -> bool:
        """Return whether a node computes integers."""
        inputs = (scope.find(name) for name in node.inputs if node.op_type in COUNTING)
        return any(v is not None and v.dtype in INTEGERS for v in inputs)

    def _joins(self, node: Node, scope: GraphScope) -> bool:
        """Return whether shapes can be broadcast at all sizes: those that differ are 1."""
        shapes = [value.shape if (value := scope.find(name)) else None for name in node.inputs]
        columns = zip_longest(*(reversed(shape or ()) for shape in shapes), fillvalue=1)
        return None not in shapes and all(len({*column} - {1}) <= 1 for column in columns)

    def _changed(self, node: Node, scope: GraphScope, proposal: Proposal) -> Change | None:
        """Return the change that a proposal makes; None if it makes none, or no nodes compute its sizes."""
        nodes, edits = [], []
        try:
            for part, outputs in zip((proposal, *proposal.others), [[o] for o in node.outputs], strict=False):
                inputs: dict[int, str] = {}
                for position, dims in part.inputs.items():
                    before = scope.find(node.inputs[position]) if position < len(node.inputs) else None
                    if part.op_type or dims is None or dims != _items(before):
                        inputs[position] = "" if dims is None else self.plan.listed(dims, before)
                        edits += [] if part.op_type else [self._edit(node, position, before, dims, part)]
                if part.op_type:
                    edits.append(
                        self._edit(node, 1, scope.find(node.inputs[1]) if node.inputs[1:] else None, None, part)
                    )
                whole = _raw(node)
                if part.op_type == "Transpose" and inputs:
                    nodes.append(self.plan.node("Reshape", (node.inputs[0], inputs.pop(1)), f"{node.outputs[0]}_parts"))
                    whole = self.plan.copied(whole, {0: nodes[-1].outputs[0]})
                kept = outputs if proposal.others else node.outputs
                nodes.append(self.plan.copied(whole, inputs, kept, part.op_type, part.attributes))
        except ArithmeticError:
            return None
        return Change(nodes[-1], tuple(nodes[:-1]), tuple(edits)) if edits else None

    def _edit(self, node: Node, position: int, before: Value | None, dims: Dims | None, part: Proposal) -> Edit:
        name, new = node.inputs[position] if position < len(node.inputs) else "attributes", "nothing"
        if part.op_type:
            lists = (v for v in (*part.inputs.values(), *part.attributes.values()) if isinstance(v, Sequence))
            new = " ".join([part.op_type, *map(size_list, lists)])
        elif dims is not None:
            new = size_list(dims)
        return Edit(node.title, node.op_type, name, size_list(_items(before)), new, part.why)

    def _of_change(self, change: Change, scope: GraphScope) -> Trial:
        self._walk_sizes()
        return self.trial([*change.before, change.node], scope)

    # Values that have to grow.

    def _grown(self, node: Node, scope: GraphScope, best: Trial) -> Change | None:
        """Return the change of a node whose other inputs take the free sizes that one of them has."""
        aligned = self._aligned(node, scope)
        for others in (*self._squares(node, aligned, scope), aligned, *self._what_ifs(node, scope, aligned)):
            if others and self._is_better(self.trial([node], scope, _known(node, others)), best):
                change = self._built(node, scope, others)
                if change is not None and self._is_better(self._of_change(change, scope), best):
                    return change
        return None

    def _squares(self, node: Node, aligned: Mapping[int, Value], scope: GraphScope) -> Iterator[dict[int, Value]]:
        """Yield causal masks that grow along both axes where one of these meets a free size."""
        for position, value in aligned.items():
            before = self.constant_in(node.inputs[position], scope)
            shape, dims = (before and before.shape) or (), value.shape or ()
            grown = [d for d, own in zip(dims, shape, strict=True) if d != own]
            axes = [n for n, own in enumerate(shape) if grown and own == self.old(grown[0])]
            if isinstance(before, Constant) and len(grown) == 1 and is_causal(before, axes):
                yield {
                    **aligned,
                    position: _like(value, tuple(grown[0] if n in axes else d for n, d in enumerate(dims))),
                }

    def _built(self, node: Node, scope: GraphScope, others: Mapping[int, Value]) -> Change | None:
        """Return a node with other values for some inputs; None if no nodes make these."""
        builder = _Builder(self, scope)
        with suppress(ArithmeticError, SymbcastError):
            names = {n: builder.value(node.inputs[n], value) for n, value in others.items()}
            inputs = {n: name for n, name in names.items() if name is not None}
            if len(inputs) == len(names):
                self.plan.built.update(builder.known)
                return Change(self.plan.copied(_raw(node), inputs), tuple(builder.nodes), tuple(builder.edits))
        return None

    def _pinned(self, node: Node, scope: GraphScope, change: Change | None) -> Change | None:
        """Keep inputs at their own sizes where they meet a free size with the same number.

        At size 1, they would be broadcast to. An axis of one row is kept where another axis depends on the size that it
        meets, which was 1: a mask for one row does not tell what it is for more. A batch is another matter: its rows
        are alike.
        """
        own, before, edits = Change(_raw(node), (), ()) if change is None else change
        apart, nodes, inputs = GraphScope(scope), list[OnnxNode](), dict[int, str]()
        with self.asker.trying(self._aside()):
            for each in before:
                super().node(each, apart)
        shapes = [(apart.find(name) or Value(None)).shape or () for name in own.inputs]
        for position, (name, shape) in enumerate(zip(own.inputs, shapes, strict=True)):
            kept: dict[int, tuple[int, int]] = {}
            for other, back in (
                (o, b) for o, dims in enumerate(shapes) if o != position for b in range(1, len(dims) + 1)
            ):
                if back <= len(shape) and self._stays(shapes[other][-back], shape[-back], shapes[other]):
                    kept[len(shape) - back] = other, back
            with suppress(ArithmeticError):
                if kept:
                    checks = self.plan.kept(name, shape, kept)
                    inputs[position] = checks[-1].outputs[0]
                    nodes += checks
                    for other in dict.fromkeys(o for o, _ in kept.values()):
                        old, new = shapes[other], list(shapes[other])
                        for axis, (fixed, back) in kept.items():
                            new[-back] = shape[axis] if fixed == other else new[-back]
                        edit = Edit(node.title, node.op_type, own.inputs[other], size_list(old), size_list(new), _STAYS)
                        why = f"{own.inputs[other]} {size_list(old)} cannot be computed for other sizes"
                        self.plan.pins.update(dict.fromkeys((check.title for check in checks), why))
                        edits = (*edits, edit)
        self._walk_sizes()
        return Change(self.plan.copied(own, inputs), (*before, *nodes), edits) if nodes else change

    def _stays(self, size: Dim, met: Dim, shape: Dims) -> bool:
        if not isinstance(size, int) or not self.is_free(met) or self.old(met) != size:
            return False
        return size != 1 or (not self.plan.is_batch(met) and not {*symbols_of((met,))}.isdisjoint(symbols_of(shape)))

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
                    and (d != 1 or node.op_type not in _BROADCASTING)
                    else d
                    for n, (d, met) in enumerate(pairs)
                )
                if dims != value.shape:
                    aligned[position] = _like(value, dims)
        return aligned

    def _what_ifs(
        self, node: Node, scope: GraphScope, aligned: Mapping[int, Value], target: Dims = ()
    ) -> Iterator[dict[int, Value]]:
        """Yield other values for some inputs of a node, the likeliest and fewest first."""
        inputs = [self.constant_in(name, scope) for name in node.inputs]
        sizes = [d for v in inputs if v is not None for d in v.shape or () if self.is_free(d)]
        numbers = {
            t: n for t in dict.fromkeys([*target, *sizes, *self.plan.old]) if self.is_free(t) and (n := self.old(t))
        }
        options = [(position, value) for position, value in aligned.items()]
        for position, value in enumerate(inputs):
            options += [(position, other) for other in self._variants(node, position, value, numbers, target)]
        trials = (chosen for count in range(1, _TOGETHER + 1) for chosen in combinations(options, count))
        for chosen in (*self._last_places(node, inputs, target), *islice(trials, _TRIALS)):
            if self.plan.trials < 0:
                return
            if len(dict(chosen)) == len(chosen):
                yield dict(chosen)

    def _last_places(
        self, node: Node, inputs: Sequence[Value | None], target: Dims
    ) -> Iterator[tuple[tuple[int, Value], ...]]:
        """Yield inputs of a comparison with places, where a number is the last place of an axis that grows."""
        if node.op_type not in _COMPARING or len(inputs) != 2:
            return
        for position, (number, places) in enumerate((inputs, inputs[::-1])):
            items = None if number is None else sizes_of(number.content, number.shape)
            last = self.old(items[0]) if items is not None and len(items) == 1 else None
            if number is None or places is None or not last or len(places.shape or ()) != len(target):
                continue
            for size in dict.fromkeys(filter(self.is_free, target)):
                if size not in (places.shape or ()) and self.old(size) == last + 1:
                    yield (position, _listing(number, (subtract(size, 1),))), (1 - position, _like(places, target))

    def constant_in(self, name: str, scope: GraphScope) -> Value | None:
        """Return a value; without its elements if these may be others in another iteration of a loop."""
        holder: GraphScope | None = scope
        while holder is not None and name not in holder.values:
            holder = holder.around
        if holder is None:
            return None
        value, maker = holder.values[name], self.makers.get(name)
        if holder is self.top or name in self._inner_constants or (maker is not None and maker.op_type == "Constant"):
            return value
        return Value(value.shape, value.dtype)

    def _variants(
        self, node: Node, position: int, value: Value | None, numbers: Mapping[Dim, int], target: Dims
    ) -> Iterator[Value]:
        """Yield a value with free sizes for their old numbers: in its list of sizes, or on its axes."""
        if value is None or value.shape is None:
            return
        items = sizes_of(value.content, value.shape)
        if items is not None and len(items) <= _ENTRIES and value.dtype in INTEGERS:
            if target and len(items) == len(target) and [*map(self.old, items)] == [*map(self.old, target)]:
                yield _listing(value, target)
            yield from (_listing(value, dims) for dims in self._replaced(items, numbers))
        if target and len(value.shape) <= len(target):
            last = target[len(target) - len(value.shape) :]
            yield _like(value, tuple(w if d == self.old(w) else d for d, w in zip(value.shape, last, strict=True)))
        for dims in self._replaced(value.shape, numbers):
            axis = next(n for n, (a, b) in enumerate(zip(dims, value.shape, strict=True)) if a != b)
            is_factor = node.op_type in _PRODUCTS and not isinstance(value, Constant)
            if is_factor or _may_grow(node, position, axis - len(dims)):
                yield _like(value, dims)

    def _replaced(self, dims: Dims, numbers: Mapping[Dim, int]) -> Iterator[Dims]:
        """Yield lists of sizes with a free size for its number: once, then everywhere."""
        for target, number in numbers.items():
            places = [n for n, d in enumerate(dims) if type(d) is int and d == number]
            for place in places:
                yield (*dims[:place], target, *dims[place + 1 :])
            if len(places) > 1 and number > 1:
                yield tuple(target if n in places else d for n, d in enumerate(dims))
        first = {number: size for size, number in reversed([*numbers.items()]) if number > 1}
        every = tuple(first.get(d, d) if isinstance(d, int) else d for d in dims)
        if len({*every} - {*dims}) > 1:
            yield every


class _Builder:
    """Builds nodes that make a value again with another shape or other elements."""

    def __init__(self, walk: FreeingWalk, scope: GraphScope) -> None:
        self._walk, self._plan, self._scope = walk, walk.plan, scope
        self.nodes: list[OnnxNode] = []
        self.edits: list[Edit] = []
        # What was built, and what cannot be built with so many more nodes.
        self.known: dict[object, str] = {}
        self._hopeless: dict[object, int] = {}

    def value(self, name: str, target: Value, left: int = _CHAIN) -> str | None:
        """Return the name of a value like another one, with the target's shape or elements; None if there is none."""
        key = name, target.shape, target.content if isinstance(target.content, Elements) else None
        known = self.known.get(key) or self._plan.built.get(key)
        if known is not None and (known in self.known.values() or self._scope.find(known) is not UNKNOWN):
            return known
        before = self._walk.constant_in(name, self._scope)
        if before is None or before.shape is None or target.shape is None or self._hopeless.get(key, 0) >= left:
            return None
        new: str | None
        if isinstance(target.content, Elements):
            new = self._plan.listed(_items(target), before)
            self._note(name, size_list(_items(before)), size_list(_items(target)), "its node needs these sizes")
        elif isinstance(before, Constant):
            new = self._stretched(name, before, target.shape)
        else:
            new = self._again(name, target.shape, left)
        if new is None:
            self._hopeless[key] = left
        else:
            self.known[key] = new
        return new

    def _stretched(self, name: str, before: Constant, target: Dims) -> str | None:
        grown = stretched(self._plan, name, before, target)
        if grown is None:
            return None
        self.nodes += grown.nodes
        self._note(name, size_list(before.shape or ()), f"{grown.what}, {size_list(target)}", grown.why)
        return grown.nodes[-1].outputs[0]

    def _note(self, name: str, old: str, new: str, why: str) -> None:
        self.edits.append(Edit(name, "a constant", name, old, new, why))

    def _again(self, name: str, target: Dims, left: int) -> str | None:
        """Return the name of the output of a copy of the node that makes a value, with changed inputs."""
        node = self._walk.makers.get(name)
        if node is None or len(node.outputs) != 1:
            return None
        for others in self._walk._what_ifs(node, self._scope, {}, target):
            tried = self._walk.trial([node], self._scope, _known(node, others))
            if tried.required or not _is_enough(tried.outputs[0], target):
                continue
            names = {n: self.value(node.inputs[n], other, left - 1) for n, other in others.items()}
            inputs = {n: new for n, new in names.items() if new is not None}
            if len(inputs) == len(names):
                copy = self._plan.copied(_raw(node), inputs, [self._plan.name(f"{name}_free")])
                self.nodes.append(copy)
                return copy.outputs[0]
        return None


_STAYS = "it stays fixed: it cannot be computed for other sizes, and nothing may broadcast to it at size 1"
_COMPARING = frozenset(["Less", "LessOrEqual", "Greater", "GreaterOrEqual"])
_BROADCASTING = _COMPARING | frozenset({
    "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "And", "Or", "Xor", "Equal", "Where",
    "PRelu", "BitwiseAnd", "BitwiseOr", "BitShift",
})  # fmt: skip

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


def _known(node: Node, others: Mapping[int, Value]) -> dict[str, Value]:
    return {node.inputs[n]: value for n, value in others.items()}


def _is_enough(value: Value | None, target: Dims) -> bool:
    """Return whether a value has a shape, or is as long as a table that is cut to that length."""
    shape = (value and value.shape) or ()
    pairs = zip(shape, target, strict=False)
    return len(shape) == len(target) and all(
        d == t or (isinstance(d, Operation) and d.kind == "min" and t in d.args) for d, t in pairs
    )


def _like(value: Value, shape: Dims) -> Value:
    other = Value(shape, value.dtype)
    other.decided_by = value.decided_by
    return other


def _listing(value: Value, dims: Dims) -> Value:
    other = Value(value.shape, value.dtype, Elements(dims))
    other.decided_by = value.decided_by
    return other


def _few_numbers(value: Value | None, number: float | None) -> set[Any]:
    """Return the numbers that a small constant holds; of fractions such as 1/64, the 64."""
    few = isinstance(value, Constant) and prod(d for d in value.shape or () if isinstance(d, int)) <= _FEW
    held = value.array.ravel().tolist() if isinstance(value, Constant) and few else [number or 0]
    numbers = [n for n in held if isinstance(n, int | float) and isfinite(n)]
    return {round(1 / n) if 0 < n < 1 and abs(1 / n - round(1 / n)) < _ROUNDING / n else n for n in numbers}


def _raw(node: Node) -> OnnxNode:
    assert isinstance(node, OnnxNode)
    return node


def _items(value: Value | None) -> Dims:
    return () if value is None else sizes_of(value.content, value.shape) or ()
