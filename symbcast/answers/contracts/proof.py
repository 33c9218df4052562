"""The proof of a contract: z3's answer, for each clause, to whether a size in the boxes violates it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.algebra.formulas import Formula, all_of, any_of, at_most, equal, negate
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import EffortSpentError, Satisfiability, budget_share, charge
from symbcast.core.programs.certificates import Certificate, Claim, Proof
from symbcast.core.solver.evaluation import predicate, symbols_in

if TYPE_CHECKING:
    Ranges: TypeAlias = Mapping[Symbol, range]

# Units of effort for the proof.
PROVED = 500_000
_MOST_POINTS = 1 << 16
_PROOFS = {
    Satisfiability.UNSATISFIABLE: Proof.PROVED,
    Satisfiability.SATISFIABLE: Proof.REFUTED,
    Satisfiability.UNKNOWN: Proof.UNDECIDED,
}


def inside_boxes(ranges: Ranges) -> Formula:
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


def prove_contract(boxes: Sequence[Ranges], clauses: Iterable[tuple[Formula, str]]) -> Certificate:
    """Return the proof that all sizes of some boxes satisfy clauses, which are given with their texts."""
    return Certificate(tuple(_claims(boxes, list(clauses))))


def _claims(boxes: Sequence[Ranges], clauses: Sequence[tuple[Formula, str]]) -> Iterator[Claim]:
    for clause, text in clauses:
        symbols = tuple(symbols_in(clause))
        parts = _merged(dict.fromkeys(tuple(box[s] for s in symbols) for box in boxes))
        sets = [dict(zip(symbols, part, strict=True)) for part in parts]
        try:
            with budget_share(PROVED):
                proof = _proof(symbols, sets, clause)
        except EffortSpentError:
            proof = Proof.UNDECIDED
        yield Claim(f"all sizes in the boxes satisfy {text}", proof)


def _merged(boxes: Iterable[tuple[range, ...]]) -> list[tuple[range, ...]]:
    """Return the same points as fewer boxes: those that differ in one size only, with single values, become ranges."""
    merged = list(boxes)
    for axis in range(len(merged[0]) if len(merged) > 1 else 0):
        values: dict[tuple[range, ...], list[int]] = {}
        others = []
        for box in merged:
            if len(box[axis]) == 1:
                values.setdefault((*box[:axis], *box[axis + 1 :]), []).append(box[axis][0])
            else:
                others.append(box)
        for rest, sizes in values.items():
            charge(len(sizes))
            others += [(*rest[:axis], run, *rest[axis:]) for run in _runs(sorted(sizes))]
        merged = others
    return merged


def _runs(sizes: Sequence[int]) -> Iterator[range]:
    """Yield ascending sizes as progressions, each as long as possible."""
    start = 0
    while start < len(sizes):
        step = sizes[start + 1] - sizes[start] if start + 1 < len(sizes) else 1
        end = start + 1
        while end < len(sizes) and sizes[end] - sizes[end - 1] == step:
            end += 1
        yield range(sizes[start], sizes[end - 1] + 1, step)
        start = end


def _proof(symbols: tuple[Symbol, ...], sets: Sequence[Ranges], clause: Formula) -> Proof:
    from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker

    refutation = [any_of(map(inside_boxes, sets)), negate(clause)]
    proof = _PROOFS[on_worker(lambda: Session(symbols, refutation).check())]
    # z3 gives up on products; a few points are simply evaluated.
    if proof is Proof.UNDECIDED and sum(prod(map(len, ranges.values())) for ranges in sets) <= _MOST_POINTS:
        return _by_points(symbols, sets, clause)
    return proof


def _by_points(symbols: tuple[Symbol, ...], sets: Sequence[Ranges], clause: Formula) -> Proof:
    """Return whether a clause holds at every point, by evaluation, where z3 gives up on products."""
    holds = predicate(clause, symbols)
    for ranges in sets:
        charge(prod(map(len, ranges.values())))
        if not all(holds(*point) for point in product(*ranges.values())):
            return Proof.REFUTED
    return Proof.PROVED
