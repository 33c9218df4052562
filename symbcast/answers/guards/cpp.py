"""A condition as a C++17 function."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.guards.clauses import LARGEST_SIZE, check_known_ranks, condition_texts, guarded_clauses, magnitude
from symbcast.answers.guards.cpp_parts import PART_NAMES, parts_source
from symbcast.answers.guards.names import ascii_identifier, identifiers
from symbcast.core.algebra.terms import term
from symbcast.core.logic.formulas import Formula, dims_of
from symbcast.core.solver.evaluation.evaluation import Spelling, formula_source

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq typeof std unix linux main"""
_WORDS = frozenset(_KEYWORDS.split())
# Names that <cstdint> defines, and names that C++ reserves.
_RESERVED = re.compile(r"_.*|.*__.*|[A-Z].*_(MAX|MIN|C|WIDTH)|u?int\w*_t|i386|NULL|EOF")
_STEP = 10**18
_CALLED = {"//": "divide", "%": "remainder"}


def cpp_source(condition: Formula, names: Mapping[Symbol, str], name: str = "guard") -> str:
    """Return a C++17 source with one function: whether the condition holds at sizes given in the order of ``names``.

    The function takes a ``std::int64_t`` for each size and is exact for all of them: sizes below 0 give false, and so
    does a comparison with an undefined term. Nothing overflows, because intermediate values are as wide as
    the condition needs for sizes up to 2**63 - 1: 64 bits, 128 (``__int128``, of GCC and Clang), or an integer of
    several words that is defined in the source. Helpers are in the namespace ``guard_parts``, named after the
    function. A name that C++ does not allow is changed, and a comment gives the new one.

    Raises `BindingError` for a size of the condition without a name, and ValueError for a ``name`` that is not a C++
    identifier.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> N, T = symbol("N"), symbol("T")
    >>> print(cpp_source(parse_formula("compatible(N, 8, T) and 2*N <= T"), {N: "batch", T: "a b"}))
    #include <cstdint>
    <BLANKLINE>
    namespace guard_parts {
    __extension__ typedef __int128 wide;
    // Whether the sizes other than 1 are all equal.
    template <int count> bool compatible(const wide (&sizes)[count]) {
        wide common = 1;
        for (const wide& size : sizes) {
            if (size == 1 || size == common) continue;
            if (common != 1) return false;
            common = size;
        }
        return true;
    }
    inline bool holds(const wide& batch, const wide& a_b) {
        if (!(compatible({batch, 8, a_b}))) return false;
        if (!(2*batch <= a_b)) return false;
        return true;
    }
    }  // namespace guard_parts
    <BLANKLINE>
    // Whether sizes meet the condition:
    //     compatible(batch, 8, 'a b')
    //     2*batch <= 'a b'
    // a_b is the size 'a b'.
    bool guard(std::int64_t batch, std::int64_t a_b) {
        return batch >= 0 && a_b >= 0 && guard_parts::holds(batch, a_b);
    }
    <BLANKLINE>
    """
    clauses = guarded_clauses(condition, names)
    space = f"{name}_parts"
    called = cpp_parameters(names, name)
    body, used = expressions(clauses, called)
    terms = [term(d) for c in clauses for d in dims_of(c)]
    largest = max(map(magnitude, terms), default=0)
    met = {s for t in terms for s in t.symbols()}
    passed = [p for s, p in called.items() if s in met]
    tests = [*(f"{p} >= 0" for p in called.values()), f"{space}::holds({', '.join(passed)})"]
    lines = [
        "#include <cstdint>",
        "",
        f"namespace {space} {{",
        f"{parts_source(max(largest, LARGEST_SIZE), used)}{_holds(passed, body)}}}  // namespace {space}",
        "",
        *(f"// {text}" for text in _comment(condition, names, called)),
        f"bool {name}({', '.join(f'std::int64_t {p}' for p in called.values())}) {{",
        f"    return {' && '.join(tests)};",
        "}",
    ]
    return "\n".join([*lines, ""])


def cpp_parameters(names: Mapping[Symbol, str], name: str) -> dict[Symbol, str]:
    """Return the function parameter for each size.

    Raises ValueError for an invalid function name, and `UnknownRankError` for sizes of a sequence of axes.
    """
    check_known_ranks("C++", names)
    if not isinstance(name, str) or ascii_identifier(name) != name or _is_refused(name):
        raise ValueError(f"{name!r} cannot name a function here: write an identifier that C++ does not use")
    return identifiers(names, ascii_identifier, lambda word: word in (name, f"{name}_parts") or _is_refused(word))


def _is_refused(word: str) -> bool:
    return word in _WORDS or word in PART_NAMES or _RESERVED.fullmatch(word) is not None


def expressions(clauses: Sequence[Formula], called: Mapping[Symbol, str]) -> tuple[list[str], set[str]]:
    """Return the clauses as expressions, and the helpers called in them."""
    used: set[str] = set()

    def call(function: str, args: Sequence[str]) -> str:
        function = _CALLED.get(function, function)
        used.add(function)
        return (
            f"{function}({', '.join(args)})" if function in _CALLED.values() else f"{function}({{{', '.join(args)}}})"
        )

    spelling = Spelling(" && ", " || ", "!", "true", "false", frozenset(), call, _number)
    return [formula_source(c, called, spelling) for c in clauses], used


def _number(value: int) -> str:
    """Return a number that is not negative, in steps where a literal cannot hold it."""
    if value <= LARGEST_SIZE:
        return str(value)
    high, low = divmod(value, _STEP)
    return f"({_number(high) if high > LARGEST_SIZE else f'wide({high})'}*{_STEP} + {low})"


def _holds(passed: Sequence[str], body: Sequence[str]) -> str:
    statements = "".join(f"    if (!({clause})) return false;\n" for clause in body)
    parameters = ", ".join(f"const wide& {p}" for p in passed)
    return f"inline bool holds({parameters}) {{\n{statements}    return true;\n}}\n"


def _comment(condition: Formula, names: Mapping[Symbol, str], called: Mapping[Symbol, str]) -> list[str]:
    changed = [f"{p} is the size {names[s]!r}." for s, p in called.items() if p != names[s]]
    return ["Whether sizes meet the condition:", *(f"    {t}" for t in condition_texts(condition, names)), *changed]
