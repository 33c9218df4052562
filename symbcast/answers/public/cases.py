"""The cases of a broadcast, or of a program, as users see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.questions.cases import Case, Division
from symbcast.core.solver.budget import one_call

if TYPE_CHECKING:
    from symbcast.answers.questions.case_texts import CasesData
    from symbcast.core.program.calls.certificate import Certificate

__all__ = ["Case", "Cases"]


class Cases(Division):
    """The cases of a broadcast or a program: a sequence of `Case`. No two overlap, and none is empty.

    >>> import symbcast as sb
    >>> cases = sb.broadcast("N, 3", "M, 1").cases()
    >>> len(cases), cases.naive, cases.is_complete, cases.find(N=1, M=5).shape
    (3, 9, True, Shape('(M, 3)'))
    >>> print(cases.certify())
    proved: case 1 and those before it share no sizes
    ...
    proved: the witness of case 2 lies in it
    """

    @one_call
    def certify(self) -> Certificate:
        """Return what z3 proves about the cases: no two overlap, and together they cover exactly the condition."""
        from symbcast.answers.questions.proof import certify

        return certify(self)

    @one_call
    def to_python(self, name: str = "dispatch") -> str:
        """Return the source of a Python function that returns the number of the case that contains sizes, or -1."""
        from symbcast.answers.guards.dispatch import python_dispatch
        from symbcast.answers.questions.case_texts import told

        return python_dispatch([c.formula for c in self], self._question.names, told(self), name)

    @one_call
    def to_cpp(self, name: str = "dispatch") -> str:
        """Return the source of a C++17 function of ``std::int64_t`` sizes that returns the same."""
        from symbcast.answers.guards.dispatch import cpp_dispatch
        from symbcast.answers.questions.case_texts import told

        return cpp_dispatch([c.formula for c in self], self._question.names, told(self), name)

    @one_call
    def to_dict(self) -> CasesData:
        """Return the cases as plain data for JSON, as `json_schema` describes it."""
        from symbcast.answers.questions.case_texts import to_data

        return to_data(self)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        from symbcast.answers.questions.schemas import json_schema

        return json_schema("cases")

    @one_call
    def explain(self) -> str:
        """Return the cases as a table: guard, output, strides and an example of each."""
        from symbcast.answers.questions.case_texts import document
        from symbcast.answers.show.text import render

        return render(document(self))

    __str__ = explain

    @one_call
    def _repr_html_(self) -> str:
        from symbcast.answers.questions.case_texts import document
        from symbcast.answers.show import html
        from symbcast.answers.show.document import Room

        return html.render(document(self, Room.PAGE))
