"""Certificates: z3's answer to the raw constraints, independent of their simplification.

A certificate is about the constraints as rules state them, with what their terms need to have values. What it rests on
is small: the rules, the terms of sizes (sums and products are collected as they are read), the translation to z3, and
z3. No simplification, decision or evidence search of ours takes part. Effort is counted, as everywhere: a claim that
z3 leaves open within its limit is undecided, and says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from symbcast.core.algebra.sequences import mentions_rest
from symbcast.core.broadcasting.outputs import members_of
from symbcast.core.logic.formulas import Formula, all_of, any_of, equal, holds, negate
from symbcast.core.solver.answer import SHORT_LIMIT, Satisfiability
from symbcast.core.text.printing import dim_text, formula_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting import OutputDim
    from symbcast.core.program.calls.call import Call
    from symbcast.core.solver.linear.z3_solver import Session

_OPEN_AT_MOST = 4
"""After as many open questions, z3 gets less effort for each: it takes a second or more to give up."""
_LONGEST_TEXT = 80


class Proof(Enum):
    """The outcome of checking a claim."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Claim:
    """One claim of an answer, and whether z3 proved it."""

    text: str
    proof: Proof
    reason: str = ""
    """Why it is undecided, or what refutes it."""

    def __str__(self) -> str:
        return f"{self.proof.value}: {self.text}{f' ({self.reason})' if self.reason else ''}"


@dataclass(frozen=True)
class Certificate:
    """The claims of an answer; it is true if every claim is proved.

    >>> import symbcast
    >>> bool(symbcast.broadcast("N, 3", "M, 1").certify())
    True
    """

    claims: tuple[Claim, ...]

    def __bool__(self) -> bool:
        return all(claim.proof is Proof.PROVED for claim in self.claims)

    def __str__(self) -> str:
        return "\n".join(map(str, self.claims))


def certify(result: Call) -> Certificate:
    """Return z3's verdict on each claim of a result."""
    if result.scope is None:
        return _concrete(result)
    from symbcast.core.solver.linear.z3_solver import Session, on_worker

    scope = result.scope
    assumed = [a.formula for a in scope.assumed]
    raw = [c.requirement for c in result.constraints]

    def prove() -> list[Claim]:
        session = Session(scope.symbols, [*assumed, *_own_bounds(result)])
        return [Prover(session).claim(text, [formulas]) for text, formulas in _claims(result, raw)]

    claims = on_worker(prove)
    return Certificate((*claims, *_evidence(result, raw)))


def _claims(result: Call, raw: Sequence[Formula]) -> Iterable[tuple[str, list[Formula]]]:
    """Yield each claim with formulas that contradict each other exactly if it is true."""
    # If ranks were tried only up to a bound, the claims cover those ranks.
    condition = all_of(result.decision.clauses)
    whole = all_of(raw)
    yield "wherever the constraints hold, the condition does", [whole, negate(condition)]
    yield "wherever the condition holds, the constraints do", [condition, negate(whole)]
    if result.verdict is Verdict.ALWAYS:
        yield "the constraints cannot fail", [negate(whole)]
    if result.verdict is Verdict.NEVER:
        yield "the constraints cannot hold", [whole]
        sizes = [c.requirement for c in result.size_constraints()]
        yield "the constraints of the conflict clash", [*sizes, *(c.requirement for c in result.conflict)]
    elif result.laid_output is not None:
        for axis, (dim, emitted) in enumerate(zip(result.laid_output, result.emission.output, strict=True)):
            if mentions_rest(dim):
                continue  # each of its axes is a join of the same members
            yield f"output axis {axis} is {dim_text(dim)}", [whole, is_other(dim, emitted)]


def is_other(dim: Dim, emitted: OutputDim) -> Formula:
    """Return that a size is not what a rule emitted: the join of some members, or a size."""
    members = members_of(emitted)
    if len(members) == 1:
        return negate(equal(dim, members[0]))
    # The join o of the members: each is 1 or o, and o is 1 or one of them.
    bounds = [any_of([equal(m, 1), equal(m, dim)]) for m in members]
    among = any_of([all_of(equal(m, 1) for m in members), *(equal(dim, m) for m in members if m != 1)])
    ones = any_of([equal(dim, 1), *(negate(equal(m, 1)) for m in members)])
    return any_of(negate(f) for f in (*bounds, among, ones))


def _own_bounds(result: Call) -> list[Formula]:
    from symbcast.core.program.sizes.premises import own_set
    from symbcast.core.solver.sets.set_formulas import describe

    assert result.scope is not None
    return [describe(s, own_set(s, result.scope.min_size)) for s in result.scope.symbols]


class Prover:
    """Proves claims with z3, each from formulas that contradict what a session asserts exactly if it is true."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open = 0

    def claim(self, text: str, questions: Iterable[Sequence[Formula]]) -> Claim:
        """Return a claim that is true if each question is contradictory; the first that is not decides."""
        open_reason = ""
        for formulas in questions:
            answer = self._session.check(formulas)
            if answer is Satisfiability.SATISFIABLE:
                found = self._session.model()
                shown = ", ".join(f"{s.name}={size}" for s, size in found.items())
                return Claim(text, Proof.REFUTED, f"at {shown}" if shown else "")
            if answer is Satisfiability.UNKNOWN:
                open_reason = open_reason or f"z3: {self._session.reason}: {_shortened(formulas)}"
                self._open += 1
                if self._open > _OPEN_AT_MOST:
                    self._session.limit = SHORT_LIMIT
        return Claim(text, Proof.UNDECIDED if open_reason else Proof.PROVED, open_reason)


def _shortened(formulas: Sequence[Formula]) -> str:
    text = formula_text(formulas[-1]) if formulas else "the constraints"
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def _evidence(result: Call, raw: Sequence[Formula]) -> list[Claim]:
    """Return the claims about the witness and the counterexample, checked by evaluation."""
    from symbcast.core.solver.evaluation.evaluation import predicate

    assert result.scope is not None
    test = predicate(all_of(raw), result.scope.symbols)
    known = [*(a.formula for a in result.scope.assumed), *_own_bounds(result)]
    assumed = predicate(all_of(known), result.scope.symbols)
    claims = []
    for word, sizes, wanted in (
        ("witness", result.witness(), True),
        ("counterexample", result.counterexample(), False),
    ):
        if sizes is not None and result.is_open:
            proof = Proof.PROVED if _is_valid_at(result, sizes) is wanted else Proof.REFUTED
            claims.append(Claim(f"the {word} is valid", proof))
        elif sizes is not None:
            values = [sizes[name] for name in result.scope.names.values()]
            right = assumed(*values) and bool(test(*values)) is wanted
            claims.append(Claim(f"the {word} is valid", Proof.PROVED if right else Proof.REFUTED))
    expected = {Verdict.SOMETIMES: 2, Verdict.ALWAYS: 1, Verdict.NEVER: 1}.get(result.verdict)
    if expected is not None and len(claims) != expected:
        claims.append(Claim("the verdict has its witness and counterexample", Proof.UNDECIDED))
    return claims


def _is_valid_at(result: Call, sizes: Mapping[str, int]) -> bool:
    """Return whether operands broadcast at sizes; raise `BindingError` if the assumptions exclude these."""
    from symbcast.core.program.calls.bindings import bind
    from symbcast.core.program.calls.call import Call

    shapes = bind(result, sizes, {}).shapes
    try:
        return shapes is not None and Call(result.rule, shapes, None).verdict is Verdict.ALWAYS
    except RuleArgumentError:
        return False  # the rule does not accept these ranks


def _concrete(result: Call) -> Certificate:
    valid = all(holds(c.requirement) for c in result.constraints)
    right = valid is (result.verdict is Verdict.ALWAYS)
    return Certificate((Claim("the constraints on integers were evaluated", Proof.PROVED if right else Proof.REFUTED),))
