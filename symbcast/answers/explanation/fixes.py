"""One change that makes a broadcast valid, checked by deciding the changed question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, permutations
from typing import Any
from weakref import WeakKeyDictionary

from symbcast.answers.explanation.evidence import Alignment, AxisMark
from symbcast.answers.explanation.words import Namer, axis_text
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import Comparison, Compatible, Formula, dims_of, equal, literals, with_values
from symbcast.core.algebra.symbols import SequenceSymbol, Unknown, symbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import prose_list, shorten_end
from symbcast.core.programs.arguments import Assumption, assumed_formulas
from symbcast.core.programs.broadcast_call import NOTHING, ZERO, BroadcastCall
from symbcast.core.rules import AtRight, AttributeValue, Rule, find_rule
from symbcast.core.rules.declaration import Remedy
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.evaluation import holds_at, replace_in_formula, symbols_in, value_at
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import labels_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError

TRIED = 40
MANY_SYMBOLS = 100
TRIED_OF_MANY = 4
LONGEST = 160
MARKED = 32
_known: WeakKeyDictionary[BroadcastCall, Fix | None] = WeakKeyDictionary()


class Fix(NamedTuple):
    """A change, described by ``text``; the changed question has these ``operands`` and ``rule``, and adds ``assume``.

    A change that ``must_be_certain`` is discarded if the answer is then still conditional. The assumptions of a change
    that ``is_implying`` imply the condition.
    """

    text: str
    operands: tuple[Shape, ...]
    rule: Rule
    assume: tuple[Assumption, ...] = ()
    must_be_certain: bool = False
    is_implying: bool = False

    def ask(self, result: BroadcastCall) -> BroadcastCall:
        """Return the answer to the changed question."""
        assume = [*result.assumptions, *self.assume]
        return BroadcastCall.of(self.operands, self.rule, {}, assume or NOTHING, result.min_size or ZERO)


def fix(aligned: Alignment) -> Fix | None:
    """Return a change that makes the shapes always broadcast, or, if they never do, broadcast for some sizes.

    None if none was found: every fix is checked by asking again. It is cached as long as the result lives.
    """
    result = aligned.result
    if result not in _known:
        _known[result] = _found(aligned)
    return _known[result]


def _found(aligned: Alignment) -> Fix | None:
    result, verdict = aligned.result, aligned.result.verdict
    if verdict not in (Verdict.SOMETIMES, Verdict.NEVER):
        return None
    second: Fix | None = None
    tried = TRIED if len(result.shown) <= MANY_SYMBOLS else TRIED_OF_MANY
    for candidate in islice(_candidates(aligned), tried):
        try:
            answer = candidate.ask(result)
            changed = Verdict.ALWAYS if candidate.is_implying else answer.verdict
        except SymbcastError:  # its assumptions exclude each other
            continue
        if changed is Verdict.ALWAYS:
            return candidate
        if (
            changed is Verdict.SOMETIMES
            and verdict is Verdict.NEVER
            and second is None
            and not candidate.must_be_certain
        ):
            second = candidate._replace(text=f"{candidate.text}; it is then valid for some sizes")
    return second


def _candidates(aligned: Alignment) -> Iterator[Fix]:
    result = aligned.result
    if result.is_open:
        yield from assumed(aligned) if result.verdict is Verdict.SOMETIMES else ()
        return
    remedies = result.rule.remedies
    yield from placed_elsewhere(result)
    if Remedy.ADD_ONES in remedies and result.rule.placement.is_at_right:
        yield from _given_ones(aligned)
    if result.verdict is Verdict.SOMETIMES:
        yield from assumed(aligned)
        yield from _filled_in(aligned)
        return
    if Remedy.LOWER_RANK in remedies:
        yield from _lower_rank(aligned)
    if Remedy.SWAP in remedies:
        yield Fix(f"swap {prose_list(aligned.names)}", result.operands[::-1], result.rule)
    if Remedy.TRANSPOSE in remedies:
        yield from _transposed(aligned)
    yield from by_other_rule(result)
    if Remedy.SET_ONE in remedies:
        yield from _made_one(aligned)


def _with(result: BroadcastCall, text: str, position: int, dims: Sequence[Any]) -> Fix:
    operands = list(result.operands)
    operands[position] = shape_of(dims)
    return Fix(text, tuple(operands), result.rule)


def _changeable(result: BroadcastCall) -> list[int]:
    """Return the operands that a fix may stretch, the likeliest first."""
    law, base = result.rule.law, _base(result)
    positions = range(len(result.operands))
    if base is None or (law is not None and law.stretches_base):
        return list(positions)[:-5:-1]
    return [n for n in positions if n != base]


def _base(result: BroadcastCall) -> int | None:
    """Return the operand that the others are aligned to."""
    return result.rule.placement.base([s.rank for s in result.operands])


def _given_ones(aligned: Alignment) -> Iterator[Fix]:
    """Insert axes of size 1 into an operand of lower rank, not only in front."""
    result, names, namer = aligned.result, aligned.names, aligned.namer
    placement = result.rule.placement
    least = placement.least if isinstance(placement, AtRight) else 0
    rank = max(least, max((s.rank for s in result.operands), default=0))
    for position in _changeable(result):
        dims = result.operands[position]
        if not dims.rank < rank <= 8:
            continue
        for places in combinations(range(rank), dims.rank):
            if dims.rank and places[0] == rank - dims.rank:
                continue
            sizes: list[Any] = [1] * rank
            for axis, dim in zip(places, dims.dims, strict=True):
                sizes[axis] = dim
            # Ones behind the last axis that is needed would only repeat the shape with another rank.
            sizes = sizes[places[0] :] if places else sizes
            if _meets_its_like(result, position, sizes):
                yield _with(result, f"reshape {names[position]} to {namer.shape(sizes)}", position, sizes)


def _meets_its_like(result: BroadcastCall, position: int, dims: Sequence[Any]) -> bool:
    """Return whether every size but 1 meets an equal size; otherwise ones would only keep sizes apart."""
    others = [s for n, s in enumerate(result.operands) if n != position]
    return all(
        d == 1 or any(d in s.dims[-back:][:1] for s in others)
        for back, d in zip(range(len(dims), 0, -1), dims, strict=True)
    )


def placed_elsewhere(result: BroadcastCall) -> Iterator[Fix]:
    """Place an operand on other axes, where an attribute of the rule chooses them."""
    names = {parameter.name for parameter in result.rule.parameters}
    for attributes in result.rule.placement.elsewhere([s.rank for s in result.operands]):
        if attributes.keys() <= names:
            yield _by(result, attributes)


def _by(result: BroadcastCall, attributes: Mapping[str, AttributeValue]) -> Fix:
    written = prose_list([f"{name}={value!r}" for name, value in attributes.items()])
    return Fix(f"use {written}", result.operands, result.rule.with_attributes(attributes))


def assumed(aligned: Alignment) -> Iterator[Fix]:
    """Assume the condition: first an equality from each clause, the usual case, then the clauses as they are."""
    result, namer = aligned.result, aligned.namer
    likeliest = [f for c in result.clauses for f in _likeliest(c)]
    # One may suffice for several: an equality of two sizes also makes an order between them true.
    several = likeliest[:4] if len(likeliest) > 1 else []
    single = [[f] for f in several if not _is_refuted(result, f)]
    for number, chosen in enumerate((*single, likeliest, list(result.clauses))):
        assumptions = [_assumption(namer, f) for f in chosen]
        texts = [a.text for a in assumptions]
        if not texts or sum(map(len, texts)) > LONGEST:
            continue
        known = "that is known" if len(texts) == 1 else "they are known"
        quoted = prose_list([f'"{t}"' for t in texts])
        is_implying = number >= len(single) and not result.is_open
        text = f"assume {quoted} if {known}"
        yield Fix(text, result.operands, result.rule, tuple(assumptions), is_implying=is_implying)


def _is_refuted(result: BroadcastCall, equality: Formula) -> bool:
    """Return whether the counterexample, with one size changed, shows that an equality does not imply the condition."""
    if result.is_plain or result.is_open or not isinstance(equality, Comparison):
        return False

    # Most equalities suffice for one clause only: one changed size shows it in microseconds, without a solver.
    at = result.counterexample()
    if at is None or result.scope is None:
        return False
    point = result.scope.symbol_sizes(at)
    known = [*assumed_formulas(result.shown, result.assumptions, result.min_size), equality]
    for name, other in ((equality.left, equality.right), (equality.right, equality.left)):
        size = value_at(other, point)
        if name in point and size is not None:
            changed = {**point, name: size}
            if all(holds_at(f, changed) for f in known) and not all(holds_at(c, changed) for c in result.clauses):
                return True
    return False


def _assumption(namer: Namer, formula: Formula) -> Assumption:
    """Return the assumption that a formula's text would parse to."""
    shown = namer.renamed_formula(formula)
    labels = labels_of(dims_of(shown))
    sizes = [s for s in symbols_in(shown) if not isinstance(s, SequenceSymbol)]
    read = {s: Unknown(labels[s]) if isinstance(s, Unknown) else symbol(s.name) for s in sizes}
    return Assumption(with_values(replace_in_formula(shown, read)), namer.formula(formula))


def _likeliest(clause: Formula) -> list[Formula]:
    """Return equalities that imply a clause, or the clause itself."""
    if isinstance(clause, Compatible):
        return [equal(a, b) for a, b in zip(clause.dims, clause.dims[1:], strict=False)]
    for literal in literals(clause):
        match literal:
            case Comparison("==", left, right) if not isinstance(left, int) and not isinstance(right, int):
                return [literal]
    return [clause]


def _filled_in(aligned: Alignment) -> Iterator[Fix]:
    """Replace an unknown with a size or a name, since an assumption in text cannot refer to it."""
    result, namer = aligned.result, aligned.namer
    sizes: dict[Symbol, Any] = {}
    for clause in result.clauses:
        options = [o for o in literals(clause) if isinstance(o, Comparison) and o.operator == "=="]
        options.sort(key=lambda o: o.right == 1 or o.left == 1)
        for option in options:
            pair = (option.left, option.right) if isinstance(option.left, Unknown) else (option.right, option.left)
            if isinstance(pair[0], Unknown) and (isinstance(pair[1], int) or pair[1].is_Symbol):
                sizes.setdefault(pair[0], pair[1])
                break
    if sizes:
        shapes = tuple(shape_of(replace_symbols(d, sizes) for d in s.dims) for s in result.operands)
        texts = [f"{namer.dim(value)} for {namer.dim(unknown)}" for unknown, value in sizes.items()]
        known = "that is its size" if len(texts) == 1 else "those are their sizes"
        yield Fix(f"write {prose_list(texts)} if {known}", shapes, result.rule)


def _lower_rank(aligned: Alignment) -> Iterator[Fix]:
    """Drop the leading axes of an operand that has more axes than the operand that the others are aligned to."""
    result, names, namer = aligned.result, aligned.names, aligned.namer
    base = _base(result)
    if base is None:
        return
    rank = result.operands[base].rank
    for position, dims in enumerate(result.operands):
        if dims.rank > rank:
            fewer = dims.dims[dims.rank - rank :]
            example = shorten_end(namer.shape(fewer), 100)
            text = f"give {names[position]} rank {rank} or less (it is {dims.rank}), such as {example}"
            yield _with(result, text, position, fewer)


def _transposed(aligned: Alignment) -> Iterator[Fix]:
    """Reorder the axes of one operand."""
    result, names, namer = aligned.result, aligned.names, aligned.namer
    if len(names) > 4:
        return
    for position in _changeable(result):
        dims = result.operands[position].dims
        if 2 <= len(dims) <= 4:
            for order in list(permutations(range(len(dims))))[1:]:
                transposed = [dims[a] for a in order]
                text = f"transpose {names[position]} to {namer.shape(transposed)}"
                yield _with(result, text, position, transposed)._replace(must_be_certain=True)


def by_other_rule(result: BroadcastCall) -> Iterator[Fix]:
    """Ask with the alternative rule that the rule itself names."""
    for instead in result.rule.instead:
        if instead.rule:
            attributes = "".join(f", {name}={value!r}" for name, value in instead.attributes.items())
            rule = find_rule(instead.rule, instead.attributes)
            yield Fix(f'use rule="{instead.rule}"{attributes}', result.operands, rule)
        else:
            yield _by(result, instead.attributes)


def _made_one(aligned: Alignment) -> Iterator[Fix]:
    """Make the sizes of one operand 1 on the axes that clash."""
    result, names, namer = aligned.result, aligned.names, aligned.namer
    every = aligned.all_axes
    # Computing a mark may call the solver: with many axes, only those in the conflict are checked.
    axes = [a for a in (every if len(every) <= MARKED else aligned.clashing) if aligned.mark(a) is AxisMark.IMPOSSIBLE]
    for position in _changeable(result):
        dims = list(result.operands[position].dims)
        changed = [i for i, a in enumerate(aligned.places.of[position]) if a in axes]
        if not changed:
            continue
        for i in changed:
            dims[i] = 1
        where = prose_list([axis_text(i, len(dims)) for i in changed], limit=4)
        yield _with(
            result,
            f"set {where} of {names[position]} to 1, as in {shorten_end(namer.shape(dims), 100)}",
            position,
            dims,
        )
