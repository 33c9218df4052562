"""One rule's answer for the shapes on which rules are compared, and its outputs at a few sizes that represent all.

Whether formulas over names and integers hold depends on which of these are equal, and, where one of the formulas says
"at most", on their order. So it is enough to look at one choice of sizes for each way in which names can be equal to
each other and to the integers, or ordered among them (the small model property of these logics). Each is the
smallest choice of its kind, and therefore the smallest sizes at which something holds are among them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from itertools import product
from typing import TypeAlias

from symbcast.answers.explanation.words import Namer, rule_text
from symbcast.answers.public.conditions import Condition
from symbcast.answers.public.result import Result, call_of
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Comparison, Formula, all_of, clauses, dims_of
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import answer_property, check_budget
from symbcast.core.programs.arguments import Assumptions, own_set
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.programs.conditions import condition_about
from symbcast.core.programs.scope import Scope
from symbcast.core.rules import AttributeValue, Kind, OutputDim, Rule, find_rule
from symbcast.core.rules.registry import is_rule_name, listed_rules, parameters_of
from symbcast.core.shapes import ShapeLike, known_rank, shape
from symbcast.core.solver.evaluation import predicate, replace_in_formula, size_at
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import HasVerdict, Possible, possible
from symbcast.errors import RuleArgumentError, ShapeTypeError, SymbcastError, UnknownRuleError

# Rules as text: ``pdpd(axis=1)``.


_WRITTEN = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\((?P<attributes>.*)\))?\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\([^()]*\)|\[[^\[\]]*\]|[^,()\[\]]+)\s*(?:,|$)")


def read_rule(rule: str | Rule) -> Rule:
    """Return a rule given as text, with attributes in parentheses after its name, or as a `Rule`.

    Raises `UnknownRuleError` and `RuleArgumentError` as `symbcast.broadcast` does, and `RuleArgumentError` for text
    that cannot be read.

    >>> read_rule("explicit(axes=(0, 2), flavour='openvino')")
    <Rule explicit, axes=(0, 2), flavour='openvino'>
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str):
        raise ShapeTypeError(rule, "a rule", "write its name, with attributes as in 'pdpd(axis=1)'")
    written = _WRITTEN.fullmatch(rule)
    if written is None:
        raise _not_written(rule)
    name = written["name"]
    return find_rule(name, dict(_attributes(name, written["attributes"] or "")))


def _not_written(text: str) -> SymbcastError:
    """Return the error for text that is not a rule's name with attributes in parentheses."""
    name, rest = re.match(r"\s*([\w.-]*)\s*(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr] # it matches
    if not is_rule_name(name):
        return UnknownRuleError(text, [info.name for info in listed_rules()])
    if rest.startswith("(") and ")" not in rest:
        return RuleArgumentError(name, f"no ')' ends its attributes {rest!r:.60}", f"write '{name}{rest.strip()})'")
    inside = rest.strip(" :,")
    hint = f"write '{name}({inside})'" if re.fullmatch(r"\w+\s*=[^()]*", inside) else _example(name)
    return RuleArgumentError(name, f"{rest!r:.60} is not a list of attributes in parentheses", hint)


def _example(name: str) -> str:
    """Return an example of how a rule's attributes are written, with its first attribute."""
    values = {Kind.INTEGERS: "(0, 1)", Kind.WORD: "..."}
    first = next((f"{p.name}={values.get(p.kind, '1')}" for p in parameters_of(name)), None)
    return f"write {name!r}: it takes no attributes" if first is None else f"write '{name}({first})', for example"


def _attributes(rule: str, text: str) -> Iterator[tuple[str, AttributeValue]]:
    declared = {p.name: p for p in parameters_of(rule)}
    place = 0
    while text[place:].strip():
        match = _ATTRIBUTE.match(text, place)
        if match is None:
            raise RuleArgumentError(rule, f"{text[place:].strip()!r} is not an attribute", _example(rule))
        name, value = match["name"], match["value"].strip().strip("'\"")
        parameter = declared.get(name)
        # `onnx-legacy(axis=None)` is how Python writes an attribute that is left out.
        is_left_out = value == "None" and parameter is not None and parameter.default is None
        yield name, None if is_left_out else value if parameter is None else parameter.read(rule, value)
        place = match.end()


# The shapes that rules are compared on, with their sizes bound once for all of the rules.


SizeTuple: TypeAlias = tuple[int, ...]
_HINT = "call broadcast() for each rule and symbcast.equivalent() on two answers, or ask for each rank separately"


class ComparisonQuestion:
    """Shapes with their sizes bound, assumptions on these, and the time limit of an answer in seconds (None: none)."""

    def __init__(
        self, shapes: Sequence[ShapeLike], assume: Assumptions = (), min_size: int = 0, budget: float | None = None
    ) -> None:
        self.budget = check_budget(budget)
        operands = [known_rank(shape(s), "a comparison of rules", _HINT) for s in shapes]
        self.scope = Scope.of_call(shapes, operands, assume, min_size, is_linked=True)
        self.shapes = self.scope.shapes

    @property
    def assumed(self) -> list[Formula]:
        """The assumptions: the bounds of each size, and the explicit ones."""
        own = (set_formula(s, own_set(s, self.scope.min_size)) for s in self.scope.symbols)
        return [*own, *(a.formula for a in self.scope.assumptions)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComparisonQuestion) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key()[0])

    def _key(self) -> tuple[tuple[object, ...], tuple[Formula, ...], int, float | None]:
        assumed = tuple(a.formula for a in self.scope.assumptions)
        return tuple(s.dims for s in self.shapes), assumed, self.scope.min_size, self.budget

    def condition(self, formula: Formula) -> Condition:
        """Return a formula as a condition over all sizes of the question, by their names."""
        names = {s: s if isinstance(s, Unknown) else symbol(name) for s, name in self.scope.names.items()}
        return condition_about(
            Condition, replace_in_formula(formula, {s: n for s, n in names.items() if s is not n}), names.values()
        )

    def at(self, sizes: Mapping[str, int]) -> tuple[SizeTuple, ...]:
        """Return the shapes at some sizes, given by name; all dimensions must have a value there."""
        values = {s: sizes[name] for s, name in self.scope.names.items()}
        return tuple(tuple(size_at(d, values) for d in s.dims) for s in self.shapes)


@dataclass(frozen=True)
class RuleAnswer(HasVerdict):
    """One rule's answer for the shapes.

    Attributes:
        rule: The rule as text, such as ``pdpd(axis=1)``.
        result: The rule's answer; None if it does not accept this number of shapes or these ranks at all.
        refusal: Why it does not accept them; empty if it does.
        rule_asked: The rule itself.
        question: The shapes.
    """

    rule: str
    result: Result | None
    rule_asked: Rule = field(repr=False)
    question: ComparisonQuestion = field(repr=False)
    refusal: str = ""

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self.question.budget

    @property
    def _possible(self) -> Possible:
        return (False, True) if self.result is None else possible(self.result.verdict)

    @answer_property
    def condition(self) -> Condition:
        """The sizes at which the rule accepts the shapes."""
        return self.question.condition(FALSE) if self.result is None else Condition(self.result)

    @cached_property
    def required(self) -> tuple[Formula, ...]:
        """The rule's requirements, conjunct by conjunct, not simplified."""
        if self.result is None:
            return (FALSE,)
        return clauses(all_of(c.requirement for c in call_of(self.result).constraints))

    @cached_property
    def law(self) -> tuple[object, ...]:
        """The rule's requirements and output; rules for which these are equal behave the same on the shapes."""
        # Rules that refuse everything are one law, whatever outputs they would have.
        if self.result is None or FALSE in self.required:
            return (FALSE,)
        return self.required, self.output, self.places

    @property
    def output(self) -> tuple[OutputDim, ...]:
        """The output's axes, each named by the sizes that meet there."""
        return () if self.result is None else call_of(self.result).emission.output

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The output axis of each axis of each operand; empty if the rule refuses the shapes."""
        if self.result is None:
            return ()
        return self.result.rule.places([s.rank for s in self.question.shapes]).of

    @property
    def shape(self) -> str:
        """The output shape as text, empty if there is none."""
        if self.result is None or self.result.shape is None:
            return ""
        return Namer(call_of(self.result)).shape(self.result.shape)

    def at(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the output for integer shapes; None if the rule refuses them."""
        return None if self.result is None else call_of(self.result).rule_at_sizes.concrete(shapes)


def answer_of(rule: Rule, question: ComparisonQuestion) -> RuleAnswer:
    """Return a rule's answer for the shapes of a question."""
    try:
        call = BroadcastCall(rule, question.shapes, question.scope)
    except RuleArgumentError as error:
        return RuleAnswer(
            rule_text(rule), None, rule, question, f"{error.problem}; {error.hint}" if error.hint else error.problem
        )
    call.budget = question.budget
    return RuleAnswer(rule_text(rule), Result(call), rule, question)


# The most choices to enumerate; beyond that, `small_models` returns None.
MOST = 5_000

_SizeTuple: TypeAlias = tuple[int, ...]


def small_models(
    symbols: Sequence[Symbol], dims: Iterable[Dim], formulas: Iterable[Formula]
) -> list[_SizeTuple] | None:
    """Return sizes of the symbols, in order, that represent all sizes for the given formulas; the smallest first.

    A choice is smaller than another if it has fewer sizes of 0, then if its sum is less, then if its sizes come first.
    None if a dimension or a formula contains more than names and integers, or if there are more than `MOST` choices.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import equal
    >>> N, M = symbol("N"), symbol("M")
    >>> small_models([N, M], [N, M], [equal(N, M)])
    [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
    """
    constraints = list(formulas)
    known, found_dims = {*symbols}, {*dims, *(dim for formula in constraints for dim in dims_of(formula))}
    # Every law tells 1 from other sizes, though no operand may write it.
    integers = {1, *(dim for dim in found_dims if isinstance(dim, int) and dim >= 0)}
    if any(dim not in known for dim in found_dims if not isinstance(dim, int)):
        return None
    if any(map(_is_ordered, constraints)):
        pool = sorted(_ordered_pool(integers, len(symbols)))
        if len(pool) ** len(symbols) > MOST:
            return None
        models: Iterable[_SizeTuple] = product(pool, repeat=len(symbols))
    else:
        if _count(len(symbols), len(integers)) > MOST:
            return None
        models = (_smallest(kind, integers) for kind in _kinds(len(symbols), sorted(integers)))
    return sorted(models, key=lambda sizes: (sizes.count(0), sum(sizes), sizes))


def _is_ordered(formula: Formula) -> bool:
    match formula:
        case AllOf(parts) | AnyOf(parts):
            return any(map(_is_ordered, parts))
        case Comparison(operator):
            return operator in ("<=", "<")
    return False


def _ordered_pool(integers: Collection[int], count: int) -> Iterator[int]:
    """Yield the integers, and the first ``count`` sizes between each two of them and above all of them."""
    # As many sizes between two integers as there are names realise every order of the names there.
    ends = sorted(integers)
    for before, end in zip((-1, *ends), (*ends, None), strict=True):
        stop = before + 1 + count if end is None else min(end, before + 1 + count)
        yield from range(before + 1, stop)
    yield from ends


def _count(names: int, integers: int) -> int:
    """Return the number of ways in which names can be equal to each other and to integers."""
    ways = [1] + [0] * names  # by the number of groups of names that equal no integer
    for _ in range(names):
        ways = [ways[n] * (integers + n) + (ways[n - 1] if n else 0) for n in range(len(ways))]
    return sum(ways)


def _kinds(names: int, integers: Sequence[int]) -> Iterator[_SizeTuple]:
    """Yield each way once: for each name an integer, or its group's number, from -1 down in order of appearance."""
    stack: list[_SizeTuple] = [()]
    while stack:
        kind = stack.pop()
        if len(kind) == names:
            yield kind
            continue
        fresh = min((*kind, 0)) - 1
        stack.extend((*kind, value) for value in (*integers, *range(fresh, 0)))


def _smallest(kind: _SizeTuple, integers: Collection[int]) -> _SizeTuple:
    """Return the smallest sizes of a kind: the largest groups get the smallest sizes not among the integers."""
    groups = sorted({n for n in kind if n < 0}, key=lambda n: (-kind.count(n), -n))
    sizes: dict[int, int] = {}
    free = 1
    for group in groups:
        while free in integers:
            free += 1
        sizes[group] = free
        free += 1
    return tuple(sizes.get(n, n) for n in kind)


# Evaluate rules at the few sizes that represent all sizes, if such sizes exist.


class Example(NamedTuple):
    """Sizes, the shapes at these sizes, and each rule's output there; None if the rule refuses."""

    sizes: Mapping[str, int]
    shapes: tuple[SizeTuple, ...]
    first: SizeTuple | None
    second: SizeTuple | None


class Agreement(Enum):
    """How two rules relate at some sizes."""

    AGREE = auto()
    APART = auto()
    DIFFER = auto()
    ONLY_FIRST = auto()
    ONLY_SECOND = auto()
    NEITHER = auto()


class AgreementCount(NamedTuple):
    """For each way two rules can relate: the number of checked sizes at which they do, and the first of these."""

    counts: dict[Agreement, int]
    first: dict[Agreement, int]
    total: int


class Outcomes:
    """The output of each rule at a few sizes; None if it refuses.

    ``models`` are those sizes, in the order of the symbols, smallest first; None if no small set represents all sizes.
    """

    def __init__(self, question: ComparisonQuestion, answers: Sequence[RuleAnswer]) -> None:
        self._question = question
        self._answers = answers
        self._laws: dict[tuple[object, ...], int] = {}
        self._number: dict[int, int] = {}
        self._found: dict[int, list[SizeTuple | None]] = {}
        self._standings: dict[tuple[int, int], AgreementCount] = {}

    def law(self, answer: RuleAnswer) -> int:
        """Return a number for a rule's requirements and output; rules with equal numbers behave the same here."""
        number = self._number.get(id(answer))
        if number is None:
            number = self._number[id(answer)] = self._laws.setdefault(answer.law, len(self._laws))
        return number

    @cached_property
    def models(self) -> list[SizeTuple] | None:
        """The sizes that represent all sizes that the assumptions allow."""
        scope, assumed = self._question.scope, self._question.assumed
        required = [f for answer in self._answers for f in answer.required]
        dims = [d for s in scope.shapes for d in s.dims]
        models = small_models(scope.symbols, dims, [*assumed, *required])
        known = all_of(assumed)
        if models is None or known == TRUE:
            return models
        is_assumed = predicate(known, scope.symbols)
        return [sizes for sizes in models if is_assumed(*sizes)]

    def standing(self, first: RuleAnswer, second: RuleAnswer) -> AgreementCount | None:
        """Return how two rules relate at the models; None if there are no models."""
        if self.models is None:
            return None
        laws = self.law(first), self.law(second)
        if laws not in self._standings:
            moved = elements_moved(first, second)
            is_apart = [any(shapes[n][i] != 1 for n, i in moved) for shapes in self._shapes]
            self._standings[laws] = _standing(self._of(first), self._of(second), is_apart)
        return self._standings[laws]

    def example(self, number: int, first: RuleAnswer, second: RuleAnswer) -> Example:
        """Return a model, by number, and the outputs of two rules there."""
        assert self.models is not None
        sizes = dict(zip(self._question.scope.names.values(), self.models[number], strict=True))
        return Example(sizes, self._shapes[number], self._of(first)[number], self._of(second)[number])

    def _of(self, answer: RuleAnswer) -> list[SizeTuple | None]:
        law = self.law(answer)
        if law not in self._found:
            self._found[law] = list(map(answer.at, self._shapes))
        return self._found[law]

    @cached_property
    def _shapes(self) -> list[tuple[SizeTuple, ...]]:
        """The shapes at each model."""
        places: dict[Dim, int] = {s: n for n, s in enumerate(self._question.scope.symbols)}
        written = [[d if isinstance(d, int) else ~places[d] for d in s.dims] for s in self._question.shapes]
        return [
            tuple([tuple([d if d >= 0 else sizes[~d] for d in shape]) for shape in written])
            for sizes in self.models or ()
        ]


def elements_moved(first: RuleAnswer, second: RuleAnswer) -> list[tuple[int, int]]:
    """Return the axes, as pairs of operand and number, that two rules place on different output axes."""
    pairs = zip(first.places, second.places, strict=False)
    return [
        (n, i)
        for n, (ours, theirs) in enumerate(pairs)
        for i, (a, b) in enumerate(zip(ours, theirs, strict=False))
        if a != b
    ]


def _standing(
    first: Sequence[SizeTuple | None], second: Sequence[SizeTuple | None], is_apart: Sequence[bool]
) -> AgreementCount:
    ways = list(map(_way, first, second, is_apart))
    counts = {way: ways.count(way) for way in Agreement}
    return AgreementCount(counts, {way: ways.index(way) for way, count in counts.items() if count}, len(ways))


def _way(first: SizeTuple | None, second: SizeTuple | None, is_apart: bool) -> Agreement:
    if first is None:
        return Agreement.NEITHER if second is None else Agreement.ONLY_SECOND
    if second is None:
        return Agreement.ONLY_FIRST
    return Agreement.DIFFER if first != second else Agreement.APART if is_apart else Agreement.AGREE
