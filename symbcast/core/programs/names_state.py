"""A program of names and integers by NumPy's rule, without assumptions, as shapes: tier F1 under `ShapeEnv`.

Shapes seen before cost one look-up, whatever form they have. Operations that this tier cannot hold are handed over to
`symbcast.core.programs.state`, which can hold any operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from symbcast.core.algebra.arithmetic import join, join_members
from symbcast.core.algebra.formulas import TRUE, AnyOf, Comparison, Compatible, Formula
from symbcast.core.algebra.terms import Dim, Symbol, Term, symbols_of
from symbcast.core.effort import Tier
from symbcast.core.programs.arguments import Assumption, plain_dims, shape_symbols
from symbcast.core.programs.operations import Key, Kind, Op, columns_and_requirements, size_requirements
from symbcast.core.rules import Demand, Joined, OutputDim, Rule
from symbcast.core.shapes import LazySize, Shape, shape, shape_of
from symbcast.core.solver.evaluation import in_normal_form, symbols_in
from symbcast.core.solver.f1_names.many_broadcasts import Codes, ConflictError, IntegerClashError, MaskProgram
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import HasVerdict, Possible


class NamesOperation(NamedTuple):
    """A recorded operation: its operands, its output, and the types of the sizes of operands that are tuples."""

    operands: tuple[tuple[Any, ...], ...]
    output: Shape
    kinds: tuple[tuple[type, ...] | None, ...]
    kind: Kind = "broadcast"
    rule: Rule | None = None


class NamesState(HasVerdict):
    """The program: operations are added by `broadcast`, and read as ``ops``.

    ``rule`` is NumPy's; ``min_size`` is the least size of all names, 0 or 1; ``assumptions`` state for some names that
    their least size is 1. If no operand has a 0, this changes nothing: when sizes start at 0, 0 behaves like any other
    size but 1, so an unused size can replace it, and evidence avoids it.
    """

    def __init__(self, rule: Rule, min_size: int, joins: MaskProgram | None = None) -> None:
        self.rule = rule
        self.min_size = min_size
        self.joins = MaskProgram() if joins is None else joins
        # Not a method: output shapes hold it, and must not keep the program that holds them.
        self._join = partial(_join, self.joins)
        self.assumptions: list[Assumption] = []
        self._records: list[tuple[NamesOperation, str | None] | Assumption] = []
        self._has_zero = False
        self._ops: list[Op] = []
        self._done: dict[tuple[Any, ...], NamesOperation] = {}
        self._shapes: dict[Codes, Shape] = {}
        self._codes: dict[tuple[Any, ...], Codes] = {}
        self._sizes: dict[int, Any] = {}
        # The terms of outputs, which are sizes wherever the requirements hold.
        self._sized: set[Dim] = set()
        self._ones = 0
        # The conjuncts of the condition, and the number of records that they are about.
        self._clauses: tuple[int, Sequence[Formula]] = (0, ())

    def copy(self) -> NamesState:
        """Return an independent copy."""
        copied = NamesState(self.rule, self.min_size, self.joins.copy())
        copied._records, copied._ops, copied._ones = self._records.copy(), self._ops.copy(), self._ones
        copied.assumptions, copied._has_zero = self.assumptions.copy(), self._has_zero
        for name in ("_done", "_shapes", "_codes", "_sizes", "_sized"):
            setattr(copied, name, getattr(self, name).copy())
        return copied

    def __len__(self) -> int:
        return len(self._records)

    def broadcast(self, shapes: tuple[Any, ...], origin: str | None) -> Shape | None:
        """Add an operation and return its output; return None, without adding it, if this tier cannot hold it.

        Raises the same errors as `symbcast.shape` for values that are not shapes.
        """
        key = tuple([s if type(s) in _ITS_OWN_KEY else _key(s) for s in shapes])
        try:
            done = self._done.get(key)
        except TypeError:  # a size that is not hashable
            key, done = tuple([shape(s).raw for s in shapes]), None
        # Equal keys may differ in type: (True, 3) == (1, 3).
        if done is None or done.kinds != _kinds(key):
            done = self._new(key, shapes)
            if done is None:
                return None
        self._records.append((done, origin))
        return done.output

    def assume(self, read: Assumption) -> bool:
        """Assume that the least size of a name is 1; return whether it is such an assumption and can be held here."""
        match read.formula:
            case Comparison("<=", 1, Symbol() as name) if type(name) is Symbol and not self._has_zero:
                self.joins.read((name,))
                self.assumptions.append(read)
                self._records.append(read)
                return True
        return False

    def _new(self, key: tuple[Any, ...], shapes: tuple[Any, ...]) -> NamesOperation | None:
        read = [self._read(raw, operand) for raw, operand in zip(key, shapes, strict=True)]
        if None in read:
            return None
        if any(0 in operand for operand in read if operand):
            if self.min_size or self.assumptions:
                return None
            self._has_zero = True
        operands: list[Any] = read
        try:
            output = self.joins.broadcast(*operands)
        except ConflictError:
            return None
        self._notice_ones()
        done = self._done[key] = NamesOperation(tuple(operands), self._shape(output), _kinds(key), rule=self.rule)
        return done

    def repeat(self, key: Key, origin: str | None) -> Shape | None:
        """Add an operation that the program already has, and return its output; return None if this is another one."""
        done = self._done.get(key)
        if done is None:
            return None
        self._records.append((done, origin))
        return done.output

    def operate(self, op: Op, written: Sequence[object], key: Key | None, demand: Demand | None) -> Shape | None:
        """Add an operation whose requirements are joins of names and integers alone, and return its output.

        Terms are passed on, and meet only themselves and 1. Return None, without adding the operation, if this tier
        cannot hold it. ``written`` are the operands as passed; ``key`` recognises the operation if it is repeated;
        ``demand`` is that of its rule on its operands, if known.
        """
        if not all(map(self._is_passed_on, op.operands)):
            return None
        if op.rule is None and op.operands[0].dims != op.operands[1].dims:
            return None  # an equality requires nothing only if both sides are written alike
        columns, required = columns_and_requirements(op, demand)
        joined = _joined(size_requirements(self._unsized(op.operands)), required, columns)
        if joined is None or not self._takes_zeros(op.operands, joined):
            return None
        mark = self.joins.mark()
        try:
            for operand, text in zip(op.operands, written, strict=True):
                self.joins.read(shape_symbols(operand, text))
            codes = self.joins.join_columns([column for _, column in joined])
        except IntegerClashError:
            self.joins.undo(mark)
            return None
        by_column = {id(of): code for (of, _), code in zip(joined, codes, strict=True)}
        sizes = [self._output(column, by_column) for column in columns]
        if None in sizes:
            self.joins.undo(mark)
            return None
        self._notice_ones()
        output = shape_of(sizes)
        self._sized.update([d for d in sizes if isinstance(d, Term) and not d.is_Symbol])
        done = NamesOperation(tuple([s.dims for s in op.operands]), output, (), op.kind, op.rule)
        if key is not None:
            self._done[key] = done
        self._records.append((done, op.origin))
        return output

    def _is_passed_on(self, shape: Shape) -> bool:
        """Return whether an operand consists of integers, names, and terms over names."""
        if type(shape) is not Shape or not shape.has_values:
            return False
        return all(type(s) is Symbol for s in symbols_of(shape.dims))

    def _unsized(self, operands: Iterable[Shape]) -> list[Dim]:
        """Return the terms of operands that no earlier output has."""
        terms = dict.fromkeys(d for shape in operands for d in shape.dims if type(d) is not int)
        return [d for d in terms if type(d) is not Symbol and d not in self._sized]

    def _takes_zeros(self, operands: Iterable[Shape], joined: Iterable[tuple[object, Sequence[Dim]]]) -> bool:
        """Return whether the program can hold the zeros of an operation, if there are any."""
        if not any(0 in dims for dims in (*(s.dims for s in operands), *(column for _, column in joined))):
            return True
        if self.min_size or self.assumptions:
            return False
        self._has_zero = True
        return True

    def _output(self, column: OutputDim, codes: Mapping[int, int]) -> Any:
        """Return the size of an output axis; None for a term over a name that is 1."""
        if type(column) is int:
            return column
        if isinstance(column, Joined) and id(column) not in codes:
            distinct = [d for d in dict.fromkeys(column) if d != 1]
            column = distinct[0] if distinct else 1
        if isinstance(column, Joined) or type(column) is Symbol:
            code = codes[id(column)] if isinstance(column, Joined) else self.joins.read((column,))[0]
            code = self.joins.simplified(code)
            return code if code >= 0 else self._size(code)
        return None if self.joins.ones and any(map(self.joins.is_one, symbols_of((column,)))) else column

    def _notice_ones(self) -> None:
        """Forget cached outputs if a name was found to be 1: from now on, sizes are written without it."""
        if self.joins.ones != self._ones:
            self._ones = self.joins.ones
            self._done.clear()

    def _read(self, raw: tuple[Any, ...], value: Any) -> tuple[Any, ...] | None:
        """Return an operand in the form that `MaskProgram` takes, None if it cannot hold it."""
        if type(value) is Shape:
            codes = self._codes.get(raw)
            if codes is not None:
                return codes
        dims = plain_dims(value)
        if dims is not None:
            return dims
        operand = shape(value)
        dims = operand.dims
        if not all(map(_is_held, dims)):
            return None
        self.joins.read(shape_symbols(operand, value))
        return tuple([d if type(d) is int else self._code(d) for d in dims])

    def _code(self, dim: Any) -> int:
        return self.joins.code(join_members(dim))

    def _shape(self, codes: Codes) -> Shape:
        known = self._shapes.get(codes)
        if known is None:
            known = self._shapes[codes] = shape_of([c if c >= 0 else self._size(c) for c in codes])
            self._codes[known.raw] = codes
        return known

    def _operand(self, read: Sequence[Any]) -> Shape:
        return shape_of([self._size(d) if type(d) is int and d < 0 else d for d in read])

    def _size(self, code: int) -> Any:
        size = self._sizes.get(code)
        if size is None:
            joins = self.joins
            size = joins.members(code)[0] if joins.is_name(code) else LazySize(self._join, code)
            self._sizes[code] = size
        return size

    @property
    def ops(self) -> list[Op]:
        """The operations, in order."""
        for record in self._records[len(self._ops) :]:
            number = len(self._ops)
            if isinstance(record, Assumption):
                self._ops.append(Op(number, "assume", None, formula=record.formula, text=record.text))
                continue
            done, origin = record
            operands = tuple(map(self._operand, done.operands))
            self._ops.append(Op(number, done.kind, origin, operands, done.rule, output=done.output))
        return self._ops

    @property
    def shown(self) -> dict[Symbol, str]:
        """The display name of each size, in order of appearance."""
        return {s: s.name for s in self.joins.names}

    # The answers about the program. It is possible: an operation that clashes is left to the general state.

    unproven: frozenset[Formula] = frozenset()
    reason = evidence_reason = ""
    conflict: tuple[Op, ...] = ()

    @property
    def clauses(self) -> Sequence[Formula]:
        """The conjuncts of the condition."""
        length, clauses = self._clauses
        if length != len(self._records):
            clauses = self.joins.clauses()
            self._clauses = len(self._records), clauses
        return clauses

    @property
    def _possible(self) -> Possible:
        return True, bool(self.clauses)

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tier that decides it, with the names that the condition constrains."""
        if not self.joins.names:
            return {Tier.F0: []}
        constrained = {s for clause in self.clauses for s in symbols_in(clause)}
        names = [s.name for s in self.joins.names if s in constrained]
        return {Tier.F1: names} if names else {}

    def witness(self) -> dict[str, int]:
        """Return the smallest sizes at which every operation is valid, by name."""
        return {s.name: size for s, size in self.joins.witness().items()}

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes at which some operation is not valid, by name; None if there are none."""
        sizes = self.joins.counterexample()
        return None if sizes is None else {s.name: size for s, size in sizes.items()}


def _join(joins: MaskProgram, code: int) -> Dim:
    return join(joins.members(code))


_ITS_OWN_KEY = frozenset({str, tuple})


def _key(value: Any) -> tuple[Any, ...]:
    """Return the look-up key of an operand; for a foreign object, its current shape, which may change."""
    if type(value) is Shape:
        return value.raw
    return tuple(value) if type(value) is list else shape(value).raw


def _kinds(key: tuple[Any, ...]) -> tuple[tuple[type, ...] | None, ...]:
    """Return the types of a tuple's elements: ``(True, 3) == (1, 3)``, but the first is not a shape."""
    return tuple([tuple(map(type, k)) if type(k) is tuple else None for k in key])


def _is_held(dim: Dim) -> bool:
    """Return whether a size is an integer, a name, or a join of names."""
    return type(dim) is int or all(type(member) is Symbol for member in join_members(dim))


def _joined(
    needed: Iterable[Formula], required: Iterable[Formula], columns: Iterable[OutputDim]
) -> list[tuple[object, tuple[Any, ...]]] | None:
    """Return the joins that an operation requires, each with the formula or output axis that it is from.

    Return None if it requires anything but joins of names and integers.
    """
    joins: list[tuple[object, tuple[Any, ...]]] = []
    for of in (*needed, *required, *(column for column in columns if isinstance(column, Joined))):
        match of:
            case Joined() as sizes:
                pass
            case Compatible(sizes):
                pass
            case AnyOf((Comparison("==", data, 1), Comparison("==", same, int() as target))) if (
                data == same and target != 1
            ):
                sizes = (data, target)
            case _ if in_normal_form(of) == TRUE:
                continue
            case _:
                return None
        members = tuple(dict.fromkeys(m for d in sizes for m in join_members(d) if m != 1))
        if len(members) < 2:
            continue
        if not all(m >= 0 if type(m) is int else type(m) is Symbol for m in members):
            return None
        joins.append((of, members))
    return joins
