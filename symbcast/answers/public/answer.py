"""The common interface of all answers: of a broadcast, a program, a model, an exported program and a function.

A `ModuleAnswer` can also be stated as a StableHLO module of functions of sizes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from symbcast.answers.public.guard_methods import GuardMethods
from symbcast.core.account import Account
from symbcast.core.advice import Guessable, guessed_meanings
from symbcast.core.algebra.formulas import Formula, all_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import visible
from symbcast.core.effort import one_call
from symbcast.core.programs.arguments import Assumption, Sizes
from symbcast.core.programs.broadcast_call import BroadcastCall, PublicAnswer
from symbcast.core.rules.declaration import Constraint
from symbcast.core.shapes import Shape
from symbcast.core.verdicts import AnswerLike, Verdict

if TYPE_CHECKING:
    import sympy

    from symbcast.answers.guards.stablehlo import CheckedRequirement
    from symbcast.answers.public.conditions import Condition
    from symbcast.answers.public.size_bounds import SizeBounds
    from symbcast.core.programs.certificates import Certificate
    from symbcast.core.programs.conditions import ConditionLike
    from symbcast.core.programs.program import Program


class Known(AnswerLike, Protocol):
    """What is known about a question: an account, and what derives from it."""

    @property
    def account(self) -> Account: ...
    @property
    def reason(self) -> str: ...
    @property
    def unproven(self) -> tuple[Formula, ...]: ...


class Answer(Guessable, GuardMethods, PublicAnswer):
    """The protocol of all answers: for which sizes something works, and its output.

    Each also has ``shape`` (one output) or ``shapes`` (many, by name) and the guards of `GuardMethods`.
    """

    __slots__ = ()

    _meanings = guessed_meanings(
        "ok valid is_valid success status compatible always never sometimes possible is_always satisfiable -> verdict",
        "example sample model solution -> witness()",
        "failure counter_example fails -> counterexample()",
        "holds check predicate to_callable to_guard to_function -> guard()",
        "names variables params parameters free_vars -> guard().parameters",
        "proves entails -> implies(...)",
        "equals same_as -> equivalent(...)",
        "why message error explanation summary show print to_text text -> explain()",
        "plot draw -> symbcast.notebook.plot(...)",
        "latex to_latex -> sympy.latex(answer.condition)",
        "expr to_sympy -> condition.sympy",
        "at eval evaluate_at concrete substitute bind subs output_at shapes_at sizes_at -> evaluate(...)",
        "constraint conditions requirements guards -> condition, constraints or findings",
        "to_json json as_dict asdict -> to_dict()",
        "to_c to_cxx cpp -> to_cpp()",
        "to_hlo stablehlo -> to_stablehlo()",
        "to_smt to_smt2 smtlib -> to_smtlib()",
        "z3 as_z3 to_solver -> to_z3()",
        "issues errors problems warnings -> findings",
        "proof prove verify certificate -> certify()",
        "free_symbols simplify sympy simplified -> condition, which sympy takes",
        "unknown skipped unsupported unanalyzed -> unanalysed",
    )

    if not TYPE_CHECKING:  # type checkers refuse items themselves

        def __getitem__(self, key: object) -> NoReturn:
            """Raise `TypeError`: an answer is no sequence, and what comes out of it has a name."""
            member = next(name for name in ("shape", "shapes", "condition") if hasattr(type(self), name))
            use = member if member == "condition" else f"{member}[{key!r}]"
            raise TypeError(f"{type(self).__name__!r} object has no items: use {use}")

    @property
    def _known(self) -> Known:
        """What verdict, account and evidence derive from: the plain answer, unless its condition leaves sizes open."""
        return self._subject

    @property
    def verdict(self) -> Verdict:
        """Whether it works for all sizes, some or none, or this is unknown: then ``reason`` says why."""
        return self._known.verdict

    @property
    def account(self) -> Account:
        """What is known: the sizes proved to work and to fail, points of both kinds, and what is open, with reasons."""
        return self._known.account

    @property
    def _account(self) -> Account:
        # Calls and programs decide each size. A guard needs no points, which would have to be searched for.
        condition = all_of(self._subject.clauses)
        return Account(condition, condition)

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which it works; None if there are none."""
        return self._known.witness()

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes at which it does not work; None if there are none."""
        return self._known.counterexample()

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven; empty when nothing was left open."""
        return self._known.reason

    @abstractmethod
    def explain(self) -> str:
        """Return the answer in words."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Return the answer as plain data for JSON."""

    @property
    def condition(self) -> Condition:
        """The sizes at which it works: necessary and sufficient under the assumptions, and irredundant.

        It does not repeat the assumptions. Clauses that were not proved necessary are in ``unproven``.
        """
        from symbcast.answers.public.conditions import Condition

        return Condition(self._subject)

    @property
    @one_call
    def constraints(self) -> tuple[Constraint, ...]:
        """The requirements as the rules of the operations state them, each with its origin and ``sympy``, its Boolean.

        The condition follows from these, with what their terms need to have values: z3 checks that (`certify`).

        >>> import symbcast as sb
        >>> for constraint in sb.broadcast("M - 1", "M").constraints:
        ...     print(constraint, "|", constraint.sympy)
        M - 1 >= 0 [size of operands 0, axis 0 (-1 from the end)] | M - 1 >= 0
        M - 1 == M or M - 1 == 1 or M == 1 [numpy of ...] | Eq(M, 1) | Eq(M - 1, 1) | Eq(M - 1, M)
        """
        from symbcast.core.programs.certificates import constraints_of

        return constraints_of(self._subject)

    @property
    def findings(self) -> tuple[Any, ...]:
        """The requirements: a finding for each conjunct of the condition, with its origins and where it fails."""
        return ()

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition that were not proved irredundant given the others."""
        return self._known.unproven

    @property
    def unanalysed(self) -> tuple[Any, ...]:
        """What was not analysed, with the reason; the answer does not cover it. Empty if it covers everything."""
        return ()

    @one_call
    def certify(self) -> Certificate:
        """Check the answer with z3: whether condition, shapes and verdict follow from the raw constraints.

        The constraints are those that the rules of operations state, with what their terms need to have values. No
        simplification or decision of ours takes part. Each claim is proved, refuted, or undecided with the reason.

        >>> import symbcast as sb
        >>> env = sb.ShapeEnv()
        >>> x = env.reshape("N, M", "K, -1", origin="rows")
        >>> print(env.certify())
        proved: wherever the constraints hold, the condition does
        proved: wherever the condition holds, the constraints do
        proved: the witness is valid
        proved: the counterexample is valid
        """
        from symbcast.core.programs.certificates import certify_answer

        return certify_answer(self._subject)

    @property
    def _shown(self) -> Mapping[Symbol, str]:
        return self._subject.shown

    @property
    def _assumed(self) -> Formula:
        return self._subject.assumed

    def _found_clauses(self) -> Sequence[Any]:
        return self.findings

    def _failure_at(self, sizes: Mapping[str, int]) -> str:
        """Return why it fails at some sizes, as text; empty if unknown."""
        stop = self._stop(sizes)
        return "" if stop is None else f"{visible(stop[0])} requires {stop[1]}"

    @property
    def _called(self) -> str:
        """What the answer is about, in messages."""
        return "the program"

    @property
    def _named_inputs(self) -> Mapping[str, Shape]:
        """The inputs of known rank by name, whose shapes give sizes; empty if it has none."""
        return {}

    @abstractmethod
    def evaluate(self, sizes: Sizes | None = None, /, **named: int) -> Any:
        """Return the output at given sizes."""

    @one_call
    def implies(self, relation: ConditionLike) -> bool:
        """Return whether a relation holds at all sizes at which this answer works, under the assumptions.

        ``relation`` is what `Condition` takes. If no sizes work, every relation holds. Raises `UndecidedError` if the
        question is beyond the limits.

        >>> import symbcast as sb
        >>> sb.broadcast("N", "M", assume="N >= 2").implies("M == N or M == 1")
        True
        """
        from symbcast.core.programs.certificates import implies

        return implies(self._subject, relation)

    @one_call
    def equivalent(self, other: Answer | ConditionLike) -> bool:
        """Return whether it works at the same sizes as another answer, or wherever a condition holds.

        For two broadcasts, the outputs must be equal too. Only the sizes that all assumptions allow are compared.
        Raises `UndecidedError` beyond the limits.

        >>> import symbcast as sb
        >>> sb.broadcast("N", "3").equivalent("N == 1 or N == 3")
        True
        """
        from symbcast.core.programs.certificates import equivalent, is_valid_exactly_where

        if isinstance(other, PublicAnswer):
            return equivalent(self._subject, other._subject)
        return is_valid_exactly_where(self._subject, other)

    def bounds(self, size: object) -> SizeBounds:
        """Return the least and greatest value of an expression of sizes, where this works under the assumptions.

        ``size`` is as in `symbcast.bounds`, over the answer's sizes. Raises `BindingError` for other names.

        >>> import symbcast as sb
        >>> env = sb.ShapeEnv(assume=["T <= 512"])
        >>> x = env.reshape("batch, T", "batch, T//64, 64", origin="windows")
        >>> env.bounds(x[1]), env.bounds("batch*T").greatest
        (<SizeBounds T//64: from 0 to 8>, None)
        """
        from symbcast.answers.public.size_bounds import bounds_where_valid

        return bounds_where_valid(self._subject, self._account, size)


class AskedAnswer(Answer):
    """An answer about one broadcast, or about a program that a user recorded: also what was asked."""

    __slots__ = ()

    @property
    def _plain(self) -> BroadcastCall | Program:
        # Not `_subject`, which compares the names in a program's assumptions with those of its operations, and warns.
        return self._subject

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes that the answer is about, in order of appearance."""
        return self._plain.symbols

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is assumed."""
        return self._plain.assumptions

    @property
    def budget(self) -> float | None:
        """How many seconds each question may take; None where no clock decides."""
        return self._plain.budget

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition, as formulas; empty when it is true."""
        return self._plain.clauses

    @property
    def evidence_reason(self) -> str:
        """Why the witness or the counterexample may not be the smallest; empty where both are."""
        return self._plain.evidence_reason


class ModuleAnswer(Answer):
    """An answer that a StableHLO module can state as functions of sizes."""

    __slots__ = ()

    @one_call
    def to_stablehlo(self, *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return a StableHLO module with functions of sizes: the condition, its checks, and the output shapes.

        ``@condition`` returns whether sizes meet the condition, ``@check`` asserts each requirement, with its operation
        and reason as the message, and ``@shape_NAME`` returns the shape of an output: of each operation of a program,
        each output of a model, and each array that a function returns. All take the sizes in the order of
        ``guard().parameters``. Comments name the outputs whose shapes sizes do not determine, and what the condition
        does not cover. See the README of `symbcast.answers.guards`. Raises `UnknownRankError` for sizes of a sequence.
        """
        from symbcast.answers.guards.stablehlo import stablehlo_source

        condition = self._decided(open, with_assumptions)
        return stablehlo_source(condition, self._shown, self._requirements(), self._outputs(), self._not_covered())

    def _requirements(self) -> Sequence[CheckedRequirement]:
        """Return the requirements of the condition, with the messages of their checks."""
        from symbcast.answers.guards.stablehlo import requirements_of

        return requirements_of(self.findings)

    @one_call
    def evaluate(self, sizes: Sizes | None = None, /, **named: int) -> Any:
        """Return the output shapes at given sizes, as tuples by name.

        Names that are not Python identifiers go into the mapping. An axis is None if data decide its size, and a shape
        is None if its rank is unknown. Raises `IncompatibleShapesError` if it fails at these sizes, with the operation
        that does, and `BindingError` for a size that is missing, unknown, not a size, or against the assumptions. Where
        the answer leaves open whether it works, these are the shapes if it does. `Shape.evaluate` is the same for one
        shape.

        >>> import symbcast as sb
        >>> env = sb.ShapeEnv()
        >>> x = env.matmul("batch, T, d", "k, 64", origin="proj")
        >>> env.evaluate(batch=2, T=7, d=32, k=32)
        {'proj': (2, 7, 64)}
        >>> env.evaluate(batch=2, T=7, d=32, k=5)
        Traceback (most recent call last):
            ...
        symbcast.IncompatibleShapesError: the program fails at batch=2, T=7, d=32, k=5: proj requires d == k
        """
        from symbcast.answers.public.evaluation import outputs_at

        return outputs_at(self, self._outputs(), sizes, named)

    def _outputs(self) -> Mapping[str, Shape | None]:
        """Return the output shapes by name; None for a shape that is unknown."""
        return {}

    def _not_covered(self) -> Iterator[str]:
        """Yield what the condition does not cover, as text."""
        parts = [str(part) for part in self.unanalysed]
        yield from (f"Not analysed: {part}" for part in parts)
        if self.verdict is Verdict.UNKNOWN and self.reason not in parts:
            yield f"Unknown: {self.reason}"
