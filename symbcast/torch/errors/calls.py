"""Messages about a call of an exported program, and about dynamic shapes that do not fit the arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symbcast.torch.errors.messages import Message, Row, guard_message, row
from symbcast.torch.guards.log_texts import SOURCE

if TYPE_CHECKING:
    from symbcast.torch.guards.log_texts import Names

_CHECKED = "the program was exported for sizes with that property, and checks it before it runs"
_AGAIN = "call it with that size, or export again with the axis in dynamic_shapes; torch fixed it at export"
_PASS = "call it with such sizes (pad or crop), or export again with an example for which the code takes another path"
_STRUCTURE = "dynamic_shapes must be nested as the arguments are: lists as lists, dictionaries with the same keys"


def _failed(found: re.Match[str], names: Names) -> Message:
    message = guard_message(found, names, found["guard"])
    shown = names.spelled(found["guard"].strip())
    is_fixed = re.fullmatch(rf"{SOURCE} == \d+", found["guard"].strip()) is not None
    advice = _AGAIN if is_fixed else _PASS
    return message._replace(meaning=f"the sizes of the call do not satisfy {shown}", why=_CHECKED, advice=advice)


def _fitted(found: re.Match[str], names: Names) -> Message:
    wanted, got = found["wanted"], found["got"]
    is_number = wanted.isdecimal()
    sign = {"be equal to": "==", "be >=": ">=", "be <=": "<="}[found["how"]]
    axis = found["axis"].removeprefix("*args").lstrip(".") or found["axis"]
    why = "the size was fixed at export, because it was not in dynamic_shapes or because the code fixes it"
    if sign != "==":
        why = "the size has that bound in the program: from the Dim's range, or from the code"
    elif not is_number:
        why = "torch found that these sizes are always equal, or computed from one another"
    return Message(
        found[0],
        f"the call has {found['axis']} = {got}, but the program accepts {found['axis']} {sign} {wanted}",
        why,
        f"pass such a size, or export again with a Dim for {axis} in dynamic_shapes"
        if sign == "==" and is_number
        else "pass such a size, or export again with another range or an example for which the code takes another path",
    )


ROWS = (
    Row(re.compile(r"Guard failed: (?P<guard>[^\n]+)"), _failed),
    Row(
        re.compile(
            r"Expected input at (?P<axis>\S+) to (?P<how>be equal to|be >=|be <=) (?P<wanted>[^\n]+?), but got "
            r"(?P<got>[\w-]+)[^\n]*"
        ),
        _fitted,
    ),
    row(
        r"Unable to specify input integers as dynamic through named Dims",
        "a named Dim is given for an argument that is an integer",
        "torch names the sizes of axes only; an integer argument is left open, or it is fixed at the example's number",
        "write Dim.AUTO or Dim.DYNAMIC for the integer in dynamic_shapes, or None to fix it",
    ),
    row(
        r"Expected input (?P<axis>\S+\.size\(\)\[\d+\]) to be equal to (?P<form>[^\n]+?), where (?P<where>[^\n]+?), "
        r"but got (?P<got>\d+)",
        "the example's size {axis} is {got}, but it must be {form}, where {where}",
        "the example must satisfy the derived Dim",
        "export with an example whose size is {form}, or leave the axis to torch (Dim.AUTO)",
    ),
    row(
        r"Expected input (?:at )?(?P<axis>\S+) = (?P<got>\d+) to be of the form (?P<form>[^\n]+?), where "
        r"(?P<name>\w+) is "
        r"an integer",
        "{axis} is {got}, but must be {form} for some integer {name}",
        "the program was exported with a derived Dim, or torch computed the size from another one",
        "pass a size of that form",
    ),
    row(
        r"Unexpected number of dimensions in input at (?P<axis>\S+) \(expected (?P<wanted>.+?), got (?P<got>[^\n]+)\)",
        "{axis} must have the shape {wanted}, but has {got}",
        "an exported program fixes the number of axes of each argument",
        "add or remove axes (unsqueeze, squeeze), or export again with an example of that rank",
    ),
    row(
        r"Unexpected number of inputs \(expected (?P<wanted>\d+), got (?P<got>\d+)\)",
        "the program takes {wanted} tensors, but was called with {got}",
        "an exported program fixes the number and the structure of its arguments",
        "call it as it was exported, or export again",
    ),
    row(
        r"Trying to flatten user inputs with exported input tree spec",
        "the call's arguments are nested otherwise than those of the export",
        "an exported program fixes the number and the structure of its arguments",
        "call it with the same positional and keyword arguments as in the export",
    ),
    row(
        r"Runtime assertion failed for expression (?P<condition>[^\n]+?) on node '(?P<node>[^']*)'",
        "the data or sizes of this call do not satisfy {condition}",
        "the program asserts it: torch._check in the code, or a requirement that depends on data, checked at run time",
        "call it with data that satisfy {condition}, or remove what asserts it before exporting again",
    ),
    row(
        r"Expected dynamic shape spec (?P<given>.+?) specified at `(?P<place>[^`]+)` to have the same length as the "
        r"actual "
        r"tensor shape (?P<shape>.+?) \(expected (?P<wanted>\d+), but got (?P<got>\d+) instead\)",
        "{place} lists {got} axes, but the tensor has {wanted}",
        "a tuple or list in dynamic_shapes has one entry for each axis",
        "write a dictionary of the open axes, such as {{0: Dim('batch')}}, or one entry for each axis (None for "
        "fixed ones)",
    ),
    row(
        r"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
        r"(?P<wanted>\[.*?\]) of "
        r"`inputs`, but here they are (?P<got>\[.*?\])",
        "dynamic_shapes has the keys {got}, but the arguments are {wanted}",
        "keys are the parameter names of forward, also for arguments given by position; *args is one key with a tuple",
        "use exactly the keys {wanted}; None for an argument without open axes",
    ),
    row(
        r"Cannot associate shape (?P<given>.+?) specified at `(?P<place>[^`]+)` to non-tensor type (?P<kind>.+?) at "
        r"`(?P<input>[^`]+)`",
        "{place} gives axes to an argument that is not a tensor ({kind})",
        "only tensors have axes; integers are left open with Dim.AUTO or Dim.DYNAMIC",
        "write None for it, or Dim.AUTO for an integer",
    ),
    row(
        r"Detected mismatch between the structure of `(?P<tree>\w+)` and `dynamic_shapes`: (?P<problem>[^\n]+)",
        "dynamic_shapes is nested otherwise than the arguments: {problem}",
        _STRUCTURE,
        "copy the structure of the arguments; None stands for an argument without open axes",
    ),
    row(
        r"Found different definitions (?P<one>Dim\([^)]*\)) and (?P<other>Dim\([^)]*\)) for the same symbolic "
        r"dimension",
        "two Dims have one name but different ranges: {one} and {other}",
        "a name is one size, with one range",
        "create one Dim and use that object for all axes with this size, or give them different names",
    ),
    row(
        r"Expected shape\[(?P<axis>\d+)\] = (?P<size>\d+) of input Tensor to be of the form (?P<form>.+?), where "
        r"(?P<name>\w+) is an integer",
        "the example's size {size} on axis {axis} is not {form} for any integer {name}",
        "the example must satisfy the derived Dim",
        "export with an example whose size is of the form {form}, or leave the axis to torch (Dim.AUTO)",
    ),
    row(
        r"Unexpected (?:dimension mapped to index|dimension #)\s*(?P<axis>\d+) in input tensor shape (?P<shape>.+?) "
        r"specified at `(?P<place>[^`]+)`\s*\(expected.+?but got (?P<got>.+?) instead\)",
        "axis {axis} at {place} is {got}, which is neither a Dim nor an integer",
        "torch.onnx.export with dynamic_axes takes names; torch.export takes Dim objects",
        "write Dim('name'), Dim.AUTO, Dim.DYNAMIC or Dim.STATIC",
    ),
    row(
        r"Unexpected input tensor shape (?P<shape>.+?) specified at `(?P<place>[^`]+)`",
        "{place} is {shape}, which does not list axes",
        "a tensor's entry is a dictionary from axis to Dim, or one entry for each axis",
        "write {{0: Dim('batch')}} for an open first axis, or None for a fixed shape",
    ),
    row(
        r"Cannot create Dim with inconsistent min=(?P<low>\w+), max=(?P<high>\w+)",
        "no size is at least {low} and at most {high}",
        "a Dim's min must not be above its max",
        "exchange the two, or leave one out",
    ),
    row(
        r"Attempted to (?P<what>negate|add|subtract|multiply)(?P<rest>[^\n]*?)(?:\.|,) [^\n]*",
        "a Dim can only be derived as a*Dim + b with integers a >= 1 and b; this one would {what}{rest}",
        "torch solves derived Dims for their root, so only increasing linear forms of one Dim are allowed. Torch "
        "itself "
        "fails so when two sizes have a fixed sum",
        "leave the axis that depends on the others to torch: Dim.AUTO",
    ),
    row(
        r"Expected derived (?P<end>min|max) value of (?P<name>\S+) to be (?P<bound>[<>]= \S+)\. Please specify an "
        r"appropriate "
        r"(?P=end) value for (?P<root>\w+)",
        "the derived Dim {name} would leave the range of sizes: its {end} must be {bound}",
        "torch checks the ends of a derived Dim's range",
        "give {root} a {end}",
    ),
    row(
        r"name 'oo' is not defined",
        "torch suggested a Dim with max=oo; oo means no upper bound and is not a Python name",
        "torch prints its own infinity in suggested fixes",
        "leave max out: Dim('_n', min=...)",
    ),
)
