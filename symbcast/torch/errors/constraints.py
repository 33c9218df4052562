"""Messages of ``torch.export`` and ``mark_dynamic`` about sizes that cannot be as free as the caller asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symbcast.torch.errors.messages import Message, Row, guard_message, row
from symbcast.torch.guards.guards import Specialised
from symbcast.torch.guards.log_texts import SIZE, SOURCE
from symbcast.torch.reading.graph import source_of

if TYPE_CHECKING:
    from symbcast.torch.guards.log_texts import Names

EXAMPLE_OF_ONE = (
    "the example has size {size} there, and torch always treats 0 and 1 as constants",
    "export with an example of 2 or more on that axis; the dynamic shapes can stay",
)
"""Why a size is fixed at 0 or 1, and what to do."""
_FIXES = (
    "the code fixes it: it uses the size as a Python number (range(), int(), a list index, a loop over the axis), "
    "compares it with {size}, or an operator needs exactly {size} there, such as a weight, a view with written sizes "
    "or a recurrent layer"
)
_LEFT_FIXED = "leave the axis out of dynamic_shapes (or Dim.STATIC), or change the line that needs exactly {size}"


def _fixed(name: str, size: str, names: Names, text: str, said: str) -> Message:
    why, advice = EXAMPLE_OF_ONE if size in ("0", "1") else (_FIXES, _LEFT_FIXED)
    axis = names.axis_of(name)
    line = source_of(text)
    return Message(
        said[:300],
        f"torch fixed {axis} at {size}",
        why.format(size=size),
        advice.format(size=size),
        fixed=Specialised(axis, int(size), name, True, "" if line is None else f"line {line}"),
        line="" if line is None else f"line {line}",
    )


def _marked(found: re.Match[str], names: Names) -> Message:
    message = _fixed(found["name"], found["size"], names, found["stack"] or "", found[0])
    if "export" in found.string or not found["stack"]:
        return message
    # Only torch.compile writes a stack without a word about exports: the axis was marked, and has no dynamic_shapes.
    return message._replace(advice=_UNMARK_ONE if found["size"] in ("0", "1") else _UNMARK.format(size=found["size"]))


_UNMARK = (
    "remove the mark, or use torch._dynamo.maybe_mark_dynamic, which lets torch fix the size; or change the line that "
    "needs exactly {size}"
)
_UNMARK_ONE = "make the first call with a size of 2 or more there, or use torch._dynamo.decorators.mark_unbacked"


def _inferred(found: re.Match[str], names: Names) -> Message:
    """Read "was inferred to be a constant (6)" and "was inferred to be equal to 2*s0"."""
    name, value = found["name"], found["value"].strip(" .()")
    wrapped = re.fullmatch(r"RelaxedUnspecConstraint\((.+)\)", name)
    name = wrapped[1] if wrapped else name
    if value.isdecimal():
        return _fixed(name, value, names, "", found[0])
    left = name if SIZE.fullmatch(name) else found["source"] or name
    return guard_message(found, names, f"{left} == {value}")


def _solved(found: re.Match[str], names: Names) -> Message:
    size, name = found["size"], names.name_of(found["source"])
    return Message(
        found[0],
        f"torch fixed {names.axis_of(found['source'])} at {size}",
        f"the listed requirements hold at the example's size, and torch could not show that another size satisfies "
        f"them; {name} appears in quotients or in several of them",
        "leave the axis to torch (Dim.AUTO), which keeps such requirements as checks at run time; or Dim.STATIC",
        fixed=Specialised(names.axis_of(found["source"]), int(size), found["source"], True),
    )


def _related(found: re.Match[str], names: Names) -> Message:
    left, right = found["left"], found["right"].strip().rstrip(".")
    other = names.name_of(found["other"])
    text = f"{left} == {right}".replace(names.name_of(found["source"]), found["source"], 1)
    text = re.sub(rf"(?<![\w'\]]){re.escape(other)}(?![\w'])", lambda _: found["other"], text)
    return guard_message(found, names, text)


def _unequal(found: re.Match[str], names: Names) -> Message:
    return guard_message(found, names, f"{found['left']} == {found['right']}")


def _conflict(found: re.Match[str], names: Names) -> Message:
    axis, size = found["axis"].removeprefix("inputs"), found["one"] or found["static"]
    axis = re.sub(r"^\['(\w+)'\]", r"\1", axis)
    why, advice = EXAMPLE_OF_ONE if found["one"] else (_FIXES, "use Dim.AUTO or Dim.STATIC for that axis")
    source = f"L['{axis.partition('.')[0].partition('[')[0]}']"
    inner = axis.partition(".shape")[0]
    rest = inner[len(inner.partition("[")[0]) :]
    source = f"{source}{rest}.size(){axis.rpartition('.shape')[2]}"
    fixed = Specialised(axis, int(size), source, True)
    return Message(found[0], f"torch fixed {axis} at {size}", why.format(size=size), advice, fixed=fixed)


def _ranges(found: re.Match[str], names: Names) -> Message:
    axis = re.sub(r"^inputs\['(\w+)'\]", r"\1", found["axis"])
    low, high = found["low"], found["high"]
    bound = f"{low} <= {axis}" + ("" if high in ("int_oo", "oo") else f" <= {high}")
    return Message(
        found[0],
        f"torch found that {bound}; the given range is {found['given']}",
        "the code needs that range at run time, or the branch that the example took holds only there",
        "give the Dim a range inside it, or leave the axis to torch without a range (Dim.AUTO)",
    )


def _outside(found: re.Match[str], names: Names) -> Message:
    value, low, high = found["value"], found["low"], found["high"]
    return Message(
        found[0],
        f"the example's size {value} is not between {low} and {high}",
        "a Dim's range must contain the size of the example",
        f"widen the Dim (min, max) to include {value}, or export with an example of a size from {low} to {high}",
    )


def _generated(found: re.Match[str], names: Names) -> Message | None:
    return guard_message(found, names, found["guard"])


def _build(pattern: str, build: object) -> Row:
    return Row(re.compile(pattern), build)  # type: ignore[arg-type]


ROWS = (
    _build(
        r"Not all values of [^\n]+? satisfy the generated guard:? (?P<guard>[^\n]+?)"
        r"(?=Specializations unexpectedly|\.?[ \t]*(?:\n|$))",
        _generated,
    ),
    _build(
        rf"Not all values of (?:\w+ = )?(?P<source>{SOURCE})?[^\n]*? are valid because "
        r"(?P<name>\S+) was inferred to be (?:equal to|a constant) (?P<value>[^\n]+)",
        _inferred,
    ),
    _build(
        r"You marked (?P<name>[^\n]+?) as dynamic but your code\s+specialized it to be a constant \((?P<size>\d+)\)"
        r"(?:[^\n]*\n\nUser stack:\n(?P<stack>(?:[ \t]+[^\n]*\n?)+))?",
        _marked,
    ),
    _build(
        rf"The values of (?:\w+ = )?(?P<left>{SOURCE}) and (?:\w+ = )?(?P<right>{SOURCE}) must always be equal",
        _unequal,
    ),
    _build(
        rf"The values of (?:\w+ = )?(?P<source>{SOURCE}) must always be related to the values of (?:\w+ = )?"
        rf"(?P<other>{SOURCE}) by (?P<left>\S+) = (?P<right>[^\n]+)",
        _related,
    ),
    _build(
        rf"solving the guards generated for (?:\w+ = )?(?P<source>{SOURCE}) resulted in a specialized value of "
        r"(?P<size>\d+)",
        _solved,
    ),
    _build(
        rf"(?P<source>{SOURCE}) must be specialized to (?P<size>\d+) because the guards generated for it are too "
        rf"complex",
        _solved,
    ),
    _build(
        r"Received user-specified dim hint [^\n]+?, but (?:export 0/1 specialized due to hint of (?P<one>\d+)|"
        r"tracing inferred a static shape of (?P<static>\d+)) for dimension (?P<axis>[^\n]+?)\.?(?=\n|$)",
        _conflict,
    ),
    _build(
        r"Received user-specified min/max range of (?P<given>\[[^\]]*\]), conflicting with the inferred min/max "
        r"range of "
        r"\[(?P<low>\w+), (?P<high>\w+)\], for (?P<axis>[^\n]+?)\.?(?=\n|$)",
        _ranges,
    ),
    _build(r"(?P<value>\d+) not in range \[(?P<low>\d+), (?P<high>\w+)\]", _outside),
    row(
        r"Invalid ranges \[(?P<low>[^:\]]+):(?P<high>[^\]]+)\]",
        "no size satisfies all requirements: they leave the empty range from {low} to {high}",
        "two requirements contradict each other, such as torch._check(n > 4) and a Dim with max=4",
        "compare the Dim's range with the torch._check lines and the branches in the code",
    ),
)
