"""What a solver says of formulas: apart from z3, which is imported only where it is asked."""

from enum import Enum


class Satisfiability(Enum):
    """Whether some formulas can hold together."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNKNOWN = "unknown"
