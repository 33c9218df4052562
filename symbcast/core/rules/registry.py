"""The available rules: symbcast's own, those of installed packages, and those defined by the running program.

A family of symbcast's own is loaded when one of its rules, or the list of all rules, is first requested. A package
adds rules through the entry-point group ``symbcast.rules``; these are loaded only when a name other than symbcast's own
is requested, or when all rules are listed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from symbcast.core.advice import with_advice
from symbcast.core.characters import closest, parts_of_list, prose_list
from symbcast.core.hooks import entry_points_of, files_beside
from symbcast.core.rules.broadcast_rule import Rule
from symbcast.core.rules.declaration import REQUIRED, Alias, Kind, Parameter
from symbcast.core.structs import NamedTuple
from symbcast.errors import (
    RuleArgumentError,
    RuleDefinitionError,
    RulePluginError,
    RulePluginWarning,
    SymbcastError,
    UnknownRuleError,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# The group of entry points by which a package adds rules.
GROUP = "symbcast.rules"
# The families that are listed first; the others are in alphabetical order.
_FIRST = ("numpy", "openvino")
_OWN = __name__.rpartition(".")[0]
# Keywords and options of symbcast itself, which no attribute of a rule may be called.
_RESERVED = frozenset((
    "assume", "budget", "called", "dialect", "fail_on", "format", "help", "min_size", "origin", "out", "rule", "shapes",
    "version",
))  # fmt: skip

# What people call rules, and the name here.
_ELSEWHERE = {
    "np": "numpy",
    "ov": "none",
    "ort": "onnx",
    "pytorch": "torch",
    "tf": "tensorflow",
    "xla": "stablehlo",
    "keras": "tensorflow",
    "theano": "static",
    "aesara": "static",
    "pymc": "static",
    "dask": "numpy",
    "cupy": "numpy",
    "broadcast": "numpy",
}

R = TypeVar("R", bound=type[Rule])


class RuleInfo(NamedTuple):
    """An entry of `rules`; ``meanings`` are its other names with their documents and numbers of operands."""

    name: str
    aliases: tuple[str, ...]
    family: str
    operands: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    summary: str
    document: str
    variadic: bool
    meanings: tuple[Alias, ...] = ()


class _Registry:
    """The rules by their names, and those that are not loaded yet.

    Attributes:
        rules: The rules, in the order in which they are listed.
        names: The rules by name and alias.
        instances: Rules as requested, by name and attributes: they are immutable. Only the last few hundred are kept.
        problems: Why entry points could not be loaded.
        has_own: Whether all of symbcast's own families are loaded.
        has_plugins: Whether the entry points are loaded, or are being loaded by the thread that holds the lock.
        lock: Held while rules are added or entry points are loaded.
    """

    def __init__(self) -> None:
        self.rules: list[type[Rule]] = []
        self._sorted_from: list[type[Rule]] = []
        self._sorted: list[type[Rule]] = []
        self.names: dict[str, type[Rule]] = {}
        self.instances: dict[tuple[object, ...], Rule] = {}
        self.problems: list[RulePluginError] = []
        self.has_own = False
        self.has_plugins = False
        self.lock = RLock()

    def add(self, rule: type[Rule]) -> None:
        """Add a rule, replacing an earlier definition of the same class, or raise without adding it."""
        # symbcast's own names must be known before those of another rule are checked: they cannot be taken.
        if not _is_own(rule):
            self.load_own()
        check_definition(rule)
        with self.lock:
            for name in rule.names():
                taken = self.names.get(name)
                if taken is not None and not _is_same(taken, rule):
                    owner = "symbcast itself" if _is_own(taken) else taken.__module__
                    raise RuleDefinitionError(rule.name, f"{name!r} is a rule of {owner}", "choose another name")
            self.remove(rule)
            self.rules.append(rule)
            self.names.update(dict.fromkeys(rule.names(), rule))

    def remove(self, rule: type[Rule]) -> None:
        """Remove an earlier definition of a class, such as one from a notebook cell that is run again."""
        self.rules = [r for r in self.rules if not _is_same(r, rule)]
        self.names = {name: r for name, r in self.names.items() if not _is_same(r, rule)}
        self.instances = {
            name: instance for name, instance in self.instances.items() if not _is_same(type(instance), rule)
        }

    def in_order(self) -> list[type[Rule]]:
        """Return the rules in the order in which they are listed."""
        # Sorting takes 11 us, a fifth of a comparison by all rules.
        if self._sorted_from != self.rules:
            self._sorted_from, self._sorted = self.rules.copy(), sorted(self.rules, key=_family_order)
        return self._sorted

    def load_own(self) -> None:
        """Load symbcast's own families; each adds its rules."""
        if not self.has_own:
            for family in files_beside(__file__):  # the files that are no family register nothing
                import_module(f"{_OWN}.{family}")
            # Only now: another thread must not find the families half loaded.
            self.has_own = True

    def load_plugins(self) -> None:
        """Load the rules of installed packages; keep their errors for the callers to report."""
        with self.lock:
            if self.has_plugins:
                return
            # Before they are loaded: a package may ask for a rule while it is imported.
            self.has_plugins = True
            for entry in sorted(entry_points_of(GROUP), key=lambda e: (_package(e), e.name)):
                try:
                    self._load(entry)
                # A package that ends the process where it lacks something must not end a question about other rules.
                except (Exception, SystemExit) as error:
                    self.problems.append(RulePluginError(_package(entry), entry.name, _problem(error)))

    def _load(self, entry: EntryPoint) -> None:
        loaded: object = entry.load()
        if isinstance(loaded, type) and issubclass(loaded, Rule):
            # A class with the decorator was added when its module was imported.
            if loaded not in self.rules:
                self.add(loaded)
        elif not isinstance(loaded, ModuleType):
            raise TypeError(f"{entry.value} is neither a rule nor a module of rules")

    def find(self, name: str) -> type[Rule] | None:
        """Return the rule with a name or alias, loading no more than is needed to find it."""
        if name not in self.names:
            self.load_own()
        if name not in self.names:
            self.load_plugins()
        return self.names.get(name)


_registry = _Registry()


@with_advice
def rule(definition: R) -> R:
    """Register a class that derives from `Rule`; for use as a decorator.

    From then on its name and its aliases are known to `symbcast.broadcast`, `symbcast.rules`, programs and the command
    line. The class of the same module and name may be defined again, as in a notebook. Raises `RuleDefinitionError`
    if something is missing, or if a name belongs to another rule: symbcast's own names cannot be taken.

    >>> import symbcast as sb
    >>> from symbcast.core.rules import AtRight, Join
    >>> @sb.rule
    ... class Doctest(sb.Rule):
    ...     name = "doctest"
    ...     family = "examples"
    ...     summary = "as numpy, for exactly two operands"
    ...     document = "this docstring"
    ...     placement = AtRight()
    ...     law = Join()
    >>> sb.broadcast("N, 3", "M, 1", rule="doctest").condition
    Condition('N == M or N == 1 or M == 1')
    >>> forget(Doctest)
    """
    if not isinstance(definition, type):
        hint = f"to use a rule, write broadcast(..., rule={definition!r})" if isinstance(definition, str) else ""
        raise RuleDefinitionError(str(definition), "rule registers a class: @symbcast.rule", hint)
    _registry.add(definition)
    return definition


def forget(definition: type[Rule]) -> None:
    """Remove a rule that was added, with all its names."""
    _registry.remove(definition)


@with_advice
def rules() -> list[RuleInfo]:
    """Return every rule: name, aliases, family, operands (any number if variadic), parameters, summary, document.

    Rules of installed packages come after symbcast's own. A package whose rules cannot be loaded is reported by a
    `RulePluginWarning`, and the others are listed.

    >>> [rule.name for rule in rules()][:7]
    ['numpy', 'none', 'bidirectional', 'explicit', 'pdpd', 'unidirectional', 'onnx-legacy']
    """
    for problem in plugin_problems():
        # Past this function and the wrapper that gives advice, to the line of the caller.
        warnings.warn(RulePluginWarning(str(problem)), stacklevel=3)
    return listed_rules()


def plugin_problems() -> tuple[RulePluginError, ...]:
    """Return the errors of the rules of installed packages."""
    _registry.load_own()
    _registry.load_plugins()
    return tuple(_registry.problems)


def listed_rules(with_plugins: bool = True) -> list[RuleInfo]:
    """Return the same as `rules`, without a warning and optionally without the rules of installed packages."""
    _registry.load_own()
    if with_plugins:
        _registry.load_plugins()
    return [
        RuleInfo(
            rule.name,
            rule.names()[1:],
            rule.family,
            rule.operands,
            rule.parameters,
            rule.summary,
            rule.documents(),
            rule.variadic,
            tuple(a if isinstance(a, Alias) else Alias(a) for a in rule.aliases),
        )
        for rule in _registry.in_order()
    ]


def rules_without_attributes() -> list[Rule]:
    """Return symbcast's own rules, and those of this program, that need no attributes, in the order of `rules`."""
    _registry.load_own()
    listed = _registry.in_order()
    return [find_rule(r.name) for r in listed if all(p.default is not REQUIRED for p in r.parameters)]


def find_rule(name: str | Rule, attributes: Mapping[str, object] | None = None) -> Rule:
    """Return the rule called ``name`` with its attributes set.

    Raises `UnknownRuleError` for an unknown name, `RuleArgumentError` for attributes that the rule does not take, and
    `RulePluginError` for the rule of a package that cannot be loaded.
    """
    if isinstance(name, Rule):
        if attributes:
            raise RuleArgumentError(name.name, "its attributes are set already", "pass the rule's name instead")
        return name
    key = _key(name, attributes)
    if key is not None and (known := _registry.instances.get(key)) is not None:
        return known
    kind = _registry.find(name) if isinstance(name, str) else None
    if kind is None:
        raise _unknown_rule(name)
    attributes = attributes or {}
    for parameter in kind.parameters:
        if parameter.default is REQUIRED and parameter.name not in attributes:
            example = {Kind.INTEGERS: "(0,)", Kind.WORD: "'...'"}.get(parameter.kind, "0")
            hint = f"write {parameter.name}={example}, for example"
            raise RuleArgumentError(kind.name, f"needs {parameter.name}=", hint, parameter.name)
    _check_given(kind, attributes)
    rule = kind(called=name, **attributes)
    if key is not None:
        if len(_registry.instances) >= _MOST_INSTANCES:
            _registry.instances.clear()
        _registry.instances[key] = rule
    return rule


_MOST_INSTANCES = 500
_PLAIN = frozenset((int, str, type(None)))


def _key(name: object, attributes: Mapping[str, object] | None) -> tuple[object, ...] | None:
    """Return a key of a requested rule; None if an attribute is not plain: ``True`` equals 1, and may be refused."""
    if type(name) is not str:
        return None
    if not attributes:
        return (name,)
    for value in attributes.values():
        if type(value) not in _PLAIN and not (type(value) is tuple and all(type(v) is int for v in value)):
            return None
    return (name, *sorted(attributes.items()))


def _check_given(rule: type[Rule], attributes: Iterable[str]) -> None:
    """Raise `RuleArgumentError` for an attribute that other rules have but this one does not."""
    own = {p.name for p in rule.parameters}
    for name in attributes:
        takers = [] if name in own or closest(name, own) else takers_of(name)
        if takers:
            hint = f"{name}= is for {prose_list(takers)}: write rule={takers[0]!r}"
            raise RuleArgumentError(rule.name, f"has no attribute {name!r}", hint)


def takers_of(attribute: str) -> list[str]:
    """Return the rules that have an attribute."""
    return [info.name for info in listed_rules() if any(p.name == attribute for p in info.parameters)]


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """Return the attributes of a rule, given its name or an alias; empty if no rule has the name."""
    kind = _registry.find(name)
    return () if kind is None else kind.parameters


def is_rule_name(name: str) -> bool:
    """Return whether a rule has this name or alias."""
    return _registry.find(name) is not None


def is_own_rule(name: str) -> bool:
    """Return whether one of symbcast's own rules has this name; installed packages are not searched."""
    _registry.load_own()
    kind = _registry.names.get(name)
    return kind is not None and _is_own(kind)


def _unknown_rule(name: object) -> SymbcastError:
    problem = next((p for p in _registry.problems if p.entry == name), None)
    if problem is not None:
        return problem
    if isinstance(name, str) and "(" in name:
        before, _, inside = name.partition("(")
        if is_rule_name(before.strip()):
            hint = f"write rule={before.strip()!r} and {inside.rstrip(') ')}"
            return RuleArgumentError(before.strip(), "its attributes are given separately from its name", hint)
    listed_ones = name if isinstance(name, list | tuple) and all(isinstance(part, str) for part in name) else []
    several = parts_of_list(name) if isinstance(name, str) else list(listed_ones)
    if len(several) > 1 and all(is_rule_name(part.partition("(")[0]) for part in several):
        hint = f"one call answers by one; to compare them: symbcast.compare(..., rules={several})"
        return RuleArgumentError("", f"rule={name!r} names {len(several)} rules", hint)
    if len(several) > 1 and is_rule_name(several[0]) and all("=" in part for part in several[1:]):
        hint = f"write rule={several[0]!r}, {', '.join(several[1:])}"
        return RuleArgumentError(several[0], "its attributes are given separately from its name", hint)
    if isinstance(name, ModuleType):
        meant = _ELSEWHERE.get(name.__name__, name.__name__)
        return RuleArgumentError("", f"the module {name.__name__} is not a rule", f"write rule={meant!r}")
    close = _similar_rule(name) if isinstance(name, str) else None
    known = tuple(rule.name for rule in listed_rules())
    return UnknownRuleError(name, known, close, plugin_problems())


def _similar_rule(name: str) -> str | None:
    """Return the rule that a name probably means: of another library, misspelled, or the start of one rule's name."""
    meant = _ELSEWHERE.get(name.lower()) or name.lower()
    if meant in _registry.names:
        return meant
    longer = [known for known in _registry.names if known.startswith(f"{meant}-")]
    return longer[0] if len(longer) == 1 else closest(name, _registry.names)


def check_definition(rule: type[Rule]) -> None:
    """Raise `RuleDefinitionError` for a class that is not a complete rule, or uses a reserved word."""
    if not (isinstance(rule, type) and issubclass(rule, Rule)):
        raise RuleDefinitionError(repr(rule), "it is not a class derived from symbcast.Rule")
    called = getattr(rule, "name", rule.__qualname__)
    for attribute in ("name", "family", "summary", "document"):
        if not isinstance(getattr(rule, attribute, None), str):
            raise RuleDefinitionError(called, f"it has no {attribute}", f'write {attribute} = "..." in its class')
    if rule.emit is Rule.emit and rule.law is Rule.law:
        raise RuleDefinitionError(called, "it has neither a law nor an emit", "write law = Join(), for example")
    if not isinstance(rule.aliases, tuple) or not all(isinstance(a, (str, Alias)) for a in rule.aliases):
        raise RuleDefinitionError(called, "its aliases are not a tuple of names", 'write aliases = ("...",)')
    if not isinstance(rule.parameters, tuple) or not all(isinstance(p, Parameter) for p in rule.parameters):
        raise RuleDefinitionError(called, "its parameters are not a tuple of Parameter", "write parameters = (...,)")
    for parameter in rule.parameters:
        if parameter.name in _RESERVED or hasattr(Rule, parameter.name) or not parameter.name.isidentifier():
            raise RuleDefinitionError(called, f"no attribute can be called {parameter.name!r}", "choose another name")
        _check_default(called, parameter)


def _check_default(rule: str, parameter: Parameter) -> None:
    """Raise `RuleDefinitionError` for a default that is not a value of its kind."""
    if parameter.default is REQUIRED:
        return
    try:
        checked = parameter.check(rule, parameter.default)
    except RuleArgumentError as error:
        raise RuleDefinitionError(rule, error.problem, error.hint) from None
    if checked != parameter.default:
        raise RuleDefinitionError(rule, f"the default of {parameter.name} must be in normal form, {checked!r}")


def _is_own(rule: type[Rule]) -> bool:
    return rule.__module__.rpartition(".")[0] == _OWN


def _is_same(rule: type[Rule], other: type[Rule]) -> bool:
    return (rule.__module__, rule.__qualname__) == (other.__module__, other.__qualname__)


def _family_order(rule: type[Rule]) -> tuple[bool, int, str]:
    """Return the position of a rule's family; others' rules come after symbcast's, in the order of registration."""
    if not _is_own(rule):
        return True, 0, ""
    family = rule.__module__.rpartition(".")[2]
    return False, _FIRST.index(family) if family in _FIRST else len(_FIRST), family


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value.partition(":")[0]


def _problem(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
