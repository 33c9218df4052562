"""Sizes within sentences, read by recursive descent: arithmetic and functions of several languages, and English.

Values are exact fractions until something rounds them or proves them whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from symbcast.core.text.trees import (
    ExactQuotient,
    FloorDivision,
    FunctionCall,
    IntegerLiteral,
    Name,
    Sentence,
    Tree,
    UnclearError,
    conditional_size,
    exact_quotient,
    is_nonnegative,
    multiply_trees,
)
from symbcast.core.text.words import Token, words_of

# The maximum number of words read, counting each word again for each alternative that is tried.
_MOST_STEPS, _STEPS_PER_WORD = 20_000, 100
# A bracket takes ten calls of methods or more, and Python has 1,000, of which the caller has used some.
_MOST_NESTED = 30
# 2**63 is negative in the 64-bit integers that shifts have in C.
_MOST_SHIFT = 62

_Read = TypeVar("_Read")

NUMERALS = {
    word: n
    for n, word in enumerate(
        (
            *(
                "zero",
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ),
            *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        )
    )
}
TENS = {
    word: 10 * n
    for n, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
# Names that are units behind a number: ``4px`` is no product, unless the text has the name elsewhere too.
_UNITS = (
    *("kb", "mb", "gb", "tb", "kib", "mib", "gib", "byte", "bytes", "bit", "bits"),
    *("px", "pt", "em", "ms", "us", "ns", "hz", "khz", "mhz", "ghz", "mm", "cm", "km"),
)
TIMES = {"twice": 2, "double": 2, "thrice": 3, "triple": 3}
PARTS = {"half": 2, "third": 3, "quarter": 4}
MORE = ("more", "greater", "larger", "bigger", "higher")
LESS = ("less", "smaller", "fewer", "lower")
MODALS = ("must", "should", "shall", "will")
COPULAS = ("is", "are", "be", "equals", "equal")
_WORDS = (
    "if then else unless iff implies in of than from by to at and or not but nor neither either both mod "
    "modulo rem div floordiv ceildiv times plus minus divided divisible multiple multiples divides divide "
    "exceeds exceed even odd positive negative nonnegative nonzero least most between strictly same different "
    "exactly precisely has have needs need the within above below under over squared cubed inclusive exclusive "
    "congruent when whenever case end while range none null true false does do so too also as well only rounded "
    "hundred thousand million billion dozen "
)
# Words that are no names of sizes in a sentence; the grammar has already refused the text.
RESERVED = frozenset(_WORDS.split()).union(MODALS, COPULAS, MORE, LESS, TIMES, PARTS)
BRACKETS = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉"}
_MODULES = (
    "math.",
    "operator.",
    "np.",
    "numpy.",
    "torch.",
    "tl.",
    "triton.",
    "sympy.",
    "sp.",
    "jnp.",
    "std.",
    "tf.",
    "keras.ops.",
)
_EXTREMA = {
    **dict.fromkeys(("min", "minimum", "least", "sym_min"), "min"),
    **dict.fromkeys(("max", "maximum", "greatest", "sym_max"), "max"),
    "broadcast": "broadcast",
}
_ROUNDINGS: dict[str, Callable[[ExactQuotient], Tree]] = {
    "floor": ExactQuotient.floor,
    **dict.fromkeys(("ceil", "ceiling"), ExactQuotient.ceil),
    **dict.fromkeys(("int", "trunc", "fix", "sym_int"), ExactQuotient.truncated),
}
_REMAINDERS = ("mod", "modulo", "pythonmod", "floormod", "floor_mod")
# C's fmod and MATLAB's rem have the sign of the dividend, and `%` here that of the divisor: the two are equal where
# neither is negative.
_SIGNED_REMAINDERS = ("rem", "fmod", "remainder")
_QUOTIENTS = ("floordiv", "floor_divide", "floor_div", "cleandiv")
_CEILINGS = ("ceildiv", "cdiv", "ceil_div", "div_up", "divup", "div_ceil")
_ROUNDED_UP = ("round_up", "roundup", "align_up")
_CHOICES = ("where", "iif", "ifelse", "if")
CALLED = frozenset(
    (*_EXTREMA, *_ROUNDINGS, *_REMAINDERS, *_SIGNED_REMAINDERS, *_QUOTIENTS, *_CEILINGS, *_ROUNDED_UP, *_CHOICES)
).union(("abs", "pow", "power", "piecewise", "merge", "len", "dim", "size"))
# Operators that are words: how tightly they bind is not certain.
_WORDED = {
    "mod": "%",
    "modulo": "%",
    "rem": "%",
    "div": "//",
    "floordiv": "//",
    "ceildiv": "/^",
    "times": "*",
    "divided by": "/",
    "multiplied by": "*",
}


class SizeReader:
    """The words of a sentence, and the place of the next one.

    ``is_symbolic`` means that no word follows another one: then none is English, and all that are not called are names.
    """

    def __init__(self, text: str) -> None:
        self.words, self.is_slip, self.is_rounding = words_of(text)
        called = {n for n in range(len(self.words) - 1) if self.words[n + 1].text == "("}
        self.names = {t.text for n, t in enumerate(self.words) if t.kind == "word" and n not in called}
        ends = ("word", "number", "raw")
        self.is_symbolic = not any(
            b.kind == "word" and not b.is_adjacent and a.kind in ends
            for a, b in zip(self.words, self.words[1:], strict=False)
        )
        self.at = 0
        self.steps = 0
        self.most_steps = _MOST_STEPS + _STEPS_PER_WORD * len(self.words)
        self.nested = 0
        self.is_worded = False
        self.is_congruence = False

    def only_size(self) -> Tree:
        """Read a size alone, which is whole."""
        tree = self.size().whole()
        if self.at < len(self.words) or (isinstance(tree, IntegerLiteral) and tree.value < 0):
            raise UnclearError
        return tree

    def sentence(self) -> Sentence:
        """Read a relation, as the condition of a choice."""
        raise NotImplementedError

    # Words.

    def token(self, ahead: int = 0) -> Token:
        """Return a word that follows."""
        self.steps += 1
        if self.steps > self.most_steps:
            raise UnclearError
        place = self.at + ahead
        return self.words[place] if place < len(self.words) else Token("end", "", False, "")

    def sees(self, *texts: str, ahead: int = 0) -> bool:
        """Return whether one of some words follows."""
        token = self.token(ahead)
        return token.kind in ("word", "sign") and token.text.casefold() in texts

    def take(self, *phrases: str) -> str:
        """Go past the first of some phrases that follows, and return it; empty if none does."""
        for phrase in phrases:
            parts = phrase.split()
            if all(self.sees(part, ahead=n) for n, part in enumerate(parts)):
                self.at += len(parts)
                return phrase
        return ""

    def need(self, *phrases: str) -> str:
        """Go past one of some phrases, which has to follow."""
        phrase = self.take(*phrases)
        if not phrase:
            raise UnclearError
        return phrase

    def attempt(self, read: Callable[[], _Read]) -> _Read | None:
        """Return what a method reads; None, and go back, if that is unclear."""
        state = dict(vars(self))
        try:
            return read()
        except UnclearError:
            # Each alternative that is left would fail at once too; an error that passes all of them ends the sentence.
            if self.steps > self.most_steps:
                raise
            # What failed stays counted, for alternatives nest: "N > 2 ? " eight times over took millions of words.
            steps = self.steps
            vars(self).update(state)
            self.steps = steps
            return None

    # Sizes.

    def size(self) -> ExactQuotient:
        """Read a size: a sum, or a choice between two."""
        self.nested += 1
        if self.nested > _MOST_NESTED:
            raise UnclearError
        # Every size may begin `condition ? a : b`. To try that first without a "?" takes 31,000 words for `(2N)`, not
        # 69, and ten times as many for each bracket around it.
        chooses = any(t.text == "?" for t in self.words[self.at :])
        value = (self.attempt(self._ternary) if chooses else None) or self._shift()
        if self.sees("if") and not self.sees("(", ahead=1):
            value = self.attempt(lambda: self._else(value)) or value
        self.nested -= 1
        return value

    def _ternary(self) -> ExactQuotient:
        condition = self.sentence()
        self.need("?")
        first = self.size().whole()
        self.need(":")
        return self._chosen(condition, first)

    def _else(self, first: ExactQuotient) -> ExactQuotient:
        self.need("if")
        condition = self.sentence()
        self.need("else")
        return self._chosen(condition, first.whole())

    def _chosen(self, condition: Sentence, first: Tree) -> ExactQuotient:
        other = self.size().whole()
        if self.sees("==", "!=", "<=", ">=", "<", ">", *COPULAS):
            raise UnclearError  # `N == 2 if M == 1 else N == 3` chooses between relations
        return ExactQuotient(conditional_size(condition, first, other))

    def _shift(self) -> ExactQuotient:
        size = self._sum()
        while sign := self.take("<<", ">>"):
            by = self._sum()
            if not (isinstance(by.top, IntegerLiteral) and by.denominator == 1 and 0 <= by.top.value <= _MOST_SHIFT):
                raise UnclearError
            power = IntegerLiteral(2**by.top.value)
            size = ExactQuotient(
                multiply_trees(power, size.whole()) if sign == "<<" else exact_quotient(size.whole(), power).floor()
            )
        return size

    def _sum(self) -> ExactQuotient:
        size, count = self._product(), 1
        is_worded = self.is_worded
        while sign := self.take("+", "-", "plus", "minus"):
            part = self._product()
            size = size.plus(part if sign in ("+", "plus") else -part)
            is_worded |= self.is_worded
            count += 1
        if count == 1 and (rounded := self.take("rounded down", "rounded up")):
            size = ExactQuotient(size.floor() if rounded == "rounded down" else size.ceil())
        if is_worded and count > 1:
            raise UnclearError  # `N + 1 mod 4`, `twice N plus 1`: people group them differently
        self.is_worded = is_worded
        return size

    def _product(self) -> ExactQuotient:
        size, signs = self._unary(), list[str]()
        is_worded = self.is_worded
        while sign := self._operator():
            is_word = sign.isalpha() or " " in sign
            if sign in ("*", "times") and signs[-1:] == ["/"] and size.bottom != IntegerLiteral(1):
                raise UnclearError  # `(N + 7) / 8 * 8` rounds in some languages
            right = self._unary()
            is_worded |= is_word or self.is_worded
            signs.append(_WORDED.get(sign, sign))
            if is_word and _WORDED[sign] == "%" and isinstance(size.top, IntegerLiteral):
                raise UnclearError  # `N = 1 mod 4`
            size = self._combined(signs[-1], size, right)
        if is_worded and len(signs) > 1 and set(signs) != {"*"} and not (signs[-1] == "%" and set(signs[:-1]) == {"*"}):
            raise UnclearError
        self.is_worded = is_worded
        return size

    def _operator(self) -> str:
        if self.is_congruence and self.sees("mod", "modulo"):
            return ""
        return self.take("*", "//", "/", "%", *_WORDED)

    def _combined(self, sign: str, left: ExactQuotient, right: ExactQuotient) -> ExactQuotient:
        if sign == "*":
            return left.by(right)
        quotient = left.over(right)
        match sign:
            case "//":
                return ExactQuotient(quotient.floor())
            case "/^":
                return ExactQuotient(quotient.ceil())
            case "%":
                return ExactQuotient(FloorDivision("%", left.whole(), _nonzero(right.whole())))
        if self.is_rounding and quotient.bottom != IntegerLiteral(1):
            return ExactQuotient(
                quotient.whole()
            )  # in these languages `/` may round, so only whole quotients are certain
        return quotient

    def _unary(self) -> ExactQuotient:
        self.is_worded = False
        if self.take("-"):
            return -self._unary()
        if self.take("+"):
            return self._unary()
        spoken = self._spoken()
        return self._juxtaposed() if spoken is None else spoken

    def _juxtaposed(self) -> ExactQuotient:
        """Read a power, and the factors that follow it without a sign: ``2N``, ``N(N + 1)``."""
        first = self.at
        size = self._power()
        while self._is_factor(self.words[self.at - 1]):
            if first and self.words[first - 1].text in ("/", "//", "%", "mod", "**"):
                raise UnclearError  # `1/2N`
            self.is_slip = True
            self._refuse_unit()
            size = size.by(self._power())
        return size

    def _refuse_unit(self) -> None:
        """Raise `UnclearError` for a number with a unit, such as ``4px``, and for ``1k``: nobody writes 1*k so."""
        token, before = self.token(), self.words[self.at - 1]
        if token.kind != "word" or not before.text.isdecimal():
            return
        # A unit that is also elsewhere is a name, as in "N = 4px and px = 2"; so is one in capitals, as in "N = 4KB".
        is_alone = sum(t.text == token.text for t in self.words) == 1
        if before.text == "1" or (is_alone and token.text.casefold() in _UNITS and not token.text.isupper()):
            raise UnclearError

    def _is_factor(self, before: Token) -> bool:
        token = self.token()
        # `N ≡ 1 (mod 4)` and `between 2 and 5 (inclusive)`: the bracket is no factor.
        if token.text == "(" and self.sees("mod", "modulo", "pmod", "inclusive", "exclusive", ahead=1):
            return False
        if token.text in ("(", "⌊", "⌈"):
            return before.kind == "number" or before.text in BRACKETS.values() or before.kind == "word"
        is_name = token.kind == "word" and token.text.casefold() not in RESERVED
        if is_name and token.is_adjacent and before.text == "0":
            raise UnclearError  # `0x10`
        return is_name and token.is_adjacent and (before.text.isdecimal() or before.text in BRACKETS.values())

    def _power(self) -> ExactQuotient:
        size = self._atom()
        if self.take("**"):
            closing = self.take("(", "{")
            exponent = self.token()
            if exponent.kind != "number" or not exponent.text.isdecimal():
                raise UnclearError
            self.at += 1
            if closing:
                self.need(BRACKETS[closing])
            elif self.token().kind == "word" and self.token().is_adjacent:
                raise UnclearError  # `N^2M`
            # `N**2**3` is N**8 in Python, which groups powers from the right, and N**6 in MATLAB.
            if self.sees("**"):
                raise UnclearError
            return size.to_the(_exponent(int(exponent.text)))
        while word := self.take("squared", "cubed"):
            size = size.to_the(2 if word == "squared" else 3)
        return size

    def _atom(self) -> ExactQuotient:
        token = self.token()
        if token.kind == "number":
            self.at += 1
            return _number(token.text)
        if token.kind == "raw":
            self.at += 1
            return ExactQuotient(Name(token.text))
        if token.text in BRACKETS and token.kind == "sign":
            return self._bracketed(token.text)
        if token.kind == "sign" and token.text == "*" and self.token(1).kind in ("word", "raw"):
            self.at += 2
            return ExactQuotient(Name(f"*{self.words[self.at - 1].text}"))
        if token.kind != "word":
            raise UnclearError
        if self.sees("(", "{", "[", ahead=1) and self._function(token.text) in CALLED:
            self.at += 1
            return self._call(self._function(token.text))
        if self.sees("frac"):
            self.at += 1
            return self._group().over(self._group())
        if self.take("case when"):
            self.at -= 1
            return self._case()
        return self._name(token.text)

    def _name(self, name: str) -> ExactQuotient:
        self.at += 1
        if not self.is_symbolic:
            if name in NUMERALS:
                return ExactQuotient(IntegerLiteral(NUMERALS[name]))
            if name in TENS:
                return ExactQuotient(IntegerLiteral(TENS[name] + self._digit()))
            if name.casefold() in RESERVED:
                raise UnclearError
        if self.sees("(") and not self._is_product(name):
            raise UnclearError  # a function of another name
        return ExactQuotient(Name(name))

    def _digit(self) -> int:
        """Read the rest of a number such as ``twenty-four``."""
        token, dash = self.token(1), self.token()
        digit = NUMERALS.get(token.text, 0) if dash.text == "-" and dash.is_adjacent and token.is_adjacent else 0
        self.at += 2 if 1 <= digit <= 9 else 0
        return digit if digit <= 9 else 0

    def _is_product(self, name: str) -> bool:
        return name in self.names or (len(name) == 1 and name.isupper())

    @staticmethod
    def _function(name: str) -> str:
        word = name.casefold()
        return next((word[len(m) :] for m in _MODULES if word.startswith(m)), word)

    def _bracketed(self, opening: str) -> ExactQuotient:
        self.at += 1
        inside = self.size()
        self.need(BRACKETS[opening])
        self.is_worded = False
        self.is_slip |= opening in "[{"
        if opening == "⌊":
            return ExactQuotient(inside.floor())
        return ExactQuotient(inside.ceil()) if opening == "⌈" else inside

    def _group(self) -> ExactQuotient:
        self.need("{")
        inside = self.size()
        self.need("}")
        return inside

    def _arguments(self) -> list[ExactQuotient]:
        """Read arguments in brackets, or in a list in brackets."""
        opening = self.need("(", "{", "[")
        if self.sees("(", "[", "{") and opening == "(":
            arguments = self.attempt(lambda: self._listed(")"))
            if arguments is not None:
                return arguments
        return self._until(BRACKETS[opening])

    def _listed(self, closing: str) -> list[ExactQuotient]:
        arguments = self._arguments()
        self.need(closing)
        if len(arguments) < 2:
            raise UnclearError
        return arguments

    def _until(self, closing: str) -> list[ExactQuotient]:
        sizes = [self.size()]
        while self.take(","):
            if self.sees(closing):
                break
            sizes.append(self.size())
        self.need(closing)
        return sizes

    def _call(self, function: str) -> ExactQuotient:
        if function in ("piecewise", "merge", *_CHOICES):
            return self._choice(function)
        was_rounding, self.is_rounding = self.is_rounding, self.is_rounding and function not in ("floor", "int", "fix")
        arguments = self._arguments()
        self.is_rounding, self.is_worded = was_rounding, False
        self.is_slip |= function in ("len", "dim", "size")
        if function in _EXTREMA and (len(arguments) > 1 or function != "broadcast"):
            return _extremum(_EXTREMA[function], arguments)
        return _call(function, *arguments)

    def _choice(self, function: str) -> ExactQuotient:
        self.need("(")
        if function == "piecewise":
            return self._piecewise()
        if function == "merge":  # Fortran
            first = self.size().whole()
            self.need(",")
            other = self.size().whole()
            self.need(",")
            condition = self.sentence()
        else:
            condition = self.sentence()
            self.need(",")
            first = self.size().whole()
            self.need(",")
            other = self.size().whole()
        self.need(")")
        return ExactQuotient(conditional_size(condition, first, other))

    def _piecewise(self) -> ExactQuotient:
        cases: list[tuple[Tree, Sentence]] = []
        while self.take("("):
            value = self.size().whole()
            self.need(",")
            if self.take("true"):
                self.need(")")
                self.take(",")
                self.need(")")
                return ExactQuotient(_first(cases, value))
            cases.append((value, self.sentence()))
            self.need(")")
            self.need(",")
        raise UnclearError  # no value otherwise

    def _case(self) -> ExactQuotient:
        """Read ``CASE WHEN condition THEN size ELSE size END``."""
        cases: list[tuple[Tree, Sentence]] = []
        while self.take("when"):
            condition = self.sentence()
            self.need("then")
            cases.append((self.size().whole(), condition))
        self.need("else")
        other = self.size().whole()
        self.need("end")
        return ExactQuotient(_first(cases, other))

    # English.

    def _spoken(self) -> ExactQuotient | None:
        """Read a size that begins with words, such as ``twice N`` or ``one more than N``; None for any other."""
        if self.is_symbolic:
            return None
        start = self.at
        self.take("exactly", "precisely")
        self.take("the number", "the size", "the")
        size = self._scaled() or self._of_several() or self.attempt(self._more_than)
        if size is None and self.at > start and self.sees(*RESERVED):
            raise UnclearError
        return size

    def _scaled(self) -> ExactQuotient | None:
        for word, factor in TIMES.items():
            if self.sees(word) and not self.sees("*", "+", "-", "==", ahead=1):
                self.at += 1
                self.take("as large as", "as big as", "as many as")
                return self._worded(ExactQuotient(IntegerLiteral(factor)))
        number = self.attempt(self._count) if self.sees("times", ahead=1) else None
        if number is not None and self.take("times as large as", "times as big as", "times as many as"):
            return self._worded(ExactQuotient(IntegerLiteral(number)))
        if number is not None:
            self.need("times")
            return self._worded(ExactQuotient(IntegerLiteral(number)))
        article = self.take("a", "one")
        if not self.sees(*PARTS) or not (self.sees("of", "the", ahead=1) or self.token(1).kind in ("word", "raw")):
            self.at -= len(article.split())
            return None
        part = PARTS[self.need(*PARTS)]
        self.take("of", "as large as")
        return self._worded(ExactQuotient(IntegerLiteral(1), IntegerLiteral(part)))

    def _worded(self, factor: ExactQuotient) -> ExactQuotient:
        self.take("the")
        inner = self._scaled() or self._of_several() or self._juxtaposed()
        self.is_worded = True
        return factor.by(inner)

    def _of_several(self) -> ExactQuotient | None:
        """Read ``the sum of N and M``, ``the larger of N, M and K``, ``the remainder of N divided by 4``."""
        if self.take("square of", "cube of"):
            power = 2 if self.words[self.at - 2].text == "square" else 3
            self.is_worded = True
            return self._juxtaposed().to_the(power)
        words = ("sum", "product", "maximum", "minimum", "max", "min", "larger", "smaller", "largest", "smallest")
        if not self.sees(*words, "greater", "lesser") or not self.sees("of", ahead=1):
            return None
        word = self.need(*words, "greater", "lesser")
        self.need("of")
        parts = [self._shift()]
        while self.take(","):
            parts.append(self._shift())
        self.take(",")
        self.need("and")
        parts.append(self._shift())
        self.is_worded = True
        if word in ("sum", "product"):
            total = parts[0]
            for part in parts[1:]:
                total = total.plus(part) if word == "sum" else total.by(part)
            return total
        return _extremum("max" if word in ("maximum", "max", "larger", "largest", "greater") else "min", parts)

    def _more_than(self) -> ExactQuotient:
        """Read ``one more than N``, ``3 less than N``."""
        number = self._count()
        word = self.need(*MORE, *LESS)
        self.need("than")
        size = self._shift()
        if self.is_worded and self.sees("plus", "minus", "times", "+", "-"):
            raise UnclearError
        self.is_worded = True
        return size.plus(ExactQuotient(IntegerLiteral(number if word in MORE else -number)))

    def _count(self) -> int:
        token = self.token()
        self.at += 1
        if token.kind == "number" and token.text.isdecimal():
            return int(token.text)
        if token.text.casefold() in NUMERALS:
            return NUMERALS[token.text.casefold()]
        raise UnclearError


def _number(text: str) -> ExactQuotient:
    # `1e3` is a float in every language.
    if "e" in text.casefold():
        raise UnclearError
    value = Fraction(text)
    if value.denominator & (value.denominator - 1):
        raise UnclearError  # a float is not this number
    return exact_quotient(IntegerLiteral(value.numerator), IntegerLiteral(value.denominator))


def _exponent(number: int) -> int:
    if not 1 <= number <= 16:
        raise UnclearError
    return number


def _nonzero(tree: Tree) -> Tree:
    if tree == IntegerLiteral(0):
        raise UnclearError
    return tree


def _extremum(function: str, parts: Sequence[ExactQuotient]) -> ExactQuotient:
    # min(a, b)/c is min(a/c, b/c) for c > 0, which all denominators here are: `min(N/2, M/3)` is `min(3*N, 2*M)/6`.
    common = 1
    for part in parts:
        common *= part.denominator
    trees = [part.times(common) for part in parts]
    return exact_quotient(trees[0] if len(trees) == 1 else FunctionCall(function, tuple(trees)), IntegerLiteral(common))


def _call(function: str, first: ExactQuotient, *others: ExactQuotient) -> ExactQuotient:
    """Return a function of one or two sizes."""
    if function in _ROUNDINGS and not others:
        return ExactQuotient(_ROUNDINGS[function](first))
    if function in ("len", "dim", "size") and not others and isinstance(first.top, Name):
        return first
    if function == "abs" and not others:
        return _absolute(first)
    if len(others) != 1:
        raise UnclearError
    second = others[0]
    if function in ("pow", "power"):
        if not isinstance(second.top, IntegerLiteral) or second.denominator != 1:
            raise UnclearError
        return first.to_the(_exponent(second.top.value))
    if function in _QUOTIENTS:
        return ExactQuotient(first.over(second).floor())
    if function in _CEILINGS:
        return ExactQuotient(first.over(second).ceil())
    if function in _ROUNDED_UP:
        return ExactQuotient(multiply_trees(first.over(second).ceil(), second.whole()))
    left, right = first.whole(), _nonzero(second.whole())
    # `rem(N - 5, 4)` is -1 at N = 4 in C, where `(N - 5) % 4` is 3.
    if function in _REMAINDERS or (function in _SIGNED_REMAINDERS and is_nonnegative(left) and is_nonnegative(right)):
        return ExactQuotient(FloorDivision("%", left, right))
    raise UnclearError


def _absolute(value: ExactQuotient) -> ExactQuotient:
    if is_nonnegative(value.top):
        return value
    return exact_quotient(
        FunctionCall("max", (value.top, multiply_trees(IntegerLiteral(-1), value.top))),
        IntegerLiteral(value.denominator),
    )


def _first(cases: Sequence[tuple[Tree, Sentence]], other: Tree) -> Tree:
    """Return the value of the first case that holds."""
    for value, condition in reversed(cases):
        other = conditional_size(condition, value, other)
    return other
