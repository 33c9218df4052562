"""The codes of findings; each has a section in the README of this folder."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """A code: its identifier, its name, and what a finding of this code says, in a sentence."""

    id: str
    name: str
    description: str

    @property
    def both(self) -> tuple[str, str]:
        """The texts that select or ignore it."""
        return self.id, self.name


PROMISE = Code("SYM101", "broken-promise", "A function must return the shapes that its annotation promises.")
FAILS = Code("SYM102", "failing-sizes", "A function must work for all sizes that its annotations allow.")
NEVER = Code("SYM103", "never-holds", "An annotation must hold for some sizes.")
STRETCHED = Code("SYM104", "paired-size", "A broadcast must not put one size on two axes unnoticed.")
EQUAL = Code("SYM105", "equal-names", "Axes that must always have equal sizes must have one name.")
SPACES = Code("SYM106", "divided-expression", "An expression in an annotation must not contain spaces.")
DIED = Code("SYM201", "killed-process", "A function must not kill the process that runs it.")
IMPORT = Code("SYM202", "not-imported", "A file with annotated functions must be importable.")
ANNOTATION = Code("SYM203", "unreadable-annotation", "An annotation must be valid when it is evaluated.")

CODES = (PROMISE, FAILS, NEVER, STRETCHED, EQUAL, SPACES, DIED, IMPORT, ANNOTATION)
