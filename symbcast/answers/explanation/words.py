"""Formulas in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.explanation.names import Namer
from symbcast.core.algebra.sequences import mentions_rest
from symbcast.core.algebra.terms import Operation
from symbcast.core.characters import listed
from symbcast.core.logic.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_MANY_REMAINDERS = 3
"""From this many possible remainders of a size on, one clause lists them all."""
_MOST_REMAINDERS = 4096


class Form(Enum):
    """How a predicate is built, so that predicates about one subject can be put together."""

    PLAIN = "{}"
    LEAST = "at least {}"
    MOST = "at most {}"
    NOT = "not {}"
    AND = "{} and {}"
    OR = "{} or {}"


class Saying(NamedTuple):
    """A sentence in two halves, so that sentences about one subject can share it: ``N``, ``at most 3``.

    ``form`` is how the predicate is built; ``operand`` is its single operand, if it has one: ``3``.
    """

    subject: str
    predicate: str
    form: Form = Form.PLAIN
    operand: str = ""

    @staticmethod
    def of(subject: str, form: Form, operand: str) -> Saying:
        """Return the sentence of a form with one operand."""
        return Saying(subject, form.value.format(operand), form, operand)

    def __str__(self) -> str:
        return f"{self.subject} is {self.predicate}"


def in_words(formula: Formula, namer: Namer) -> str:
    """Return a formula as a clause of a sentence: "N and M are equal, or one of them is 1"."""
    of_axes = not isinstance(formula, AllOf) and any(map(mentions_rest, dims_of(formula)))
    return f"on each axis {_in_words(formula, namer)}" if of_axes else _in_words(formula, namer)


def _in_words(formula: Formula, namer: Namer) -> str:
    match formula:
        case Comparison():
            return _comparison(formula, namer)
        case Compatible(dims):
            return _compatible(dims, namer)
        case Clashing(dims):
            names = _names(dims, namer)
            if len(names) == 2:
                return f"{names[0]} and {names[1]} differ and neither is 1"
            return f"two of {listed(names)} differ and neither is 1"
        case AllOf(parts):
            return _all_of(parts, namer) if parts else "nothing is required"
        case AnyOf(parts):
            return _any_of(parts, namer) if parts else "no sizes work"


def _names(dims: Sequence[Dim], namer: Namer) -> list[str]:
    return list(dict.fromkeys(map(namer.dim, dims)))


def _compatible(dims: Sequence[Dim], namer: Namer) -> str:
    names = [n for n in _names(dims, namer) if n != "1"]
    if len(names) == 2:
        return _pair(*names)
    return f"those of {listed(names)} that are not 1 are equal"


def _pair(left: str, right: str) -> str:
    """Return in words that two sizes broadcast together; either may be a number."""
    if left.isdecimal():
        left, right = right, left
    if right.isdecimal():
        return f"{left} is 1 or {right}"
    return f"{left} and {right} are equal, or one of them is 1"


def saying(formula: Formula, namer: Namer) -> Saying | None:
    """Return a formula's statement about one subject; None if it is about several."""
    match formula:
        case Comparison(operator, left, right) if isinstance(right, int) and not isinstance(left, int):
            return _of_number(operator, left, right, namer)
        case Comparison(operator, left, right) if isinstance(left, int) and not isinstance(right, int):
            turned = {"<=": ">=", "<": ">"}.get(operator, operator)
            return _of_number(turned, right, left, namer)
        case AllOf(parts) | AnyOf(parts) if parts:
            found = _sayings(formula, namer)
            subjects = {s.subject if s is not None else None for s in found}
            if len(subjects) == 1 and None not in subjects:
                return _together(formula, [s for s in found if s is not None])
    return None


def _sayings(formula: AllOf | AnyOf, namer: Namer) -> list[Saying | None]:
    """Return the statements of a formula's parts; many possible remainders of one size become one statement."""
    read = [_remainders(p, namer) if isinstance(formula, AnyOf) else None for p in formula.parts]
    together: dict[tuple[str, int], list[int]] = {}
    for found in read:
        if found is not None:
            together.setdefault(found[0], []).extend(found[1])
    sayings: dict[object, Saying | None] = {}
    for number, (part, found) in enumerate(zip(formula.parts, read, strict=True)):
        if found is None or len(together[found[0]]) < _MANY_REMAINDERS:
            sayings[number] = saying(part, namer)
        else:
            (subject, divisor), ranges = found[0], _ranges(together[found[0]])
            predicate = f"{listed(ranges, 'or')} more than a multiple of {divisor}"
            sayings[found[0]] = Saying(subject, predicate, Form.OR if len(ranges) > 1 else Form.PLAIN)
    return list(sayings.values())


def _remainders(formula: Formula, namer: Namer) -> tuple[tuple[str, int], Sequence[int]] | None:
    """Return the subject, the divisor and the possible remainders of a formula about a remainder."""
    match formula:
        case Comparison("==", left, int(number)):
            low, high = number, number
        case Comparison("<=", int(low), left):
            high = _MOST_REMAINDERS
        case Comparison("<=", left, int(high)):
            low = 0
        case _:
            return None
    if not isinstance(left, Operation) or left.kind != "%":
        return None
    dividend, divisor = left.args
    if not divisor.is_constant or not 0 <= low < divisor.constant <= _MOST_REMAINDERS:
        return None
    return (namer.dim(dividend.dim()), divisor.constant), range(low, min(high, divisor.constant - 1) + 1)


def _ranges(numbers: Sequence[int]) -> list[str]:
    """Return numbers as text; three or more consecutive ones are written as a range.

    >>> _ranges([0, 29, 30, 31])
    ['0', '29 to 31']
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return [t for some in texts for t in some]


def _of_number(operator: str, left: Dim, number: int, namer: Namer) -> Saying:
    if isinstance(left, Operation) and left.kind == "%" and operator in ("==", "!="):
        dividend, divisor = left.args
        # With a symbol as the divisor, 3 more than a multiple of it need not leave 3: the divisor could be 2.
        if divisor.is_constant and 0 <= number < divisor.constant:
            return _of_remainder(namer.dim(dividend.dim()), operator == "==", divisor.constant, number)
        if not divisor.is_constant and number == 0:
            form = Form.PLAIN if operator == "==" else Form.NOT
            return Saying.of(namer.dim(dividend.dim()), form, f"a multiple of {namer.dim(divisor)}")
    forms = {
        "==": (Form.PLAIN, number),
        "!=": (Form.NOT, number),
        "<=": (Form.MOST, number),
        "<": (Form.MOST, number - 1),
        ">=": (Form.LEAST, number),
        ">": (Form.LEAST, number + 1),
    }
    form, bound = forms[operator]
    return Saying.of(namer.dim(left), form, str(bound))


def _of_remainder(subject: str, equal: bool, divisor: int, remainder: int) -> Saying:
    if divisor == 2:
        return Saying(subject, "even" if equal is (remainder == 0) else "odd")
    multiple = f"a multiple of {divisor}" if remainder == 0 else f"{remainder} more than a multiple of {divisor}"
    return Saying.of(subject, Form.PLAIN if equal else Form.NOT, multiple)


def _together(formula: AllOf | AnyOf, found: Sequence[Saying]) -> Saying:
    if len(found) == 1:
        return found[0]
    subject, predicates, forms = found[0].subject, [s.predicate for s in found], [s.form for s in found]
    if isinstance(formula, AnyOf):
        nested = Form.AND in forms or Form.OR in forms
        return Saying(subject, ", or ".join(predicates) if nested else listed(predicates, "or"), Form.OR)
    if sorted(forms, key=list(Form).index) == [Form.LEAST, Form.MOST]:
        low, high = sorted(found, key=lambda s: s.form is Form.MOST)
        return Saying(subject, f"from {low.operand} to {high.operand}")
    if all(form is Form.NOT for form in forms):
        rest = [s.operand for s in found]
        if len(rest) == 2:
            return Saying(subject, f"neither {' nor '.join(rest)}")
        return Saying(subject, f"none of {listed(rest)}", Form.AND)
    return Saying(
        subject, " and ".join(f"({s.predicate})" if s.form is Form.OR else s.predicate for s in found), Form.AND
    )


def _comparison(formula: Comparison, namer: Namer) -> str:
    said = saying(formula, namer)
    if said is not None:
        return str(said)
    left, right = namer.dim(formula.left), namer.dim(formula.right)
    match formula.operator:
        case "==":
            return f"{left} and {right} are equal"
        case "!=":
            return f"{left} and {right} differ"
        case "<=":
            return f"{left} is at most {right}"
        case _:
            return f"{left} is less than {right}"


def _all_of(parts: Sequence[Formula], namer: Namer) -> str:
    said = saying(AllOf(tuple(parts)), namer)
    if said is not None:
        return str(said)
    texts = [in_words(p, namer) for p in parts]
    return ", and ".join(texts)


def _any_of(parts: Sequence[Formula], namer: Namer) -> str:
    said = saying(AnyOf(tuple(parts)), namer)
    if said is not None:
        return str(said)
    ones = [_one(p, namer) for p in parts]
    if None not in ones:
        return f"{listed([o for o in ones if o], 'or')} is 1"
    equal = _one_equality(parts, ones)
    if equal is not None:
        left, right = namer.dim(equal.left), namer.dim(equal.right)
        subjects = [o for o in ones if o is not None]
        if sorted(subjects) == sorted((left, right)):
            return _pair(left, right)
        if subjects in ([left], [right]):
            return f"{subjects[0]} is 1 or equals {right if subjects == [left] else left}"
    return ", or ".join(_alternative(p, namer) for p in parts)


def _alternative(part: Formula, namer: Namer) -> str:
    text = in_words(part, namer)
    if not isinstance(part, AllOf) or saying(part, namer) is not None:
        return text
    return f"{'both' if len(part.parts) == 2 else 'all of:'} {text}"


def _one(formula: Formula, namer: Namer) -> str | None:
    """Return the dimension that a formula says is 1."""
    match formula:
        case Comparison("==", left, 1) if not isinstance(left, int):
            return namer.dim(left)
        case Comparison("==", 1, right) if not isinstance(right, int):
            return namer.dim(right)
    return None


def _one_equality(parts: Sequence[Formula], ones: Sequence[str | None]) -> Comparison | None:
    """Return the only equality in a disjunction whose other parts say that a size is 1."""
    rest = [p for p, one in zip(parts, ones, strict=True) if one is None]
    match rest:
        case [Comparison("==") as equality]:
            return equality
    return None
