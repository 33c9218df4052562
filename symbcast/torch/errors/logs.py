"""Lines of ``TORCH_LOGS``, and the reports of ``torch.export.draft_export``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symbcast.torch.errors.messages import Message, Row, guard_message
from symbcast.torch.guards.guards import Specialised

if TYPE_CHECKING:
    from symbcast.torch.guards.log_texts import Names

_PLACE = re.compile(
    r"(?:(?P<code>.*?)\s+#\s+(?P<user>\S+:\d+) in \S+\s+| at (?P<older>\S+:\d+) in \S+\s+)?"
    r"\((?P<file>[^()\s]+:\d+) in (?P<function>[^)]+)\)"
)
_UNBACKED = re.compile(r"(?<!\w)(?:zu|zuf|u)\d+(?!\w)")


def line_of(place: str) -> str:
    """Return where torch recorded a guard: the user's line if it is known, or torch's own function."""
    found = _PLACE.search(place)
    if found is None:
        return ""
    user = found["user"] or found["older"]  # torch up to 2.6 writes "at file:line"
    return f"line {user}" if user else f"{found['function']} in torch"


def _guard_added(found: re.Match[str], names: Names) -> Message | None:
    if _UNBACKED.search(found["guard"]):
        return Message(
            " ".join(found[0].split())[:300],
            f"torch checks {names.spelled(found['guard'])} at run time",
            "data decide it",
            line=line_of(found["place"]),
        )
    return guard_message(found, names, found["guard"], line_of(found["place"]))


def _draft_guard(found: re.Match[str], names: Names) -> Message:
    return guard_message(found, names, found["guard"])


def _specializing(found: re.Match[str], names: Names) -> Message:
    axis, size = names.axis_of(found["source"]), found["size"]
    why = "the guards leave this size only"
    advice = "leave the axis out of dynamic_shapes (or Dim.STATIC), or change the line whose guard leaves one size"
    return Message(
        found[0],
        f"torch fixed {axis} at {size}",
        why,
        advice,
        fixed=Specialised(axis, int(size), found["source"], True),
    )


ROWS = (
    Row(
        re.compile(
            r"(?:eval|runtime_assert|expect_true|advise_is_size)(?: \(forcing_spec\))? (?P<guard>(?!\[guard "
            r"suppressed\])[^\n]+?)"
            r" \[guard added\](?P<place>[^\n]*)"
        ),
        _guard_added,
    ),
    Row(re.compile(r"this guard was added: (?P<guard>[^\n]+?), where \{"), _draft_guard),
    Row(re.compile(r"Specializing (?P<source>L\[[^\n]+?) to (?P<size>\d+)"), _specializing),
)
