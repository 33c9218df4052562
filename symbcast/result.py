"""The question and its answer: `broadcast`, and the `Result` that it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.constraints import Constraint, Origin
from symbcast.errors import ConditionalBroadcastError, IncompatibleShapesError, UndecidedError
from symbcast.formulas import holds
from symbcast.rules.base import Emission, Joined, Rule, find_rule
from symbcast.shapes import Shape, ShapeLike, shape, shape_of
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from sympy import Symbol
    from sympy.logic.boolalg import Boolean

    from symbcast.certificate import Certificate
    from symbcast.deciding.decide import Decision
    from symbcast.dims import Dim
    from symbcast.explaining.fixes import Fix
    from symbcast.formulas import Formula
    from symbcast.scope import Assumption, Scope

_plain_rules: dict[Any, Rule] = {}


def broadcast(
    *shapes: ShapeLike, rule: str | Rule = "numpy", assume: Any = (), min_size: int = 0, **attributes: Any
) -> Result:
    """Return for which sizes the shapes broadcast by a rule, and to what.

    ``shapes`` are text, tuples or objects with a ``.shape`` (see `symbcast.shape`), in the order of the rule's
    operands. ``rule`` is a name from `symbcast.rules`, and ``attributes`` are that rule's. ``assume`` is what is known
    of the sizes: text such as ``"N >= 2"``, sympy relations, or several of them; ``min_size`` is a least size for all
    symbols.

    Raises a `SymbcastError` for wrong input: text, rule, attributes, or assumptions that contradict each other.
    Shapes that do not broadcast are an answer, not an error.

    >>> result = broadcast("N, 3", "M, 1")
    >>> result.verdict, result.shape, result.condition
    (<Verdict.SOMETIMES: 'sometimes'>, Shape('(broadcast(M, N), 3)'), Eq(M, 1) | Eq(N, 1) | Eq(N, M))
    >>> broadcast("N, C, H, W", "C", rule="pdpd", axis=1).verdict
    <Verdict.ALWAYS: 'always'>
    """
    found = _plain_rules.get(rule) if not attributes and type(rule) is str else None
    if found is None:
        found = find_rule(rule, attributes)
        if not attributes and type(rule) is str:
            _plain_rules[rule] = found
    operands = [s if type(s) is Shape else shape(s) for s in shapes]
    if assume == () and min_size == 0:
        for operand in operands:
            if not operand.is_concrete:
                break
        else:
            return Result(found, tuple(operands), None)
    return _symbolic(found, operands, [not isinstance(s, Shape) for s in shapes], assume, min_size)


def _symbolic(rule: Rule, operands: Sequence[Shape], fresh: Sequence[bool], assume: Any, min_size: int) -> Result:
    from symbcast.scope import Scope, check_min_size, read_assumptions

    scope = Scope(operands, fresh, read_assumptions(assume) if assume != () else (), check_min_size(min_size))
    return Result(rule, scope.shapes, scope)


class Result:
    """The answer about one broadcast. Everything in it is worked out when it is first asked for.

    It has no truth value: ask for its `verdict`, or `require` it.
    """

    __slots__ = (
        "_certificate",
        "_condition",
        "_conflict",
        "_decision",
        "_emission",
        "_fixes",
        "_output",
        "operands",
        "rule",
        "scope",
    )

    def __init__(self, rule: Rule, operands: tuple[Shape, ...], scope: Scope | None) -> None:
        self.rule = rule
        self.operands = operands
        self.scope = scope
        self._output: Shape | None = None
        self._emission: Emission | None = None
        self._decision: Decision | None = None
        self._condition: Boolean | None = None
        self._conflict: tuple[Constraint, ...] | None = None
        self._certificate: Certificate | None = None
        self._fixes: tuple[Fix, ...] | None = None
        rule.check_shapes(operands)
        if scope is None:
            output = rule.concrete(operands)
            if output is not None:
                self._output = shape_of(output)

    @property
    def verdict(self) -> Verdict:
        """Whether the shapes broadcast always, sometimes, never, or it is unknown (then `reason` says why)."""
        if self.scope is None:
            if self._output is not None:
                return Verdict.ALWAYS
            return Verdict.ALWAYS if all(holds(c.requirement) for c in self.emission.constraints) else Verdict.NEVER
        return self.decision.verdict

    @property
    def shape(self) -> Shape | None:
        """The output shape wherever the condition holds; None when there is no such place."""
        if self._output is None and self.verdict is not Verdict.NEVER:
            self._output = shape_of(self._output_dim(d) for d in self.emission.output)
        return self._output

    @property
    def condition(self) -> Boolean:
        """The necessary and sufficient condition under the assumptions, as a sympy Boolean.

        It is irredundant; where that could not be proved of a clause, ``unproven`` holds it.
        """
        if self._condition is None:
            from symbcast.booleans import conjunction

            self._condition = conjunction(self.clauses)
        return self._condition

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition, as formulas; empty when it is true."""
        from symbcast.formulas import FALSE

        if self.scope is None:
            return () if self.verdict is Verdict.ALWAYS else (FALSE,)
        return tuple(self.decision.clauses)

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition of which it was not decided whether the others imply them."""
        return () if self.scope is None else tuple(c for c in self.decision.clauses if c in self.decision.unproven)

    @property
    def reason(self) -> str:
        """Why the verdict is unknown or a clause is unproven; empty when nothing was left open."""
        return "" if self.scope is None else self.decision.reason

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What the rule asks, as it asks it, and that every dimension be a size."""
        return (*self.size_constraints(), *self.emission.constraints)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The sizes that the answer is about, in order of appearance."""
        return () if self.scope is None else self.scope.symbols

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What was assumed."""
        return () if self.scope is None else tuple(self.scope.assumptions)

    @property
    def decision(self) -> Decision:
        """The decision that the answer rests on; for symbolic shapes only."""
        if self._decision is None:
            from symbcast.deciding.decide import Decision

            assert self.scope is not None
            requirements = [c.requirement for c in self.constraints]
            self._decision = Decision(self.scope.knowledge, requirements)
        return self._decision

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which the shapes broadcast; None where there are none.

        Smallest: sizes of 0 are avoided, then the sum is least, then the sizes in order of appearance.
        """
        if self.scope is None:
            return {} if self.verdict is Verdict.ALWAYS else None
        return self._named(self.decision.witness())

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes at which the shapes do not broadcast; None where the assumptions leave none."""
        if self.scope is None:
            return None if self.verdict is Verdict.ALWAYS else {}
        return self._named(self.decision.counterexample())

    @property
    def conflict(self) -> tuple[Constraint, ...]:
        """The fewest constraints that cannot hold together under the assumptions; empty unless the verdict is never."""
        if self._conflict is None:
            self._conflict = self._clash() if self.verdict is Verdict.NEVER else ()
        return self._conflict

    def evaluate(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> tuple[int, ...]:
        """Return the output shape at given sizes.

        Names that are not Python identifiers go into the mapping. Raises `IncompatibleShapesError` where the rule
        refuses, and `BindingError` for a size that is missing, unknown, not a size, or against the assumptions.

        >>> broadcast("N, 3", "M, 1").evaluate(N=4, M=1)
        (4, 3)
        """
        from symbcast.binding import bind

        bound = bind(self, sizes, named)
        result = Result(self.rule, bound.shapes, None) if bound.shapes is not None else None
        if result is None or result.shape is None:
            raise IncompatibleShapesError(self, bound.sizes)
        return tuple(result.shape)

    def explain(self) -> str:
        """Return the answer in words: the operands aligned, the condition, an example, and a fix."""
        from symbcast.explain import explain

        return explain(self)

    def require(self) -> Shape:
        """Return the output shape if the shapes always broadcast.

        Raises `IncompatibleShapesError`, `ConditionalBroadcastError` or `UndecidedError`.
        """
        verdict = self.verdict
        if verdict is Verdict.ALWAYS:
            assert self.shape is not None
            return self.shape
        if verdict is Verdict.NEVER:
            raise IncompatibleShapesError(self)
        if verdict is Verdict.SOMETIMES:
            raise ConditionalBroadcastError(self)
        raise UndecidedError(self.reason)

    def certify(self) -> Certificate:
        """Return what z3 says of the answer: whether condition, output and conflict agree with the raw constraints."""
        if self._certificate is None:
            from symbcast.certificate import certify

            self._certificate = certify(self)
        return self._certificate

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON."""
        from symbcast.export.json import result_to_dict

        return result_to_dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # The question alone: what was worked out holds a solver's state, and is worked out again when asked for.
        return Result, (self.rule, self.operands, self.scope)

    def __bool__(self) -> NoReturn:
        raise TypeError("a result has no truth value: compare its .verdict, or call .require()")

    def __repr__(self) -> str:
        from symbcast.explain import one_line

        return f"<Result {one_line(self)}>"

    def _repr_html_(self) -> str:
        from symbcast.display.html.result import page

        return page(self)

    def _repr_latex_(self) -> str:
        from symbcast.display.latex.result import result_latex

        return result_latex(self)

    @property
    def emission(self) -> Emission:
        """What the rule emitted: its constraints, and the output dimensions as joins of their members."""
        if self._emission is None:
            self._emission = self.rule.emit(self.operands)
        return self._emission

    def size_constraints(self) -> list[Constraint]:
        """Return what makes every dimension of the operands a size."""
        if self.scope is None:
            return []
        from symbcast.definedness import definedness

        found: list[Constraint] = []
        for position, operand in enumerate(self.operands):
            for axis, dim in enumerate(operand):
                if isinstance(dim, int) or dim.is_Symbol:
                    continue
                origin = Origin("size", (position,), axis, operand.rank)
                found.extend(Constraint(need, origin, "the dimension must be a size") for need in definedness(dim))
        return found

    def _output_dim(self, dim: Dim | Joined) -> Dim:
        members = dim if isinstance(dim, Joined) else (dim,)
        if self.scope is None:
            return next((d for d in members if d != 1), 1)
        from symbcast.deciding.outputs import collapse

        return collapse(members, self.decision)

    def _clash(self) -> tuple[Constraint, ...]:
        if self.scope is None:
            return next((c,) for c in self.emission.constraints if not holds(c.requirement))
        from symbcast.deciding.conflicts import smallest_conflict

        return smallest_conflict(self.constraints, self.scope.knowledge)

    def _named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        if sizes is None:
            return None
        assert self.scope is not None
        return {name: sizes[s] for s, name in self.scope.names.items()}
