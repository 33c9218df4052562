"""Record the nodes' requirements on sizes in a `Program`, each with its node and reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.words import axis_text
from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import defined_join, join_members, subtract
from symbcast.core.algebra.bounds import Bounds, clear_quotients
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Comparison, Formula
from symbcast.core.algebra.symbols import AxisSequence, mentions_rest, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, Term, symbols_of, term
from symbcast.core.effort import EffortSpentError, budget_share
from symbcast.core.programs.arguments import Assumption
from symbcast.core.programs.operations import emission_of
from symbcast.core.programs.program import Program
from symbcast.core.rules import Joined, find_rule
from symbcast.core.rules.declaration import Constraint
from symbcast.core.shapes import Shape, any_shape_of
from symbcast.core.solver.evaluation import evaluated, replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.decided_terms import is_greatest
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import DimensionError
from symbcast.graphs.walking import facts
from symbcast.graphs.walking.facts import NoFacts, SizeFacts, TooLongError
from symbcast.operators.operator import Dims
from symbcast.operators.values.value import Value, known_dims

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node


# Locate a rule's condition on the axes of a node's operands.


def located_reason(inputs: Sequence[Value | None], parts: Sequence[Dims], constraint: Constraint) -> str:
    """Return a rule's reason for a requirement on parts of a node's inputs, with the axis if only one is concerned.

    Each part is a whole input or a run of adjacent axes, such as the batch axes of matrices.
    """
    origin = constraint.origin
    if origin.axis is None or not origin.rank:
        return constraint.reason
    axes = set()
    for part in (parts[n] for n in origin.operands):
        axis = origin.axis - (origin.rank - len(part))
        for whole in {v.shape for v in inputs if v is not None and v.shape is not None}:
            starts = [n for n in range(len(whole) - len(part) + 1) if whole[n : n + len(part)] == part]
            if axis >= 0 and part and len(starts) == 1:
                axes.add((starts[0] + axis - len(whole), len(whole)))
    if len({back for back, _ in axes}) != 1:
        return constraint.reason
    back, rank = max(axes)[0], max(rank for _, rank in axes)
    return f"on {axis_text(rank + back, rank)}, {constraint.reason}"


class NodePlace:
    """A node in a model: its display name and its input values.

    The name may be empty until it is asked for, as most are never shown: then ``naming`` calls `name_it`.
    """

    __slots__ = ("_name", "_naming", "inputs", "node", "op_type")

    def __init__(
        self,
        name: str,
        op_type: str,
        node: Node,
        inputs: Sequence[Value | None],
        naming: Callable[[], None] | None = None,
    ) -> None:
        self._name = name
        self._naming = naming
        self.op_type = op_type
        self.node = node
        self.inputs = inputs

    @property
    def name(self) -> str:
        """The display name, which no other place in the walk has."""
        if self._naming is not None:
            self._naming()
        return self._name

    def name_it(self, name: str) -> None:
        """Set the name."""
        self._name, self._naming = name, None

    @property
    def operands(self) -> tuple[tuple[str, Shape | None], ...]:
        """The given inputs by name, with their shapes."""
        pairs = zip(self.node.inputs, self.inputs, strict=True)
        return tuple((n, _shape(v)) for n, v in pairs if v is not None)


def _shape(value: Value) -> Shape | None:
    dims = known_dims(value)
    return None if dims is None else any_shape_of(dims)


class LowerBound(NamedTuple):
    """A lower bound of a size that a node requires, and the reason."""

    place: NodePlace
    formula: Comparison
    reason: str
    code: str


class RequirementReason(NamedTuple):
    """Why a node requires something: in words, the code if it comes from a rule, and the formula as stated."""

    text: str = ""
    code: str = ""
    formula: Formula = TRUE


def _number_of(dim: Dim) -> Dim:
    """Return a join's value if one of its members is a number other than 1, which the join must then equal."""
    numbers = [m for m in join_members(dim) if isinstance(m, int) and m != 1]
    return numbers[0] if numbers else dim


def _is_obvious(data: Dims, target: Dims) -> bool:
    """Return whether each size of the data is 1 or the target's, and all of the target are sizes."""
    lead = len(target) - len(data)
    return (
        lead >= 0
        and all(size >= 0 if isinstance(size, int) else type(size) is Symbol for size in target)
        and all(size in (1, target_size) for size, target_size in zip(data, target[lead:], strict=True))
    )


class SizeRequirements:
    """What operators require of sizes, in terms of one method; what the bounds show is not required."""

    bounds: Bounds

    def require(self, place: NodePlace, formula: Formula, reason: str, code: str = "") -> None:
        """Require a formula."""
        raise NotImplementedError

    def equal(self, place: NodePlace, left: Dim, right: Dim, reason: str) -> None:
        """Require that two sizes be equal."""
        if left is not right and left != right:
            self.require(place, formulas.equal(left, right), reason)

    def at_most(self, place: NodePlace, left: Dim, right: Dim, reason: str) -> None:
        """Require that one size be at most another."""
        if isinstance(left, int) and isinstance(right, int) and left <= right:
            return
        low = self.bounds.least(subtract(right, left))
        if low is None or low < 0:
            self.require(place, facts.bounded(left, right), reason)

    def is_size(self, place: NodePlace, dim: Dim, reason: str) -> None:
        """Require that a dimension be nonnegative."""
        if dim >= 0 if isinstance(dim, int) else dim.is_Symbol:
            return
        low = self.bounds.least(dim)
        if low is None or low < 0:
            needs = [formulas.at_most(0, dim)] if isinstance(dim, int) else formulas.definedness(dim)
            self.require(place, formulas.all_of(needs), reason)

    def is_positive(self, dims: Iterable[Dim]) -> bool:
        """Return whether all the given sizes are known to be at least 1."""
        return all(self.bounds.is_at_least(d, 1) for d in dims)


class Requirements(SizeRequirements):
    """The sizes of a model and the requirements on them.

    ``condition`` is the condition under which the current nodes run at all, such as those of a branch; their
    requirements are recorded under it.
    """

    def __init__(
        self, env: Program, runtime: str, bounds: Bounds, longest: int | None = None, *, is_plain: bool = False
    ) -> None:
        self.env = env
        # How many atoms a size may have that depends on a rare case; None if such cases get names instead.
        self.longest = longest
        # The runtime that the question is about, one of the front end's.
        self.runtime = runtime
        self.bounds = bounds
        # The nodes with requirements, by name.
        self.places: dict[str, NodePlace] = {}
        # The reason for a formula that a node requires.
        self.reasons: dict[tuple[str, Formula], RequirementReason] = {}
        # The sizes in the shapes of the inputs.
        self.inputs: tuple[Symbol, ...] = ()
        # The sequences of axes in the shapes of the inputs.
        self.sequences: frozenset[AxisSequence] = frozenset()
        # Descriptions of the sizes that no input's shape determines.
        self.origins: dict[Symbol, str] = {}
        # Upper bounds of sizes that data decide.
        self.limits: dict[Symbol, Formula] = {}
        # The upper bounds that are products, which are no assumptions.
        self.most: dict[Symbol, Dim] = {}
        # Those of `origins` that sizes may decide, in a way that was not analysed.
        self.undecided: set[Symbol] = set()
        # The sizes in the shapes and contents of the inputs, which are the same in every walk through the model.
        self.given: frozenset[Symbol] = frozenset()
        # The lower bounds that nodes, by name, require of given sizes.
        self.learned: dict[str, list[LowerBound]] = {}
        # Bounds from an earlier walk, required again when this walk reaches the node.
        self.foreknown: dict[str, list[LowerBound]] = {}
        # Sizes that equal one dimension if a formula holds, and another if it does not.
        self.cases: dict[Symbol, tuple[Formula, Dim, Dim]] = {}
        # Sizes that select a rare case where they are 0, each with the node to which it matters.
        self.zeros: dict[Dim, NodePlace] = {}
        # Whether the requirements may still be asked if they refute such a case.
        self.refutes_zeros = True
        # The symbols for the iteration numbers of loops, each with the number of the last iteration.
        self.turns: dict[Symbol, Dim] = {}
        # Nodes by name whose requirements cover only some iterations of a loop, and why.
        self.unfollowed: dict[str, str] = {}
        self.guards: tuple[Formula, ...] = ()
        self._known: set[tuple[Formula, tuple[Formula, ...]]] = set()
        # Facts that hold wherever the model runs, used to simplify sizes.
        self.facts = NoFacts() if is_plain else SizeFacts()
        self._joined: dict[tuple[Any, ...], Dims | None] = {}
        # How many times `zeros` was written.
        self._marks = 0
        # The names of sizes, each with the number for the next size of that name.
        self._numbers: dict[str, int] = {}

    def require(self, place: NodePlace, formula: Formula, reason: str, code: str = "") -> None:
        """Require that a formula hold; ``reason`` explains why, and ``code`` is the code of a rule's reason.

        A formula that contains an iteration number must hold in every iteration.
        """
        if self.turns and not self.turns.keys().isdisjoint(symbols_in(formulas.all_of([formula, *self.guards]))):
            self._require_in_turns(place, formula, reason, code)
            return
        put = formula
        formula = evaluated(self._cleared(formulas.with_dims(formula, self.facts.multiplied_out)))
        self._settle(formula)
        if formula == TRUE or (formula, self.guards) in self._known:
            return
        self._known.add((formula, self.guards))
        required = formulas.any_of([*map(formulas.negate, self.guards), formula]) if self.guards else formula
        if required == TRUE:
            return
        self.check_lengths(formulas.dims_of(required))
        self.places[place.name] = place
        self.reasons[place.name, required] = RequirementReason(reason, code, put)
        self.env.require(Assumption(required), origin=place.name)
        self.learn(place, facts.least_sizes(required, self.bounds), reason, code)
        self.learn(place, ((s, self.env.least(s)) for s in symbols_in(required)), reason, code)

    def check_lengths(self, dims: Iterable[Dim]) -> None:
        """Raise `TooLongError` if sizes are long, and short ones select cases that have no names."""
        if self.longest is None or not self.zeros or all(facts.long_ones([size]) for size in self.zeros):
            return
        if any(length > self.longest for length in facts.long_ones(dims)):
            raise TooLongError

    @property
    def knowledge(self) -> tuple[int, ...]:
        """Counts of what nodes learn here about sizes; while they stay the same, so does the knowledge."""
        return (self.bounds.revision, len(self.facts.whole), len(self.origins), len(self.undecided), len(self.turns))

    @property
    def recorded(self) -> tuple[int, ...]:
        """Counts of what nodes leave here that no other node reads."""
        return len(self._known), len(self._joined), len(self.limits), len(self.unfollowed), self._marks

    def mark_zero(self, size: Dim, place: NodePlace) -> None:
        """Record that a size selects a rare case where it is 0, and the node to which it matters."""
        self.zeros[size] = place
        self._marks += 1

    @property
    def names_cases(self) -> bool:
        """Whether a size that depends on a rare case gets a name, so that sizes made of it stay short."""
        return self.longest is None

    def _require_in_turns(self, place: NodePlace, formula: Formula, reason: str, code: str) -> None:
        """Require a formula in the first and last iteration; note it as unchecked if that does not cover the others."""
        required = formulas.any_of([*map(formulas.negate, self.guards), formula])
        turn = next(s for s in self.turns if s in symbols_in(required))
        if not facts.is_convex(required, turn):
            self.unfollowed[place.name] = "checked only in the first and last iterations of the loop"
        with self._unguarded():
            for end in (0, self.turns[turn]):
                self.require(place, replace_in_formula(required, {turn: end}), reason, code)

    def learn(self, place: NodePlace, lower_bounds: Iterable[tuple[Symbol, int]], reason: str, code: str = "") -> None:
        """Record lower bounds that sizes have wherever the model runs."""
        for size, least in lower_bounds:
            if self.bounds.learn(size, least) and size in self.given:
                self.learned.setdefault(place.name, []).append(
                    LowerBound(place, formulas.at_most(least, size), reason, code)
                )

    def start(self, inputs: tuple[Symbol, ...], elements: Mapping[Symbol, str], before: Requirements | None) -> None:
        """Record the given sizes, and the bounds that an earlier walk learned for them."""
        self.inputs = inputs
        self.sequences = frozenset(sequences_of(inputs))
        self.origins.update(elements)
        self.given = frozenset((*inputs, *elements))
        if before is not None:
            self.learned = before.learned
            self.foreknown = {name: list(learned) for name, learned in before.learned.items()}
            for size in self.given:
                self.bounds.learn(size, before.bounds.least(size) or 0)

    @property
    def learned_count(self) -> int:
        """The number of times that a larger lower bound of a given size was learned."""
        return sum(map(len, self.learned.values()))

    def restate_all(self) -> None:
        """Require the bounds that an earlier walk learned at nodes that this walk did not reach."""
        for learned in list(self.foreknown.values()):
            self.restate(learned[0].place)

    def restate(self, place: NodePlace) -> None:
        """Require the bounds that an earlier walk learned at this node."""
        if place.name in self.foreknown:
            with self._unguarded():
                for _, formula, reason, code in self.foreknown.pop(place.name):
                    self.require(place, formula, reason, code)

    @contextmanager
    def _unguarded(self) -> Iterator[None]:
        before, self.guards = self.guards, ()
        try:
            yield
        finally:
            self.guards = before

    def _settle(self, formula: Formula) -> None:
        """Record that a size must equal a number, or that a size decided by data must equal a known dimension."""
        if self.guards or not isinstance(formula, Comparison) or formula.operator != "==":
            return
        for size, value in ((formula.left, formula.right), (formula.right, formula.left)):
            if isinstance(size, Symbol) and (isinstance(value, int) or self._determines(value, size)):
                self.facts.fix(size, value)
                return

    def _determines(self, value: Term, size: Symbol) -> bool:
        return size in self.origins and self.origins.keys().isdisjoint(value.symbols())

    def written(self, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return the outputs of the current node with their sizes simplified under the requirements."""
        if self.facts.is_empty:
            return outputs
        simplified = [self._rewritten(value) for value in outputs]
        self.facts.forget_sizes()
        return simplified

    def _rewritten(self, value: Value) -> Value:
        shape = None if value.shape is None else self.facts.written(value.shape)
        return value if shape is value.shape else value.with_sizes(shape)

    def _cleared(self, formula: Formula) -> Formula:
        """Return a comparison without quotients known to be whole; record a quotient that it requires to be whole."""
        if not isinstance(formula, Comparison):
            return formula
        if not self.guards and self.facts.take(formula):
            return formula
        return clear_quotients(formula, self.facts.whole, self.bounds)

    def never(self, place: NodePlace, reason: str) -> None:
        """Record that a node cannot run at any sizes."""
        self.require(place, FALSE, reason)

    def broadcast(self, place: NodePlace, shapes: Sequence[Dims], rule: str, attributes: dict[str, Any]) -> Dims | None:
        """Broadcast shapes by one of the project's rules and return the output; None if no sizes work."""
        if rule == "numpy" and len(shapes) == 2 and (shapes[0] == shapes[1] or not shapes[1]):
            return shapes[0]
        if rule == "unidirectional" and _is_obvious(*shapes):
            return shapes[1]
        key = (rule, tuple(attributes.items()), tuple(shapes), self.guards)
        if key not in self._joined:
            self.places[place.name] = place
            output = self._broadcast(place, shapes, rule, attributes)
            # If a joined sequence is not 1, it still need not be the longest one.
            greatest = self._greatest_member
            self._joined[key] = output and tuple(d if mentions_rest(d) else greatest(_number_of(d)) for d in output)
        return self._joined[key]

    def _greatest_member(self, dim: Dim) -> Dim:
        """Return a join without the members that never exceed another one where the join has a value."""
        if isinstance(self.facts, NoFacts):
            return dim
        greatest = self.bounds.greatest_member(dim)
        members = join_members(greatest)
        if len(members) != 2:
            return greatest
        sets = {s: SizeSet.interval(self.bounds.least(s) or 0, None) for s in symbols_of(members)}
        return next((m for m, other in (members, members[::-1]) if is_greatest(m, other, sets)), greatest)

    def _broadcast(
        self, place: NodePlace, shapes: Sequence[Dims], rule: str, attributes: dict[str, Any]
    ) -> Dims | None:
        if not self.guards and self.turns.keys().isdisjoint(symbols_of([d for s in shapes for d in s])):
            dims = self.env.broadcast(tuple(map(any_shape_of, shapes)), rule, place.name, attributes).dims
            sizes = symbols_of([d for shape in shapes for d in shape if not isinstance(d, int) and not d.is_Symbol])
            self.learn(place, ((s, self.env.least(s)) for s in sizes), "the shapes must broadcast")
            return dims
        emission = emission_of(find_rule(rule, attributes), [any_shape_of(s) for s in shapes])
        for constraint in emission.constraints:
            self.require(
                place, constraint.requirement, located_reason(place.inputs, shapes, constraint), constraint.code
            )
        try:
            return tuple(defined_join(d) if isinstance(d, Joined) else d for d in emission.output)
        except DimensionError:
            return None  # two different numbers: already required to be equal above

    def symbol(self, name: str, text: str, least: int = 0, *, is_undecided: bool = False) -> Symbol:
        """Return a new size, named after ``name``, that no input's shape determines; ``text`` describes it.

        ``is_undecided`` says that the size is not proven to depend on data: sizes may decide it in a way not analysed.
        """
        base = re.sub(r"\W+", "_", name).strip("_") or "size"
        base = f"_{base}" if base[0].isdigit() else base
        size = self.env.named(self._free(base))
        self.origins[size] = text
        if is_undecided:
            self.undecided.add(size)
        self.bounds.learn(size, least)
        if least:
            self.assume(formulas.at_most(least, size))
        return size

    def limit(self, size: Symbol, most: Dim) -> None:
        """Assume that a size decided by data is at most a dimension; witnesses and counterexamples respect this."""
        if any(map(mentions_rest, (most,))):
            return
        elsewhere = [*map(formulas.negate, self.guards), *map(formulas.negate, formulas.definedness(most))]
        limit = formulas.any_of([*elsewhere, formulas.at_most(size, most)])
        self.limits[size] = limit
        # A product as the limit is used only for witnesses and counterexamples: as an assumption, it would make every
        # question about the size hard.
        if all(len(m) < 2 for m in term(most).coefficients):
            self.assume(limit)
        elif not elsewhere:
            self.most[size] = most

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether data are proven to decide a size."""
        return size in self.origins and size not in self.undecided and size not in self.cases

    def _free(self, base: str) -> str:
        """Return an unused name for a size: the given one, with a number appended if it is taken."""
        if not self._numbers:
            self._numbers.update((s.name, 2) for s in (*self.inputs, *self.origins))
        name = base
        while name in self._numbers:
            name = f"{base}_{self._numbers[base]}"
            self._numbers[base] += 1
        self._numbers[name] = 2
        return name

    def by_cases(  # noqa: PLR0913 - a name, and both cases
        self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim, *, least: int = 0
    ) -> Symbol:
        """Return a size that equals one dimension if a formula holds, and another if not; at least ``least``."""
        used = {*symbols_in(chosen), *symbols_of((yes, no))}
        is_undecided = not used.isdisjoint(self.turns) or not used.isdisjoint(self.undecided)
        size = self.symbol(name, text, least, is_undecided=is_undecided)
        self.cases[size] = chosen, yes, no
        # Where a guard fails, the dimensions need not be valid sizes; and a dimension without a value, such as the join
        # of conflicting sizes, must not constrain this size.
        elsewhere = [formulas.negate(guard) for guard in self.guards]
        for other, dim in ((formulas.negate(chosen), yes), (chosen, no)):
            self.assume(
                formulas.any_of(
                    [*elsewhere, other, *map(formulas.negate, formulas.definedness(dim)), formulas.equal(size, dim)]
                )
            )
        return size

    @contextmanager
    def under(self, formula: Formula) -> Iterator[None]:
        """Record requirements in this context only under a formula."""
        before = self.guards
        if self.is_known(formula) is not True:
            self.guards = (*before, formula)
        try:
            yield
        finally:
            self.guards = before

    @contextmanager
    def trying(self, walk: AbstractContextManager[None]) -> Iterator[None]:
        """Discard the requirements made in this context when it ends, along with everything that the walk discards."""
        before = self.env, self._known, self._joined, self.places, self.reasons, self.origins, self.cases
        bounds, known, numbers = self.bounds, self.facts, self._numbers
        undecided, limits, turns, unfollowed = self.undecided, self.limits, self.turns, self.unfollowed
        most, self.most = self.most, dict(self.most)
        self.limits, self.turns, self.unfollowed = dict(limits), dict(turns), dict(unfollowed)
        learned, foreknown = self.learned, self.foreknown
        self.learned, self.foreknown = {}, {}  # requirements that are discarded are not repeated either
        self.env = self.env.fork()
        self.bounds, self.facts, self._numbers = bounds.copy(), known.copy(), dict(numbers)
        self._known, self._joined = set(self._known), dict(self._joined)
        self.places, self.reasons = dict(self.places), dict(self.reasons)
        self.origins, self.cases, self.undecided = dict(self.origins), dict(self.cases), set(undecided)
        try:
            with walk:
                yield
        finally:
            self.env, self._known, self._joined, self.places, self.reasons, self.origins, self.cases = before
            self.bounds, self.facts, self._numbers, self.undecided = bounds, known, numbers, undecided
            self.limits, self.most, self.turns, self.unfollowed = limits, most, turns, unfollowed
            self.learned, self.foreknown = learned, foreknown

    def assume(self, formula: Formula) -> None:
        """Assume a formula."""
        self.env.assume(Assumption(formula))

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, using only numbers and bounds."""
        simplified = evaluated(formula)
        if simplified == TRUE or simplified in self.guards:
            return True
        if simplified == FALSE or formulas.negate(simplified) in self.guards:
            return False
        if isinstance(simplified, AllOf | AnyOf):
            decides = isinstance(simplified, AnyOf)
            parts = {self.is_known(part) for part in simplified.parts}
            return decides if decides in parts else None if None in parts else not decides
        return self._by_bounds(simplified)

    def _by_bounds(self, formula: Formula) -> bool | None:
        if not isinstance(formula, Comparison):
            return None
        is_at_least = self.bounds.is_at_least
        less, more = subtract(formula.right, formula.left), subtract(formula.left, formula.right)
        match formula.operator:
            case "==" | "!=":
                return formula.operator == "!=" if is_at_least(less, 1) or is_at_least(more, 1) else None
            case "<=":
                return True if is_at_least(less, 0) else False if is_at_least(more, 1) else None
            case "<":
                return True if is_at_least(less, 1) else False if is_at_least(more, 0) else None


# Rare cases that the requirements of a model refute: sizes that are 0 at no input sizes at which it runs.


_REFUTED = 600_000
# Units of effort for one question at the end of a walk, and for one at a node.
_REFUTED_AT_NODE = 300_000
_REASON = "the model runs at no smaller sizes"


def learn_positive(asker: Requirements, size: Dim, place: NodePlace) -> bool:
    """Return whether the requirements so far show that a size, which selects a case where it is 0, is not 0.

    Nodes that follow have a short size then. A question that little effort does not decide is the last one.
    """
    bounds = _open_bounds(asker, size) if size in asker.zeros and asker.refutes_zeros else []
    if not bounds:
        return False
    # At the reshape itself: while the case of size 0 of each level was carried to the end, a chain of seven reshapes by
    # 3 had a condition of 40,100 characters, and the question about all of them was too hard.
    verdict = _verdict_where(asker, formulas.equal(size, 0), _REFUTED_AT_NODE)
    asker.refutes_zeros = verdict is not Verdict.UNKNOWN
    if verdict is Verdict.NEVER:
        asker.learn(place, bounds, _REASON)
    return verdict is Verdict.NEVER


def learn_from_refuted(asker: Requirements, runs_nowhere: Callable[[Assumption], bool]) -> None:
    """Learn lower bounds of input sizes from sizes that are 0 in no case in which the model runs.

    Usually all of them are: that is one question. If it is too hard, ``runs_nowhere`` walks through the model where an
    assumption holds, and returns whether it is shown to run at no such sizes: with the rare case as the only one,
    sizes are short. If the model runs in some of the cases, they are refuted one by one.
    """
    cases: dict[Symbol, tuple[int, NodePlace]] = {}
    for size, place in asker.zeros.items():
        for symbol, low in _open_bounds(asker, size):
            if low > cases.get(symbol, (0, place))[0]:
                cases[symbol] = low, place
    if not cases:
        return
    # One question about all bounds: 28 sizes of a CoAtNet take 1.6 s so, and 4.6 s one by one.
    match _verdict_where(
        asker, formulas.any_of(formulas.at_most(symbol, low - 1) for symbol, (low, _) in cases.items())
    ):
        case Verdict.SOMETIMES | Verdict.ALWAYS:
            _learn_one_by_one(asker)
            return
        case Verdict.UNKNOWN:
            refuted = {
                s: case for s, case in cases.items() if runs_nowhere(Assumption(formulas.at_most(s, case[0] - 1)))
            }
        case Verdict.NEVER:
            refuted = cases
    for symbol, (low, place) in refuted.items():
        asker.learn(place, [(symbol, low)], _REASON)


def _learn_one_by_one(asker: Requirements) -> None:
    """Refute each case by itself, until one is not refuted."""
    # The last sizes come first: they are usually the smallest, and refute the cases of earlier ones.
    for size, place in reversed(asker.zeros.items()):
        bounds = _open_bounds(asker, size)
        if bounds and _verdict_where(asker, formulas.equal(size, 0)) is not Verdict.NEVER:
            return
        asker.learn(place, bounds, _REASON)


def _open_bounds(asker: Requirements, size: Dim) -> list[tuple[Symbol, int]]:
    """Return the bounds of input sizes where a size is not 0; none if it is known not to be 0."""
    return [] if asker.bounds.is_at_least(size, 1) else facts.positive_sizes(size, asker.bounds, asker.given)


def _verdict_where(asker: Requirements, formula: Formula, effort: int = _REFUTED) -> Verdict:
    """Return whether a model runs where a formula holds, as far as little effort decides that."""
    env = asker.env.fork()
    with suppress(EffortSpentError), budget_share(effort):
        env.require(Assumption(formula))
        return env.decided_verdict
    return Verdict.UNKNOWN
