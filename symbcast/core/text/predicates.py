"""Predicates of sentences about sizes: what is said of a subject, such as ``is even``, ``<= M`` or ``in [2, 5)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from symbcast.core.text import trees
from symbcast.core.text.spoken_sizes import BRACKETS, COPULAS, LESS, MODALS, MORE, SizeReader
from symbcast.core.text.trees import ExactQuotient, FloorDivision, IntegerLiteral, Name, Sentence, Tree, UnclearError

Predicate: TypeAlias = Callable[[ExactQuotient], Sentence]
"""What a sentence says of its subject."""

SIGNS = ("==", "!=", "<=", ">=", "<", ">")


class PredicateReader(SizeReader):
    """A reader of predicates.

    ``is_denied`` means that the last one is negated, and ``is_of_all`` that its negation is one of all subjects
    together, as in ``N and M are not both 1``.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.is_denied = False
        self.is_of_all = False

    def _begins_predicate(self) -> bool:
        return self.sees(
            *SIGNS, *COPULAS, *MODALS, *_VERBS, "≡", "not", "in", "at", "has", "have", "needs", "need"
        ) or (
            self.sees(
                "isn't",
                "aren't",
                "cannot",
                "can't",
                "mustn't",
                "shouldn't",
                "won't",
                "does",
                "do",
                "doesn't",
                "don't",
                "even",
                "odd",
                "between",
                "a",
                "no",
                "multiple",
            )
            or self.sees(*_MODIFIERS)
            or (self.sees("the") and self.sees("same", ahead=1))
        )

    def _copula(self) -> bool:
        """Go past ``is``, ``must be`` and the like; return whether they are negated."""
        if self.take(
            "isn't", "aren't", "cannot be", "can't be", "can not be", "mustn't be", "shouldn't be", "won't be"
        ):
            return True
        modal = self.take(*MODALS, "has to", "have to", "needs to", "need to", "ought to")
        self.take("both", "all", "also", "always")
        is_negated = bool(modal) and bool(self.take("not", "never"))
        if not self.take("is", "are", "be", *(() if not modal else ("equal",))):
            raise UnclearError
        if self.words[self.at - 1].text.casefold() == "equal":
            # "N and M must equal": the verb of a modal is read again, as the quality that they have in common.
            self.at -= 1
        return is_negated

    def _predicate(self) -> Predicate:
        if self.sees(*SIGNS, "≡"):
            return self._compared()
        if self.take("has the same size as", "have the same size as", "has the same length as"):
            return self._equal(False)
        by_verb = self.attempt(self._verb)
        if by_verb is not None:
            return by_verb
        is_copula = self.attempt(self._copula)
        is_negated = bool(is_copula)
        if self.take("not", "never", *(("no",) if self.sees("multiple", "factor", "divisor", ahead=1) else ())):
            is_negated = not is_negated
        if is_negated and self.sees("always", "also"):
            raise UnclearError  # of some sizes, or of none
        is_of_all = is_negated and self.sees("both", "all")
        self.take("always", "exactly", "precisely", "also", "either", "strictly equal to", "all", "both")
        if is_copula is not None and self.sees(*SIGNS):
            if is_negated:
                raise UnclearError
            return self._compared()
        if is_copula is not None and self.take("neither"):
            return self._neither()
        self.is_denied = is_negated
        quality = self.attempt(self._quality)
        if quality is None:
            if is_copula is None and not is_negated:
                raise UnclearError
            quality = self._equal(is_negated)
        self.is_denied, self.is_of_all = is_negated, is_of_all
        if is_negated:
            return lambda subject: trees.negate_sentence(quality(subject))
        return quality

    def _neither(self) -> Predicate:
        predicates = [self._named()]
        while self.take("nor", "or"):
            predicates.append(self._named())
        # "N is neither 2" leaves out what else it is not.
        if len(predicates) == 1:
            raise UnclearError
        return lambda subject: trees.both(trees.negate_sentence(predicate(subject)) for predicate in predicates)

    def _named(self) -> Predicate:
        """Read one of the things that a size is not: a quality, or another size."""
        return self.attempt(self._quality) or _bounded("==", self.size())

    def _compared(self) -> Predicate:
        """Read the rest of a chain of comparisons."""
        signs, sizes = list[str](), list[ExactQuotient]()
        written, start = set[str](), self.at
        self.is_denied = False
        while sign := self.take(*SIGNS, "≡"):
            written.add(self.words[self.at - 1].written)
            if sign in ("==", "!=") and not sizes and (range_ := self.attempt(self._span)):
                return _opposite(range_) if sign == "!=" else range_
            signs.append(sign)
            sizes.append(self._rest() if sign == "≡" else self.size())
        if len(signs) > 1 and any(t.text in ("plus", "minus") for t in self.words[start : self.at]):
            raise UnclearError  # `N >= 2 plus M >= 3`
        if "=>" in written and len(written) > 1:
            raise UnclearError  # `N == 1 => M == 1`
        if signs == ["≡"]:
            return self._congruent(sizes[0])
        if "≡" in signs:
            raise UnclearError
        if signs == ["=="]:
            if self.sees("(") and (congruent := self.attempt(lambda: self._congruent(sizes[0]))):
                return congruent
            if _is_negative(sizes[0]):
                raise UnclearError  # `N = 2-8` is no difference
            return self._alternatives(sizes[0])
        if any(s not in ("==",) for s in signs) and self._continues_with_size():
            raise UnclearError  # `N >= 2 or 3`
        return lambda subject: trees.comparison_chain(signs, (subject, *sizes))

    def _continues_with_size(self) -> bool:
        """Return whether ``or`` and a size alone follow."""
        if not self.sees("or", "|"):
            return False
        place, slip = self.at, self.is_slip
        size = self.attempt(self._another)
        self.at, self.is_slip = place, slip
        return size is not None

    def _another(self) -> ExactQuotient:
        """Read ``or`` and a size alone."""
        self.take(",")
        self.need("or")
        self.take("to", "exactly")
        size = self.size()
        # "N is 2 or 3 <= M": what goes on after the size makes it the subject of another relation.
        if self.at < len(self.words) and not self.sees(
            ")", "or", ",", "and", "but", "if", "implies", "?", "then", "else"
        ):
            raise UnclearError
        if self.sees("and", "but") and isinstance(size.top, Name):
            raise UnclearError  # `N is 1 or M and K is 2`
        return size

    def _alternatives(self, first: ExactQuotient) -> Predicate:
        """Read the other sizes that a size may equal: ``N is 2, 3 or 4``."""
        sizes = [first]
        listed = self.attempt(self._listed_sizes)
        sizes += listed or []
        while (other := self.attempt(self._another)) is not None:
            sizes.append(other)
        if len(sizes) == 1:
            return lambda subject: trees.comparison_chain(["=="], (subject, first))
        return lambda subject: trees.either(trees.comparison_chain(["=="], (subject, other)) for other in sizes)

    def _listed_sizes(self) -> list[ExactQuotient]:
        sizes = list[ExactQuotient]()
        while self.take(","):
            if self.sees("or"):
                self.at -= 1
                break
            sizes.append(self.size())
        # "N is 2, M is 3" lists relations, so a list of sizes needs its "or".
        if not sizes or not (self.sees("or") or self.sees(",")):
            raise UnclearError
        return sizes

    def _equal(self, is_negated: bool) -> Predicate:
        """Read what a size is: another one."""
        congruent = self.attempt(lambda: self._congruent(self._rest())) if self.token().kind == "number" else None
        if congruent is not None:
            return congruent
        token = self.token()
        is_word = token.kind == "word" and len(token.text) > 1 and token.text.isalpha() and token.text.islower()
        start, size = self.at, self.size()
        if (
            is_word
            and self.at == start + 1
            and isinstance(size.top, Name)
            # A lowercase word that the sentence has again is a name: "big is 3 and N is big".
            and token.text not in {t.text for n, t in enumerate(self.words) if n != start}
        ):
            raise UnclearError  # `N is big`
        if self.is_worded and isinstance(size.top, FloorDivision) and size.top.operator == "%":
            raise UnclearError  # `N is M mod 4` may be a congruence
        if self.sees("(") and (congruent := self.attempt(lambda: self._congruent(size))):
            return congruent
        for words, sign in ((_OR_MORE, ">="), (_OR_LESS, "<=")):
            if self.take(*words):
                return lambda subject: trees.comparison_chain([sign], (subject, size))
        if _is_negative(size):
            raise UnclearError
        if is_negated:
            if self._continues_with_size() or (self.sees("and") and self._and_size()):
                raise UnclearError  # `N is not 2 or 3`
            return lambda subject: trees.comparison_chain(["=="], (subject, size))
        if self.sees("and") and self._and_size():
            raise UnclearError
        return self._alternatives(size)

    def _and_size(self) -> bool:
        """Return whether ``and`` and a size alone follow."""
        place, slip = self.at, self.is_slip

        def read() -> ExactQuotient:
            self.need("and")
            other = self.size()
            if self.at < len(self.words) and not self.sees(")", ",", "or", "and"):
                raise UnclearError
            return other

        size = self.attempt(read)
        self.at, self.is_slip = place, slip
        return size is not None

    def _verb(self) -> Predicate:
        is_negated = bool(self.take(*_DENIALS))
        self.take(*MODALS, "has to", "have to", "needs to", "need to")
        verb = self.need(*_VERBS)
        if verb in ("ranges", "runs", "lies", "lie"):
            predicate = self._span_in_words()
        elif verb in ("equals", "equal"):
            self.take("to")
            predicate = self._equal(is_negated)
        elif verb in ("divides", "divide"):
            self.take("evenly")
            number = self.size()
            predicate = _divides(number)
        else:
            self.take("from")
            size = self.size()
            if verb in ("exceeds", "exceed") and self.take("by"):
                sign = ">=" if self.take("at least") else "<=" if self.take("at most") else "=="
                size = size.plus(self.size())
                if sign == "<=" or (is_negated and sign == "=="):
                    raise UnclearError  # does it exceed at all?
                return _opposite(_bounded(sign, size)) if is_negated else _bounded(sign, size)
            sign = ">" if verb in ("exceeds", "exceed") else "!="
            predicate = lambda subject: trees.comparison_chain([sign], (subject, size))  # noqa: E731
        return _opposite(predicate) if is_negated else predicate

    def _quality(self) -> Predicate:
        """Read what is said after ``is``: an adjective, a bound, a set, a divisor."""
        self.take("an", "a", "the") if self.sees(*_KINDS, ahead=1) else ""
        if self.take("even number", "even"):
            return _leaves(IntegerLiteral(2), IntegerLiteral(0))
        if self.take("odd number", "odd"):
            return _leaves(IntegerLiteral(2), IntegerLiteral(1))
        if self.take("positive multiple of"):
            multiple = self._multiple()
            return lambda subject: trees.both(
                [trees.comparison_chain([">"], (subject, ExactQuotient(IntegerLiteral(0)))), multiple(subject)]
            )
        for words, sign in _ADJECTIVES.items():
            if self.take(*words):
                self.take("number", "integer")
                return _bounded(sign, ExactQuotient(IntegerLiteral(0)))
        if self.take("multiple of", "multiples of", "divisible by", "evenly divisible by"):
            return self._multiple()
        if self.take("factor of", "divisor of"):
            return _divides(self.size())
        if self.take("congruent to", "congruent"):
            return self._congruent(self._rest())
        if self.take("equal to", "the same as", "the same size as", "identical to", "same as"):
            return self._equal(False)
        if self.take("different from", "unequal to", "distinct from"):
            size = self.size()
            return lambda subject: trees.comparison_chain(["!="], (subject, size))
        return self.attempt(self._span_in_words) or self._bound()

    def _bound(self) -> Predicate:
        """Read a bound: ``at least 2``, ``greater than M``, ``no more than 3``."""
        is_negated = bool(self.take("no"))
        is_strict = bool(self.take("strictly"))
        for words, sign in _BOUNDS.items():
            if self.take(*words):
                is_equal = sign in ("<", ">") and not is_strict and bool(self.take("or equal to", "or equal"))
                # "no" denies a comparison, as in "no more than 2"; "no at least 2" is not English.
                if is_negated and (is_equal or sign not in ("<", ">")):
                    raise UnclearError
                self.take("as large as", "as big as", "as many as")
                is_denied = is_negated or self.is_denied
                if not is_denied and self.take("both"):
                    return self._bounded_by_both(f"{sign}{'=' * is_equal}")
                if not is_denied and self.sees(*LESS, ahead=1) and self.sees("than", ahead=2):
                    raise UnclearError  # `at least 2 less than M`
                predicate = _bounded(f"{sign}{'=' * is_equal}", self.size())
                if self._continues_with_size():
                    raise UnclearError
                return _opposite(predicate) if is_negated else predicate
        raise UnclearError

    def _bounded_by_both(self, sign: str) -> Predicate:
        first = self.size()
        self.need("and")
        second = self.size()
        return lambda subject: trees.both(
            [trees.comparison_chain([sign], (subject, first)), trees.comparison_chain([sign], (subject, second))]
        )

    def _multiple(self) -> Predicate:
        self.take("both") if self.sees("both") else ""
        parts, words = [self._shift()], set[str]()
        while (more := self.attempt(self._further)) is not None:
            parts.append(more[1])
            words.add(more[0])
        # "divisible by 2 and 3 or 4" groups in two ways; "not divisible by 2 and 3" may deny one of them or both.
        if len(words) > 1 or (words and self.is_denied):
            raise UnclearError
        joined = trees.either if "or" in words else trees.both
        return lambda subject: joined(_leaves(p.whole(), IntegerLiteral(0))(subject) for p in parts)

    def _further(self) -> tuple[str, ExactQuotient]:
        word = self.need("and by", "or by", "and", "or")
        size = self._shift()
        # A name is the next subject, as in "N is divisible by 2 and M is even", not a divisor.
        if (self.at < len(self.words) and not self.sees(")", "and", "or", ",")) or isinstance(size.top, Name):
            raise UnclearError
        return word.split()[0], size

    def _rest(self) -> ExactQuotient:
        """Read a size before ``mod``, which is then no operator."""
        self.is_congruence = True
        size = self._sum()
        self.is_congruence = False
        return size

    def _congruent(self, rest: ExactQuotient) -> Predicate:
        opening = self.take("(")
        self.need("mod", "modulo", "pmod")
        inner = self.take("(", "{")
        number = self._shift().whole()
        if inner:
            self.need(BRACKETS[inner])
        if opening:
            self.need(")")
        # Modulo 0 a congruence is an equality, but `%` has no value there: a modulus that may be 0 is refused.
        if not isinstance(number, IntegerLiteral) or number.value < 1:
            raise UnclearError
        # The rest may be the modulus or more: `N ≡ 5 (mod 4)` is `N % 4 == 1`, and `N % 4 == 5` never holds.
        left = rest.whole()
        right = (
            IntegerLiteral(left.value % number.value)
            if isinstance(left, IntegerLiteral)
            else FloorDivision("%", left, number)
        )
        return _leaves(number, right)

    def _span_in_words(self) -> Predicate:
        """Read a range or a set after a word that introduces it."""
        is_strict = bool(self.take("strictly"))
        if self.take("between", "in between"):
            first = self.size()
            self.need("and", "&")
            return self._ends(first, self.size(), is_strict)
        if self.take("from"):
            first = self.size()
            self.need("to")
            return self._ends(first, self.size(), False)
        if is_strict:
            raise UnclearError
        self.need("one of", "either of", "in the range", "in the set", "in the interval", "in", "within")
        if self.words[self.at - 1].text == "interval":
            return self._interval()
        if self.sees("range") and self.sees("(", ahead=1):
            self.at += 1
            return self._python_range()
        is_set = self.words[self.at - 1].text.casefold() in ("in", "set", "of")
        is_symbol = self.words[self.at - 1].written in ("\u2208", "\u2209", "\\in", "\\notin")
        predicate = self.attempt(self._half_open) or self.attempt(self._span)
        if predicate is None and is_set:
            predicate = self._members(is_symbol)
        if predicate is None:
            raise UnclearError
        return predicate

    def _ends(self, first: ExactQuotient, last: ExactQuotient, is_strict: bool) -> Predicate:
        self.take("(")
        if self.take("exclusive", "exclusively"):
            is_strict = True
        else:
            self.take("inclusive", "inclusively")
        if self.words[self.at - 1].text.startswith(("inclusive", "exclusive")):
            self.take(")")
        sign = "<" if is_strict else "<="
        return lambda subject: trees.comparison_chain([sign, sign], (first, subject, last))

    def _interval(self) -> Predicate:
        opening = self.need("(", "[")
        first = self.size()
        self.need(",")
        last = self.size()
        signs = ["<" if opening == "(" else "<=", "<" if self.need(")", "]") == ")" else "<="]
        return lambda subject: trees.comparison_chain(signs, (first, subject, last))

    def _half_open(self) -> Predicate:
        """Read an interval with two kinds of brackets; those of one kind may be a list."""
        start = self.words[self.at].text if self.at < len(self.words) else ""
        interval = self._interval()
        if BRACKETS[start] == self.words[self.at - 1].text:
            raise UnclearError
        return interval

    def _python_range(self) -> Predicate:
        ends = self._arguments()
        if not 1 <= len(ends) <= 3:
            raise UnclearError
        first, last = (ExactQuotient(IntegerLiteral(0)), ends[0]) if len(ends) == 1 else ends[:2]
        if len(ends) < 3:
            return lambda subject: trees.comparison_chain(["<=", "<"], (first, subject, last))
        step = ends[2].whole()
        # A negative step counts down, so `range(9, 2, -1)` has 9 and not 2; of a name the sign is not known.
        if not isinstance(step, IntegerLiteral) or step.value < 1:
            raise UnclearError
        return lambda subject: trees.both(
            [
                trees.comparison_chain(["<=", "<"], (first, subject, last)),
                _leaves(step, IntegerLiteral(0))(subject.plus(-first)),
            ]
        )

    def _span(self) -> Predicate:
        """Read ``2..5``, ``[2..5]`` or ``2 to 5``, which include both ends."""
        opening = self.take("[", "(")
        first = ExactQuotient(IntegerLiteral(0)) if self.sees("..") else self.size()
        self.need("..", "to")
        last = None if self._is_open_end() else self.size()
        if opening:
            self.need(BRACKETS[opening])
        if self.at < len(self.words) and not self.sees("and", "or", ")", ",", "but", "if", "implies"):
            raise UnclearError
        if last is None:
            return lambda subject: trees.comparison_chain(["<="], (first, subject))
        return lambda subject: trees.comparison_chain(["<=", "<="], (first, subject, last))

    def _is_open_end(self) -> bool:
        return bool(self.take("inf", "infinity")) or self.at == len(self.words) or self.sees("and", "or", ")", ",", "]")

    def _members(self, is_symbol: bool) -> Predicate:
        opening = self.need("(", "[", "{")
        sizes = [self.size()]
        while self.take(","):
            if self.sees(BRACKETS[opening]):
                break
            sizes.append(self.size())
        self.need(BRACKETS[opening])
        if (is_symbol and opening != "{") or (len(sizes) == 1 and opening == "("):
            raise UnclearError  # an interval or a list; `(2)` is no tuple
        return lambda subject: trees.either(trees.comparison_chain(["=="], (subject, other)) for other in sizes)


_DENIALS = (
    "does not",
    "do not",
    "doesn't",
    "don't",
    "must not",
    "mustn't",
    "should not",
    "shouldn't",
    "cannot",
    "can't",
)
_VERBS = (
    "equals",
    "equal",
    "divides",
    "divide",
    "exceeds",
    "exceed",
    "differs",
    "differ",
    "ranges",
    "runs",
    "lies",
    "lie",
)
_KINDS = ("even", "odd", "multiple", "factor", "divisor", "positive", "nonzero", "negative", "nonnegative", "non")
_ADJECTIVES = {
    ("positive", "strictly positive"): ">",
    ("nonnegative", "non - negative"): ">=",
    ("negative",): "<",
    ("nonzero", "non - zero"): "!=",
}
_BOUNDS = {
    tuple(f"{word} than" for word in MORE): ">",
    tuple(f"{word} than" for word in LESS): "<",
    ("at least", "a minimum of"): ">=",
    ("at most", "up to", "a maximum of"): "<=",
    ("greater or equal to", "greater or equal than"): ">=",
    ("less or equal to", "smaller or equal to"): "<=",
    ("above", "over"): ">",
    ("below", "under"): "<",
}
_MODIFIERS = ("strictly", "from", "above", "below", "over", "under", "divisible", "positive", *MORE, *LESS)
_OR_MORE = tuple(f"or {word}" for word in (*MORE, "above", "over"))
_OR_LESS = tuple(f"or {word}" for word in (*LESS, "below", "under"))


def _bounded(sign: str, size: ExactQuotient) -> Predicate:
    return lambda subject: trees.comparison_chain([sign], (subject, size))


def _leaves(number: Tree, rest: Tree) -> Predicate:
    """Return that a size leaves a remainder."""
    return lambda subject: trees.comparison_chain(
        ["=="], (ExactQuotient(FloorDivision("%", subject.whole(), number)), ExactQuotient(rest))
    )


def _divides(size: ExactQuotient) -> Predicate:
    return lambda subject: _leaves(subject.whole(), IntegerLiteral(0))(size)


def _opposite(predicate: Predicate) -> Predicate:
    return lambda subject: trees.negate_sentence(predicate(subject))


def _is_negative(size: ExactQuotient) -> bool:
    return isinstance(size.top, IntegerLiteral) and size.top.value < 0
