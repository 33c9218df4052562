"""The declaration of a rule: its names, its operands and its attributes."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from symbcast.core.broadcasting.parameters import AttributeValue, Parameter
from symbcast.core.characters import closest
from symbcast.core.signatures import same_parameter
from symbcast.errors import RuleArgumentError


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


class Declaration(ABC):
    """The declaration of a rule, with its attributes set; immutable.

    Attributes:
        name: Its name.
        family: The framework, or the group of rules, that it belongs to.
        summary: What it means, in one line.
        document: Where it is documented.
        aliases: Its other names.
        operands: The names of the operands, in order.
        variadic: Whether it takes any number of operands.
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
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    called: str

    def __init__(self, *, called: str = "", **attributes: object) -> None:
        self.called = called or self.name
        for parameter in self.parameters:
            value = attributes.pop(parameter.name, parameter.default)
            setattr(self, parameter.name, parameter.check(self.name, value))
        for given, value in attributes.items():
            hint = _instead(given, value, self.parameters)
            if self.called == "numpy":  # the rule without rule=
                raise RuleArgumentError("", f"broadcast has no argument {given}=", hint)
            raise RuleArgumentError(self.name, f"has no attribute {given!r}", hint)
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
        given: dict[str, AttributeValue] = {p.name: getattr(self, p.name) for p in self.parameters}
        return {p.name: given[p.name] for p in self.parameters if given[p.name] != p.default}

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
        given: dict[str, object] = {p.name: getattr(self, p.name) for p in self.parameters}
        return type(self)(called=self.called, **{**given, **changed})

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
        return isinstance(other, Declaration) and type(self) is type(other) and self.attributes() == other.attributes()

    def __hash__(self) -> int:
        return hash(type(self))  # on the path of every call; few rules of one type are in one table

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.attributes().items())
        return f"<Rule {self.name}{given}>"

    def check_number(self, count: int) -> None:
        """Raise `RuleArgumentError` for a number of operands that the rule does not take under the requested name."""
        if not self.variadic:
            if count != len(self.operands):
                problem = f"takes {len(self.operands)} shapes ({', '.join(self.operands)}), not {count}"
                raise RuleArgumentError(self.name, problem, "give one shape for each")
            return
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


def _instead(given: str, value: object, parameters: tuple[Parameter, ...]) -> str:
    """Return a suggestion for an attribute that a rule does not have."""
    if given == "dialect":
        return "read the text first: symbcast.shape(text, dialect=...)"
    if same_parameter(given, ["out"]) or given == "out":
        return f"symbcast.solve(..., out={value!r:.60}) asks which sizes give an output"
    names = [*(p.name for p in parameters), "assume", "min_size", "rule"]
    if re.fullmatch(r"(shape|input|arg|operand|[abxy])_?\d?", given):
        return "give shapes by position, without names"
    sizes = value if isinstance(value, Mapping) else {}
    relations = [f"{name} == {size}" for name, size in sizes.items() if isinstance(name, str) and type(size) is int]
    close = None if relations else same_parameter(given, names) or closest(given, names)
    if relations:
        assumed: object = relations if len(relations) > 1 else relations[0]
        return f"write assume={assumed!r}"
    if type(value) is int and close is None and given.isupper():  # a size
        return f"write assume='{given} == {value}'"
    if not parameters and close is None:
        return f"its arguments are {', '.join(f'{name}=' for name in names)} and the attributes of the rule"
    takes = ", ".join(f"{p.name}=" for p in parameters) or "no attributes"
    return f"did you mean {close}=?" if close else f"it takes {takes}"
