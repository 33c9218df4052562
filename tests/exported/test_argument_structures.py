"""Dynamic shapes for arguments in containers, and for ``*args``: what is suggested is exported, and names are kept."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
from error_cases import module  # noqa: E402
from torch.export import Dim  # noqa: E402

from symbcast.torch.export import evaluated_shapes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
AUTO = Dim.AUTO
Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Batch:
    """Two tensors, registered with torch."""

    ids: torch.Tensor
    mask: torch.Tensor


torch.export.register_dataclass(Batch, serialized_type_name="tests.Batch")


def x(*shape):
    return torch.zeros(shape)


CASES = {
    "*args": (lambda *a: a[0] + a[1], (x(5), x(5)), {}, {"a": ({0: Dim("n")}, {0: Dim("m")})},
              "{'a': ({0: n}, {0: n})}"),
    "*args after others": (lambda x, *rest, scale: x + rest[0] * scale, (x(5), x(5)), {"scale": x(1)},
                           {"x": {0: Dim("n")}, "rest": ({0: Dim("m")},), "scale": None},
                           "{'x': {0: n}, 'rest': ({0: n},), 'scale': None}"),
    "names that look like *args": (lambda x_0, x_1: x_0 + x_1, (x(5), x(5)), {},
                                   {"x_0": {0: Dim("n")}, "x_1": {0: Dim("m")}},
                                   "{'x_0': {0: n}, 'x_1': {0: n}}"),
    "keyword only": (lambda x, *, mask: x + mask, (x(5),), {"mask": x(5)}, {"x": {0: Dim("n")}, "mask": {0: Dim("m")}},
                     "{'x': {0: n}, 'mask': {0: n}}"),
    "nested": (lambda xs, more: xs[0] + xs[1]["k"] + more["m"][0], ([x(5), {"k": x(5)}], {"m": (x(5),)}), {},
               {"xs": [{0: Dim("n")}, {"k": {0: AUTO}}], "more": {"m": ({0: AUTO},)}},
               "{'xs': [{0: n}, {'k': {0: n}}], 'more': {'m': ({0: n},)}}"),
    "dataclass": (lambda b: b.ids + b.mask, (Batch(x(5), x(5)),), {}, {"b": [{0: Dim("n")}, {0: Dim("m")}]},
                  "{'b': [{0: n}, {0: n}]}"),
    "named tuple": (lambda p: p.left + p.right, (Pair(x(5), x(5)),), {}, {"p": Pair({0: Dim("n")}, {0: Dim("m")})},
                    "{'p': Pair({0: n}, {0: n})}"),
    "ordered dictionary": (lambda d: d["a"] + d["b"], (OrderedDict(a=x(5), b=x(5)),), {}, None,
                           "{'d': {'a': None, 'b': None}}"),
    "integer": (lambda x, n: x + n, (x(5), 3), {}, {"x": {0: Dim("n")}, "n": AUTO}, "{'x': {0: n}, 'n': Dim.AUTO}"),
    "fixed": (lambda x: x.view(2, 3) + 1, (x(6),), {}, {"x": {0: Dim("n")}}, "{'x': {0: Dim.STATIC}}"),
    "none given": (lambda x, y=None: x if y is None else x + y, (x(5),), {}, {"x": {0: Dim("n")}}, "{'x': {0: n}}"),
    "odd guards": (lambda x: x[: x.shape[0] // 3 * 2] + x[: x.shape[0] // 2 + 2], (x(12),), {}, {"x": {0: Dim("n")}},
                   "{'x': {0: Dim.AUTO}}"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_suggestion_for_a_container_is_what_torch_accepts(name):
    function, args, kwargs, shapes, wanted = CASES[name]
    net = module(function)
    suggestion = sb.torch.check(net, args, kwargs, dynamic_shapes=shapes).suggest()
    assert suggestion.shapes == wanted
    torch.export.export(net, args, kwargs, dynamic_shapes=evaluated_shapes(suggestion))


@pytest.mark.parametrize("name", [n for n in CASES if n != "names that look like *args"])
def test_a_program_alone_gives_the_same_containers(name):
    """Without the module, the parameter ``*args`` shows in torch's guards; then nothing is tried."""
    function, args, kwargs, shapes, _ = CASES[name]
    net = module(function)
    program = sb.torch.check(net, args, kwargs, dynamic_shapes=shapes).program
    suggestion = sb.torch.check(program).suggest()
    torch.export.export(net, args, kwargs, dynamic_shapes=evaluated_shapes(suggestion))
