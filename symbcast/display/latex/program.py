"""The answer about a whole program as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.latex import text_latex
from symbcast.display.latex.formulas import Typesetter, sizes_latex
from symbcast.display.latex.layout import array, displayed, labelled, row, stacked
from symbcast.explaining import program
from symbcast.explaining.naming import Namer
from symbcast.explaining.program import Told
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.programs.program import Program

_LONGEST = 100


def program_latex(env: Program) -> str:
    """Return the whole answer: the verdict, each condition and what asks it first, and evidence."""
    namer = Namer.of(env.shown)
    head = text_latex(": ".join(program.heading(env)))
    return displayed(stacked((head, _requirements(env, namer), labelled(_sections(env, namer)))))


def _requirements(env: Program, namer: Namer) -> str:
    typesetter = Typesetter(namer)
    rows = [row((typesetter.formula(told.condition), _asked(told))) for told in program.requirements(env, namer)]
    return array("ll", rows) if rows else ""


def _asked(told: Told) -> str:
    names = " and ".join([asker.name for asker in told.askers] + [told.more.removeprefix("and ")] * bool(told.more))
    return text_latex(f"{'first asked by' if told.is_asked else 'by'} {names}", _LONGEST)


def _sections(env: Program, namer: Namer) -> Iterator[tuple[str, Sequence[str]]]:
    sizes = {"fails at": env.counterexample() if env.verdict is not Verdict.NEVER else None, "works at": env.witness()}
    for section in program.sections(env, namer):
        if section.label in sizes:
            yield section.label, [sizes_latex(sizes[section.label] or {})]
        elif section.label != "together":
            yield section.label, [text_latex(line, _LONGEST) for line in section.texts]
