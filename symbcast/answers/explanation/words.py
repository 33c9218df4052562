"""The names in an answer (operands, axes, dimensions, sizes), and formulas in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of
from symbcast.core.algebra.symbols import Rest, SequenceSymbol, TermWriter, Unknown, mentions_rest, name_text, symbol
from symbcast.core.algebra.terms import Dim, Operation, Symbol, lazy_property
from symbcast.core.characters import prose_list
from symbcast.core.rules import Rule
from symbcast.core.shapes import Shape
from symbcast.core.solver.evaluation import replace_in_formula
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text, formula_text, labelled_text, write_formula

if TYPE_CHECKING:
    from symbcast.core.programs.broadcast_call import BroadcastCall


# The names in an answer: operands, axes, dimensions, sizes.


def rule_text(rule: Rule) -> str:
    """Return the name that the caller used for a rule, with its attributes.

    >>> from symbcast.core.rules import find_rule
    >>> rule_text(find_rule("pdpd", {"axis": 1}))
    'pdpd(axis=1)'
    """
    if not rule.parameters:
        return rule.written_name
    attributes = ", ".join(f"{name}={value!r}" for name, value in rule.written_attributes().items())
    return f"{rule.written_name}({attributes})" if attributes else rule.written_name


def operand_names(result: BroadcastCall) -> list[str]:
    """Return the name of each operand: the rule's name if it names them all, else its number."""
    return names_of_operands(result.rule, len(result.operands))


def names_of_operands(rule: Rule | None, count: int) -> list[str]:
    """Return the names of a rule's operands, for this number of them; without a rule, A and B.

    >>> names_of_operands(None, 2), names_of_operands(None, 3)
    (['A', 'B'], ['operand 0', 'operand 1', 'operand 2'])
    """
    names = ("A", "B") if rule is None else rule.operands
    return [names[n] if count <= len(names) else f"operand {n}" for n in range(count)]


def axis_text(axis: int, rank: int, sequence: int | None = None) -> str:
    """Name an axis from both ends, or from the known one; ``sequence`` represents the unnamed axes.

    >>> axis_text(0, 2), axis_text(0, 2, 0), axis_text(1, 2, 0)
    ('axis 0 (-2)', 'each axis before axis -1', 'axis -1')
    """
    if sequence is not None and axis != sequence:
        return f"axis {axis if axis < sequence else axis - rank}"
    if sequence is not None:
        return f"each axis before axis {axis + 1 - rank}" if axis + 1 < rank else "each axis"
    return f"axis {axis} ({axis - rank})"


class Namer:
    """Writes dimensions and formulas by the names that the answer's witness and counterexample use.

    Sums list their symbols in order of first appearance in the question, so that ``T + P`` is not reordered. Unknowns
    always show their labels, so that a condition on ``?0`` can be matched to the shapes.
    """

    def __init__(self, result: BroadcastCall) -> None:
        self._names = result.shown
        self._renamed = _renamed(self._names)

    @staticmethod
    def of(names: Mapping[Symbol, str]) -> Namer:
        """Return a namer for sizes with the given names; sums list them in the order of their names."""
        namer = Namer.__new__(Namer)
        namer._names, namer._renamed, namer._order = names, _renamed(names), {}
        namer._writer = None  # other sizes may be written too
        return namer

    @lazy_property
    def _order(self) -> Mapping[Symbol, int]:
        return {self._renamed.get(s, s): n for n, s in enumerate(self._names)}

    @lazy_property
    def _writer(self) -> TermWriter | None:
        """Writes terms once for all texts; None if some size needs a label, which depends on the sizes beside it."""
        is_plain = not self._renamed and all(type(s) is Symbol and not s.is_Dummy for s in self._names)
        return TermWriter({}, self._order) if is_plain else None

    @property
    def sizes(self) -> tuple[str, ...]:
        """The name of each size, and of each sequence of axes."""
        names = self._names.items()
        return tuple(dict.fromkeys(s.sequence.rest().name if isinstance(s, SequenceSymbol) else n for s, n in names))

    def dim(self, dim: Dim) -> str:
        """Return a dimension as text, without its bounds."""
        if type(dim) is Symbol and not self._renamed:
            return name_text(dim.name)
        if isinstance(dim, int):
            return str(dim)
        return self._writer.dim(dim) if self._writer is not None else labelled_text(self._rename(dim), self._order)

    def bounded(self, dim: Dim) -> str:
        """Return a dimension as text, an unknown with its bounds."""
        if type(dim) is Symbol or isinstance(dim, (int, Rest)):
            return self.dim(dim)
        if not isinstance(dim, Unknown):
            return dim_text(self._rename(dim), self._order)
        bounds = f"{dim.lower or ''}..{'' if dim.upper is None else dim.upper}"
        return self.dim(dim) if bounds == ".." else f"{self.dim(dim)}:{bounds}"

    def renamed(self, dim: Dim) -> Dim:
        """Return a dimension over symbols with their display names."""
        return replace_symbols(dim, self._renamed) if self._renamed and not isinstance(dim, int) else dim

    def renamed_formula(self, formula: Formula) -> Formula:
        """Return a formula over symbols with their display names."""
        if not self._renamed:
            return formula

        return replace_in_formula(formula, self._renamed)

    def shape(self, dims: Shape | Sequence[Dim]) -> str:
        """Return a shape as text."""
        texts = [self.bounded(d) for d in (dims.dims if isinstance(dims, Shape) else dims)]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def formula(self, formula: Formula) -> str:
        """Return a formula as text that parses back."""
        if self._writer is not None:
            return write_formula(formula, self._writer)
        return formula_text(self.renamed_formula(formula), order=self._order)

    def _rename(self, dim: Dim) -> Dim:
        return replace_symbols(dim, self._renamed) if self._renamed else dim


def _renamed(names: Mapping[Symbol, str]) -> dict[Symbol, Symbol]:
    """Map each symbol whose display name differs from its own name to a symbol with the display name."""
    return {s: s.renamed(n) if isinstance(s, Unknown) else symbol(n) for s, n in names.items() if s.name != n}


# Formulas in plain words.


# From this many possible remainders of a size on, one clause lists them all.
_MANY_REMAINDERS = 3
_MOST_REMAINDERS = 4096


class PredicateForm(Enum):
    """How a predicate is built, so that predicates about one subject can be put together."""

    PLAIN = "{}"
    LEAST = "at least {}"
    MOST = "at most {}"
    NOT = "not {}"
    AND = "{} and {}"
    OR = "{} or {}"


class SplitSentence(NamedTuple):
    """A sentence in two halves, so that sentences about one subject can share it: ``N``, ``at most 3``.

    ``form`` is how the predicate is built; ``operand`` is its single operand, if it has one: ``3``.
    """

    subject: str
    predicate: str
    form: PredicateForm = PredicateForm.PLAIN
    operand: str = ""

    @staticmethod
    def of(subject: str, form: PredicateForm, operand: str) -> SplitSentence:
        """Return the sentence of a form with one operand."""
        return SplitSentence(subject, form.value.format(operand), form, operand)

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
            return f"two of {prose_list(names)} differ and neither is 1"
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
    return f"those of {prose_list(names)} that are not 1 are equal"


def _pair(left: str, right: str) -> str:
    """Return in words that two sizes broadcast together; either may be a number."""
    if left.isdecimal():
        left, right = right, left
    if right.isdecimal():
        return f"{left} is 1 or {right}"
    return f"{left} and {right} are equal, or one of them is 1"


def statement_of(formula: Formula, namer: Namer) -> SplitSentence | None:
    """Return a formula's statement about one subject; None if it is about several."""
    match formula:
        case Comparison(operator, left, right) if isinstance(right, int) and not isinstance(left, int):
            return _of_number(operator, left, right, namer)
        case Comparison(operator, left, right) if isinstance(left, int) and not isinstance(right, int):
            turned = {"<=": ">=", "<": ">"}.get(operator, operator)
            return _of_number(turned, right, left, namer)
        case AllOf(parts) | AnyOf(parts) if parts:
            sayings = _sayings(formula, namer)
            subjects = {s.subject if s is not None else None for s in sayings}
            if len(subjects) == 1 and None not in subjects:
                return _together(formula, [s for s in sayings if s is not None])
    return None


def _sayings(formula: AllOf | AnyOf, namer: Namer) -> list[SplitSentence | None]:
    """Return the statements of a formula's parts; many possible remainders of one size become one statement."""
    read = [_remainders(p, namer) if isinstance(formula, AnyOf) else None for p in formula.parts]
    together: dict[tuple[str, int], list[int]] = {}
    for saying in read:
        if saying is not None:
            together.setdefault(saying[0], []).extend(saying[1])
    sayings: dict[object, SplitSentence | None] = {}
    for number, (part, saying) in enumerate(zip(formula.parts, read, strict=True)):
        if saying is None or len(together[saying[0]]) < _MANY_REMAINDERS:
            sayings[number] = statement_of(part, namer)
        else:
            (subject, divisor), ranges = saying[0], _ranges(together[saying[0]])
            predicate = f"{prose_list(ranges, 'or')} more than a multiple of {divisor}"
            sayings[saying[0]] = SplitSentence(
                subject, predicate, PredicateForm.OR if len(ranges) > 1 else PredicateForm.PLAIN
            )
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


def _of_number(operator: str, left: Dim, number: int, namer: Namer) -> SplitSentence:
    if isinstance(left, Operation) and left.kind == "%" and operator in ("==", "!="):
        dividend, divisor = left.args
        # With a symbol as the divisor, 3 more than a multiple of it need not leave 3: the divisor could be 2.
        if divisor.is_constant and 0 <= number < divisor.constant:
            return _of_remainder(namer.dim(dividend.dim()), operator == "==", divisor.constant, number)
        if not divisor.is_constant and number == 0:
            form = PredicateForm.PLAIN if operator == "==" else PredicateForm.NOT
            return SplitSentence.of(namer.dim(dividend.dim()), form, f"a multiple of {namer.dim(divisor)}")
    forms = {
        "==": (PredicateForm.PLAIN, number),
        "!=": (PredicateForm.NOT, number),
        "<=": (PredicateForm.MOST, number),
        "<": (PredicateForm.MOST, number - 1),
        ">=": (PredicateForm.LEAST, number),
        ">": (PredicateForm.LEAST, number + 1),
    }
    form, bound = forms[operator]
    return SplitSentence.of(namer.dim(left), form, str(bound))


def _of_remainder(subject: str, equal: bool, divisor: int, remainder: int) -> SplitSentence:
    if divisor == 2:
        return SplitSentence(subject, "even" if equal is (remainder == 0) else "odd")
    multiple = f"a multiple of {divisor}" if remainder == 0 else f"{remainder} more than a multiple of {divisor}"
    return SplitSentence.of(subject, PredicateForm.PLAIN if equal else PredicateForm.NOT, multiple)


def _together(formula: AllOf | AnyOf, sayings: Sequence[SplitSentence]) -> SplitSentence:
    if len(sayings) == 1:
        return sayings[0]
    subject, predicates, forms = sayings[0].subject, [s.predicate for s in sayings], [s.form for s in sayings]
    if isinstance(formula, AnyOf):
        nested = PredicateForm.AND in forms or PredicateForm.OR in forms
        return SplitSentence(
            subject, ", or ".join(predicates) if nested else prose_list(predicates, "or"), PredicateForm.OR
        )
    if sorted(forms, key=list(PredicateForm).index) == [PredicateForm.LEAST, PredicateForm.MOST]:
        low, high = sorted(sayings, key=lambda s: s.form is PredicateForm.MOST)
        return SplitSentence(subject, f"from {low.operand} to {high.operand}")
    if all(form is PredicateForm.NOT for form in forms):
        rest = [s.operand for s in sayings]
        if len(rest) == 2:
            return SplitSentence(subject, f"neither {' nor '.join(rest)}")
        return SplitSentence(subject, f"none of {prose_list(rest)}", PredicateForm.AND)
    return SplitSentence(
        subject,
        " and ".join(f"({s.predicate})" if s.form is PredicateForm.OR else s.predicate for s in sayings),
        PredicateForm.AND,
    )


def _comparison(formula: Comparison, namer: Namer) -> str:
    said = statement_of(formula, namer)
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
    said = statement_of(AllOf(tuple(parts)), namer)
    if said is not None:
        return str(said)
    texts = [in_words(p, namer) for p in parts]
    return ", and ".join(texts)


def _any_of(parts: Sequence[Formula], namer: Namer) -> str:
    said = statement_of(AnyOf(tuple(parts)), namer)
    if said is not None:
        return str(said)
    ones = [_one(p, namer) for p in parts]
    if None not in ones:
        return f"{prose_list([o for o in ones if o], 'or')} is 1"
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
    if not isinstance(part, AllOf) or statement_of(part, namer) is not None:
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
