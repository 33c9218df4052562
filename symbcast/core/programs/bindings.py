"""One broadcast at given sizes: operands with sizes substituted for symbols, and the ranks of sequences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.formulas import Compatible, Formula
from symbcast.core.algebra.symbols import AxisSequence, Rest, SequenceSymbol, axis_of, is_sequence, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs import arguments
from symbcast.core.programs.arguments import Assumption, GivenSizes, Sizes
from symbcast.core.programs.unknown_rank import UnrolledSequences, sizes_at
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.evaluation import AxisSizes, UndefinedError, holds_at, predicate, symbols_in, value_function
from symbcast.core.structs import NamedTuple
from symbcast.errors import BindingError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.programs.broadcast_call import BroadcastCall
    from symbcast.core.programs.scope import Scope
    from symbcast.core.solver.decision import AssumptionSet


class BoundOperands(NamedTuple):
    """The operands at some sizes; ``shapes`` is None if a dimension is not a size there."""

    shapes: tuple[Shape, ...] | None
    sizes: dict[str, int]


def bind(result: BroadcastCall, by_key: Sizes | None, named: Mapping[str, int]) -> BoundOperands:
    """Return the operands of a result at the given sizes, by name or by symbol.

    Raises `BindingError` for a missing size, for an unknown name, for a value that is not a size, and for sizes that
    the assumptions exclude.
    """
    if result.is_open:
        assert result.scope is not None
        return _bind_open(result, result.scope, by_key, named)
    names = result.shown
    sizes = arguments.read_given_sizes(names, by_key, named)
    arguments.check_all_sizes([names[s] for s in symbols_of(chain.from_iterable(result.dims))], sizes, "evaluate")
    if not result.is_plain:
        _check_assumptions(result, sizes)
    return BoundOperands(operands_at(result, sizes), sizes)


def operands_at(result: BroadcastCall, sizes: Mapping[str, int]) -> tuple[Shape, ...] | None:
    """Return the operands at valid sizes by name, such as those of evidence; None if a dimension is no size there."""
    if result.is_open:
        return bind(result, sizes, {}).shapes
    if not result.is_plain:
        return _shapes(result, sizes)
    at = [[sizes[d.name] if isinstance(d, Symbol) else d for d in dims] for dims in result.dims]
    return tuple(map(shape_of, at))


def _bind_open(result: BroadcastCall, scope: Scope, by_key: Sizes | None, named: Mapping[str, int]) -> BoundOperands:
    """Return operands, some of unknown rank, at given sizes of the axes of their sequences and of all other symbols."""
    read = GivenSizes.read(scope.names, by_key, named)
    arguments.check_all_sizes(arguments.example_sizes(scope.names), read.by_name, "evaluate")
    sizes, axes, whole = read.sizes, read.axes, read.by_name
    for sequence, there in axes.items():
        if any(size < scope.min_size for size in there):
            raise BindingError(f"{sequence.name}={there} has a size below min_size", "see min_size")
    values: dict[Any, int] = {s: sizes[name] for s, name in scope.names.items() if not isinstance(s, SequenceSymbol)}
    _check_bounds(scope, sizes)
    at = AxisSizes(values, axes)
    for assumption in result.assumptions:
        if not holds_at(assumption.formula, at):
            shown = ", ".join(f"{name}={size}" for name, size in whole.items())
            raise BindingError(f"{shown} contradicts the assumption {assumption.text}", "ask without assuming it")
    values.update(sizes_at(scope.names, axes))
    return BoundOperands(_shapes_of_ranks(result, axes, values), whole)


def read_needed(
    needed: Collection[Symbol], names: Mapping[Symbol, str], by_key: Sizes | None, named: Mapping[str, int], call: str
) -> Mapping[Symbol, int]:
    """Return the given sizes by symbol; they must include those that are needed.

    A sequence of axes is given as a shape, so the result is an `AxisSizes` if there are any. Raises `BindingError`;
    ``call`` is the name of the method that takes the sizes, for the message.
    """
    read = GivenSizes.read(names, by_key, named)
    needed_names = {s: names.get(s, s.name) for s in needed}
    arguments.check_all_sizes(arguments.example_sizes(needed_names), read.by_name, call)
    sizes = {s: read.sizes[name] for s, name in names.items() if name in read.sizes}
    return AxisSizes(sizes, read.axes) if sequences_of(names) else sizes


def _shapes_of_ranks(
    result: BroadcastCall, axes: Mapping[AxisSequence, tuple[int, ...]], values: Mapping[Any, int]
) -> tuple[Shape, ...] | None:
    """Return the operands for given axes of each sequence; None if a dimension is not a size there."""
    symbols = tuple(values)
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, symbols)(*values.values()):
            return None

    def size(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        symbols = symbols_of((dim,))
        at = {**values, **sizes_at(symbols, axes)}
        return value_function(dim, symbols)(*(at[s] for s in symbols))

    def sizes_in(dim: Dim) -> Iterable[int]:
        if not is_sequence(dim):
            return [size(dim)]
        # Sequences that join are aligned at the right: the longest has the first axes.
        rank = max(len(axes[s.sequence]) - s.place for s in symbols_of((dim,)) if isinstance(s, Rest))
        return [size(axis_of(dim, n)) for n in range(rank, 0, -1)]

    try:
        return tuple(shape_of(n for dim in operand.dims for n in sizes_in(dim)) for operand in result.operands)
    except (ZeroDivisionError, UndefinedError):
        return None


def _check_assumptions(result: BroadcastCall, sizes: Mapping[str, int]) -> None:
    if result.scope is None:
        return
    names = result.scope.names
    _check_bounds(result.scope, sizes)
    for assumption in result.assumptions:
        symbols = tuple(symbols_in(assumption.formula))
        # A size that no operand has need not be given, so an assumption about it is not checked.
        if any(names[s] not in sizes for s in symbols):
            continue
        if not predicate(assumption.formula, symbols)(*(sizes[names[s]] for s in symbols)):
            shown = ", ".join(f"{names[s]}={sizes[names[s]]}" for s in symbols)
            raise BindingError(f"{shown} contradicts the assumption {assumption.text}", "ask without assuming it")


def _check_bounds(scope: Scope, sizes: Mapping[str, int]) -> None:
    """Raise `BindingError` for a size outside the bounds of its symbol."""
    for symbol, name in scope.names.items():
        if name in sizes and sizes[name] not in arguments.own_set(symbol, scope.min_size):
            raise BindingError(f"{name}={sizes[name]} is outside the bounds of {name}", "see .assumptions and min_size")


def _shapes(result: BroadcastCall, sizes: Mapping[str, int]) -> tuple[Shape, ...] | None:
    if result.scope is None:
        return result.operands
    names = result.scope.names
    symbols = tuple(s for s in result.scope.symbols if names[s] in sizes)
    values = [sizes[names[s]] for s in symbols]
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, symbols)(*values):
            return None
    known: dict[Any, int] = dict(zip(symbols, values, strict=True))

    def size(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        return known[dim] if dim.is_Symbol else value_function(dim, symbols)(*values)

    try:
        return tuple(shape_of(map(size, operand.dims)) for operand in result.operands)
    except (ZeroDivisionError, UndefinedError):
        return None


# All axes of a sequence get their own symbols if it has at most this many.
MOST = 8


class RankedSizes:
    """The ranks and the axes of the sequences of a question, and its other sizes.

    ``required`` must hold, ``names`` are the names of the sizes, in order; ``mentioned`` are additional formulas whose
    axes must be distinguished. Raises `UnknownRankError` if a sequence meets itself at a shifted axis, since
    not all ranks are then tried; the error names the ``question``.

    Attributes:
        unrolled: The depth to which sequences are unrolled.
        assumption_set: What is known about ranks, axes and sizes.
        required: The formulas over ranks, axes and sizes that must hold.
        names: The name of each rank, axis and size.
        greatest: The greatest rank of each sequence that its own constraints allow.
    """

    def __init__(
        self,
        question: str,
        required: Sequence[Formula],
        names: Mapping[Symbol, str],
        assumptions: tuple[Sequence[Assumption], int],
        mentioned: Iterable[Formula] = (),
    ) -> None:
        self._names, self._sequences = names, sequences_of(names)
        self._assumptions, self._min_size = assumptions
        formulas = [*required, *mentioned, *(a.formula for a in self._assumptions)]
        # Unrolled twice: only the first tells how many axes there can be; if few, each gets a symbol of its own.
        first = self._unrolled(formulas)
        check_cuts(question, first)
        known = self._known(first)
        few = [(s, greatest_rank(known, s)) for s in self._sequences]
        axes = [Compatible((s.axis(most),)) for s, most in few if most is not None and 0 < most <= MOST]
        self.unrolled = self._unrolled([*formulas, *axes])
        self.assumption_set = self._known(self.unrolled)
        self.required = [f for formula in required for f in self.unrolled.formulas(formula)]
        self.names = {s: names.get(s, s.name) for s in self.unrolled.symbols(names)}
        self.greatest = {s: greatest_rank(self.assumption_set, s) for s in self._sequences}

    @staticmethod
    def of_call(question: str, call: BroadcastCall, mentioned: Iterable[Formula] = ()) -> RankedSizes:
        """Return the sizes of a broadcast with operands of unknown rank."""
        scope = call.scope
        assert scope is not None and scope.unrolled is not None
        check_cuts(question, scope.unrolled)
        required = [c.requirement for c in call.constraints]
        return RankedSizes(question, required, scope.names, (call.assumptions, scope.min_size), mentioned)

    def named(self, sizes: Mapping[Symbol, int]) -> dict[str, int]:
        """Return sizes by name; those of a sequence's axes together, as ``batch=(2, 3)``."""
        return self.unrolled.named(sizes, self.names)

    def _unrolled(self, formulas: Iterable[Formula]) -> UnrolledSequences:
        ranks = [Compatible((s.rank,)) for s in self._sequences]
        return UnrolledSequences([*formulas, *ranks], self._sequences, self._min_size)

    def _known(self, unrolled: UnrolledSequences) -> AssumptionSet:
        symbols = (*unrolled.symbols(self._names), *unrolled.hidden)
        return arguments.assumption_set(symbols, unrolled.known(self._assumptions), self._min_size)


def check_cuts(question: str, unrolled: UnrolledSequences) -> None:
    """Raise `UnknownRankError` if a sequence is aligned with itself at another axis."""
    for s in (s for s in unrolled.depths if s in unrolled.mixed):
        raise UnknownRankError(f"{question} of a sequence with itself, shifted by some axes", s.rest().name)


def greatest_rank(known: AssumptionSet, sequence: AxisSequence) -> int | None:
    """Return the greatest rank that a sequence's own constraints allow."""
    rank = known.values.get(sequence.rank, sequence.rank)
    if isinstance(rank, int):
        return rank
    domain = known.domains.get(rank)  # type: ignore[call-overload] # a value that is not a number is a Symbol
    return None if domain is None else domain.greatest
