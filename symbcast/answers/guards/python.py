"""A condition as a Python function."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from symbcast.answers.guards.clauses import condition_texts, guarded_clauses, operation_kinds
from symbcast.answers.guards.names import identifiers, tidy
from symbcast.core.algebra.sequences import Rank, Rest, SequenceSymbol, sequences_of
from symbcast.core.characters import clipped
from symbcast.core.logic.formulas import AllOf, AnyOf, Formula
from symbcast.core.program.sizes.given import Given, check_all_given, needed_of, read_sizes
from symbcast.core.solver.evaluation.evaluation import PYTHON, formula_source
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import BindingError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

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
_LONGEST = 80
"""How long a condition may be in the representation of a guard; of a longer one only the length is shown."""
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
    lines = [f"all(_size >= 0 for _size in {p})" if is_axes(s) else f"{p} >= 0" for s, p in parameters.items()]
    lines += [source_of_axes(part, parameters) for part in parts]
    helpers = helper_sources(lines, parts)
    head = f"def {name}({', '.join(parameters.values())}):\n{_docstring(condition, names, parameters)}"
    return f"{helpers}{head}{_conjunction(lines)}"


def is_axes(s: Symbol) -> bool:
    """Return whether a parameter holds the sizes of all axes of a sequence."""
    return isinstance(s, SequenceSymbol)


def source_of_axes(part: Formula, parameters: Mapping[Symbol, str]) -> str:
    """Return a formula as an expression; a parameter can be a tuple of the sizes of a sequence's axes.

    A clause about each axis before certain ones must hold on all such axes that exist, counted backwards from those.
    """
    told = [s for s in symbols_in(part) if isinstance(s, SequenceSymbol)]
    if not told:
        return clause_source(part, parameters)
    written = dict(parameters)
    bounds: list[str] = []
    for s in told:
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
    return value if isinstance(value, str) and value.isdecimal() else clipped(repr(value), 40)


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
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'    """Return whether sizes meet the condition.\n{escaped}\n    """\n'


class Guard:
    """A condition as a function of sizes, by name or by symbol.

    ``source`` is the function's text, ``parameters`` its parameters in order, and ``function`` the function itself,
    which takes them in order and checks nothing; text and function are made on first access. ``formula`` is the
    condition, and ``names`` has what each size is called. Two guards are equal if their conditions and names are.
    """

    __slots__ = ("_function", "_others", "_renamed", "_sequences", "_source", "formula", "name", "names", "parameters")

    def __init__(
        self,
        condition: Formula,
        names: Mapping[Symbol, str],
        name: str = "guard",
        others: Mapping[str, str] | None = None,
    ) -> None:
        twice = [repr(n) for n, times in Counter(names.values()).items() if times > 1]
        if twice:
            raise BindingError(f"two sizes are called {', '.join(twice)}", "give each size its own name")
        self.formula = condition
        self.names = dict(names)
        self._sequences = sequences_of(names)
        self.name = name
        check_function_name(name)
        guarded_clauses(condition, names)  # raises an error for a size without a name
        found = parameter_names(names, name)
        self.parameters = tuple(found.values())
        called = {s: s.sequence.name if isinstance(s, SequenceSymbol) else names[s] for s in found}
        self._others = {other: own for other, own in (others or {}).items() if own in names.values()}
        self._renamed = self._others | {p: called[s] for s, p in found.items() if p != called[s]}
        self._source = ""
        self._function: Callable[..., bool] | None = None

    @property
    def source(self) -> str:
        """The text of the function: see `python_source`."""
        if not self._source:
            self._source = python_source(self.formula, self.names, self.name)
        return self._source

    @property
    def function(self) -> Callable[..., bool]:
        """The function, which takes the parameters in order and checks nothing."""
        if self._function is None:
            namespace: dict[str, Any] = {}
            exec(self.source, namespace)
            self._function = namespace[self.name]
        return self._function

    def __call__(self, sizes: Mapping[Any, Any] | None = None, /, *more: Any, **named: Any) -> bool:
        """Return whether the condition holds at sizes by name or symbol; a keyword may be a parameter, too.

        Sizes that the condition does not mention need not be given. Raises `BindingError` for a size that is missing,
        unknown, or not a size, and for sizes without names.
        """
        if more or not (sizes is None or isinstance(sizes, Mapping)):
            example = self._example(sizes, more)
            raise BindingError(
                "sizes are given by name", f"write {self.name}({example}); .function takes them in order"
            )
        renamed = {self._renamed.get(key, key): size for key, size in named.items()}
        if sizes is not None and self._others:
            sizes = {self._others.get(key, key): size for key, size in sizes.items()}
        needed = needed_of({s: self.names.get(s, s.name) for s in symbols_in(self.formula)})
        if not self._sequences:
            found = read_sizes(self.names, sizes, renamed)
            check_all_given(needed, found, self.name)
            return self.function(*(found.get(name, 0) for name in self.names.values()))
        given = Given.read(self.names, sizes, renamed)
        check_all_given(needed, given.by_name, self.name)
        names = (name for s, name in self.names.items() if not is_axes(s))
        return self.function(*(given.axes.get(s, ()) for s in self._sequences), *(given.sizes.get(n, 0) for n in names))

    def _example(self, first: object, more: Sequence[Any]) -> str:
        """Return the arguments to write for sizes that were given without names."""
        named = first if isinstance(first, Mapping) else {}
        plain = [*first] if isinstance(first, list | tuple) and not more else [] if named is first else [first]
        left = iter([*plain, *more])
        wanted = parameter_names(self.names, self.name).values()
        texts = {p: repr(named[p]) if p in named else _text(next(left, None)) for p in wanted}
        return ", ".join(f"{parameter}={text}" for parameter, text in texts.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guard) and self._question == other._question

    def __hash__(self) -> int:
        return hash(self._question)

    @property
    def _question(self) -> tuple[Any, ...]:
        return self.formula, tuple(self.names.items()), self.name

    def __reduce__(self) -> tuple[Any, ...]:
        # Only the question: a function generated here cannot be pickled, and is quick to regenerate.
        return Guard, (self.formula, self.names, self.name, self._others)

    def __repr__(self) -> str:
        texts = condition_texts(self.formula, self.names)
        text = texts[0] if len(texts) == 1 else " and ".join(f"({t})" if " or " in t else t for t in texts)
        count = f"{len(texts)} clauses" if len(texts) > 1 else f"a condition of {len(text)} characters"
        shown = text if len(text) <= _LONGEST else count
        return f"<Guard {self.name}({', '.join(self.parameters)}): {shown}>"


def python_guard(
    condition: Formula, names: Mapping[Symbol, str], name: str = "guard", others: Mapping[str, str] | None = None
) -> Guard:
    """Return a condition as a function of its sizes; ``others`` maps other names of sizes to those in ``names``.

    Raises `BindingError` for a size of the condition without a name, and for two sizes with the same name.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> N, T = symbol("N"), symbol("T")
    >>> guard = python_guard(parse_formula("N == 2*T"), {N: "batch", T: "a b"})
    >>> guard({"batch": 6, "a b": 3}), guard({N: 6, T: 4}), guard(batch=6, a_b=3), guard.function(6, 3)
    (True, False, True, True)
    >>> guard
    <Guard guard(batch, a_b): batch == 2*'a b'>
    """
    return Guard(condition, names, name, others)
