"""The general state of a program: its operations, facts and outputs, and the assumptions that a clash needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symbcast.core.algebra.arithmetic import join
from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.symbols import mentions_rest
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.programs.assumptions import Assumption, linked_sizes
from symbcast.core.programs.consistency import RequirementAdmission, RequirementGroups
from symbcast.core.programs.facts import Facts
from symbcast.core.programs.operations import SAME, Key, Op, Repeatable, columns_and_requirements, size_requirements
from symbcast.core.programs.scope import NameTable
from symbcast.core.rules import Demand, Joined, OutputDim
from symbcast.core.rules.laws import members_of
from symbcast.core.shapes import Shape, any_shape_of, is_open, shape_of
from symbcast.core.solver.normal_form import symbols_in
from symbcast.errors import DimensionError


class ProgramState:
    """The operations of a program in order, the facts that they established, and their output shapes.

    Nearly every operation of a real program broadcasts sizes that met before: these are looked up pair by pair. The
    others take the slow path: their requirements are added to the facts and admitted to the groups, or refused.

    ``requirements`` holds every distinct requirement; ``standing`` those that no later one implies: their conjunction
    is the condition of the program. ``refused`` holds the operations that cannot hold together with those before them;
    their requirements are in neither.
    """

    def __init__(self, min_size: int) -> None:
        self.min_size = min_size
        self.names = NameTable()
        self.facts = Facts(min_size)
        self.groups = RequirementGroups(min_size)
        self.ops: list[Op] = []
        self.assumptions: list[Assumption] = []
        self.requirements: set[Formula] = set()
        self.standing: dict[Formula, None] = {}
        self.refused: list[int] = []
        self._sized: set[Dim] = set()
        """Dimensions that are sizes wherever the requirements hold."""
        self._pairs: dict[tuple[Dim, Dim], Dim] = {}
        self._alone: dict[Dim, Dim] = {}
        self._cached_at = 0
        self.repeatable: dict[Key, Repeatable] = {}
        self._admitted = 0
        """Counts the operations and assumptions that added requirements, or tried to."""

    def copy(self) -> ProgramState:
        """Return an independent copy."""
        copied = ProgramState(self.min_size)
        copied.names, copied.facts, copied.groups = self.names.copy(), self.facts.copy(), self.groups.copy()
        copied.ops, copied.assumptions, copied.refused = self.ops.copy(), self.assumptions.copy(), self.refused.copy()
        copied.requirements, copied.standing, copied._sized = (
            self.requirements.copy(),
            self.standing.copy(),
            self._sized.copy(),
        )
        copied._pairs, copied._alone, copied._cached_at = self._pairs.copy(), self._alone.copy(), self._cached_at
        copied.repeatable, copied._admitted = self.repeatable.copy(), self._admitted
        return copied

    def known(self, left: Shape, right: Shape) -> Shape | None:
        """Return the join of two shapes if all pairs of their sizes met before, as in nearly every operation.

        A pair that did not may have one member other than 1, which is a size already: that is then the join.
        """
        lead = len(left) - len(right)
        if lead < 0:
            left, right, lead = right, left, -lead
        pairs = self._pairs
        try:
            if lead == 0:
                return shape_of([pairs[pair] for pair in zip(left.dims, right.dims)])  # noqa: B905 - equally long, and strict costs
            alone = [d if type(d) is int else self._alone[d] for d in left.dims[:lead]]
            return shape_of([*alone, *[pairs[pair] for pair in zip(left.dims[lead:], right.dims)]])  # noqa: B905
        except KeyError:
            return self._obvious(left, right, lead)

    def _obvious(self, left: Shape, right: Shape, lead: int) -> Shape | None:
        sizes: list[Dim] = []
        for a, b in zip(left.dims, (*[1] * lead, *right.dims), strict=True):
            joined = self._pairs.get((a, b))
            if joined is None:
                if a not in (1, b) and b != 1:
                    return None
                only = b if a == 1 else a
                if type(only) is not int and only not in self._sized:
                    return None
                joined = self._pairs[a, b] = self._pairs[b, a] = self.facts.dim(only)
            sizes.append(joined)
        return shape_of(sizes)

    def repeat(self, known: Repeatable, origin: str | None) -> Shape | None:
        """Add an operation again, and return its output."""
        _, kind, _, operands, rule, _, _, output = known.op
        self.ops.append(Op(len(self.ops), kind, origin, operands, rule, None, "", output))
        return output

    def renew(self, key: Key) -> Repeatable:
        """Return a repeatable operation with its output as it is simplified now."""
        op, columns, _ = self.repeatable[key]
        output = self._shape(op, columns)
        self._take_sizes(output)
        renewed = self.repeatable[key] = Repeatable(op._replace(output=output), columns, self.version)
        return renewed

    @property
    def version(self) -> int:
        """A number that grows whenever an output may be simplified further."""
        return self.facts.version + self._admitted

    def add(self, op: Op, key: Key | None = None, demand: Demand | None = None) -> bool:
        """Add an operation and its output; return whether all operations so far can hold together.

        ``key`` recognises the operation if it is repeated; ``demand`` is that of its rule on its operands, if known.

        The output of a replayed operation that cannot hold is kept, because later ones may use its unknown sizes.
        """
        columns, required = columns_and_requirements(op, demand)
        can_hold = self._admit(op, columns, required)
        output = None if can_hold else op.output
        if output is None and op.kind != "require":
            output = self._shape(op, columns, can_hold)
        # Only a replayed operation comes with an output, which may have been edited.
        if output is not None and len(output.dims) != len(columns) and not is_open(output):
            raise DimensionError(str(output), f"must have rank {len(columns)}, like the output of {op.name}")
        op = op._replace(output=output)
        self.ops.append(op)
        self._take_sizes(output, can_hold)
        if not can_hold:
            self.refused.append(op.number)
            return False
        if key is not None:
            self.repeatable[key] = Repeatable(op, columns, self.version)
        if (
            op.rule is not None
            and not any(map(is_open, op.operands))
            and op.rule.is_join([s.dims for s in op.operands])
            and output is not None
        ):
            self._remember(op.operands, output)
        return True

    def _shape(self, op: Op, columns: Sequence[OutputDim], can_hold: bool = True) -> Shape:
        """Return the output shape of an operation from its axes."""
        sizes = [self._output(column, can_hold) for column in columns]
        if any(map(is_open, op.operands)):
            return any_shape_of((op.rule or SAME).rolled([s.values for s in op.operands], sizes))
        return shape_of(sizes)

    def _take_sizes(self, output: Shape | None, can_hold: bool = True) -> None:
        """Record that the axes of an output are over sizes of this program, and are sizes if the operation can hold."""
        sizes = [d for d in (() if output is None else output.dims) if type(d) is not int]
        self.names.sizes.update(dict.fromkeys(sizes))
        if can_hold:
            self._sized.update(sizes)

    def sizes(self) -> dict[Symbol, int]:
        """Return sizes at which all admitted requirements hold, or nearly all."""
        return {**self.facts.least_sizes(self.names.order), **self.groups.sizes()}

    def assume(self, op: Op) -> bool:
        """Add an assumption that the earlier ones allow; return whether the requirements can still hold."""
        assert op.formula is not None
        self.ops.append(op)
        self.assumptions.append(Assumption(op.formula, op.text))
        can_hold = self._suppose(op.formula)
        if not can_hold:
            self.refused.append(op.number)
        return can_hold

    def drop_last(self) -> Op:
        """Remove the record of the last operation, which was refused."""
        op = self.ops.pop()
        self.refused.pop()
        if op.kind == "assume":
            self.assumptions.pop()
        return op

    @staticmethod
    def replayed(ops: Iterable[Op], min_size: int, names: NameTable) -> ProgramState:
        """Return the state after recorded operations, with their recorded outputs; it takes over ``names``."""
        state = ProgramState(min_size)
        state.names = names
        for op in ops:
            shapes = [(s, False) for s in (*op.operands, *(() if op.output is None else (op.output,)))]
            state.names.bind_all(shapes)
            if op.kind == "assume":
                state.assume(op)
            else:
                state.add(op)
        return state

    def _suppose(self, formula: Formula) -> bool:
        admission = RequirementAdmission((), self.facts, self.groups)
        admission.require([formula])
        can_hold = admission.admit()
        self._admitted += 1
        self._forget_what_is_stale()
        return can_hold

    def _admit(self, op: Op, columns: Sequence[OutputDim], required: Sequence[Formula]) -> bool:
        """Add an operation's requirements, that its operands are sizes and that its columns join; all or none."""
        joined = [column for column in columns if isinstance(column, Joined)]
        sized = [d for operand in op.operands for d in operand.dims if type(d) is not int and d not in self._sized]
        needed = size_requirements([d for d in sized if not isinstance(d, Symbol)])
        if not (needed or required or joined):
            self._sized.update(sized)
            return True
        admission = RequirementAdmission(self.requirements, self.facts, self.groups)
        try:
            admission.require(needed)
            admission.require(required)
            for column in joined:
                admission.join(column)
            can_hold = admission.admit()
        except BaseException:
            admission.undo()
            raise
        self._admitted += bool(admission.new) or not can_hold
        if can_hold:
            self._sized.update(sized)
            self.requirements.update(admission.new)
            self.standing.update(admission.new)
            for shorter, _ in admission.lengthened.values():
                self.standing.pop(shorter, None)
        self._forget_what_is_stale()
        return can_hold

    def _output(self, column: OutputDim, can_hold: bool) -> Dim:
        """Return the size of an output axis; an impossible one becomes a fresh unknown, or stays as it was passed."""
        if type(column) is int or type(column) is Symbol:
            return self.facts.dim(column) if can_hold else column
        members = members_of(column)
        if any(map(mentions_rest, members)):
            return join(members)  # as many axes as the longest operand has, whatever is known of their sizes
        distinct = [m for m in dict.fromkeys(members) if m != 1]
        if len(distinct) > 1:
            return self.facts.join(distinct) if can_hold else self.names.fresh(0, None)
        only = distinct[0] if distinct else 1
        return self.facts.dim(only) if can_hold else only

    def _remember(self, operands: Sequence[Shape], output: Shape) -> None:
        """Cache the joins of the sizes of two operands until more is known about them."""
        if len(operands) != 2:
            return
        long, short = sorted(operands, key=len, reverse=True)
        lead = len(long) - len(short)
        self._alone.update(zip(long.dims[:lead], output.dims, strict=False))
        for left, right, joined in zip(long.dims[lead:], short.dims, output.dims[lead:], strict=True):
            self._pairs[left, right] = self._pairs[right, left] = joined

    def _forget_what_is_stale(self) -> None:
        if self._cached_at != self.facts.version:
            self._cached_at = self.facts.version
            self._pairs.clear()
            self._alone.clear()


TRIED = 12
"""How many assumptions are left out one by one. Each takes as long as recording the operations that clash."""


def needed_assumptions(state: ProgramState, clash: Sequence[Op]) -> list[Assumption]:
    """Return assumptions together with which some operations cannot hold, each of them needed, in order.

    Among more than `TRIED` that share sizes with the operations, some may not be needed.
    """
    operations = [op for op in clash if op.kind != "assume"]
    needed = _linked(state.assumptions, operations)
    if len(needed) > TRIED:
        return needed
    for assumption in list(needed):
        others = [a for a in needed if a is not assumption]
        if _clash(state, others, operations):
            needed = others
    return needed


def _linked(assumptions: Sequence[Assumption], operations: Iterable[Op]) -> list[Assumption]:
    """Return the assumptions that share sizes with operations, directly or through others."""
    own = {s for op in operations for c in op.constraints for s in symbols_in(c.requirement)}
    symbols = [frozenset(symbols_in(a.formula)) for a in assumptions]
    linked = linked_sizes(own, symbols)
    return [a for a, own_symbols in zip(assumptions, symbols, strict=True) if not linked.isdisjoint(own_symbols)]


def _clash(state: ProgramState, assumptions: Iterable[Assumption], operations: Iterable[Op]) -> bool:
    """Return whether operations cannot hold together under some assumptions."""
    assumed = [Op(0, "assume", None, formula=a.formula, text=a.text) for a in assumptions]
    renumbered = [op._replace(number=n) for n, op in enumerate([*assumed, *operations])]
    return bool(ProgramState.replayed(renumbered, state.min_size, state.names.copy()).refused)
