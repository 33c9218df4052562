"""Normal forms of terms: quotients, remainders, minima, maxima and joins; terms put in the place of others.

Each step holds at all sizes at which its left side has a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import gcd
from operator import attrgetter, mul
from typing import Any, Literal

from symbcast.core.algebra.terms import Atom, Dim, Kind, Monomial, Operation, Term, collect, constant, term

# Polynomial divisions that take more steps than this stay unevaluated.
_DIVISION_STEPS = 100
# Remainders in longer sums are not joined.
_LONG = 400
# Largest number of members of a min or max that are compared with each other.
_COMPARED_UP_TO = 8


def floordiv_terms(dividend: Term, divisor: Term) -> Term:
    """Return the floor of a quotient; multiples of a constant divisor are taken out of it."""
    if divisor.is_constant and divisor.constant:
        by = divisor.constant
        if by < 0:
            return floordiv_terms(-dividend, -divisor)
        if by == 1 and not any(operation.kind == "%" for operation in dividend.operations()):
            return dividend
        if dividend.is_Symbol:
            return Operation("//", (dividend, divisor))
        if isinstance(dividend, Operation) and dividend.kind == "%" and _is_multiple(dividend.args[1], by):
            # (x % (n*b))//b is (x//b) % n: b*((x//b) % n) is what is left of x by n*b, apart from less than b.
            value, step = dividend.args
            return modulo_terms(floordiv_terms(value, divisor), constant(step.constant // by))
        parts = _without_remainders(dividend, by).coefficients
        whole = {m: c // by for m, c in parts.items() if m and c % by == 0}
        others = {m: c for m, c in parts.items() if not m or c % by}
        symbolic = [c for m, c in others.items() if m]
        if not symbolic:  # floor((b*x + r) / b) is x + floor(r / b)
            carried = others.get((), 0) // by
            return Term({**whole, (): carried} if carried else whole)
        if all(c < 0 for c in symbolic):
            # floor(-y / b) is -ceil(y / b), which is -floor((y + b - 1) / b): one spelling for a ceiling.
            return Term(whole) - floordiv_terms(constant(by - 1) - Term(others), divisor)
        # floor((g*x + r) / (g*b)) is floor((x + floor(r/g)) / b): a common factor g drops out.
        common = gcd(*symbolic, by)
        by //= common
        carried, left = divmod(others.pop((), 0) // common, by)
        shrunk = {m: c // common for m, c in others.items()}
        merged = _floor_of_floor(Term({**shrunk, (): left} if left else shrunk), by)
        return merged if not (whole or carried) else collect([(Term(whole), 1), (merged, 1)], carried)
    if _is_below(dividend, divisor):
        return constant(0)
    common = _common_number(dividend, divisor)
    if common > 1:  # floor(g*u / (g*v)) is floor(u / v), whatever sign they have
        return floordiv_terms(_without_factor(dividend, common), _without_factor(divisor, common))
    if isinstance(dividend, Operation) and dividend.kind == "//" and divisor.is_at_least(0):
        # floor(floor(a/n) / k) is floor(a / (n*k)) for each k above 0, whatever sign n has.
        return floordiv_terms(dividend.args[0], dividend.args[1] * divisor)
    quotient, rest = quotient_and_remainder(dividend, divisor)
    if quotient.coefficients and rest.coefficients:
        return quotient + floordiv_terms(rest, divisor)
    return Operation("//", (dividend, divisor))


def quotient_and_remainder(dividend: Term, divisor: Term) -> tuple[Term, Term]:
    """Return q and r with ``dividend == divisor*q + r``; q is 0 if the division makes r no shorter.

    So ``(b*q + r)//b`` is ``q + r//b``, and ``(b*q + r) % b`` is ``r % b``, wherever b is not 0. The monomials of the
    dividend are divided by the leading one of the divisor, in descending order.
    """
    nothing = constant(0), dividend
    if divisor.is_constant or not dividend.coefficients:
        return nothing
    leading = max(divisor.coefficients, key=_degree_order)
    number = divisor.coefficients[leading]
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    work = dict(dividend.coefficients)
    for _ in range(_DIVISION_STEPS):
        if not work:
            break
        monomial = max(work, key=_degree_order)
        coefficient = work[monomial]
        factor = monomial_quotient(monomial, leading) if coefficient % number == 0 else None
        # What the leading monomial does not divide stays in the rest: no later step brings it back.
        if factor is None:
            rest[monomial] = work.pop(monomial)
            continue
        quotient[factor] = coefficient // number
        for other, times in (divisor * Term({factor: coefficient // number})).coefficients.items():
            left = work.get(other, 0) - times
            if left:
                work[other] = left
            else:
                work.pop(other, None)
    if work or not quotient or len(rest) >= len(dividend.coefficients):
        return nothing
    return Term(quotient), Term(rest)


def _degree_order(monomial: Monomial) -> tuple[int, list[tuple[object, ...]]]:
    """Return a key that orders monomials by degree, then by their atoms: multiplication preserves the order."""
    return len(monomial), sorted((atom.atom_key for atom in monomial), reverse=True)


def monomial_quotient(dividend: Monomial, divisor: Sequence[Atom]) -> Monomial | None:
    """Return a product of atoms divided by another one, None if one of its factors is missing."""
    left = list(dividend)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def sides_of(difference: Term) -> tuple[Term, Term]:
    """Return two terms without negative coefficients whose difference is a given term."""
    above = Term({m: c for m, c in difference.coefficients.items() if c > 0})
    return above, above - difference


def _without_remainders(dividend: Term, by: int) -> Term:
    """Return a dividend with ``x % k`` replaced by ``x - k*(x//k)``, if that makes it shorter.

    So ``(x - x % k)//k`` is ``x//k``: how often a step fits into a size rounded down to a multiple of it. As -x has the
    remainder of x by 2, ``(x + x % 2)//2`` is ``(x + 1)//2``: the half of a size that was padded to an even one.
    """
    for monomial, coefficient in dividend.coefficients.items():
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Operation) and atom.kind == "%" and atom.args[1].is_constant and atom.args[1].constant > 0:
            value, step = atom.args[0], atom.args[1].constant
            if coefficient * step % by == 0:
                rest = dividend - atom.scaled(coefficient)
                rounded = floordiv_terms(value, atom.args[1]).scaled(step)
                remainders = [value - rounded]
                if step == 2:
                    remainders.append(floordiv_terms(value + constant(1), atom.args[1]).scaled(2) - value)
                rewritten = min((rest + r.scaled(coefficient) for r in remainders), key=attrgetter("size"))
                if rewritten.size < dividend.size:
                    return _without_remainders(rewritten, by)
    return dividend


def _floor_of_floor(dividend: Term, divisor: int) -> Term:
    """Return a floor with nested floors merged: floor((floor(x/a) + r) / b) is floor((x + a*r) / (a*b))."""
    for monomial, coefficient in dividend.coefficients.items():
        inner = monomial[0] if len(monomial) == 1 and coefficient == 1 else None
        if isinstance(inner, Operation) and inner.kind == "//":
            by, rest = inner.args[1], dividend - inner
            if (by.is_constant and by.constant > 0) or not rest.coefficients:
                return floordiv_terms(inner.args[0] + rest * by, by.scaled(divisor))
    return Operation("//", (dividend, constant(divisor)))


def modulo_terms(dividend: Term, divisor: Term) -> Term:
    """Return the remainder, with the divisor's sign; multiples of a constant divisor are dropped."""
    if divisor.is_constant and divisor.constant:
        by = divisor.constant
        if by < 0:
            return -modulo_terms(-dividend, -divisor)
        if dividend.is_Symbol:
            return constant(0) if by == 1 else Operation("%", (dividend, divisor))
        rest = _congruent(Term({m: c % by for m, c in dividend.coefficients.items() if c % by}), by)
        if rest.is_constant or (rest.has_operations and _is_within(rest, by)):
            return rest
        common = gcd(rest.content, by)
        if common > 1:
            # (g*x + r) % (g*b) is g*((x + floor(r/g)) % b) + r % g: a common factor g is taken out.
            shrunk = Term({m: c // common for m, c in rest.coefficients.items() if c // common})
            multiple = modulo_terms(shrunk, constant(by // common)).scaled(common)
            return multiple + constant(rest.constant % common)
        if all(2 * c > by for m, c in rest.coefficients.items() if m):
            # -y % b is b*ceil(y / b) - y: the padding of a size to a multiple, spelled as a ceiling.
            low = Term({m: c - by if m else c for m, c in rest.coefficients.items()})
            return with_remainders(low - floordiv_terms(low, divisor).scaled(by))
        return Operation("%", (rest, divisor))
    common = _common_number(dividend, divisor)
    if common > 1:  # (g*u) % (g*v) is g*(u % v), as g*u - g*v*floor(u / v) is
        return modulo_terms(_without_factor(dividend, common), _without_factor(divisor, common)).scaled(common)
    rest = quotient_and_remainder(dividend, divisor)[1]
    if _is_below(rest, divisor):
        return rest
    return Operation("%", (rest if rest.coefficients else dividend, divisor))


def _is_within(value: Term, by: int) -> bool:
    """Return whether a term is its own remainder, whatever its sizes are: ``a % 4`` by 12."""
    return value.is_at_least(0) and (constant(by - 1) - value).is_at_least(0)


def _common_number(*values: Term) -> int:
    """Return the greatest number that divides all coefficients of some terms; 0 if all of them are 0."""
    return gcd(*(c for value in values for c in value.coefficients.values()))


def _without_factor(value: Term, number: int) -> Term:
    return Term({m: c // number for m, c in value.coefficients.items()})


def _is_below(dividend: Term, divisor: Term) -> bool:
    """Return whether a dividend is a non-negative number that is less than the divisor at all sizes."""
    is_number = dividend.is_constant and not divisor.is_constant
    return is_number and dividend.constant >= 0 and divisor.is_at_least(dividend.constant + 1)


def mention(value: Term) -> Term:
    """Return 0 as a term that has a value where ``value`` has one, and mentions its symbols: ``value % 1``.

    Arithmetic simplifies it away; only `substitute` keeps it. It preserves the symbols of a text whose terms cancel.
    """
    if value.is_constant:
        return constant(0)
    return Operation("%", (value - constant(value.constant), constant(1)))


def is_mention(atom: Atom) -> bool:
    """Return whether an atom is a `mention`."""
    return isinstance(atom, Operation) and atom.kind == "%" and atom.args[1] is constant(1)


def _congruent(dividend: Term, by: int) -> Term:
    """Return a dividend with the same remainder: ``x % c`` is replaced by x if ``by`` divides c."""
    for monomial, coefficient in dividend.coefficients.items():
        for place, atom in enumerate(monomial):
            if isinstance(atom, Operation) and atom.kind == "%" and _is_multiple(atom.args[1], by):
                others = Term({(*monomial[:place], *monomial[place + 1 :]): coefficient})
                same = dividend - Term({monomial: coefficient}) + others * atom.args[0]
                return _congruent(Term({m: c % by for m, c in same.coefficients.items() if c % by}), by)
    return dividend


def _is_multiple(divisor: Term, by: int) -> bool:
    return divisor.is_constant and divisor.constant != 0 and divisor.constant % by == 0


def extremum_terms(kind: Literal["min", "max"], args: Iterable[Term]) -> Term:
    """Return the minimum or maximum of terms, without members that another one dominates."""
    members: dict[Term, None] = {}
    for arg in args:
        members.update(dict.fromkeys(arg.args if isinstance(arg, Operation) and arg.kind == kind else (arg,)))
    numbers = [a.constant for a in members if a.is_constant]
    rest = [a for a in members if not a.is_constant]
    if numbers:
        rest.append(constant(min(numbers) if kind == "min" else max(numbers)))
    if 1 < len(rest) <= _COMPARED_UP_TO:
        rest = _undominated(kind, rest)
    return rest[0] if len(rest) == 1 else Operation(kind, tuple(sorted(rest, key=attrgetter("key"))))


def _undominated(kind: Literal["min", "max"], members: list[Term]) -> list[Term]:
    """Drop members that another one dominates; a member that may have no value stays."""
    undominated = list(members)
    for member in reversed(members):
        if not member.is_total:
            continue
        for other in undominated:
            if other is not member:
                above = other - member if kind == "max" else member - other
                if above.is_at_least(0):
                    undominated.remove(member)
                    break
    return undominated


def join_terms(args: Iterable[Term]) -> Term:
    """Return the join of terms; a join of two different numbers other than 1 has no value and stays unevaluated.

    So does a join with 1 of a term that may be negative, ``broadcast(1, M - 3)``: it has no value where M is below 3.
    """
    members: dict[Term, None] = {}
    for arg in args:
        members.update(dict.fromkeys(arg.args if isinstance(arg, Operation) and arg.kind == "join" else (arg,)))
    members.pop(constant(1), None)
    if not members:
        return constant(1)
    if len(members) == 1:
        only = next(iter(members))
        if only.is_at_least(0):
            return only
        members[constant(1)] = None
    return Operation("join", tuple(sorted(members, key=attrgetter("key"))))


def joined_sizes(args: Iterable[Term]) -> Term:
    """Return the join of terms that are known to be sizes: of a single one, that term."""
    joined = join_terms(args)
    only = joined_with_one(joined)
    return joined if only is None else only


def joined_with_one(value: Term) -> Term | None:
    """Return the term that is joined with 1 only because it may be negative; None for any other term."""
    if isinstance(value, Operation) and value.kind == "join" and constant(1) in value.args:
        return next(arg for arg in value.args if arg is not constant(1))
    return None


def joins_with_one(value: Term) -> Mapping[Operation, Term]:
    """Return the joins of terms with 1 at every depth, inner ones first, with the terms: see `joined_with_one`."""
    joins: dict[Operation, Term] = {}
    if not value.is_total:
        _add_joins_with_one(value, joins, set())
    return joins


def _add_joins_with_one(value: Term, joins: dict[Operation, Term], seen: set[Operation]) -> None:
    for operation in value.operations():
        if operation in seen or operation.is_total:
            continue
        seen.add(operation)
        for arg in operation.args:
            _add_joins_with_one(arg, joins, seen)
        only = joined_with_one(operation)
        if only is not None:
            joins[operation] = only


def operate(kind: Kind, args: tuple[Term, ...]) -> Term:
    """Return an operation on terms, simplified."""
    match kind:
        case "//":
            return floordiv_terms(*args)
        case "%":
            return mention(args[0]) if args[1] is constant(1) else modulo_terms(*args)
        case "join":
            return join_terms(args)
        case _:
            return extremum_terms(kind, args)


def substitute(value: Term, replaced: Mapping[Any, Term]) -> Term:
    """Return the term with some atoms replaced at every depth, all at once."""
    return Substitution(replaced, of_symbols=all(atom.is_Symbol for atom in replaced)).term(value)


class Substitution:
    """A replacement of atoms by dimensions in several terms; each shared part is replaced once.

    ``of_symbols`` says that only symbols are replaced.
    """

    def __init__(self, replaced: Mapping[Any, Dim], *, of_symbols: bool) -> None:
        self.replaced = replaced
        self.of_symbols = of_symbols
        self.results: dict[Atom, Term] = {}

    def dim(self, dim: Dim) -> Dim:
        """Return a dimension with the atoms replaced at every depth."""
        if isinstance(dim, int):
            return dim
        return self.replaced.get(dim, dim) if self.of_symbols and dim.is_Symbol else self.term(dim).dim()

    def term(self, value: Term) -> Term:
        """Return a term with the atoms replaced at every depth."""
        if self.of_symbols and self.replaced.keys().isdisjoint(value.symbols()):
            return value
        if isinstance(value, Atom):
            return self._atom(value)
        parts: list[tuple[Term, int]] = []
        for monomial, coefficient in value.coefficients.items():
            product = constant(1)
            for atom in monomial:
                product = product * self._atom(atom)
            parts.append((product, coefficient))
        return with_remainders(collect(parts))

    def _atom(self, atom: Atom) -> Term:
        if atom in self.replaced:
            return term(self.replaced[atom])
        result = self.results.get(atom)
        if result is None:
            result = atom
            if isinstance(atom, Operation):
                result = operate(atom.kind, tuple(map(self.term, atom.args)))
            self.results[atom] = result
        return result


def with_remainders(value: Term) -> Term:
    """Return a sum with ``a - b*(a//b)`` written as ``a % b``, and ``b*(a//b) + a % b`` as ``a``, also times a factor.

    Both are equal wherever b is not 0; where it is, the first sum has no value. So remainders of one dividend join:

    >>> from symbcast.core.algebra.arithmetic import floor_divide, modulo
    >>> from symbcast.core.algebra.symbols import symbol
    >>> A, B, N = map(symbol, "ABN")
    >>> with_remainders(A * N - A * B * floor_divide(N, B) + 1)
    A*(N % B) + 1
    >>> with_remainders(modulo(N, 4) + 4 * modulo(floor_divide(N, 4), 2))
    N % 8
    """
    if not value.adds_quotients:
        return value
    value = _joined_remainders(value)
    if not _may_join(value):
        return value
    for spelled in map(_joined_remainders, _by_quotients(value)):
        # Only what cancels is worth another spelling.
        if spelled.length < value.length and len(set(spelled.operations())) < len(set(value.operations())):
            return spelled
    return value


def _may_join(value: Term) -> bool:
    """Return whether a sum has ``a % b`` beside b times another operation, which may be what a was rounded by."""
    for monomial, coefficient in value.coefficients.items():
        for place, atom in enumerate(monomial):
            if isinstance(atom, Operation) and atom.kind == "%" and value.length < _LONG:
                times = atom.args[1] * Term({monomial[:place] + monomial[place + 1 :]: coefficient})
                for other, number in value.coefficients.items() if len(times.coefficients) == 1 else ():
                    rests = (monomial_quotient(other, (o,)) for o in other if isinstance(o, Operation))
                    if any(times.coefficients.get(rest) == number for rest in rests if rest is not None):
                        return True
    return False


def _joined_remainders(value: Term) -> Term:
    """Return a sum with each part written shorter that is a remainder, or a dividend."""
    while value.adds_quotients:
        shorter = next(_shorter_by_remainders(value), None)
        if shorter is None:
            break
        value = shorter
    return value


def _by_quotients(value: Term) -> Iterator[Term]:
    """Yield a sum with ``a - b*(a//b)`` for each remainder ``a % b``, so that equal quotients cancel.

    The second form has ``(a + b*q)//b`` as ``a//b + q`` too, for all coefficients: ``(7*a)//4`` is ``a + (3*a)//4``.
    """
    remainders = {o: _remainder_by_quotient(o) for o in value.operations() if o.kind == "%" and not is_mention(o)}
    spelled = _with_factors(value, remainders)
    yield spelled
    yield _with_factors(spelled, {o: _with_small_numbers(o) for o in spelled.operations() if o.kind == "//"})


def _remainder_by_quotient(remainder: Operation) -> Term:
    dividend, divisor = remainder.args
    return dividend - divisor * floordiv_terms(dividend, divisor)


def _with_small_numbers(quotient: Operation) -> Term:
    """Return a quotient by a number with all multiples of it taken out of the dividend."""
    dividend, divisor = quotient.args
    by = divisor.constant if divisor.is_constant else 0
    whole = Term({m: c // by for m, c in dividend.coefficients.items() if c // by}) if by > 1 else constant(0)
    if not whole.coefficients:
        return quotient
    rest = floordiv_terms(dividend - whole.scaled(by), divisor)
    return whole + _with_factors(rest, {o: _with_small_numbers(o) for o in rest.operations() if o.kind == "//"})


def _with_factors(value: Term, replaced: Mapping[Operation, Term]) -> Term:
    """Return a sum with some factors of its monomials replaced."""
    if not replaced:
        return value
    parts = []
    for monomial, coefficient in value.coefficients.items():
        factors = (replaced.get(a, a) if isinstance(a, Operation) else a for a in monomial)
        parts.append((reduce(mul, factors, constant(1)), coefficient))
    return collect(parts)


def _shorter_by_remainders(value: Term) -> Iterator[Term]:
    for monomial, coefficient in value.coefficients.items():
        for quotient in monomial:
            if not isinstance(quotient, Operation) or quotient.kind != "//":
                continue
            dividend, divisor = quotient.args
            if not divisor.coefficients:
                continue  # a division by 0 has no value: it stays
            leading = max(divisor.coefficients, key=_degree_order)
            factor = monomial_quotient(monomial, (quotient, *leading))
            times, rest = divmod(coefficient, divisor.coefficients[leading])
            if factor is not None and not rest:
                multiple = Term({factor: times})
                remainder = modulo_terms(dividend, divisor)
                for left, right in ((remainder, dividend), (-dividend, -remainder)):
                    gone = (divisor * quotient + left) * multiple
                    if _is_part(gone, value):
                        yield value - gone + right * multiple
            if divisor.is_constant:
                yield from _nested_remainders(value, quotient, monomial)


def _nested_remainders(value: Term, quotient: Operation, monomial: Monomial) -> Iterator[Term]:
    """Yield a sum with ``a//b - n*(a//(n*b))`` in it written as ``(a//b) % n``, for numbers b and n above 0."""
    others = monomial_quotient(monomial, (quotient,)) or ()
    dividend, step = quotient.args
    for beside, times in value.coefficients.items():
        n, left = divmod(-value.coefficients[monomial], times)
        if n < 2 or left or step.constant % n:
            continue
        inner = Operation("//", (dividend, constant(step.constant // n)))
        if inner in beside and monomial_quotient(beside, (inner,)) == others:
            gone = inner - quotient.scaled(n) - modulo_terms(inner, constant(n))
            yield value - gone * Term({others: times})


def _is_part(part: Term, value: Term) -> bool:
    """Return whether a sum has all summands of another one; of its number, at least as much."""
    number, most = part.constant, value.constant
    has_number = not number or ((number > 0) == (most > 0) and abs(number) <= abs(most))
    return has_number and all(value.coefficients.get(m) == c for m, c in part.coefficients.items() if m)
