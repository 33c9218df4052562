"""The question in an explorer's fields: errors located in their field, limits, and the question as Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symbcast import errors
from symbcast.answers.comparison import Comparison, compare
from symbcast.answers.comparison.rule_answers import read_rule
from symbcast.answers.explanation.evidence import Alignment
from symbcast.answers.explanation.fixes import fix
from symbcast.answers.public.result import Result, broadcast, call_of
from symbcast.core.algebra.arithmetic import check_min_size, replace_symbols
from symbcast.core.algebra.formulas import AnyOf, Formula
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs.arguments import linked_sizes, own_set, read_assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.rules import Parameter, Rule, RuleInfo
from symbcast.core.rules.registry import listed_rules
from symbcast.core.shapes import Shape, known_rank, shape
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.size_sets import ALL
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import formula_text, labelled_text

# The largest size on a map, unless it is set, or a larger one is needed to show both outcomes.
MAP_UP_TO = 12

# So many sizes of a symbol are on a map at most: beyond, every 2nd, 4th, 8th... is.
MOST_SIZES = 33

LARGEST_MAP = 4096

# What a page counts exactly.
LARGEST_SIZE = 2**53 - 1


# The question in an explorer's fields: each error has its field, and the question can be written as Python.


class FieldError(NamedTuple):
    """An error in a field; ``start`` and ``stop`` delimit the invalid characters, both 0 for the whole field."""

    message: str
    start: int = 0
    stop: int = 0


@dataclass(frozen=True)
class ExplorerQuestion:
    """The contents of the fields, as typed, whether or not they are valid."""

    shapes: tuple[str, ...]
    rule: str = "numpy"
    attributes: Mapping[str, str] = field(default_factory=dict)
    assume: str = ""
    min_size: int = 0
    compare_with: str = ""

    def ask(self) -> tuple[Result | None, dict[str, FieldError]]:
        """Return the answer and no errors, or None and the error of each invalid field.

        Fields are named ``shape 0``, ``rule``, ``attribute axis``, ``assume``, ``min_size`` and ``compare_with``.

        >>> ExplorerQuestion(("N, 3", "M,, 1")).ask()[1]
        {'shape 1': FieldError(message="unexpected ','; expected a dimension", start=2, stop=3)}
        """
        faults: dict[str, FieldError] = {}
        for n, text in enumerate(self.shapes):
            _try(f"shape {n}", faults, _read, text)
        _try("assume", faults, read_assumptions, self._assumptions())
        _try("min_size", faults, check_min_size, self.min_size)
        if self._is_compared():
            _try("compare_with", faults, read_rule, self.compare_with)
        attributes = {
            name: _try(f"attribute {name}", faults, p.read, self.rule, text)
            for name, text in self.attributes.items()
            if text.strip() and (p := self._parameter(name)) is not None
        }
        return (None, faults) if faults else self._answer(attributes)

    def comparison(self, result: Result) -> Comparison | None:
        """Compare this question's rule with the other one on the same shapes; None if no other rule is given.

        >>> question = ExplorerQuestion(("N, 3", "M, 1"), compare_with="none")
        >>> question.comparison(question.ask()[0])
        <Comparison of numpy, none on (N, 3), (M, 1)>
        """
        if not self._is_compared():
            return None
        rules = [result.rule, read_rule(self.compare_with)]
        return compare(*self.shapes, rules=rules, assume=self._assumptions(), min_size=self.min_size)

    def call(self) -> str:
        """Return the call of `symbcast.broadcast` that asks this question.

        >>> ExplorerQuestion(("N, C", "C"), "pdpd", {"axis": "1"}, assume="N >= 2").call()
        'sb.broadcast("N, C", "C", rule="pdpd", axis=1, assume="N >= 2")'
        """
        return f"sb.broadcast({', '.join(self.arguments())})"

    def arguments(self) -> list[str]:
        """Return the arguments of a call that asks this question, as Python."""
        texts = [quoted(text) for text in self.shapes]
        if self.rule != "numpy":
            texts.append(f"rule={quoted(self.rule)}")
        for name, text in self.attributes.items():
            parameter = self._parameter(name)
            if parameter is not None and text.strip():
                value = parameter.read(self.rule, text)
                if value != parameter.default:
                    texts.append(f"{name}={quoted(value) if isinstance(value, str) else repr(value)}")
        if self._assumptions():
            texts.append(f"assume={quoted(self.assume.strip())}")
        if self.min_size:
            texts.append(f"min_size={self.min_size}")
        return texts

    def _answer(self, attributes: Mapping[str, Any]) -> tuple[Result | None, dict[str, FieldError]]:
        try:
            assume, min_size = self._assumptions(), self.min_size
            return broadcast(*self.shapes, rule=self.rule, assume=assume, min_size=min_size, **attributes), {}
        except (errors.AssumptionError, errors.DimensionError) as error:
            # The shapes were parsed separately: an invalid dimension must come from the assumptions.
            return None, {"assume": FieldError(str(error))}
        except errors.SymbcastError as error:
            # The rule's own message about an unsupported number of shapes or an invalid attribute.
            attribute = error.attribute if isinstance(error, errors.RuleArgumentError) else ""
            at = "rule" if self._parameter(attribute) is None else f"attribute {attribute}"
            return None, {at: _fault(error)}

    def _is_compared(self) -> bool:
        return bool(self.compare_with.strip())

    def _assumptions(self) -> str | tuple[()]:
        return self.assume if self.assume.strip() else ()  # as typed, so that error positions are correct

    def _parameter(self, name: str) -> Parameter | None:
        return next((p for p in rule_info(self.rule).parameters if p.name == name), None)


def quoted(text: str) -> str:
    """Return text as a Python literal, in double quotes unless it contains them."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal.startswith("'") and '"' not in text and "\\" not in literal else literal


def rule_info(rule: str) -> RuleInfo:
    """Return the description of a rule by name or alias; raise `UnknownRuleError` if there is none."""
    info = next((r for r in listed_rules() if rule in (r.name, *r.aliases)), None)
    if info is None:
        raise errors.UnknownRuleError(rule, [r.name for r in listed_rules()])
    return info


def _read(text: str) -> Shape:
    return known_rank(shape(text), "the explorer", "use symbcast.broadcast(): notebooks show its answer too")


def _try(name: str, faults: dict[str, FieldError], read: Callable[..., Any], *texts: Any) -> Any:
    """Return the value of a field; record its error if it cannot be parsed."""
    try:
        return read(*texts)
    except errors.SymbcastError as error:
        faults[name] = _fault(error)
    return None


def _fault(error: errors.SymbcastError) -> FieldError:
    if isinstance(error, errors.ShapeSyntaxError):
        expected = f"; expected {error.expected}" if error.expected else ""
        return FieldError(f"{error.problem}{expected}", *error.span)
    if isinstance(error, errors.RuleArgumentError):
        return FieldError(f"{error.problem}; {error.hint}" if error.hint else error.problem)
    return FieldError(str(error))


# A result as the contents of fields.


def question_of(result: Result) -> ExplorerQuestion:
    """Return the question that a result answers, as text that reproduces it.

    >>> question_of(broadcast("2..5, N", ("M", None), rule="none", assume="N >= 2"))
    ExplorerQuestion(shapes=('?0, N', 'M, ?1'), rule='none', attributes={},
             assume='?0 >= 2 and ?0 <= 5 and N >= 2', min_size=0, compare_with='')
    """
    texts, scope = attribute_texts(result.rule), call_of(result).scope
    if scope is None:
        return ExplorerQuestion(tuple(_shape_text(shape.dims) for shape in result.operands), result.rule.name, texts)
    renamed = {s: s if isinstance(s, Unknown) else symbol(name) for s, name in scope.names.items()}
    order = {renamed[s]: n for n, s in enumerate(scope.names)}
    shapes = tuple(_shape_text([replace_symbols(d, renamed) for d in shape.dims], order) for shape in scope.shapes)
    assume = " and ".join(_assumed(scope, renamed))
    return ExplorerQuestion(shapes, result.rule.name, texts, assume, scope.min_size)


def fixed_question(result: Result) -> tuple[str, ExplorerQuestion] | None:
    """Return the fix that an answer suggests, in words, and the question with it; None if there is none.

    >>> fixed_question(broadcast("2, 3", "2"))
    ('reshape B to (2, 1)', ExplorerQuestion(shapes=('2, 3', '2, 1'), ...
    """
    call = call_of(result)
    suggested = fix(Alignment(call))
    return None if suggested is None else (suggested.text, question_of(Result(suggested.ask(call))))


def attribute_texts(rule: Rule) -> dict[str, str]:
    """Return the texts for those of a rule's attribute fields that differ from their defaults."""
    values = rule.attributes()
    return {n: (", ".join(map(str, v)) or "()") if isinstance(v, tuple) else str(v) for n, v in values.items()}


def _shape_text(dims: Sequence[Dim], order: Mapping[Symbol, int] | None = None) -> str:
    return ", ".join(str(d) if isinstance(d, int) else labelled_text(d, order) for d in dims) or "()"


def _assumed(scope: Scope, renamed: Mapping[Symbol, Symbol]) -> Iterator[str]:
    """Yield the known facts about the sizes as text: the bounds of each size, and the assumptions.

    Facts about sizes that are not in the shapes are left out: they have no effect, and would be rejected as text.
    """
    known: list[Formula] = [set_formula(s, own_set(s, 0)) for s in scope.symbols if own_set(s, 0) is not ALL]
    formulas = [*known, *(a.formula for a in scope.assumptions)]
    groups = [frozenset(symbols_in(formula)) for formula in formulas]
    linked = linked_sizes(symbols_of(d for shape in scope.shapes for d in shape.dims), groups)
    for formula, symbols in zip(formulas, groups, strict=True):
        if symbols and linked.isdisjoint(symbols):
            continue
        text = formula_text(replace_in_formula(formula, dict(renamed)))
        yield f"({text})" if isinstance(formula, AnyOf) or " or " in text else text
