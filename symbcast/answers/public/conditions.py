"""Conditions on sizes as values, and the answer for generic sizes as conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.answers.public.guard_methods import GuardMethods
from symbcast.answers.show.documented import Documented
from symbcast.core.advice import Guessable, guessed_meanings
from symbcast.core.algebra.formulas import Formula, all_of
from symbcast.core.effort import one_call
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.programs.conditions import Statement, condition_of_answer, tiers_and_verdict
from symbcast.core.programs.program import Program
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.show.document import Document, Room
    from symbcast.core.programs.certificates import Certificate


class Condition(Guessable, Statement, GuardMethods, Documented):
    """A condition on sizes, made from text, a sympy Boolean, an answer (where it is valid), or another condition.

    ``&``, ``|``, ``~`` and ``>>`` (implication) make new conditions; `implies` and `equivalent` decide. A condition
    has no truth value: ``==`` compares the written forms. ``~c`` holds exactly where ``c`` does not, as ``not`` in text
    does: a comparison with a term that has no value is false, so its negation is true there. It remembers the sizes of
    its question, even if the answer mentions fewer: its guard takes them all.

    sympy's functions take it as it is, except ``satisfiable`` and others that never sympify their argument: these would
    see an atom, which is always satisfiable. Give them ``condition.sympy``, or ask for the ``verdict``, which is exact.

    >>> import symbcast as sb
    >>> valid = Condition(sb.broadcast("N", "M"))
    >>> (valid & Condition("N >= 2 and M >= 2")).simplified()
    Condition('N == M and N >= 2')
    >>> Condition("N == M").implies(valid), valid.implies("N == M")
    (True, False)
    """

    __slots__ = ()

    _meanings = guessed_meanings(
        "holds evaluate eval check at holds_at is_true_at test -> guard()({sizes})",
        "solve find solutions -> witness()",
        "boolean expr expression to_sympy as_sympy -> sympy",
        "atoms args evalf -> sympy, which has them",
        "latex to_latex -> sympy.latex(condition)",
        "text to_text to_str to_dict -> str(condition)",
        "variables names free_vars params -> symbols",
        "shown parameters -> guard().parameters",
        "substitute bind -> subs(...)",
        "tiers -> explain(trace=True)",
        "proof prove verify certificate -> certify()",
        "simplify reduce minimize -> simplified()",
        "negate negated negation invert not_ -> ~condition",
        "and_ conjunction -> condition & other",
        "or_ disjunction -> condition | other",
        "example sample model solution -> witness()",
        "proves entails -> implies(...)",
        "is_satisfiable satisfiable sat unsat is_valid valid always never is_true is_false -> verdict",
        "equals same_as -> equivalent(...)",
        "conjuncts literals parts -> clauses",
    )

    @one_call
    def explain(self, assume: Assumptions = (), min_size: int = 0, *, trace: bool = False) -> str:
        """Return the condition and its meaning in words; with ``trace``, also the steps that decide its verdict.

        >>> print(Condition("N*M == 6 and K <= 4").explain(trace=True))
        M*N == 6 and K <= 4
        M*N is 6, and K is at most 4
        decided by   F2, sets of sizes, one name each: K
                     F4, products of sizes and symbolic divisors: N and M
        """
        if not trace:
            return self._in_words()
        tiers, verdict = tiers_and_verdict(self, assume, min_size)
        return self._in_words(tiers, lambda: verdict)

    @one_call
    def certify(self, assume: Assumptions = (), min_size: int = 0) -> Certificate:
        """Check with z3 what is said of the condition under assumptions: its verdict, and its simplified form.

        Each claim is proved from the condition as it was read, refuted, or undecided with the reason.

        >>> print(Condition("N == M or N != M and N == 1 or N//K == 2").certify())
        proved: wherever the constraints hold, the condition does
        proved: wherever the condition holds, the constraints do
        proved: the witness is valid
        proved: the counterexample is valid
        """
        from symbcast.core.programs.certificates import certify_condition

        return certify_condition(self, assume, min_size)

    @one_call
    def to_stablehlo(self, *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return a StableHLO module with the condition as a function of sizes, and as assertions.

        ``@condition`` returns whether it holds, ``@check`` asserts each part of it with a message; both take the sizes
        in the order of ``guard().parameters``. See the README of `symbcast.answers.guards`. Raises `UnknownRankError`
        for sizes of a sequence of axes.
        """
        from symbcast.answers.guards.stablehlo import stablehlo_source

        return stablehlo_source(self._decided(open, with_assumptions), self._shown)

    def _latex(self, printer: Any) -> str:
        """Return what sympy's LaTeX printer writes."""
        return str(printer._print(self.sympy))

    @one_call
    def _document(self, *_room: Room) -> Document:
        from symbcast.answers.show.document import condition_document

        return condition_document(self.formula)

    def _repr_latex_(self) -> str:
        return self._in_latex()


class PartialCase(NamedTuple):
    """The answer for some sizes.

    Attributes:
        where: the sizes that it is about.
        condition: when these work.
        verdict: whether they work always, sometimes or never.
    """

    where: Condition
    condition: Condition
    verdict: Verdict


class GenericAnswer(NamedTuple):
    """The answer for sizes from some bounds on, which is short, and those for smaller sizes.

    Attributes:
        large: the answer for sizes from some bounds on.
        exceptions: the answers for smaller sizes. No two are about the same sizes.
        unanalysed: the smaller sizes for which effort did not suffice; if there are none, the parts are the answer for
            all sizes.
    """

    large: PartialCase
    exceptions: tuple[PartialCase, ...]
    unanalysed: tuple[Condition, ...]


def generic_of(program: Program) -> GenericAnswer | None:
    """Return the answer of a program for large sizes; None if that for all sizes is decided and short."""
    parts = program.parts
    if parts is None:
        return None

    def condition(formula: Formula) -> Condition:
        return condition_of_answer(Condition, formula, program)

    large, small = parts.large, parts.small
    return GenericAnswer(
        PartialCase(
            condition(all_of(large.bounds)), condition(all_of(large.program.clauses)), large.program.decided_verdict
        ),
        tuple(PartialCase(condition(c.where), condition(all_of(c.clauses)), c.verdict) for c in small.cases),
        tuple(map(condition, small.unanalysed)),
    )
