"""The parts of C++ guards: a wide enough integer type, and functions on it."""

from __future__ import annotations

WORD_BITS = 64

_INT64 = """\
using wide = std::int64_t;
"""

_INT128 = """\
__extension__ typedef __int128 wide;
"""

_WORDS = """\
// An integer in two's complement; {words} words hold every value met below, so nothing overflows.
constexpr int words = {words};
struct wide {{
    std::uint64_t word[words];
    wide(std::int64_t value = 0) {{
        for (int n = 0; n < words; ++n) word[n] = n == 0 ? static_cast<std::uint64_t>(value) : value < 0 ? ~0ull : 0ull;
    }}
    bool negative() const {{ return word[words - 1] >> 63; }}
}};
inline wide operator+(const wide& a, const wide& b) {{
    wide sum;
    bool carry = false;
    for (int n = 0; n < words; ++n) {{
        const std::uint64_t part = a.word[n] + b.word[n];
        sum.word[n] = part + carry;
        carry = part < a.word[n] || sum.word[n] < part;
    }}
    return sum;
}}
inline wide operator-(const wide& a) {{
    wide flipped;
    for (int n = 0; n < words; ++n) flipped.word[n] = ~a.word[n];
    return flipped + 1;
}}
inline wide operator-(const wide& a, const wide& b) {{ return a + -b; }}
inline bool operator<(const wide& a, const wide& b) {{
    if (a.negative() != b.negative()) return a.negative();
    for (int n = words; n-- > 0;)
        if (a.word[n] != b.word[n]) return a.word[n] < b.word[n];
    return false;
}}
inline bool operator==(const wide& a, const wide& b) {{ return !(a < b) && !(b < a); }}
inline bool operator!=(const wide& a, const wide& b) {{ return !(a == b); }}
inline bool operator<=(const wide& a, const wide& b) {{ return !(b < a); }}
inline wide doubled(const wide& a, bool last) {{
    wide twice = a + a;
    twice.word[0] |= last;
    return twice;
}}
inline bool bit(const wide& a, int n) {{ return a.word[n / 64] >> (n % 64) & 1; }}
inline wide operator*(const wide& a, const wide& b) {{
    wide product;
    for (int n = 64 * words; n-- > 0;) {{
        product = doubled(product, false);
        if (bit(b, n)) product = product + a;
    }}
    return product;
}}
"""

_QUOTIENT = """\
inline wide operator/(const wide& a, const wide& b) {
    const wide dividend = a.negative() ? -a : a, divisor = b.negative() ? -b : b;
    wide quotient, rest;
    for (int n = 64 * words; n-- > 0;) {
        rest = doubled(rest, bit(dividend, n));
        quotient = doubled(quotient, divisor <= rest);
        if (divisor <= rest) rest = rest - divisor;
    }
    return a.negative() == b.negative() ? quotient : -quotient;
}
inline wide operator%(const wide& a, const wide& b) { return a - a / b * b; }
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

PART_NAMES = frozenset((*_FUNCTIONS, "wide", "words", "doubled", "bit", "holds"))
"""The names that parameters must not use."""


def parts_source(largest: int, used: set[str]) -> str:
    """Return the integer type for values up to ``largest`` either side of 0, and the functions used."""
    divides = not used.isdisjoint(("divide", "remainder"))
    texts = [text for name, text in _FUNCTIONS.items() if name in used]
    return "".join((_integer(largest, divides), *texts))


def _integer(largest: int, divides: bool) -> str:
    bits = largest.bit_length() + 1
    if bits <= WORD_BITS:
        return _INT64
    if bits <= 2 * WORD_BITS:
        return _INT128
    words = -(-bits // WORD_BITS)
    return _WORDS.format(words=words) + (_QUOTIENT if divides else "")
