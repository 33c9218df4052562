"""The question in an explorer's fields: errors located in their field, limits, and the question as Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from symbcast import errors
from symbcast.answers.comparison import Comparison, compare
from symbcast.answers.comparison.rule_answers import read_rule
from symbcast.answers.public.result import Result, broadcast
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.programs.arguments import read_assumptions
from symbcast.core.rules import Parameter, RuleInfo
from symbcast.core.rules.registry import listed_rules
from symbcast.core.shapes import Shape, known_rank, shape

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
