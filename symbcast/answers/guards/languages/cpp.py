"""A condition as a C++17 function, exact for all values: integers that are wide enough, and functions on them.

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
inline bool guard(std::int64_t batch, std::int64_t a_b) {
    return batch >= 0 && a_b >= 0 && guard_parts::holds(batch, a_b);
}
<BLANKLINE>
"""

from __future__ import annotations

import bisect
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from symbcast.answers.guards import clauses
from symbcast.answers.guards.clauses import LARGEST_SIZE
from symbcast.core.algebra.formulas import Formula, dims_of
from symbcast.core.algebra.terms import Symbol, Term, term
from symbcast.core.solver.evaluation import Spelling, formula_source

COMMENT = "//"
# The parts of C++ guards: a wide enough integer type, and functions on it.


WORD_BITS = 64

_INT64 = """\
using wide = std::int64_t;
"""

_INT128 = """\
__extension__ typedef __int128 wide;
"""

_WIDE_INTEGER = """\
// An integer in two's complement; {words} words hold every value met below, so nothing overflows.
constexpr int words = {words};
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 two_words;
struct integer {{
    std::uint64_t word[words];
    integer(std::int64_t value = 0) {{
        for (int n = 0; n < words; ++n) word[n] = n == 0 ? static_cast<std::uint64_t>(value) : value < 0 ? ~0ull : 0ull;
    }}
    bool negative() const {{ return word[words - 1] >> 63; }}
}};
inline integer operator+(const integer& a, const integer& b) {{
    integer sum;
    bool carry = false;
    for (int n = 0; n < words; ++n) {{
        const std::uint64_t part = a.word[n] + b.word[n];
        sum.word[n] = part + carry;
        carry = part < a.word[n] || sum.word[n] < part;
    }}
    return sum;
}}
inline integer operator-(const integer& a) {{
    integer flipped;
    for (int n = 0; n < words; ++n) flipped.word[n] = ~a.word[n];
    return flipped + 1;
}}
inline integer operator-(const integer& a, const integer& b) {{ return a + -b; }}
inline bool operator<(const integer& a, const integer& b) {{
    if (a.negative() != b.negative()) return a.negative();
    for (int n = words; n-- > 0;)
        if (a.word[n] != b.word[n]) return a.word[n] < b.word[n];
    return false;
}}
inline bool operator==(const integer& a, const integer& b) {{ return !(a < b) && !(b < a); }}
inline bool operator!=(const integer& a, const integer& b) {{ return !(a == b); }}
inline bool operator<=(const integer& a, const integer& b) {{ return !(b < a); }}
inline integer operator*(const integer& a, const integer& b) {{
    integer product;
    for (int n = 0; n < words; ++n) {{
        std::uint64_t carry = 0;
        for (int m = n; m < words; ++m) {{
            const two_words part = static_cast<two_words>(a.word[n]) * b.word[m - n] + product.word[m] + carry;
            product.word[m] = static_cast<std::uint64_t>(part);
            carry = static_cast<std::uint64_t>(part >> 64);
        }}
    }}
    return product;
}}
"""

_QUOTIENT = """\
inline integer doubled(const integer& a, bool last) {
    integer twice = a + a;
    twice.word[0] |= last;
    return twice;
}
inline bool bit(const integer& a, int n) { return a.word[n / 64] >> (n % 64) & 1; }
inline integer operator/(const integer& a, const integer& b) {
    const integer dividend = a.negative() ? -a : a, divisor = b.negative() ? -b : b;
    integer quotient, rest;
    int length = words;
    while (length > 0 && dividend.word[length - 1] == 0) --length;
    for (int n = 64 * length; n-- > 0;) {
        rest = doubled(rest, bit(dividend, n));
        quotient = doubled(quotient, divisor <= rest);
        if (divisor <= rest) rest = rest - divisor;
    }
    return a.negative() == b.negative() ? quotient : -quotient;
}
inline integer operator%(const integer& a, const integer& b) { return a - a / b * b; }
"""

_FUNCTIONS = {
    "divide": """\
// The quotient rounded down, by a divisor other than 0.
inline wide divide(const wide& a, const wide& b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
""",
    "remainder": """\
// The remainder of division rounded down: 0, or with the divisor's sign.
inline wide remainder(const wide& a, const wide& b) {
    const wide rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
    "min": """\
template <int count> wide min(const wide (&values)[count]) {
    wide least = values[0];
    for (const wide& value : values)
        if (value < least) least = value;
    return least;
}
""",
    "max": """\
template <int count> wide max(const wide (&values)[count]) {
    wide greatest = values[0];
    for (const wide& value : values)
        if (greatest < value) greatest = value;
    return greatest;
}
""",
    "sum": """\
template <int count> wide sum(const wide (&values)[count]) {
    wide total = 0;
    for (const wide& value : values) total = total + value;
    return total;
}
""",
    "join": """\
// The size that compatible sizes broadcast to: the first that is not 1.
template <int count> wide join(const wide (&sizes)[count]) {
    for (const wide& size : sizes)
        if (size != 1) return size;
    return 1;
}
""",
    "compatible": """\
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
""",
}

# The names that parameters must not use.
PART_NAMES = frozenset(
    (*_FUNCTIONS, "wide", "words", "doubled", "bit", "holds", "integer", "two_words", "int128", "with")
)


def _parts_source(terms: Sequence[Term], used: set[str], kind: str, inner: str, passed: Sequence[str]) -> str:
    """Return an integer type that is wide enough for all sizes, the functions used, and the function ``inner``.

    Beyond 128 bits, ``inner`` is written for any integer type, and sizes choose the type: 64 bits, 128, or more.
    """
    functions = "".join(text for name, text in _FUNCTIONS.items() if name in used)
    bits = _bits(terms, LARGEST_SIZE)
    parameters = ", ".join(f"const wide& {p}" for p in passed)
    body = f"inline {kind}({parameters}) {{\n{inner}}}\n"
    if bits <= 2 * WORD_BITS:
        return f"{_INT64 if bits <= WORD_BITS else _INT128}{functions}{body}"
    quotient = _QUOTIENT if not used.isdisjoint(("divide", "remainder")) else ""
    members = f"{functions}{body}".replace("template <int count> ", "template <int count> static ")
    members = members.replace("inline ", "static ")
    return (
        f"{_WIDE_INTEGER.format(words=-(-bits // WORD_BITS))}{quotient}"
        f"template <class wide> struct with {{\n{textwrap.indent(members, '    ')}}};\n{_choice(terms, kind, passed)}"
    )


def _choice(terms: Sequence[Term], kind: str, passed: Sequence[str]) -> str:
    """Return the function that computes with the smallest integer type in which nothing overflows at these sizes."""
    name, sizes = kind.partition(" ")[2], ", ".join(passed)
    lines = [f"inline {kind}({', '.join(f'std::int64_t {p}' for p in passed)}) {{"]
    for integer, width in (("std::int64_t", WORD_BITS), ("int128", 2 * WORD_BITS)):
        most = 2 ** bisect.bisect_right(range(1, WORD_BITS), width, key=lambda n: _bits(terms, 2**n - 1)) - 1
        if most > 0:
            small = " && ".join(f"{p} <= {most}" for p in passed)
            lines.append(f"    if ({small}) return with<{integer}>::{name}({sizes});")
    lines.append(f"    return with<integer>::{name}({sizes});\n}}\n")
    return "\n".join(lines)


def _bits(terms: Sequence[Term], largest: int) -> int:
    """Return the bits of an integer that holds every value met in computing terms, for all sizes up to ``largest``."""
    return max([largest, *(clauses.magnitude(t, largest) for t in terms)]).bit_length() + 1


# A condition as a C++17 function.


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
    several words that is defined in the source and used only at sizes at which 128 bits could overflow. Helpers are
    in the namespace ``guard_parts``, named after the function. A name that C++ does not allow is changed, and a
    comment gives the new one.

    Raises `BindingError` for a size of the condition without a name, and ValueError for a ``name`` that is not a C++
    identifier.
    """
    guarded = clauses.guarded_clauses(condition, names)
    called = cpp_parameters(names, name)
    body, used = expressions(guarded, called)
    inner = "holds", "".join(f"    if (!({clause})) return false;\n" for clause in body), "true"
    outer = f"    return {''.join(f'{p} >= 0 && ' for p in called.values())}"
    comment = ["Whether sizes meet the condition:", *(f"    {t}" for t in clauses.condition_texts(condition, names))]
    comment += clauses.renamed_sizes(called, names)
    return cpp_file(f"bool {name}", inner, outer, called, guarded, used, comment)


def cpp_file(  # noqa: PLR0913, PLR0917 - the parts of a file
    function: str,
    inner: tuple[str, str, str],
    outer: str,
    called: Mapping[Symbol, str],
    parts: Iterable[Formula],
    used: set[str],
    comment: Iterable[str],
) -> str:
    """Return a C++17 file with a function, given its type and name.

    ``inner`` is a function of wide integers, in a namespace: its name, its statements, and what it returns after them.
    The body of the function is ``outer``, followed by a call of that one. ``parts`` are what they compute.
    """
    kind, _, name = function.partition(" ")
    terms = [term(d) for c in parts for d in dims_of(c)]
    mentioned = {s for t in terms for s in t.symbols()}
    passed = [p for s, p in called.items() if s in mentioned]
    own, statements, last = inner
    code = _parts_source(terms, used, f"{kind} {own}", f"{statements}    return {last};\n", passed)
    lines = [
        f"#include <cstdint>\n\nnamespace {name}_parts {{",
        f"{code}}}  // namespace {name}_parts\n",
        *(f"// {text}" for text in comment),
        f"inline {function}({', '.join(f'std::int64_t {p}' for p in called.values())}) {{",
        f"{outer}{name}_parts::{own}({', '.join(passed)});\n}}\n",
    ]
    return "\n".join(lines)


def cpp_parameters(names: Mapping[Symbol, str], name: str) -> dict[Symbol, str]:
    """Return the function parameter for each size.

    Raises ValueError for an invalid function name, and `UnknownRankError` for sizes of a sequence of axes.
    """
    clauses.check_known_ranks("C++", names)
    if not isinstance(name, str) or clauses.ascii_identifier(name) != name or _is_refused(name):
        raise ValueError(f"{name!r} cannot name a function here: write an identifier that C++ does not use")
    return clauses.identifiers(
        names, clauses.ascii_identifier, lambda word: word in (name, f"{name}_parts") or _is_refused(word)
    )


def _is_refused(word: str) -> bool:
    return word in _WORDS or word in PART_NAMES or _RESERVED.fullmatch(word) is not None


def expressions(parts: Sequence[Formula], called: Mapping[Symbol, str]) -> tuple[list[str], set[str]]:
    """Return the clauses as expressions, and the helpers called in them."""
    used: set[str] = set()

    def call(function: str, args: Sequence[str]) -> str:
        function = _CALLED.get(function, function)
        used.add(function)
        return (
            f"{function}({', '.join(args)})" if function in _CALLED.values() else f"{function}({{{', '.join(args)}}})"
        )

    spelling = Spelling(" && ", " || ", "!", "true", "false", frozenset(), call, _number)
    return [formula_source(c, called, spelling) for c in parts], used


def _number(value: int) -> str:
    """Return a number that is not negative, in steps where a literal cannot hold it."""
    if value <= LARGEST_SIZE:
        return str(value)
    high, low = divmod(value, _STEP)
    return f"({_number(high) if high > LARGEST_SIZE else f'wide({high})'}*{_STEP} + {low})"
