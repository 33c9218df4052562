"""A condition as a Python function."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from unicodedata import normalize

from symbcast.answers.guards.clauses import (
    check_named,
    condition_texts,
    guarded_clauses,
    identifiers,
    operation_kinds,
    tidy,
)
from symbcast.core.algebra.formulas import TRUE, AllOf, AnyOf, Comparison, Formula, clauses
from symbcast.core.algebra.symbols import Rank, Rest, SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import shorten_end
from symbcast.core.programs.arguments import GivenSizes, check_all_sizes, example_sizes, read_given_sizes
from symbcast.core.solver.evaluation import PYTHON, formula_source, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import ALL
from symbcast.core.structs import NamedTuple
from symbcast.errors import BindingError, UndecidedError

if TYPE_CHECKING:
    from symbcast.core.account import OpenPart

COMMENT = "#"
_HELPERS = {
    "compatible": '''\
def compatible(*sizes):
    """Return whether the sizes other than 1 are all equal."""
    return len({*sizes, 1}) <= 2
''',
    "join": '''\
def join(*sizes):
    """Return the size that compatible sizes broadcast to."""
    return next((size for size in sizes if size != 1), 1)
''',
    "_axis": '''\
def _axis(sizes, place):
    """Return a size counted from the end: 1 is the last, and the size is 1 where there is none."""
    return sizes[-place] if place <= len(sizes) else 1
''',
}
# How long a condition may be in the representation of a guard; of a longer one only the length is shown.
_LONGEST = 80
# A parameter called `min` or `len` would hide the function that a clause calls.
_TAKEN = frozenset((*keyword.kwlist, *dir(builtins), *_HELPERS, "_n", "_size"))


def python_source(condition: Formula, names: Mapping[Symbol, str], name: str = "guard") -> str:
    """Return a Python module with one function: whether the condition holds at sizes given in the order of ``names``.

    The function is False, and raises nothing, for sizes below 0 and where a comparison has a term without a value. It
    is exact for integers of any size. A name that Python does not allow is changed; the docstring gives the new one.
    Raises `BindingError` for a size of the condition without a name, and ValueError for a ``name`` that is not an
    identifier.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> N, T = symbol("N"), symbol("T")
    >>> source = python_source(parse_formula("compatible(N, 8, T) and N % 2 == 0"), {N: "batch", T: "a b"})
    >>> print(source[source.index("    return (") :])
        return (
            batch >= 0
            and a_b >= 0
            and compatible(batch, 8, a_b)
            and (batch % 2) == 0
        )
    <BLANKLINE>
    """
    check_function_name(name)
    parts = guarded_clauses(condition, names)
    parameters = parameter_names(names, name)
    # The bound of a parameter takes the place of the comparison with 0: checking it costs nothing.
    least: dict[object, int] = {}
    for part in filter(_is_bound, parts):
        least[part.right] = max(least.get(part.right, 0), cast("int", part.left))
    lines = [
        f"all(_size >= 0 for _size in {p})" if is_axes(s) else f"{p} >= {least.get(s, 0)}"
        for s, p in parameters.items()
    ]
    lines += [source_of_axes(p, parameters) for p in parts if not (_is_bound(p) and p.right in parameters)]
    helpers = helper_sources(lines, parts)
    head = f"def {name}({', '.join(parameters.values())}):\n{_docstring(condition, names, parameters)}"
    return f"{helpers}{head}{_conjunction(lines)}"


def _is_bound(part: Formula) -> TypeGuard[Comparison]:
    """Return whether a formula says that a size has at least a certain value, which is not below 0."""
    if not isinstance(part, Comparison) or isinstance(part.right, SequenceSymbol):
        return False
    return part.operator == "<=" and isinstance(part.left, int) and part.left >= 0


def is_axes(s: Symbol) -> bool:
    """Return whether a parameter holds the sizes of all axes of a sequence."""
    return isinstance(s, SequenceSymbol)


def source_of_axes(part: Formula, parameters: Mapping[Symbol, str]) -> str:
    """Return a formula as an expression; a parameter can be a tuple of the sizes of a sequence's axes.

    A clause about each axis before certain ones must hold on all such axes that exist, counted backwards from those.
    """
    sequences = [s for s in symbols_in(part) if isinstance(s, SequenceSymbol)]
    if not sequences:
        return clause_source(part, parameters)
    written = dict(parameters)
    bounds: list[str] = []
    for s in sequences:
        axes = parameters[s.sequence.rest()]
        if isinstance(s, Rest):
            written[s] = f"_axis({axes}, {s.place} + _n)"
            bounds.append(f"len({axes}) - {s.place}")
        else:
            written[s] = f"len({axes})" if isinstance(s, Rank) else f"_axis({axes}, {s.place})"
    source = clause_source(part, written)
    return f"all({source} for _n in range(1, max(0, {', '.join(bounds)}) + 1))" if bounds else source


def check_function_name(name: str) -> None:
    """Raise ValueError for anything that cannot be the name of a Python function."""
    if not isinstance(name, str) or not _is_free(name):
        raise ValueError(f"{name!r} cannot name a function here: write an identifier that Python does not use")


def helper_sources(lines: Iterable[str], parts: Sequence[Formula]) -> str:
    """Return the functions that sources of some formulas call."""
    called = {"compatible" for line in lines if "compatible(" in line} | operation_kinds(tuple(parts))
    called |= {"_axis" for line in lines if "_axis(" in line}
    return "".join(f"{text}\n\n" for helper, text in _HELPERS.items() if helper in called)


def parameter_names(names: Mapping[Symbol, str], function: str) -> dict[Symbol, str]:
    """Return the parameter for each symbol in the function's source; one for all axes of a sequence."""
    sequences = sequences_of(names)
    if sequences:
        plain = {s: text for s, text in names.items() if not isinstance(s, SequenceSymbol)}
        names = {**{sequence.rest(): sequence.name for sequence in sequences}, **plain}
    return identifiers(names, _spelled, lambda word: word == function or not _is_free(word))


def _text(value: object) -> str:
    """Return a size as the caller may write it; an ellipsis for None."""
    if value is None:
        return "..."
    return value if isinstance(value, str) and value.isdecimal() else shorten_end(repr(value), 40)


def _is_free(word: str) -> bool:
    return word.isidentifier() and word not in _TAKEN


def _spelled(name: str) -> str:
    # Python treats identifiers with the same normal form as equal.
    form = normalize("NFKC", name)
    return form if form.isidentifier() else tidy(re.sub(r"\W", "_", form))


def clause_source(part: Formula, parameters: Mapping[Symbol, str]) -> str:
    """Return a formula as an expression that can be an operand of ``and``."""
    source = formula_source(part, parameters, PYTHON)
    return f"({source})" if isinstance(part, (AllOf, AnyOf)) and part.parts else source


def _conjunction(lines: list[str]) -> str:
    if len(lines) <= 1:
        return f"    return {lines[0] if lines else 'True'}\n"
    joined = "\n        and ".join(lines)
    return f"    return (\n        {joined}\n    )\n"


def _docstring(condition: Formula, names: Mapping[Symbol, str], parameters: Mapping[Symbol, str]) -> str:
    sizes = {s: p for s, p in parameters.items() if not isinstance(s, SequenceSymbol)}
    changed = [f"{p} is the size {names[s]!r}." for s, p in sizes.items() if p != names[s]]
    changed += [f"{p} has the sizes of {s}." for s, p in parameters.items() if s not in sizes]
    lines = [*condition_texts(condition, names), *(["", *changed] if changed else [])]
    text = "".join(f"\n    {line}" if line else "\n" for line in lines)
    # A size may have any name, also one whose quotes would end the docstring.
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'    """Return whether sizes meet the condition.\n{escaped}\n    """\n'


class OpenSizes(NamedTuple):
    """The sizes that may be open, where the condition of a guard does not hold, and the reasons."""

    possible: Formula
    parts: tuple[OpenPart, ...]


class Guard:
    """A condition as a function of sizes, by name or by symbol.

    ``source`` is the function's text, ``parameters`` its parameters in order, and ``function`` the function itself,
    which takes them in order and checks nothing; text and function are made on first access. ``formula`` is the
    condition with the assumptions that it checks, and ``names`` has what each size is called. Two guards are equal if
    their conditions and names are. At sizes that are open, a guard raises `UndecidedError`; it has no source then.

    ``others`` maps other names of sizes to those in ``names``. ``assumed`` are the assumptions in the condition: a size
    that they alone mention need not be given. ``undecided`` are the sizes at which the guard raises `UndecidedError`,
    where the condition does not hold. Raises `BindingError` for a size of the condition without a name, and for two
    sizes with the same name.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> N, T = symbol("N"), symbol("T")
    >>> guard = Guard(parse_formula("N == 2*T"), {N: "batch", T: "a b"})
    >>> guard({"batch": 6, "a b": 3}), guard({N: 6, T: 4}), guard(batch=6, a_b=3), guard.function(6, 3)
    (True, False, True, True)
    >>> guard
    <Guard guard(batch, a_b): batch == 2*'a b'>
    """

    __slots__ = (
        "_assumed",
        "_function",
        "_needed",
        "_others",
        "_quick",
        "_renamed",
        "_sequences",
        "_source",
        "_undecided",
        "formula",
        "name",
        "names",
        "parameters",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - the question, and what is known of it
        self,
        condition: Formula,
        names: Mapping[Symbol, str],
        name: str = "guard",
        others: Mapping[str, str] | None = None,
        assumed: Formula = TRUE,
        undecided: OpenSizes | None = None,
    ) -> None:
        if len({*names.values()}) < len(names):
            twice = [repr(n) for n, times in Counter(names.values()).items() if times > 1]
            raise BindingError(f"two sizes are called {', '.join(twice)}", "give each size its own name")
        self.formula = condition
        self.names = dict(names)
        self._sequences = sequences_of(names)
        self.name = name
        check_function_name(name)
        check_named(condition, names)
        parameters = parameter_names(names, name)
        self.parameters = tuple(parameters.values())
        called = {s: s.sequence.name if isinstance(s, SequenceSymbol) else names[s] for s in parameters}
        self._others = {other: own for other, own in (others or {}).items() if own in names.values()}
        self._renamed = self._others | {p: called[s] for s, p in parameters.items() if p != called[s]}
        self._source = ""
        self._function: Callable[..., bool] | None = None
        self._quick: Callable[..., bool | None] | None = None
        self._assumed, self._undecided = assumed, undecided
        self._needed: dict[str, object] | None = None

    @property
    def source(self) -> str:
        """The text of the function: see `python_source`."""
        if self._undecided is not None:
            raise UndecidedError(f"{self._undecided.parts[0].reason}; guard(open=False) has a source")
        if not self._source:
            self._source = python_source(self.formula, self.names, self.name)
        return self._source

    @property
    def function(self) -> Callable[..., bool]:
        """The function, which takes the parameters in order and checks nothing."""
        if self._function is None:
            holds = self._compiled(self.formula)
            self._function = holds if self._undecided is None else self._deciding(holds, self._undecided)
        return self._function

    def _compiled(self, formula: Formula) -> Callable[..., bool]:
        namespace: dict[str, Any] = {}
        is_own = formula is self.formula and self._undecided is None
        exec(self.source if is_own else python_source(formula, self.names, self.name), namespace)
        function: Callable[..., bool] = namespace[self.name]
        return function

    def _deciding(self, works: Callable[..., bool], undecided: OpenSizes) -> Callable[..., bool]:
        """Return the function that is true where it is proved to work, and raises where that is open."""
        may_work = self._compiled(undecided.possible)
        known = self.names.keys()
        parts = [(self._compiled(p.where), p.reason) for p in undecided.parts if symbols_in(p.where).keys() <= known]

        def decided(*sizes: Any) -> bool:
            if works(*sizes):
                return True
            if not may_work(*sizes):
                return False
            reasons = (reason for concerns, reason in parts if concerns(*sizes))
            reason = next(reasons, undecided.parts[0].reason)
            raise UndecidedError(f"{reason}; guard(open=False) is False here")

        return decided

    def __call__(self, sizes: Mapping[Any, Any] | None = None, /, *more: Any, **named: Any) -> bool:
        """Return whether the condition holds at sizes by name or symbol; a keyword may be a parameter, too.

        Sizes that the condition does not mention need not be given. Raises `BindingError` for a size that is missing,
        unknown, or not a size, and for sizes without names.
        """
        if sizes is None and not more:
            try:
                holds = (self._quick or self._of_plain_sizes())(**named)
            except TypeError:  # other names than the parameters: they are read below
                holds = None
            if holds is not None:
                return holds
        return self._of_any_sizes(sizes, more, named)

    def _of_plain_sizes(self) -> Callable[..., bool | None]:
        """Return a function of the parameters by name: None unless all are integers that need no reading."""
        known = self.parameters
        if known and not self._sequences and self._others.keys().isdisjoint(known):
            # True is an int for isinstance, and no size.
            tests = [f"type({') is type('.join(known)}) is int", *(f"{p} >= 0" for p in known)]
            call = f"{self.name}({', '.join(known)}) if {' and '.join(tests)} else None"
            self._quick = eval(f"lambda {', '.join(known)}: {call}", {self.name: self.function})
        else:
            self._quick = lambda **_: None
        return self._quick

    def _of_any_sizes(self, sizes: Mapping[Any, Any] | None, more: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
        """Return whether the condition holds at sizes given in any way."""
        if more or not (sizes is None or isinstance(sizes, Mapping)):
            example = self._example(sizes, more)
            raise BindingError(
                "sizes are given by name", f"write {self.name}({example}); .function takes them in order"
            )
        renamed = {self._renamed.get(key, key): size for key, size in named.items()}
        if sizes is not None and self._others:
            sizes = {self._others.get(key, key): size for key, size in sizes.items()}
        needed = self._required()
        if not self._sequences:
            sizes_read = read_given_sizes(self.names, sizes, renamed)
            check_all_sizes(needed, sizes_read, self.name)
            return self.function(
                *[sizes_read[n] if n in sizes_read else self._default(s) for s, n in self.names.items()]
            )
        bound = GivenSizes.read(self.names, sizes, renamed)
        check_all_sizes(needed, bound.by_name, self.name)
        plain = ((s, n) for s, n in self.names.items() if not is_axes(s))
        own = [bound.sizes[n] if n in bound.sizes else self._default(s) for s, n in plain]
        return self.function(*(bound.axes.get(s, ()) for s in self._sequences), *own)

    def _required(self) -> dict[str, object]:
        """Return the sizes that must be given: all but those that only assumptions about themselves mention."""
        if self._needed is None:
            alone = {c for c in clauses(self._assumed) if len(symbols_in(c)) == 1}
            parts = [c for c in clauses(self.formula) if c not in alone]
            parts += clauses(self._undecided.possible) if self._undecided is not None else ()
            parts = [c for c in parts if c not in alone]
            self._needed = example_sizes({s: self.names.get(s, s.name) for c in parts for s in symbols_in(c)})
        return self._needed

    def _default(self, size: Symbol) -> int:
        """Return a value for a size that was not given: the least that the assumptions about it allow."""
        members = ALL
        for clause in clauses(self._assumed):
            if symbols_in(clause).keys() == {size}:
                members = narrowed_set(members, clause) or members
        return members.least() or 0

    def _example(self, first: object, more: Sequence[Any]) -> str:
        """Return the arguments to write for sizes that were given without names."""
        named = first if isinstance(first, Mapping) else {}
        plain = [*first] if isinstance(first, list | tuple) and not more else [] if named is first else [first]
        left = iter([*plain, *more])
        parameters = parameter_names(self.names, self.name).values()
        texts = {p: repr(named[p]) if p in named else _text(next(left, None)) for p in parameters}
        return ", ".join(f"{parameter}={text}" for parameter, text in texts.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guard) and self._question == other._question

    def __hash__(self) -> int:
        return hash(self._question)

    @property
    def _question(self) -> tuple[Any, ...]:
        return self.formula, tuple(self.names.items()), self.name, self._undecided

    def __reduce__(self) -> tuple[Any, ...]:
        # Only the question: a function generated here cannot be pickled, and is quick to regenerate.
        return Guard, (self.formula, self.names, self.name, self._others, self._assumed, self._undecided)

    def __repr__(self) -> str:
        texts = condition_texts(self.formula, self.names)
        text = texts[0] if len(texts) == 1 else " and ".join(f"({t})" if " or " in t else t for t in texts)
        count = f"{len(texts)} clauses" if len(texts) > 1 else f"a condition of {len(text)} characters"
        shown = text if len(text) <= _LONGEST else count
        return f"<Guard {self.name}({', '.join(self.parameters)}): {shown}>"
