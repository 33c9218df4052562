"""What holds of every answer, about a call or a program: it is held against integers here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import assume as given_that
from properties.strategies import Asked, Sizes, numbers_in, scope_of, size_key, value

import symbcast as sb
from symbcast.core.algebra.arithmetic import MAX_SIZE

V = sb.Verdict


def answered(asked: Asked, ask: Callable[[], Any]) -> Any:
    """Ask; what is refused at once must be valid at no sizes, and contradicting assumptions must admit none."""
    try:
        return ask()
    except sb.AssumptionError as error:
        assert not any(True for _ in asked.outcomes()), error
    except (sb.DimensionError, sb.ShapeSyntaxError) as error:
        # Text that joins two different numbers is refused wherever it stands, in an alternative too.
        joins_numbers = "differ and neither is 1" in str(error)
        assert joins_numbers or all(outputs is None for _, outputs in asked.outcomes()), error
    given_that(False)
    return None


def condition_of(answer: Any) -> Callable[[Sizes], bool]:
    """Return the condition of an answer as a predicate of sizes, of which it may take fewer."""
    condition = sb.Condition(answer)
    names = [s.name for s in condition.symbols]
    return lambda sizes: condition.guard()({name: sizes[name] for name in names})


def check_verdict(asked: Asked, verdict: sb.Verdict, reason: str, outcomes: list[Any]) -> None:
    if verdict is V.UNKNOWN:
        assert reason
        assert not asked.is_linear, reason
        return
    for sizes, outputs in outcomes:
        assert verdict is not (V.ALWAYS if outputs is None else V.NEVER), (verdict, sizes, outputs)


def check_evidence(asked: Asked, answer: Any, order: list[str], outcomes: list[Any]) -> None:
    """Witness and counterexample are there when they should be, are what they say, and none of the sizes is smaller."""
    for found, is_valid, nowhere in ((answer.witness(), True, V.NEVER), (answer.counterexample(), False, V.ALWAYS)):
        if found is None:
            # No size is above 2**63 - 1, and z3 may give up on products.
            excused = max(numbers_in(asked.text), default=0) > MAX_SIZE // 16 or not asked.is_linear
            assert answer.verdict in (nowhere, V.UNKNOWN) or excused, (is_valid, answer.verdict)
            continue
        assert answer.verdict is not nowhere
        assert list(found) == order
        everything = at(asked, found)
        assert asked.allows(everything), found
        assert (asked.outcome(everything) is not None) is is_valid, found
        if answer.reason:
            continue
        for sizes, outputs in outcomes:
            if (outputs is not None) is is_valid:
                assert size_key(found.values()) <= size_key(sizes.get(name, 1) for name in order), (found, sizes)


def at(asked: Asked, found: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of an answer, together with some for the names that cancelled."""
    return {**dict.fromkeys(asked.names, 2), **found}


def shown(shape: str, sizes: Sizes) -> Any:
    """Return a shape that was shown as text at some sizes."""
    return value(shape, scope_of(sizes))
