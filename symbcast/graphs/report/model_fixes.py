"""Suggest one fix for a condition: from the node's requirement, and from what fixes the sizes."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from symbcast.answers.explanation.size_fixes import MOST_SYMBOLS, SizeFixes
from symbcast.core.algebra.formulas import Formula, all_of
from symbcast.core.algebra.symbols import sequences_of
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import prose_list, sizes_text
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.program import Program, assumptions_with
from symbcast.core.solver.decision import AssumptionSet
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.graphs.report.blame import NodeBlame, content_of
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INTEGERS

if TYPE_CHECKING:
    from symbcast.graphs.graph import Graph, Node
    from symbcast.graphs.model import CheckedModel
    from symbcast.graphs.walking.node_call import GraphScope


# An integer constant of so many elements may be the paddings, the ends or the repeats of all axes.
_LISTED = 16
# How many nodes before a node are searched for the constant that fixes a size.
_LOOKED_AT = 60


class ModelConstant(NamedTuple):
    """A constant in the model: an initializer, or the output of a Constant node.

    ``is_weight`` says that it was found as an operand of a product: its sizes are the widths of a layer.
    """

    name: str
    dims: tuple[int, ...]
    is_initializer: bool = True
    is_weight: bool = False

    def __str__(self) -> str:
        kind = "initializer" if self.is_initializer else "constant"
        return f"{kind} {self.name} of shape {self.dims}"


# Operators that sum over an axis of a weight: matrix products, convolutions, recurrent layers, in all formats.
_PRODUCT = re.compile(
    r"matmul|gemm|conv(?!ert)|\bmm\b|bmm|addmm|(?<!ize)linear\b|\bdot|einsum|lstm|gru|rnn|attention|connected",
    re.IGNORECASE,
)

# Operators whose output has all elements of their first input, and no others.
_REARRANGING = frozenset(("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))


class SizeSources:
    """The sources of sizes and constants in one model."""

    def __init__(self, graph: Graph, inputs: Mapping[str, Dims | None], values: GraphScope) -> None:
        self._graph = graph
        self._inputs = inputs
        self._values = values

    def axis_of(self, symbol: Symbol) -> tuple[str, int] | None:
        """Return the first input with an axis of this size, and the axis."""
        for name, shape in self._inputs.items():
            for axis, dim in enumerate(shape or ()):
                if dim == symbol:
                    return name, axis
        return None

    def held(self, name: str) -> ModelConstant | None:
        """Return the constant with the given name."""
        return self._constants.get(name)

    def before(self, node: Node, size: int) -> ModelConstant | None:
        """Return the nearest constant before a node that has an axis of the given size."""
        pending = deque((name, node) for name in self._data_of(node))
        seen = {name for name, _ in pending}
        for _ in range(_LOOKED_AT):
            if not pending:
                return None
            name, user = pending.popleft()
            constant = self._constants.get(name)
            if constant is not None and size in constant.dims:
                return constant._replace(is_weight=_PRODUCT.search(user.op_type) is not None)
            maker = self._makers.get(name)
            if maker is not None:
                following = [n for n in self._data_of(maker) if n not in seen]
                seen.update(following)
                pending.extend((n, maker) for n in following)
        return None

    def _data_of(self, node: Node) -> Iterator[str]:
        """Yield the operands of a node but for short lists of integers after the first: paddings meet no axis."""
        for position, name in enumerate(node.inputs):
            value = self._values.find(name) if position and name in self._constants else None
            is_short = value is not None and value.dtype in INTEGERS and prod(self._constants[name].dims) <= _LISTED
            if not is_short:
                yield name

    def rearranged(self, node: Node) -> Iterator[Node]:
        """Yield the nodes after a node that get its elements, all of them, only arranged in another way."""
        names = {*node.outputs}
        for later in self._graph.nodes:
            if later.op_type in _REARRANGING and later.inputs[:1] and later.inputs[0] in names:
                names.update(later.outputs)
                yield later

    @cached_property
    def _makers(self) -> dict[str, Node]:
        return {name: node for graph in self._graph.and_inner() for node in graph.nodes for name in node.outputs}

    @cached_property
    def _constants(self) -> dict[str, ModelConstant]:
        return {constant.name: constant for graph in self._graph.and_inner() for constant in _model_constants(graph)}


def _model_constants(graph: Graph) -> Iterator[ModelConstant]:
    for name, value in graph.constants.items():
        if value.shape is not None:
            dims = tuple(int(d) for d in value.shape if isinstance(d, int))
            yield ModelConstant(name, dims, is_initializer=graph.has_initializers)
    for node in graph.nodes:
        if node.held is not None and node.outputs:
            yield ModelConstant(node.outputs[0], node.held, is_initializer=False)


# Find other values for the sizes that a caller binds, if the model runs at no sizes with them.


# How many sizes are left free, one at a time; each costs another walk through the model.
_MOST_FREE_SIZES = 4


class Rebinding:
    """Walks through the model with one bound size left free, so that the whole model runs at the suggested sizes."""

    def __init__(self, checked: CheckedModel) -> None:
        self._checked = checked
        self.bound: Mapping[str, int] = checked.known_inputs.bind
        # Results by the names of the sizes that stayed bound; they are reused, because several nodes may clash.
        self._walked: dict[tuple[str, ...], Program] = {}

    def instead(self, clashing: Collection[int]) -> tuple[Symbol, int, SizeSet] | None:
        """Return a bound size, its value, and the values at which the model runs if the other sizes stay bound.

        ``clashing`` are the sizes that clash: names bound to one of them are tried first.
        """
        names = list(self.bound)[::-1]  # of two sizes that clash, suggest changing the second to the first
        names.sort(key=lambda name: self.bound[name] not in clashing)
        for name in names[:_MOST_FREE_SIZES]:
            env = self._with({n: size for n, size in self.bound.items() if n != name})
            if env.verdict in (Verdict.SOMETIMES, Verdict.ALWAYS):
                members = _members(env, name)
                if members:
                    return next(s for s, n in self._checked.env.shown.items() if n == name), self.bound[name], members
        return None

    def other_sizes(self) -> str:
        """Return the advice to change all bound sizes, with the smallest values that work; empty if none work."""
        if not self.bound:
            return ""
        witness = self._with({}).witness()
        return "" if witness is None else f"bind other sizes, such as {sizes_text(dict(self._of(witness)))}"

    def _with(self, bind: Mapping[str, int]) -> Program:
        names = tuple(bind)
        if names not in self._walked:
            self._walked[names] = self._checked.again(self._checked.known_inputs._replace(bind=bind)).conditions.inputs
        return self._walked[names]

    def _of(self, witness: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        yield from ((name, size) for name, size in witness.items() if name in self.bound)


def _members(env: Program, name: str) -> SizeSet | None:
    """Return the possible values of a size; if they depend on other sizes, the smallest."""
    symbol = next(s for s, n in env.shown.items() if n == name)
    clauses = [c for c in env.clauses if symbol in symbols_in(c)]
    known = assumptions_with(env)
    members = (
        narrowed_set(known.domains.get(symbol, ALL), all_of(clauses))
        if all(set(symbols_in(c)) == {symbol} for c in clauses)
        else None
    )
    if members is None:
        witness = env.witness()
        return None if witness is None else SizeSet.of([witness[name]])
    return members


# The operators that take sizes as an input, and what that input is called.
SIZE_LISTS = {
    "Broadcast": "target shape",
    "Expand": "shape",
    "Interpolate": "sizes",
    "Reshape": "shape",
    "Resize": "sizes",
    "Split": "split",
    "Tile": "repeats",
    "VariadicSplit": "lengths",
}


class FixSuggestions(SizeFixes[NodeBlame]):
    """Finds suggestions for one model."""

    def __init__(self, checked: CheckedModel) -> None:
        super().__init__(checked.env)
        self._origins = checked.asker.origins
        self._values = checked.walk.top
        self._sources = SizeSources(checked.model.graph, checked.inputs.named, self._values)
        self._rebinding = Rebinding(checked)
        self._assumed, self._least = checked.assumptions, checked.min_size
        self._are_shapes_given = bool(checked.known_inputs.shapes)

    def best(self, clause: Formula, blamed: NodeBlame | None) -> str:
        """Return the first suggestion that fits; empty if there is none."""
        symbols = list(symbols_in(clause))
        if not symbols:
            if self._are_shapes_given:
                return "give other shapes, or change the model there"
            return "no input sizes help: change the model there"
        if any(s in self._origins for s in symbols):
            return self._of_data(symbols)
        if sequences_of(symbols):
            return self._example(clause, symbols)
        suggestion = self._baked_in(clause, symbols, blamed)
        if not suggestion and len(symbols) == 1:
            suggestion = self._of_one(clause, symbols[0], blamed)
        elif not suggestion:
            suggestion = self._of_several(clause, symbols)
        return suggestion or self._example(clause, symbols)

    def of_clash(self, clause: Formula, blamed: NodeBlame | None, clashing: Collection[int], is_alone: bool) -> str:
        """Return the first suggestion that fits if a model runs at no sizes: another value for a fixed size.

        ``clashing`` are the sizes that do not fit together; ``is_alone`` says that the node clashes with no other node.
        """
        rebound = self._rebinding.instead(clashing)
        if rebound is not None:
            return self._in_place(*rebound)
        found_here = self._released(clause) or self._rebinding.other_sizes()
        if not found_here and is_alone and self._assumed and symbols_in(clause):
            return f"assume less than {prose_list(self._assumed, limit=4)}: no sizes satisfy all of that and fit here"
        return found_here or self.best(clause, blamed)

    def _released(self, clause: Formula) -> str:
        """Return the value that a size assumed to be a number would need, with the other assumptions unchanged."""
        symbols = list(symbols_in(clause))
        if len(symbols) > MOST_SYMBOLS or not all(s in self.fixed for s in symbols):
            return ""
        for s in reversed(symbols):
            others = {other: self.fixed[other] for other in symbols if other != s}
            members = narrowed_set(own_set(s, self._least), replace_in_formula(clause, others))
            if members:
                return self._in_place(s, self.fixed[s], members)
        return ""

    def _in_place(self, symbol: Symbol, size: int, members: SizeSet) -> str:
        return f"give {self._called(symbol)} {self._size_in(members)} in place of {size}"

    @cached_property
    def fixed(self) -> Mapping[Symbol, int]:
        """The sizes that assumptions fix at a number."""
        values = {s: self._domain(s).only for s in self._env.shown}
        return {s: size for s, size in values.items() if size is not None}

    def _of_data(self, symbols: Sequence[Symbol]) -> str:
        texts = [f"{self._namer.dim(s)} is {self._origins[s]}" for s in symbols if s in self._origins]
        return f"the data must satisfy this: {prose_list(texts, limit=4)}"

    # Numbers that an export baked in instead of symbolic sizes.

    def _baked_in(self, clause: Formula, symbols: Sequence[Symbol], blamed: NodeBlame | None) -> str:
        """Name the constant list of sizes that a node takes, such as the shape of a Reshape."""
        if blamed is None or blamed.place.op_type not in SIZE_LISTS:
            return ""
        pairs = zip(blamed.place.node.inputs, blamed.place.inputs, strict=True)
        for position, (name, value) in enumerate((n, v) for n, v in pairs if v is not None):
            numbers = content_of(position, value)
            if numbers and all(isinstance(d, int) for d in numbers):
                constant = self._sources.held(name)
                where = f"{'initializer' if constant and constant.is_initializer else 'constant'} {name}"
                fixed = self._what_is_fixed(clause, symbols)
                what = f"{fixed}: export it with that size dynamic" if fixed else "sizes: export it with them dynamic"
                others = prose_list([n for n in self._baked_after(blamed) if n != name], limit=4)
                also = f", and {others}, which {'fix' if ' and ' in others else 'fixes'} it too" if others else ""
                return f"the {SIZE_LISTS[blamed.place.op_type]} {list(numbers)} baked into {where} fixes {what}{also}"
        return ""

    def _baked_after(self, blamed: NodeBlame) -> Iterator[str]:
        """Yield the constant shapes that later nodes give all elements of a Reshape: each fixes how many there are."""
        if blamed.place.op_type != "Reshape":
            return
        for node in self._sources.rearranged(blamed.place.node):
            if node.op_type == "Reshape":
                value = self._values.find(node.inputs[1])
                numbers = None if value is None else content_of(1, value)
                if numbers and all(isinstance(d, int) and d > 0 for d in numbers):
                    yield node.inputs[1]

    def _what_is_fixed(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        """Return the size that a clause about only this size fixes to one value."""
        members = self._members(clause, symbols[0]) if len(symbols) == 1 else None
        return "" if members is None or members.only is None else f"{self._called(symbols[0])} at {members.only}"

    # One size.

    def _of_one_value(self, name: str, size: int, blamed: NodeBlame | None) -> str:
        """Return what to do about a size that has one value: a weight is as wide as it is, a table can be exported."""
        bound = next((n for n, value in self._rebinding.bound.items() if value == size), "")
        constant = None if bound else self._before(blamed, size)
        if constant is None:
            return f"give {name} the size {size}{f', to which {bound} is bound' if bound else ''}"
        if constant.is_weight:
            return f"give {name} the size {size}, as {constant} has"
        return f"{constant} fixes {name} at {size}: export it with a dynamic axis"

    def _why_at_most(self, size: int, blamed: NodeBlame | None) -> str:
        constant = self._before(blamed, size)
        return f": {constant} has no more" if constant else ""

    def _otherwise(self, members: SizeSet, blamed: NodeBlame | None) -> str:
        constant = None if members.greatest is None else self._before(blamed, members.greatest)
        is_stretched = members.first(3) == [1, members.greatest] and constant is not None and not constant.is_weight
        return f", or export {constant} with a dynamic axis" if is_stretched else ""

    def _before(self, blamed: NodeBlame | None, size: int) -> ModelConstant | None:
        return None if blamed is None or size == 1 else self._sources.before(blamed.place.node, size)

    # Several sizes.

    def _made_equal(self, size: Symbol, other_size: Symbol) -> str:
        place = self._sources.axis_of(size)
        other = self._sources.axis_of(other_size)
        same = place is not None and other is not None and place[0] == other[0] and place != other
        of = f"axis {place[1]}" if same and place is not None else self._place(size)
        return f"give {self._place(other_size)} the size of {of} ({self._equation(other_size, size)})"

    def _given(self, size: Symbol, value: Dim) -> str:
        return f"give {self._place(size)} the size {self._namer.dim(value)} ({self._equation(size, value)})"

    def _equation(self, left: Dim, right: Dim) -> str:
        return f"{self._namer.dim(left)} = {self._namer.dim(right)}"

    # Words for sizes.

    def _axis(self, symbol: Symbol) -> int | None:
        place = self._sources.axis_of(symbol)
        return None if place is None else place[1]

    def _place(self, symbol: Symbol) -> str:
        place = self._sources.axis_of(symbol)
        return self._namer.dim(symbol) if place is None else f"{place[0]} axis {place[1]}"

    def _called(self, symbol: Symbol) -> str:
        place = self._sources.axis_of(symbol)
        name = self._namer.dim(symbol)
        return name if place is None else f"{name} ({place[0]} axis {place[1]})"

    def _known(self, symbols: Sequence[Symbol], more: Sequence[Formula] = ()) -> AssumptionSet:
        # The assumptions about a model may link its sizes in any way, and there are few of them.
        return assumptions_with(self._env, more) if more else self._assumptions

    @cached_property
    def _assumptions(self) -> AssumptionSet:
        return assumptions_with(self._env)
