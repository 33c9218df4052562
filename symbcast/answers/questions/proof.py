"""Prove cases with z3: no two hold together, and they cover exactly the rules' requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.questions.cases import question_of
from symbcast.core.logic.formulas import all_of, any_of, negate
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.solver.answer import Satisfiability
from symbcast.core.solver.groups.normal_form import put_in
from symbcast.core.solver.linear.z3_solver import Session, on_worker
from symbcast.core.solver.sets.set_formulas import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symbcast.answers.questions.cases import Case, Division
    from symbcast.core.logic.formulas import Formula


def certify(cases: Division) -> Certificate:
    """Return what z3 proves about the cases from the raw constraints."""
    partition = question_of(cases).partition
    known = partition.knowledge
    guards, asked = [case.formula for case in cases], all_of(partition.asked)
    claims = [
        *((f"case {n} and those before it share no sizes", [g, any_of(guards[:n])]) for n, g in enumerate(guards) if n),
        ("wherever a case holds, the constraints do", [any_of(guards), negate(asked)]),
    ]
    if cases.is_complete:
        claims.append(("wherever the constraints hold, a case does", [asked, negate(any_of(guards))]))
    assumed = [*(describe(s, sizes) for s, sizes in known.domains.items()), *known.others]

    def prove() -> list[Claim]:
        session = Session(known.domains, assumed)
        return [Claim(t, _never(session, [put_in(f, known.values) for f in formulas])) for t, formulas in claims]

    evidence = [_evidence(case) for case in cases]
    return Certificate((*(on_worker(prove) if known.domains or guards else ()), *evidence))


def _never(session: Session, formulas: Sequence[Formula]) -> Proof:
    answer = session.check(formulas)
    if answer is Satisfiability.UNSATISFIABLE:
        return Proof.PROVED
    return Proof.REFUTED if answer is Satisfiability.SATISFIABLE else Proof.UNDECIDED


def _evidence(case: Case) -> Claim:
    is_inside = case.has(case.witness())
    return Claim(f"the witness of case {case.number} lies in it", Proof.PROVED if is_inside else Proof.REFUTED)
