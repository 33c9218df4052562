"""The answer about a whole program as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.display.html.elements import answer, code, heading, text
from symbcast.display.html.sections import section_table
from symbcast.display.html.tables import headed_table
from symbcast.explaining import program
from symbcast.explaining.naming import Namer, sizes_text
from symbcast.explaining.program import Asker, Told

if TYPE_CHECKING:
    from symbcast.programs.program import Program

_NAME = 80
_KIND = 160


def page(env: Program) -> str:
    """Return the whole answer: the verdict, what is asked and by which operations, and what is to be said below it."""
    namer = Namer.of(env.shown)
    rows = [_row(env, told) for told in program.requirements(env, namer)]
    asked = headed_table(("must hold", "asked by", "fails at"), rows, "what the operations ask") if rows else ""
    return answer(env.verdict, heading(*program.heading(env)), asked, section_table(program.sections(env, namer)))


def _row(env: Program, told: Told) -> tuple[str, ...]:
    askers = [f"{'and ' if n else ''}{_asker(asker)}" for n, asker in enumerate(told.askers)]
    return text(told.words), "<br>".join([*askers, *([text(told.more)] if told.more else [])]), _failing(env, told)


def _asker(asker: Asker) -> str:
    return f"{code(asker.name, _NAME)}: {code(asker.kind, _KIND)}{text(asker.also, _KIND)}"


def _failing(env: Program, told: Told) -> str:
    sizes = env.counterexample(told.condition if len(env.clauses) > 1 else None)
    return code(sizes_text(sizes)) if sizes else ""
