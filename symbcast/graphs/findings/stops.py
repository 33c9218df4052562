"""Where a model stops at some sizes of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from symbcast.answers.report.stops import first_stop
from symbcast.core.effort import EffortSpentError, share
from symbcast.graphs.findings.sizes import completed

if TYPE_CHECKING:
    from symbcast.graphs.model import Checked

_EFFORT = 100_000
"""Units for the sizes that data decide."""


def stop_at(checked: Checked, sizes: Mapping[str, int]) -> tuple[str, str] | None:
    """Return the node at which a model stops at some sizes, and its own requirement as text; None if none is known.

    Sizes that data decide are such that the conditions on data hold, if possible.
    """
    try:
        with share(_EFFORT):
            every = completed(checked, sizes, checked.conditions.data)
    except EffortSpentError:
        every = None
    found = None if every is None else first_stop(checked.env, every)
    if found is None or found.op.origin not in checked.asker.places:
        return None
    return checked.asker.places[found.op.origin].name, found.requirement
