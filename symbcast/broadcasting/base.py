"""What a rule is: a small class that aligns shapes and emits constraints.

To add a rule, write a class deriving from `Rule` in its family's file, with its attributes as ``parameters`` and an
`emit`, and decorate it with `offered`. A rule never decides, prints, or raises about the validity of shapes; it raises
`RuleArgumentError` about its own attributes alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from symbcast.constraints import Constraint, Origin
from symbcast.errors import RuleArgumentError, UnknownRuleError
from symbcast.formulas import FALSE, Formula, holds

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

Dims: TypeAlias = "Sequence[Dim]"


class Joined(tuple["Dim", ...]):
    """An output dimension named by its members: their join, whatever it collapses to."""

    __slots__ = ()


OutputDim: TypeAlias = "Dim | Joined"


class Emission(NamedTuple):
    """What a rule says of some shapes: what must hold, and what each output axis is then."""

    constraints: list[Constraint]
    output: tuple[OutputDim, ...]


class Places(NamedTuple):
    """Where a rule lays the axes of its operands.

    ``rank`` is that of the aligned shapes; ``of[n][i]`` the axis on which axis ``i`` of operand ``n`` is laid. An axis
    below 0 or from ``rank`` on hangs over: the rule has no axis there.
    """

    rank: int
    of: tuple[tuple[int, ...], ...]


class Parameter(NamedTuple):
    """An attribute of a rule: its name, its default (`REQUIRED` where there is none), and the words it may be."""

    name: str
    default: Any
    choices: tuple[str, ...] = ()


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()
"""The default of an attribute that must be given."""


class Rule(ABC):
    """One framework's broadcast rule with its attributes set; immutable.

    ``operands`` names the operands in order; a ``variadic`` rule takes any number. ``parameters`` are its attributes.
    ``called`` is the name, or alias, that it was asked for by.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    summary: ClassVar[str]
    document: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    operands: ClassVar[tuple[str, ...]] = ("A", "B")
    variadic: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def __init__(self, *, called: str = "", **attributes: Any) -> None:
        self.called = called or self.name
        for parameter in self.parameters:
            value = attributes.pop(parameter.name, parameter.default)
            if parameter.choices:
                check_choice(self.name, parameter, value)
            setattr(self, parameter.name, value)
        for given in attributes:
            raise RuleArgumentError(self.name, f"has no attribute {given!r}", _instead(given, self.parameters))
        self.check_attributes()
        self._is_set = True

    def __setattr__(self, name: str, value: Any) -> None:
        # One rule serves every call that names it.
        if getattr(self, "_is_set", False):
            raise AttributeError(f"a rule does not change: ask for another with {name}={value!r}")
        super().__setattr__(name, value)

    def check_attributes(self) -> None:
        """Raise `RuleArgumentError` for an attribute that no shapes could make right."""
        return

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` for the number of operands, or attributes that do not fit their ranks."""
        if not self.variadic and len(shapes) != len(self.operands):
            names = ", ".join(self.operands)
            problem = f"takes {len(self.operands)} shapes ({names}), not {len(shapes)}"
            raise RuleArgumentError(self.name, problem, "give one shape for each")

    @abstractmethod
    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Return the constraints on the operands and the output dimensions."""

    def places(self, ranks: Sequence[int]) -> Places:
        """Return where the axes of operands of the given ranks are laid: at the right, unless the rule says otherwise.

        >>> find_rule("pdpd", {"axis": 1}).places([4, 1])
        Places(rank=4, of=((0, 1, 2, 3), (1,)))
        """
        rank = max(ranks, default=0)
        return Places(rank, tuple(run(rank - r, r) for r in ranks))

    def concrete(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the output of integer shapes, None where the rule refuses them."""
        emission = self.emit(shapes)
        if not all(holds(c.requirement) for c in emission.constraints):
            return None
        sizes: list[Any] = [next((d for d in s if d != 1), 1) if isinstance(s, Joined) else s for s in emission.output]
        return tuple(sizes)

    def is_join(self, shapes: Sequence[Dims]) -> bool:
        """Return whether all that is asked of shapes is that each axis of them, aligned at the right, has a join."""
        return False

    def operand_name(self, position: int) -> str:
        """Return what the operand at ``position`` is called."""
        return self.operands[position] if position < len(self.operands) else f"operand {position}"

    def attributes(self) -> dict[str, Any]:
        """Return the attributes that differ from their defaults, as they would be written in a call."""
        given = {p.name: getattr(self, p.name) for p in self.parameters}
        return {p.name: given[p.name] for p in self.parameters if given[p.name] != p.default}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.attributes() == other.attributes()

    def __hash__(self) -> int:
        return hash((type(self), *self.attributes().items()))

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.attributes().items())
        return f"<Rule {self.name}{given}>"

    def constraint(
        self,
        requirement: Formula,
        operands: tuple[int, ...],
        reason: str,
        axis: int | None = None,
        rank: int | None = None,
    ) -> Constraint:
        """Return a constraint of this rule."""
        return Constraint(requirement, Origin(self.name, operands, axis, rank), reason)

    def refuse(self, operands: tuple[int, ...], reason: str) -> Constraint:
        """Return the constraint that nothing satisfies, for shapes whose ranks alone rule a broadcast out."""
        return self.constraint(FALSE, operands, reason)


_FAMILIES = ("numpy", "openvino", "onnx", "paddle")

_rules: dict[str, type[Rule]] = {}
_names: dict[str, type[Rule]] = {}

R = TypeVar("R", bound=type[Rule])


def offered(rule: R) -> R:
    """Offer a rule under its name and aliases."""
    _rules[rule.name] = rule
    for name in (rule.name, *rule.aliases):
        _names[name] = rule
    return rule


class RuleInfo(NamedTuple):
    """What `rules` tells of a rule."""

    name: str
    aliases: tuple[str, ...]
    family: str
    operands: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    summary: str
    document: str
    variadic: bool


def rules() -> list[RuleInfo]:
    """Return every rule: name, aliases, family, operands (any number where variadic), parameters, a line, its document.

    >>> [rule.name for rule in rules()]
    ['numpy', 'none', 'bidirectional', 'explicit', 'pdpd', 'unidirectional', 'onnx-legacy', 'paddle']
    """
    _load_families()
    return [
        RuleInfo(
            rule.name,
            rule.aliases,
            rule.family,
            rule.operands,
            rule.parameters,
            rule.summary,
            rule.document,
            rule.variadic,
        )
        for rule in sorted(_rules.values(), key=_family_order)
    ]


def _family_order(rule: type[Rule]) -> int:
    """Return the place of a rule's family; rules of others come after ours, in the order in which they were offered."""
    package, _, family = rule.__module__.rpartition(".")
    ours = package == __name__.rpartition(".")[0] and family in _FAMILIES
    return _FAMILIES.index(family) if ours else len(_FAMILIES)


def find_rule(name: str | Rule, attributes: dict[str, Any]) -> Rule:
    """Return the rule called ``name`` with its attributes set.

    Raises `UnknownRuleError` for another name and `RuleArgumentError` for attributes that the rule does not take.
    """
    if isinstance(name, Rule):
        if attributes:
            raise RuleArgumentError(name.name, "its attributes are set already", "pass the rule's name instead")
        return name
    if not isinstance(name, str) or name not in _names:
        _load_families()
    if not isinstance(name, str) or name not in _names:
        raise _unknown_rule(name)
    rule = _names[name]
    for parameter in rule.parameters:
        if parameter.default is REQUIRED and parameter.name not in attributes:
            raise RuleArgumentError(rule.name, f"needs {parameter.name}=", f"write {parameter.name}=(0,) or the like")
    return rule(called=name, **attributes)


def _instead(given: str, parameters: tuple[Parameter, ...]) -> str:
    """Return what to write for an attribute that a rule does not have."""
    if given == "dialect":
        return "read the text first: symbcast.shape(text, dialect=...)"
    import difflib

    names = [*(p.name for p in parameters), "assume", "min_size", "rule"]
    close = difflib.get_close_matches(given, names, 1)
    takes = ", ".join(f"{p.name}=" for p in parameters) or "no attributes"
    return f"did you mean {close[0]}=?" if close else f"it takes {takes}"


def _load_families() -> None:
    """Import every family, in the order in which their rules are listed; each offers its rules."""
    for family in _FAMILIES:
        import_module(f"symbcast.broadcasting.{family}")


def _unknown_rule(name: object) -> UnknownRuleError:
    import difflib

    close = difflib.get_close_matches(name, list(_names), 1) if isinstance(name, str) else []
    return UnknownRuleError(name, tuple(rule.name for rule in rules()), close[0] if close else None)


def check_choice(rule: str, parameter: Parameter, value: object) -> None:
    """Raise `RuleArgumentError` unless ``value`` is one of the words an attribute may be."""
    if value not in parameter.choices:
        words = " or ".join(map(repr, parameter.choices))
        raise RuleArgumentError(rule, f"{parameter.name}={value!r} is not offered", f"write {parameter.name}={words}")


def as_int(rule: str, attribute: str, value: Any) -> int:
    """Return an attribute that must be an integer, NumPy's included."""
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    raise RuleArgumentError(rule, f"{attribute}={value!r} is not an integer", f"write {attribute}=0 or the like")


def as_axes(rule: str, attribute: str, value: Any) -> tuple[int, ...]:
    """Return an attribute that must be a sequence of integers."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise RuleArgumentError(rule, f"{attribute}={value!r} is not a sequence", f"write {attribute}=(0,) or the like")
    return tuple(as_int(rule, attribute, axis) for axis in value)


def run(start: int, length: int) -> tuple[int, ...]:
    """Return the axes from ``start`` on."""
    return tuple(range(start, start + length))


def right_aligned(shapes: Sequence[Dims]) -> list[tuple[tuple[int, Dim], ...]]:
    """Return, for each axis of the right-aligned shapes, the operands that reach it and their sizes there."""
    rank = max(map(len, shapes), default=0)
    return [
        tuple((n, s[axis - rank + len(s)]) for n, s in enumerate(shapes) if axis - rank + len(s) >= 0)
        for axis in range(rank)
    ]
