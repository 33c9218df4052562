"""Sentences about sizes, read by recursive descent: relations as people, sympy and other languages write them.

The grammar reads the notation that symbcast prints. What it refuses is read here, with the words of English, sympy, C,
Fortran, SQL, MATLAB and LaTeX, into a tree (`trees`), whose text the grammar then reads: a sentence means what its text
means. A sentence with two readings has none, such as ``N + 1 mod 4 = 1`` or ``round(N/2)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from symbcast.core.text.spoken_sizes import BRACKETS, COPULAS, LESS, MODALS, MORE, SizeReader
from symbcast.core.text.trees import (
    Division,
    Function,
    Name,
    Number,
    Ratio,
    Relation,
    Sentence,
    Tree,
    UnclearError,
    both,
    compared,
    either,
    negated,
    sentence_text,
    tree_text,
)

MOST = 4_000
"""Longer texts are not read as sentences."""

Predicate: TypeAlias = Callable[[Ratio], Sentence]
"""What a sentence says of its subject."""

_SIGNS = ("==", "!=", "<=", ">=", "<", ">")
_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "isequal": "=="}
_RELATIONS |= {"equality": "==", "unequality": "!=", "equal": "=="}
_RELATIONS |= {"not_equal": "!=", "less_equal": "<=", "greater_equal": ">=", "np.less": "<", "np.greater": ">"}
_CONNECTIVES = {"logical_and": "and", "logical_or": "or", "logical_not": "not", "logical_xor": "xor"}
_CONNECTIVES |= {w: w for w in ("and", "or", "not", "xor", "implies", "equivalent", "all", "each", "ite")}
_FORMULAS = (*_RELATIONS, *_CONNECTIVES, "compatible")
"""Functions whose value is a relation."""
_NOT = ("not", "~")
_AND = ("and", "&", "but")
_OR = ("or", "|")


def read_sentence(text: str) -> tuple[str, bool] | None:
    """Return a relation in the notation of the grammar, and whether the sentence has slips; None if it is unclear.

    >>> read_sentence("N is between 2 and 5"), read_sentence("M = 2N"), read_sentence("N + 1 mod 4 = 1")
    (('2 <= N <= 5', False), ('M == 2*N', True), None)
    """
    return _read(text, lambda reader: sentence_text(reader.only_sentence()))


def read_size(text: str) -> tuple[str, bool] | None:
    """Return a size in the notation of the grammar, and whether it has slips; None if it is unclear.

    >>> read_size("3*floor(N/2)"), read_size("ceil(N/2)"), read_size("N(N+1)/2"), read_size("N/2")
    (('3*(N//2)', False), ('(N + 1)//2', False), ('N*(N + 1)//2', True), None)
    """
    return _read(text, lambda reader: tree_text(reader.only_size()))


def _read(text: str, written: Callable[[SentenceReader], str]) -> tuple[str, bool] | None:
    if len(text) > MOST:
        return None
    reader = SentenceReader(text)
    try:
        return written(reader), reader.is_slip
    except (UnclearError, RecursionError):
        return None


class SentenceReader(SizeReader):
    """A reader of relations.

    ``subjects`` and ``predicate`` are the last ones: some sentences leave them out, such as ``N >= 2 and <= 5``.
    ``is_of_all`` means that a negation is one of all subjects together, as in ``N and M are not both 1``.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.subjects: tuple[Ratio, ...] = ()
        self.joined: Callable[[Iterable[Sentence]], Sentence] = both
        self.predicate: Predicate | None = None
        self.is_denied = False
        self.is_of_all = False
        self.first = 0

    def only_sentence(self) -> Sentence:
        """Read a sentence alone."""
        found = self.sentence()
        while self.take(","):
            self.is_slip = True
            self.take("and", "but")
            other = self.sentence()
            if _is_list_of_bounded(found, other):
                raise UnclearError
            found = both([found, other])
        self.take(".")
        if self.at < len(self.words):
            raise UnclearError
        return found

    def sentence(self) -> Sentence:
        """Read relations with all their connectives but commas."""
        if self.take("if", "when", "whenever"):
            condition = self._disjunction()
            if not self.take(", then", "then"):
                self.need(",")
            return either([negated(condition), self._disjunction()])
        found = self._disjunction()
        if self.take("only if", "only when"):
            return either([negated(found), self._disjunction()])
        if self.take("implies"):
            return either([negated(found), self._disjunction()])
        if self.take("iff", "if and only if"):
            return _equivalent(found, self._disjunction())
        if self.sees("if", "whenever"):
            return self.attempt(lambda: self._postponed(found)) or found
        return found

    def _postponed(self, found: Sentence) -> Sentence:
        self.need("if", "when", "whenever")
        condition = self._disjunction()
        if self.take("else"):
            return either([both([condition, found]), both([negated(condition), self._disjunction()])])
        return either([negated(condition), found])

    def _disjunction(self) -> Sentence:
        parts = [self._conjunction()]
        while (sign := self._connective(*_OR)) or self._goes_on_after_comma("or"):
            self.is_slip |= sign == "|" and not self._is_enclosed()
            parts.append(self._conjunction())
        return either(parts)

    def _connective(self, *words: str) -> str:
        """Go past a connective; ``And(`` and ``Or(`` are functions of sympy's."""
        return "" if self.token().text in ("And", "Or") and self.token(1).is_adjacent else self.take(*words)

    def _goes_on_after_comma(self, word: str) -> bool:
        return self.sees(",") and self.token(1).text == word and bool(self.take(f", {word}"))

    def _conjunction(self) -> Sentence:
        parts = [self._negation()]
        while sign := self._connective(*_AND):
            self.is_slip |= sign == "&" and not self._is_enclosed()
            parts.append(self._negation())
        return both(parts)

    def _is_enclosed(self) -> bool:
        """Return whether brackets end before a sign and begin after it, as Python's ``&`` and ``|`` need them."""
        return self.words[self.at - 2].text == ")" and (self.sees("(", "~") or self.sees("(", ahead=1))

    def _negation(self) -> Sentence:
        sign = self.take(*_NOT)
        if not sign and self.sees("no") and self.sees(*MORE, *LESS, "multiple", ahead=1):
            return self._again()  # `N is at least 2 and no more than M`
        if not sign:
            return self._relation()
        if sign == "~" and not (self.sees("(", "~") or self.sees("(", ahead=1)):
            raise UnclearError  # in C, `!N == 2` negates N
        if sign == "not" and self.sees("in", "a", "an", "even", "odd", "divisible", "equal", "between"):
            self.at -= 1
            return self._again()
        self.nested += 1
        if self.nested > 30:
            raise UnclearError
        found = negated(self._negation())
        self.nested -= 1
        if sign == "~" and self.sees(*_SIGNS):
            raise UnclearError
        return found

    def _relation(self) -> Sentence:
        found = self._called() or self._enclosed() or self.attempt(self._of_subjects)
        return self._again() if found is None else found

    def _called(self) -> Sentence | None:
        """Read a relation written as a function of sympy's or ours, or True or False."""
        token = self.token()
        if token.kind != "word":
            return None
        if token.text in ("True", "False") and not self.sees("(", ahead=1):
            self.at += 1
            return Function(token.text)
        name = token.text if token.text in _RELATIONS else self._function(token.text)
        if not self.sees("(", ahead=1):
            return None
        if name in _RELATIONS:
            self.at += 1
            return compared([_RELATIONS[name]], self._pair())
        if name == "compatible":
            self.at += 1
            return Function(f"compatible({', '.join(tree_text(a.whole()) for a in self._arguments())})")
        if name in _CONNECTIVES:
            return self.attempt(lambda: self._connected(_CONNECTIVES[name]))
        return None

    def _pair(self) -> list[Ratio]:
        found = self._arguments()
        if len(found) != 2:
            raise UnclearError
        return found

    def _connected(self, name: str) -> Sentence:
        self.at += 1
        self.need("(")
        parts = [self.sentence()]
        while self.take(","):
            parts.append(self.sentence())
        self.need(")")
        match name, parts:
            case (("and" | "all"), _):
                return both(parts)
            case "or", _:
                return either(parts)
            case "not", [part]:
                return negated(part)
            case "implies", [part, other]:
                return either([negated(part), other])
            case "equivalent", [part, other]:
                return _equivalent(part, other)
            case "xor", [part, other]:
                return negated(_equivalent(part, other))
            case "ite", [condition, part, other]:
                return either([both([condition, part]), both([negated(condition), other])])
            case "each", [part]:
                return Function(f"each({sentence_text(part)})")
        raise UnclearError

    def _enclosed(self) -> Sentence | None:
        may_be = self.sees("(", "[", "{") and (not self.is_symbolic or self._holds_relation())
        return self.attempt(self._in_brackets) if may_be else None

    def _holds_relation(self) -> bool:
        """Return whether the bracket here contains a relation."""
        depth = 0
        for token in self.words[self.at :]:
            depth += (token.text in BRACKETS) - (token.text in BRACKETS.values())
            if token.text in _SIGNS or self._function(token.text) in _FORMULAS:
                return True
            if not depth:
                break
        return False

    def _in_brackets(self) -> Sentence:
        opening = self.need("(", "[", "{")
        self.nested += 1
        if self.nested > 30:
            raise UnclearError
        found = self.sentence()
        self.nested -= 1
        self.need(BRACKETS[opening])
        if self.sees("*", "+", "-", "/", "//", "%", "**", *_SIGNS, *COPULAS):
            raise UnclearError
        return found

    # Subjects.

    def _of_subjects(self) -> Sentence:
        """Read subjects and what is said of them."""
        is_neither = bool(self.take("neither"))
        are_none, is_any = bool(self.take("none of")), bool(self.take("at least one of"))
        self.take("both of", "both", "each of", "all of", "either of", "either")
        self.first = self.at
        subjects = [self.size()]
        joins = ""
        if not self._begins_predicate():
            joins = self._others(subjects)
        self.subjects = tuple(subjects)
        self.joined = either if joins == "or" or is_any else both
        if (are_none or is_any) and len(subjects) == 1:
            raise UnclearError
        if are_none or is_any:
            return self._of_quantified(subjects, are_none)
        if len(subjects) > 1 and (found := self._of_all()) is not None:
            return found
        if (joins == "nor") != is_neither:
            raise UnclearError
        if len(subjects) > 1 and any(isinstance(s.top, Number) for s in subjects) and not self.sees("divide"):
            raise UnclearError
        if is_neither:
            predicate = self._predicate()
            if self.is_of_all:
                raise UnclearError
            return both(negated(predicate(s)) for s in subjects)
        return self._said()

    def _of_quantified(self, subjects: list[Ratio], are_none: bool) -> Sentence:
        """Read what is said of at least one of some subjects, or of none of them."""
        if self.sees("not") or self.sees("not", ahead=1):
            raise UnclearError
        predicate = self._predicate()
        if self.is_denied or self.is_of_all:
            raise UnclearError
        self.predicate = None
        return both(negated(predicate(s)) for s in subjects) if are_none else either(predicate(s) for s in subjects)

    def _others(self, subjects: list[Ratio]) -> str:
        """Read the subjects after the first; return the word that joins them."""
        joins, first = "", self.first
        if first and self.words[first - 1].text.casefold() in (*_AND, *_OR):
            raise UnclearError  # `N is 1 or M and K is 2`
        while not self._begins_predicate():
            self.take(",")
            word = self.take("and", "or", "nor") or ("," if self.words[self.at - 1].text == "," else "")
            if not word or (joins not in ("", ",", word) and word != ","):
                raise UnclearError
            joins = word if word != "," else joins or ","
            subjects.append(self.size())
        self.is_slip |= joins == "," or self.sees(*_SIGNS)
        return joins

    def _begins_predicate(self) -> bool:
        return self.sees(
            *_SIGNS, *COPULAS, *MODALS, *_VERBS, "≡", "not", "in", "at", "has", "have", "needs", "need"
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

    def _of_all(self) -> Sentence | None:
        """Read what is said of several subjects together: that they are equal, or all different."""
        return self.attempt(self._alike)

    def _alike(self) -> Sentence:
        is_negated = False
        if not self.take("differ", "have to differ", "must differ"):
            self._copula()
            is_negated = bool(self.take("not"))
            self.take("all", "both", "pairwise")
            if self.take("different", "distinct", "unequal"):
                if is_negated:
                    raise UnclearError
            elif self.take("equal", "the same", "identical", "equal to each other"):
                if self._starts_size() or self.sees("to", "as"):
                    raise UnclearError
                if not is_negated:
                    return compared(["=="] * (len(self.subjects) - 1), self.subjects)
                if len(self.subjects) > 2:
                    raise UnclearError
            else:
                raise UnclearError
        if self._starts_size() or self.sees("from", "by"):
            raise UnclearError
        names = self.subjects
        return both(compared(["!="], (a, b)) for n, a in enumerate(names) for b in names[n + 1 :])

    def _starts_size(self) -> bool:
        return self.token().kind in ("number", "raw") or (
            self.token().kind == "word" and not self.sees("and", "or", "but", "if", "implies", "iff", "then", "else")
        )

    def _said(self) -> Sentence:
        subjects, joined = self.subjects, self.joined
        predicate = self._predicate()  # conditions within it have subjects of their own
        self.subjects, self.joined, self.predicate = subjects, joined, predicate
        if not self.is_of_all:
            return joined(predicate(s) for s in subjects)
        if len(subjects) == 1 or joined is either:
            raise UnclearError
        self.is_of_all, self.predicate = False, None
        return either(predicate(s) for s in subjects)

    def _again(self) -> Sentence:
        """Read a relation without its subject, such as ``<= 5`` in ``N >= 2 and <= 5``, or ``M is not``."""
        if self.predicate is None:
            raise UnclearError
        found = self.attempt(self._alike_again)
        if found is not None:
            return found
        if not self.subjects or not self._begins_predicate():
            raise UnclearError
        if self.is_denied and not self.sees(*_SIGNS, *COPULAS, *MODALS, "not", "never", "isn't", "aren't"):
            raise UnclearError  # `N is not less than 2 or greater than 5`
        return self._said()

    def _alike_again(self) -> Sentence:
        """Read ``M is not``, or ``so is M``: the last predicate about another subject."""
        last = self.predicate
        assert last is not None
        if self.take("so is", "so are"):
            subject, is_negated = self.size(), False
        else:
            subject = self.size()
            is_negated = bool(self.take("is not", "isn't", "are not", "must not", "does not", "need not"))
            if not is_negated and not self.take("is too", "too", "as well", "is as well", "is also"):
                raise UnclearError
        if not self.sees("and", "or", ")", ",") and self.at < len(self.words):
            raise UnclearError
        self.subjects = (subject,)
        return negated(last(subject)) if is_negated else last(subject)

    # Predicates.

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
            self.at -= 1
        return is_negated

    def _predicate(self) -> Predicate:
        if self.sees(*_SIGNS, "≡"):
            return self._compared()
        if self.take("has the same size as", "have the same size as", "has the same length as"):
            return self._equal(False)
        found = self.attempt(self._verb)
        if found is not None:
            return found
        is_copula = self.attempt(self._copula)
        is_negated = bool(is_copula)
        if self.take("not", "never", *(("no",) if self.sees("multiple", "factor", "divisor", ahead=1) else ())):
            is_negated = not is_negated
        if is_negated and self.sees("always", "also"):
            raise UnclearError  # of some sizes, or of none
        is_of_all = is_negated and self.sees("both", "all")
        self.take("always", "exactly", "precisely", "also", "either", "strictly equal to", "all", "both")
        if is_copula is not None and self.sees(*_SIGNS):
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
            return lambda subject: negated(quality(subject))
        return quality

    def _neither(self) -> Predicate:
        found = [self._named()]
        while self.take("nor", "or"):
            found.append(self._named())
        if len(found) == 1:
            raise UnclearError
        return lambda subject: both(negated(predicate(subject)) for predicate in found)

    def _named(self) -> Predicate:
        """Read one of the things that a size is not: a quality, or another size."""
        return self.attempt(self._quality) or _bounded("==", self.size())

    def _compared(self) -> Predicate:
        """Read the rest of a chain of comparisons."""
        signs, sizes = list[str](), list[Ratio]()
        written, start = set[str](), self.at
        self.is_denied = False
        while sign := self.take(*_SIGNS, "≡"):
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
        return lambda subject: compared(signs, (subject, *sizes))

    def _continues_with_size(self) -> bool:
        """Return whether ``or`` and a size alone follow."""
        if not self.sees("or", "|"):
            return False
        place, slip = self.at, self.is_slip
        found = self.attempt(self._another)
        self.at, self.is_slip = place, slip
        return found is not None

    def _another(self) -> Ratio:
        """Read ``or`` and a size alone."""
        self.take(",")
        self.need("or")
        self.take("to", "exactly")
        found = self.size()
        if self.at < len(self.words) and not self.sees(
            ")", "or", ",", "and", "but", "if", "implies", "?", "then", "else"
        ):
            raise UnclearError
        if self.sees("and", "but") and isinstance(found.top, Name):
            raise UnclearError  # `N is 1 or M and K is 2`
        return found

    def _alternatives(self, first: Ratio) -> Predicate:
        """Read the other sizes that a size may equal: ``N is 2, 3 or 4``."""
        found = [first]
        listed = self.attempt(self._listed_sizes)
        found += listed or []
        while (other := self.attempt(self._another)) is not None:
            found.append(other)
        if len(found) == 1:
            return lambda subject: compared(["=="], (subject, first))
        return lambda subject: either(compared(["=="], (subject, other)) for other in found)

    def _listed_sizes(self) -> list[Ratio]:
        found = list[Ratio]()
        while self.take(","):
            if self.sees("or"):
                self.at -= 1
                break
            found.append(self.size())
        if not found or not (self.sees("or") or self.sees(",")):
            raise UnclearError
        return found

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
            and token.text not in self._others_names(start)
        ):
            raise UnclearError  # `N is big`
        if self.is_worded and isinstance(size.top, Division) and size.top.operator == "%":
            raise UnclearError  # `N is M mod 4` may be a congruence
        if self.sees("(") and (congruent := self.attempt(lambda: self._congruent(size))):
            return congruent
        for words, sign in ((_OR_MORE, ">="), (_OR_LESS, "<=")):
            if self.take(*words):
                return lambda subject: compared([sign], (subject, size))
        if _is_negative(size):
            raise UnclearError
        if is_negated:
            if self._continues_with_size() or (self.sees("and") and self._and_size()):
                raise UnclearError  # `N is not 2 or 3`
            return lambda subject: compared(["=="], (subject, size))
        if self.sees("and") and self._and_size():
            raise UnclearError
        return self._alternatives(size)

    def _others_names(self, place: int) -> set[str]:
        return {t.text for n, t in enumerate(self.words) if n != place}

    def _and_size(self) -> bool:
        """Return whether ``and`` and a size alone follow."""
        place, slip = self.at, self.is_slip

        def read() -> Ratio:
            self.need("and")
            found = self.size()
            if self.at < len(self.words) and not self.sees(")", ",", "or", "and"):
                raise UnclearError
            return found

        found = self.attempt(read)
        self.at, self.is_slip = place, slip
        return found is not None

    def _verb(self) -> Predicate:
        is_negated = bool(self.take(*_DENIALS))
        self.take(*MODALS, "has to", "have to", "needs to", "need to")
        verb = self.need(*_VERBS)
        if verb in ("ranges", "runs", "lies", "lie"):
            found = self._span_in_words()
        elif verb in ("equals", "equal"):
            self.take("to")
            found = self._equal(is_negated)
        elif verb in ("divides", "divide"):
            self.take("evenly")
            number = self.size()
            found = _divides(number)
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
            found = lambda subject: compared([sign], (subject, size))  # noqa: E731
        return _opposite(found) if is_negated else found

    def _quality(self) -> Predicate:
        """Read what is said after ``is``: an adjective, a bound, a set, a divisor."""
        self.take("an", "a", "the") if self.sees(*_KINDS, ahead=1) else ""
        if self.take("even number", "even"):
            return _leaves(Number(2), Number(0))
        if self.take("odd number", "odd"):
            return _leaves(Number(2), Number(1))
        if self.take("positive multiple of"):
            multiple = self._multiple()
            return lambda subject: both([compared([">"], (subject, Ratio(Number(0)))), multiple(subject)])
        for words, sign in _ADJECTIVES.items():
            if self.take(*words):
                self.take("number", "integer")
                return _bounded(sign, Ratio(Number(0)))
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
            return lambda subject: compared(["!="], (subject, size))
        return self.attempt(self._span_in_words) or self._bound()

    def _bound(self) -> Predicate:
        """Read a bound: ``at least 2``, ``greater than M``, ``no more than 3``."""
        is_negated = bool(self.take("no"))
        is_strict = bool(self.take("strictly"))
        for words, sign in _BOUNDS.items():
            if self.take(*words):
                is_equal = sign in ("<", ">") and not is_strict and bool(self.take("or equal to", "or equal"))
                if is_negated and (is_equal or sign not in ("<", ">")):
                    raise UnclearError
                self.take("as large as", "as big as", "as many as")
                is_denied = is_negated or self.is_denied
                if not is_denied and self.take("both"):
                    return self._bounded_by_both(f"{sign}{'=' * is_equal}")
                if not is_denied and self.sees(*LESS, ahead=1) and self.sees("than", ahead=2):
                    raise UnclearError  # `at least 2 less than M`
                found = _bounded(f"{sign}{'=' * is_equal}", self.size())
                if self._continues_with_size():
                    raise UnclearError
                return _opposite(found) if is_negated else found
        raise UnclearError

    def _bounded_by_both(self, sign: str) -> Predicate:
        first = self.size()
        self.need("and")
        second = self.size()
        return lambda subject: both([compared([sign], (subject, first)), compared([sign], (subject, second))])

    def _multiple(self) -> Predicate:
        self.take("both") if self.sees("both") else ""
        parts, words = [self._shift()], set[str]()
        while (more := self.attempt(self._further)) is not None:
            parts.append(more[1])
            words.add(more[0])
        if len(words) > 1 or (words and self.is_denied):
            raise UnclearError
        joined = either if "or" in words else both
        return lambda subject: joined(_leaves(p.whole(), Number(0))(subject) for p in parts)

    def _further(self) -> tuple[str, Ratio]:
        word = self.need("and by", "or by", "and", "or")
        found = self._shift()
        if (self.at < len(self.words) and not self.sees(")", "and", "or", ",")) or isinstance(found.top, Name):
            raise UnclearError
        return word.split()[0], found

    def _rest(self) -> Ratio:
        """Read a size before ``mod``, which is then no operator."""
        self.is_congruence = True
        found = self._sum()
        self.is_congruence = False
        return found

    def _congruent(self, rest: Ratio) -> Predicate:
        opening = self.take("(")
        self.need("mod", "modulo", "pmod")
        inner = self.take("(", "{")
        number = self._shift().whole()
        if inner:
            self.need(BRACKETS[inner])
        if opening:
            self.need(")")
        if not isinstance(number, Number) or number.value < 1:
            raise UnclearError
        left = rest.whole()
        right = Number(left.value % number.value) if isinstance(left, Number) else Division("%", left, number)
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
        found = self.attempt(self._half_open) or self.attempt(self._span)
        if found is None and is_set:
            found = self._members(is_symbol)
        if found is None:
            raise UnclearError
        return found

    def _ends(self, first: Ratio, last: Ratio, is_strict: bool) -> Predicate:
        self.take("(")
        if self.take("exclusive", "exclusively"):
            is_strict = True
        else:
            self.take("inclusive", "inclusively")
        if self.words[self.at - 1].text.startswith(("inclusive", "exclusive")):
            self.take(")")
        sign = "<" if is_strict else "<="
        return lambda subject: compared([sign, sign], (first, subject, last))

    def _interval(self) -> Predicate:
        opening = self.need("(", "[")
        first = self.size()
        self.need(",")
        last = self.size()
        signs = ["<" if opening == "(" else "<=", "<" if self.need(")", "]") == ")" else "<="]
        return lambda subject: compared(signs, (first, subject, last))

    def _half_open(self) -> Predicate:
        """Read an interval with two kinds of brackets; those of one kind may be a list."""
        start = self.words[self.at].text if self.at < len(self.words) else ""
        found = self._interval()
        if BRACKETS[start] == self.words[self.at - 1].text:
            raise UnclearError
        return found

    def _python_range(self) -> Predicate:
        ends = self._arguments()
        if not 1 <= len(ends) <= 3:
            raise UnclearError
        first, last = (Ratio(Number(0)), ends[0]) if len(ends) == 1 else ends[:2]
        if len(ends) < 3:
            return lambda subject: compared(["<=", "<"], (first, subject, last))
        step = ends[2].whole()
        if not isinstance(step, Number) or step.value < 1:
            raise UnclearError
        return lambda subject: both(
            [compared(["<=", "<"], (first, subject, last)), _leaves(step, Number(0))(subject.plus(-first))]
        )

    def _span(self) -> Predicate:
        """Read ``2..5``, ``[2..5]`` or ``2 to 5``, which include both ends."""
        opening = self.take("[", "(")
        first = Ratio(Number(0)) if self.sees("..") else self.size()
        self.need("..", "to")
        last = None if self._is_open_end() else self.size()
        if opening:
            self.need(BRACKETS[opening])
        if self.at < len(self.words) and not self.sees("and", "or", ")", ",", "but", "if", "implies"):
            raise UnclearError
        if last is None:
            return lambda subject: compared(["<="], (first, subject))
        return lambda subject: compared(["<=", "<="], (first, subject, last))

    def _is_open_end(self) -> bool:
        return bool(self.take("inf", "infinity")) or self.at == len(self.words) or self.sees("and", "or", ")", ",", "]")

    def _members(self, is_symbol: bool) -> Predicate:
        opening = self.need("(", "[", "{")
        found = [self.size()]
        while self.take(","):
            if self.sees(BRACKETS[opening]):
                break
            found.append(self.size())
        self.need(BRACKETS[opening])
        if (is_symbol and opening != "{") or (len(found) == 1 and opening == "("):
            raise UnclearError  # an interval or a list; `(2)` is no tuple
        return lambda subject: either(compared(["=="], (subject, other)) for other in found)


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


def _bounded(sign: str, size: Ratio) -> Predicate:
    return lambda subject: compared([sign], (subject, size))


def _leaves(number: Tree, rest: Tree) -> Predicate:
    """Return that a size leaves a remainder."""
    return lambda subject: compared(["=="], (Ratio(Division("%", subject.whole(), number)), Ratio(rest)))


def _divides(size: Ratio) -> Predicate:
    return lambda subject: _leaves(subject.whole(), Number(0))(size)


def _opposite(predicate: Predicate) -> Predicate:
    return lambda subject: negated(predicate(subject))


def _equivalent(left: Sentence, right: Sentence) -> Sentence:
    return either([both([left, right]), both([negated(left), negated(right)])])


def _is_list_of_bounded(first: Sentence, other: Sentence) -> bool:
    """Return whether two relations may be one about both subjects, as in ``1 <= N, M <= 5``."""
    if not isinstance(first, Relation) or not isinstance(other, Relation):
        return False
    is_half = len(first.operators) == 1 and isinstance(first.trees[0], Number)
    return is_half and not isinstance(other.trees[0], Number)


def _is_negative(size: Ratio) -> bool:
    return isinstance(size.top, Number) and size.top.value < 0
