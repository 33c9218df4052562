"""Single questions beyond a plain broadcast, each over names that are met for the first time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import symbcast as sb
from benchmarks.turns import Case

_numbers = itertools.count()
_draw = random.Random(2)


def name() -> str:
    """Return a name that is met for the first time."""
    return f"v{next(_numbers)}"


def terms() -> tuple[str, str]:
    """Return two shapes with terms: one that rounds down, one that always fits, one of two quotients."""
    a, b = name(), name()
    forms = (
        (f"{a}, 2*{b} + 1, {a}//2*2", f"1, 2*{b} + 1, {a}"),
        (f"{a} + {b}, 3", f"{b} + {a}, 1"),
        (f"({a} + 3)//4, {b}", f"{a}//4 + 1, 1"),
    )
    return _draw.choice(forms)


def names() -> tuple[str, str]:
    """Return two shapes of names that join on one axis."""
    a, b = name(), name()
    return f"{a}, {b}", f"{b}, 1"


def assumed() -> sb.Result:
    left, right = names()
    return sb.broadcast(left, right, assume=f"{left.partition(',')[0]} >= 2")


def unidirectional() -> sb.Result:
    a, b = name(), name()
    return sb.broadcast(f"{a}, {b}", f"{b}, 4, {a}", rule="unidirectional")


def pdpd() -> sb.Result:
    a, b = name(), name()
    return sb.broadcast(f"{a}, {b}, 4", b, rule="pdpd", axis=1)


def of_unknown_rank() -> sb.Result:
    a, rest = name(), name()
    return sb.broadcast(f"*{rest}, {a}", f"{a}, 1")


def jax_sum() -> Case:
    """JAX's answer to the one of the questions with terms that it takes: two sums that are equal."""
    import jax.numpy
    from jax import export

    def ask() -> Any:
        left, right = export.symbolic_shape(f"{(a := name())} + {(b := name())}, {b} + {a}")
        return jax.numpy.broadcast_shapes((left, 3), (right, 1))

    return Case(ask)


CASES = {
    "terms: verdict": Case(lambda: sb.broadcast(*terms()).verdict),
    "terms: condition for sympy": Case(lambda: sb.broadcast(*terms()).condition.sympy),
    "names under an assumption: condition for sympy": Case(lambda: assumed().condition.sympy),
    "rule unidirectional: verdict": Case(lambda: unidirectional().verdict),
    "rule none: verdict": Case(lambda: sb.broadcast(name(), name(), rule="none").verdict),
    "rule pdpd(axis=1): verdict": Case(lambda: pdpd().verdict),
    "unknown rank: verdict": Case(lambda: of_unknown_rank().verdict),
    "guard of names": Case(lambda: sb.broadcast(*names()).guard()),
    "cases of names": Case(lambda: list(sb.broadcast(*names()).cases())),
    "comparison of all rules": Case(lambda: sb.compare(*names())),
    "explanation of names": Case(lambda: sb.broadcast(*names()).explain()),
}
PEERS: dict[str, Callable[[], Case]] = {"terms: verdict, jax.export (equal sums)": jax_sum}
