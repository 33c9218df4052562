"""The proof of a contract: z3's answer, for each clause, to whether a size in the boxes violates it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.logic.formulas import Formula, all_of, any_of, at_most, equal, negate
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.solver.answer import Satisfiability
from symbcast.core.solver.budget import share
from symbcast.core.solver.evaluation.evaluation import predicate
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

    Ranges: TypeAlias = Mapping[Symbol, range]

PROVED = 500_000
"""Units of effort for the proof."""
_MOST_POINTS = 1 << 16
_PROOFS = {
    Satisfiability.UNSATISFIABLE: Proof.PROVED,
    Satisfiability.SATISFIABLE: Proof.REFUTED,
    Satisfiability.UNKNOWN: Proof.UNDECIDED,
}


def within(ranges: Ranges) -> Formula:
    """Return that sizes are in ranges, as a formula."""
    return all_of(part for s, sizes in ranges.items() for part in _parts(s, sizes))


def _parts(s: Symbol, sizes: range) -> Iterator[Formula]:
    if len(sizes) == 1:
        yield equal(s, sizes[0])
        return
    yield at_most(sizes[0], s)
    yield at_most(s, sizes[-1])
    if sizes.step > 1:
        yield equal(modulo(s, sizes.step), sizes[0] % sizes.step)


def prove(boxes: Sequence[Ranges], clauses: Iterable[tuple[Formula, str]]) -> Certificate:
    """Return the proof that all sizes of some boxes satisfy clauses, which are given with their texts."""
    return Certificate(tuple(_claims(boxes, list(clauses))))


def _claims(boxes: Sequence[Ranges], clauses: Sequence[tuple[Formula, str]]) -> Iterator[Claim]:
    for clause, text in clauses:
        symbols = tuple(symbols_in(clause))
        parts = list(dict.fromkeys(tuple(box[s] for s in symbols) for box in boxes))
        sets = [dict(zip(symbols, part, strict=True)) for part in parts]
        try:
            with share(PROVED):
                proof = _proof(symbols, sets, clause)
        except EffortSpentError:
            proof = Proof.UNDECIDED
        yield Claim(f"all sizes in the boxes satisfy {text}", proof)


def _proof(symbols: tuple[Symbol, ...], sets: Sequence[Ranges], clause: Formula) -> Proof:
    from symbcast.core.solver.linear.z3_solver import Session, on_worker

    asked = [any_of(map(within, sets)), negate(clause)]
    found = _PROOFS[on_worker(lambda: Session(symbols, asked).check())]
    if found is Proof.UNDECIDED and sum(prod(map(len, ranges.values())) for ranges in sets) <= _MOST_POINTS:
        return _by_points(symbols, sets, clause)
    return found


def _by_points(symbols: tuple[Symbol, ...], sets: Sequence[Ranges], clause: Formula) -> Proof:
    """Return whether a clause holds at every point, by evaluation, where z3 gives up on products."""
    holds = predicate(clause, symbols)
    for ranges in sets:
        charge(prod(map(len, ranges.values())))
        if not all(holds(*point) for point in product(*ranges.values())):
            return Proof.REFUTED
    return Proof.PROVED
