"""What the nodes of a model ask of sizes: told to a `ShapeEnv`, and kept with the node that asks it and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.public.env import ShapeEnv
from symbcast.core.algebra.arithmetic import defined_join, join_members, subtract
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.sequences import mentions_rest, sequences_of
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import symbols_of, term
from symbcast.core.broadcasting import Joined, find_rule
from symbcast.core.logic.definedness import definedness
from symbcast.core.logic.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Formula,
    all_of,
    any_of,
    at_most,
    equal,
    negate,
)
from symbcast.core.program.operations.operation import emission_of
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.shapes import Shape, any_shape_of
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.errors import DimensionError
from symbcast.graphs.requirements.least_sizes import least_sizes
from symbcast.graphs.requirements.location import located_reason
from symbcast.graphs.requirements.settled import Settled, bounded, cleared
from symbcast.graphs.requirements.turns import is_convex
from symbcast.graphs.values.value import Value, sizes_known
from symbcast.operators.context import evaluated

if TYPE_CHECKING:
    from symbcast.core.algebra.sequences import AxisSequence
    from symbcast.core.algebra.terms import Dim, Term
    from symbcast.graphs.graph import Node
    from symbcast.graphs.values.value import Dims


class Place(NamedTuple):
    """A node in a model: the name that it is told by, and what it had before it."""

    name: str
    op_type: str
    node: Node
    inputs: Sequence[Value | None]

    @property
    def operands(self) -> tuple[tuple[str, Shape | None], ...]:
        """The inputs that are given, by name, with their shapes."""
        pairs = zip(self.node.inputs, self.inputs, strict=True)
        return tuple((n, _shape(v)) for n, v in pairs if v is not None)


def _shape(value: Value) -> Shape | None:
    dims = sizes_known(value)
    return None if dims is None else any_shape_of(dims)


class Learned(NamedTuple):
    """How large a size is at least, as a node asks it, and why."""

    place: Place
    formula: Comparison
    reason: str
    code: str


class Reason(NamedTuple):
    """Why a node asks something: in words, as the code of a reason where a rule asks it, and what, as it was put."""

    text: str = ""
    code: str = ""
    formula: Formula = TRUE


def _number_of(dim: Dim) -> Dim:
    """Return a join with a number other than 1 in it as that number: it is this where it has a value."""
    numbers = [m for m in join_members(dim) if isinstance(m, int) and m != 1]
    return numbers[0] if numbers else dim


class Asker:
    """The sizes of a model and what is asked of them.

    ``condition`` is what holds where the nodes at hand run at all, such as those of a branch; what they ask is asked
    under it.
    """

    def __init__(self, env: ShapeEnv, runtime: str, bounds: Bounds) -> None:
        self.env = env
        self.runtime = runtime
        """What is asked about, of those that the front end tells apart."""
        self.bounds = bounds
        self.places: dict[str, Place] = {}
        """The nodes that asked something, by name."""
        self.reasons: dict[tuple[str, Formula], Reason] = {}
        """Why a node asks a formula."""
        self.inputs: tuple[Symbol, ...] = ()
        """The sizes in the shapes of the inputs."""
        self.sequences: frozenset[AxisSequence] = frozenset()
        """The sequences of axes in the shapes of the inputs."""
        self.origins: dict[Symbol, str] = {}
        """What the sizes are that no input's shape determines."""
        self.limits: dict[Symbol, Formula] = {}
        """How large sizes that data decide are at most."""
        self.undecided: set[Symbol] = set()
        """Those of them that sizes may decide, in a way that was not followed."""
        self.given: frozenset[Symbol] = frozenset()
        """The sizes in the shapes and contents of the inputs: those that every walk through the model has."""
        self.learned: dict[str, list[Learned]] = {}
        """How large nodes, by name, ask given sizes to be."""
        self.foreknown: dict[str, list[Learned]] = {}
        """What an earlier walk learned, and is to be asked again where the walk comes to the node."""
        self.cases: dict[Symbol, tuple[Formula, Dim, Dim]] = {}
        """Sizes that are one dimension where a formula holds, and another one where it does not."""
        self.turns: dict[Symbol, Dim] = {}
        """What stands for the number of a turn of a loop, and the number of the last turn."""
        self.unfollowed: dict[str, str] = {}
        """Nodes by name whose requirements were asked of some turns of a loop only, and why."""
        self.guards: tuple[Formula, ...] = ()
        self._known: set[tuple[Formula, tuple[Formula, ...]]] = set()
        self.settled = Settled()
        """What holds wherever the model runs, by which sizes are written."""
        self._joined: dict[tuple[Any, ...], Dims | None] = {}
        self._numbers: dict[str, int] = {}
        """The names of sizes, each with the number that another size of the name is to have."""

    def require(self, place: Place, formula: Formula, reason: str, code: str = "") -> None:
        """Ask that a formula hold; ``reason`` says why in words, ``code`` is that of a rule's reason.

        What speaks of the number of a turn must hold in every turn.
        """
        if self.turns and not self.turns.keys().isdisjoint(symbols_in(all_of([formula, *self.guards]))):
            self._require_in_turns(place, formula, reason, code)
            return
        put = formula
        formula = evaluated(self._cleared(formula))
        self._settle(formula)
        if formula == TRUE or (formula, self.guards) in self._known:
            return
        self._known.add((formula, self.guards))
        asked = any_of([*map(negate, self.guards), formula]) if self.guards else formula
        if asked == TRUE:
            return
        self.places[place.name] = place
        self.reasons[place.name, asked] = Reason(reason, code, put)
        self.env.require(Assumption(asked), origin=place.name)
        self._learn(place, least_sizes(asked, self.bounds), reason, code)
        self._learn(place, ((s, self.env.least(s)) for s in symbols_in(asked)), reason, code)

    def _require_in_turns(self, place: Place, formula: Formula, reason: str, code: str) -> None:
        """Ask what must hold in every turn of a loop: in the first and the last, between which it is as there."""
        asked = any_of([*map(negate, self.guards), formula])
        turn = next(s for s in self.turns if s in symbols_in(asked))
        if not is_convex(asked, turn):
            self.unfollowed[place.name] = "not checked in every turn of the loop, but in the first and the last"
        with self._unguarded():
            for end in (0, self.turns[turn]):
                self.require(place, put_in(asked, {turn: end}), reason, code)

    def _learn(self, place: Place, found: Iterable[tuple[Symbol, int]], reason: str, code: str = "") -> None:
        """Take in how large sizes are at least wherever the model runs."""
        for size, least in found:
            if self.bounds.learn(size, least) and size in self.given:
                self.learned.setdefault(place.name, []).append(Learned(place, at_most(least, size), reason, code))

    def start(self, inputs: tuple[Symbol, ...], held: Mapping[Symbol, str], before: Asker | None) -> None:
        """Take in the sizes that are given, and what an earlier walk learned of them."""
        self.inputs = inputs
        self.sequences = frozenset(sequences_of(inputs))
        self.origins.update(held)
        self.given = frozenset((*inputs, *held))
        if before is not None:
            self.learned = before.learned
            self.foreknown = {name: list(found) for name, found in before.learned.items()}
            for size in self.given:
                self.bounds.learn(size, before.bounds.least(size) or 0)

    @property
    def learned_count(self) -> int:
        """How often it was learned that a given size is larger than was known."""
        return sum(map(len, self.learned.values()))

    def restate_all(self) -> None:
        """Ask what an earlier walk learned at nodes to which this one did not come."""
        for found in list(self.foreknown.values()):
            self.restate(found[0].place)

    def restate(self, place: Place) -> None:
        """Ask, where a node did so in an earlier walk, that sizes be as large as was learned there."""
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
        """Take in a size that is required to be a number, or one that is data and required to be a known one."""
        if self.guards or not isinstance(formula, Comparison) or formula.operator != "==":
            return
        for size, value in ((formula.left, formula.right), (formula.right, formula.left)):
            if isinstance(size, Symbol) and (isinstance(value, int) or self._determines(value, size)):
                self.settled.fix(size, value)
                return

    def _determines(self, value: Term, size: Symbol) -> bool:
        return size in self.origins and self.origins.keys().isdisjoint(value.symbols())

    def written(self, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return the outputs of the node at hand, their sizes written by what is required."""
        if self.settled.is_empty:
            return outputs
        found = [self._rewritten(value) for value in outputs]
        self.settled.forget_sizes()
        return found

    def _rewritten(self, value: Value) -> Value:
        shape = None if value.shape is None else self.settled.written(value.shape)
        return value if shape is value.shape else value.with_sizes(shape)

    def _cleared(self, formula: Formula) -> Formula:
        """Return a comparison without quotients that were asked to be whole; take in one that this one asks of."""
        if not isinstance(formula, Comparison):
            return formula
        if not self.guards and self.settled.take(formula):
            return formula
        return cleared(formula, self.settled.whole, self.bounds)

    def equal(self, place: Place, left: Dim, right: Dim, reason: str) -> None:
        """Ask that two sizes be equal."""
        if left is not right and left != right:
            self.require(place, equal(left, right), reason)

    def at_most(self, place: Place, left: Dim, right: Dim, reason: str) -> None:
        """Ask that one size be at most another."""
        low = self.bounds.least(subtract(right, left))
        if low is None or low < 0:
            self.require(place, bounded(left, right), reason)

    def is_size(self, place: Place, dim: Dim, reason: str) -> None:
        """Ask that a dimension be none below 0."""
        if dim >= 0 if isinstance(dim, int) else dim.is_Symbol:
            return
        low = self.bounds.least(dim)
        if low is None or low < 0:
            needs = [at_most(0, dim)] if isinstance(dim, int) else definedness(dim)
            self.require(place, all_of(needs), reason)

    def never(self, place: Place, reason: str) -> None:
        """Say that a node can run at no sizes."""
        self.require(place, FALSE, reason)

    def broadcast(self, place: Place, shapes: Sequence[Dims], rule: str, attributes: dict[str, Any]) -> Dims | None:
        """Broadcast shapes by one of the project's rules and return the output; None where no sizes allow it."""
        if rule == "numpy" and len(shapes) == 2 and (shapes[0] == shapes[1] or not shapes[1]):
            return shapes[0]
        key = (rule, tuple(attributes.items()), tuple(shapes), self.guards)
        if key not in self._joined:
            self.places[place.name] = place
            found = self._broadcast(place, shapes, rule, attributes)
            # Of joined sequences one that is not 1 need not be the longest one.
            greatest = self.bounds.greatest_member
            self._joined[key] = found and tuple(d if mentions_rest(d) else greatest(_number_of(d)) for d in found)
        return self._joined[key]

    def _broadcast(self, place: Place, shapes: Sequence[Dims], rule: str, attributes: dict[str, Any]) -> Dims | None:
        if not self.guards and self.turns.keys().isdisjoint(symbols_of([d for s in shapes for d in s])):
            found = self.env.broadcast(*map(any_shape_of, shapes), rule=rule, origin=place.name, **attributes).dims
            sizes = symbols_of([d for shape in shapes for d in shape if not isinstance(d, int) and not d.is_Symbol])
            self._learn(place, ((s, self.env.least(s)) for s in sizes), "the shapes must broadcast")
            return found
        emission = emission_of(find_rule(rule, attributes), [any_shape_of(s) for s in shapes])
        for constraint in emission.constraints:
            self.require(
                place, constraint.requirement, located_reason(place.inputs, shapes, constraint), constraint.code
            )
        try:
            return tuple(defined_join(d) if isinstance(d, Joined) else d for d in emission.output)
        except DimensionError:
            return None  # two numbers that differ: asked above

    def symbol(self, name: str, text: str, least: int = 0, *, is_undecided: bool = False) -> Symbol:
        """Return a new size, named after ``name``, that no input's shape determines; ``text`` says what it is.

        ``is_undecided`` where it is not proven that data decide it: sizes may do so in a way that was not followed.
        """
        base = re.sub(r"\W+", "_", name).strip("_") or "size"
        base = f"_{base}" if base[0].isdigit() else base
        found = self.env.named(self._free(base))
        self.origins[found] = text
        if is_undecided:
            self.undecided.add(found)
        self.bounds.learn(found, least)
        if least:
            self.assume(at_most(least, found))
        return found

    def limit(self, size: Symbol, most: Dim) -> None:
        """Take for granted that a size which data decide is at most a dimension; evidence goes by it.

        Products are kept for evidence alone: a bound by one would make each question about the size a hard one.
        """
        if any(map(mentions_rest, (most,))):
            return
        elsewhere = [*map(negate, self.guards), *map(negate, definedness(most))]
        limit = any_of([*elsewhere, at_most(size, most)])
        self.limits[size] = limit
        if all(len(m) < 2 for m in term(most).coefficients):
            self.assume(limit)

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether it is proven that data decide a size."""
        return size in self.origins and size not in self.undecided and size not in self.cases

    def _free(self, base: str) -> str:
        """Return a name that no size has yet: with the next number, where that is taken."""
        if not self._numbers:
            self._numbers.update((s.name, 2) for s in (*self.inputs, *self.origins))
        name = base
        while name in self._numbers:
            name = f"{base}_{self._numbers[base]}"
            self._numbers[base] += 1
        self._numbers[name] = 2
        return name

    def by_cases(self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim) -> Symbol:
        """Return a size that is one dimension where a formula holds and another one where it does not."""
        met = {*symbols_in(chosen), *symbols_of((yes, no))}
        is_undecided = not met.isdisjoint(self.turns) or not met.isdisjoint(self.undecided)
        found = self.symbol(name, text, is_undecided=is_undecided)
        self.cases[found] = chosen, yes, no
        # Elsewhere neither of the two need be a size at all; and one without a value, such as the join of sizes that
        # clash, says nothing of this one.
        elsewhere = [negate(guard) for guard in self.guards]
        for other, dim in ((negate(chosen), yes), (chosen, no)):
            self.assume(any_of([*elsewhere, other, *map(negate, definedness(dim)), equal(found, dim)]))
        return found

    @contextmanager
    def under(self, formula: Formula) -> Iterator[None]:
        """Ask under a formula what is asked meanwhile."""
        before = self.guards
        if self.is_known(formula) is not True:
            self.guards = (*before, formula)
        try:
            yield
        finally:
            self.guards = before

    @contextmanager
    def trying(self, walk: AbstractContextManager[None]) -> Iterator[None]:
        """Forget afterwards what is asked meanwhile, and what a walk forgets."""
        before = self.env, self._known, self._joined, self.places, self.reasons, self.origins, self.cases
        bounds, settled, numbers = self.bounds, self.settled, self._numbers
        undecided, limits, turns, unfollowed = self.undecided, self.limits, self.turns, self.unfollowed
        self.limits, self.turns, self.unfollowed = dict(limits), dict(turns), dict(unfollowed)
        learned, foreknown = self.learned, self.foreknown
        self.learned, self.foreknown = {}, {}  # what is not asked for good is not asked again either
        self.env = self.env.fork()
        self.bounds, self.settled, self._numbers = bounds.copy(), settled.copy(), dict(numbers)
        self._known, self._joined = set(self._known), dict(self._joined)
        self.places, self.reasons = dict(self.places), dict(self.reasons)
        self.origins, self.cases, self.undecided = dict(self.origins), dict(self.cases), set(undecided)
        try:
            with walk:
                yield
        finally:
            self.env, self._known, self._joined, self.places, self.reasons, self.origins, self.cases = before
            self.bounds, self.settled, self._numbers, self.undecided = bounds, settled, numbers, undecided
            self.limits, self.turns, self.unfollowed = limits, turns, unfollowed
            self.learned, self.foreknown = learned, foreknown

    def assume(self, formula: Formula) -> None:
        """Take something for granted."""
        self.env.assume(Assumption(formula))

    def is_positive(self, dims: Iterable[Dim]) -> bool:
        """Return whether sizes are all known to be at least 1."""
        return all(self.bounds.is_at_least(d, 1) for d in dims)

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or not to, by numbers and bounds alone."""
        found = evaluated(formula)
        if found == TRUE or found in self.guards:
            return True
        if found == FALSE or negate(found) in self.guards:
            return False
        if isinstance(found, AllOf | AnyOf):
            decides = isinstance(found, AnyOf)
            parts = {self.is_known(part) for part in found.parts}
            return decides if decides in parts else None if None in parts else not decides
        return self._by_bounds(found)

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
