"""A solver's answers about formulas: separate from z3, which is imported only where it is used."""

from enum import Enum


class Satisfiability(Enum):
    """Whether some formulas can hold together."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNKNOWN = "unknown"


class Tier(Enum):
    """The method that decides a question, cheapest first; README.md lists the files of each."""

    F0 = "integers"
    F1 = "names, joins and equalities"
    F2 = "sets of sizes, one name each"
    F3 = "linear constraints between sizes"
    F4 = "products of sizes and symbolic divisors"


RESOURCE_LIMIT = 2_000_000
"""z3 resource units for one check: about 0.3 s."""
QUICK_LIMIT = 50_000
"""For a first look at a question about products."""
OPTIMISED_LIMIT = 100_000
"""Units of z3 for small sizes where formulas hold, before it is asked whether smaller ones do."""
SHORT_LIMIT = 100_000
"""The same for a check once another about the same formulas has been given up."""
