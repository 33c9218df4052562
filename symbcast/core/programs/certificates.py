"""What is proved of an answer: relations that hold wherever it is valid, equivalent answers, and certificates.

For a certificate, z3 checks the claims of an answer against the constraints as rules and users state them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.core.advice import with_advice
from symbcast.core.algebra.arithmetic import add, check_min_size
from symbcast.core.algebra.formulas import (
    TRUE,
    Comparison,
    Formula,
    Leaf,
    all_of,
    any_of,
    at_most,
    clauses,
    equal,
    holds,
    negate,
    operations_in,
    with_dims,
    with_leaves,
    with_values,
)
from symbcast.core.algebra.symbols import SequenceSymbol, Unknown, mentions_rest, sequences_of, symbol, without_clashes
from symbcast.core.algebra.term_arithmetic import Substitution, sides_of
from symbcast.core.algebra.terms import Dim, Operation, Symbol, term
from symbcast.core.effort import QUICK_LIMIT, SHORT_LIMIT, Satisfiability, call_about, one_call
from symbcast.core.programs import arguments, conditions
from symbcast.core.programs.arguments import Assumption, Assumptions
from symbcast.core.programs.broadcast_call import BroadcastCall, PublicAnswer
from symbcast.core.programs.condition_sizes import ConditionSizes, QuestionFormulas, Refutation
from symbcast.core.programs.conditions import ConditionLike, Statement
from symbcast.core.programs.operations import Op, emission_of
from symbcast.core.programs.program import Program
from symbcast.core.rules import OutputDim
from symbcast.core.rules.broadcast_rule import members_of, same_open_output, same_output
from symbcast.core.rules.declaration import Constraint
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import holds_at, predicate, replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.points import GivenUpError
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text, formula_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError, ShapeTypeError, UndecidedError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.solver.f3_linear.z3_solver import Session


# Consequences of an answer, and equivalent answers.


Answer: TypeAlias = BroadcastCall | Program
Names: TypeAlias = Mapping[Symbol, Symbol]
"""What each size of an answer is called in a question about several answers."""


@one_call
def implies(answer: Answer, relation: ConditionLike) -> bool:
    """Return whether a relation holds at all sizes at which an answer is valid under its assumptions.

    Raises `UndecidedError` if this is beyond the limits.
    """
    return _beyond(answer, relation)[0].is_impossible


@one_call
def counterexample(answer: Answer, relation: ConditionLike) -> dict[str, int] | None:
    """Return the smallest valid sizes of an answer at which a relation does not hold; None if there are none.

    Raises `UndecidedError` if this is beyond the limits.
    """
    refutation, names = _beyond(answer, relation)
    return refutation.witness(names)


def _beyond(answer: Answer, relation: ConditionLike) -> tuple[Refutation, Mapping[Symbol, str]]:
    """Return where an answer is valid and a relation does not hold, and the names of sizes there."""
    # Of sizes that the answer does not know, nothing is known; axes of sequences have its least size.
    return conditions.refuting_sizes(Statement(answer), relation, known_of(answer), 0, answer.min_size)


@one_call
def is_valid_exactly_where(answer: Answer, relation: ConditionLike) -> bool:
    """Return whether an answer is valid exactly where a relation holds, among the sizes that its assumptions allow.

    Raises `UndecidedError` if this is beyond the limits.
    """
    return implies(answer, relation) and Statement(relation).implies(Statement(answer), known_of(answer))


@with_advice
@one_call
def equivalent(first: Answer | PublicAnswer, second: Answer | PublicAnswer) -> bool:
    """Return whether two answers are valid at the same sizes; of two broadcasts, also whether the outputs are equal.

    Only sizes that the assumptions of both allow are compared; names, and labels that a user gave to unknowns,
    mean the same in both. Raises `UndecidedError` if this is beyond the limits, `AssumptionError` if no sizes
    meet the assumptions of both, and `ShapeTypeError` for an argument that is not an answer.

    >>> by_numpy = BroadcastCall.of(["N", "M"], "numpy", {}, "N >= 2", 0)
    >>> equivalent(by_numpy, BroadcastCall.of(["N", "M"], "pdpd", {}, (), 0))
    True
    """
    left, right = conditions.plain_answer(first), conditions.plain_answer(second)
    for answer in (left, right):
        if not isinstance(answer, (BroadcastCall, Program)):
            hint = "pass the result of sb.broadcast or a ShapeEnv; for conditions use sb.Condition(...).equivalent(...)"
            raise ShapeTypeError(answer, "an answer", hint)
    with call_about(right):
        return _equivalent(left, right)


def _equivalent(first: Answer, second: Answer) -> bool:
    ours = conditions.named_sizes(first)
    theirs = _beside(conditions.named_sizes(second), ours)
    known = [Assumption(f) for f in (*_assumed(first, ours), *_assumed(second, theirs))]
    order = dict.fromkeys((*ours.values(), *theirs.values()))
    left, right = (_put(all_of(answer.clauses), names) for answer, names in ((first, ours), (second, theirs)))
    if sequences_of(order):
        outputs: Formula = TRUE
        if isinstance(first, BroadcastCall) and isinstance(second, BroadcastCall):
            outputs = _put(same_open_output(first.emission.output, second.emission.output), {**theirs, **ours})
        formulas = QuestionFormulas((), [left, right, outputs], [a.formula for a in known])
        of_both = ConditionSizes(order, formulas, 0, _least_of_both(first, second))
        ways = ((left, right), (right, left), (left, outputs))
        return all(Refutation(of_both, holds, fails).is_impossible for holds, fails in ways)
    sizes = arguments.assumption_set(order, known, 0)
    for asked_for in ([left, negate(right)], [right, negate(left)]):
        if not _never(Decision(sizes, asked_for)):
            return False
    if not (isinstance(first, BroadcastCall) and isinstance(second, BroadcastCall)):
        return True
    # Outputs are compared only where both are valid: elsewhere there is none.
    same = _put(same_output(first.emission.output, second.emission.output), {**theirs, **ours})
    return _never(Decision(sizes, [left, negate(same)]))


def _least_of_both(first: Answer, second: Answer) -> int:
    """Return the minimum size of axes of sequences, which must be the same in both answers."""
    least = first.min_size
    if second.min_size != least:
        raise UnknownRankError("equivalent", "answers with two min_size", "give both the same min_size")
    return least


def _never(decision: Decision) -> bool:
    """Return whether nothing satisfies a decision; raise `UndecidedError` if that is undecided."""
    if decision.satisfiable is None:
        raise UndecidedError(decision.reason)
    return not decision.satisfiable


def _beside(theirs: Names, ours: Names) -> Names:
    """Return the names of sizes, shown next to those of another answer: unknowns with the same user label match."""
    labelled = {s.name: s for s in ours.values() if isinstance(s, Unknown) and not s.name[1:].isdecimal()}
    placed = without_clashes(theirs.values(), ours.values())
    return {s: labelled.get(n.name, n) if isinstance(n, Unknown) else placed.get(n, n) for s, n in theirs.items()}


def _assumed(answer: Answer, names: Names) -> Sequence[Formula]:
    """Return all assumptions of an answer: those implied for each size, and the explicit ones."""
    renamed = _renamed(names)
    return [
        replace_in_formula(formula, renamed)
        for formula in arguments.assumed_formulas(names, answer.assumptions, answer.min_size)
    ]


def known_of(answer: Answer) -> list[Statement]:
    """Return all assumptions of an answer as conditions on the sizes that their names refer to."""
    return list(map(Statement, _assumed(answer, conditions.named_sizes(answer))))


def _put(formula: Formula, names: Names) -> Formula:
    return replace_in_formula(formula, _renamed(names))


def _renamed(names: Names) -> dict[Any, Any]:
    return {s: n for s, n in names.items() if s is not n}


# Certificates: z3's answer to the raw constraints, independent of their simplification.
#
# A certificate is about the constraints as rules state them, with what their terms need to have values. What it rests
# on is small: the rules, the terms of sizes (sums and products are collected as they are read), the translation to z3,
# and z3. No simplification, decision or evidence search of ours takes part. Effort is counted, as everywhere: a claim
# that z3 leaves open within its limit is undecided, and says why.


# After as many open questions, z3 gets less effort for each: it takes a second or more to give up.
_OPEN_AT_MOST = 4
# At most so many joins are divided into cases, four each.
_JOINS_AT_MOST = 2
# At most so many sizes are written as multiples.
_DIVIDED_AT_MOST = 8


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


def certify_call(result: BroadcastCall) -> Certificate:
    """Return z3's verdict on each claim of a result."""
    if result.scope is None:
        return _concrete(result)
    from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker

    scope = result.scope
    assumed = [a.formula for a in scope.assumed]
    raw = [c.requirement for c in result.constraints]

    def prove() -> list[Claim]:
        session = Session(scope.symbols, [*assumed, *_own_bounds(result)])
        return [Prover(session).claim(text, [formulas]) for text, formulas in _claims(result, raw)]

    claims = on_worker(prove)
    return Certificate((*claims, *_evidence(result, raw)))


def _claims(result: BroadcastCall, raw: Sequence[Formula]) -> Iterable[tuple[str, list[Formula]]]:
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
    elif result.aligned_output is not None:
        for place, (dim, emitted) in enumerate(zip(result.aligned_output, result.emission.output, strict=True)):
            if mentions_rest(dim):
                continue  # each of its axes is a join of the same members
            axis = _axis(result.aligned_output, place)
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


def _own_bounds(result: BroadcastCall) -> list[Formula]:
    assert result.scope is not None
    return [set_formula(s, arguments.own_set(s, result.scope.min_size)) for s in result.scope.symbols]


class Prover:
    """Proves claims with z3, each from formulas that contradict what a session asserts exactly if it is true."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open = 0

    def claim(self, text: str, questions: Iterable[Sequence[Formula]]) -> Claim:
        """Return a claim that is true if each question is contradictory; the first that is not decides."""
        open_reason = ""
        for formulas in questions:
            if self._clash_as_multiples(formulas):
                continue
            answer = self._session.check(formulas)
            if answer is Satisfiability.SATISFIABLE:
                point = self._session.sizes
                shown = ", ".join(f"{s.name}={size}" for s, size in point.items())
                return Claim(text, Proof.REFUTED, f"at {shown}" if shown else "")
            if answer is Satisfiability.UNKNOWN:
                if self._clash_by_joins([*self._session.formulas, *formulas], _JOINS_AT_MOST):
                    continue
                open_reason = open_reason or f"z3: {self._session.reason}: {_last_text(formulas)}"
                self._open += 1
                if self._open > _OPEN_AT_MOST:
                    self._session.limit = SHORT_LIMIT
        return Claim(text, Proof.UNDECIDED if open_reason else Proof.PROVED, open_reason)

    def _clash_by_joins(self, formulas: Sequence[Formula], most: int) -> bool:
        """Return whether z3 refutes the formulas in each case of their joins, in which a join is one of its members."""
        from symbcast.core.solver.f3_linear.z3_solver import some_point

        divided = cases_of_join(formulas) if most else []
        if divided:
            return all(self._clash_by_joins(case, most - 1) for case in divided)
        symbols = dict.fromkeys(s for f in formulas for s in symbols_in(f))
        with suppress(GivenUpError):
            return some_point(tuple(symbols), formulas, QUICK_LIMIT) is None
        return False

    def _clash_as_multiples(self, formulas: Sequence[Formula]) -> bool:
        """Return whether z3 refutes the formulas with sizes as multiples: with divisions it computes long, in vain."""
        from symbcast.core.solver.f3_linear.z3_solver import some_point

        whole = [*self._session.formulas, *formulas]
        rewritten = as_multiples(whole)
        if rewritten == whole:
            return False
        symbols = dict.fromkeys(s for f in rewritten for s in symbols_in(f))
        for nlsat in (False, True):
            with suppress(GivenUpError):
                return some_point(tuple(symbols), rewritten, QUICK_LIMIT, nlsat=nlsat) is None
        return False


def cases_of_join(formulas: Sequence[Formula]) -> list[list[Formula]]:
    """Return the cases of the first join of two terms, without it where it has a value; none if there is no join.

    One member is 1 and the join is the other, or both are equal and the join is either, or it has no value. Replacing a
    term by one of the same value keeps what a formula says, once what each term needs to have a value is written out.
    """
    joins = (o for f in formulas for o in operations_in(f) if o.kind == "join" and len(o.args) == 2)
    join = next(joins, None)
    if join is None:
        return []
    written = [with_values(f) for f in formulas]
    left, right = (a.dim() for a in join.args)
    cases = [(equal(left, 1), join.args[1]), (equal(right, 1), join.args[0]), (equal(left, right), join.args[0])]
    divided = []
    for case, value in cases:
        put = Substitution({join: value}, of_symbols=False)
        divided.append([*(with_dims(f, put.dim) for f in written), case])
    return [*divided, [*written, *(negate(case) for case, _ in cases)]]


def as_multiples(formulas: Sequence[Formula]) -> list[Formula]:
    """Return formulas that can hold exactly if the given ones can, without quotients of sizes by terms.

    For all x and b there are sizes q and r with ``x == b*q + r``, where ``r < b``, or q is 0 if b is: q is ``x // b``.
    """
    changed = list(formulas)
    for n in range(_DIVIDED_AT_MOST):
        operations = (o for f in changed for o in operations_in(f) if o.kind in ("//", "%"))
        divided = next((o for o in operations if _is_size_by_term(o)), None)
        if divided is None:
            break
        dividend, divisor = divided.args
        quotient, rest = symbol(f"quotient#{n}"), symbol(f"remainder#{n}")
        values = {
            Operation("//", divided.args): quotient,
            Operation("%", divided.args): rest,
            dividend: quotient * divisor + rest,
        }
        put = Substitution(values, of_symbols=False)
        by = divisor.dim()
        is_below = any_of(
            [all_of([equal(by, 0), equal(quotient, 0)]), all_of([at_most(1, by), at_most(add(rest, 1), by)])]
        )
        changed = [*(with_leaves(with_dims(with_values(f), put.dim), _cancelled) for f in changed), is_below]
    return changed


def _cancelled(leaf: Leaf) -> Formula:
    """Return a comparison without what both sides have; a sum of products of sizes is 0 where each has a factor 0."""
    if not isinstance(leaf, Comparison):
        return leaf
    left, right = sides_of(term(leaf.left) - term(leaf.right))
    whole = left + right
    if leaf.operator not in ("==", "!=") or (left.coefficients and right.coefficients) or whole.has_operations:
        return Comparison(leaf.operator, left.dim(), right.dim())
    is_zero = all_of(any_of(equal(factor, 0) for factor in dict.fromkeys(m)) for m in whole.coefficients)
    return is_zero if leaf.operator == "==" else negate(is_zero)


def _is_size_by_term(operation: Operation) -> bool:
    """Return whether an operation divides a size by a term without it that is a product or sum of other sizes."""
    dividend, divisor = operation.args
    is_plain = dividend.is_Symbol and not divisor.is_constant and not divisor.has_operations
    return is_plain and divisor.is_at_least(0) and dividend not in divisor.symbols()


def _last_text(formulas: Sequence[Formula]) -> str:
    return formula_text(formulas[-1]) if formulas else "the constraints"


def _evidence(result: BroadcastCall, raw: Sequence[Formula]) -> list[Claim]:
    """Return the claims about the witness and the counterexample, checked by evaluation."""
    assert result.scope is not None
    test = predicate(all_of(raw), result.scope.symbols)
    known = [*(a.formula for a in result.scope.assumed), *_own_bounds(result)]
    assumed = predicate(all_of(known), result.scope.symbols)
    claims = []
    for word, sizes, is_valid in (
        ("witness", result.witness(), True),
        ("counterexample", result.counterexample(), False),
    ):
        if sizes is not None and result.is_open:
            proof = Proof.PROVED if _is_valid_at(result, sizes) is is_valid else Proof.REFUTED
            claims.append(Claim(f"the {word} is valid", proof))
        elif sizes is not None:
            values = [sizes[name] for name in result.scope.names.values()]
            right = assumed(*values) and bool(test(*values)) is is_valid
            claims.append(Claim(f"the {word} is valid", Proof.PROVED if right else Proof.REFUTED))
    expected = {Verdict.SOMETIMES: 2, Verdict.ALWAYS: 1, Verdict.NEVER: 1}.get(result.verdict)
    if expected is not None and len(claims) != expected:
        claims.append(Claim("the verdict has its witness and counterexample", Proof.UNDECIDED))
    return claims


def _is_valid_at(result: BroadcastCall, sizes: Mapping[str, int]) -> bool:
    """Return whether operands broadcast at sizes; raise `BindingError` if the assumptions exclude these."""
    from symbcast.core.programs.bindings import bind

    shapes = bind(result, sizes, {}).shapes
    try:
        return shapes is not None and BroadcastCall(result.rule_at_sizes, shapes, None).verdict is Verdict.ALWAYS
    except RuleArgumentError:
        return False  # the rule does not accept these ranks


def _concrete(result: BroadcastCall) -> Certificate:
    valid = all(holds(c.requirement) for c in result.constraints)
    right = valid is (result.verdict is Verdict.ALWAYS)
    return Certificate((Claim("the constraints on integers were evaluated", Proof.PROVED if right else Proof.REFUTED),))


Output: TypeAlias = tuple[str, Sequence[Formula], Formula]
"""A claim about an output, the constraints of the operations so far, and where the claim is wrong."""


class ProofQuestion(NamedTuple):
    """What z3 proves the claims of an answer from.

    Attributes:
        names: the name of each size.
        known: what holds of the sizes: their own bounds, and the assumptions.
        raw: the constraints as they were stated; together they decide whether something works.
    """

    names: Mapping[Symbol, str]
    known: Sequence[Formula]
    raw: Sequence[Formula]


def certify_answer(subject: BroadcastCall | Program) -> Certificate:
    """Return z3's verdict on each claim of the answer about a call or a program."""
    if isinstance(subject, BroadcastCall):
        return certify_call(subject)
    return certify_program(subject)


def certify_program(program: Program) -> Certificate:
    """Return z3's verdict on each claim of the answer about a program."""
    if sequences_of(program.shown):
        reason = "the program has operands of unknown rank"
        return Certificate((Claim("the condition holds wherever the constraints do", Proof.UNDECIDED, reason),))
    question = proof_question(program)
    points = program.witness(), program.counterexample()  # before the proofs, which may take all effort
    claims = answer_claims(question, program.clauses, program.verdict, lambda: _outputs(program))
    return Certificate((*claims, *evidence_claims(question, program.verdict, points)))


def proof_question(program: Program) -> ProofQuestion:
    """Return what z3 proves the claims of a program from."""
    known = arguments.assumed_formulas(program.shown, program.assumptions, program.min_size)
    return ProofQuestion(program.shown, known, raw_constraints(program))


def constraints_of(answer: Answer) -> tuple[Constraint, ...]:
    """Return the constraints of all operations as their rules state them."""
    if isinstance(answer, BroadcastCall):
        return answer.constraints
    return tuple(c for op in answer.operations if op.kind != "assume" for c in op.constraints)


def raw_constraints(program: Program) -> list[Formula]:
    """Return the constraints of all operations, as their rules state them."""
    return list(dict.fromkeys(c.requirement for c in constraints_of(program)))


def answer_claims(
    question: ProofQuestion,
    condition: Sequence[Formula],
    verdict: Verdict,
    outputs: Callable[[], Iterable[Output]] = tuple,
    *,
    is_sufficient: bool = True,
) -> list[Claim]:
    """Return the claims about condition and verdict as they are shown, and outputs: where each is something else.

    Where the condition is only necessary, that it suffices is not claimed.
    """
    from symbcast.core.solver.f3_linear.z3_solver import on_worker

    def prove() -> list[Claim]:
        stated = _from_constraints(question, condition, verdict, outputs())
        return [*stated, *(_from_condition(question, condition, verdict) if is_sufficient else ())]

    return on_worker(prove)


def further_claims(question: ProofQuestion, questions: Mapping[str, Sequence[Formula]]) -> list[Claim]:
    """Return further claims, each with formulas that contradict what is known exactly if it is true."""
    from symbcast.core.solver.f3_linear.z3_solver import on_worker

    def prove() -> list[Claim]:
        prover = Prover(_session(question))
        return [prover.claim(text, [formulas]) for text, formulas in questions.items()]

    return on_worker(prove)


def _session(question: ProofQuestion, formulas: Iterable[Formula] = ()) -> Session:
    from symbcast.core.solver.f3_linear.z3_solver import Session

    return Session(question.names, [*question.known, *formulas])


def _from_constraints(
    question: ProofQuestion, condition: Sequence[Formula], verdict: Verdict, outputs: Iterable[Output]
) -> Iterator[Claim]:
    prover = Prover(_session(question, question.raw))
    text = "wherever the constraints hold, the condition does"
    yield prover.claim(text, ([negate(clause)] for clause in condition))
    if verdict is Verdict.NEVER:
        yield prover.claim("the constraints cannot hold together", [[]])
    # Later constraints are about these outputs: each is proved where the operations so far hold, not where all do.
    # Where they cannot all hold, anything would follow, and a wrong output could be what makes them clash.
    prover = Prover(_session(question))
    for shown, so_far, is_wrong in outputs:
        yield prover.claim(shown, [[*so_far, is_wrong]])


def _from_condition(question: ProofQuestion, condition: Sequence[Formula], verdict: Verdict) -> Iterator[Claim]:
    # What the condition repeats needs no proof.
    others = [f for f in question.raw if f not in condition]
    prover = Prover(_session(question, condition))
    yield prover.claim("wherever the condition holds, the constraints do", ([negate(f)] for f in others))
    if verdict is Verdict.ALWAYS:
        yield Prover(_session(question)).claim("the constraints cannot fail", ([negate(f)] for f in question.raw))


def _outputs(program: Program) -> Iterator[Output]:
    """Yield each claim about an axis of an output, the constraints so far, and where the axis is something else."""
    so_far: dict[Formula, None] = {}
    for op in program.operations:
        if op.kind != "assume":
            so_far.update(dict.fromkeys(c.requirement for c in op.constraints))
        for axis, dim, is_wrong in _axes(op):
            yield f"axis {axis} of {op.name} is {dim_text(dim)}", tuple(so_far), is_wrong


def _axes(op: Op) -> Iterator[tuple[int, Dim, Formula]]:
    """Yield the axes whose size is not what the rule emitted, word for word."""
    if op.rule is None or op.output is None:
        return
    dims = op.output.dims
    for place, (dim, emitted) in enumerate(zip(dims, emission_of(op.rule, op.operands).output, strict=True)):
        if (dim,) != tuple(members_of(emitted)):
            yield _axis(dims, place), dim, is_other(dim, emitted)


def _axis(dims: Sequence[Dim], place: int) -> int:
    """Return the number of an axis: from the end, below 0, where it comes after axes of unknown number."""
    return place - len(dims) if any(map(mentions_rest, dims[:place])) else place


def evidence_claims(
    question: ProofQuestion, verdict: Verdict, points: Sequence[Mapping[str, int] | None]
) -> list[Claim]:
    """Return the claims about the sizes shown, checked by evaluation."""
    claims = []
    whole, known = all_of(question.raw), all_of(question.known)
    for word, sizes, is_valid in zip(("witness", "counterexample"), points, (True, False), strict=True):
        if sizes is None:
            continue
        at = {s: sizes[name] for s, name in question.names.items()}
        is_right = holds_at(known, at) and holds_at(whole, at) is is_valid
        claims.append(Claim(f"the {word} is valid", Proof.PROVED if is_right else Proof.REFUTED))
    expected = {Verdict.SOMETIMES: 2, Verdict.ALWAYS: 1, Verdict.NEVER: 1}.get(verdict)
    if expected is None:
        claims.append(Claim("the verdict", Proof.UNDECIDED, "the answer leaves it open"))
    elif len(claims) != expected:
        claims.append(Claim("the verdict has its witness and counterexample", Proof.UNDECIDED))
    return claims


def certify_condition(statement: Statement, assume: Assumptions, min_size: int) -> Certificate:
    """Return z3's verdict on what is said of a condition, from its formula as it was read."""
    assumptions = arguments.read_assumptions(assume)
    known = [s for a in assumptions for s in symbols_in(a.formula)]
    names = {
        s: conditions.condition_names(statement).get(s, s.name)
        for s in (*conditions.condition_names(statement), *known)
    }
    if any(isinstance(s, SequenceSymbol) for s in names):
        reason = "the condition is about sequences of axes"
        return Certificate((Claim("the simplified condition is the same", Proof.UNDECIDED, reason),))
    question = ProofQuestion(
        names, arguments.assumed_formulas(names, assumptions, check_min_size(min_size)), clauses(statement.formula)
    )
    verdict = statement.verdict_under(assume, min_size)
    condition = clauses(statement.simplified(assume, min_size).formula)
    points: Sequence[Mapping[str, int] | None] = ()
    reason = ""
    try:
        points = statement.witness(assume, min_size), statement.counterexample(None, assume, min_size)
    except UndecidedError as error:
        reason = str(error)
    claims = answer_claims(question, condition, verdict)
    if reason:
        return Certificate((*claims, Claim("the verdict", Proof.UNDECIDED, reason)))
    ones = dict.fromkeys(names.values(), max(1, min_size))
    shown = [None if sizes is None else {**ones, **sizes} for sizes in points]
    return Certificate((*claims, *evidence_claims(question, verdict, shown)))
