"""Certificates of whole programs: z3 proves condition, shapes and verdict from the constraints of the operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.algebra.sequences import sequences_of
from symbcast.core.broadcasting.outputs import members_of
from symbcast.core.logic.formulas import Formula, all_of, negate
from symbcast.core.program.calls.call import Call
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof, Prover, certify, is_other
from symbcast.core.program.operations.operation import Op, emission_of
from symbcast.core.program.sizes.premises import assumed
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.text.printing import dim_text
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.whole.program import Program
    from symbcast.core.solver.linear.z3_solver import Session


Output: TypeAlias = tuple[str, Sequence[Formula], Formula]
"""A claim about an output, the constraints of the operations so far, and where the claim is wrong."""


class Question(NamedTuple):
    """The claims of an answer that z3 proves.

    Attributes:
        names: the name of each size.
        known: what holds of the sizes: their own bounds, and the assumptions.
        raw: the constraints as they were stated; together they decide whether something works.
        condition: the conjuncts of the condition that is shown.
        verdict: the verdict that is shown.
        points: the sizes shown at which it works and fails, by name.
    """

    names: Mapping[Symbol, str]
    known: Sequence[Formula]
    raw: Sequence[Formula]
    condition: Sequence[Formula]
    verdict: Verdict
    points: tuple[Mapping[str, int] | None, Mapping[str, int] | None]


def certify_answer(subject: Call | Program) -> Certificate:
    """Return z3's verdict on each claim of the answer about a call or a program."""
    if isinstance(subject, Call):
        return certify(subject)
    return certify_program(subject)


def certify_program(program: Program) -> Certificate:
    """Return z3's verdict on each claim of the answer about a program."""
    if sequences_of(program.shown):
        reason = "the program has operands of unknown rank"
        return Certificate((Claim("the condition holds wherever the constraints do", Proof.UNDECIDED, reason),))
    return Certificate((*certified(question_of(program), lambda: _outputs(program)), *evidence(question_of(program))))


def question_of(program: Program) -> Question:
    """Return the claims of a program that z3 proves."""
    return Question(
        program.shown,
        assumed(program.shown, program.assumptions, program.min_size),
        raw_constraints(program),
        program.clauses,
        program.verdict,
        (program.witness(), program.counterexample()),
    )


def raw_constraints(program: Program) -> list[Formula]:
    """Return the constraints of all operations, as their rules state them."""
    ops = (op for op in program.operations if op.kind != "assume")
    return list(dict.fromkeys(c.requirement for op in ops for c in op.constraints))


def certified(
    question: Question, outputs: Callable[[], Iterable[Output]] = tuple, *, is_sufficient: bool = True
) -> list[Claim]:
    """Return the claims about condition, verdict and outputs: each output with where it is something else.

    Where the condition is only necessary, that it suffices is not claimed.
    """
    from symbcast.core.solver.linear.z3_solver import on_worker

    def prove() -> list[Claim]:
        return [*_from_constraints(question, outputs()), *(_from_condition(question) if is_sufficient else ())]

    return on_worker(prove)


def proved(question: Question, questions: Mapping[str, Sequence[Formula]]) -> list[Claim]:
    """Return further claims, each with formulas that contradict what is known exactly if it is true."""
    from symbcast.core.solver.linear.z3_solver import on_worker

    def prove() -> list[Claim]:
        prover = Prover(_session(question))
        return [prover.claim(text, [formulas]) for text, formulas in questions.items()]

    return on_worker(prove)


def _session(question: Question, formulas: Iterable[Formula] = ()) -> Session:
    from symbcast.core.solver.linear.z3_solver import Session

    return Session(question.names, [*question.known, *formulas])


def _from_constraints(question: Question, outputs: Iterable[Output]) -> Iterator[Claim]:
    prover = Prover(_session(question, question.raw))
    text = "wherever the constraints hold, the condition does"
    yield prover.claim(text, ([negate(clause)] for clause in question.condition))
    if question.verdict is Verdict.NEVER:
        yield prover.claim("the constraints cannot hold together", [[]])
    # Later constraints are about these outputs: each is proved where the operations so far hold, not where all do.
    # Where they cannot all hold, anything would follow, and a wrong output could be what makes them clash.
    prover = Prover(_session(question))
    for shown, so_far, is_wrong in outputs:
        yield prover.claim(shown, [[*so_far, is_wrong]])


def _from_condition(question: Question) -> Iterator[Claim]:
    # What the condition repeats needs no proof.
    others = [f for f in question.raw if f not in question.condition]
    prover = Prover(_session(question, question.condition))
    yield prover.claim("wherever the condition holds, the constraints do", ([negate(f)] for f in others))
    if question.verdict is Verdict.ALWAYS:
        yield Prover(_session(question)).claim("the constraints cannot fail", ([negate(f)] for f in question.raw))


def _outputs(program: Program) -> Iterator[Output]:
    """Yield each claim about an axis of an output, the constraints so far, and where the axis is something else."""
    so_far: dict[Formula, None] = {}
    for op in program.operations:
        if op.kind != "assume":
            so_far.update(dict.fromkeys(c.requirement for c in op.constraints))
        for axis, (dim, is_wrong) in enumerate(_axes(op)):
            yield f"axis {axis} of {op.name} is {dim_text(dim)}", tuple(so_far), is_wrong


def _axes(op: Op) -> Iterator[tuple[Dim, Formula]]:
    if op.rule is None or op.output is None:
        return
    for dim, emitted in zip(op.output.dims, emission_of(op.rule, op.operands).output, strict=True):
        if (dim,) != tuple(members_of(emitted)):
            yield dim, is_other(dim, emitted)


def evidence(question: Question) -> list[Claim]:
    """Return the claims about the sizes shown, checked by evaluation."""
    claims = []
    whole, known = all_of(question.raw), all_of(question.known)
    for word, sizes, wanted in zip(("witness", "counterexample"), question.points, (True, False), strict=True):
        if sizes is None:
            continue
        at = {s: sizes[name] for s, name in question.names.items()}
        is_right = holds_at(known, at) and holds_at(whole, at) is wanted
        claims.append(Claim(f"the {word} is valid", Proof.PROVED if is_right else Proof.REFUTED))
    expected = {Verdict.SOMETIMES: 2, Verdict.ALWAYS: 1, Verdict.NEVER: 1}.get(question.verdict)
    if expected is None:
        claims.append(Claim("the verdict", Proof.UNDECIDED, "the answer leaves it open"))
    elif len(claims) != expected:
        claims.append(Claim("the verdict has its witness and counterexample", Proof.UNDECIDED))
    return claims
