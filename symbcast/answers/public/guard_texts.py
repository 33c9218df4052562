"""Answers as guards: methods that turn a condition into code, the same for every answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from symbcast.core.solver.budget import one_call

if TYPE_CHECKING:
    from symbcast.answers.guards import Guard
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula


class Guards(ABC):
    """The guards of a condition: a predicate of concrete sizes, and its source in four languages.

    The parameters are all sizes of the question, in order of appearance, including those that the condition does not
    mention. Like the condition, a guard may return anything for sizes that the assumptions exclude, unless
    ``with_assumptions``: then it is false there. A `Condition` has no assumptions; for it, ``with_assumptions`` adds
    the bounds of each size (``2..5``). A guard is false where a size is below 0.

    >>> import symbcast as sb
    >>> result = sb.broadcast("N, 3", "M, 1", assume="N >= 2")
    >>> result.guard()(N=4, M=1), sb.Condition("N % 8 == 0").guard()({"N": 12})
    (True, False)
    >>> result.guard()(N=1, M=1), result.guard(with_assumptions=True)(N=1, M=1)
    (True, False)

    Each raises `BindingError` if two sizes have the same name, and ValueError for a ``name`` that cannot name a
    function in the language.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def _shown(self) -> Mapping[Symbol, str]:
        """The names of the question's sizes, in order: the parameters of a guard."""

    @abstractmethod
    def _guarded(self, with_assumptions: bool) -> Formula:
        """Return the condition; with the assumptions, all that holds where the answer is valid."""

    @one_call
    def guard(self, *, with_assumptions: bool = False) -> Guard:
        """Return the condition as a Python predicate of the sizes by name: ``guard(batch=4, T=7)``."""
        from symbcast.answers.guards import python_guard

        return python_guard(self._guarded(with_assumptions), self._shown)

    @one_call
    def to_python(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return the source of a Python function that returns whether the condition holds; it imports nothing."""
        from symbcast.answers.guards import python_source

        return python_source(self._guarded(with_assumptions), self._shown, name)

    @one_call
    def to_cpp(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return the source of a C++17 function of ``std::int64_t`` sizes that returns whether the condition holds."""
        from symbcast.answers.guards import cpp_source

        return cpp_source(self._guarded(with_assumptions), self._shown, name)

    @one_call
    def to_smtlib(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return an SMT-LIB 2.6 script that defines the condition and asks whether it can hold."""
        from symbcast.answers.guards import smtlib_source

        return smtlib_source(self._guarded(with_assumptions), self._shown, name)

    @one_call
    def to_mlir(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return an MLIR module with the condition as witnesses of the shape dialect and a region that assumes them."""
        from symbcast.answers.guards import mlir_source

        return mlir_source(self._guarded(with_assumptions), self._shown, name)
