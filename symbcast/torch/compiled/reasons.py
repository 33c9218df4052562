"""Reasons for which dynamo compiles again, as ``TORCH_LOGS="recompiles"`` writes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_TENSOR = r"tensor '(?P<tensor>(?:[^'\n]|\['[^']*'\])+)'"
_PARAMETER = "_parameters["


class Reason(NamedTuple):
    """Why a cache entry could not be used.

    Attributes:
        kind: size, integer, branch, alike, stride, or another property of an argument.
        text: torch's text.
        meaning: its meaning.
        advice: what avoids it.
        tensor, axis: the axis whose size differs, if that is the reason.
        sizes: the size of the entry and that of the call.
    """

    kind: str
    text: str
    meaning: str
    advice: str
    tensor: str = ""
    axis: int | None = None
    sizes: tuple[int, ...] = ()


def _plain(source: str) -> str:
    return re.sub(r"L\['(\w+)'\]", r"\1", source)


def _size(m: re.Match[str]) -> Reason:
    tensor, axis, sizes = _plain(m["tensor"]), int(m["axis"]), (int(m["wanted"]), int(m["actual"]))
    shown = f"{tensor}.shape[{axis}] was {sizes[0]} in the entry and is {sizes[1]} in the call"
    if _PARAMETER in tensor or m["more"]:
        advice = "this is a parameter: set torch._dynamo.config.force_parameter_static_shapes = False"
        return Reason("parameter", m[0], shown, advice, tensor, axis, sizes)
    advice = f"torch._dynamo.mark_dynamic({tensor}, {axis}) before the first call"
    if {0, 1} & {*sizes}:
        advice = (
            f"torch._dynamo.decorators.mark_unbacked({tensor}, {axis}) before the first call: torch compiles sizes of "
            "0 and 1 apart, and mark_dynamic does not change that"
        )
    return Reason("size", m[0], shown, advice, tensor, axis, sizes)


def _stride(m: re.Match[str]) -> Reason:
    shown = f"the memory layout of {_plain(m['tensor'])} differs: stride {m['wanted']} in the entry, {m['actual']} now"
    return Reason(
        "stride", m[0], shown, f"pass {_plain(m['tensor'])}.contiguous(), or mark the axes whose sizes change"
    )


def _property(m: re.Match[str]) -> Reason:
    tensor, what = _plain(m["tensor"]), m["what"]
    advice = {
        "rank": "pass tensors with the same number of axes; each rank is its own entry",
        "dtype": "cast the tensor before the call; each element type is its own entry",
        "requires_grad": "call it under torch.no_grad() each time, or never",
    }.get(what, f"keep the {what} of the tensor the same")
    return Reason(what, m[0], f"the {what} of {tensor} differs: {m['wanted']} in the entry, {m['actual']} now", advice)


def _equal(m: re.Match[str]) -> Reason:
    left, right = (f"{_plain(m[t])}.shape[{m[a]}]" for t, a in (("one", "first"), ("other", "second")))
    advice = (
        f"mark both: torch._dynamo.mark_dynamic({_plain(m['one'])}, {m['first']}) and "
        f"torch._dynamo.mark_dynamic({_plain(m['other'])}, {m['second']}); unmarked axes of one size share a symbol"
    )
    return Reason("alike", m[0], f"the entry was compiled for {left} == {right}, which were equal by chance", advice)


def _branch(m: re.Match[str]) -> Reason:
    shown = re.sub(r"(\w[\w\[\]'.]*?)\.size\(\)\[(\d+)\]", r"\1.shape[\2]", _plain(m["guard"])).strip()
    advice = "nothing to mark: the code or an operator takes another branch there, so each branch needs its own entry"
    low = re.fullmatch(r"2 <= (?P<t>[\w.\[\]']+)\.shape\[(?P<a>\d+)\](?: <= \d+)?", shown)
    if low is not None and "<=" not in shown[5:]:
        advice = (
            f"torch._dynamo.decorators.mark_unbacked({low['t']}, {low['a']}): torch compiles sizes of 0 and 1 apart"
        )
    return Reason("branch", m[0], f"the entry serves only {shown}", advice)


def _integer(m: re.Match[str]) -> Reason:
    name = _plain(m["name"])
    if re.fullmatch(r"-?\d+", m["value"]):
        advice = f"nothing to mark: the next value makes {name} dynamic; pass it as a tensor if it decides nothing"
        return Reason("integer", m[0], f"the integer {name} was {m['value']} in the entry", advice)
    advice = f"each value of {name} is its own entry: keep it, or pass a tensor"
    return Reason("value", m[0], f"{name} was {m['value']} in the entry", advice)


_SIZE = r"(?:L\['\w+'\]|\w+)(?:\[[^\]\n]*\]|\.(?!size)\w+)*"
_TABLE: tuple[tuple[str, Callable[[re.Match[str]], Reason]], ...] = (
    (rf"{_TENSOR} size mismatch at index (?P<axis>\d+)\. expected (?P<wanted>\d+), actual (?P<actual>\d+)"
     r"(?P<more>\. Guard failed on a parameter)?", _size),
    (rf"{_TENSOR} strides? mismatch at index \d+\. expected (?P<wanted>\d+), actual (?P<actual>\d+)", _stride),
    (rf"{_TENSOR} (?P<what>rank|dtype|device|requires_grad|dispatch key set|Tensor|layout) mismatch\.? expected "
     r"(?P<wanted>[^,\n]+?),? (?:actual|got) (?P<actual>[^\n]+)", _property),
    (rf"(?P<one>{_SIZE})\.size\(\)\[(?P<first>\d+)\] == (?P<other>{_SIZE})\.size\(\)\[(?P<second>\d+)\](?![^\n#]*[<>])",
     _equal),
    (r"(?P<guard>[^\n#]*\.size\(\)\[\d+\][^\n#]*)", _branch),
    (r"(?P<name>L\['\w+'\]|\w+) == (?P<value>[^\n#]+?)(?=\s*(?:#|\n|$))", _integer),
)  # fmt: skip
_READERS = tuple((re.compile(pattern), build) for pattern, build in _TABLE)


def read_reason(text: str) -> Reason:
    """Return a reason in words; one that is not about sizes keeps torch's text.

    >>> read_reason("tensor 'x' size mismatch at index 0. expected 3, actual 4").advice
    'torch._dynamo.mark_dynamic(x, 0) before the first call'
    """
    for pattern, build in _READERS:
        found = pattern.match(text.strip())
        if found is not None:
            return build(found)
    shown = re.sub(r"\s*#.*", "", text.strip())
    return Reason(
        "other", text, f"a guard that is not about sizes failed: {_plain(shown)}", "keep it the same in all calls"
    )
