"""The declaration of a rule: its names, its operands and its attributes; and the constraints that it states.

A constraint is a formula that must hold, and its origin. A reason has a code, which programs match on, and a wording,
which people read. Explanations, suggested fixes and SARIF rule ids are derived from the code; nothing in symbcast
parses the wording.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, SupportsIndex, TypeAlias

from symbcast.core.advice import NOT_OF_SHAPES, same_parameter
from symbcast.core.algebra.arithmetic import index_of
from symbcast.core.algebra.formulas import Formula
from symbcast.core.characters import closest, number_hint
from symbcast.core.structs import NamedTuple
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean


# Constraints.


# A value that is put into the wording of a reason: a rank, an axis, the name of an operand.
Detail = int | str


class Remedy(Enum):
    """A kind of change that may make a broadcast valid. Each suggestion is tried before it is shown."""

    ADD_ONES = "add axes of size 1 to an operand, but not in front"
    LOWER_RANK = "drop leading axes of an operand"
    SWAP = "exchange the two operands"
    TRANSPOSE = "put the axes of an operand in another order"
    SET_ONE = "set sizes of an operand to 1"


class Reason(NamedTuple):
    """Why a constraint is required.

    Attributes:
        code: What programs match on; it does not change between releases.
        wording: The sentence for people. Names in braces are filled in from the details of a constraint, as with
            `str.format`: ``"ranks must be equal, but are {left} and {right}"``.
        remedies: What may be suggested where a constraint with this reason fails.

    >>> Reason("rank-odd", "the rank must be even, and is {rank}").sentence({"rank": 3})
    'the rank must be even, and is 3'
    """

    code: str
    wording: str
    remedies: tuple[Remedy, ...] = ()

    def sentence(self, details: Mapping[str, Detail]) -> str:
        """Return the wording with the details filled in."""
        return self.wording.format_map(details) if details else self.wording

    def worded(self, wording: str, remedies: tuple[Remedy, ...] | None = None) -> Reason:
        """Return the reason with the same code but another wording, and with other remedies if given."""
        return Reason(self.code, wording, self.remedies if remedies is None else remedies)


_AXIS = (Remedy.ADD_ONES, Remedy.TRANSPOSE, Remedy.SET_ONE)

# The sizes on an axis have a join: those other than 1 are equal.
JOIN = Reason("join", "sizes must be equal or 1", _AXIS)
# A size is stretched onto that of the target: it is 1 or equal to it.
ONTO = Reason("onto", "the size must be 1 or the target's", _AXIS)
# The sizes on an axis are equal.
EQUAL = Reason("equal", "sizes must be equal", (Remedy.TRANSPOSE, Remedy.SET_ONE))
# The ranks of two shapes are equal.
EQUAL_RANKS = Reason("equal-ranks", "ranks must be equal, but are {left} and {right}")
# A size for which the other operand has no axis is 1.
PAST_END = Reason("past-end", "a size of B past the end of A must be 1", (Remedy.SET_ONE,))
# A dimension of an operand, such as N - 3, is an integer that is not negative.
SIZE = Reason("size", "the dimension must be a size")
# A formula that the caller requires.
REQUIRED_FORMULA = Reason("required", "it is required")


_NO_DETAILS: Mapping[str, Detail] = {}


class Origin(NamedTuple):
    """The origin of a constraint.

    ``operands`` are positions in the call; ``axis`` counts the axes of the aligned shapes from the front and ``rank``
    is their number, so that the axis can be named from both ends; both are None for a constraint on whole shapes.
    ``sequence`` is the axis that represents all axes of sequences if ranks are unknown: then an axis before it
    can be named from the front, and one after it from the end.
    """

    rule: str
    operands: tuple[int, ...]
    axis: int | None = None
    rank: int | None = None
    operation: str | None = None
    sequence: int | None = None

    def __str__(self) -> str:
        place = f"{self.rule} of operands {', '.join(map(str, self.operands))}"
        if self.axis is not None and self.rank is not None:
            place = f"{place}, axis {self.axis} ({self.axis - self.rank} from the end)"
        return f"{self.operation}: {place}" if self.operation else place


class Constraint:
    """A single constraint: ``requirement`` must hold.

    Its truth depends on the sizes, so it has no truth value of its own.

    Attributes:
        requirement: The formula that must hold.
        origin: The operands and the axis that it is about.
        why: The reason. Programs match on its ``code``.
        details: The values that fill in the wording of the reason.
    """

    __slots__ = ("details", "origin", "requirement", "why")

    def __init__(
        self, requirement: Formula, origin: Origin, why: Reason, details: Mapping[str, Detail] = _NO_DETAILS
    ) -> None:
        self.requirement = requirement
        self.origin = origin
        self.why = why
        self.details = details

    @property
    def code(self) -> str:
        """The code of the reason, such as ``join``."""
        return self.why.code

    @property
    def reason(self) -> str:
        """The reason in words."""
        return self.why.sentence(self.details)

    @property
    def sympy(self) -> Boolean:
        """The requirement as a sympy Boolean."""
        from symbcast.core.algebra.sympy_conversion import formula_to_sympy

        return formula_to_sympy(self.requirement)

    @property
    def formula(self) -> Boolean:
        """The same as ``sympy``."""
        return self.sympy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraint):
            return NotImplemented
        return (self.requirement, self.origin) == (other.requirement, other.origin)

    def __hash__(self) -> int:
        return hash((self.requirement, self.origin))

    def __bool__(self) -> NoReturn:
        raise TypeError("a constraint has no truth value; it holds for some sizes: see .formula")

    def __str__(self) -> str:
        from symbcast.core.text.notation import formula_text

        return f"{formula_text(self.requirement)} [{self.origin}]"

    def __repr__(self) -> str:
        return f"<Constraint {self}>"


# Attributes. The keywords of `symbcast.broadcast`, the options of the command line and the fields of the explorer are
# generated from these declarations.


AttributeValue: TypeAlias = int | str | tuple[int, ...] | None
"""What an attribute of a rule may be."""

AttributeLike: TypeAlias = "SupportsIndex | str | Sequence[SupportsIndex] | None"
"""What a caller may give for an attribute: NumPy's integers too, and any sequence of integers."""


class Required(Enum):
    """The type of `REQUIRED`."""

    REQUIRED = "required"

    def __repr__(self) -> str:
        return self.value


# The default of an attribute that must be given.
REQUIRED = Required.REQUIRED


class Kind(Enum):
    """The kind of value that an attribute takes. The value of each member says in words what to write."""

    INTEGER = "a number"
    INTEGERS = "axes, such as 0, 2"
    WORD = "a word"
    FLAG = "0 or 1"


class Parameter(NamedTuple):
    """An attribute of a rule.

    Attributes:
        name: The keyword; its command-line option has hyphens instead of underscores.
        default: The value if it is not given: `REQUIRED` if it must be given, None if leaving it out has its own
            meaning.
        choices: The allowed words; only for a `Kind.WORD`.
        kind: The kind of value that it takes.
        summary: Its meaning, in a few words, for the command-line help.

    >>> Parameter("axes", REQUIRED, kind=Kind.INTEGERS).read("numbered", "0, 2")
    (0, 2)
    """

    name: str
    default: AttributeValue | Required
    choices: tuple[str, ...] = ()
    kind: Kind = Kind.INTEGER
    summary: str = ""

    def read(self, rule: str, text: str) -> AttributeValue:
        """Return the value that a text means.

        Raises `RuleArgumentError` for text that is not a number if one is required; words are checked by `check`.
        """
        text = text.strip()
        match self.kind:
            case Kind.WORD:
                return text
            case Kind.INTEGERS:
                return tuple(self._integer(rule, part) for part in text.strip("()[]").split(",") if part.strip())
            case _:
                return self._integer(rule, text)

    def check(self, rule: str, value: object) -> AttributeValue:
        """Return a value in its normal form; raise `RuleArgumentError` for one that the attribute does not accept."""
        if value is None and self.default is None:
            return None
        match self.kind:
            case Kind.WORD:
                return self._word(rule, value)
            case Kind.INTEGERS:
                return as_axes(rule, self.name, value)
            case Kind.FLAG:
                return self._flag(rule, value)
            case Kind.INTEGER:
                return as_int(rule, self.name, value)

    def _word(self, rule: str, value: object) -> str:
        if isinstance(value, str) and (value in self.choices or not self.choices):
            return value
        words = " or ".join(map(repr, self.choices)) or "'...'"
        raise RuleArgumentError(rule, f"{self.name}={value!r} is not offered", f"write {self.name}={words}", self.name)

    def _flag(self, rule: str, value: object) -> int:
        flag = as_int(rule, self.name, int(value) if isinstance(value, bool) else value)
        if flag in (0, 1):
            return flag
        raise RuleArgumentError(rule, f"{self.name}={flag!r} is not offered", f"write {self.name}=0 or 1", self.name)

    def _integer(self, rule: str, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            problem = f"{self.name}={text.strip()!r:.40} is not an integer"
            raise RuleArgumentError(rule, problem, attribute=self.name) from None


def as_int(rule: str, attribute: str, value: object) -> int:
    """Return an attribute that must be an integer, such as Python's or NumPy's; truth values are refused."""
    integer = None if isinstance(value, bool) else index_of(value)
    if integer is not None:
        return integer
    hint = number_hint(attribute, value, f"write {attribute}=0, for example")
    raise RuleArgumentError(rule, f"{attribute}={value!r} is not an integer", hint, attribute)


def as_axes(rule: str, attribute: str, value: object) -> tuple[int, ...]:
    """Return an attribute that must be a sequence of integers."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        problem = f"{attribute}={value!r} is not a sequence"
        raise RuleArgumentError(rule, problem, f"write {attribute}=(0,), for example", attribute)
    return tuple(as_int(rule, attribute, axis) for axis in value)


class Alias(NamedTuple):
    """Another name of a rule, for the same law in another document.

    Attributes:
        name: The name.
        document: Where that law is written down; empty if that is the rule's own document.
        least: The fewest operands that a variadic rule takes under this name.
        most: The most operands, None for any number.
    """

    name: str
    document: str = ""
    least: int = 1
    most: int | None = None


class RuleDeclaration(ABC):
    """The declaration of a rule, with its attributes set; immutable.

    Attributes:
        name: Its name.
        family: The framework, or the group of rules, that it belongs to.
        summary: What it means, in one line.
        document: Where it is documented.
        aliases: Its other names.
        operands: The names of the operands, in order.
        variadic: Whether it takes any number of operands.
        needs_shape: Whether it takes at least one operand.
        parameters: Its attributes, each set on the instance under its own name.
        called: The name, or alias, under which it was requested.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    summary: ClassVar[str]
    document: ClassVar[str]
    aliases: ClassVar[tuple[str | Alias, ...]] = ()
    operands: ClassVar[tuple[str, ...]] = ("A", "B")
    variadic: ClassVar[bool] = False
    needs_shape: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    called: str

    def __init__(self, *, called: str = "", **attributes: object) -> None:
        self.called = called or self.name
        for parameter in self.parameters:
            value = attributes.pop(parameter.name, parameter.default)
            setattr(self, parameter.name, parameter.check(self.name, value))
        for name, value in attributes.items():
            hint = _instead(name, value, self.parameters)
            if self.called == "numpy":  # the rule without rule=
                raise RuleArgumentError("", f"broadcast has no argument {name}=", hint)
            raise RuleArgumentError(self.name, f"has no attribute {name!r}", hint)
        self.check_attributes()
        self._is_set = True

    def __setattr__(self, name: str, value: object) -> None:
        # Every call that names a rule shares one object.
        if getattr(self, "_is_set", False):
            raise AttributeError(f"a rule is immutable: ask for another with {name}={value!r}")
        super().__setattr__(name, value)

    def check_attributes(self) -> None:
        """Raise `RuleArgumentError` for attributes of the right kinds that are wrong for all shapes."""
        return

    def operand_name(self, position: int) -> str:
        """Return the name of the operand at ``position``."""
        return self.operands[position] if position < len(self.operands) else f"operand {position}"

    def attributes(self) -> dict[str, AttributeValue]:
        """Return the attributes that differ from their defaults, as they would be written in a call."""
        values: dict[str, AttributeValue] = {p.name: getattr(self, p.name) for p in self.parameters}
        return {p.name: values[p.name] for p in self.parameters if values[p.name] != p.default}

    @property
    def written_name(self) -> str:
        """The name that the caller used, for messages."""
        return self.called

    def written_attributes(self) -> Mapping[str, AttributeValue]:
        """Return the attributes for a message, by the parameters that a caller writes."""
        return self.attributes()

    def written_operands(self, shapes: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Return the operands for a message, as a caller writes them."""
        return shapes

    def with_attributes(self, changed: Mapping[str, AttributeValue]) -> Self:
        """Return a copy of the rule with some attributes changed."""
        values: dict[str, object] = {p.name: getattr(self, p.name) for p in self.parameters}
        return type(self)(called=self.called, **{**values, **changed})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the name and the aliases."""
        return (cls.name, *(a.name if isinstance(a, Alias) else a for a in cls.aliases))

    @classmethod
    def documents(cls) -> str:
        """Return the document of the rule, and those of its other names."""
        of_aliases = (a.document for a in cls.aliases if isinstance(a, Alias))
        return "; ".join(dict.fromkeys(filter(None, (cls.document, *of_aliases))))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RuleDeclaration) and type(self) is type(other) and self.attributes() == other.attributes()
        )

    def __hash__(self) -> int:
        return hash(type(self))  # on the path of every call; few rules of one type are in one table

    def __repr__(self) -> str:
        attributes = "".join(f", {name}={value!r}" for name, value in self.attributes().items())
        return f"<Rule {self.name}{attributes}>"

    def check_number(self, count: int) -> None:
        """Raise `RuleArgumentError` for a number of operands that the rule does not take under the requested name."""
        if not self.variadic:
            if count != len(self.operands):
                problem = f"takes {len(self.operands)} shapes ({', '.join(self.operands)}), not {count}"
                raise RuleArgumentError(self.name, problem, "give one shape for each")
            return
        if not count and self.needs_shape:
            raise RuleArgumentError(self.name, "takes at least one shape", "give one")
        if self.called == self.name:
            return
        alias = next((a for a in self.aliases if isinstance(a, Alias) and a.name == self.called), None)
        if alias is None:
            return
        if count < alias.least:
            number = "one shape" if alias.least == 1 else f"{alias.least} shapes"
            raise RuleArgumentError(self.called, f"takes at least {number}", f"give {number.split(maxsplit=1)[0]}")
        if alias.most is not None and count > alias.most:
            problem = f"takes at most {alias.most} shapes, not {count}"
            raise RuleArgumentError(self.called, problem, f"write rule={self.name!r} for any number")


def _instead(name: str, value: object, parameters: tuple[Parameter, ...]) -> str:
    """Return a suggestion for an attribute that a rule does not have."""
    if name == "dialect":
        return "read the text first: symbcast.shape(text, dialect=...)"
    if same_parameter(name, ["out"]) or name == "out":
        return f"symbcast.solve(..., out={value!r:.60}) asks which sizes give an output"
    names = [*(p.name for p in parameters), "assume", "min_size", "rule"]
    if re.fullmatch(r"(shape|input|arg|operand|[abxy])_?\d?", name):
        return "give shapes by position, without names"
    sizes = value if isinstance(value, Mapping) else {}
    relations = [
        f"{size_name} == {size}"
        for size_name, size in sizes.items()
        if isinstance(size_name, str) and type(size) is int
    ]
    close = None if relations else same_parameter(name, names) or closest(name, names)
    if relations:
        assumed: object = relations if len(relations) > 1 else relations[0]
        return f"write assume={assumed!r}"
    if type(value) is int and close is None and name.isupper():  # a size
        return f"write assume='{name} == {value}'"
    if name in NOT_OF_SHAPES and close is None:
        return "leave it out: no shape depends on it"
    if name == "rules" and isinstance(value, list | tuple) and len(value) > 1:
        return f"to compare rules, write symbcast.compare(..., rules={value!r:.60})"
    if not parameters and close is None:
        return f"its arguments are {', '.join(f'{known}=' for known in names)} and the attributes of the rule"
    takes = ", ".join(f"{p.name}=" for p in parameters) or "no attributes"
    return f"did you mean {close}=?" if close else f"it takes {takes}"
