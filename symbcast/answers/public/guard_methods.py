"""Answers as guards: methods that turn a condition into code, the same for every answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.answers.guards.languages import LANGUAGES, writer_of
from symbcast.core.algebra.formulas import TRUE, Formula, all_of
from symbcast.core.algebra.symbols import sequences_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import one_call
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError, UndecidedError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.answers.contracts.contract import Contract
    from symbcast.answers.contracts.question import RangeLike, Tensor
    from symbcast.answers.guards.languages.python import Guard
    from symbcast.core.account import Account
    from symbcast.core.solver.f3_linear.z3_solver import Z3Form


class GuardMethods(ABC):
    """The guards of a condition: a predicate of concrete sizes, and its source in other languages.

    The parameters are all sizes of the question, in order of appearance, including those that the condition does not
    mention. A guard is false for sizes that the assumptions exclude, below ``min_size`` too, and below 0. A caller who
    ensures the assumptions may leave them out (``with_assumptions=False``); then a guard may return anything for sizes
    that they exclude. A `Condition` has no assumptions but the bounds of each size (``2..5``).

    A guard never guesses: if some sizes are open (see ``account``), `guard` raises `UndecidedError` at these, and the
    source of a guard is not written (`UndecidedError`), unless the caller chooses what to return there:
    ``open=False`` for the sizes proved to work alone, ``open=True`` for all that are not proved to fail.

    >>> import symbcast as sb
    >>> result = sb.broadcast("N, 3", "M, 1", assume="N >= 2")
    >>> result.guard()(N=4, M=1), sb.Condition("N % 8 == 0").guard()({"N": 12})
    (True, False)
    >>> result.guard()(N=1, M=1), result.guard(with_assumptions=False)(N=1, M=1)
    (False, True)

    Each raises `BindingError` if two sizes have the same name, and ValueError for a ``name`` that cannot name a
    function in the language.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def _shown(self) -> Mapping[Symbol, str]:
        """The names of the question's sizes, in order: the parameters of a guard."""

    @property
    @abstractmethod
    def _account(self) -> Account:
        """What is known, and what is open."""

    @property
    @abstractmethod
    def _assumed(self) -> Formula:
        """All assumptions, with the bounds of each size."""

    @one_call
    def guard(self, *, open: bool | None = None, with_assumptions: bool = True) -> Guard:
        """Return the condition as a Python predicate of the sizes by name: ``guard(batch=4, T=7)``.

        ``open`` is what it returns for sizes at which the answer is open; without it, it raises `UndecidedError` there.
        """
        from symbcast.answers.guards.languages.python import Guard, OpenSizes

        _check_open(open)
        account, names = self._account, self._shown
        assumed = self._assumed if with_assumptions else TRUE
        if open is not None or not account.is_open:
            true_at = account.may_work(names) if open else account.with_points(names)
            formula = all_of((assumed, true_at)) if assumed != TRUE else true_at
            return Guard(formula, names, others=self._other_names, assumed=assumed)
        undecided = OpenSizes(all_of((assumed, account.may_work(names))), account.open)
        works = all_of((assumed, account.with_points(names)))
        return Guard(works, names, others=self._other_names, assumed=assumed, undecided=undecided)

    def _decided(self, open: bool | None, with_assumptions: bool) -> Formula:
        """Return where a guard is true, given what it returns for open sizes.

        Raises `UndecidedError` if there may be some and the caller does not say.
        """
        _check_open(open)
        account, names = self._account, self._shown
        if account.is_open and open is None:
            reason = f"{account.reason}; open=False writes a guard for the sizes that are proved to work"
            raise UndecidedError(reason)
        true_at = account.may_work(names) if open else account.with_points(names)
        return all_of((self._assumed, true_at)) if with_assumptions else true_at

    @one_call
    def _source(self, language: str, name: str, open: bool | None, with_assumptions: bool) -> str:
        """Return the guard in a language."""
        return writer_of(language)(self._decided(open, with_assumptions), self._shown, name)

    def to_python(self, name: str = "guard", *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return the source of a Python function that returns whether the condition holds; it imports nothing."""
        return self._source("python", name, open, with_assumptions)

    def to_cpp(self, name: str = "guard", *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return the source of a C++17 function of ``std::int64_t`` sizes that returns whether the condition holds."""
        return self._source("cpp", name, open, with_assumptions)

    def to_smtlib(self, name: str = "guard", *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return an SMT-LIB 2.6 script that defines the condition and asks whether it can hold."""
        return self._source("smtlib", name, open, with_assumptions)

    def to_mlir(self, name: str = "guard", *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return an MLIR module with the condition as witnesses of the shape dialect and a region that assumes them."""
        return self._source("mlir", name, open, with_assumptions)

    @one_call
    def to_z3(self, *, open: bool | None = None, with_assumptions: bool = True) -> Z3Form:
        """Return the condition as z3's expression, the variables of its sizes, and what is known of these.

        ``known`` has the bounds of sizes, the assumptions unless ``with_assumptions=False``, and the definitions of
        terms that z3 lacks: assert it too. The condition itself says where its terms have values: it is false where
        they have none. Raises `UnknownRankError` for sizes of a sequence of axes.

        >>> import symbcast as sb, z3
        >>> condition, names, known = sb.broadcast("N", "N//2*2", assume="N >= 2").to_z3()
        >>> solver = z3.Solver()
        >>> solver.add(known, z3.Not(condition), names["N"] <= 3)
        >>> solver.check(), solver.model()[names["N"]]
        (sat, 3)
        """
        from symbcast.core.solver.f3_linear.z3_solver import z3_form

        sequences = sequences_of(self._shown)
        if sequences:
            raise UnknownRankError("to_z3", sequences[0].name)
        # z3 takes two variables of one name and sort for one.
        if len({*self._shown.values()}) < len(self._shown):
            raise BindingError("two sizes have one name", "give each size its own name")
        assumed = self._assumed if with_assumptions else TRUE
        return z3_form(self._decided(open, with_assumptions=False), assumed, self._shown)

    @one_call
    def contract(
        self,
        ranges: Mapping[str, RangeLike] | None = None,
        /,
        *,
        form: str = "box",
        typical: Mapping[str, Iterable[int]] | None = None,
        most: int | None = None,
        **more: RangeLike,
    ) -> Contract:
        """Return a proved set of sizes of a form, as large as possible, for a server or compiler.

        Ranges are given by the names of sizes, as keywords or as a mapping: ``"64..1280"``, ``"64..1280 step 32"``, one
        size, or a Python range; a list gives typical sizes, and the range from the least to the greatest. A size
        without a range has 1..4096, or what of it the assumptions allow.

        ``form`` is ``"box"`` (a range for each size), ``"steps"`` (the same with a step), ``"profiles"`` (at most
        ``most`` boxes, 4 by default; each is the best of what the earlier ones leave) or ``"list"`` (at most ``most``
        single sizes, 128 by default). A box with more of the ``typical`` sizes is better, then one with more sizes;
        `Contract.is_largest` says whether it is proved that no other has more.

        Raises `BindingError` for an unknown name, `ShapeTypeError` for a range that cannot be read, and
        `UnknownRankError` for sizes of a sequence of axes.

        >>> import symbcast as sb
        >>> condition = sb.Condition("H <= 4 or H % 32 == 0 or H % 32 >= 29")
        >>> condition.contract(H="64..1280").boxes, condition.contract(H="64..1280", form="steps").boxes
        (({'H': range(93, 97)},), ({'H': range(64, 1281, 32)},))
        """
        from symbcast.answers.contracts.contract import contract_of
        from symbcast.answers.contracts.question import ContractQuestion

        if ranges is not None and not isinstance(ranges, Mapping):
            raise ShapeTypeError(ranges, "a mapping of ranges", "write contract(N='1..16') or contract({'N': '1..16'})")
        formulas = self._decided(True, True), self._decided(True, False)
        question = ContractQuestion(
            *formulas,
            self._shown,
            *self._tensors,
            self._other_names,
            self._open,
            self._found_clauses,
            self._stop,
            notes=self._notes,
            refusal=self._refusal,
        )
        known = self._account
        works = known.with_points(self._shown)
        if self._open and known.is_open:
            question = question.within(works, known.open_sizes, known.reason)
        request = form, {**(ranges or {}), **more}, typical or {}, most
        contract = contract_of(question.for_all_data(self._data), *request)
        if self._data and contract.verdict is Verdict.NEVER:  # with suitable data, some sizes may work
            contract = contract_of(question.with_suitable_data(self._data), *request)
        return contract

    def _refusal(self, target: str, text: str) -> str:
        """Return why the consumer of a target refuses a text; empty if it accepts it, or is not at hand."""
        return ""

    @property
    def _tensors(self) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
        """The inputs and outputs by name; empty if the answer has none."""
        return {}, {}

    @property
    def _other_names(self) -> Mapping[str, str]:
        """Other names of sizes, with the names that the answer uses."""
        return {}

    @property
    def _data(self) -> Sequence[Formula]:
        """What must hold besides the condition, about sizes that data decide."""
        return ()

    @property
    def _notes(self) -> tuple[str, ...]:
        """What was not checked of data, each as a sentence."""
        return ()

    @property
    def _open(self) -> str:
        """Why more sizes may work than are proved to; empty if everything is decided."""
        return self._account.reason if self._account.is_open else ""

    def _stop(self, _sizes: Mapping[str, int]) -> tuple[str, str] | None:
        """Return the operation that fails first at some sizes, and its own requirement; None if unknown."""
        return None

    def _found_clauses(self) -> Sequence[Any]:
        """Return the findings, each about a clause of the condition."""
        return ()


def _method_for(language: str) -> Callable[..., str]:
    """Return the method for a language that has none above."""

    def to_language(
        self: GuardMethods, name: str = "guard", *, open: bool | None = None, with_assumptions: bool = True
    ) -> str:
        return self._source(language, name, open, with_assumptions)

    to_language.__name__ = f"to_{language}"
    to_language.__doc__ = f"Return the source of a guard in the language {language}."
    return to_language


# The methods above are what type checkers and the pages of the site see; a new file has its method all the same.
for _language in LANGUAGES:
    if not hasattr(GuardMethods, f"to_{_language}"):
        setattr(GuardMethods, f"to_{_language}", _method_for(_language))


def _check_open(answer: Any) -> None:
    """Raise `ShapeTypeError` unless a caller's answer for open sizes is True, False or None: text may say no."""
    if answer is not None and not isinstance(answer, bool):
        raise ShapeTypeError(answer, "an answer for open sizes", "write open=True, open=False or leave it out")
