"""A condition as an SMT-LIB 2.6 script.

>>> from symbcast.core.algebra.symbols import symbol
>>> from symbcast.core.text import parse_formula
>>> N, T = symbol("N"), symbol("T")
>>> condition = parse_formula("2*N <= T + 1 and compatible(N, T)")
>>> print(smtlib_source(condition, {N: "batch", T: "a b"}, assumptions=[parse_formula("N >= 2")]))
; Can sizes meet the condition?
;     2*batch <= 'a b' + 1
;     batch == 'a b' or batch == 1 or 'a b' == 1
(set-logic QF_LIA)
(declare-const batch Int)
(declare-const |a b| Int)
(assert (>= batch 0))
(assert (>= |a b| 0))
(define-fun guard ((batch Int) (|a b| Int)) Bool
  (and
    (<= (* 2 batch) (+ |a b| 1))
    (or (= batch |a b|) (= batch 1) (= |a b| 1))))
(assert (<= 2 batch))
(assert (guard batch |a b|))
(check-sat)
<BLANKLINE>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symbcast.answers.guards import clauses
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, term

COMMENT = ";"
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.!-]*")
# Reserved words of SMT-LIB and its theories, and names that this module defines. Quoting would not make them distinct.
_WORDS = """
    _ ! as let exists forall match par NUMERAL DECIMAL STRING BINARY HEXADECIMAL true false not and or xor distinct
    ite Bool Int Real String Array div mod abs to_real to_int is_int divisible + - * / = < <= > >= =>
    common! least greatest join floor_div floor_mod"""
_TAKEN = frozenset(_WORDS.split())
_BOUND = re.compile(r"member!\d+")
_FUNCTIONS = {
    "min": "(define-fun least ((a Int) (b Int)) Int (ite (<= a b) a b))",
    "max": "(define-fun greatest ((a Int) (b Int)) Int (ite (>= a b) a b))",
    "join": "(define-fun join ((a Int) (b Int)) Int (ite (= a 1) b a))",
    "//": "(define-fun floor_div ((a Int) (b Int)) Int (ite (> b 0) (div a b) (div (- a) (- b))))",
    "%": "(define-fun floor_mod ((a Int) (b Int)) Int (ite (> b 0) (mod a b) (- (mod (- a) (- b)))))",
}
_PAIRS = {"min": "least", "max": "greatest", "join": "join"}
_DIVISIONS = {"//": ("div", "floor_div"), "%": ("mod", "floor_mod")}


def smtlib_source(
    condition: Formula, names: Mapping[Symbol, str], name: str = "guard", assumptions: Sequence[Formula] = ()
) -> str:
    """Return an SMT-LIB 2.6 script that asks whether the condition can hold.

    Every size is an ``Int`` that is at least 0, ``name`` is a function of them in the order of ``names``, and the
    assumptions are asserted too. A comparison with a term that has no value is false. The logic is QF_LIA for linear
    conditions without division, else QF_NIA: the standard has ``div`` and ``mod`` only there. A name that SMT-LIB does
    not allow (with ``|`` or a backslash, or one of its own words) is changed, and a comment gives the new one.

    Raises `BindingError` for a size without a name, and ValueError for a ``name`` that is not a symbol without quotes.
    """
    if not _SIMPLE.fullmatch(name) or _is_taken(name):
        raise ValueError(f"{name!r} cannot name a function here: write a symbol that SMT-LIB does not use")
    called = {
        s: word if _SIMPLE.fullmatch(word) else f"|{word}|"
        for s, word in clauses.identifiers(names, _spelled, lambda word: word == name or _is_taken(word)).items()
    }
    clauses.check_known_ranks("SMT-LIB", names)
    guarded = clauses.guarded_clauses(condition, names)
    assumed = [c for a in assumptions for c in clauses.guarded_clauses(a, names)]
    sizes = list(called.values())
    changed = [f"; {word} is the size {names[s]!r}." for s, word in called.items() if word.strip("|") != names[s]]
    lines = [
        "; Can sizes meet the condition?",
        *(f";     {text}" for text in clauses.condition_texts(condition, names)),
        *changed,
        f"(set-logic {_logic([*guarded, *assumed])})",
        *(f"(declare-const {size} Int)" for size in sizes),
        *(f"(assert (>= {size} 0))" for size in sizes),
        *_definitions([*guarded, *assumed]),
        f"(define-fun {name} ({' '.join(f'({size} Int)' for size in sizes)}) Bool",
        f"  {_joined('and', [_SmtWriter(called).formula(c) for c in guarded], _BREAK)})",
        *(f"(assert {_SmtWriter(called).formula(a)})" for a in assumed),
        f"(assert {_applied(name, sizes) if sizes else name})",
        "(check-sat)",
    ]
    return "\n".join([*lines, ""])


def _is_taken(word: str) -> bool:
    return word in _TAKEN or _BOUND.fullmatch(word) is not None


def _spelled(name: str) -> str:
    """Return a name that can be quoted with bars; a leading ``.`` or ``@`` is reserved for the solver."""
    shown = "".join(c if c.isprintable() and c not in "|\\" else "_" for c in name)
    return f"_{shown}" if shown[:1] in ("", ".", "@") else shown


def _logic(parts: Sequence[Formula]) -> str:
    terms = [term(d) for part in parts for d in dims_of(part)]
    # The standard has ``div`` and ``mod`` in non-linear arithmetic only.
    divides = any(o.kind in _DIVISIONS for t in terms for o in t.all_operations())
    return "QF_NIA" if divides or not all(t.is_linear for t in terms) else "QF_LIA"


def _definitions(parts: Sequence[Formula]) -> Iterator[str]:
    """Yield the functions that the script uses."""
    used = {"join"} if any(map(_needs_join, parts)) else set()
    for operation in (o for part in parts for dim in dims_of(part) for o in term(dim).all_operations()):
        if operation.kind not in _DIVISIONS or not _is_positive(operation.args[1]):
            used.add(operation.kind)
    return (text for kind, text in _FUNCTIONS.items() if kind in used)


def _needs_join(part: Formula) -> bool:
    if isinstance(part, (AllOf, AnyOf)):
        return any(map(_needs_join, part.parts))
    return isinstance(part, (Compatible, Clashing)) and len(part.dims) > 2


def _is_positive(divisor: Term) -> bool:
    return divisor.is_constant and divisor.constant > 0


def _applied(function: str, args: Sequence[str]) -> str:
    return f"({function} {' '.join(args)})"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


class _SmtWriter:
    """Writes formulas and terms over sizes with the given names."""

    def __init__(self, called: Mapping[Symbol, str]) -> None:
        self._called = called

    def formula(self, formula: Formula) -> str:
        match formula:
            case Comparison("!=", left, right):
                return f"(not {_applied('=', [self._dim(left), self._dim(right)])})"
            case Comparison(operator, left, right):
                return _applied("=" if operator == "==" else operator, [self._dim(left), self._dim(right)])
            case Compatible(dims):
                return self._compatible(dims)
            case Clashing(dims):
                return f"(not {self._compatible(dims)})"
            case AllOf(parts) | AnyOf(parts):
                return _joined("and" if isinstance(formula, AllOf) else "or", [self.formula(p) for p in parts])

    def _compatible(self, dims: Sequence[Dim]) -> str:
        """Return the formula that each member is 1 or equals the first member that is not 1."""
        terms = [self._dim(d) for d in dims]
        if len(terms) == 2:
            return _joined("or", [_applied("=", pair) for pair in (terms, (terms[0], "1"), (terms[1], "1"))])
        bound = {f"member!{n}": text for n, text in enumerate(terms) if text.startswith("(")}
        words = [f"member!{n}" if text.startswith("(") else text for n, text in enumerate(terms)]
        each = _joined("and", [f"(or (= {word} 1) (= {word} common!))" for word in words])
        body = f"(let ((common! {_folded('join', words)})) {each})"
        named = " ".join(f"({word} {text})" for word, text in bound.items())
        return f"(let ({named}) {body})" if named else body

    def _dim(self, dim: Dim) -> str:
        return self._term(term(dim))

    def _term(self, value: Term) -> str:
        ordered = sorted(value.coefficients.items(), key=lambda part: not part[0])
        parts = [self._product(c, m) for m, c in ordered]
        return parts[0] if len(parts) == 1 else _applied("+", parts) if parts else "0"

    def _product(self, coefficient: int, monomial: Sequence[Any]) -> str:
        factors = [self._operation(a) if isinstance(a, Operation) else self._called[a] for a in monomial]
        if coefficient != 1 or not factors:
            factors.insert(0, _number(coefficient))
        return factors[0] if len(factors) == 1 else _applied("*", factors)

    def _operation(self, operation: Operation) -> str:
        args = [self._term(a) for a in operation.args]
        if operation.kind in _DIVISIONS:
            # SMT-LIB's own division rounds down only for a positive divisor.
            euclidean, floored = _DIVISIONS[operation.kind]
            return _applied(euclidean if _is_positive(operation.args[1]) else floored, args)
        return _folded(_PAIRS[operation.kind], args)


_BREAK = "\n    "


def _joined(word: str, parts: Sequence[str], between: str = " ") -> str:
    """Return formulas joined by ``and`` or ``or``."""
    if len(parts) < 2:
        return parts[0] if parts else {"and": "true", "or": "false"}[word]
    return f"({between.join((word, *parts))})"


def _folded(function: str, args: Sequence[str]) -> str:
    """Return a binary function applied to many arguments, as a balanced tree: a chain would be too deep."""
    if len(args) == 1:
        return args[0]
    middle = len(args) // 2
    return _applied(function, [_folded(function, args[:middle]), _folded(function, args[middle:])])
