"""Mutually exclusive conditions as a function that returns which one holds, in Python and in C++."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.guards.clauses import LARGEST_SIZE, guarded_clauses, magnitude
from symbcast.answers.guards.cpp import cpp_parameters, expressions
from symbcast.answers.guards.cpp_parts import parts_source
from symbcast.answers.guards.python import check_function_name, helper_sources, is_axes, parameter_names, source_of_axes
from symbcast.core.algebra.terms import term
from symbcast.core.logic.formulas import Formula, dims_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_SAYS = "the number of the case that contains the sizes, -1 if they are in none"


def python_dispatch(
    cases: Sequence[Formula], names: Mapping[Symbol, str], told: Sequence[str], name: str = "dispatch"
) -> str:
    """Return a Python module with one function: which of the conditions holds at sizes in the order of ``names``.

    It returns the position of the condition, or -1 if none holds or a size is below 0. ``told`` describes each
    condition, for the docstring. A sequence of axes is one parameter, a tuple.
    Raises the same errors as `symbcast.answers.guards.python_source`.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> N, M = symbol("N"), symbol("M")
    >>> cases = [parse_formula("N == M"), parse_formula("N == 1 and M != 1")]
    >>> print(python_dispatch(cases, {N: "N", M: "M"}, ["N == M", "N == 1 and M != 1"]), end="")
    def dispatch(N, M):
        \"\"\"Return the number of the case that contains the sizes, -1 if they are in none.
    <BLANKLINE>
        0: N == M
        1: N == 1 and M != 1
        \"\"\"
        if N < 0 or M < 0:
            return -1
        if N == M:
            return 0
        if N == 1 and M != 1:
            return 1
        return -1
    """
    check_function_name(name)
    parameters = parameter_names(names, name)
    parts = [guarded_clauses(case, names) for case in cases]
    tests = [" and ".join(source_of_axes(c, parameters) for c in clauses) or "True" for clauses in parts]
    body = "".join(f"    if {test}:\n        return {n}\n" for n, test in enumerate(tests))
    below = " or ".join(f"any(_size < 0 for _size in {p})" if is_axes(s) else f"{p} < 0" for s, p in parameters.items())
    refused = f"    if {below}:\n        return -1\n" if below else ""
    lines = "".join(f"    {n}: {text}\n" for n, text in enumerate(told))
    said = lines.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    head = f'def {name}({", ".join(parameters.values())}):\n    """Return {_SAYS}.\n\n{said}    """\n'
    return f"{helper_sources(tests, [c for clauses in parts for c in clauses])}{head}{refused}{body}    return -1\n"


def cpp_dispatch(
    cases: Sequence[Formula], names: Mapping[Symbol, str], told: Sequence[str], name: str = "dispatch"
) -> str:
    """Return a C++17 source with one function of ``std::int64_t`` sizes that returns the same as `python_dispatch`'s.

    It is exact for all sizes, like the guard of `symbcast.answers.guards.cpp_source`, and raises the same errors.
    """
    called = cpp_parameters(names, name)
    space = f"{name}_parts"
    found = [guarded_clauses(case, names) for case in cases]
    bodies = [expressions(clauses, called) for clauses in found]
    terms = [term(d) for clauses in found for c in clauses for d in dims_of(c)]
    largest = max([LARGEST_SIZE, *map(magnitude, terms)])
    met = {s for t in terms for s in t.symbols()}
    passed = [p for s, p in called.items() if s in met]
    parameters = ", ".join(f"const wide& {p}" for p in passed)
    tests = "".join(
        f"    if ({' && '.join(f'({b})' for b in body) or 'true'}) return {n};\n" for n, (body, _) in enumerate(bodies)
    )
    refused = "".join(f"    if ({p} < 0) return -1;\n" for p in called.values())
    lines = [
        "#include <cstdint>",
        "",
        f"namespace {space} {{",
        f"{parts_source(largest, {u for _, used in bodies for u in used})}inline int which({parameters}) {{",
        f"{tests}    return -1;",
        "}",
        f"}}  // namespace {space}",
        "",
        f"// Returns {_SAYS}:",
        *(f"//     {n}: {text}" for n, text in enumerate(told)),
        *(f"// {p} is the size {names[s]!r}." for s, p in called.items() if p != names[s]),
        f"int {name}({', '.join(f'std::int64_t {p}' for p in called.values())}) {{",
        f"{refused}    return {space}::which({', '.join(passed)});",
        "}",
    ]
    return "\n".join([*lines, ""])
