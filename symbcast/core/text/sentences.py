"""Sentences about sizes, read by recursive descent: relations as people, sympy and other languages write them.

The grammar reads the notation that symbcast prints. What it refuses is read here, with the words of English, sympy, C,
Fortran, SQL, MATLAB and LaTeX, into a tree (`trees`), whose text the grammar then reads: a sentence means what its text
means. A sentence with two readings has none, such as ``N + 1 mod 4 = 1`` or ``round(N/2)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from symbcast.core.text import trees
from symbcast.core.text.predicates import SIGNS, Predicate, PredicateReader
from symbcast.core.text.spoken_sizes import BRACKETS, COPULAS, LESS, MODALS, MORE
from symbcast.core.text.trees import ComparisonChain, ExactQuotient, FormulaCall, IntegerLiteral, Sentence, UnclearError

# Longer texts are not read as sentences.
MOST = 4_000

_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "isequal": "=="}
_RELATIONS |= {"equality": "==", "unequality": "!=", "equal": "=="}
_RELATIONS |= {"not_equal": "!=", "less_equal": "<=", "greater_equal": ">=", "np.less": "<", "np.greater": ">"}
_CONNECTIVES = {"logical_and": "and", "logical_or": "or", "logical_not": "not", "logical_xor": "xor"}
_CONNECTIVES |= {w: w for w in ("and", "or", "not", "xor", "implies", "equivalent", "all", "each", "ite")}
# Functions whose value is a relation.
_FORMULAS = (*_RELATIONS, *_CONNECTIVES, "compatible")
_NOT = ("not", "~")
_AND = ("and", "&", "but")
_OR = ("or", "|")


def read_sentence(text: str) -> tuple[str, bool] | None:
    """Return a relation in the notation of the grammar, and whether the sentence has slips; None if it is unclear.

    >>> read_sentence("N is between 2 and 5"), read_sentence("M = 2N"), read_sentence("N + 1 mod 4 = 1")
    (('2 <= N <= 5', False), ('M == 2*N', True), None)
    """
    return _read(text, lambda reader: trees.sentence_text(reader.only_sentence()))


def read_size_sentence(text: str) -> tuple[str, bool] | None:
    """Return a size in the notation of the grammar, and whether it has slips; None if it is unclear.

    >>> read_size_sentence("3*floor(N/2)"), read_size_sentence("ceil(N/2)")
    (('3*(N//2)', False), ('(N + 1)//2', False))
    >>> read_size_sentence("N(N+1)/2"), read_size_sentence("N/2")
    (('N*(N + 1)//2', True), None)
    """
    return _read(text, lambda reader: trees.tree_text(reader.only_size()))


def _read(text: str, written: Callable[[SentenceReader], str]) -> tuple[str, bool] | None:
    if len(text) > MOST:
        return None
    reader = SentenceReader(text)
    try:
        return written(reader), reader.is_slip
    except (UnclearError, RecursionError):
        return None


class SentenceReader(PredicateReader):
    """A reader of relations.

    ``subjects`` and ``predicate`` are the last ones: some sentences leave them out, such as ``N >= 2 and <= 5``.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.subjects: tuple[ExactQuotient, ...] = ()
        self.joined: Callable[[Iterable[Sentence]], Sentence] = trees.both
        self.predicate: Predicate | None = None
        self.first = 0

    def only_sentence(self) -> Sentence:
        """Read a sentence alone."""
        whole = self.sentence()
        while self.take(","):
            self.is_slip = True
            self.take("and", "but")
            other = self.sentence()
            if _is_list_of_bounded(whole, other):
                raise UnclearError
            whole = trees.both([whole, other])
        self.take(".")
        if self.at < len(self.words):
            raise UnclearError
        return whole

    def sentence(self) -> Sentence:
        """Read relations with all their connectives but commas."""
        if self.take("if", "when", "whenever"):
            condition = self._disjunction()
            if not self.take(", then", "then"):
                self.need(",")
            return trees.either([trees.negate_sentence(condition), self._disjunction()])
        first = self._disjunction()
        if self.take("only if", "only when"):
            return trees.either([trees.negate_sentence(first), self._disjunction()])
        if self.take("implies"):
            return trees.either([trees.negate_sentence(first), self._disjunction()])
        if self.take("iff", "if and only if"):
            return _equivalent(first, self._disjunction())
        if self.sees("if", "whenever"):
            return self.attempt(lambda: self._postponed(first)) or first
        return first

    def _postponed(self, first: Sentence) -> Sentence:
        self.need("if", "when", "whenever")
        condition = self._disjunction()
        if self.take("else"):
            return _chosen(condition, first, self._disjunction())
        return trees.either([trees.negate_sentence(condition), first])

    def _disjunction(self) -> Sentence:
        parts = [self._conjunction()]
        while (sign := self._connective(*_OR)) or self._goes_on_after_comma("or"):
            self.is_slip |= sign == "|" and not self._is_enclosed()
            parts.append(self._conjunction())
        return trees.either(parts)

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
        return trees.both(parts)

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
        negated = trees.negate_sentence(self._negation())
        self.nested -= 1
        if sign == "~" and self.sees(*SIGNS):
            raise UnclearError
        return negated

    def _relation(self) -> Sentence:
        relation = self._called() or self._enclosed() or self.attempt(self._of_subjects)
        return self._again() if relation is None else relation

    def _called(self) -> Sentence | None:
        """Read a relation written as a function of sympy's or ours, or True or False."""
        token = self.token()
        if token.kind != "word":
            return None
        if token.text in ("True", "False") and not self.sees("(", ahead=1):
            self.at += 1
            return FormulaCall(token.text)
        name = token.text if token.text in _RELATIONS else self._function(token.text)
        if not self.sees("(", ahead=1):
            return None
        if name in _RELATIONS:
            self.at += 1
            return trees.comparison_chain([_RELATIONS[name]], self._pair())
        if name == "compatible":
            self.at += 1
            return FormulaCall(f"compatible({', '.join(trees.tree_text(a.whole()) for a in self._arguments())})")
        if name in _CONNECTIVES:
            return self.attempt(lambda: self._connected(_CONNECTIVES[name]))
        return None

    def _pair(self) -> list[ExactQuotient]:
        arguments = self._arguments()
        if len(arguments) != 2:
            raise UnclearError
        return arguments

    def _connected(self, name: str) -> Sentence:
        self.at += 1
        self.need("(")
        parts = [self.sentence()]
        while self.take(","):
            parts.append(self.sentence())
        self.need(")")
        match name, parts:
            case (("and" | "all"), _):
                return trees.both(parts)
            case "or", _:
                return trees.either(parts)
            case "not", [part]:
                return trees.negate_sentence(part)
            case "implies", [part, other]:
                return trees.either([trees.negate_sentence(part), other])
            case "equivalent", [part, other]:
                return _equivalent(part, other)
            case "xor", [part, other]:
                return trees.negate_sentence(_equivalent(part, other))
            case "ite", [condition, part, other]:
                return _chosen(condition, part, other)
            case "each", [part]:
                return FormulaCall(f"each({trees.sentence_text(part)})")
        raise UnclearError

    def _enclosed(self) -> Sentence | None:
        # A text without words is read as a size first wherever no sign is in the bracket: `(N + 1)*M == 2`.
        may_be = self.sees("(", "[", "{") and (not self.is_symbolic or self._holds_relation())
        return self.attempt(self._in_brackets) if may_be else None

    def _holds_relation(self) -> bool:
        """Return whether the bracket here contains a relation."""
        depth = 0
        for token in self.words[self.at :]:
            depth += (token.text in BRACKETS) - (token.text in BRACKETS.values())
            if token.text in SIGNS or self._function(token.text) in _FORMULAS:
                return True
            if not depth:
                break
        return False

    def _in_brackets(self) -> Sentence:
        opening = self.need("(", "[", "{")
        self.nested += 1
        if self.nested > 30:
            raise UnclearError
        inside = self.sentence()
        self.nested -= 1
        self.need(BRACKETS[opening])
        # `(N == 2) + 1` computes with a relation.
        if self.sees("*", "+", "-", "/", "//", "%", "**", *SIGNS, *COPULAS):
            raise UnclearError
        return inside

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
        self.joined = trees.either if joins == "or" or is_any else trees.both
        if (are_none or is_any) and len(subjects) == 1:
            raise UnclearError
        if are_none or is_any:
            return self._of_quantified(subjects, are_none)
        if len(subjects) > 1 and (of_all := self.attempt(self._alike)) is not None:
            return of_all
        if (joins == "nor") != is_neither:
            raise UnclearError
        if len(subjects) > 1 and any(isinstance(s.top, IntegerLiteral) for s in subjects) and not self.sees("divide"):
            raise UnclearError
        if is_neither:
            predicate = self._predicate()
            if self.is_of_all:
                raise UnclearError
            return trees.both(trees.negate_sentence(predicate(s)) for s in subjects)
        return self._said()

    def _of_quantified(self, subjects: list[ExactQuotient], are_none: bool) -> Sentence:
        """Read what is said of at least one of some subjects, or of none of them."""
        # "none of N, M is not 1" is a double denial, which some write for a single one.
        if self.sees("not") or self.sees("not", ahead=1):
            raise UnclearError
        predicate = self._predicate()
        if self.is_denied or self.is_of_all:
            raise UnclearError
        self.predicate = None
        return (
            trees.both(trees.negate_sentence(predicate(s)) for s in subjects)
            if are_none
            else trees.either(predicate(s) for s in subjects)
        )

    def _others(self, subjects: list[ExactQuotient]) -> str:
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
        self.is_slip |= joins == "," or self.sees(*SIGNS)
        return joins

    def _alike(self) -> Sentence:
        """Read what is said of several subjects together: that they are equal, or all different."""
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
                    return trees.comparison_chain(["=="] * (len(self.subjects) - 1), self.subjects)
                if len(self.subjects) > 2:
                    raise UnclearError
            else:
                raise UnclearError
        if self._starts_size() or self.sees("from", "by"):
            raise UnclearError
        names = self.subjects
        return trees.both(trees.comparison_chain(["!="], (a, b)) for n, a in enumerate(names) for b in names[n + 1 :])

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
        # "N or M are not both 1": "both" speaks of two sizes, and "or" of one of them.
        if len(subjects) == 1 or joined is trees.either:
            raise UnclearError
        self.is_of_all, self.predicate = False, None
        return trees.either(predicate(s) for s in subjects)

    def _again(self) -> Sentence:
        """Read a relation without its subject, such as ``<= 5`` in ``N >= 2 and <= 5``, or ``M is not``."""
        if self.predicate is None:
            raise UnclearError
        alike = self.attempt(self._alike_again)
        if alike is not None:
            return alike
        if not self.subjects or not self._begins_predicate():
            raise UnclearError
        if self.is_denied and not self.sees(*SIGNS, *COPULAS, *MODALS, "not", "never", "isn't", "aren't"):
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
        return trees.negate_sentence(last(subject)) if is_negated else last(subject)


def _chosen(condition: Sentence, yes: Sentence, no: Sentence) -> Sentence:
    return trees.either([trees.both([condition, yes]), trees.both([trees.negate_sentence(condition), no])])


def _equivalent(left: Sentence, right: Sentence) -> Sentence:
    return _chosen(left, right, trees.negate_sentence(right))


def _is_list_of_bounded(first: Sentence, other: Sentence) -> bool:
    """Return whether two relations may be one about both subjects, as in ``1 <= N, M <= 5``."""
    if not isinstance(first, ComparisonChain) or not isinstance(other, ComparisonChain):
        return False
    is_half = len(first.operators) == 1 and isinstance(first.trees[0], IntegerLiteral)
    return is_half and not isinstance(other.trees[0], IntegerLiteral)
