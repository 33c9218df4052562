"""Pad the inputs of a model to the next sizes that work, and crop its outputs, all inside the model.

Which sizes work is read from the model's condition. Of each axis that cannot have every size, the sizes that work end
in a residue class, ``least``, ``least + step`` and so on; an axis that does not work is padded to the next of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import gcd, lcm
from typing import Any, Literal, TypeAlias

from symbcast.core.algebra.arithmetic import (
    add,
    ceil_divide,
    floor_divide,
    maximum,
    multiply,
    replace_symbols,
    subtract,
)
from symbcast.core.algebra.formulas import TRUE, AllOf, AnyOf, Comparison, Formula, all_of, equal, expand
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.effort import EffortSpentError, budget_share
from symbcast.core.programs.arguments import own_set
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at, normal_conjuncts, symbols_in, value_at
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.residues import divisors
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ModelError, ShapeTypeError
from symbcast.onnx.freeing.plan import Edit, Plan, replace_nodes
from symbcast.onnx.protobuf import OnnxNode, graphs_in, with_inner
from symbcast.onnx.reader import OnnxModel
from symbcast.onnx.report import ModelReport
from symbcast.operators.values.contents import sizes_of

PadMode: TypeAlias = Literal["zero", "edge", "reflect"]
"""What inputs are padded with: zeros, the last row, or the rows before the last one, backwards."""

MODES: Mapping[str, str] = {"zero": "constant", "edge": "edge", "reflect": "reflect"}
"""The modes by their names in ONNX, which are NumPy's too."""

# The longest step for sizes that only work together, the longest period of one, and units to prove that they work.
_MOST_STEP, _MOST_PERIOD, _EFFORT = 256, 4096, 100_000
# The first operator set in which Pad takes computed sizes, and the types by number that ONNX Runtime pads from then on.
# Others are padded as one of these. Numbers of images are padded in any mode; other integers, as indices and masks, are
# not: zero is in range, and a copy of the last index is data.
_PAD = 11
_PADDED = frozenset([1, 2, 3, 6, 7, 10, 11, 12, 13])
_INTEGERS, _INT32, _FLOAT = frozenset([4, 5, 9]), 6, 1
_NO_NUMBERS = frozenset([8, 14, 15])
_IMAGES = frozenset([1, 2, 3, 10, 11, 16])
# Operators whose rows are not in the order of their input's.
_SHUFFLING = frozenset(["TopK", "ReverseSequence", "Compress", "Unique", "NonZero", "ConcatFromSequence"])


_UNNAMED = symbol("padding")
_NOTHING = {Verdict.ALWAYS: "the model takes every size", Verdict.UNKNOWN: "no node is known to need other sizes"}


class Target(NamedTuple):
    """The sizes to which an axis is padded: ``least``, ``least + step``, ... up to ``most``.

    Attributes:
        works: where the axis has other sizes that work, which stay; None if there are none.
        padding: how many rows are added, as a size.
    """

    symbol: Symbol
    step: int
    least: int
    most: int | None = None
    works: Formula | None = None
    padding: Symbol = _UNNAMED

    @property
    def members(self) -> SizeSet:
        """The sizes as a set."""
        return SizeSet.residues(self.step, [self.least]) & SizeSet.interval(self.least, self.most)

    @property
    def next(self) -> Dim:
        """The least of the sizes that is not below the symbol's."""
        residue = self.least % self.step
        above = floor_divide(add(self.symbol, self.step - 1 - residue), self.step)
        size = add(multiply(self.step, above), residue)
        return size if self.least <= self.step else maximum((size, self.least))

    @property
    def padded(self) -> Dim:
        """The size after padding."""
        return self.next if self.works is None else add(self.symbol, self.padding)

    def added(self, sizes: Mapping[Symbol, int]) -> int:
        """Return how many rows are added at some sizes."""
        works = self.works is not None and holds_at(self.works, sizes)
        return 0 if works else (value_at(self.next, sizes) or 0) - sizes[self.symbol]

    @property
    def works_text(self) -> str:
        """What the name of the padding is, if it has one."""
        return "" if self.works is None else f" ({self.padding} is 0 where {self.symbol} works)"

    def __str__(self) -> str:
        residue = self.least % self.step
        more = f"{residue} more than " * bool(residue)
        low = f"at least {self.least}" * (self.least > self.step)
        return ", ".join(filter(None, (f"{more}a multiple of {self.step}" * (self.step > 1), low)))


class Crop(NamedTuple):
    """An axis of an output that has ``above/below`` rows for a row of the padded axis, and some more.

    Attributes:
        least: the least size after the crop, before it is kept at 1 or more.
    """

    axis: int
    target: Target
    above: int
    below: int
    least: int = 1

    def rest(self, whole: Dim, padded: Dim, size: Dim) -> Dim:
        """Return the size without the rows of the padding; a row for which the input has a part stays."""
        shares = [ceil_divide(multiply(n, self.above), self.below) for n in (padded, size)]
        rest = add(subtract(whole, shares[0]), shares[1])
        return rest if self.least >= 1 else maximum((rest, 1))


class Padding(NamedTuple):
    """What was padded and cropped: amounts for each axis of inputs, crops of outputs, edits and notes."""

    inputs: Mapping[str, Sequence[Dim]]
    modes: Mapping[str, str]
    targets: Sequence[Target]
    crops: Mapping[str, Sequence[Crop]]
    edits: tuple[Edit, ...]
    notes: tuple[str, ...]

    def added(self, sizes: Mapping[str, int]) -> dict[Symbol, int]:
        """Return how many rows each padding has at some sizes, and the sizes."""
        known = {symbol(name): size for name, size in sizes.items()}
        return {**known, **{t.padding: t.added(known) for t in self.targets}}

    def pads(self, name: str, added: Mapping[Symbol, int]) -> tuple[int, ...]:
        """Return how many rows are added to each axis of an input."""
        return tuple(value_at(dim, added) or 0 for dim in self.inputs.get(name, ()))

    def cropped(self, name: str, output: Any, added: Mapping[Symbol, int]) -> Any:
        """Return an output of the model before padding, cropped as the padded model does it."""
        for crop in self.crops.get(name, ()):
            size = added[crop.target.symbol]
            rest = crop.rest(output.shape[crop.axis], size + added[crop.target.padding], size)
            output = output[(*[slice(None)] * crop.axis, slice(rest))]
        return output


def check_mode(mode: object) -> None:
    """Raise `ShapeTypeError` if there is no such mode."""
    if mode not in MODES:
        raise ShapeTypeError(mode, "a way to pad", f"write one of {', '.join(map(repr, MODES))}")


# Which sizes to pad to.


def targets_of(condition: Formula, old: Mapping[Symbol, int], inputs: Mapping[Symbol, str]) -> list[Target]:
    """Return the sizes to which axes are padded, so that a condition holds, for the axes where there are any.

    ``old`` has all sizes that may be padded, with numbers at which the condition holds, and ``inputs`` their inputs.
    """
    sets = {s: own_set(s, 1) for s in old}
    groups: list[tuple[set[Symbol], list[Formula]]] = []
    same: list[tuple[Symbol, Symbol]] = []
    for clause in normal_conjuncts([condition]):
        sizes, tied = {*symbols_in(clause)}, [clause]
        only = next(iter(sizes)) if len(sizes) == 1 else None
        if only in sets and (narrowed := narrowed_set(sets[only], clause)) is not None:
            sets[only] = narrowed
        elif sets.keys() >= sizes:
            match clause:
                case Comparison("==", Symbol() as one, Symbol() as other):
                    same.append((one, other))
            for group in [g for g in groups if g[0] & sizes]:
                groups.remove(group)
                sizes, tied = sizes | group[0], tied + group[1]
            groups.append((sizes, tied))
    for pair in same * 2:  # in a chain, the last of them reaches the first
        sets.update(dict.fromkeys(pair, sets[pair[0]] & sets[pair[1]]))
    targets = {s: target for s, members in sets.items() if (target := _class_in(s, members))}
    alone = {s: set_formula(s, members, own_set(s, 1)) for s, members in sets.items()}
    targets = {s: t._replace(works=alone[s] if sets[s] - t.members else None) for s, t in targets.items()}
    for sizes, tied in groups:
        works = all_of([*tied, *(alone[s] for s in sizes)])
        if targets.keys() >= sizes:
            together = _together(tied, {s: targets[s] for s in sizes})
            # Padding to the old sizes would hide that two inputs differ that must not.
            if not together and len({inputs[s] for s in sizes}) == 1:
                together = _to_old(tied, {s: targets[s] for s in sizes}, old)
            targets |= {s: target._replace(works=works) for s, target in together.items()}
    return [target for target in targets.values() if target.step > 1 or target.least > 1]


def _class_in(size: Symbol, members: SizeSet) -> Target | None:
    """Return the residue class with the smallest step in which the members end; the multiples if there are several."""
    if not members or (last := members.segments[-1]).period > _MOST_PERIOD:
        return None
    for step in divisors(last.period):
        for residue in range(step):
            least = last.low + (residue - last.low) % step
            if last.high is not None and least > last.high:
                continue
            if Target(size, step, least, last.high).members <= members:
                while least > step and least - step in members:
                    least -= step
                return Target(size, step, least, last.high)
    return None


def _together(tied: Sequence[Formula], own: Mapping[Symbol, Target]) -> dict[Symbol, Target]:
    """Return classes for sizes that only work together: all with one more step, then each with the smallest one."""
    for step in range(1, _MOST_STEP + 1):
        chosen = {s: _with_step(target, step) for s, target in own.items()}
        if _holds_within(tied, chosen):
            for s, target in own.items():
                less = ({**chosen, s: _with_step(target, k)} for k in divisors(step))
                chosen = next(c for c in less if _holds_within(tied, c))
            return chosen
    return {}


def _to_old(tied: Sequence[Formula], own: Mapping[Symbol, Target], old: Mapping[Symbol, int]) -> dict[Symbol, Target]:
    """Return the old sizes as targets, unless padding each size alone helps."""
    point = {s: target._replace(step=1, least=old[s], most=old[s]) for s, target in own.items()}
    helps = any(target.step > 1 or target.least > 1 for target in own.values())
    return {} if helps or not _holds_within(tied, point) else point


def _with_step(target: Target, step: int) -> Target:
    whole = lcm(target.step, step)
    least = target.least if target.least % target.step else target.least + -target.least % whole
    return target._replace(step=whole, least=least)


def _holds_within(formulas: Sequence[Formula], targets: Mapping[Symbol, Target]) -> bool:
    """Return whether formulas provably hold at all sizes of some classes."""
    sets = {s: target.members for s, target in targets.items()}
    points = product(*(members.first(3) for members in sets.values()))
    if not all(sets.values()) or not all(
        holds_at(f, dict(zip(sets, point, strict=True))) for point in points for f in formulas
    ):
        return False
    with suppress(EffortSpentError), budget_share(_EFFORT):
        return Decision(AssumptionSet(tuple(sets), sets, ()), formulas).verdict is Verdict.ALWAYS
    return False


# The nodes.


def pad_model(model: OnnxModel, old: Mapping[Symbol, int], report: ModelReport, mode: PadMode) -> Padding:
    """Write nodes that pad inputs and crop outputs into a model, where its report says that it needs that.

    Raises `BindingError` if there is nothing to pad, and if no padding helps.
    """
    shapes = {name: shape.dims for name, shape in report.inputs.items() if shape is not None}
    plan = Plan(model, old, {d: (n, a) for n, dims in shapes.items() for a, d in enumerate(dims) if type(d) is Symbol})
    if plan.version < _PAD:
        hint = f"convert it to operator set {_PAD} or later, as with onnx.version_converter"
        raise ModelError(report.source, f"operator set {plan.version} does not pad by computed numbers", hint)
    condition, leave = report.condition, "leave the padding out"
    if condition.formula == TRUE:
        raise BindingError(f"there is nothing to pad: {_NOTHING[report.verdict]}", leave)
    known = {s: n for s, n in old.items() if s in plan.sources}
    targets = targets_of(condition.formula, known, {s: plan.sources[s][0] for s in known})
    if not targets:
        needs = "the model runs at no sizes" if report.verdict is Verdict.NEVER else f"the model needs {condition}"
        raise BindingError(f"no padding helps: {needs}", leave)
    for s in plan.sources:
        plan.name(s.name)  # no other size has its name
    targets = [target._replace(padding=symbol(plan.name(f"{target.symbol.name}_pad"))) for target in targets]
    try:
        return _Writer(plan, report, MODES[mode], targets).write()
    except ArithmeticError as error:
        raise BindingError(f"the padding cannot be computed: {error}", leave) from None


class _Writer:
    """Writes the nodes of one model."""

    def __init__(self, plan: Plan, report: ModelReport, mode: str, targets: Sequence[Target]) -> None:
        self._raw, self._plan, self._mode, self._targets = plan.model.raw, plan, mode, targets
        self._inputs = report._checked.inputs.values
        self._outputs = {name: shape.dims for name, shape in report.outputs.items() if shape is not None}
        self._unknown = [name for name, shape in report.outputs.items() if shape is None]
        self._by_symbol = {t.symbol: t for t in targets}
        self._padded = {t.symbol: t.padded for t in targets}
        self._edits: list[Edit] = []
        self._notes = [f"{name} is not cropped: its shape is not known" for name in self._unknown]
        self._data = report._checked.asker.origins.keys()
        walk = report._checked.walk
        self._shapes = {n: v.shape for n, v in (*walk.inner.items(), *walk.top.values.items()) if v.shape is not None}
        self._constants = {n: sizes_of(v.content, v.shape) for n, v in walk.top.values.items()}
        self._makers = {name: node for node in self._raw.graph.node for name in node.output}
        self._functions = {(f.domain, f.name) for f in self._raw.functions}
        self._merged = {run for node in self._raw.graph.node for each in with_inner(node) for run in self._runs(each)}
        # Before values are renamed.
        self._shuffling = {name: self._shuffled(name) for name in self._outputs}

    def write(self) -> Padding:
        """Return what was written."""
        plan = self._plan
        for target in self._targets:
            plan.known[target.padding] = self._amount(target)
        longer = {s: add(s, t.padding) for s, t in self._by_symbol.items()}
        amounts = {
            name: [subtract(replace_symbols(d, longer), d) for d in v.shape]
            for name, v in self._inputs.items()
            if v.shape is not None and not self._padded.keys().isdisjoint(symbols_of(v.shape))
        }
        pads = [node for name, dims in amounts.items() for node in self._pad(name, dims)]
        crops = {name: [*self._crops(name, dims)] for name, dims in self._outputs.items() if name not in self._inputs}
        crops = {name: each for name, each in crops.items() if each}
        head = len(plan.sizes)
        slices = [self._slice(name, each) for name, each in crops.items()]
        names = [n.raw for n in (*plan.sizes[:head], *pads)]
        replace_nodes(self._raw.graph, [*names, *self._raw.graph.node, *(n.raw for n in (*plan.sizes[head:], *slices))])
        modes = {name: self._mode_of(name) for name in amounts}
        return Padding(amounts, modes, self._targets, crops, tuple(self._edits), tuple(self._notes))

    def _amount(self, target: Target) -> str:
        """Return the name of a tensor with how many rows are added."""
        amount = self._plan.size(subtract(target.next, target.symbol))
        if target.works is None:
            return amount
        zero = self._plan.vector([0])
        node = self._plan.node("Where", (self._truth(target.works), zero, amount), "padding")
        node.raw.output[0] = node.raw.name = target.padding.name  # the size is shown by the name of its node
        self._plan.sizes.append(node)
        return target.padding.name

    def _truth(self, formula: Formula) -> str:
        """Return the name of a tensor that says whether a formula holds."""
        plan = self._plan
        match formula:
            case AllOf(parts) | AnyOf(parts):
                truth, *others = map(self._truth, parts)
                for other in others:
                    truth = plan.op("And" if isinstance(formula, AllOf) else "Or", (truth, other), "works")
                return truth
            case Comparison("<" | "<=", left, right):
                strict = formula.operator == "<"
                sides = [plan.vector([dim]) for dim in ((left, right) if strict else (right, left))]
                less = plan.op("Less", sides, "less")
                return less if strict else plan.op("Not", (less,), "works")
            case Comparison(_, left, right):
                same = plan.op("Equal", (plan.vector([left]), plan.vector([right])), "same")
                return same if formula.operator == "==" else plan.op("Not", (same,), "works")
        return self._truth(expand(formula))

    def _mode_of(self, name: str) -> str:
        return self._mode if self._inputs[name].dtype in _IMAGES else "constant"

    def _pad(self, name: str, amounts: Sequence[Dim]) -> list[OnnxNode]:
        """Return the nodes that pad an input; all others that use it then use what they make."""
        value, plan = self._inputs[name], self._plan
        if value.dtype in _NO_NUMBERS:
            raise BindingError(f"{name} holds no numbers that can be padded", "leave the padding out")
        pads, mode = plan.vector([*[0] * len(amounts), *amounts]), self._mode_of(name)
        if value.dtype in _PADDED:
            nodes = [plan.node("Pad", (name, pads), f"{name}_padded", mode=mode)]
        else:
            nodes = [plan.node("Cast", (name,), f"{name}_cast", to=_INT32 if value.dtype in _INTEGERS else _FLOAT)]
            nodes.append(plan.node("Pad", (nodes[0].outputs[0], pads), f"{name}_longer", mode=mode))
            nodes.append(plan.node("Cast", nodes[1].outputs, f"{name}_padded", to=value.dtype))
        padded = nodes[-1].outputs[0]
        _rename(self._raw.graph, name, padded)
        old = value.shape or ()
        new = [replace_symbols(d, self._padded) for d in old]
        axes = [t for t in self._targets if t.symbol in symbols_of(old)]
        with_ = {"constant": "zeros", "edge": "its last row", "reflect": "its last rows, backwards"}[mode]
        why = " and ".join(f"{t.symbol} to {t}" + t.works_text for t in axes)
        self._edits.append(Edit(padded, "Pad", name, _text(old), _text(new), f"with {with_}: {why}"))
        return nodes

    def _shuffled(self, name: str) -> str:
        """Return a node before an output that may put rows of the padding before others; empty if there is none."""
        waiting, seen = [name], set[str]()
        while waiting:
            name = waiting.pop()
            if name in self._makers and name not in seen:
                node = self._makers[name]
                seen.update(node.output)
                for inner in with_inner(node):
                    waiting += inner.input
                    if self._shuffles(inner):
                        return str(inner.name or inner.output[0])
        return ""

    def _shuffles(self, node: Any) -> bool:
        shape, *inputs = (self._shapes.get(name) for name in (node.output[0], *node.input))
        if node.op_type in _SHUFFLING or (node.domain, node.op_type) in self._functions:
            return True
        if shape is None or not any(map(self._is_padded, shape)):
            return False
        match node.op_type:
            case "Concat":  # what is before the padded rows stays before them
                axis = next(a.i for a in node.attribute if a.name == "axis")
                return any(dims is None or self._is_padded(dims[axis]) for dims in inputs[:-1])
            case "Reshape" | "Flatten":
                return inputs[0] is None or not all(
                    self._leads(inputs[0], shape, n) for n, dim in enumerate(shape) if self._is_padded(dim)
                )
            case "Tile":
                return inputs[0] is None or any(
                    self._is_padded(a) and a != b for a, b in zip(inputs[0], shape, strict=True)
                )
            case "Slice":
                steps = self._constants.get(node.input[4]) if len(node.input) > 4 else ()
                return steps is None or not all(isinstance(step, int) and step > 0 for step in steps)
        return False

    def _is_padded(self, dim: Dim) -> bool:
        return not self._padded.keys().isdisjoint(symbols_of((dim,)))

    def _leads(self, before: Sequence[Dim], after: Sequence[Dim], axis: int) -> bool:
        """Return whether a padded axis comes first of those that an axis of a reshaped tensor joins.

        It may also be one of those that were joined before, in this order.
        """
        for n, size in enumerate(before):
            if size == 1:
                continue
            for first in range(axis + 1):
                if multiply(1, *before[:n]) == multiply(1, *after[:first]) and self._is_padded(size):
                    runs = (tuple(after[first:last]) for last in range(axis + 1, len(after) + 1))
                    if first == axis or any(run in self._merged and multiply(*run) == size for run in runs):
                        return True
        return False

    def _runs(self, node: Any) -> Iterator[tuple[Dim, ...]]:
        """Yield the axes that a reshape joins to one, in order, for each of its axes."""
        before, after = (self._shapes.get(n) for n in (*node.input[:1], node.output[0])) if node.input else (None, None)
        if node.op_type in ("Reshape", "Flatten") and before is not None and after is not None:
            for axis, size in enumerate(after):
                for n in range(len(before)):
                    if multiply(1, *before[:n]) == multiply(1, *after[:axis]):
                        runs = (tuple(before[n:last]) for last in range(n + 2, len(before) + 1))
                        yield from (run for run in runs if multiply(*run) == size and self._is_padded(size))

    def _crops(self, name: str, dims: Sequence[Dim]) -> Iterator[Crop]:
        """Yield how to crop an output; note the axes for which there is no way."""
        for axis, dim in enumerate(dims):
            padded = [t for t in self._targets if t.symbol in symbols_of((dim,))]
            if not self._data.isdisjoint(symbols_of((dim,))):
                self._notes.append(f"{name} is not cropped: data decide the size of axis {axis}")
            elif padded and self._shuffling[name]:
                self._notes.append(f"{name} is not cropped: {self._shuffling[name]} may join rows in another order")
            elif padded:
                crop = _crop(axis, dim, padded[0]) if len(symbols_of((dim,))) == 1 else None
                if crop is None:
                    sizes = " and ".join(t.symbol.name for t in padded)
                    self._notes.append(f"{name} is not cropped: axis {axis}, {dim}, is not in proportion to {sizes}")
                elif crop.above:
                    yield crop

    def _slice(self, name: str, crops: Sequence[Crop]) -> OnnxNode:
        plan, dims = self._plan, self._outputs[name]
        whole = plan.name(f"{name}_whole")
        _rename(self._raw.graph, name, whole)
        new = [replace_symbols(d, self._padded) for d in dims]
        old, ends = _text(new), []
        for crop in crops:
            size = symbol(plan.name(f"{name}_{crop.axis}"))
            plan.sources[size] = (whole, crop.axis)
            own, padding = crop.target.symbol, crop.target.padding
            ends.append(crop.rest(size, add(own, padding), own))
            new[crop.axis] = crop.rest(new[crop.axis], crop.target.padded, own)
        inputs = [whole, *(plan.vector(dims) for dims in ([0] * len(crops), ends, [c.axis for c in crops]))]
        self._edits.append(Edit(whole, "Slice", name, old, _text(new), "what belongs to the padding is cut off"))
        node = plan.node("Slice", inputs, f"{name}_cropped")
        node.raw.output[0] = name
        return node


def _crop(axis: int, size: Dim, target: Target) -> Crop | None:
    """Return how an axis of an output is cropped; None if its size does not rise by the same amount again and again.

    If it rises by ``rise`` on every ``period`` rows of the padded axis, it has ``rise/period`` rows for each of them.
    """
    known, members = target.symbol, target._replace(most=None).members

    def at(number: int) -> int:
        return value_at(size, {known: number}) or 0

    for period in range(target.step, _MOST_STEP + 1, target.step):
        first, second, third = (at(target.least + n * period) for n in range(3))
        rise = second - first
        later = add(replace_symbols(size, {known: add(known, period)}), -rise)
        if rise >= 0 and third - second == rise and _is_within(members, equal(later, size)):
            crop = Crop(axis, target, rise // gcd(rise, period), period // gcd(rise, period))
            # From the least size on, these are the same again after each period, but for the rise.
            padded = ((n, value_at(target.next, {known: n}) or 0) for n in range(1, target.least + period + 1))
            return crop._replace(least=min(value_at(crop.rest(at(p), p, n), {}) or 0 for n, p in padded))
    return None


def _is_within(members: SizeSet, formula: Formula) -> bool:
    narrowed = narrowed_set(members, formula)
    return narrowed is not None and members <= narrowed


def _rename(graph: Any, old: str, new: str) -> None:
    """Rename a value of the main graph wherever nodes use it, and where they make it."""
    for node in graph.node:
        for names in (node.input, node.output):
            for position, name in enumerate(names):
                if name == old:
                    names[position] = new
        for inner in graphs_in(node):
            _rename(inner, old, new)
            for output in inner.output:
                if output.name == old:
                    output.name = new


def _text(dims: Sequence[Dim]) -> str:
    return f"[{', '.join(map(str, dims))}]"
